"""Dialogues whose states are numbers, put one after the other until there are enough to be compared at once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from dsteval.dialogue import Dialogue, Side
from dsteval.outcomes.table import Array
from dsteval.prepare.vocabulary import Numbers, Prepared, Vocabulary
from dsteval.readers import Encoded
from dsteval.readers.encoded import stand_twice


class _Side:
    """The states of one side: the numbers of each that differs from the one before, and which a turn has."""

    def __init__(self) -> None:
        self._numbers = array("i")
        self._ends = array("q", [0])
        self._state_of = array("i")

    def extend(self, states: list[Numbers]) -> None:
        """Take in the states of one dialogue."""
        state, before = len(self._ends) - 2, None
        for numbers in states:
            if numbers is not before:
                self._numbers.extend(numbers)
                self._ends.append(len(self._numbers))
                state, before = state + 1, numbers
            self._state_of.append(state)

    @property
    def numbers(self) -> Array:
        """All numbers that occur, each once for every state that it is new in."""
        return np.frombuffer(self._numbers, dtype=np.int32)

    def take(self, block: Encoded, side: Side, number_of: Array) -> None:
        """Take in one side of a block of dialogues, in the place of all others."""
        numbers = number_of[block.numbers]
        kept = numbers > 0
        ends = np.append(0, np.cumsum(kept))[block.state_ends]
        self._numbers, self._ends = array("i", numbers[kept].tobytes()), array("q", ends.tobytes())
        self._state_of = block.states[side]

    def has_doubles(self, slot_of: Array) -> bool:
        """Whether a slot stands twice in a state."""
        return stand_twice(slot_of, self.numbers, np.frombuffer(self._ends, dtype=np.int64))

    def table(self, row_of: Array, height: int) -> Array:
        """The number of each slot at each turn [slots, turns], 0 where it has none."""
        numbers, ends = self.numbers, np.frombuffer(self._ends, dtype=np.int64)
        states = np.zeros((height, len(ends) - 1), dtype=np.int32)
        states[row_of[numbers], np.repeat(np.arange(len(ends) - 1), np.diff(ends))] = numbers
        # Tables are looked at flat: rows have to lie one behind the other, as an index would not leave them.
        return np.take(states, np.frombuffer(self._state_of, dtype=np.int32), axis=1)


class Block:
    """Some whole dialogues; ``marks`` are the slots that their right/wrong marks tell of, where they hold those.

    Per dialogue: ``dialogues`` (ids), ``offsets`` [D + 1] into the turns. Per turn: ``turn`` numbers. ``alone``
    tells that a dialogue is a single instance, ``has_ref`` whether there are states of the reference.
    """

    def __init__(self, vocabulary: Vocabulary, marks: Sequence[str] | None = None) -> None:
        self.vocabulary, self.marks = vocabulary, marks
        self.dialogues: list[str] = []
        self.alone = False
        self.has_ref = True
        self._ends = array("q", [0])
        self._turn = array("i")
        self._bits: list[list[int]] = []
        self._ref, self._pred = _Side(), _Side()

    def __len__(self) -> int:
        return len(self._turn)

    def add(self, dialogue: Dialogue, prepared: Prepared) -> None:
        """Take in one dialogue, a state per turn on both sides; beside marks the reference may be lacking."""
        ref, pred = prepared.numbers
        nothing: list[Numbers] = [[]] * len(dialogue.turns)
        if self.marks is not None:
            self.has_ref &= bool(ref)
            self._bits += [turn.correctness or [] for turn in dialogue.turns]
            names = set(self.marks)
            name = self.vocabulary.slot_name
            ref, pred = [[n for n in state if name(n) in names] for state in ref] or nothing, nothing
        self._turn.extend([turn.number for turn in dialogue.turns])
        self._ref.extend(ref)
        self._pred.extend(pred)
        self._ends.append(len(self._turn))
        self.dialogues.append(dialogue.id)
        self.alone |= dialogue.alone

    @classmethod
    def of(cls, vocabulary: Vocabulary, encoded: Encoded, number_of: Sequence[Array]) -> Block:
        """A block of encoded dialogues; ``number_of`` tells for each side the numbers of items."""
        block = cls(vocabulary)
        block.dialogues, block._ends, block._turn = encoded.ids, encoded.ends, encoded.turns
        block._ref.take(encoded, "ref", number_of[0])
        block._pred.take(encoded, "pred", number_of[1])
        return block

    @property
    def has_doubles(self) -> bool:
        """Whether a slot stands twice in a state, which is a problem of the file if its values differ."""
        slot_of = np.frombuffer(self.vocabulary.slot_of, dtype=np.int32)
        return any(side.has_doubles(slot_of) for side in (self._ref, self._pred))

    @property
    def offsets(self) -> Array:
        """Where each dialogue begins [D + 1]."""
        return np.frombuffer(self._ends, dtype=np.int64)

    @property
    def turn(self) -> Array:
        """The number of every turn."""
        return np.frombuffer(self._turn, dtype=np.int32)

    @property
    def first(self) -> Array:
        """Whether a turn is the first of its dialogue."""
        first = np.zeros(len(self), dtype=bool)
        first[self.offsets[:-1]] = True
        return first

    def slots(self) -> Array:
        """The numbers of the slots that occur, sorted."""
        marked = [self.vocabulary.slot(name) for name in self.marks or ()]
        slot_of = np.frombuffer(self.vocabulary.slot_of, dtype=np.int32)
        present = np.zeros(len(self.vocabulary.slots) + 1, dtype=bool)  # the last one stands for no slot, -1
        for side in (self._ref, self._pred):
            present[slot_of[side.numbers]] = True
        present[marked] = True
        return np.flatnonzero(present[:-1])

    def tables(self, slots: Array, *, texts_only: bool = False) -> tuple[Array, Array]:
        """The numbers of both sides [slots, turns], without empty values where ``texts_only``."""
        row = np.zeros(len(self.vocabulary.slots) + 1, dtype=np.int32)
        row[slots] = np.arange(len(slots))
        row_of = row[np.frombuffer(self.vocabulary.slot_of, dtype=np.int32)]
        ref, pred = self._ref.table(row_of, len(slots)), self._pred.table(row_of, len(slots))
        if texts_only:
            kept = np.array([bool(value) for value in self.vocabulary.values])
            ref, pred = ref * kept[ref], pred * kept[pred]
        return ref, pred

    def marked_wrong(self, slots: Array) -> Array:
        """Whether a slot is marked as wrong [slots, turns]."""
        assert self.marks is not None
        numbers = [self.vocabulary.slot(name) for name in self.marks]
        wrong = np.zeros((len(slots), len(self)), dtype=bool)
        wrong[np.searchsorted(slots, numbers)] = np.array(self._bits, dtype=bool).reshape(-1, len(numbers)).T == 0
        return wrong
