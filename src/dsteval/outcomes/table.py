"""What came of every turn: the one table of small integers that metrics and all later steps read.

The unit is the user turn, or one service's frame of it. A right slot leaves no row of its own; each wrong slot
leaves one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dsteval.values.matchers import PreparedValue

Array: TypeAlias = npt.NDArray[Any]

EXACT, FIRST, CARRIED, PRED_IS_PREVIOUS_REF, SAME_WRONG = 1, 2, 4, 8, 16
"""Bits of ``flags``: every slot right; first turn of its dialogue; each slot that is wrong was wrong at the
turn before with the same ref and pred; the predicted state matches the reference of the turn before; the slots
that are wrong are those that were wrong at the turn before."""

ABSENT, UNKNOWN = -1, -2
"""Value numbers of a slot that a side does not have, and of one whose value the file does not tell; UNKNOWN also
stands in ``wrong_previous`` where nothing is known of the turn before."""

REF_SAME, PRED_SAME, RIGHT_BEFORE, IN_REF_BEFORE, IN_PRED_BEFORE = 1, 2, 4, 8, 16
"""Bits of ``wrong_previous``, what a slot that is wrong now was at the turn before: the reference had the same
value, or lacked it too; so had the prediction; the slot was right; the reference had it; the prediction had it."""

# The integer columns of a turn, in the order in which the comparison writes them.
UNIT = (
    "turn",
    "service",
    "ref",
    "pred",
    "right",
    "wrong",
    "new_ref",
    "new_ref_right",
    "new_pred",
    "new_pred_right",
    "flags",
)

FRAME = ("joint", "joint_cat", "joint_noncat", "average", "average_cat", "average_noncat", "intent", "requested")
"""The scores of a frame, NaN where one does not apply: the product over the schema's slots, the mean over the
reference's, each also over the categorical slots and over the others; intent right; F1 of requested slots."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What came of every turn (U of them, in D dialogues), or of every service's frame, if that is the ``unit``.

    Per dialogue: ``dialogues`` (ids), ``offsets`` [D + 1] into the turns.
    Per turn, integers [U]: ``turn`` number and ``service`` (-1: the whole turn); slots in ``ref``, in
    ``pred``, ``right`` (in both and matching) and ``wrong``; slots ``new_ref`` since the turn before and how
    many of them are right, ``new_pred`` likewise; ``flags``.
    Per wrong slot, rows: ``wrong_unit``, ``wrong_slot``, ``wrong_ref`` and ``wrong_pred`` (numbers into
    ``values``, or ABSENT, UNKNOWN), ``wrong_previous`` (bits, or UNKNOWN), ``wrong_score`` (match score, 0..1; 0
    under an exact rule).
    ``extra`` holds what metrics asked to be counted per turn in addition, by name [U, columns].
    ``n_slots`` is |S|. ``has_values`` is False for files of right/wrong marks, ``has_ref`` where those came
    without a reference, ``has_dialogues`` where the data is single instances. ``scored`` limits what metrics
    count to some turns (None: all of them). ``graded`` tells that the rule gives scores between 0 and 1. Frames
    have the ``service`` as a number into ``services``, FRAME's columns as ``extra["frames"]``, and ``lengths``,
    the user turns of each dialogue.
    """

    dialogues: list[str]
    offsets: Array
    units: dict[str, Array]
    wrong_rows: Array
    wrong_score: Array
    wrong_previous: Array
    slots: Sequence[str]
    values: Sequence[PreparedValue]
    n_slots: int = 0
    has_values: bool = True
    has_ref: bool = True
    has_dialogues: bool = True
    scored: Array | None = None
    extra: dict[str, Array] = field(default_factory=dict)
    unit: Literal["turn", "frame"] = "turn"
    graded: bool = False
    services: tuple[str, ...] = ()
    lengths: Array | None = None

    def __getattr__(self, name: str) -> Array:
        if name in UNIT:
            return self.units[name]
        if name in _WRONG_COLUMNS:
            column: Array = self.wrong_rows[:, _WRONG_COLUMNS.index(name)]
            return column
        raise AttributeError(name)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def _flagged(self, bit: int) -> Array:
        mask: Array = (self.units["flags"] & bit) != 0
        return mask

    @property
    def exact(self) -> Array:
        """Whether every slot of a turn is right [U]."""
        return self._flagged(EXACT)

    @property
    def first(self) -> Array:
        """Whether a turn is the first of its dialogue [U]."""
        return self._flagged(FIRST)

    @property
    def dialogue_of(self) -> Array:
        """The dialogue's position for every turn [U]."""
        return np.repeat(np.arange(len(self.dialogues)), np.diff(self.offsets))

    @property
    def counted(self) -> Array:
        """1 for every turn that counts, 0 for the others [U]."""
        return np.ones(len(self), dtype=np.int64) if self.scored is None else self.scored.astype(np.int64)

    def with_scope(self, n_slots: int, scored: Array | None = None) -> Outcomes:
        """The same outcomes with |S| set and, for a slice, the turns that count."""
        return replace(self, n_slots=n_slots, scored=scored)

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """One table of those of several blocks, whose slots and values have the same numbers."""
        starts = np.cumsum([0, *map(len, parts)])
        shifted = [
            part.wrong_rows + np.array([start, 0, 0, 0])
            for part, start in zip(parts, starts.tolist(), strict=False)
        ]
        ends = [part.offsets[1:] + start for part, start in zip(parts, starts.tolist(), strict=False)]
        lengths = [part.lengths for part in parts if part.lengths is not None]
        return replace(
            parts[-1],
            dialogues=[name for part in parts for name in part.dialogues],
            slots=tuple(parts[-1].slots),
            values=tuple(parts[-1].values),
            offsets=np.concatenate([[0], *ends]).astype(np.int64),
            units={name: np.concatenate([part.units[name] for part in parts]) for name in UNIT},
            wrong_rows=np.concatenate(shifted).astype(np.int32),
            wrong_score=np.concatenate([part.wrong_score for part in parts]),
            wrong_previous=np.concatenate([part.wrong_previous for part in parts]),
            has_values=all(part.has_values for part in parts),
            has_ref=all(part.has_ref for part in parts),
            has_dialogues=all(part.has_dialogues for part in parts),
            extra={name: np.concatenate([part.extra[name] for part in parts]) for name in parts[-1].extra},
            lengths=np.concatenate(lengths) if lengths else None,
        )

    def frame(self, name: str) -> Array:
        """One of FRAME's scores [U], floats."""
        column: Array = self.extra["frames"][:, FRAME.index(name)]
        return column


_WRONG_COLUMNS = ("wrong_unit", "wrong_slot", "wrong_ref", "wrong_pred")
