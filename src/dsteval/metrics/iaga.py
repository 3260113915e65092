"""IAGA: the mean overlap of the two states, divided by another number of turns than it is summed over."""

from dsteval.metrics.base import FractionsMetric
from dsteval.metrics.counting import Counts, per_denominator, per_dialogue
from dsteval.outcomes.table import Outcomes


class _IAGA(FractionsMetric):
    """Sum over turns of |B_t n P_t| / |B_t u P_t|, divided by the turns with a reference.

    Formula: over pairs (slot, value), summed over turns where the union is not empty; the divisor is the number
    of turns where B_t is not empty. A turn with an empty reference adds nothing, since its intersection is
    empty. Unit: fraction, 0..1, higher is better. NaN where no turn has a reference.

    Differs from: ``AGA(over=union)``, which averages over the turns with a union, so that a turn of false
    positives only counts 0 there and is left out here.

    >>> import dsteval
    >>> ref = {"d": [{}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> result = dsteval.evaluate(ref, pred, metrics=["IAGA", "AGA(over=union)"])
    >>> result["IAGA"].value, result["AGA(over=union)"].value
    (1.0, 0.5)

    Reference: the GCA authors' script, cuthalionn/Granular_Change_Accuracy.
    """

    about = "overlap of the two states, summed over turns, over the turns with a reference"
    undefined_reason = "no turn has a slot in the reference"
    needs = ("values",)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns with a reference, then right pairs by the size of the union 1, 2, 3, ..."""
        counts = per_denominator(outcomes, outcomes.right, outcomes.ref + outcomes.pred - outcomes.right)
        counts[:, 0] = per_dialogue(outcomes, outcomes.ref > 0)[:, 0]
        return counts


IAGA = _IAGA()
