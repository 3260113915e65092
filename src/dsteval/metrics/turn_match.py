"""Turn match: the share of turns that are right or whose error is only inherited."""

import numpy as np

from dsteval.metrics.counting import Counts
from dsteval.metrics.fga import VariantMetric, histogram
from dsteval.outcomes.table import Outcomes


class _TurnMatch(VariantMetric):
    """Share of turns that are exact or of type 2, the paper's #M2.

    Formula: |{t : exact or inherited error}| / turns, with the types of FGA's ``variant``. Unit: fraction, 0..1,
    higher is better. It is FGA at lambda = inf, and never below JGA. NaN without turns.

    Differs from: the share of turns whose update is right, |{t : T_t = T'_t}|, which the paper's text suggests.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south"}, {"hotel-area": "south"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["TurnMatch"])["TurnMatch"].value
    0.5

    Reference: Dey, Kummara and Desarkar, ACL 2022, Table 1.
    """

    about = "share of turns that are exact or whose error is only inherited (#M2 of the FGA paper)"

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, turns that match."""
        counts = histogram(outcomes, self.get("variant"))
        return np.stack([counts[:, 0], counts[:, 1:].sum(axis=1)], axis=1)


TurnMatch = _TurnMatch()
