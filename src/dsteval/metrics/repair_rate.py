"""Repair rate: the share of errors that the tracker put right."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import Array, Counts, Metric, ratio
from dsteval.metrics.origin_errors import KIND, errors_counted, errors_unavailable, sums_of_errors
from dsteval.outcomes.lineage import REPAIRED
from dsteval.outcomes.table import Outcomes

__all__ = ["RepairRate"]


@dataclass(frozen=True, repr=False)
class _RepairRate(Metric):
    """Share of errors after which the slot is right, or absent on both sides.

    Formula: |{errors repaired}| / errors, errors as OriginErrors counts them. One that turns into another error,
    or that lives to the last turn, is not repaired. Unit: fraction, 0..1, higher is better. NaN without errors, so
    that a perfect prediction has none. ``kind`` takes errors of one kind only. In a slice an error counts where
    its first turn counts, wherever it was repaired.

    It says nothing of how many errors there are, and an error at a last turn cannot be repaired.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-stars": "4"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["RepairRate"])["RepairRate"].value
    0.5

    Reference: dsteval's own.
    """

    name = "RepairRate"
    about = "share of errors that were put right later"
    parameters = {"kind": KIND}
    undefined_reason = "there is no such error"
    perfect = False

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """As for every metric of errors."""
        return errors_unavailable(outcomes)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: errors, those repaired."""
        errors = errors_counted(outcomes, self.get("kind"))
        return sums_of_errors(outcomes, errors, errors.end == REPAIRED)

    def value(self, sums: Array) -> Array:
        """Repaired / errors."""
        return ratio(sums[..., 1], sums[..., 0])


RepairRate = _RepairRate()
