"""Slot recall: the share of the reference's slots that are right."""

from dsteval.metrics.sides import SidesMetric


class _SlotRecall(SidesMetric):
    """Share of the reference's (turn, slot, value) that are predicted, over the whole corpus.

    Formula: sum_t |B_t n P_t| / sum_t |B_t|. Unit: fraction, 0..1, higher is better. NaN where the reference
    holds no slot at all. The MultiWOZ 2.1 evaluation card calls this slot accuracy.

    ``credit=partial`` counts match scores between 0 and 1 too, where the protocol's rule gives such.

    Differs from: AGA, which averages the turns' own shares.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["SlotRecall"])["SlotRecall"].value
    0.5

    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """

    about = "share of the reference's slots that are right, over the corpus"
    undefined_reason = "the reference has no slot"
    sides = ("ref",)


SlotRecall = _SlotRecall()
