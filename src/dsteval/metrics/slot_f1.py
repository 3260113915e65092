"""Slot F1: the harmonic mean of slot precision and recall."""

from dsteval.metrics.sides import SidesMetric


class _SlotF1(SidesMetric):
    """Harmonic mean of slot precision and slot recall, micro over (turn, slot, value).

    Formula: 2 sum_t |B_t n P_t| / (sum_t |B_t| + sum_t |P_t|). Unit: fraction, 0..1, higher is better. NaN
    where both sides are empty everywhere.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: TRADE's "Joint F1", the mean of per-turn F1 (TurnF1); setSUMBT, where a wrong value is a
    false positive only.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["SlotF1"])["SlotF1"].value, 4)
    0.6667

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    about = "harmonic mean of slot precision and recall, over the corpus"
    undefined_reason = "neither side has a slot"
    sides = ("ref", "pred")


SlotF1 = _SlotF1()
