"""None F1: the harmonic mean of none precision and recall."""

from dsteval.metrics.sides import NoneMetric


class _NoneF1(NoneMetric):
    r"""Harmonic mean of NonePrecision and NoneRecall, over all turns.

    Formula: 2 sum_t |S \ (B_t u P_t)| / sum_t (|S \ B_t| + |S \ P_t|), S the slot list and B_t, P_t
    the slots of either side. Unit: fraction, higher is better; not within 0..1 where a turn has more slots than
    S. NaN where the divisor is 0.

    Differs from: SlotF1, which looks at slots that have a value.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south", "hotel-stars": "4"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["NoneF1"], slots=5)["NoneF1"].value, 4)
    0.8571

    Reference: alexa/alexa-with-dstc10-track2-dataset, task1/scripts/scores.py (none_prediction).
    """

    about = "harmonic mean of none precision and recall, over the corpus"
    undefined_reason = "no slot is absent on either side"
    sides = ("ref", "pred")


NoneF1 = _NoneF1()
