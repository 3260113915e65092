"""How many conversations and raters a study needs: to tell two metrics apart, or to find lambda."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from dsteval.errors import require
from dsteval.metrics.base import Metric
from dsteval.metrics.counting import Counts
from dsteval.outcomes.table import Array
from dsteval.rating.fitting import best, lambdas, outer_ends, scores
from dsteval.rating.pairs import Resample
from dsteval.rating.ratings import Study
from dsteval.stats.agreement import pearson, williams
from dsteval.stats.bootstrap import blocks
from dsteval.stats.power import check_share

SIZES = (100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600)
_MOST = 10**6
_FEWEST = 10

_MOST_RATERS = 10_000


@dataclass(frozen=True)
class Crowd:
    """Raters as they are simulated: satisfied (1) or not (0).

    Formula: rater j is satisfied with conversation i with the chance share + slope (FGA_i - mean) + c_i + b_j, cut
    to 0..1; c_i is what else pleases or annoys (normal, ``noise``), b_j how kind the rater is (normal, ``bias``).
    With the true lambda in FGA_i, Pearson's r is largest there in the long run, as long as few chances are cut.
    """

    share: float = 0.5
    slope: float = 0.5
    noise: float = 0.2
    bias: float = 0.1


def simulated(true: Array, raters: int, crowd: Crowd, random: np.random.Generator) -> Array:
    """Ratings [conversations, raters] of conversations whose FGA at the true lambda is given."""
    chance = crowd.share + crowd.slope * (true - true.mean()) + random.normal(0, abs(crowd.noise), len(true))
    kind = random.normal(0, abs(crowd.bias), raters)
    return np.asarray(random.random((len(true), raters)) < chance[:, None] + kind, dtype=float)


@dataclass(frozen=True)
class MetricNeed:
    """With so many raters a conversation: the correlations to be expected, and the conversations needed; None
    where a million do not suffice.
    """

    raters: int
    r1: float
    r2: float
    conversations: int | None
    power: float


@dataclass(frozen=True)
class MetricPlan(Study):
    """What ``plan_metrics`` returns."""

    r1: float
    r2: float
    r12: float
    raters: int
    agreement: float | None
    alpha: float
    wanted: float
    repetitions: int
    needs: tuple[MetricNeed, ...]


def plan_metrics(
    r1: float,
    r2: float,
    r12: float,
    *,
    raters: int = 11,
    agreement: float | None = None,
    others: Sequence[int] = (),
    alpha: float = 0.05,
    power: float = 0.8,
    repetitions: int = 2000,
    seed: int = 12345,
) -> MetricPlan:
    """The conversations with which Williams' test tells r1 from r2 in ``power`` of all studies.

    ``r1`` and ``r2`` are correlations with the mean of ``raters`` ratings, ``r12`` that of the metrics. For each
    number of raters in ``others``, both are multiplied by sqrt(a_K / a_raters), a_K = K a / (1 + (K - 1) a)
    (Spearman and Brown) with a = ``agreement``, the correlation of two raters, near Krippendorff's interval alpha.
    Studies are simulated: three normal variables, their sample correlations drawn by Bartlett's decomposition.

    Raises OptionError for correlations that cannot be, for r1 = r2, and for shares outside 0..1.
    """
    check_share("--alpha", alpha)
    check_share("--target-power", power)
    told = "none" if agreement is None else agreement
    known = not others if agreement is None else 0 < agreement <= 1
    require(known, "--agreement", "the correlation of two raters, above 0 and at most 1", told)
    require(r1 != r2, "--r1, --r2", "two different correlations", f"{r1} twice")
    random = np.random.Generator(np.random.PCG64(seed))
    needs = []
    for number in dict.fromkeys([raters, *others]):
        factor = math.sqrt(_reliability(agreement, number) / _reliability(agreement, raters))
        power_of = partial(_power, _root(r1 * factor, r2 * factor, r12), alpha, repetitions, random)
        needs.append(MetricNeed(number, r1 * factor, r2 * factor, *_smallest(power_of, power)))
    return MetricPlan(r1, r2, r12, raters, agreement, alpha, power, repetitions, tuple(needs))


def _reliability(agreement: float | None, raters: int) -> float:
    require(1 <= raters <= _MOST_RATERS, "--raters", f"1 to {_MOST_RATERS}", raters)
    return 1.0 if agreement is None else raters * agreement / (1 + (raters - 1) * agreement)


def _root(r1: float, r2: float, r12: float) -> Array:
    """The triangular root of the correlations. Raises OptionError for such as cannot be."""
    matrix = np.array([[1, r12, r1], [r12, 1, r2], [r1, r2, 1]])
    possible = np.abs(matrix).max() <= 1 and np.linalg.eigvalsh(matrix)[0] > 1e-12
    found = ", ".join(f"{r:.3g}" for r in (r1, r2, r12))
    require(possible, "--r1, --r2, --r12", "correlations that can occur together", found)
    return np.linalg.cholesky(matrix)


def _smallest(power_of: Callable[[int], float], wanted: float) -> tuple[int | None, float]:
    """The size that reaches a power, and its power: doubled until it is reached, then halved between."""
    low = high = _FEWEST
    while (reached := power_of(high)) < wanted:
        if high >= _MOST:
            return None, reached
        low, high = high, min(_MOST, 2 * high)
    while high - low > max(1, high // 50):  # 2 % is less than the simulation's own error
        middle = (low + high) // 2
        if (power := power_of(middle)) < wanted:
            low = middle
        else:
            high, reached = middle, power
    return high, reached


def _power(root: Array, alpha: float, repetitions: int, random: np.random.Generator, size: int) -> float:
    """The share of samples of a size in which Williams' test is significant."""
    lower = np.zeros((repetitions, 3, 3))
    for place in range(3):
        lower[:, place, place] = np.sqrt(random.chisquare(size - 1 - place, repetitions))
    for row, column in ((1, 0), (2, 0), (2, 1)):
        lower[:, row, column] = random.normal(size=repetitions)
    half = root @ lower
    covariance = half @ half.transpose(0, 2, 1)
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    r = covariance / deviation[:, :, None] / deviation[:, None, :]
    tests = (williams(one[0][2], one[1][2], one[0][1], size) for one in r.tolist())
    return sum(test.p < alpha for test in tests) / repetitions


@dataclass(frozen=True)
class LambdaNeed:
    """So many conversations and raters: where 95 % of the estimates lie, and how many are 0 or infinite.

    ``factor`` is high / low, infinite where an end is 0 or infinity.
    """

    conversations: int
    raters: int
    low: float
    high: float
    at_zero: int
    at_infinity: int
    r: float
    factor: float


@dataclass(frozen=True)
class LambdaPlan(Study):
    """What ``plan_lambda`` returns: a row for each number of conversations tried, and the first that is within
    ``factor`` for each number of raters, None where none is.
    """

    true: float
    factor: float
    crowd: Crowd
    repetitions: int
    rows: tuple[LambdaNeed, ...]
    needed: dict[int, int | None]


def plan_lambda(
    metric: Metric,
    counts: Counts,
    true: float,
    *,
    raters: Sequence[int] = (11,),
    factor: float = 4.0,
    crowd: Crowd | None = None,
    repetitions: int = 400,
    seed: int = 12345,
) -> LambdaPlan:
    """How many conversations like these find lambda, in 95 % of studies within ``factor`` from end to end.

    Each simulated study draws conversations from ``counts`` (FGA's, per dialogue), has them rated by a crowd whose
    lambda is ``true``, and takes the lambda with the largest r. Sizes are tried until one suffices.
    """
    require(0 < true < math.inf, "--true-lambda", "a number above 0", true)
    require(factor > 1, "--factor", "more than 1", factor)
    crowd, numbers = crowd or Crowd(), lambdas()
    require(0 <= crowd.share <= 1, "--share", "a share from 0 to 1", crowd.share)
    require(abs(crowd.slope) < math.inf, "--slope", "a number", abs(crowd.slope))
    require(0 <= crowd.noise < math.inf, "--noise", "a number of at least 0", crowd.noise)
    require(0 <= crowd.bias < math.inf, "--bias", "a number of at least 0", crowd.bias)
    curves, true_curve = scores(metric, counts, numbers), scores(metric, counts, [true])[0]
    flat = np.nanmax(true_curve) - np.nanmin(true_curve) < 1e-12  # no rating can correlate with it
    found = f"{true_curve[0]:.3g} in each of {len(true_curve)}"
    require(not flat, "--true-lambda", "conversations with different FGA", found)
    rows: list[LambdaNeed] = []
    needed: dict[int, int | None] = {}
    for number in raters:
        require(1 <= number <= _MOST_RATERS, "--raters", f"1 to {_MOST_RATERS}", number)
        needed[number] = None
        for size in SIZES:
            random = np.random.Generator(np.random.PCG64([seed, number, size]))
            studies = _studies(true_curve, size, number, crowd, repetitions, random)
            places, r = zip(*((best(curves, folded), r_true) for folded, r_true in studies), strict=True)
            rows.append(_need(size, number, numbers, np.concatenate(places), [*chain(*r)]))
            if rows[-1].factor <= factor:
                needed[number] = size
                break
    return LambdaPlan(true, factor, crowd, repetitions, tuple(rows), needed)


def _need(size: int, raters: int, numbers: Array, places: Array, r: Sequence[float]) -> LambdaNeed:
    if not (places >= 0).any():
        return LambdaNeed(size, raters, 0.0, math.inf, 0, 0, math.nan, math.inf)
    low, high = outer_ends(numbers, places, 0.025)
    zero, infinite = (int((places == end).sum()) for end in (0, len(numbers) - 1))
    defined = [value for value in r if not math.isnan(value)]
    mean = sum(defined) / len(defined) if defined else math.nan
    return LambdaNeed(size, raters, low, high, zero, infinite, mean, high / low if low > 0 else math.inf)


def _studies(
    true: Array, size: int, raters: int, crowd: Crowd, repetitions: int, random: np.random.Generator
) -> Iterator[tuple[Resample, list[float]]]:
    """Studies in blocks, folded onto the dialogues they were drawn from, with r of each at the true lambda.

    A conversation drawn twice is rated twice, and counts where it came from.
    """
    for block in blocks(repetitions, len(true)):
        rows, r = [], []
        for _ in block:
            drawn = random.integers(0, len(true), size)
            mean = simulated(true[drawn], raters, crowd, random).mean(axis=1)
            mean -= mean.mean()
            rows.append([np.bincount(drawn, part, len(true)) for part in (np.ones(size), mean, mean**2)])
            r.append(pearson(true[drawn], mean))
        yield Resample(*np.array(rows).transpose(1, 0, 2)), r
