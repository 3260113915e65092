"""Turn F1: the mean over turns of each turn's own F1."""

from __future__ import annotations

import numpy as np

from dsteval.metrics.base import TURNS, RatioMetric
from dsteval.metrics.counting import Array, Counts, at_turns, per_denominator, per_dialogue, sum_of_fractions
from dsteval.outcomes.table import Outcomes

__all__ = ["TurnF1"]


class _TurnF1(RatioMetric):
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

    name = "TurnF1"
    about = "mean over turns of the turn's own F1 (TRADE's Joint F1)"
    parameters = {"turns": TURNS}
    ratio_of_counts = False
    needs = ("values",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, turns with both sides empty, then sums of 2 x right by denominator 1, 2, 3, ..."""
        outcomes = at_turns(outcomes, self.get("turns"))
        over = outcomes.ref + outcomes.pred
        turns = per_dialogue(outcomes, 1, over == 0)
        return np.concatenate([turns, per_denominator(outcomes, 2 * outcomes.right, over)[:, 1:]], axis=1)

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """Turns with both sides empty + the sum of fractions, and turns."""
        return sums[..., 1] + sum_of_fractions(sums[..., 2:]), sums[..., 0]


TurnF1 = _TurnF1()
