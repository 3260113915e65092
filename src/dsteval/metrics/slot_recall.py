"""Slot recall: the share of the reference's slots that are right."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import Array, Counts, Metric, per_dialogue, ratio
from dsteval.outcomes import Outcomes

__all__ = ["SlotRecall"]


@dataclass(frozen=True, repr=False)
class _SlotRecall(Metric):
    """Share of the reference's (turn, slot, value) that are predicted, over the whole corpus.

    Formula: sum_t |B_t n P_t| / sum_t |B_t|. Unit: fraction, 0..1, higher is better. NaN where the reference
    holds no slot at all. The MultiWOZ 2.1 evaluation card calls this slot accuracy.

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
    empty = "the reference holds no slot"
    needs = ("values",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: slots in ref, right slots."""
        return per_dialogue(outcomes, outcomes.ref, outcomes.right)

    def value(self, sums: Array) -> Array:
        """Right / in ref."""
        return ratio(sums[..., 1], sums[..., 0])


SlotRecall = _SlotRecall()
