"""Slot F1: the harmonic mean of slot precision and recall."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import CREDIT, Array, Counts, Metric, earned, per_dialogue, ratio
from dsteval.outcomes.table import Outcomes

__all__ = ["SlotF1"]


@dataclass(frozen=True, repr=False)
class _SlotF1(Metric):
    """Harmonic mean of slot precision and slot recall, micro over (turn, slot, value).

    Formula: 2 sum_t |B_t n P_t| / (sum_t |B_t| + sum_t |P_t|). Unit: fraction, 0..1, higher is better. NaN
    where both sides are empty everywhere.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: TRADE's "Joint F1", the mean of per-turn F1 (TurnF1); setSUMBT, where a wrong value is a
    false positive only.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["SlotF1"])["SlotF1"].value, 4)
    0.6667

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    name = "SlotF1"
    about = "harmonic mean of slot precision and recall, over the corpus"
    undefined_reason = "neither side holds a slot"
    parameters = {"credit": CREDIT}
    needs = ("values",)
    unit = ("turn", "frame")

    @property
    def ratio_of_counts(self) -> bool:  # type: ignore[override]
        """Whether the value is a ratio of two integers."""
        return self.get("credit") == "whole"

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: slots in ref + predicted slots, 2 x right slots."""
        return per_dialogue(outcomes, outcomes.ref + outcomes.pred, 2 * earned(outcomes, self.get("credit")))

    def value(self, sums: Array) -> Array:
        """2 right / (in ref + predicted)."""
        return ratio(sums[..., 1], sums[..., 0])


SlotF1 = _SlotF1()
