"""Slot precision: the share of predicted slots that are right."""

from dsteval.metrics.sides import SidesMetric


class _SlotPrecision(SidesMetric):
    """Share of the predicted (turn, slot, value) that are right, over the whole corpus.

    Formula: sum_t |B_t n P_t| / sum_t |P_t|. Unit: fraction, 0..1, higher is better. NaN where nothing is
    predicted at all.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: ParlAI's slot_p, a mean over tasks; mwzeval, which drops dontcare from one side first.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["SlotPrecision"])["SlotPrecision"].value
    1.0

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    about = "share of predicted slots that are right, over the corpus"
    undefined_reason = "no slot is predicted"
    sides = ("pred",)


SlotPrecision = _SlotPrecision()
