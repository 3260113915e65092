"""The lambda of FGA that agrees best with people: Pearson's r with ratings as a function of lambda."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from dsteval.errors import MetricError, require
from dsteval.metrics.base import Metric
from dsteval.metrics.counting import Counts
from dsteval.outcomes.table import Array
from dsteval.rating.pairs import RatedPairs, Resample, bounds, resamples
from dsteval.rating.ratings import Study
from dsteval.results.result import or_none
from dsteval.stats.agreement import pearson
from dsteval.stats.intervals import Intervals

_GRID = 400
_ONE_CURVE = 1e-12
SHOWN = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, math.inf)


def lambdas(points: int = _GRID) -> Array:
    """Lambdas from 0 to infinity, evenly spaced in exp(-lambda), both ends included.

    >>> lambdas(2).round(3).tolist()
    [0.0, 0.693, inf]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(np.linspace(1, 0, points + 1)) + 0.0)


def scores(metric: Metric, counts: Counts, numbers: Sequence[float] | Array) -> Array:
    """FGA of each dialogue at each lambda [lambdas, dialogues]; ``metric`` gives the variant, not the number."""
    return np.stack([replace(metric, number=float(number)).value(counts) for number in numbers])


def correlations(curves: Array, weight: Array, first: Array, second: Array) -> Array:
    """Pearson's r of each curve [L, U] with ratings, for each row of weights [R, U]: [R, L], NaN if undefined.

    ``first`` and ``second`` are the sums of ratings and of their squares per unit, weighted as ``weight``. Ratings
    should be centred near 0, as the curves are here, or rounding shows.
    """
    curves = curves - curves.mean(axis=1, keepdims=True)
    size = weight.sum(axis=1, keepdims=True)
    sum_x, sum_y = weight @ curves.T, first.sum(axis=1, keepdims=True)
    both = size * (first @ curves.T) - sum_x * sum_y
    spread_x = size * (weight @ (curves**2).T) - sum_x**2
    spread_y = size * second.sum(axis=1, keepdims=True) - sum_y**2
    spread = np.maximum(spread_x, 0) * np.maximum(spread_y, 0)
    defined = (spread_x > 1e-12 * size**2) & (spread_y > 1e-12 * size**2)
    return np.where(defined, both / np.sqrt(np.where(defined, spread, 1.0)), np.nan)


def best(curves: Array, drawn: Resample) -> Array:
    """The place of the curve with the largest r in each resample; -1 where r is undefined for all."""
    r = correlations(curves, *drawn)
    return np.where(np.isnan(r).all(axis=1), -1, np.argmax(np.where(np.isnan(r), -2.0, r), axis=1))


CurvePoint = TypedDict(
    "CurvePoint", {"lambda": float, "r": float | None, "low": float | None, "high": float | None}
)


@dataclass(frozen=True)
class LambdaFit(Study):
    """What ``fit_lambda`` returns.

    ``value`` is the lambda with the largest r, ``low`` and ``high`` its interval, None without one. Of the
    ``resamples``, ``at_zero`` and ``at_infinity`` have their best lambda at that end. ``curve`` holds lambda, r,
    low and high. ``held_out`` is r of conversations with FGA at the lambda that the other folds choose, each
    fold's own in ``folds``; beside it stand r of JGA and of FGA@0.5, which choose nothing.
    """

    variant: str
    value: float
    r: float
    low: float | None
    high: float | None
    resamples: int
    at_zero: int
    at_infinity: int
    dropped: int
    curve: tuple[CurvePoint, ...]
    folds: tuple[float, ...]
    held_out: float | None
    r_zero: float | None
    r_half: float | None


def fit_lambda(
    metric: Metric, counts: Counts, pairs: RatedPairs, intervals: Intervals, folds: int = 10
) -> LambdaFit:
    """The lambda at which FGA of a conversation correlates most with its ratings (Pearson).

    Formula: the largest r over 401 lambdas evenly spaced in exp(-lambda), 0 (JGA) and infinity (TurnMatch)
    among them, then a search between the neighbours of that lambda. The interval holds the percentiles of the
    best lambda over conversations, and raters if there are two or more, resampled; it knows no end but 0 and
    infinity and often reaches them. Raises MetricError for a metric that is not FGA, for conversations without
    turns, and where no lambda has an r.
    """
    require(metric.name == "FGA", str(metric), "FGA", metric.name, MetricError)
    numbers = lambdas()
    curves = scores(metric, counts, numbers)
    empty = int(np.isnan(curves).any(axis=0).sum())
    require(not empty, str(metric), "conversations with turns", f"{empty} without any", MetricError)
    if np.ptp(curves, axis=0).max() < _ONE_CURVE:
        raise MetricError("no lambda is best: FGA of these conversations is the same for every lambda")
    if (at := _argmax(pairs, curves)) is None:
        raise MetricError("r is undefined for every lambda: ratings or scores are constant")
    value = _refined(metric, counts, pairs, numbers, at)
    drawn = (best(curves, block) for block in resamples(pairs.centred(), intervals))
    places = np.concatenate([np.zeros(0, int), *drawn])
    low = high = None
    if intervals.level is not None and (places >= 0).sum() > 1:
        low, high = outer_ends(numbers, places, (1 - intervals.level) / 2)
    chosen, held_out = _cross_validated(numbers, curves, pairs, folds, intervals.seed)
    return LambdaFit(
        variant=dict(metric.given).get("variant", "official"),
        value=value,
        r=_r(pairs, scores(metric, counts, [value])[0]),
        low=low,
        high=high,
        resamples=len(places),
        at_zero=int((places == 0).sum()),
        at_infinity=int((places == len(numbers) - 1).sum()),
        dropped=int((places < 0).sum()),
        curve=tuple(_curve(metric, counts, pairs, intervals)),
        folds=chosen,
        held_out=held_out,
        r_zero=or_none(_r(pairs, curves[0])),
        r_half=or_none(_r(pairs, scores(metric, counts, [0.5])[0])),
    )


def outer_ends(numbers: Array, places: Array, tail: float) -> tuple[float, float]:
    """The lambdas between which all best places but a ``tail`` on either side lie; undefined ones do not count.

    Whole places, rounded outwards: nothing can be interpolated towards infinity.
    """
    used = np.sort(places[places >= 0])
    low, high = math.floor(tail * (len(used) - 1)), math.ceil((1 - tail) * (len(used) - 1))
    return float(numbers[used[low]]), float(numbers[used[high]])


def _r(pairs: RatedPairs, values: Array) -> float:
    return pearson(values[pairs.row], pairs.rating, pairs.weight)


def _argmax(pairs: RatedPairs, curves: Array) -> int | None:
    r = np.array([_r(pairs, curve) for curve in curves])
    return None if np.isnan(r).all() else int(np.nanargmax(r))


def _refined(metric: Metric, counts: Counts, pairs: RatedPairs, numbers: Array, at: int) -> float:
    """The best lambda around a place of the grid, by thirds of exp(-lambda); an end stays where it is best."""
    decays = np.exp(-numbers)
    high, low = decays[max(0, at - 1)], decays[min(len(numbers) - 1, at + 1)]

    def lambda_of(decay: float) -> float:
        return -math.log(decay) + 0.0 if decay else math.inf

    def r(decay: float) -> float:
        value = _r(pairs, scores(metric, counts, [lambda_of(decay)])[0])
        return -2.0 if math.isnan(value) else value

    for _ in range(40):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if r(left) >= r(right) else (left, high)
    middle = (low + high) / 2
    return lambda_of(middle if r(middle) > r(decays[at]) else decays[at])


def _cross_validated(
    numbers: Array, curves: Array, pairs: RatedPairs, folds: int, seed: int
) -> tuple[tuple[float, ...], float | None]:
    """The lambda that each fold's complement chooses, and r of all conversations with their fold's."""
    folds = min(folds, pairs.groups)
    if folds < 2:
        return (), None
    fold = np.random.RandomState(seed % 2**32).permutation(pairs.groups) % folds
    chosen, values = [], np.full(len(pairs.group), np.nan)
    for number in range(folds):
        out = fold[pairs.group] == number
        if (at := _argmax(pairs.without(out), curves)) is None:
            return (), None
        chosen.append(float(numbers[at]))
        values[out] = curves[at][out]
    return tuple(chosen), or_none(_r(pairs, values))


def _curve(metric: Metric, counts: Counts, pairs: RatedPairs, intervals: Intervals) -> Iterator[CurvePoint]:
    curves = scores(metric, counts, SHOWN)
    blocks = (correlations(curves, *block) for block in resamples(pairs.centred(), intervals))
    drawn = np.concatenate([np.zeros((0, len(SHOWN))), *blocks])
    for number, curve, values in zip(SHOWN, curves, drawn.T, strict=True):
        low, high, _ = bounds(values, intervals)
        yield {"lambda": number, "r": or_none(_r(pairs, curve)), "low": low, "high": high}
