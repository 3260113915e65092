"""Do metrics agree with people: correlation of scores and ratings, and whether one metric's is higher."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import OptionError, ReadError, unknown
from dsteval.metrics import parse
from dsteval.metrics.base import Array
from dsteval.rating.fitting import LambdaFit, fit_lambda
from dsteval.rating.pairs import Pairs, paired, unit_resamples
from dsteval.rating.ratings import Ratings
from dsteval.results.result import Result, or_none
from dsteval.stats.agreement import COEFFICIENTS, steiger, williams
from dsteval.stats.bootstrap import percentile
from dsteval.stats.intervals import Intervals

__all__ = ["Coefficient", "Correlations", "Versus", "correlate"]


@dataclass(frozen=True)
class Coefficient:
    """One metric's coefficient with its interval; ``value`` None where it is undefined, then ``why`` says why."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    conversations: int
    dropped: int = 0
    why: str = ""


@dataclass(frozen=True)
class Versus:
    """Two metrics: the difference a - b of their coefficients with its interval, how much they agree with each
    other (``between``), and Williams' and Steiger's tests. A metric of which less is better is turned round, so
    that what is compared is how well each agrees with people. What is undefined is None, then ``why`` says why.
    """

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    between: float | None
    t: float | None
    p: float | None
    z: float | None
    p_steiger: float | None
    why: str = ""


@dataclass(frozen=True)
class Correlations:
    """What ``correlate`` returns."""

    coefficient: str
    against: str
    conversations: int
    raters: int
    ratings: int
    signature: str
    metrics: tuple[Coefficient, ...]
    pairs: tuple[Versus, ...]
    best_lambda: LambdaFit | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The correlations as they stand in the JSON."""
        found = asdict(self)
        found["best_lambda"] = None if self.best_lambda is None else self.best_lambda.to_dict()
        return found


def correlate(
    result: Result,
    ratings: Ratings,
    *,
    coefficient: str = "pearson",
    against: str = "mean",
    intervals: Intervals | None = None,
    dialogues: Mapping[str, str] | None = None,
    fit: bool = False,
    folds: int = 10,
) -> Correlations:
    """Correlate each metric of a result, conversation by conversation, with ratings of the conversations.

    Items of the ratings are dialogues of the result. ``against`` takes the mean of a conversation's ratings, or
    each. Intervals are percentiles over conversations, and over raters where there are two or more, both drawn
    anew; ``dialogues`` tells of which dialogue an item is, and items of one dialogue are drawn together. ``fit``
    looks for the best lambda of the result's first FGA. Tests of differences are there for Pearson's r with mean
    ratings, whose conversations count as independent.

    Raises OptionError for unknown words and ReadError for ratings of items that the result lacks.
    """
    if coefficient not in COEFFICIENTS:
        raise OptionError(unknown("value of --coefficient", coefficient, list(COEFFICIENTS)))
    intervals = intervals or Intervals()
    rated = ratings.of(result.dialogues)
    own = dict(zip(map(canonical_id, result.dialogues), range(len(result.dialogues)), strict=True))
    rows = np.array([own[canonical_id(item)] for item in rated.items])
    groups = None if dialogues is None else [dialogues.get(canonical_id(item), item) for item in rated.items]
    pairs = paired(rated, against, groups)
    scores = {text: _scores(result, text)[rows] for text in result.counts}
    notes = _notes(result, rated, pairs, coefficient, intervals)
    drawn = _drawn(scores, pairs, coefficient, intervals)
    found = [_coefficient(text, values, pairs, coefficient, drawn, intervals) for text, values in scores.items()]
    found += [
        Coefficient(score.metric, None, None, None, 0, why=score.why)
        for score in result.scores
        if score.metric not in scores
    ]
    versus = [
        _versus(a, b, scores, pairs, coefficient, drawn, intervals) for a, b in combinations(list(scores), 2)
    ]
    best = _best(result, rows, pairs, intervals, folds) if fit else None
    return Correlations(
        coefficient,
        against,
        len(rated.items),
        len(rated.raters),
        rated.rated,
        result.scores[0].signature if result.scores else "",
        tuple(found),
        tuple(versus),
        best,
        tuple(notes),
    )


def _scores(result: Result, text: str) -> Array:
    return np.array(list(result.per_dialogue(text).values()))


def _notes(result: Result, rated: Ratings, pairs: Pairs, coefficient: str, intervals: Intervals) -> list[str]:
    notes = []
    if len(rated.items) < len(result.dialogues):
        notes.append(f"{len(result.dialogues) - len(rated.items)} dialogues that nobody rated are left out")
    if len(rated.raters) == 1:
        notes.append("one rater: intervals are over conversations only, and say nothing about other raters")
    if rated.constant:
        notes.append("all ratings are equal: no coefficient is defined")
    elif coefficient == "pointbiserial" and len(np.unique(pairs.rating)) != 2:
        told = " (ratings in their mean take more; use --against each)" if pairs.against == "mean" else ""
        notes.append(f"point-biserial needs two values of ratings{told}")
    if intervals.level is not None and pairs.groups < 2:
        notes.append("no interval: one conversation")
    return notes


def _at(values: Array, pairs: Pairs, coefficient: str, rating: Array, weight: Array) -> float:
    """The coefficient over the conversations in which the metric is defined."""
    own = values[pairs.row]
    kept = ~np.isnan(own)
    return COEFFICIENTS[coefficient](own[kept], rating[kept], weight[kept])


def _drawn(scores: Mapping[str, Array], pairs: Pairs, coefficient: str, intervals: Intervals) -> dict[str, Array]:
    """Each metric's coefficient in every resample, all over the same draws."""
    if intervals.level is None or pairs.groups < 2:
        return {}
    rows = [
        [_at(values, pairs, coefficient, rating, weight) for values in scores.values()]
        for rating, weight in unit_resamples(pairs, intervals)
    ]
    return dict(zip(scores, np.array(rows).T, strict=True))


def _coefficient(
    text: str,
    values: Array,
    pairs: Pairs,
    coefficient: str,
    drawn: Mapping[str, Array],
    intervals: Intervals,
) -> Coefficient:
    value = _at(values, pairs, coefficient, pairs.rating, pairs.weight)
    conversations = int((~np.isnan(values)).sum())
    if math.isnan(value):
        flat = len(np.unique(values[~np.isnan(values)])) < 2
        why = "the metric has one value in all conversations" if flat else "ratings do not allow it"
        return Coefficient(text, None, None, None, conversations, why=why)
    low, high, dropped = _between(drawn.get(text), intervals)
    return Coefficient(text, value, low, high, conversations, dropped)


def _between(values: Array | None, intervals: Intervals) -> tuple[float | None, float | None, int]:
    if values is None or intervals.level is None:
        return None, None, 0
    found = percentile(values, intervals.level)
    return or_none(found.low), or_none(found.high), found.dropped


def _versus(
    a: str,
    b: str,
    scores: Mapping[str, Array],
    pairs: Pairs,
    coefficient: str,
    drawn: Mapping[str, Array],
    intervals: Intervals,
) -> Versus:
    """Two metrics over the conversations in which both are defined, each turned so that more is better."""
    both = ~np.isnan(scores[a]) & ~np.isnan(scores[b])
    kept = pairs.without(~both)
    signs = [-1 if parse(name).lower_is_better else 1 for name in (a, b)]
    one, other = (
        sign * _at(np.where(both, scores[name], np.nan), kept, coefficient, kept.rating, kept.weight)
        for name, sign in zip((a, b), signs, strict=True)
    )
    shared = COEFFICIENTS["pearson" if coefficient == "pointbiserial" else coefficient](
        signs[0] * scores[a][both], signs[1] * scores[b][both], None
    )
    # Where only one of them is defined, their own draws are not over the same conversations.
    alike = bool((np.isnan(scores[a]) == np.isnan(scores[b])).all())
    low, high, _ = _between(signs[0] * drawn[a] - signs[1] * drawn[b] if drawn and alike else None, intervals)
    why = _no_test(pairs, coefficient, one, other, shared)
    t = p = z = p_steiger = None
    if not why:
        t, p = map(or_none, williams(one, other, shared, int(both.sum())))
        z, p_steiger = map(or_none, steiger(one, other, shared, int(both.sum())))
        why = "" if p is not None else "the two are alike in every conversation, or too few conversations"
    return Versus(a, b, or_none(one - other), low, high, or_none(shared), t, p, z, p_steiger, why)


def _no_test(pairs: Pairs, coefficient: str, one: float, other: float, shared: float) -> str:
    if any(map(math.isnan, (one, other, shared))):
        return "a coefficient is undefined"
    if coefficient != "pearson":
        return "the tests are for Pearson's r"
    if pairs.against != "mean":
        return "the tests need independent units: mean ratings"
    return "" if pairs.groups == len(pairs.group) else "the tests need independent units: one item a dialogue"


def _best(result: Result, rows: Array, pairs: Pairs, intervals: Intervals, folds: int) -> LambdaFit:
    text = next((text for text in result.counts if result.metrics[text].name == "FGA"), None)
    if text is None:
        raise ReadError(where="best lambda", expected="FGA among the metrics", found=", ".join(result.metrics))
    metric = result.metrics[text]
    if metric.get("average") == "dialogue":
        raise OptionError(
            where=text, expected="FGA over turns: each conversation is on its own", found="average=dialogue"
        )
    return fit_lambda(metric, result.counts[text][rows], pairs, intervals, folds)
