"""Error lifetime: for how many turns an error stays, on average."""

from __future__ import annotations

from dataclasses import dataclass

from dsteval.metrics.base import Array, Counts, Metric, ratio
from dsteval.metrics.origin_errors import KIND, errors_counted, errors_unavailable, sums_of_errors
from dsteval.outcomes.table import Outcomes

__all__ = ["ErrorLifetime"]


@dataclass(frozen=True, repr=False)
class _ErrorLifetime(Metric):
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

    name = "ErrorLifetime"
    about = "mean number of turns that an error lives"
    parameters = {"kind": KIND}
    undefined_reason = "there is no such error"
    perfect = False
    percent = False
    bounds = (1.0, float("inf"))

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """As for every metric of errors."""
        return errors_unavailable(outcomes)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: errors, the sum of their turns."""
        errors = errors_counted(outcomes, self.get("kind"))
        return sums_of_errors(outcomes, errors, errors.lifetime)

    def value(self, sums: Array) -> Array:
        """Turns / errors."""
        return ratio(sums[..., 1], sums[..., 0])


ErrorLifetime = _ErrorLifetime()
