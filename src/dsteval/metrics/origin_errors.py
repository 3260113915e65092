"""Origin errors: how many new errors a turn makes, each counted once however long it lives."""

import numpy as np

from dsteval.metrics.base import Parameter, RatioMetric
from dsteval.metrics.counting import Counts, per_dialogue
from dsteval.outcomes.lineage import KINDS, Lineage, lineage
from dsteval.outcomes.lineage import unavailable_reason as lineage_unavailable
from dsteval.outcomes.table import Array, Outcomes

# The parameter's word for each kind: "wrong value" has a blank.
_WORDS = tuple(kind.partition(" ")[0] for kind in KINDS)

KIND = Parameter(("any", *_WORDS), "all errors, or only those of one kind, given by how they began")


class ErrorMetric(RatioMetric):
    """The sum over errors of an ``amount`` each, over their number; ``kind`` takes errors of one kind only."""

    parameters = {"kind": KIND}
    undefined_reason = "there is no such error"

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Right/wrong marks tell that a slot is wrong, not that it changed."""
        if outcomes.unit == "turn" and not outcomes.has_values:
            return "right/wrong marks do not show where one error of a slot ends and the next begins"
        return super().unavailable_reason(outcomes) or lineage_unavailable(outcomes)

    def amount(self, errors: Lineage) -> Array:
        """What is added up, an integer for each error."""
        raise NotImplementedError

    def errors(self, outcomes: Outcomes) -> Lineage:
        """The errors of the kind asked for."""
        errors, kind = lineage(outcomes), self.get("kind")
        return errors if kind == "any" else errors.where(errors.kind == _WORDS.index(kind))

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: errors whose first turn counts, the sum of their amounts."""
        errors, size = self.errors(outcomes), len(outcomes)
        amounts = np.bincount(errors.origin, self.amount(errors), minlength=size).astype(np.int64)
        return per_dialogue(outcomes, np.bincount(errors.origin, minlength=size), amounts)


class _OriginErrors(ErrorMetric):
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

    about = "new errors per turn, each counted once however long it lasts"
    undefined_reason = "there is no turn"
    best = 0.0
    bounds = (0.0, float("inf"))

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, errors that begin."""
        return per_dialogue(outcomes, 1, np.bincount(self.errors(outcomes).origin, minlength=len(outcomes)))


OriginErrors = _OriginErrors()
