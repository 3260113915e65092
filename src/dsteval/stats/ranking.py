"""Which system wins: over resamples, and over every lambda of FGA."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from dsteval.metrics.fga import FGA
from dsteval.outcomes.table import Array
from dsteval.stats.paired import padded

_SAME_POINT = 1e-10
_SMALLEST, _GRID = 1e-7, 2001  # the first lambda of the grid, and how many there are: less than 1 % apart
_NOISE = 1e-14  # of the sum of all terms: what rounding may leave of a difference that is 0


class Wins(NamedTuple):
    """Shares of resamples: ``best`` [systems], ``ranks`` [systems, ranks], first rank first; ties are shared.

    ``dropped`` resamples had an undefined system; with none left the shares are NaN.
    """

    best: Array
    ranks: Array
    resamples_used: int
    dropped: int


class Crossings(NamedTuple):
    """Lambdas at which two curves cross, rising; ``identical`` curves have none."""

    points: tuple[float, ...]
    identical: bool


class Lead(NamedTuple):
    """From ``low`` to ``high`` these systems lead, by their places; more than one where curves are identical."""

    low: float
    high: float
    systems: tuple[int, ...]


def wins(values: Array) -> Wins:
    """How often each system takes each rank, from values [systems, resamples] over the same draws; more is better.

    Systems that tie share the ranks they cover: two first ones have half of rank 1 and half of rank 2 each.

    >>> wins(np.array([[0.5, 0.6, 0.7, 0.7], [0.4, 0.6, 0.8, 0.8]])).best.tolist()
    [0.375, 0.625]
    """
    systems, resamples = values.shape
    used = values[:, ~np.isnan(values).any(axis=0)]
    number = used.shape[1]
    ranks = np.full((systems, systems), np.nan)
    rank = np.arange(systems)[:, None]
    for system, values_of_one in enumerate(used if number else []):
        above, alike = (used > values_of_one).sum(axis=0), (used == values_of_one).sum(axis=0)
        taken = (above <= rank) & (rank < above + alike)
        ranks[system] = (taken / alike).sum(axis=1) / number
    return Wins(ranks[:, 0] if systems else np.zeros(0), ranks, number, resamples - number)


def curve(sums: Array, lambdas: Sequence[float] | Array) -> Array:
    """FGA of summed histograms [..., columns] at each lambda [..., lambdas].

    >>> curve(np.array([4, 1, 0, 1]), [0.0, math.inf]).tolist()
    [0.25, 0.5]
    """
    return np.stack([(FGA @ number).value(sums) for number in lambdas], axis=-1)


def crossings(sums_a: Array, sums_b: Array) -> Crossings:
    """The lambdas above 0 at which the FGA curves of two systems cross.

    The columns are those of ``dsteval.metrics.fga.histogram``, summed: turns, exact, inherited without an error
    turn, inherited at distance 1, 2, ... Sign changes of the difference are looked for on a grid that ends where
    none can be any more, and each is bisected to the last bit. Curves that only touch do not cross; two crossings
    within 1 % of lambda may be missed. Errors without an error turn weigh 1 at every lambda above 0, so that at 0
    itself (JGA) the order can be another than just above. ValueError for sums that are no integers, or without
    turns.

    >>> found = crossings(np.array([10, 5, 0, 0]), np.array([10, 4, 0, 2]))
    >>> [round(point, 6) for point in found.points]  # 5 = 4 + 2 (1 - x) at x = 1/2
    [0.693147]
    """
    powers = _difference(sums_a, sums_b)
    return Crossings(tuple(_sign_changes(powers)), not len(powers))


def _difference(sums_a: Array, sums_b: Array) -> Array:
    """FGA of a minus that of b, times a number above 0: the coefficients of its polynomial in exp(-lambda).

    They are integers, the lowest power first, without the zeros before the first: none where the curves are one.
    """
    for sums in (sums_a, sums_b):
        if len(sums) < 3 or sums[0] < 1 or not np.array_equal(sums, np.floor(sums)):
            raise ValueError("expected the sums of an FGA histogram: integers, the first of them turns, above 0")
    a, b = padded(sums_a, sums_b)
    apart = b[0] * a[1:] - a[0] * b[1:]
    return np.trim_zeros(np.concatenate([[apart.sum()], -apart[2:]]))


def _at(powers: Array, number: float) -> float:
    """A difference at a lambda."""
    return float(np.exp(-number * np.arange(len(powers))) @ powers)


def _sign_changes(powers: Array) -> Iterator[float]:
    if len(powers) < 2:
        return
    # Cauchy's bound: no root x is nearer to 0 than 1 / (1 + the largest coefficient over the first).
    grid = np.geomspace(_SMALLEST, math.log1p(np.abs(powers).max() / abs(powers[0])), _GRID)
    terms = np.exp(-np.outer(grid, np.arange(len(powers)))) * powers
    values = terms.sum(axis=1)
    sure = np.flatnonzero(np.abs(values) > _NOISE * np.abs(terms).sum(axis=1))
    signs = np.sign(values)
    for before, after in pairwise(sure.tolist()):
        if signs[before] != signs[after]:
            low, high = float(grid[before]), float(grid[after])
            while low < (middle := (low + high) / 2) < high:
                low, high = (low, middle) if _at(powers, middle) * signs[after] > 0 else (middle, high)
            yield high


def intervals_of_winner(sums: Sequence[Array]) -> list[Lead]:
    """Who leads by FGA between 0 and infinity, from the summed histogram of each system.

    Each interval is open, and reaches to the crossing at which the lead goes to another.

    >>> leads = intervals_of_winner([np.array([10, 5, 0, 0]), np.array([10, 4, 0, 2])])
    >>> [(round(lead.low, 3), round(lead.high, 3), lead.systems) for lead in leads]
    [(0.0, 0.693, (0,)), (0.693, inf, (1,))]
    """
    if not sums:
        return []
    pairs = {(a, b): _difference(sums[a], sums[b]) for a, b in combinations(range(len(sums)), 2)}
    bounds = [0.0]
    for point in sorted(point for powers in pairs.values() for point in _sign_changes(powers)):
        if point - bounds[-1] > _SAME_POINT * max(1.0, point):  # three curves through one point cross once
            bounds.append(point)
    leads: list[Lead] = []
    for low, high in pairwise([*bounds, math.inf]):
        inner = low + 1 if math.isinf(high) else (low + high) / 2
        apart = {pair: _at(powers, inner) for pair, powers in pairs.items()}
        beaten = {b if value > 0 else a for (a, b), value in apart.items() if value}
        first = tuple(system for system in range(len(sums)) if system not in beaten)
        if leads and leads[-1].systems == first:
            low = leads.pop().low
        leads.append(Lead(low, high, first))
    return leads
