"""Do raters agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, who rates high, which items divide them."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dsteval.errors import ReadError, require, require_known
from dsteval.outcomes.table import Array
from dsteval.rating.ratings import Ratings, Study
from dsteval.results.result import or_none
from dsteval.stats.agreement import LEVELS, alpha, alpha_of, cohen, coincidences, fleiss
from dsteval.stats.bootstrap import Interval, interval, resampled
from dsteval.stats.intervals import Intervals

_MOST_VALUES = 30  # the interval of alpha keeps a table of values x values for each item


@dataclass(frozen=True)
class RaterBias:
    """One rater: how many items, the mean rating, and ``bias``: the mean of rating - mean of the others' ratings
    of the item, with its standard error over items. None where there is nobody to compare with.
    """

    rater: str
    items: int
    mean: float
    bias: float | None
    error: float | None


@dataclass(frozen=True)
class DisputedItem:
    """One item, its ratings by value, and their variance (divided by their number)."""

    item: str
    ratings: dict[str, int]
    variance: float


@dataclass(frozen=True)
class RaterAgreement(Study):
    """What ``agree`` returns. A coefficient is None where it is undefined; then ``notes`` say why."""

    items: int
    raters: tuple[RaterBias, ...]
    ratings: int
    level: str
    alpha: float | None
    low: float | None
    high: float | None
    fleiss: float | None
    fleiss_items: int
    cohen: float | None
    pairs: int
    disputed: tuple[DisputedItem, ...]
    notes: tuple[str, ...]


def agree(
    ratings: Ratings, level: str = "nominal", intervals: Intervals | None = None, most: int = 10
) -> RaterAgreement:
    """How far the raters agree; ``most`` of the items that divide them are listed.

    The interval of alpha is over resampled items, by percentiles. Raises OptionError for an unknown ``level``,
    and ReadError without any rating.
    """
    require_known("value of --level", level, LEVELS)
    require(ratings.items, "ratings", "at least one rating", "none", ReadError)
    values, notes = ratings.values, []
    point = alpha(values, level)
    if len(ratings.raters) < 2:
        notes.append("only one rater: agreement needs at least two")
    elif ratings.constant:
        notes.append("all ratings are equal: agreement beyond chance is undefined")
    elif math.isnan(point):
        notes.append("no item has two ratings")
    kappas = np.array([cohen(a, b) for a, b in combinations(values.T, 2)])
    defined = kappas[~np.isnan(kappas)]
    if len(defined) < len(kappas):
        notes.append(f"{len(kappas) - len(defined)} of {len(kappas)} pairs of raters have no Cohen's kappa")
    complete = int((~np.isnan(values).any(axis=1)).sum())
    if complete < len(values):
        notes.append(f"Fleiss' kappa is over the {complete} of {len(values)} items that all raters rated")
    bounds = Interval() if math.isnan(point) else _interval(values, level, intervals)
    if bounds.note:
        notes.append(bounds.note)
    return RaterAgreement(
        items=len(ratings.items),
        raters=tuple(_bias(ratings, number) for number in range(len(ratings.raters))),
        ratings=ratings.rated,
        level=level,
        alpha=or_none(point),
        low=or_none(bounds.low),
        high=or_none(bounds.high),
        fleiss=or_none(fleiss(values)),
        fleiss_items=complete,
        cohen=float(defined.mean()) if len(defined) else None,
        pairs=len(defined),
        disputed=tuple(_disputed(ratings)[:most]),
        notes=tuple(notes),
    )


def _interval(values: Array, level: str, intervals: Intervals | None) -> Interval:
    if intervals is None or intervals.level is None:
        return Interval()
    distinct, paired = coincidences(values)
    if len(distinct) > _MOST_VALUES:
        return Interval(note=f"no interval: more than {_MOST_VALUES} distinct ratings")
    sums = resampled([paired], len(values), intervals.resamples, intervals.seed)[0]
    return interval(paired, lambda counts: alpha_of(counts, distinct, level), sums, intervals.level)


def _bias(ratings: Ratings, number: int) -> RaterBias:
    given = ratings.values[:, number]
    rated = ~np.isnan(given)
    others = np.delete(ratings.values, number, axis=1)
    shared = rated & ~np.isnan(others).all(axis=1)
    away = given[shared] - np.nanmean(others[shared], axis=1)
    bias = float(away.mean()) if len(away) else None
    error = float(away.std(ddof=1) / math.sqrt(len(away))) if len(away) > 1 else None
    return RaterBias(ratings.raters[number], int(rated.sum()), float(given[rated].mean()), bias, error)


def _disputed(ratings: Ratings) -> list[DisputedItem]:
    """The items whose ratings differ, those that differ most first."""
    disputed = []
    for item, row in zip(ratings.items, ratings.values, strict=True):
        given = row[~np.isnan(row)]
        values, times = np.unique(given, return_counts=True)
        if len(values) > 1:
            by_value = {f"{value:g}": int(count) for value, count in zip(values, times, strict=True)}
            disputed.append(DisputedItem(item, by_value, float(given.var())))
    return sorted(disputed, key=lambda item: (-item.variance, item.item))
