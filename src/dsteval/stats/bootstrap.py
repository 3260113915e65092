"""Intervals by drawing dialogues again: percentile and BCa, with standard errors."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from dsteval.errors import require, require_whole
from dsteval.metrics.counting import Counts, total
from dsteval.outcomes.table import Array

Value: TypeAlias = Callable[[Array], Array]
"""Sums [..., columns] to a metric [...]."""

METHODS = ("percentile", "bca")
CELLS = 2**21
"""Largest number of cells (resamples x dialogues) in memory at once."""

TOLERANCE = 1e-12
"""Values that differ by less are ties: one sum added in two orders may differ in the last bit."""

_MOST = 1_000_000
_FEWEST = 100
_NOISE = 1e-14  # a dialogue that counts moves a metric by more, even one of millions


class Interval(NamedTuple):
    """An interval with its standard error, from ``resamples_used`` values; ``dropped`` were undefined.

    ``note`` says why there is no interval (then ``low``, ``high`` and ``error`` are NaN), or why it is of another
    kind than asked for.
    """

    low: float = math.nan
    high: float = math.nan
    error: float = math.nan
    resamples_used: int = 0
    dropped: int = 0
    note: str = ""


def check_level(level: object) -> None:
    """Raise OptionError unless a level is a number between 0 and 1."""
    number = float(level) if isinstance(level, float | np.floating) else math.nan
    between = 0 < (1 - number) / 2 < 0.5 and 1 - (1 - number) / 2 < 1
    require(between, "--ci", "a level between 0 and 1, such as 0.95", repr(level))


def check_resamples(resamples: object) -> None:
    """Raise OptionError unless resamples are 100 to a million."""
    require_whole("--resamples", resamples, range(_FEWEST, _MOST + 1), f"{_FEWEST} to {_MOST}")


def too_few(dialogues: int) -> str:
    """Why so few dialogues give no interval; empty where there are two or more.

    >>> too_few(1), too_few(2)
    ('an interval needs at least 2 dialogues, found 1', '')
    """
    return "" if dialogues >= 2 else f"an interval needs at least 2 dialogues, found {dialogues}"


def blocks(rows: int, width: int, cells: int = CELLS) -> Iterator[range]:
    """Rows of a width in blocks that keep within a number of cells, or of one row."""
    most = max(1, cells // max(1, width))
    return (range(rows)[start : start + most] for start in range(0, rows, most))


def draws(dialogues: int, resamples: int, seed: int, cells: int = CELLS) -> Iterator[Array]:
    """Blocks [rows, dialogues] of how often each dialogue is drawn, ``resamples`` rows together.

    Every row sums to ``dialogues``. A seed gives the same rows however large the blocks are, and more resamples
    begin with the rows of fewer. The bits are those of PCG64, whose stream numpy keeps between releases (its
    ``Generator`` methods may change): 32 bits times ``dialogues``, the upper word, so that no dialogue is
    likelier than another by more than dialogues / 2^32. ValueError without dialogues.

    >>> [block.tolist() for block in draws(3, 2, seed=1, cells=3)]
    [[[0, 2, 1]], [[2, 0, 1]]]
    """
    if dialogues < 1:
        raise ValueError("there is no dialogue to resample")
    bits = np.random.PCG64(seed)
    words = (dialogues + 1) // 2  # two dialogues from each 64 bits; a row starts at a new word
    for rows in map(len, blocks(resamples, dialogues, cells)):
        raw = bits.random_raw(rows * words).reshape(rows, words)
        halves = np.concatenate([raw >> np.uint64(32), raw & np.uint64(0xFFFFFFFF)], axis=1)[:, :dialogues]
        drawn = ((halves * np.uint64(dialogues)) >> np.uint64(32)).astype(np.int64)
        drawn += np.arange(rows)[:, None] * dialogues
        yield np.bincount(drawn.ravel(), minlength=rows * dialogues).reshape(rows, dialogues)


def _fits(counts: Counts) -> bool:
    """Whether these are integers of which floats hold every sum exactly."""
    if counts.dtype.kind == "f":
        return False
    return max(int(counts.max(initial=0)), -int(counts.min(initial=0))) * len(counts) < 2**53


def product(block: Array, counts: Counts) -> Array:
    """``block @ counts`` for weights of 0 or more that sum to at most len(counts) per row.

    Exact, and integers, for counts that are integers: floats hold them up to 2^53, and where a sum could be
    larger, integers are multiplied (slowly).
    """
    floats = counts.dtype.kind == "f"
    kind = float if floats or _fits(counts) else np.int64
    sums: Array = block.astype(kind, copy=False) @ counts.astype(kind, copy=False)
    return sums if floats else sums.astype(np.int64)


def resampled(counts: Sequence[Counts], dialogues: int, resamples: int, seed: int) -> list[Array]:
    """Sums [resamples, columns] of each counts array [dialogues, columns], all over the same draws.

    Whatever is counted over the same dialogues (systems, metrics) is drawn together, so that values of a row can
    be subtracted: differences are paired. Memory: resamples x columns, and a block of draws.

    >>> ones = np.ones((5, 1), dtype=np.int64)
    >>> set(resampled([ones], 5, 100, seed=0)[0].ravel().tolist())
    {5}
    """
    check_resamples(resamples)
    # Integers that floats hold exactly are multiplied side by side, at once. The rest goes by itself, so that the
    # last bit of a sum does not depend on what else is counted.
    exact = list(map(_fits, counts))
    joined = np.concatenate([np.zeros((dialogues, 0)), *compress(counts, exact)], axis=1)
    alone = [one for one, fits in zip(counts, exact, strict=True) if not fits]
    drawn = (_kept if dialogues * resamples <= CELLS else _weights)(dialogues, resamples, seed)
    sums = [[weights @ joined, *(product(weights, one) for one in alone)] for weights in drawn]
    side_by_side, *others = map(np.concatenate, zip(*sums, strict=True))
    edges = np.cumsum([one.shape[1] for one in compress(counts, exact)])[:-1]
    apart = iter([part.astype(np.int64) for part in np.split(side_by_side, edges, axis=1)])
    rest = iter(others)
    return [next(apart if fits else rest) for fits in exact]


def _weights(dialogues: int, resamples: int, seed: int) -> Iterator[Array]:
    """The draws as floats."""
    return (block.astype(float) for block in draws(dialogues, resamples, seed))


@lru_cache(maxsize=2)
def _kept(dialogues: int, resamples: int, seed: int) -> tuple[Array, ...]:
    """The same, kept for the next call: slices ask for the same ones again."""
    return tuple(_weights(dialogues, resamples, seed))


def jackknife(counts: Counts, value: Value) -> Array:
    """The metric without each dialogue in turn [dialogues]."""
    return value(total(counts) - counts)


def _between(values: Array, shares: Sequence[float], dropped: int) -> Interval:
    low, high = np.quantile(values, shares)
    return Interval(float(low), float(high), float(np.std(values, ddof=1)), len(values), dropped)


def percentile(values: Array, level: float) -> Interval:
    """The middle ``level`` of resampled values [resamples], undefined ones left out.

    Formula: the quantiles (1 - level) / 2 and (1 + level) / 2, between values by straight lines; the error is
    the values' standard deviation (n - 1).

    >>> interval = percentile(np.linspace(0, 1, 201), 0.9)
    >>> round(interval.low, 3), round(interval.high, 3), interval.dropped
    (0.05, 0.95, 0)

    Reference: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    check_level(level)
    defined = _defined(values)
    dropped = len(values) - len(defined)
    if len(defined) < 2:
        return Interval(dropped=dropped, note="the metric is undefined in the resamples")
    return _between(defined, [(1 - level) / 2, (1 + level) / 2], dropped)


def bca(values: Array, point: float, jackknife_values: Array, level: float) -> Interval:
    """The interval that is corrected for bias and for an error that grows with the value (BCa).

    Formula: the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) for z = Phi^-1((1 -+ level) / 2), where z0 =
    Phi^-1 of the share of values below ``point``, ties counted half, and a = sum u^3 / (6 (sum u^2)^1.5) with
    u = mean of the leave-one-out values - each. a is 0 where these are all equal; undefined ones are left out.

    Where every value lies on one side of ``point``, or the correction has no solution (1 - a (z0 + z) <= 0), the
    percentile interval is given and ``note`` says so.

    Reference: Efron, Better bootstrap confidence intervals, JASA 82, 1987.
    """
    plain = percentile(values, level)
    defined = _defined(values)
    if math.isnan(point):
        return Interval(dropped=plain.dropped, note="the metric is undefined")
    if len(defined) < 2:
        return plain
    ties = np.abs(defined - point) <= TOLERANCE
    below = float(np.mean(np.where(ties, 0.5, defined < point)))
    if not 0 < below < 1:
        return plain._replace(note="percentile instead of BCa: all resamples lie on one side of the value")
    normal = NormalDist()
    bias, acceleration = normal.inv_cdf(below), _acceleration(jackknife_values)
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + normal.inv_cdf(tail)
        if acceleration * moved >= 1:
            return plain._replace(note="percentile instead of BCa: the acceleration is too large")
        shares.append(normal.cdf(bias + moved / (1 - acceleration * moved)))
    return _between(defined, shares, plain.dropped)


def _defined(values: Array) -> Array:
    return values[~np.isnan(values)]


def _acceleration(jackknife_values: Array) -> float:
    left = _defined(jackknife_values)
    away = left.mean() - left if len(left) else left
    largest = np.abs(away).max(initial=0)
    if largest <= _NOISE:
        return 0.0
    away = away / largest  # cubes of tiny numbers would vanish
    return float((away**3).sum() / (6 * (away**2).sum() ** 1.5))


def interval(counts: Counts, value: Value, sums: Array, level: float, method: str = "percentile") -> Interval:
    """The interval of a metric from its counts [dialogues, columns] and their resampled sums.

    ``method`` is ``percentile`` or ``bca``. With fewer than two dialogues there is none, and ``note`` says so.

    >>> turns_right = np.array([[4, 1], [5, 5], [6, 3]])
    >>> share = lambda sums: sums[..., 1] / sums[..., 0]
    >>> sums = resampled([turns_right], 3, 1000, seed=0)[0]
    >>> found = interval(turns_right, share, sums, 0.95)
    >>> round(found.low, 2), round(found.high, 2)
    (0.36, 1.0)
    >>> interval(turns_right[:1], share, sums, 0.95).note
    'an interval needs at least 2 dialogues, found 1'
    """
    if note := too_few(len(counts)):
        return Interval(note=note)
    if method == "percentile":
        return percentile(value(sums), level)
    return bca(value(sums), float(value(total(counts))), jackknife(counts, value), level)
