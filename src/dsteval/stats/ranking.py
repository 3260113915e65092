"""Which system wins: over resamples, over pairs, and over every lambda of FGA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dsteval.metrics.base import Array
from dsteval.metrics.fga import FGA
from dsteval.stats.polynomials import Polynomial, sign_changes, trimmed

__all__ = [
    "Crossings",
    "Lead",
    "Separated",
    "Wins",
    "crossings",
    "curve",
    "discriminative_power",
    "intervals_of_winner",
    "wins",
]

_SAME_POINT = 1e-10


class Wins(NamedTuple):
    """Shares of resamples: ``best`` [systems], ``ranks`` [systems, ranks], first rank first; ties are shared.

    ``dropped`` resamples had an undefined system; with none left the shares are NaN.
    """

    best: Array
    ranks: Array
    resamples_used: int
    dropped: int


class Separated(NamedTuple):
    """Pairs of systems that a metric tells apart, of all pairs with a p; the share is NaN without pairs."""

    share: float
    separated: int
    pairs: int


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
    for system, own in enumerate(used if number else []):
        above, alike = (used > own).sum(axis=0), (used == own).sum(axis=0)
        for rank in range(systems):
            taken = (above <= rank) & (rank < above + alike)
            ranks[system, rank] = (taken / alike).sum() / number
    return Wins(ranks[:, 0] if systems else np.zeros(0), ranks, number, resamples - number)


def discriminative_power(p_values: Sequence[float], alpha: float = 0.05) -> Separated:
    """The share of pairs of systems whose p is at most ``alpha``; pairs without a p (NaN) are left out.

    >>> discriminative_power([0.01, 0.2, math.nan, 0.04])
    Separated(share=0.6666666666666666, separated=2, pairs=3)

    Reference: Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.
    """
    known = [p for p in p_values if not math.isnan(p)]
    separated = sum(p <= alpha for p in known)
    return Separated(separated / len(known) if known else math.nan, separated, len(known))


def curve(sums: Array, lambdas: Sequence[float] | Array) -> Array:
    """FGA of summed histograms [..., columns] at each lambda [..., lambdas].

    >>> curve(np.array([4, 1, 0, 1]), [0.0, math.inf]).tolist()
    [0.25, 0.5]
    """
    return np.stack([(FGA @ number).value(sums) for number in lambdas], axis=-1)


def crossings(sums_a: Array, sums_b: Array) -> Crossings:
    """The lambdas above 0 at which the FGA curves of two systems cross, to 1e-12.

    The columns are those of ``dsteval.metrics.fga.histogram``, summed: turns, exact, inherited without an error
    turn, inherited at distance 1, 2, ... With x = exp(-lambda) the difference, times both numbers of turns, is a
    polynomial in x with integer coefficients; its sign changes between 0 and 1 are isolated exactly. Curves that
    only touch do not cross. Errors without an error turn weigh 1 at every lambda above 0, so that at 0 itself
    (JGA) the order can be another than just above. ValueError for sums that are no integers, or without turns.

    >>> found = crossings(np.array([10, 5, 0, 0]), np.array([10, 4, 0, 2]))
    >>> [round(point, 6) for point in found.points]  # 5 = 4 + 2 (1 - x) at x = 1/2
    [0.693147]
    """
    difference = _difference(sums_a, sums_b)
    points = [-math.log1p(-float(1 - root)) for root in sign_changes(difference)]
    return Crossings(tuple(sorted(points)), not difference)


def _difference(sums_a: Array, sums_b: Array) -> Polynomial:
    """FGA of a minus that of b as a polynomial in exp(-lambda), times a number above 0."""
    (turns_a, one), (turns_b, other) = _polynomial(sums_a), _polynomial(sums_b)
    width = max(len(one), len(other))
    one, other = (part + [0] * (width - len(part)) for part in (one, other))
    return trimmed([turns_b * c - turns_a * d for c, d in zip(one, other, strict=True)])


def _polynomial(sums: Array) -> tuple[int, Polynomial]:
    numbers = [int(number) for number in sums]
    if not np.array_equal(numbers, sums) or len(numbers) < 3 or numbers[0] < 1:
        raise ValueError("expected the sums of an FGA histogram: integers, the first of them turns, above 0")
    return numbers[0], [sum(numbers[1:]), *(-number for number in numbers[3:])]


def intervals_of_winner(sums: Sequence[Array]) -> list[Lead]:
    """Who leads by FGA between 0 and infinity, from the summed histogram of each system.

    Each interval is open, and reaches to the crossing at which the lead goes to another.

    >>> leads = intervals_of_winner([np.array([10, 5, 0, 0]), np.array([10, 4, 0, 2])])
    >>> [(round(lead.low, 3), round(lead.high, 3), lead.systems) for lead in leads]
    [(0.0, 0.693, (0,)), (0.693, inf, (1,))]
    """
    if not sums:
        return []
    pairs = {}
    for a, b in combinations(range(len(sums)), 2):
        # The sign towards lambda = inf is that of the lowest power; each crossing on the way to 0 turns it.
        lowest = next((c for c in _difference(sums[a], sums[b]) if c), 0)
        pairs[a, b] = ((lowest > 0) - (lowest < 0), crossings(sums[a], sums[b]).points)
    bounds = [0.0]
    for point in sorted(point for _, points in pairs.values() for point in points):
        if point - bounds[-1] > _SAME_POINT * max(1.0, point):  # three curves through one point cross once
            bounds.append(point)
    leads: list[Lead] = []
    for low, high in zip(bounds, [*bounds[1:], math.inf], strict=True):
        inner = low + 1 if math.isinf(high) else (low + high) / 2
        beaten = {_beaten(pair, sign, points, inner) for pair, (sign, points) in pairs.items()}
        first = tuple(system for system in range(len(sums)) if system not in beaten)
        if leads and leads[-1].systems == first:
            leads[-1] = leads[-1]._replace(high=high)
        else:
            leads.append(Lead(low, high, first))
    return leads


def _beaten(pair: tuple[int, int], sign: int, points: tuple[float, ...], number: float) -> int | None:
    """Which of two systems is behind at a lambda; None where their curves are one."""
    if not sign:
        return None
    turned = sum(point > number for point in points) % 2
    return pair[1] if (sign > 0) != bool(turned) else pair[0]
