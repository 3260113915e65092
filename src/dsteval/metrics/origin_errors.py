"""Origin errors: how many new errors a turn makes, each counted once however long it lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsteval.metrics.base import WRONG_UNIT, Array, Counts, Metric, Parameter, per_dialogue, ratio
from dsteval.outcomes.lineage import KINDS, Lineage, lineage
from dsteval.outcomes.lineage import unavailable_reason as lineage_unavailable
from dsteval.outcomes.table import Outcomes

__all__ = ["KIND", "OriginErrors", "errors_counted", "errors_unavailable", "sums_of_errors"]

# The parameter's word for each kind: "wrong value" has a blank.
_WORDS = tuple(kind.partition(" ")[0] for kind in KINDS)

KIND = Parameter(("any", *_WORDS), "errors of every kind, or of one: what the slot was at the turn where it began")


@dataclass(frozen=True, repr=False)
class _OriginErrors(Metric):
    """Errors that begin, per turn; an error is a run of turns in which a slot is wrong with the same ref and pred.

    Formula: |{errors whose first turn counts}| / turns. Unit: errors a turn, 0 or more, lower is better. NaN
    without turns. ``kind`` counts errors of one kind only, as ``dsteval.outcomes.lineage`` tells them;
    the kinds add up to ``any``. In a slice an error counts where its first turn counts.

    Differs from: wrong slots per turn, (1 - SlotAccuracy) |S|, which counts an error anew at each turn it lives.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{}, {"hotel-area": "south"}, {"hotel-area": "south"}]}
    >>> result = dsteval.evaluate(ref, pred, metrics=["OriginErrors", "OriginErrors(kind=missed)"])
    >>> [(score.count, score.total) for score in result.scores]
    [(2, 3), (1, 3)]

    Reference: dsteval's own; Dey, Kummara and Desarkar, ACL 2022, Figure 1 draws the arrows that it follows.
    """

    name = "OriginErrors"
    about = "new errors per turn, each counted once however long it lives"
    parameters = {"kind": KIND}
    best = 0.0
    bounds = (0.0, float("inf"))

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """As for every metric of errors."""
        return errors_unavailable(outcomes)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, errors that begin."""
        turns = per_dialogue(outcomes, outcomes.exact | True)
        return np.hstack([turns, sums_of_errors(outcomes, errors_counted(outcomes, self.get("kind")))])

    def value(self, sums: Array) -> Array:
        """Errors / turns."""
        return ratio(sums[..., 1], sums[..., 0])


def errors_unavailable(outcomes: Outcomes) -> str | None:
    """Why errors cannot be counted, or None. Right/wrong marks tell that a slot is wrong, not that it changed."""
    if outcomes.unit != "turn":
        return WRONG_UNIT[outcomes.unit]
    if not outcomes.has_values:
        return "right/wrong marks do not tell where one error of a slot ends and the next begins"
    return lineage_unavailable(outcomes)


def errors_counted(outcomes: Outcomes, kind: str) -> Lineage:
    """The errors of a kind whose first turn counts."""
    found = lineage(outcomes)
    counted = outcomes.counted[found.origin] != 0
    if kind != "any":
        counted &= found.kind == _WORDS.index(kind)
    return found.where(counted)


def sums_of_errors(outcomes: Outcomes, errors: Lineage, *columns: Array) -> Counts:
    """How many errors each dialogue has, and the sums of columns of theirs [D, 1 + len(columns)], integers."""
    size = len(outcomes.dialogues)
    counts = [np.bincount(errors.dialogue, weights=column, minlength=size) for column in (None, *columns)]
    return np.stack(counts, axis=1).astype(np.int64)


OriginErrors = _OriginErrors()
