"""Joint goal accuracy of service frames, as the schema-guided scorer has it: products of slot scores."""

import numpy as np

from dsteval.metrics.base import Parameter, RatioMetric
from dsteval.metrics.counting import Counts, mean_counts
from dsteval.outcomes.table import Array, Outcomes

SLOTS = Parameter(
    ("all", "categorical", "noncategorical"), "all slots of the schema, only categorical ones, or only the others"
)
ACROSS = Parameter(("frame", "turn"), "each frame separately, or the product over the frames of each turn")

_COLUMN = {"all": "", "categorical": "_cat", "noncategorical": "_noncat"}


class _FrameJGA(RatioMetric):
    """Mean over service frames of the product of the scores of all slots.

    Formula: a slot of the service's schema scores 1 if it is on neither side, 0 if on one, else what the rule
    gives (under sgd the similarity of its texts: a frame can be right in part); a frame's score is the product.
    Frames whose service has no slot of the kind asked for are left out. ``across=turn`` multiplies over the frames
    of a turn first and takes the mean over turns. Unit: fraction, 0..1, higher is better. NaN without such frames.

    Differs from: JGA of whole turns, which is an error in any service; predicted slots that the schema lacks, and
    predicted frames of services that the reference does not have at that turn, are not seen.

    >>> import dsteval
    >>> lines = [{"dialogue_id": "d", "turn_id": 0, "frames": {
    ...     "ref": [{"service": "Hotels_1", "state": {"stars": ["4"]}}, {"service": "Media_1", "state": {}}],
    ...     "pred": [{"service": "Hotels_1", "state": {"stars": ["5"]}}, {"service": "Media_1", "state": {}}]}}]
    >>> wanted = ["FrameJGA", "FrameJGA(across=turn)"]
    >>> result = dsteval.evaluate(None, lines, metrics=wanted, protocol="sgd", settings=["scope.schema=none"])
    >>> [score.value for score in result.scores]
    [0.5, 0.0]

    Reference: Rastogi et al., AAAI 2020; google-research, schema_guided_dst/metrics.py.
    """

    about = "mean over service frames of the product of slot scores"
    parameters = {"slots": SLOTS, "across": ACROSS}
    ratio_of_counts = False
    undefined_reason = "no frame's service has a slot of that kind in its schema"
    unit = ("frame",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: frames (turns) averaged, the sum of their scores."""
        scores = of_slots(outcomes, "joint", self.get("slots"))
        if self.get("across") == "turn":
            scores = _over_turns(outcomes, scores)
        return mean_counts(outcomes, scores)


def of_slots(outcomes: Outcomes, name: str, slots: str) -> Array:
    """A score of frames over slots of one kind [U], NaN where a frame has none."""
    return outcomes.frame(name + _COLUMN[slots])


def _over_turns(outcomes: Outcomes, scores: Array) -> Array:
    """The product over the frames of a turn that count and have a score, at the first of them; else NaN [U]."""
    found = np.full(len(scores), np.nan)
    chosen = np.flatnonzero((outcomes.counted != 0) & ~np.isnan(scores))
    if len(chosen):
        place = np.stack([outcomes.dialogue_of[chosen], outcomes.turn[chosen]])
        starts = np.flatnonzero(np.append(True, (np.diff(place) != 0).any(axis=0)))
        found[chosen[starts]] = np.multiply.reduceat(scores[chosen], starts)
    return found


FrameJGA = _FrameJGA()
