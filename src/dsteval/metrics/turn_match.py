"""Turn match: the share of turns that are right or whose error is only inherited."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import AVERAGE, Array, AveragedMetric, Counts, ratio
from dsteval.metrics.fga import VARIANT, match_counts, why_not_variant
from dsteval.outcomes.table import Outcomes

__all__ = ["TurnMatch"]


@dataclass(frozen=True, repr=False)
class _TurnMatch(AveragedMetric):
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

    name = "TurnMatch"
    about = "share of turns that are exact or whose error is only inherited (#M2 of the FGA paper)"
    parameters = {"average": AVERAGE, "variant": VARIANT}

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Right/wrong marks tell which slots are wrong, not what changed: only ``trippy`` reads them."""
        return why_not_variant(self.get("variant"), outcomes)

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, turns that match."""
        return match_counts(outcomes, self.get("variant"))

    def turn_value(self, sums: Array) -> Array:
        """Turns that match / turns."""
        return ratio(sums[..., 1], sums[..., 0])


TurnMatch = _TurnMatch()
