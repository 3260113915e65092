"""Requested slots: how well it is predicted what the user asks to be told."""

from dsteval.metrics.base import RatioMetric
from dsteval.metrics.counting import Counts, mean_counts
from dsteval.outcomes.table import Outcomes


class _RequestedF1(RatioMetric):
    """Mean over service frames of the F1 of the slots that the user asks for.

    Formula: precision and recall over the two multisets, 1 where there is nothing to divide by; F1 is their
    harmonic mean, 0 if both are 0. Unit: fraction, 0..1, higher is better. NaN where the reference, or the
    prediction throughout, tells no requested slots.

    Differs from: what the scorer's own description says. A frame at which nothing is asked for and nothing
    predicted scores 1 and is not skipped; most frames are such, which lifts the number.

    >>> import dsteval
    >>> lines = [{"dialogue_id": "d", "turn_id": 0, "frames": {
    ...     "ref": [{"service": "Hotels_1", "state": {}, "requested": ["phone", "address"]}],
    ...     "pred": [{"service": "Hotels_1", "state": {}, "requested": ["phone"]}]}}]
    >>> result = dsteval.evaluate(
    ...     None, lines, metrics=["RequestedF1"], protocol="sgd", settings=["scope.schema=none"])
    >>> round(result["RequestedF1"].value, 4)
    0.6667

    Reference: Rastogi et al., AAAI 2020; google-research, schema_guided_dst/metrics.py.
    """

    about = "mean over service frames of the F1 of requested slots"
    ratio_of_counts = False
    undefined_reason = "no frame has requested slots on both sides"
    unit = ("frame",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: frames averaged, the sum of their F1."""
        return mean_counts(outcomes, outcomes.frame("requested"))


RequestedF1 = _RequestedF1()
