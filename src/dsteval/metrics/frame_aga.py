"""Average goal accuracy of service frames, as the schema-guided scorer has it."""

from dsteval.metrics.base import RatioMetric
from dsteval.metrics.counting import Counts, mean_counts
from dsteval.metrics.frame_jga import SLOTS, of_slots
from dsteval.outcomes.table import Outcomes


class _FrameAGA(RatioMetric):
    """Mean over service frames of the mean score of the reference's slots.

    Formula: each slot of the reference scores what the rule gives, 0 if it is not predicted; their mean is the
    frame's score. Frames whose reference has no slot of the kind asked for are left out. Spurious slots cost
    nothing.
    Unit: fraction, 0..1, higher is better. NaN without such frames.

    Differs from: AGA of whole turns, where the slots of all services share one mean.

    >>> import dsteval
    >>> lines = [{"dialogue_id": "d", "turn_id": 0, "frames": {
    ...     "ref": [{"service": "Hotels_1", "state": {"stars": ["4"], "name": ["tap house"]}}],
    ...     "pred": [{"service": "Hotels_1", "state": {"name": ["the tap house"]}}]}}]
    >>> result = dsteval.evaluate(
    ...     None, lines, metrics=["FrameAGA"], protocol="sgd", settings=["scope.schema=none"])
    >>> result["FrameAGA"].value
    0.41

    Reference: Rastogi et al., AAAI 2020; google-research, schema_guided_dst/metrics.py.
    """

    about = "mean over service frames of the mean score of the reference's slots"
    parameters = {"slots": SLOTS}
    ratio_of_counts = False
    undefined_reason = "no reference frame has a slot of that kind"
    unit = ("frame",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: frames averaged, the sum of their scores."""
        return mean_counts(outcomes, of_slots(outcomes, "average", self.get("slots")))


FrameAGA = _FrameAGA()
