"""What every reader is, and the steps that readers share: states, turn keys, doubles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn, Value
from dsteval.errors import Problems
from dsteval.readers.json_text import Pairs
from dsteval.readers.source import Source

__all__ = ["Flattener", "Reader", "by_number", "turn_number"]


@dataclass(frozen=True)
class Reader:
    """One format. ``sides`` is ``both`` where a file holds ref and pred together, else ``one``."""

    name: ClassVar[str]
    about: ClassVar[str]
    sides: ClassVar[str]
    order: ClassVar[int] = 0

    def sniff(self, source: Source) -> str:
        """The sign by which the source is recognised as this format, or ``""``."""
        raise NotImplementedError

    def read(self, source: Source, side: Side, updates: bool) -> Iterator[Dialogue]:
        """The dialogues of the source; ``side`` says where a file with one side goes, ``updates`` that its
        predicted states are changes. Raises ReadError at the end for all that was wrong with values.
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


_TEXT = frozenset({str})
_OBJECTS = (dict, Pairs)


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
        for key, value in state.items() if type(state) is dict else state:
            kind = type(value)
            if kind is str:
                items.append((key, value))
            elif kind is dict:
                names = self._names.get(key) or self._domain(key)
                if _TEXT.issuperset(map(type, value.values())):
                    items.extend(zip(map(names.__getitem__, value), value.values(), strict=True))
                else:
                    items.extend(self._values(names, value.items(), dialogue, turn))
            elif kind is Pairs:
                items.extend(self._values(self._domain(key), value, dialogue, turn))
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

    def value(self, value: Any, dialogue: str, turn: int, slot: str) -> Value:
        """One value: a text, a list of texts as a set of alternatives, null; an integer is read as its text."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list | tuple | set | frozenset):
            if isinstance(value, set | frozenset):
                value = sorted(value, key=str)
            if value and all(isinstance(part, str) or _is_integer(part) for part in value):
                return tuple(map(str, value))
            if not value:
                return None
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
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as JSON has it, cut short, for a message."""
    if isinstance(value, Pairs):
        value = dict(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def turn_number(label: object) -> int | None:
    """The number of a turn's key, which may be a text of digits; None where it is no number.

    >>> turn_number("12"), turn_number(3), turn_number("first"), turn_number(True)
    (12, 3, None, None)
    """
    if isinstance(label, str) and label.strip().isdecimal():
        return int(label)
    return label if _is_integer(label) and label >= 0 else None  # type: ignore[operator,return-value]


def by_number(dialogue: str, turns: list[Turn], problems: Problems) -> list[Turn]:
    """Turns sorted by number; a number that stands twice is a problem."""
    ordered = sorted(turns, key=lambda turn: turn.number)
    for one, other in pairwise(ordered):
        if one.number == other.number:
            problems.add(
                dialogue, one.number, expected="each turn once", found="it twice", remedy="Keep one of them."
            )
    return ordered
