"""None precision: how many of the slots left empty should be empty."""

from dsteval.metrics.sides import NoneMetric


class _NonePrecision(NoneMetric):
    r"""Share of the slots predicted absent that are absent in the reference, over all turns.

    Formula: sum_t |S \ (B_t u P_t)| / sum_t |S \ P_t|, S the slot list and B_t, P_t
    the slots of either side. Unit: fraction, higher is better; not within 0..1 where a turn has more slots than
    S. NaN where the divisor is 0.

    Differs from: SlotPrecision, which looks at slots that are predicted.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south", "hotel-stars": "4"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["NonePrecision"], slots=5)["NonePrecision"].value, 4)
    1.0

    Reference: alexa/alexa-with-dstc10-track2-dataset, task1/scripts/scores.py (none_prediction).
    """

    about = "share of slots predicted absent that are absent, over the corpus"
    undefined_reason = "no slot is predicted absent"
    sides = ("pred",)


NonePrecision = _NonePrecision()
