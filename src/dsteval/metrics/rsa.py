"""Relative slot accuracy: right slots among those that either side mentions."""

import numpy as np

from dsteval.metrics.base import FractionsMetric, Parameter
from dsteval.metrics.counting import Counts, per_denominator
from dsteval.metrics.slot_accuracy import SPLIT, hyphen_surplus
from dsteval.outcomes.table import Outcomes

EMPTY = Parameter(("skip", "zero", "one"), "the score of a turn without slots on either side")


class _RSA(FractionsMetric):
    """Mean over turns of the share of mentioned slots that are right.

    Formula: (T - M - W) / T with T the slots in B_t or P_t, M those of B_t that are not predicted, W predicted
    slots that are wrong; that is right slots / T. A turn with T = 0 is left out (``empty=skip``) or counts 0 or 1.
    Unit: fraction, 0..1, higher is better. NaN where no turn remains.

    Differs from: the GCA authors' script counts empty turns as 0 (``empty=zero``, the default under protocol
    gca), ConvLab-3 skips them. That script also glues slot and value with a hyphen and cuts at the last one
    (``split=last``), so that a wrong value that holds a hyphen counts twice, in W and in T. SlotAccuracy
    divides by all slots, which flatters.

    >>> import dsteval
    >>> ref = {"d": [{}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{}, {"hotel-area": "north", "hotel-name": "lodge"}]}
    >>> result = dsteval.evaluate(ref, pred, metrics=["RSA", "RSA(empty=one)"])
    >>> round(result["RSA"].value, 4), round(result["RSA(empty=one)"].value, 4)
    (0.3333, 0.6667)

    Reference: Kim et al., "Mismatch between Multi-turn Dialogue and its Evaluation Metric in Dialogue State
    Tracking", ACL 2022.
    """

    about = "mean share of the slots that either side mentions that are right"
    parameters = {"empty": EMPTY, "split": SPLIT}
    undefined_reason = "no turn has a slot on either side"
    needs = ("values",)
    columns_since = 2

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns averaged, then right slots by denominator 1, 2, 3, ...; an empty turn is 0 or 1 of 1."""
        right, over = outcomes.right, outcomes.right + outcomes.wrong
        if self.get("split") == "last":
            over = over + hyphen_surplus(outcomes)
        if self.get("empty") != "skip":
            right = np.where(over == 0, self.get("empty") == "one", right)
            over = np.maximum(over, 1)
        return per_denominator(outcomes, right, over)


RSA = _RSA()
