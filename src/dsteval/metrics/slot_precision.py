"""Slot precision: the share of predicted slots that are right."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import CREDIT, Array, Counts, Metric, earned, per_dialogue, ratio
from dsteval.outcomes.table import Outcomes

__all__ = ["SlotPrecision"]


@dataclass(frozen=True, repr=False)
class _SlotPrecision(Metric):
    """Share of the predicted (turn, slot, value) that are right, over the whole corpus.

    Formula: sum_t |B_t n P_t| / sum_t |P_t|. Unit: fraction, 0..1, higher is better. NaN where nothing is
    predicted at all.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: ParlAI's slot_p, a mean over tasks; mwzeval, which drops dontcare from one side first.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["SlotPrecision"])["SlotPrecision"].value
    1.0

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    name = "SlotPrecision"
    about = "share of predicted slots that are right, over the corpus"
    undefined_reason = "no slot is predicted"
    parameters = {"credit": CREDIT}
    needs = ("values",)
    unit = ("turn", "frame")

    @property
    def ratio_of_counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a ratio of two integers."""
        return self.get("credit") == "whole"

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: predicted slots, right slots."""
        return per_dialogue(outcomes, outcomes.pred, earned(outcomes, self.get("credit")))

    def value(self, sums: Array) -> Array:
        """Right / predicted."""
        return ratio(sums[..., 1], sums[..., 0])


SlotPrecision = _SlotPrecision()
