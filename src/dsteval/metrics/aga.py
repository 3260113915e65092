"""Average goal accuracy: how much of a turn's reference state is predicted."""

from dsteval.metrics.base import FractionsMetric, Parameter
from dsteval.metrics.counting import Counts, per_denominator
from dsteval.outcomes.table import Outcomes

OVER = Parameter(
    ("ref", "union"),
    "divide by the reference slots, or by the slot-value pairs of both sides together",
    of_values=("union",),
)


class _AGA(FractionsMetric):
    """Mean over turns of the share of the reference's slots that are right.

    Formula: |B_t n P_t| / |B_t|, averaged over the turns with a slot in the reference; ``over=union`` divides by
    |B_t u P_t| and averages over the turns where that is not empty. Unit: fraction, 0..1, higher is better.
    NaN where no turn remains. With ``over=ref`` false positives cost nothing.

    Differs from: SGD's average goal accuracy, which works per service frame with fuzzy scores; GCA's IAGA,
    which sums ``over=union`` but divides by the number of turns with a reference.

    >>> import dsteval
    >>> ref = {"d": [{}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{}, {"hotel-area": "north", "hotel-name": "lodge"}]}
    >>> result = dsteval.evaluate(ref, pred, metrics=["AGA", "AGA(over=union)"])
    >>> result["AGA"].value, round(result["AGA(over=union)"].value, 4)
    (0.5, 0.3333)

    Reference: Rastogi et al., AAAI 2020; Dey, Kummara and Desarkar, ACL 2022, section 2.
    """

    about = "mean share of a turn's reference slots that are right (turns with an empty reference left out)"
    parameters = {"over": OVER}
    undefined_reason = "no turn has a slot"
    needs = ("ref",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns with a denominator, then sums of right slots by denominator 1, 2, 3, ..."""
        over = outcomes.ref
        if self.get("over") == "union":
            over = outcomes.ref + outcomes.pred - outcomes.right
        return per_denominator(outcomes, outcomes.right, over)


AGA = _AGA()
