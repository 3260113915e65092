"""What a tracker is, and how one is found by its name."""

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec

from dsteval.errors import OptionError, require, unknown
from dsteval.registry import Registry

NEEDS: tuple[str, ...] = ("turn", "own-state", "ref-state", "history")
"""What a tracker may declare: the two utterances alone, its own state of the turn before, the reference's state of
the turn before, the turns before."""

# Need -> the keyword under which it is passed.
_KEYWORDS = {"own-state": "state", "ref-state": "state", "history": "history"}

TRACKERS: Registry[str] = Registry("trackers", lambda: {"baseline": "dsteval.track.baseline.tracker:Baseline"})


class Update(dict[str, Any]):
    """What a turn changed, where a tracker does not return the whole state.

    Null, "[DELETE]" and "none" take a slot back; what is not named stays.

    >>> Update({"hotel-area": "north", "hotel-stars": None})
    {'hotel-area': 'north', 'hotel-stars': None}
    """


class Tracker(Protocol):
    """What is asked of a tracker: ``update``, called once a user turn, in order.

    ``system`` is the system utterance before the user's, empty at the first turn. Returned is the whole state,
    flat ({"hotel-area": "north"}) or by domain ({"hotel": {"area": "north"}}), values texts or lists of texts; or
    an Update. A class attribute ``needs`` (a word of NEEDS, or several) asks for more: own-state and ref-state are
    passed as ``state=``, a flat dictionary, history as ``history=``, the list of (system, user) before this turn.
    Without ``needs`` the parameters ``state`` (own-state) and ``history`` tell.

    ``reset(dialogue_id)`` may be there and begins a dialogue; a class without it is made anew for each. A plain
    function (system, user) is a tracker too. ``version``, a text, may tell weights apart: it is part of the
    tracker's hash.
    """

    def update(self, system: str, user: str) -> Mapping[str, Any]:
        """The state after a user turn, or an Update."""


class Loaded:
    """A tracker that can be run: its name, what it needs, and a hash of all that can change what it says.

    ``name`` is ``module:object`` or a registered one; modules of the current folder are found. ``extras`` are
    passed too where the constructor takes them, and ``options`` do not set them: the data's ``schema`` and
    ``slots``. The hash covers the name, the source (the module's file, or all Python files of its package's
    folder), ``options`` with the content of files that they name, ``needs`` and ``version``. Raises OptionError
    for what is not there or no tracker.
    """

    def __init__(
        self, name: str, options: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.options = dict(options or {})
        self._factory = _find(name)
        self._arguments = self._taken(extras or {})
        try:
            self._tracker = self._factory(**self._arguments) if isinstance(self._factory, type) else self._factory
        except (Exception, SystemExit) as error:
            remedy = "Give the arguments of its constructor with --tracker-option KEY=VALUE."
            raise self._unfit("a tracker that can be constructed", in_one_line(error), remedy) from error
        update = self._update()
        self.needs = self._needs(update)
        self._check_call(update)
        self.hash = self._hash()

    @property
    def forced(self) -> bool:
        """Whether the tracker is given the reference's states (teacher forcing)."""
        return "ref-state" in self.needs

    @property
    def about(self) -> str:
        """The first line of what the tracker says of itself."""
        return (inspect.getdoc(self._factory) or "").partition("\n")[0]

    def start(self, dialogue: str) -> Callable[..., Any]:
        """The tracker's update, ready for a dialogue."""
        reset = getattr(self._tracker, "reset", None)
        if callable(reset):
            positional = any(p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in _parameters(reset))
            reset(*([dialogue] if positional else []))
        elif isinstance(self._factory, type):
            self._tracker = self._factory(**self._arguments)
        return self._update()

    def _unfit(self, expected: str, found: str, remedy: str = "", part: str = "") -> OptionError:
        return OptionError(where=f"--tracker {self.name}{part}", expected=expected, found=found, remedy=remedy)

    def _taken(self, extras: Mapping[str, Any]) -> dict[str, Any]:
        """What the constructor is given. Raises OptionError for an option that it does not take."""
        if not isinstance(self._factory, type):
            if self.options:
                option = f", --tracker-option {next(iter(self.options))}"
                raise self._unfit(
                    "a class whose constructor takes options", "a function or an object", part=option
                )
            return {}
        # A class without a constructor of its own takes nothing, whatever its signature says.
        constructed = self._factory.__init__ is not object.__init__  # type: ignore[misc]
        parameters = _parameters(self._factory) if constructed else []
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        unfit = [key for key in self.options if key not in names]
        if unfit and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            kind = f"option of {self.name}"
            raise OptionError(unknown(kind, unfit[0], names) if names else f"{self.name} takes no options.")
        return {**{key: value for key, value in extras.items() if key in names}, **self.options}

    def _update(self) -> Callable[..., Any]:
        update: Any = getattr(self._tracker, "update", self._tracker)
        if not callable(update):
            expected = "a class with a method update(system, user), or a function (system, user)"
            raise self._unfit(expected, f"{type(self._tracker).__name__} without one")
        return update  # type: ignore[no-any-return]

    def _needs(self, update: Callable[..., Any]) -> tuple[str, ...]:
        declared: Any = getattr(self._tracker, "needs", None)
        if declared is None:
            names = {parameter.name for parameter in _parameters(update)}
            declared = [need for need in ("own-state", "history") if _KEYWORDS[need] in names]
        words = [declared] if isinstance(declared, str) else list(declared)
        for word in words:
            if word not in NEEDS:
                raise OptionError(unknown(f"need of {self.name}", str(word), NEEDS))
        if {"own-state", "ref-state"} <= {*words}:
            raise self._unfit("own-state or ref-state", "both", part=", needs")
        return tuple(need for need in NEEDS if need in words) or ("turn",)

    def _check_call(self, update: Callable[..., Any]) -> None:
        """Raise OptionError where the update cannot be called as it will be."""
        try:
            signature = inspect.signature(update)
        except (TypeError, ValueError):  # built in C: it is called and seen
            return
        keywords = [_KEYWORDS[need] for need in self.needs if need in _KEYWORDS]
        try:
            signature.bind("", "", **dict.fromkeys(keywords))
        except TypeError as error:
            expected = f"update({', '.join(['system', 'user', *(f'{key}=' for key in keywords)])})"
            raise self._unfit(expected, f"{signature} ({error})") from None

    def _hash(self) -> str:
        version = str(getattr(self._tracker, "version", ""))
        digest = hashlib.sha256(repr((self.name, self.needs, version)).encode())
        for key, value in sorted(self.options.items()):
            digest.update(repr((key, value)).encode("utf-8", "surrogatepass"))
            if isinstance(value, str) and os.path.isfile(value):  # noqa: PTH113 - Path raises for a long text
                digest.update(Path(value).read_bytes())
        for path in _sources(self._factory):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:12]


def _find(name: str) -> Any:
    """What the name stands for, not made yet. Raises OptionError where there is none."""
    target = name if ":" in name else TRACKERS.bundled.get(name, "")
    if not target and name in TRACKERS.installed:
        target = TRACKERS.installed[name].value
    module_name, _, path = target.partition(":")
    if not module_name:
        problem = unknown("tracker", name, TRACKERS.names(), "dsteval list trackers")
        raise OptionError(problem, remedy="Write your own tracker as module:object.")
    found: Any = _module(name, module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            own = [key for key, value in vars(found).items() if getattr(value, "__module__", "") == module_name]
            known = [key for key in own if not key.startswith("_")] or ["no class or function"]
            raise OptionError(unknown(f"object of {module_name}", part, known))
        found = getattr(found, part)
    return found


def _module(name: str, module: str) -> Any:
    with suppress(OSError):  # the current folder may have been removed
        here = str(Path.cwd())
        if here not in sys.path and "" not in sys.path:
            sys.path.insert(0, here)
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:
        expected, found, remedy = f"a module {module!r}", "none", ""
        if module.endswith(".py") or "/" in module:
            remedy = f"Write {Path(module).stem}:{name.partition(':')[2]}, and run dsteval in its folder."
        elif isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            remedy = "Run dsteval in its folder, or add that folder to PYTHONPATH."
        else:
            expected, found = f"{expected} that can be imported", in_one_line(error)
        raise OptionError(where=f"--tracker {name}", expected=expected, found=found, remedy=remedy) from error


def option_values(texts: Iterable[str]) -> dict[str, Any]:
    """What ``--tracker-option`` gives: KEY=VALUE, the value read as JSON where it is JSON, else as text.

    >>> option_values(["beam=4", "prompt=be brief", "fast=true"])
    {'beam': 4, 'prompt': 'be brief', 'fast': True}
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        require(equals and key.isidentifier(), f"--tracker-option {text}", "KEY=VALUE", repr(text))
        try:
            found[key] = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            found[key] = value
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _sources(factory: Any) -> list[Path]:
    """The Python files that a tracker is written in: its module's, with the package's folder where it has one."""
    module = inspect.getmodule(factory if callable(factory) else type(factory))
    if module is None or not getattr(module, "__file__", None):
        return []
    place = Path(str(module.__file__))
    return sorted(place.parent.glob("*.py")) if module.__package__ else [place]


def in_one_line(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
