"""What every reader is, and the steps that readers share: states, turn keys, doubles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn, Value
from dsteval.errors import Problems, ReadError
from dsteval.readers.json_pairs import Pairs
from dsteval.readers.source import Source

__all__ = [
    "Flattener",
    "Grouped",
    "Options",
    "Reader",
    "by_number",
    "fields",
    "numbered",
    "one_sided",
    "shown",
    "turn_number",
]


@dataclass(frozen=True)
class Options:
    """What a user may say about a file: its predicted states are ``updates``; which field is the reference."""

    updates: bool = False
    ref_field: str | None = None

    def updated(self, side: Side = "pred") -> tuple[Side, ...]:
        """The sides that hold updates, where the file's own side is ``side``."""
        return (side,) if self.updates and side == "pred" else ()


@dataclass(frozen=True)
class Reader:
    """One format. ``sides`` is ``both`` where a file holds ref and pred together, else ``one``.

    ``ref_fields`` tells whether a file may hold several references, one of which ``--ref-field`` names.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    sides: ClassVar[str]
    ref_fields: ClassVar[bool] = False

    def sniff(self, source: Source) -> str:
        """The sign by which the source is recognised as this format, or ``""``."""
        raise NotImplementedError

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues of one file; ``side`` says where a file with one side goes.

        Raises ReadError at the end for all that was wrong with values.
        """
        raise NotImplementedError


class _SlotNames(dict[str, str]):
    """Slot -> 'domain-slot' for one domain."""

    def __init__(self, domain: str) -> None:
        super().__init__()
        self.domain = domain

    def __missing__(self, slot: str) -> str:
        name = self[slot] = f"{self.domain}-{slot}"
        return name


_DIGITS = 9  # of a turn's number; more is a key of another kind
_TEXT = frozenset({str})
_OBJECTS = (dict, Pairs, Mapping)


class Flattener:
    """Turns decoded states, flat or nested by domain, into items; collects values that are none."""

    def __init__(self, source: str) -> None:
        self.problems = Problems(source)
        self._names: dict[str, _SlotNames] = {}

    def items(self, state: Any, dialogue: str, turn: int) -> Items:
        """The items of one state, in file order."""
        items: Items = []
        if not isinstance(state, _OBJECTS):
            expected = "a state, an object of slots"
            self.problems.add(dialogue, turn, expected=expected, found=shown(state))
            return items
        for key, value in state if isinstance(state, Pairs) else state.items():
            if type(key) is not str:
                self.problems.add(dialogue, turn, expected="slots that are texts", found=shown(key))
                continue
            kind = type(value)
            if kind is str:
                items.append((key, value))
            elif kind is dict:
                names = self._names.get(key) or self._domain(key)
                if _TEXT.issuperset(map(type, value.values())):
                    items.extend(zip(map(names.__getitem__, value), value.values(), strict=True))
                else:
                    items.extend(self._values(names, value.items(), dialogue, turn))
            elif isinstance(value, _OBJECTS):
                pairs = value if isinstance(value, Pairs) else value.items()
                items.extend(self._values(self._domain(key), pairs, dialogue, turn))
            else:
                items.append((key, self.value(value, dialogue, turn, key)))
        return items

    def _domain(self, domain: str) -> _SlotNames:
        return self._names.setdefault(domain, _SlotNames(domain))

    def _values(
        self, names: _SlotNames, slots: Iterable[tuple[str, Any]], dialogue: str, turn: int
    ) -> Iterator[Item]:
        for slot, value in slots:
            yield names[slot], self.value(value, dialogue, turn, names[slot])

    def utterance(self, value: Any, dialogue: str, turn: int) -> str | None:
        """What was said, or another text beside the states; null, or not there, is None."""
        if value is None or isinstance(value, str):
            return value
        self.problems.add(dialogue, turn, expected="an utterance or an intent as text", found=shown(value))
        return None

    def glued(self, texts: Any, dialogue: str, turn: int) -> Items:
        """The items of texts 'domain-slot-value', cut at the first two hyphens: a value keeps its own."""
        items: Items = []
        if not isinstance(texts, list):
            self.problems.add(dialogue, turn, expected="a list of 'domain-slot-value'", found=shown(texts))
            return items
        for text in texts:
            pieces = text.split("-", 2) if isinstance(text, str) else []
            if len(pieces) == 3:
                items.append((f"{pieces[0]}-{pieces[1]}", pieces[2]))
            else:
                self.problems.add(dialogue, turn, expected="texts 'domain-slot-value'", found=shown(text))
        return items

    def value(self, value: Any, dialogue: str, turn: int, slot: str) -> Value:
        """One value: a text, a list of texts as a set of alternatives, null; an integer is read as its text."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list | tuple | set | frozenset) and not isinstance(value, Pairs):
            if isinstance(value, set | frozenset):
                value = sorted(value, key=str)
            # An empty list is kept as such: DSTC10's scorer tells it from a slot that is not there.
            if all(isinstance(part, str) or _is_integer(part) for part in value):
                return tuple(map(str, value))
        elif _is_integer(value):
            return str(value)
        self.problems.add(
            dialogue,
            turn,
            slot=slot,
            expected="text or a list of texts",
            found=shown(value),
            remedy="Write it as text." if isinstance(value, float | bool) else "",
        )
        return None


def _is_integer(value: object) -> bool:
    # A number of a hundred digits is no value of a slot, and Python refuses to write out thousands.
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 330


def shown(value: object) -> str:
    """A value as JSON has it, cut short, for a message."""
    if isinstance(value, Pairs):
        value = dict(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested very deep, or an integer of thousands of digits
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else text[:57] + "..."


def turn_number(label: object) -> int | None:
    """The number of a turn's key, which may be a text of digits; None where it is no number.

    >>> turn_number("12"), turn_number(3), turn_number("first"), turn_number(True)
    (12, 3, None, None)
    """
    if isinstance(label, str) and label.strip().isdecimal() and len(label) < _DIGITS:
        return int(label)
    return label if isinstance(label, int) and _is_integer(label) and 0 <= label < 10**_DIGITS else None


def fields(value: Any, where: str, *place: str) -> dict[str, Any]:
    """The fields of an object; of anything else none. Raises ReadError where one is named twice.

    ``place`` names fields that tell a dialogue and a turn, for the message.
    """
    if isinstance(value, Pairs):
        names = [name for name, _ in value]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            told = [repr(dict(value)[name]) for name in place if name in names and name != twice]
            where = f"{where} (dialogue {', turn '.join(told)})" if told else where
            raise ReadError(where=where, expected="each field once", found=f"{shown(twice)} twice")
    return dict(value) if isinstance(value, _OBJECTS) else {}


def numbered(value: Any, dialogue: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """The turns of an object that is keyed by turn; what is none, or has another key, is a problem."""
    if not isinstance(value, _OBJECTS):
        problems.add(dialogue, None, expected="an object of turns", found=shown(value))
        return
    for label, turn in value if isinstance(value, Pairs) else value.items():
        number = turn_number(label)
        if number is None:
            problems.add(dialogue, None, expected="turns keyed by number", found=f"the key {shown(label)}")
        else:
            yield number, turn


def one_sided(side: Side, number: int, items: Items, system: str | None = None, user: str | None = None) -> Turn:
    """A turn of a file with one side."""
    turn = Turn(number, system=system, user=user)
    if side == "ref":
        turn.ref = items
    else:
        turn.pred = items
    return turn


def by_number(dialogue: str, turns: list[Turn], problems: Problems) -> list[Turn]:
    """Turns sorted by number; a number that stands twice is a problem."""
    ordered = sorted(turns, key=lambda turn: turn.number)
    for one, other in pairwise(ordered):
        if one.number == other.number:
            problems.add(
                dialogue, one.number, expected="each turn once", found="it twice", remedy="Keep one of them."
            )
    return ordered


class Grouped:
    """Gathers turns that a file lists one by one, and gives the dialogues in the order of their first turn."""

    def __init__(self, flattener: Flattener) -> None:
        self.flattener = flattener
        self.turns: dict[str, list[Turn]] = {}
        self.doubled: set[str] = set()
        self.total = 0

    def add(self, dialogue: str, turn: Turn) -> None:
        """Take in one turn; a slot that one of its states names twice marks the dialogue."""
        self.total += 1
        self.turns.setdefault(dialogue, []).append(turn)
        frames = [*(turn.ref_frames or ()), *(turn.pred_frames or ())]
        for items in (turn.ref, turn.pred, *(frame.items for frame in frames)):
            if items and len({slot for slot, _ in items}) < len(items):
                self.doubled.add(dialogue)

    def place(self, line: str, name: object, number: int | None, record: object, expected: str) -> str | None:
        """The dialogue's name where a record has one and a turn number; otherwise a problem is noted."""
        if _is_integer(name):
            name = str(name)
        if isinstance(name, str) and name.strip() and number is not None:
            return name
        self.total += 1
        self.flattener.problems.add("", None, line=line, expected=expected, found=shown(record))
        return None

    def dialogues(
        self, updates: tuple[Side, ...] = (), gaps: bool = False, keyed: bool = True
    ) -> Iterator[Dialogue]:
        """The dialogues, once all problems have been checked."""
        problems = self.flattener.problems
        ordered = {name: by_number(name, turns, problems) for name, turns in self.turns.items()}
        problems.check(self.total)
        for name, turns in ordered.items():
            yield Dialogue(name, turns, name in self.doubled, updates, gaps, keyed=keyed)
