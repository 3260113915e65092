"""Intent accuracy: the share of service frames whose active intent is predicted."""

import numpy as np

from dsteval.metrics.base import RatioMetric
from dsteval.metrics.counting import Counts, per_dialogue
from dsteval.outcomes.table import Outcomes


class _IntentAccuracy(RatioMetric):
    """Share of service frames whose active intent is the reference's.

    Formula: frames with equal intents / frames whose reference has one, NONE being an intent like others. A
    predicted frame that tells no intent means NONE. Unit: fraction, 0..1, higher is better. NaN where the
    reference, or the prediction throughout, tells no intents.

    >>> import dsteval
    >>> lines = [{"dialogue_id": "d", "turn_id": 0, "frames": {
    ...     side: [{"service": "Hotels_1", "state": {}, "intent": "FindHotel"}] for side in ("ref", "pred")}}]
    >>> result = dsteval.evaluate(
    ...     None, lines, metrics=["IntentAccuracy"], protocol="sgd", settings=["scope.schema=none"])
    >>> result["IntentAccuracy"].value
    1.0

    Reference: Rastogi et al., AAAI 2020; google-research, schema_guided_dst/metrics.py.
    """

    about = "share of service frames whose active intent is right"
    undefined_reason = "no frame has an intent on both sides"
    unit = ("frame",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: frames with an intent, those where it is right."""
        intent = outcomes.frame("intent")
        return per_dialogue(outcomes, ~np.isnan(intent), intent == 1)


IntentAccuracy = _IntentAccuracy()
