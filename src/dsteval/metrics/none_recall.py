"""None recall: how many of the slots that should be empty are left empty."""

from dsteval.metrics.sides import NoneMetric


class _NoneRecall(NoneMetric):
    r"""Share of the slots absent in the reference that are predicted absent, over all turns.

    Formula: sum_t |S \ (B_t u P_t)| / sum_t |S \ B_t|, S the slot list and B_t, P_t
    the slots of either side. Unit: fraction, higher is better; not within 0..1 where a turn has more slots than
    S. NaN where the divisor is 0.

    Differs from: SlotRecall, which looks at slots of the reference.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south", "hotel-stars": "4"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["NoneRecall"], slots=5)["NoneRecall"].value, 4)
    0.75

    Reference: alexa/alexa-with-dstc10-track2-dataset, task1/scripts/scores.py (none_prediction).
    """

    about = "share of slots absent in the reference that are predicted absent, over the corpus"
    undefined_reason = "no slot is absent in the reference"
    sides = ("ref",)


NoneRecall = _NoneRecall()
