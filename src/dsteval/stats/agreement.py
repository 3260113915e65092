"""How far two measurements, or several raters, agree: correlations, tests of them, alpha and kappas."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from dsteval.outcomes.table import Array

_FLAT = 1e-12  # a deviation below this share of the values is rounding


def pearson(x: Array, y: Array, weight: Array | None = None) -> float:
    """Pearson's r; NaN where either side does not vary. ``weight`` says how often each pair counts.

    >>> round(pearson(np.array([1, 2, 3]), np.array([1, 3, 2])), 4)
    0.5
    """
    w = np.ones(len(x)) if weight is None else weight
    if not w.sum():
        return math.nan
    away_x, away_y = x - (w @ x) / w.sum(), y - (w @ y) / w.sum()
    squares_x, squares_y = w @ away_x**2, w @ away_y**2
    if squares_x <= _FLAT**2 * (w @ x**2) or squares_y <= _FLAT**2 * (w @ y**2):
        return math.nan
    return float(np.clip((w @ (away_x * away_y)) / math.sqrt(squares_x * squares_y), -1, 1))


def spearman(x: Array, y: Array, weight: Array | None = None) -> float:
    """Spearman's rho: Pearson's r of ranks, ties at their mean rank."""
    w = np.ones(len(x)) if weight is None else weight
    return pearson(_ranks(x, w), _ranks(y, w), w)


def _ranks(values: Array, weight: Array) -> Array:
    _, inverse = np.unique(values, return_inverse=True)
    tied = np.bincount(inverse, weights=weight)
    return np.asarray((np.cumsum(tied) - tied / 2 + 0.5)[inverse])


def kendall(x: Array, y: Array, weight: Array | None = None) -> float:
    """Kendall's tau-b: (concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y)."""
    w = np.ones(len(x)) if weight is None else weight
    kept = w > 0
    x, y, w = x[kept], y[kept], w[kept]
    order_x, order_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    spread = (w @ np.abs(order_x) @ w) * (w @ np.abs(order_y) @ w)
    return float((w @ (order_x * order_y) @ w) / math.sqrt(spread)) if spread else math.nan


def pointbiserial(x: Array, y: Array, weight: Array | None = None) -> float:
    """The point-biserial coefficient: Pearson's r where y has two values; NaN where it has others."""
    used = y if weight is None else y[weight > 0]
    return pearson(x, y, weight) if len(np.unique(used)) == 2 else math.nan


COEFFICIENTS: dict[str, Callable[[Array, Array, Array | None], float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "pointbiserial": pointbiserial,
}


class Dependent(NamedTuple):
    """A statistic with its two-sided p; NaN where they are undefined."""

    statistic: float
    p: float


def williams(r13: float, r23: float, r12: float, n: int) -> Dependent:
    """Williams' t: do 1 and 2 correlate with 3 to the same degree, all three measured on the same n units?

    Formula: t = (r13 - r23) sqrt((n - 1)(1 + r12) / (2 (n - 1) / (n - 3) |R| + m^2 (1 - r12)^3)), |R| = 1 - r12^2
    - r13^2 - r23^2 + 2 r12 r13 r23, m = (r13 + r23) / 2; n - 3 degrees of freedom. Undefined for n < 4, and
    where 1 and 2 are the same. Units must be independent: conversations, not ratings.

    >>> round(williams(0.37, 0.33, 0.89, 100).p, 2)
    0.37

    Reference: Williams, JRSS B 21, 1959; Steiger, Psychological Bulletin 87, 1980, equation 7.
    """
    if n < 4 or not _possible(r13, r23, r12):
        return Dependent(math.nan, math.nan)
    mean = (r13 + r23) / 2
    below = 2 * (n - 1) / (n - 3) * _determinant(r13, r23, r12) + mean**2 * (1 - r12) ** 3
    if below <= _FLAT:
        return Dependent(math.nan, math.nan)
    t = (r13 - r23) * math.sqrt((n - 1) * (1 + r12) / below)
    return Dependent(t, _student(abs(t), n - 3))


def steiger(r13: float, r23: float, r12: float, n: int) -> Dependent:
    """Steiger's Z for the same question, from Fisher's z of both with their mean in the covariance.

    Formula: Z = (z13 - z23) sqrt((n - 3) / (2 - 2 c)), c = (r12 (1 - 2 m^2) - m^2 (1 - 2 m^2 - r12^2) / 2) /
    (1 - m^2)^2, m = (r13 + r23) / 2. Undefined for n < 4.

    >>> round(steiger(0.37, 0.33, 0.89, 100).p, 2)
    0.37

    Reference: Steiger, Psychological Bulletin 87, 1980, equation 14.
    """
    if n < 4 or not _possible(r13, r23, r12) or max(abs(r13), abs(r23)) >= 1:
        return Dependent(math.nan, math.nan)
    square = ((r13 + r23) / 2) ** 2
    shared = (r12 * (1 - 2 * square) - square * (1 - 2 * square - r12**2) / 2) / (1 - square) ** 2
    if 1 - shared <= _FLAT:
        return Dependent(math.nan, math.nan)
    z = (math.atanh(r13) - math.atanh(r23)) * math.sqrt((n - 3) / (2 - 2 * shared))
    return Dependent(z, 2 * NormalDist().cdf(-abs(z)))


def _determinant(r13: float, r23: float, r12: float) -> float:
    return 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23


def _possible(r13: float, r23: float, r12: float) -> bool:
    """Whether three things can have these correlations; False for NaN."""
    return max(map(abs, (r13, r23, r12))) <= 1 and _determinant(r13, r23, r12) >= -1e-9


def _student(t: float, freedom: int) -> float:
    """The two-sided p of Student's t, by its finite sum for whole degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for number in range(2 if odd else 1, freedom - 1, 2):
        term *= number / (number + 1) * cosine**2
        total += term
    inside = math.sin(angle) * total
    return max(0.0, 1 - (2 / math.pi * (angle + inside) if odd else inside))


LEVELS = ("nominal", "ordinal", "interval")
"""What ratings are, for Krippendorff's alpha: it tells how far apart two of them are."""


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
    distinct, paired = coincidences(values)
    return float(alpha_of(paired.sum(axis=0), distinct, level)) if len(distinct) else math.nan


def coincidences(values: Array) -> tuple[Array, Array]:
    """The distinct values, and of each item its coincidences of them, flat [items, values * values]."""
    distinct = np.unique(values[~np.isnan(values)])
    times = (values[:, :, None] == distinct).sum(axis=1).astype(float)
    given = times.sum(axis=1)
    paired = times[:, :, None] * times[:, None, :] - times[:, :, None] * np.eye(len(distinct))
    share = np.where(given > 1, 1 / np.maximum(given - 1, 1), 0.0)
    return distinct, (paired * share[:, None, None]).reshape(len(values), -1)


def alpha_of(paired: Array, distinct: Array, level: str) -> Array:
    """Alpha of summed coincidences [..., values * values] of the distinct values."""
    size = len(distinct)
    table = paired.reshape(*paired.shape[:-1], size, size)
    times = table.sum(axis=-1)
    place = np.cumsum(times, axis=-1) - times / 2 if level == "ordinal" else distinct
    away = place[..., :, None] - place[..., None, :]
    apart = away != 0 if level == "nominal" else away**2
    observed = (table * apart).sum(axis=(-1, -2))
    expected = (times[..., :, None] * times[..., None, :] * apart).sum(axis=(-1, -2))
    defined = expected > 0
    total = times.sum(axis=-1)
    return np.where(defined, 1 - (total - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def fleiss(values: Array) -> float:
    """Fleiss' kappa of ratings [items, raters] over the items that all rated; NaN where these have one value only.

    Formula: (P - E) / (1 - E), P the mean share of pairs of raters that agree on an item, E the sum of squares
    of the values' shares.

    Reference: Fleiss, Psychological Bulletin 76, 1971.
    """
    complete = values[~np.isnan(values).any(axis=1)]
    items, raters = complete.shape
    distinct = np.unique(complete)
    if raters < 2 or len(distinct) < 2:
        return math.nan
    times = (complete[:, :, None] == distinct).sum(axis=1)
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
