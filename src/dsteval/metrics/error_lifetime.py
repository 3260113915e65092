"""Error lifetime: for how many turns an error stays, on average."""

from dsteval.metrics.origin_errors import ErrorMetric
from dsteval.outcomes.lineage import Lineage
from dsteval.outcomes.table import Array


class _ErrorLifetime(ErrorMetric):
    """Mean number of turns that an error lives, its first and its last included.

    Formula: sum of lifetimes / errors, errors as OriginErrors counts them; over whole dialogues the sum is the
    number of wrong slots of all turns. Unit: turns, 1 or more, lower is better. NaN without errors, so that a
    perfect prediction has none. ``kind`` takes errors of one kind only. In a slice an error counts where its first
    turn counts, with its whole life.

    Dialogues end: an error that lived to the last turn might have gone on, so longer dialogues have longer lives.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-stars": "4"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> dsteval.evaluate(ref, pred, metrics=["ErrorLifetime"])["ErrorLifetime"].value
    1.5

    Reference: dsteval's own.
    """

    about = "mean number of turns that an error lasts"
    perfect = False
    percent = False
    bounds = (1.0, float("inf"))

    def amount(self, errors: Lineage) -> Array:
        """The turns of each."""
        return errors.lifetime


ErrorLifetime = _ErrorLifetime()
