"""Protocols: the published rules, each one TOML file, and the settings that a run changes.

A protocol says how states are made comparable (``states``), when two values match (``match``), what is
counted (``scope``) and what a metric's name means (``metrics``). Files stand alone, without inheritance, and
a key that is not known is refused. ``comparability`` rises when any number can change.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, ProtocolError, require, require_known, unknown
from dsteval.protocols.steps import STEPS
from dsteval.registry import Registry
from dsteval.values.matchers import MATCHERS
from dsteval.values.normalise import NEEDS, NORMALISERS
from dsteval.values.slots import SPELLINGS

MOST_SLOTS = 1_000_000


def _check_names(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(unknown(kind, name, list(known)))


class States(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How a state as written becomes the state that is compared.

    ``slots``: ``canonical`` recognises the spellings of one slot, ``as-written`` compares names literally.
    ``normalise``: names of normalisers, applied to each value in order, then those of ``normalise_ref`` or
    ``normalise_pred`` on one side. ``absent``: values that mean that a slot is not set, dropped on both sides,
    ``absent_ref`` and ``absent_pred`` on one. ``dontcare``: ``keep`` it as one value whatever its spelling,
    ``drop`` it, ``drop-ref`` or ``drop-pred`` on one side only, or ``literal`` for no rule about it;
    ``dontcare_words`` are its spellings, as written; without any they are all that are known. ``listed``: absent
    words that the schema, or the ontology, lists among a slot's values are ``dropped`` too, or ``kept``.
    ``alternatives``: ``any`` accepted value counts, the ``first`` only, texts are compared ``literal``, or a
    slot holds a ``list``; ``alternatives_pred`` the same of predictions; ``separators`` are the signs between
    alternatives in one text, which is split ``before`` its parts are
    normalised, or ``after`` the whole was; ``lacking``: a slot of the reference that a prediction lacks is
    ``wrong``, or the ``empty`` text, right where that is an accepted value. ``only``: the slots that are looked
    at, all if there are none. ``visible``: which predicted slots are looked at: ``all``, those of ``domains``
    that the reference has at that turn, or those ``listed`` there, absent ones included.
    """

    slots: str
    normalise: tuple[str, ...]
    absent: tuple[str, ...]
    dontcare: Literal["keep", "drop", "drop-ref", "drop-pred", "literal"]
    alternatives: Literal["any", "first", "literal", "list"]
    normalise_ref: tuple[str, ...] = ()
    normalise_pred: tuple[str, ...] = ()
    absent_ref: tuple[str, ...] = ()
    absent_pred: tuple[str, ...] = ()
    alternatives_pred: Literal["same", "any", "first", "literal", "list"] = "same"
    listed: Literal["dropped", "kept"] = "dropped"
    dontcare_words: tuple[str, ...] = ()
    separators: str = "|<>"
    split: Literal["before", "after"] = "before"
    lacking: Literal["wrong", "empty"] = "wrong"
    only: tuple[str, ...] = ()
    visible: Literal["all", "domains", "listed"] = "all"

    def __post_init__(self) -> None:
        _check_names("normaliser", self.normalisers, NORMALISERS)
        _check_names("slot spelling", [self.slots], SPELLINGS)

    @property
    def normalisers(self) -> list[str]:
        """The normalisers of either side."""
        return [*self.normalise, *self.normalise_ref, *self.normalise_pred]


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When a predicted value is right: the name of a matcher, ``exact`` for equality of the prepared values."""

    rule: str

    def __post_init__(self) -> None:
        _check_names("matching rule", [self.rule], MATCHERS)


class Prepare(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Named steps on whole dialogues, in order: those of tools that look at more than one value at a time."""

    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_names("step", self.steps, STEPS)


class Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is counted: the ``unit``, |S| (a number, or ``auto``), dialogues left out and why, bit files.

    ``bits`` lists the slots of a file of right/wrong marks in their order; a protocol without it cannot
    score such a file. ``domain_slots``: the |S| of a domain's slice, its ``own`` slots or ``all``;
    ``domain_values``: whether ``all`` values are in it, or only ``texts`` that are not empty.
    ``extra_turns``: predicted turns after the reference's last are ``refused`` or ``ignored``.
    ``turns`` are ``counted`` by users' turns, or numbered ``as-written``, gaps and all.
    Of unit ``frame``, ``frames`` are the ``services`` that the reference lists at a turn, all ``domains``, or
    those that are ``active`` in it; a ``schema`` is ``required`` or there is ``none``.
    """

    unit: Literal["turn", "frame"]
    slots: int | Literal["auto"]
    domain_slots: Literal["own", "all"] = "own"
    extra_turns: Literal["refused", "ignored"] = "refused"
    domain_values: Literal["all", "texts"] = "all"
    turns: Literal["counted", "as-written"] = "counted"
    leave_out: tuple[str, ...] = ()
    leave_out_why: str = ""
    bits: tuple[str, ...] = ()
    frames: Literal["services", "domains", "active"] = "services"
    schema: Literal["required", "none"] = "required"

    def __post_init__(self) -> None:
        if isinstance(self.slots, int) and not 1 <= self.slots <= MOST_SLOTS:
            expected = f"a positive number up to {MOST_SLOTS} or 'auto'"
            raise ValueError(f"scope.slots is |S|, {expected}, found {self.slots}")


_LATER = {
    "domain_slots": "own",
    "domain_values": "all",
    "extra_turns": "refused",
    "turns": "counted",
    "frames": "services",
    "schema": "required",
}


class Metrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is printed without ``--metric``, and what a name means under this protocol: its parameters, or
    another metric altogether (``means``).
    """

    default: tuple[str, ...]
    parameters: dict[str, dict[str, str]] = {}
    means: dict[str, str] = {}


class Protocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way of counting; see the fields' own classes for the settings."""

    name: str
    comparability: int
    title: str
    source: str
    checked: tuple[str, ...]
    states: States
    match: Match
    scope: Scope
    metrics: Metrics
    prepare: Prepare = Prepare()
    changed: tuple[str, ...] = ()
    origin: str = ""

    @property
    def label(self) -> str:
        """The name with its comparability, and the settings that this run changed: ``exact@1``.

        A protocol that does not come with dsteval also shows its hash: its name alone says nothing.
        """
        text = f"{self.name}@{self.comparability}" + (f"#{self.origin}" if self.origin else "")
        return f"{text}[{','.join(self.changed)}]" if self.changed else text

    @property
    def needs(self) -> list[str]:
        """The tables that the user must give, by the names of their options."""
        schema = "schema" if (self.scope.unit, self.scope.schema) == ("frame", "required") else ""
        tables = {
            schema,
            MATCHERS[self.match.rule].needs,
            *(NEEDS.get(name, "") for name in self.states.normalisers),
        }
        return sorted(tables - {""})

    def leaves_out(self, dialogue: Dialogue) -> bool:
        """Whether one of the steps leaves a reference dialogue out altogether."""
        return any(STEPS[name].leaves_out(dialogue) for name in self.prepare.steps)

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits over every setting that can move a number."""
        # Settings that came later count only where they are set, so that older protocols keep their hashes.
        later = filter(None, [self.prepare.steps, self.metrics.means])
        scope = {k: v for k, v in msgspec.structs.asdict(self.scope).items() if _LATER.get(k) != v}
        # What is equal to the default says nothing, whether it is the very object or came out of a pickle.
        defaults = {field.name: field.default for field in msgspec.structs.fields(States)}
        states = {k: v for k, v in msgspec.structs.asdict(self.states).items() if v != defaults[k]}
        settings = [states, self.match, scope, self.metrics.parameters, *later]
        return hashlib.sha256(msgspec.json.encode(settings, order="sorted")).hexdigest()[:12]

    def signature(self) -> str:
        """The settings as they stand in a score's signature."""
        states = self.states
        sides = [side for side in ("ref", "pred") if getattr(states, f"absent_{side}")]
        absent = "drop" if states.absent or len(sides) == 2 else f"drop-{sides[0]}" if sides else "keep"
        return f"match:{self.match.rule}|absent:{absent}|dc:{states.dontcare}|multi:{states.alternatives}"

    def with_settings(self, settings: Iterable[str]) -> Protocol:
        """This protocol with ``table.key=value`` settings changed, as ``--set`` takes them.

        Raises OptionError for a setting that does not exist or a value that it does not take.
        """
        tables = msgspec.to_builtins(self)
        changed = dict(text.split("=", 1) for text in self.changed)
        bundled = not self.origin and self.name in PROTOCOLS.bundled
        original = msgspec.to_builtins(load(self.name) if bundled else self)
        for text in settings:
            key, value = _setting(text)
            table, field = key.split(".")
            default = original[table].get(field, _DEFAULTS[key])
            same = value == default or (key in _SETS and sorted(map(str, value)) == sorted(map(str, default)))
            tables[table][field] = default if same else value
            if same and (bundled or key not in changed):
                changed.pop(key, None)
            elif key != "scope.leave_out_why":  # moves no number
                changed[key] = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        tables["changed"] = [f"{key}={value}" for key, value in sorted(changed.items())]
        try:
            return msgspec.convert(tables, Protocol, strict=True)
        except msgspec.ValidationError as error:
            given = ", ".join(f"--set {text}" for text in settings)
            raise OptionError(where=given, found=_plain(error)) from None


_SETS = {"states.absent", "states.absent_ref", "states.absent_pred", "states.only", "states.dontcare_words"}
_SETS |= {"scope.leave_out", "states.separators"}
"""Settings whose order says nothing."""

_TABLES: dict[str, type[msgspec.Struct]] = {"states": States, "match": Match, "prepare": Prepare, "scope": Scope}
_DEFAULTS: dict[str, Any] = {
    f"{table}.{field.name}": field.default
    for table, struct in _TABLES.items()
    for field in msgspec.structs.fields(struct)
}


def _setting(text: str) -> tuple[str, Any]:
    """The key and the value of one ``table.key=value``; the value is TOML, or else a bare text."""
    key, equals, raw = text.partition("=")
    key, value = key.strip(), raw.strip()
    hints = {table: get_type_hints(struct) for table, struct in _TABLES.items()}
    known = {f"{table}.{field}": taken for table in hints for field, taken in hints[table].items()}
    if not equals:
        raise OptionError(where=f"--set {text}", expected="table.key=value", remedy=f"Known: {', '.join(known)}.")
    require_known("setting", key, known)
    try:
        value = tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        pass  # a bare text
    except RecursionError:
        raise OptionError(
            where=f"--set {key}", expected="a value", found="one that is nested too deeply"
        ) from None
    where, kind = f"--set {key}={value}", get_origin(known[key])
    if kind is Literal and value not in get_args(known[key]):
        raise OptionError(where=where, found=unknown(f"value of {key}", str(value), get_args(known[key])))
    require(kind is not tuple or isinstance(value, list), where, "a list such as '[\"none\"]'", repr(value))
    return key, value


def _plain(error: msgspec.ValidationError) -> str:
    text, at, place = str(error).replace("`", "'").replace("$.", "").partition(" - at ")
    return f"{text.rstrip('.')} (at {place})" if at else text


def _bundled() -> dict[str, str]:
    # Beside this file, not by importlib.resources, whose import is felt in every short run.
    return {file.stem: file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("*.toml")}


PROTOCOLS: Registry[str] = Registry("protocols", _bundled)


def names() -> list[str]:
    """The names of all available protocols, ``exact`` first, those of entry points ``dsteval.protocols`` too."""
    return sorted(PROTOCOLS.names(), key=lambda name: (name != "exact", name))


def load(name: str) -> Protocol:
    """The protocol of that name, or of the TOML file at that path.

    An entry point of the group ``dsteval.protocols`` may name a Protocol or the text of a TOML file. Raises
    ProtocolError where there is none of that name or its file is not a protocol.
    """
    if name in PROTOCOLS.bundled:
        return _parse(PROTOCOLS.bundled[name], f"protocol {name}")
    if name.endswith(".toml"):
        found = "no such file"
        try:
            if Path(name).is_file():
                return _foreign(_parse(Path(name).read_text(encoding="utf-8"), name))
        except (OSError, UnicodeDecodeError) as error:
            found = "a file that cannot be read" if isinstance(error, OSError) else "bytes that are not UTF-8"
        raise ProtocolError(where=name, expected="a protocol's TOML file", found=found)
    protocol = PROTOCOLS.get(name)
    if protocol is None:
        raise ProtocolError(unknown("protocol", name, names(), "dsteval list protocols"))
    return _foreign(protocol if isinstance(protocol, Protocol) else _parse(str(protocol), f"protocol {name}"))


def _foreign(protocol: Protocol) -> Protocol:
    return msgspec.structs.replace(protocol, origin=protocol.hash)


@cache
def _parse(text: str, where: str) -> Protocol:
    try:
        tables = tomllib.loads(text)
        for key in ("changed", "origin"):
            if key in tables:
                raise ProtocolError(where=where, found=f"a file cannot set the key {key!r}")
        return msgspec.convert(tables, Protocol)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = "values that are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ProtocolError(where=where, expected="TOML", found=found) from None
    except msgspec.ValidationError as error:
        raise ProtocolError(where=where, found=_plain(error)) from None
