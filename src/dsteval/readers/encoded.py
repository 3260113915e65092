"""Dialogues whose states are numbers: of the items that they hold, each item with one number in the whole file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn, is_doubled

_BLOCK = 1 << 13
_MOST_CELLS = 1 << 22

IntArray: TypeAlias = npt.NDArray[Any]


def stand_twice(slots: IntArray, numbers: IntArray, ends: IntArray) -> bool:
    """Whether a slot stands twice in a state; ``slots`` are those of the numbers, states end at ``ends``."""
    state = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    held = np.zeros((int(slots.max(initial=0)) + 1, len(ends) - 1), dtype=bool)
    held[slots[numbers], state] = True
    return bool(np.count_nonzero(held) < len(numbers))


class NotInBlocksError(Exception):
    """A file cannot be read in blocks to its end, and is to be read anew, as a whole."""


class _Places(dict[bytes, int]):
    """States as they are written -> their places, in the order in which they were asked for."""

    def __missing__(self, state: bytes) -> int:
        place = self[state] = len(self)
        return place


class Encoded:
    """Some whole dialogues with both sides, as they are written.

    ``items`` are those of all blocks of a file, by their numbers, ``slots`` the numbers of their slots. Per
    dialogue: ``ids`` and ``ends``, the end of its turns [D + 1]. Per turn: ``turns``, its number, and for each
    side which of the ``states`` it has. A state's items are ``numbers`` between two of ``state_ends`` [S + 1];
    these are there when the block is complete.
    """

    def __init__(self, items: list[Item], slots: array[int]) -> None:
        self.items, self.slots = items, slots
        self.ids: list[str] = []
        self.ends = array("q", [0])
        self.turns = array("i")
        self.states: dict[Side, array[int]] = {"ref": array("i"), "pred": array("i")}
        self.numbers: IntArray = np.zeros(0, dtype=np.int64)
        self.state_ends: IntArray = np.zeros(1, dtype=np.int64)
        self.places = _Places()

    def __len__(self) -> int:
        return len(self.turns)

    @property
    def is_full(self) -> bool:
        """Whether there are turns enough to be compared at once."""
        return len(self.turns) >= _BLOCK

    def add(self, dialogue: str, turns: Sequence[int], ref: Sequence[bytes], pred: Sequence[bytes]) -> None:
        """Take in a dialogue: its turns' numbers, and their states as they are written."""
        self.ids.append(dialogue)
        self.turns.extend(turns)
        self.states["ref"].extend(map(self.places.__getitem__, ref))
        self.states["pred"].extend(map(self.places.__getitem__, pred))
        self.ends.append(len(self.turns))

    @property
    def is_wide(self) -> bool:
        """Whether the file has so many slots that a table of the block would hold little but empty cells."""
        return (int(np.array(self.slots).max(initial=0)) + 1) * len(self) > _MOST_CELLS

    @property
    def has_doubles(self) -> bool:
        """Whether a state names a slot twice."""
        return stand_twice(np.array(self.slots), self.numbers, self.state_ends)

    def items_of(self, side: Side) -> IntArray:
        """The numbers of the items that one side holds somewhere."""
        held = np.zeros(len(self.state_ends) - 1, dtype=bool)
        held[np.frombuffer(self.states[side], dtype=np.int32)] = True
        there = np.zeros(len(self.items), dtype=bool)
        there[self.numbers[np.repeat(held, np.diff(self.state_ends))]] = True
        return np.flatnonzero(there)

    def dialogues(self, updates: tuple[Side, ...] = ()) -> Iterator[Dialogue]:
        """The dialogues turn by turn; a state that did not change is the same object."""
        items, numbers = self.items, self.numbers.tolist()
        states: list[Items] = [
            [items[number] for number in numbers[start:end]] for start, end in pairwise(self.state_ends.tolist())
        ]
        doubled = {place for place, state in enumerate(states) if is_doubled(state)}
        ref, pred = self.states["ref"], self.states["pred"]
        for name, start, end in zip(self.ids, self.ends, self.ends[1:], strict=False):
            turns = [Turn(self.turns[t], states[ref[t]], states[pred[t]]) for t in range(start, end)]
            doubles = bool(doubled) and not doubled.isdisjoint([*ref[start:end], *pred[start:end]])
            yield Dialogue(name, turns, doubles, updates)
