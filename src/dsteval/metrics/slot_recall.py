"""Slot recall: the share of the reference's slots that are right."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import CREDIT, Array, Counts, Metric, earned, per_dialogue, ratio
from dsteval.outcomes.table import Outcomes

__all__ = ["SlotRecall"]


@dataclass(frozen=True, repr=False)
class _SlotRecall(Metric):
    """Share of the reference's (turn, slot, value) that are predicted, over the whole corpus.

    Formula: sum_t |B_t n P_t| / sum_t |B_t|. Unit: fraction, 0..1, higher is better. NaN where the reference
    holds no slot at all. The MultiWOZ 2.1 evaluation card calls this slot accuracy.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: AGA, which averages the turns' own shares.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["SlotRecall"])["SlotRecall"].value
    0.5

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    name = "SlotRecall"
    about = "share of the reference's slots that are right, over the corpus"
    undefined_reason = "the reference holds no slot"
    parameters = {"credit": CREDIT}
    needs = ("values",)
    unit = ("turn", "frame")

    @property
    def ratio_of_counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a ratio of two integers."""
        return self.get("credit") == "whole"

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: slots in ref, right slots."""
        return per_dialogue(outcomes, outcomes.ref, earned(outcomes, self.get("credit")))

    def value(self, sums: Array) -> Array:
        """Right / in ref."""
        return ratio(sums[..., 1], sums[..., 0])


SlotRecall = _SlotRecall()
