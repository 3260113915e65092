"""Update accuracy: the share of turns whose update is right, whatever was wrong before."""

from dsteval.metrics.base import FlagMetric


class _UpdateAccuracy(FlagMetric):
    r"""Share of turns at which the predicted change of the state equals the reference's.

    Formula: |{t : T_t = T'_t}| / turns with T_t = B_t \\ B_{t-1} and T'_t = P_t \\ P_{t-1}, over (slot, value);
    a slot that goes away is no update. Unit: fraction, 0..1, higher is better. NaN without turns.

    Differs from: TurnMatch, which asks that T_t is inside P_t and T'_t inside B_t. DST-as-Prompting prints it as
    turn-level (TLB) accuracy, of the update that the model wrote; here it is taken from the states.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "south"}, {"hotel-area": "south", "hotel-stars": "4"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["UpdateAccuracy"])["UpdateAccuracy"].value
    0.5

    Reference: Lee, Cheng and Ostendorf, "Dialogue State Tracking with a Language Model using Schema-Driven
    Prompting", EMNLP 2021; chiahsuan156/DST-as-Prompting.
    """

    about = "share of turns whose update is right"
    extra = "updates"
    without_dialogues = "the data has single instances: without dialogues there is no previous turn"


UpdateAccuracy = _UpdateAccuracy()
