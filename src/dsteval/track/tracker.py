"""What a tracker is, and how one is found by its name."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec

from dsteval.errors import OptionError, unknown
from dsteval.registry import installed

__all__ = ["NEEDS", "Loaded", "Tracker", "Update", "find", "load", "names", "option_values"]

NEEDS: tuple[str, ...] = ("turn", "own-state", "ref-state", "history")
"""What a tracker may declare: the two utterances alone, its own state of the turn before, the reference's state of
the turn before, the turns before."""

# Need -> the keyword under which it is passed.
_KEYWORDS = {"own-state": "state", "ref-state": "state", "history": "history"}

_BUNDLED = {"baseline": "dsteval.track.baseline.tracker:Baseline"}


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

    The hash covers the name, the source (the module's file, or all Python files of its package's folder),
    ``options`` with the content of files that they name, ``needs`` and ``version``. Raises OptionError for what is
    no tracker.
    """

    def __init__(
        self,
        name: str,
        found: Any,
        options: Mapping[str, Any] | None = None,
        extras: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.options = dict(options or {})
        self._found = found
        self._arguments = _arguments(name, found, self.options, extras or {})
        self._held = self._made()
        update = self._update()
        self.needs = _needs(name, self._held, update)
        _check_call(name, update, [_KEYWORDS[need] for need in self.needs if need in _KEYWORDS])
        self.hash = self._hash()

    @property
    def forced(self) -> bool:
        """Whether the tracker is given the reference's states (teacher forcing)."""
        return "ref-state" in self.needs

    @property
    def about(self) -> str:
        """The first line of what the tracker says of itself."""
        return (inspect.getdoc(self._found) or "").partition("\n")[0]

    def start(self, dialogue: str) -> Callable[..., Any]:
        """The tracker's update, ready for a dialogue."""
        reset = getattr(self._held, "reset", None)
        if callable(reset):
            reset(*([dialogue] if _takes_one(reset) else []))
        elif isinstance(self._found, type):
            self._held = self._found(**self._arguments)
        return self._update()

    def _made(self) -> Any:
        if not isinstance(self._found, type):
            return self._found
        try:
            return self._found(**self._arguments)
        except Exception as error:
            raise OptionError(
                where=f"--tracker {self.name}",
                expected="a tracker that can be made",
                found=_told(error),
                remedy="Give what its constructor needs with --tracker-option KEY=VALUE.",
            ) from error

    def _update(self) -> Callable[..., Any]:
        update = getattr(self._held, "update", self._held)
        if not callable(update):
            raise OptionError(
                where=f"--tracker {self.name}",
                expected="a class with a method update(system, user), or a function (system, user)",
                found=f"{type(self._held).__name__} without one",
            )
        found: Callable[..., Any] = update
        return found

    def _hash(self) -> str:
        version = str(getattr(self._held, "version", ""))
        digest = hashlib.sha256(repr((self.name, self.needs, version)).encode())
        for key, value in sorted(self.options.items()):
            digest.update(repr((key, value)).encode("utf-8", "surrogatepass"))
            if isinstance(value, str) and os.path.isfile(value):  # noqa: PTH113 - Path raises for a long text
                digest.update(Path(value).read_bytes())
        for path in _sources(self._found):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:12]


def names() -> list[str]:
    """The names of all trackers at hand: the bundled one, and those of other packages (``dsteval.trackers``)."""
    return sorted({*_BUNDLED, *installed("trackers")})


def load(name: str, options: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> Loaded:
    """The tracker of that name, ``module:object`` or a registered one, made with ``options``.

    ``extras`` are passed too where the constructor takes them, and ``options`` do not set them: the data's
    ``schema`` and ``slots``. Modules of the current folder are found. Raises OptionError for what is not there or
    no tracker.
    """
    return Loaded(name, find(name), options, extras)


def find(name: str) -> Any:
    """What the name stands for, not made yet. Raises OptionError where there is none."""
    target = name if name.partition(":")[0] else ""
    if ":" not in name:
        point = installed("trackers").get(name)
        target = _BUNDLED.get(name) or (point.value if point is not None else "")
    if not target:
        told = unknown("tracker", name, names(), "dsteval list trackers")
        raise OptionError(told, remedy="A tracker of your own is written module:object.")
    module_name, _, path = target.partition(":")
    found: Any = _module(name, module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            own = [key for key, one in vars(found).items() if getattr(one, "__module__", "") == module_name]
            known = [key for key in own if not key.startswith("_")] or ["no class or function"]
            raise OptionError(unknown(f"object of {module_name}", part, known))
        found = getattr(found, part)
    return found


def _module(name: str, module: str) -> Any:
    if os.getcwd() not in sys.path and "" not in sys.path:  # noqa: PTH109 - a text, as sys.path holds
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        return import_module(module)
    except Exception as error:
        lacking = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        file = module.endswith(".py") or "/" in module
        remedy = "Run in the folder that holds it, or put that folder on PYTHONPATH."
        if file:
            remedy = f"Write {Path(module).stem}:{name.partition(':')[2]}, and run in the folder that holds it."
        raise OptionError(
            where=f"--tracker {name}",
            expected=f"a module {module!r}" + ("" if lacking or file else " that can be imported"),
            found="none" if lacking or file else _told(error),
            remedy=remedy if lacking or file else "",
        ) from error


def option_values(texts: Iterable[str]) -> dict[str, Any]:
    """What ``--tracker-option`` gives: KEY=VALUE, the value read as JSON where it is JSON, else as text.

    >>> option_values(["beam=4", "prompt=be brief", "fast=true"])
    {'beam': 4, 'prompt': 'be brief', 'fast': True}
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier():
            raise OptionError(where=f"--tracker-option {text}", expected="KEY=VALUE", found=repr(text))
        try:
            found[key] = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError):
            found[key] = value
    return found


def _arguments(name: str, found: Any, options: Mapping[str, Any], extras: Mapping[str, Any]) -> dict[str, Any]:
    """What the constructor is given. Raises OptionError for an option that it does not take."""
    if not isinstance(found, type):
        if options:
            where = f"--tracker {name}, --tracker-option {next(iter(options))}"
            raise OptionError(where=where, expected="a class, whose constructor takes options", found="no class")
        return {}
    # A class without a constructor of its own takes nothing, whatever its signature says.
    own = found.__init__ is not object.__init__  # type: ignore[misc]
    parameters = _parameters(found) if own else []
    taken = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        odd = next((key for key in options if key not in taken), None)
        if odd is not None:
            raise OptionError(unknown(f"option of {name}", odd, taken) if taken else f"{name} takes no options.")
    return {**{key: value for key, value in extras.items() if key in taken}, **options}


def _needs(name: str, held: Any, update: Callable[..., Any]) -> tuple[str, ...]:
    declared: Any = getattr(held, "needs", None)
    if declared is None:
        taken = {parameter.name for parameter in _parameters(update)}
        return tuple(need for need in ("own-state", "history") if _KEYWORDS[need] in taken) or ("turn",)
    words = [declared] if isinstance(declared, str) else list(declared)
    odd = next((word for word in words if word not in NEEDS), None)
    if odd is not None:
        raise OptionError(unknown(f"need of {name}", str(odd), NEEDS))
    if {"own-state", "ref-state"} <= set(words):
        raise OptionError(where=f"--tracker {name}, needs", expected="own-state or ref-state", found="both")
    return tuple(need for need in NEEDS if need in words) or ("turn",)


def _check_call(name: str, update: Callable[..., Any], keywords: Sequence[str]) -> None:
    """Raise OptionError where the update cannot be called as it will be."""
    try:
        signature = inspect.signature(update)
    except (TypeError, ValueError):  # built in C: it is called and seen
        return
    try:
        signature.bind("", "", **dict.fromkeys(keywords))
    except TypeError as error:
        expected = f"update({', '.join(['system', 'user', *(f'{key}=' for key in keywords)])})"
        raise OptionError(where=f"--tracker {name}", expected=expected, found=f"{signature} ({error})") from None


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _takes_one(reset: Callable[..., Any]) -> bool:
    return any(p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in _parameters(reset))


def _sources(found: Any) -> list[Path]:
    """The Python files that a tracker is written in: its module's, with the package's folder where it has one."""
    module = inspect.getmodule(found if callable(found) else type(found))
    file = getattr(module, "__file__", None)
    if module is None or not file:
        return []
    place = Path(file)
    return sorted(place.parent.glob("*.py")) if module.__package__ else [place]


def _told(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
