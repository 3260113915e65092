"""Counts what came of the slots of each turn, block after block, and fills Outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from dsteval.dialogue import Dialogue
from dsteval.outcomes.blocks import Block
from dsteval.outcomes.cells import Cells, Rule, compare
from dsteval.outcomes.extra_columns import DialogueStates, extra_columns
from dsteval.outcomes.table import (
    CARRIED,
    EXACT,
    FIRST,
    PRED_IS_PREVIOUS_REF,
    SAME_WRONG,
    Array,
    Outcomes,
)
from dsteval.prepare.vocabulary import Prepared, Vocabulary
from dsteval.values.matchers import Matcher

_BLOCK = 1 << 13
"""The turns of a block, but for its last dialogue; fewer where there are many slots."""

_CELLS = 1 << 20


class SeenSlot(NamedTuple):
    """Where a slot stands first, dialogue and turn, if it stands anywhere, and which sides have it."""

    first: tuple[str, int] | None
    in_ref: bool
    in_pred: bool


def seen_slots(block: Block, cells: Cells) -> dict[str, SeenSlot]:
    """The slots of a block, in the order in which they stand first; those that only marks tell of before them."""
    if not len(block):
        return {}
    there: Array = np.logical_or(cells.ref, cells.pred)
    units = np.where(there.any(axis=1), np.argmax(there, axis=1), -1)
    dialogues = np.searchsorted(block.offsets, units, side="right") - 1
    in_ref, in_pred = (np.any(side, axis=1).tolist() for side in (cells.ref, cells.pred))
    seen = {}
    for row in np.argsort(units, kind="stable").tolist():
        unit = int(units[row])
        first = None if unit < 0 else (block.dialogues[int(dialogues[row])], int(block.turn[unit]))
        seen[block.vocabulary.slots[int(cells.slots[row])]] = SeenSlot(first, in_ref[row], in_pred[row])
    return seen


Take: TypeAlias = Callable[[Outcomes, dict[str, SeenSlot]], None]
"""What is done with the outcomes of a block, and the slots that it has."""


class Comparer:
    """Compares dialogues in blocks, and hands the outcomes of each block to ``take``.

    ``extra`` names what is counted per turn in addition. ``marks`` are the slots that right/wrong marks tell of.
    What slices need of a block goes to ``also``.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        matcher: Matcher,
        take: Take,
        extra: Sequence[str] = (),
        marks: Sequence[str] = (),
    ) -> None:
        self.also: list[Callable[[Outcomes, Block, Cells, list[DialogueStates]], None]] = []
        self._vocabulary, self._matcher, self._take, self._marks = vocabulary, matcher, take, marks
        self.rule = Rule(vocabulary, matcher)
        self._extra = extra
        self._states: list[DialogueStates] = []
        self._block = Block(vocabulary)

    def add(self, dialogue: Dialogue, prepared: Prepared) -> None:
        """Compare one dialogue's states, a state per turn on both sides, or its right/wrong marks."""
        marks = self._marks if dialogue.turns and dialogue.turns[0].correctness is not None else None
        size = len(self._block)
        if size >= _BLOCK or size * len(self._vocabulary.slots) >= _CELLS or self._block.marks is not marks:
            self._compare()
            self._block = Block(self._vocabulary, marks)
        self._block.add(dialogue, prepared)
        if self._extra and marks is None:
            self._states.append(DialogueStates(dialogue, prepared.ref, prepared.pred, self._matcher.right))

    def add_block(self, block: Block) -> None:
        """Compare a block that is ready, after those before it."""
        self._compare()
        self._block = block
        self._compare()
        self._block = Block(self._vocabulary)

    def close(self) -> None:
        """Compare what is left; there is a block of outcomes afterwards, if only an empty one."""
        self._compare(last=True)
        self._block = Block(self._vocabulary)

    def _compare(self, last: bool = False) -> None:
        if not len(self._block) and not last:
            return
        block = self._block
        cells = compare(block, self.rule)
        outcomes = whole(block, cells, self._matcher.graded, extra_columns(self._extra, self._states))
        self._take(outcomes, seen_slots(block, cells))
        for take in self.also:
            take(outcomes, block, cells, self._states)
        self._states = []


def whole(block: Block, cells: Cells, graded: bool, extra: dict[str, Array]) -> Outcomes:
    """The outcomes of a block's dialogues, all slots together."""
    units = counted(cells, block.first, lambda mask: mask.sum(axis=0, dtype=np.int32))
    wrong = cells.wrong_rows(cells.wrong_unit, np.arange(len(cells.wrong_unit)))
    return outcomes_of(block, block.dialogues, block.offsets, {"turn": block.turn, **units}, wrong, graded, extra)


def counted(cells: Cells, first: Array, summed: Callable[[Array], Array]) -> dict[str, Array]:
    """The columns of turns that follow from cells; ``summed`` adds up a mask over slots."""
    names = ("ref", "pred", "right", "wrong", "new_ref", "new_pred", "new_pred_right", "fresh", "moved", "turned")
    sums = {name: summed(getattr(cells, name)) for name in names}
    sums["new_ref_right"] = summed(cells.new_ref & cells.right)
    # Where nothing is wrong, nothing new is: a rule that swaps the sides is asked at other turns only.
    exact = sums["wrong"] == 0
    sums["new_pred_right"] = np.where(exact, sums["new_pred"], sums["new_pred_right"])
    sums["flags"] = (
        EXACT * exact
        + FIRST * first
        + CARRIED * (~exact & (sums.pop("fresh") == 0))
        + PRED_IS_PREVIOUS_REF * (sums.pop("moved") == 0)
        + SAME_WRONG * (sums.pop("turned") == 0)
    ).astype(np.int32)
    return sums


def outcomes_of(
    block: Block,
    dialogues: list[str],
    offsets: Array,
    units: dict[str, Array],
    wrong: dict[str, Array],
    graded: bool,
    extra: dict[str, Array],
) -> Outcomes:
    """A table of some units of a block."""
    rows = np.stack([wrong["unit"], wrong["slot"], wrong["ref"], wrong["pred"]], axis=1).astype(np.int32)
    return Outcomes(
        dialogues=dialogues,
        offsets=offsets,
        units={**units, "service": np.full(len(units["turn"]), -1, dtype=np.int32)},
        wrong_rows=rows,
        wrong_score=wrong["score"],
        wrong_previous=wrong["previous"],
        slots=block.vocabulary.slots,
        values=block.vocabulary.values,
        has_values=block.marks is None,
        has_ref=block.has_ref,
        has_dialogues=not block.alone,
        extra=extra,
        graded=graded,
    )
