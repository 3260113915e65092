"""Repair rate: the share of errors that the tracker put right."""

import numpy as np

from dsteval.metrics.origin_errors import ErrorMetric
from dsteval.outcomes.lineage import REPAIRED, Lineage
from dsteval.outcomes.table import Array


class _RepairRate(ErrorMetric):
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

    about = "share of errors that are corrected later"
    perfect = False

    def amount(self, errors: Lineage) -> Array:
        """Whether each was repaired."""
        return np.asarray(errors.end == REPAIRED)


RepairRate = _RepairRate()
