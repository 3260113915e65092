"""None precision: how many of the slots left empty should be empty."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import Array, Counts, Metric, absent_slots, per_dialogue, ratio
from dsteval.outcomes.table import Outcomes

__all__ = ["NonePrecision"]


@dataclass(frozen=True, repr=False)
class _NonePrecision(Metric):
    r"""Share of the slots predicted absent that are absent in the reference, over all turns.

    Formula: sum_t |S \ (B_t u P_t)| / sum_t |S \ P_t|, S the slot list and B_t, P_t
    the slots of either side. Unit: fraction, higher is better; not within 0..1 where a turn has more slots than
    S. NaN where the divisor is 0.

    Differs from: SlotPrecision, which looks at slots that are predicted.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south", "hotel-stars": "4"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["NonePrecision"], slots=5)["NonePrecision"].value, 4)
    1.0

    Reference: alexa/alexa-with-dstc10-track2-dataset, task1/scripts/scores.py (none_prediction).
    """

    name = "NonePrecision"
    about = "share of slots predicted absent that are absent, over the corpus"
    undefined_reason = "no slot is predicted absent"
    needs = ("values",)
    bounds = (-float("inf"), float("inf"))

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: slots absent in pred, slots absent on both sides."""
        both, _, pred = absent_slots(outcomes)
        return per_dialogue(outcomes, pred, both)

    def value(self, sums: Array) -> Array:
        """Absent on both sides / absent in pred."""
        return ratio(sums[..., 1], sums[..., 0])


NonePrecision = _NonePrecision()
