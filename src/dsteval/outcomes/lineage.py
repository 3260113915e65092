"""Where each error began, what it is, and how it ended: every wrong slot of every turn belongs to one error.

An *error* is a maximal run of consecutive turns of one dialogue in which one slot is wrong with the same reference
and the same predicted value, "same" as the protocol's rule has it (``Matcher.same`` and ``same_pred``). Its
*origin* is its first turn, its *lifetime* the number of its turns. So the lifetimes of all errors add up to the
wrong slots that SlotAccuracy counts.

Its *kind* is told from the origin t and the turn before, t-1, at which the first turn of a dialogue has nothing on
either side. With a value in the reference only:

``dropped``: the reference is as at t-1, and the slot was right there; the tracker lost it.
``missed``: any other, also where the reference changed at the very turn at which the tracker lost the old value.

With a value in the prediction only:

``kept``: the reference had the slot at t-1, and the prediction has what it had; the user withdrew it.
``spurious``: any other, also where the prediction changed at the turn of the withdrawal.

With a value in both:

``stale``: the reference had another value at t-1, and the prediction has what it had, right then or not.
``wrong value``: any other, also where a spurious value stays when the user gives the slot its first value.

It *ends* at turn u, the one after its last: ``repaired``, the slot is right there, or absent on both sides;
``changed``, it is wrong with another reference or another predicted value, so that the next error begins; or it
``lived`` to the last turn of the dialogue.

Right/wrong marks do not tell values: there an error is a run of turns at which the slot is marked wrong, whatever
changed in between, and its kind is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsteval.outcomes.table import (
    ABSENT,
    IN_REF_BEFORE,
    PRED_SAME,
    REF_SAME,
    RIGHT_BEFORE,
    UNKNOWN,
    Array,
    Outcomes,
)

KINDS = ("missed", "dropped", "stale", "kept", "spurious", "wrong value")
"""What an error is at its origin; ``Lineage.kind`` holds positions in here, or UNKNOWN."""

_MISSED, _DROPPED, _STALE, _KEPT, _SPURIOUS, _WRONG = range(len(KINDS))

ENDS = ("repaired", "changed", "lived")
"""How an error ended; ``Lineage.end`` holds positions in here."""

REPAIRED, CHANGED, LIVED = range(len(ENDS))


@dataclass(frozen=True, eq=False)
class Lineage:
    """All errors, integers of one row each, sorted by dialogue, slot and origin.

    ``dialogue`` and ``slot`` are positions in the lists of Outcomes, ``origin`` and ``last`` its units (the end u
    is ``last + 1``), ``kind`` and ``end`` positions in KINDS and ENDS, ``ref`` and ``pred`` numbers of the values
    at the origin, or ABSENT, UNKNOWN.
    """

    dialogue: Array
    slot: Array
    origin: Array
    last: Array
    kind: Array
    end: Array
    ref: Array
    pred: Array

    def __len__(self) -> int:
        return len(self.origin)

    @property
    def lifetime(self) -> Array:
        """The turns that each error lives."""
        turns: Array = self.last - self.origin + 1
        return turns

    def where(self, chosen: Array) -> Lineage:
        """Some of the errors, by a mask or by their positions."""
        return Lineage(**{name: column[chosen] for name, column in vars(self).items()})


def unavailable_reason(outcomes: Outcomes) -> str | None:
    """Why there is no lineage of these outcomes, or None."""
    if outcomes.unit != "turn":
        return "the protocol scores service frames; errors are followed from turn to turn"
    if not outcomes.has_dialogues:
        return "the data has single instances: without dialogues errors cannot be followed"
    if outcomes.graded:
        return "the matching rule gives partial scores, so slots are not simply right or wrong"
    return None


def lineage(outcomes: Outcomes) -> Lineage:
    """The errors of all dialogues. Raises ValueError where ``unavailable_reason`` has a reason.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "south"}, {"hotel-area": "south"}]}
    >>> pred = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}, {"hotel-area": "south"}]}
    >>> found = lineage(dsteval.evaluate(ref, pred, metrics=["JGA"]).outcomes)
    >>> [KINDS[kind] for kind in found.kind], found.origin.tolist(), [ENDS[end] for end in found.end]
    (['stale'], [1], ['repaired'])
    """
    reason = unavailable_reason(outcomes)
    if reason is not None:
        raise ValueError(reason)
    dialogue = outcomes.dialogue_of[outcomes.wrong_unit]
    # Rows come by turn: a stable sort by dialogue and slot leaves each slot's in the order of turns.
    order = np.argsort(dialogue * np.int64(len(outcomes.slots)) + outcomes.wrong_slot, kind="stable")
    rows, dialogue, was = outcomes.wrong_rows[order], dialogue[order], outcomes.wrong_previous[order]
    unit, slot = rows[:, 0], rows[:, 1]
    size = len(rows)
    follows = np.zeros(size + 1, dtype=bool)  # the row before is the same slot's, at the turn before
    follows[1:size] = (slot[1:] == slot[:-1]) & (unit[1:] == unit[:-1] + 1) & (dialogue[1:] == dialogue[:-1])
    same = (was == UNKNOWN) | ((was & (REF_SAME | PRED_SAME)) == (REF_SAME | PRED_SAME))
    first = np.flatnonzero(~(follows[:-1] & same))
    last = np.append(first[1:], size)[: len(first)] - 1
    ref, pred = rows[first, 2], rows[first, 3]
    lived = unit[last] + 1 == outcomes.offsets[1:][dialogue[first]]
    return Lineage(
        dialogue[first],
        slot[first],
        unit[first],
        unit[last],
        _kinds(was[first], ref, pred),
        np.where(lived, LIVED, np.where(follows[last + 1], CHANGED, REPAIRED)),
        ref,
        pred,
    )


def _kinds(was: Array, ref: Array, pred: Array) -> Array:
    """The kind of each error, from its values and what they were at the turn before."""
    ref_same, pred_same, right, in_ref = (
        (was & bit) != 0 for bit in (REF_SAME, PRED_SAME, RIGHT_BEFORE, IN_REF_BEFORE)
    )
    return np.select(
        [was == UNKNOWN, pred == ABSENT, ref == ABSENT],
        [
            np.full(len(was), UNKNOWN),
            np.where(ref_same & right, _DROPPED, _MISSED),
            np.where(in_ref & pred_same, _KEPT, _SPURIOUS),
        ],
        np.where(in_ref & ~ref_same & pred_same, _STALE, _WRONG),
    )
