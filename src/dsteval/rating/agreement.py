"""Do raters agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, who rates high, which items divide them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dsteval.errors import OptionError, unknown
from dsteval.metrics.base import Array
from dsteval.rating.ratings import Ratings
from dsteval.results.result import or_none
from dsteval.stats.bootstrap import interval, resampled
from dsteval.stats.intervals import Intervals

__all__ = ["LEVELS", "Agreement", "Disputed", "Rater", "agree", "alpha", "cohen", "fleiss"]

_MOST_VALUES = 30  # the interval of alpha keeps a table of values x values for each item


def _nominal(values: Array, _times: Array) -> Array:
    return np.asarray(values[:, None] != values, dtype=float)


def _interval(values: Array, _times: Array) -> Array:
    return np.asarray((values[:, None] - values) ** 2, dtype=float)


def _ordinal(values: Array, times: Array) -> Array:
    middle = np.cumsum(times, axis=-1) - times / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


LEVELS: dict[str, Callable[[Array, Array], Array]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
"""How far apart two values are, from the sorted values and how often each was given."""


def alpha(values: Array, level: str = "nominal") -> float:
    """Krippendorff's alpha of ratings [items, raters], NaN where there is none.

    Formula: 1 - D_o / D_e over the coincidences of values within items: each ordered pair of ratings of an item
    with m of them counts 1 / (m - 1), items with fewer than two not at all. D_o is the mean squared distance of
    the pairs, D_e that of all pairs of values. ``level`` tells the distance: unequal or not, the values between
    two in rank, or their difference. NaN where all paired values are equal, or there is no pair.

    >>> round(alpha(np.array([[1, 1], [0, 0], [1, 0], [0, 0.0]])), 3)
    0.533

    Reference: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.
    """
    distinct, coincidences = _coincidences(values)
    if not len(distinct):
        return math.nan
    return float(_alpha(coincidences.sum(axis=0), distinct, level))


def _coincidences(values: Array) -> tuple[Array, Array]:
    """The distinct values, and of each item its coincidences of them, flat [items, values * values]."""
    distinct = np.unique(values[~np.isnan(values)])
    times = (values[:, :, None] == distinct).sum(axis=1).astype(float)
    given = times.sum(axis=1)
    paired = times[:, :, None] * times[:, None, :] - times[:, :, None] * np.eye(len(distinct))
    share = np.where(given > 1, 1 / np.maximum(given - 1, 1), 0.0)
    flat: Array = (paired * share[:, None, None]).reshape(len(values), -1)
    return distinct, flat


def _alpha(flat: Array, distinct: Array, level: str) -> Array:
    """Alpha of summed coincidences [..., values * values]."""
    size = len(distinct)
    table = flat.reshape(*flat.shape[:-1], size, size)
    times = table.sum(axis=-1)
    total = times.sum(axis=-1)
    apart = LEVELS[level](distinct, times)
    observed = (table * apart).sum(axis=(-1, -2))
    expected = (times[..., :, None] * times[..., None, :] * apart).sum(axis=(-1, -2))
    defined = expected > 0
    return np.where(defined, 1 - (total - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def fleiss(values: Array) -> float:
    """Fleiss' kappa over the items that all raters rated; NaN where these have one value only.

    Formula: (P - E) / (1 - E), P the mean share of pairs of raters that agree on an item, E the sum of squares
    of the values' shares.

    Reference: Fleiss, Psychological Bulletin 76, 1971.
    """
    whole = values[~np.isnan(values).any(axis=1)]
    items, raters = whole.shape
    distinct = np.unique(whole)
    if raters < 2 or len(distinct) < 2:
        return math.nan
    times = (whole[:, :, None] == distinct).sum(axis=1)
    observed = ((times * (times - 1)).sum(axis=1) / (raters * (raters - 1))).mean()
    chance = ((times.sum(axis=0) / (items * raters)) ** 2).sum()
    return float((observed - chance) / (1 - chance))


def cohen(a: Array, b: Array) -> float:
    """Cohen's kappa of two raters over the items that both rated; NaN where both gave one value only.

    Reference: Cohen, Educational and Psychological Measurement 20, 1960.
    """
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    if not len(a):
        return math.nan
    chance = sum(float((a == value).mean() * (b == value).mean()) for value in np.unique(np.concatenate([a, b])))
    return float(((a == b).mean() - chance) / (1 - chance)) if chance < 1 else math.nan


@dataclass(frozen=True)
class Rater:
    """One rater: how many items, the mean rating, and ``bias``: the mean of rating - mean of the others' ratings
    of the item, with its standard error over items. None where there is nobody to compare with.
    """

    rater: str
    items: int
    mean: float
    bias: float | None
    error: float | None


@dataclass(frozen=True)
class Disputed:
    """One item, its ratings by value, and their variance (divided by their number)."""

    item: str
    ratings: dict[str, int]
    variance: float


@dataclass(frozen=True)
class Agreement:
    """What ``agree`` returns. A coefficient is None where it is undefined; then ``notes`` say why."""

    items: int
    raters: tuple[Rater, ...]
    ratings: int
    level: str
    alpha: float | None
    low: float | None
    high: float | None
    fleiss: float | None
    fleiss_items: int
    cohen: float | None
    pairs: int
    disputed: tuple[Disputed, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The agreement as it stands in the JSON."""
        return asdict(self)


def agree(
    ratings: Ratings, level: str = "nominal", intervals: Intervals | None = None, most: int = 10
) -> Agreement:
    """How far the raters agree; ``most`` of the items that divide them are listed.

    The interval of alpha is over items drawn anew, by percentiles. Raises OptionError for an unknown ``level``.
    """
    if level not in LEVELS:
        raise OptionError(unknown("value of --level", level, list(LEVELS)))
    values, notes = ratings.values, []
    if len(ratings.raters) < 2:
        notes.append("one rater: there is nobody to agree with")
    elif ratings.constant:
        notes.append("all ratings are equal: agreement beyond chance is undefined")
    found = alpha(values, level)
    if math.isnan(found) and not notes:
        notes.append("no item has two ratings that could differ")
    low, high, note = _between(values, level, intervals) if not math.isnan(found) else (None, None, "")
    kappas = [cohen(values[:, a], values[:, b]) for a, b in combinations(range(len(ratings.raters)), 2)]
    defined = [kappa for kappa in kappas if not math.isnan(kappa)]
    if len(defined) < len(kappas):
        notes.append(f"{len(kappas) - len(defined)} of {len(kappas)} pairs of raters without Cohen's kappa")
    whole = int((~np.isnan(values).any(axis=1)).sum())
    if whole < len(values):
        notes.append(f"Fleiss' kappa over the {whole} of {len(values)} items that all raters rated")
    return Agreement(
        len(ratings.items),
        tuple(_rater(ratings, number) for number in range(len(ratings.raters))),
        ratings.rated,
        level,
        or_none(found),
        low,
        high,
        or_none(fleiss(values)),
        whole,
        or_none(float(np.mean(defined)) if defined else math.nan),
        len(defined),
        tuple(_disputed(ratings)[:most]),
        (*notes, *([note] if note else [])),
    )


def _between(values: Array, level: str, intervals: Intervals | None) -> tuple[float | None, float | None, str]:
    if intervals is None or intervals.level is None:
        return None, None, ""
    distinct, flat = _coincidences(values)
    if len(distinct) > _MOST_VALUES:
        return None, None, f"no interval: more than {_MOST_VALUES} distinct ratings"
    sums = resampled([flat], len(values), intervals.resamples, intervals.seed)[0]
    found = interval(flat, lambda one: _alpha(one, distinct, level), sums, intervals.level)
    return or_none(found.low), or_none(found.high), found.note


def _rater(ratings: Ratings, number: int) -> Rater:
    own = ratings.values[:, number]
    rated = ~np.isnan(own)
    others = np.delete(ratings.values, number, axis=1)
    count = (~np.isnan(others)).sum(axis=1)
    shared = rated & (count > 0)
    away = own[shared] - np.nansum(others[shared], axis=1) / count[shared]
    size = len(away)
    return Rater(
        ratings.raters[number],
        int(rated.sum()),
        float(own[rated].mean()),
        float(away.mean()) if size else None,
        float(away.std(ddof=1) / math.sqrt(size)) if size > 1 else None,
    )


def _disputed(ratings: Ratings) -> list[Disputed]:
    """The items whose ratings differ, those that differ most first."""
    found = []
    for item, row in zip(ratings.items, ratings.values, strict=True):
        given = row[~np.isnan(row)]
        if len(np.unique(given)) > 1:
            values, times = np.unique(given, return_counts=True)
            by_value = {f"{value:g}": int(count) for value, count in zip(values, times, strict=True)}
            found.append(Disputed(item, by_value, float(given.var())))
    return sorted(found, key=lambda one: (-one.variance, one.item))
