"""Whether two systems differ: paired bootstrap, paired permutation, McNemar, and Holm for many pairs at once."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dsteval.metrics.counting import Counts, total
from dsteval.outcomes.table import Array
from dsteval.stats.bootstrap import TOLERANCE, Interval, Value, blocks, check_resamples, percentile, product


class Paired(NamedTuple):
    """A difference a - b with its interval and two-sided p; NaN where it is undefined."""

    difference: float
    interval: Interval
    p: float


class Permuted(NamedTuple):
    """A difference a - b with its two-sided p. ``exact``: from all swaps there are, instead of random ones."""

    difference: float
    p: float
    resamples_used: int
    dropped: int
    exact: bool


def paired_bootstrap(values_a: Array, values_b: Array, point_a: float, point_b: float, level: float) -> Paired:
    """The difference of two systems from values [resamples] over the same draws.

    Formula: p = min(1, 2 (1 + k) / (1 + n)), k the smaller of the numbers of the n differences that are <= 0 and
    >= 0. This is the level at which the percentile interval comes to touch 0, so that the interval and the p say
    the same; it is never 0, and 1 for a system against itself. Differs from scripts that shift the differences
    to mean 0 first: equal for symmetric ones. Resamples in which either system is undefined are left out of the
    interval; in n and k they count as differences of 0, or what one dialogue alone defines would look certain.

    For a BCa interval of the difference use ``bca`` with differences of values, points and leave-one-out values.

    >>> values = np.array([0.5, 0.6, 0.7, 0.4])
    >>> paired_bootstrap(values, values, 0.5, 0.5, 0.95).p
    1.0

    Reference: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 15.
    """
    differences, difference = values_a - values_b, point_a - point_b
    found = percentile(differences, level)
    if math.isnan(difference) or not found.resamples_used:
        return Paired(difference, found, math.nan)
    smaller = min(int((differences <= TOLERANCE).sum()), int((differences >= -TOLERANCE).sum())) + found.dropped
    return Paired(difference, found, min(1.0, 2 * (1 + smaller) / (1 + len(differences))))


def padded(counts_a: Counts, counts_b: Counts) -> tuple[Counts, Counts]:
    """Two arrays with one number of columns: those that one lacks are zeros at the right end.

    >>> [part.tolist() for part in padded(np.array([[1, 2]]), np.array([[3]]))]
    [[[1, 2]], [[3, 0]]]
    """
    width = max(counts_a.shape[-1], counts_b.shape[-1])

    def wide(counts: Counts) -> Counts:
        return np.pad(counts, [(0, 0)] * (counts.ndim - 1) + [(0, width - counts.shape[-1])])

    return wide(counts_a), wide(counts_b)


def permutation(counts_a: Counts, counts_b: Counts, value: Value, resamples: int, seed: int) -> Permuted:
    """The paired permutation test: were the two systems alike, they could change places in any dialogue.

    Formula: the systems' counts are swapped in a random half of the dialogues, n times; p = (1 + k) / (1 + n), k
    the swaps whose |difference| reaches the observed one. Where all swaps of the m dialogues in which the systems
    differ are no more than ``resamples`` (2^m), each is taken once and p = k / 2^m, the observed one among them.
    Swaps for which the metric is undefined are dropped.

    >>> counts = np.array([[4, 4], [5, 5], [6, 6]])
    >>> worse = counts - [0, 3]
    >>> share = lambda sums: sums[..., 1] / sums[..., 0]
    >>> permutation(counts, worse, share, 1000, seed=0)  # all three dialogues one way: 2 of 8 swaps
    Permuted(difference=0.6, p=0.25, resamples_used=8, dropped=0, exact=True)

    Reference: Edgington and Onghena, Randomization Tests, 2007; Yeh, COLING 2000.
    """
    check_resamples(resamples)
    counts_a, counts_b = padded(counts_a, counts_b)
    sums_a, sums_b = total(counts_a), total(counts_b)
    observed = float(value(sums_a)) - float(value(sums_b))
    change = counts_b - counts_a
    change = change[(change != 0).any(axis=1)]
    exact = 2 ** len(change) <= resamples
    if math.isnan(observed):
        return Permuted(observed, math.nan, 0, 0, exact)
    swaps = _all_swaps(len(change)) if exact else _random_swaps(len(change), resamples, seed)
    moves = (product(block, change) for block in swaps)
    differences = np.concatenate([value(sums_a + moved) - value(sums_b - moved) for moved in moves])
    used = differences[~np.isnan(differences)]
    reached = int((np.abs(used) >= abs(observed) - TOLERANCE).sum())
    p = reached / len(used) if exact else (1 + reached) / (1 + len(used))
    return Permuted(observed, p, len(used), len(differences) - len(used), exact)


def _all_swaps(dialogues: int) -> Iterator[Array]:
    """Every choice of dialogues [rows, dialogues], as 0 and 1."""
    for rows in blocks(2**dialogues, dialogues):
        yield (np.array(rows)[:, None] >> np.arange(dialogues)) & 1


def _random_swaps(dialogues: int, resamples: int, seed: int) -> Iterator[Array]:
    """Random halves of the dialogues [rows, dialogues]; a row is the same however large the blocks are."""
    bits, words = np.random.PCG64(seed), (dialogues + 63) // 64
    for rows in map(len, blocks(resamples, dialogues)):
        raw = bits.random_raw(rows * words).astype("<u8").view(np.uint8).reshape(rows, words * 8)
        yield np.unpackbits(raw, axis=1, count=dialogues)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values of many tests: with alpha as threshold, a false one among them has a chance of alpha.

    Formula: the i-th smallest of m becomes the largest of (m - j + 1) p_j over j <= i, at most 1. NaN stays NaN
    and does not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]

    Reference: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    adjusted = [math.nan] * len(p_values)
    order = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for before, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - before) * p))
        adjusted[place] = largest
    return adjusted


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p of McNemar's test, from the dialogues that only one system has all right.

    Formula: min(1, 2 P(X <= min(only_a, only_b))), X binomial with n = only_a + only_b and 1/2; 1 where n = 0. To
    be used on dialogues, of which each is one trial; turns of a dialogue are not independent.

    >>> mcnemar(1, 5)
    0.21875

    Reference: McNemar, Psychometrika 12, 1947.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"expected counts of dialogues, found {only_a} and {only_b}")
    trials = only_a + only_b
    below = sum(math.comb(trials, wins) for wins in range(min(only_a, only_b) + 1))
    return min(1.0, float(2 * below / 2**trials))
