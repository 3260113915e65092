"""Turn F1: the mean over turns of each turn's own F1."""

import numpy as np

from dsteval.metrics.base import TURNS, FractionsMetric
from dsteval.metrics.counting import Counts, at_turns, per_denominator
from dsteval.outcomes.table import Outcomes


class _TurnF1(FractionsMetric):
    """Mean over turns of the F1 of that turn's slots.

    Formula: mean_t 2 |B_t n P_t| / (|B_t| + |P_t|); a turn with both sides empty counts 1, with one side empty 0.
    ``turns=last`` looks at the last turn of each dialogue only (SOM-DST's final joint F1). Unit: fraction, 0..1,
    higher is better. NaN without turns.

    Differs from: SlotF1, which is micro. TRADE, SOM-DST and KLUE call this one "Joint F1" or "micro F1".

    >>> import dsteval
    >>> ref = {"d": [{}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{}, {"hotel-area": "north"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["TurnF1"])["TurnF1"].value, 4)
    0.8333

    Reference: Wu et al., ACL 2019 (TRADE), models/TRADE.py.
    """

    about = "mean over turns of the turn's own F1 (TRADE's Joint F1)"
    parameters = {"turns": TURNS}
    needs = ("values",)
    columns_since = 2

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, then sums of 2 x right by denominator 1, 2, 3, ...; both sides empty are 1 of 1."""
        outcomes = at_turns(outcomes, self.get("turns"))
        over = outcomes.ref + outcomes.pred
        empty = over == 0
        return per_denominator(outcomes, np.where(empty, 1, 2 * outcomes.right), np.where(empty, 1, over))


TurnF1 = _TurnF1()
