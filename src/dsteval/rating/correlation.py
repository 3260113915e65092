"""Do metrics agree with people: correlation of scores and ratings, and whether one metric's is higher."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import ReadError, first_few, require, require_known
from dsteval.metrics import parse
from dsteval.outcomes.table import Array
from dsteval.rating.fitting import LambdaFit, fit_lambda
from dsteval.rating.pairs import RatedPairs, bounds, paired, unit_resamples
from dsteval.rating.ratings import Ratings, Study
from dsteval.results.result import Result, or_none
from dsteval.stats.agreement import COEFFICIENTS, steiger, williams
from dsteval.stats.intervals import Intervals


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
class CoefficientDifference:
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
class Correlations(Study):
    """What ``correlate`` returns."""

    coefficient: str
    against: str
    conversations: int
    raters: int
    ratings: int
    signature: str
    metrics: tuple[Coefficient, ...]
    pairs: tuple[CoefficientDifference, ...]
    best_lambda: LambdaFit | None = None
    notes: tuple[str, ...] = ()


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
    each. Intervals are percentiles over conversations, and over raters where there are two or more, both
    resampled; ``dialogues`` gives the dialogue of each item, and items of one dialogue are drawn together. ``fit``
    looks for the best lambda of the result's first FGA. Tests of differences are there for Pearson's r with mean
    ratings, whose conversations count as independent.

    Raises OptionError for unknown words and ReadError for ratings of items that the result lacks.
    """
    require_known("value of --coefficient", coefficient, COEFFICIENTS)
    rated = ratings.of(result.dialogues)
    place = {canonical_id(dialogue): number for number, dialogue in enumerate(result.dialogues)}
    require(rated.items, "ratings", "at least one rating", "none", ReadError)
    lacking = [item for item in rated.items if dialogues is not None and canonical_id(item) not in dialogues]
    extent = f"{len(lacking)} of {len(rated.items)} items lack it"
    require(not lacking, "--key", f"the dialogue of every item ({extent})", first_few(lacking), ReadError)
    rows = np.array([place[canonical_id(item)] for item in rated.items], dtype=int)
    groups = None if dialogues is None else [dialogues[canonical_id(item)] for item in rated.items]
    scores = {text: np.array(list(result.per_dialogue(text).values()))[rows] for text in result.counts}
    correlator = _Correlator(paired(rated, against, groups), coefficient, intervals or Intervals(), scores)
    undefined = (score for score in result.scores if score.metric not in scores)
    without = (Coefficient(score.metric, None, None, None, 0, why=score.why) for score in undefined)
    return Correlations(
        coefficient,
        against,
        len(rated.items),
        len(rated.raters),
        rated.rated,
        result.scores[0].signature if result.scores else "",
        (*map(correlator.coefficient_of, scores), *without),
        tuple(correlator.difference(a, b) for a, b in combinations(scores, 2)),
        _best(result, rows, correlator.pairs, correlator.intervals, folds) if fit else None,
        tuple(_notes(result, rated, correlator)),
    )


@dataclass(frozen=True, eq=False)
class _Correlator:
    """Coefficients of ``scores`` [conversations] by metric with the ratings of ``pairs``."""

    pairs: RatedPairs
    coefficient: str
    intervals: Intervals
    scores: Mapping[str, Array]

    @cached_property
    def drawn(self) -> dict[str, Array]:
        """Each metric's coefficient in every resample, all over the same draws."""
        rows = [
            [self._at(values, rating, weight) for values in self.scores.values()]
            for rating, weight in unit_resamples(self.pairs, self.intervals)
        ]
        drawn = np.array(rows).reshape(len(rows), len(self.scores))
        return dict(zip(self.scores, drawn.T, strict=True))

    def _at(self, values: Array, rating: Array, weight: Array) -> float:
        """The coefficient over the conversations in which the metric is defined."""
        paired_values = values[self.pairs.row]
        kept = ~np.isnan(paired_values)
        return COEFFICIENTS[self.coefficient](paired_values[kept], rating[kept], weight[kept])

    def coefficient_of(self, metric: str) -> Coefficient:
        values = self.scores[metric]
        value = self._at(values, self.pairs.rating, self.pairs.weight)
        defined = values[~np.isnan(values)]
        if math.isnan(value):
            flat = len(np.unique(defined)) < 2
            why = "the metric has the same value in all conversations" if flat else "ratings do not allow it"
            return Coefficient(metric, None, None, None, len(defined), why=why)
        low, high, dropped = bounds(self.drawn[metric], self.intervals)
        return Coefficient(metric, value, low, high, len(defined), dropped)

    def difference(self, a: str, b: str) -> CoefficientDifference:
        """Two metrics over the conversations in which both are defined, each turned so that more is better."""
        sign_a, sign_b = (-1 if parse(metric).lower_is_better else 1 for metric in (a, b))
        defined_a, defined_b = ~np.isnan(self.scores[a]), ~np.isnan(self.scores[b])
        both = defined_a & defined_b
        r_a, r_b = (
            sign * self._at(np.where(both, self.scores[metric], np.nan), self.pairs.rating, self.pairs.weight)
            for sign, metric in ((sign_a, a), (sign_b, b))
        )
        between = COEFFICIENTS["pearson" if self.coefficient == "pointbiserial" else self.coefficient]
        r_ab = between(sign_a * self.scores[a][both], sign_b * self.scores[b][both], None)
        # Where only one of them is defined, their own draws are not over the same conversations.
        alike = np.array_equal(defined_a, defined_b)
        drawn = sign_a * self.drawn[a] - sign_b * self.drawn[b] if alike else np.zeros(0)
        low, high, _ = bounds(drawn, self.intervals)
        why, tests = self._no_test(r_a, r_b, r_ab), [math.nan] * 4
        if not why:
            tests = [*williams(r_a, r_b, r_ab, int(both.sum())), *steiger(r_a, r_b, r_ab, int(both.sum()))]
            if math.isnan(tests[1]):
                why = "the two are identical in every conversation, or there are too few conversations"
        t, p, z, p_steiger = map(or_none, tests)
        return CoefficientDifference(a, b, or_none(r_a - r_b), low, high, or_none(r_ab), t, p, z, p_steiger, why)

    def _no_test(self, *coefficients: float) -> str:
        """Why Williams' and Steiger's tests cannot be had."""
        if any(map(math.isnan, coefficients)):
            return "a coefficient is undefined"
        if self.coefficient != "pearson":
            return "the tests are for Pearson's r"
        if self.pairs.against != "mean":
            return "the tests need independent units: use mean ratings"
        one_each = self.pairs.groups == len(self.pairs.group)
        return "" if one_each else "the tests need independent units: one item per dialogue"


def _notes(result: Result, rated: Ratings, correlator: _Correlator) -> Iterator[str]:
    pairs = correlator.pairs
    if len(rated.items) < len(result.dialogues):
        yield f"{len(result.dialogues) - len(rated.items)} dialogues without ratings are left out"
    if len(rated.raters) == 1:
        yield "only one rater: intervals cover the choice of conversations, not of raters"
    if rated.constant:
        yield "all ratings are equal: no coefficient is defined"
    elif correlator.coefficient == "pointbiserial" and len(np.unique(pairs.rating)) != 2:
        remedy = " (mean ratings can have more; use --against each)" if pairs.against == "mean" else ""
        yield f"point-biserial needs ratings with exactly two values{remedy}"
    if correlator.intervals.level is not None and pairs.groups < 2:
        yield "no interval: only one conversation"


def _best(result: Result, rows: Array, pairs: RatedPairs, intervals: Intervals, folds: int) -> LambdaFit:
    text = next((text for text in result.counts if result.metrics[text].name == "FGA"), None)
    if text is None:
        raise ReadError(where="best lambda", expected="FGA among the metrics", found=", ".join(result.metrics))
    metric = result.metrics[text]
    over_turns = metric.get("average") != "dialogue"
    require(over_turns, text, "FGA averaged over turns", "average=dialogue")
    return fit_lambda(metric, result.counts[text][rows], pairs, intervals, folds)
