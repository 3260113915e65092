"""What tells two results on the same dialogues apart: differences with intervals, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dsteval.metrics import Counts, Metric, parse, total
from dsteval.metrics.base import Array
from dsteval.metrics.dialogue_match import DialogueMatch
from dsteval.results.result import Result, or_none
from dsteval.stats.bootstrap import TOLERANCE, Interval, bca, jackknife
from dsteval.stats.intervals import Intervals
from dsteval.stats.paired import Paired, holm, mcnemar, padded, paired_bootstrap, permutation

__all__ = ["TESTS", "Difference", "Shared", "bootstrapped", "differences", "told"]

TESTS = ("bootstrap", "permutation")


@dataclass(frozen=True)
class Difference:
    """How far ``a`` is above ``b`` by one metric, a fraction, or in the unit of a metric that is none.

    ``low``, ``high`` and the standard ``error`` are those of the difference over resampled dialogues, None without
    an interval; ``p`` is that of ``test``, ``p_holm`` the same after Holm over all pairs of this metric, None
    without a test. ``note`` says why something is None, and what else to know.
    """

    metric: str
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    error: float | None
    test: str
    p: float | None
    p_holm: float | None = None
    note: str = ""

    @property
    def scale(self) -> int:
        """What the numbers are shown times: 100, points, where the metric is one in per cent."""
        return parse(self.metric).scale

    @property
    def worse(self) -> str:
        """The worse of the two; none where they are equal or one is undefined."""
        if self.difference is None or abs(self.difference) <= TOLERANCE:
            return ""
        return self.b if (self.difference > 0) != parse(self.metric).lower_is_better else self.a

    def turned(self) -> Difference:
        """The same with a and b exchanged."""
        low, high = _minus(self.high), _minus(self.low)
        return replace(self, a=self.b, b=self.a, difference=_minus(self.difference), low=low, high=high)


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


@dataclass(frozen=True)
class Shared(Intervals):
    """Intervals whose resampled sums are made once, for all systems and metrics: ``drawn``, by id of the counts.

    ``throughout`` tells by system's name which dialogues are right at every turn. With one dialogue there are no
    draws.
    """

    drawn: dict[int, Counts] = field(default_factory=dict)
    throughout: dict[str, Counts] = field(default_factory=dict)

    @classmethod
    def over(cls, intervals: Intervals, results: Sequence[Result]) -> Shared:
        """The draws for results on the same dialogues in the same order, which are to be kept while these are."""
        throughout = {one.name: found for one in results if (found := _throughout(one)) is not None}
        counts = [counts for one in results for counts in one.counts.values()] + list(throughout.values())
        drawn = intervals.sums(counts) if counts and len(results[0].dialogues) > 1 else {}
        return cls(intervals.level, intervals.resamples, intervals.seed, intervals.method, drawn, throughout)

    def sums(self, counts: Sequence[Counts]) -> dict[int, Counts]:
        """The sums that were drawn."""
        return self.drawn


def _throughout(result: Result) -> Counts | None:
    """Per dialogue 1, and whether every turn is right, from a JGA that is a plain share of turns; else None."""
    for text, counts in result.counts.items():
        metric = result.metrics[text]
        if metric.name == "JGA" and (metric.get("average"), metric.get("turns")) == ("turn", "all"):
            turns, right = counts.T
            return np.stack([turns > 0, (turns > 0) & (right == turns)], axis=1).astype(np.int64)
    return None


def differences(pairs: Sequence[tuple[Result, Result]], shared: Shared, test: str) -> Iterator[Difference]:
    """Every metric's pairs, Holm over them; then by McNemar, where JGA tells, the dialogues right throughout."""
    for text in dict.fromkeys(score.metric for score in pairs[0][0].scores):
        yield from _with_holm([_difference(text, a, b, shared, test) for a, b in pairs])
    if all(one.name in shared.throughout for pair in pairs for one in pair):
        yield from _with_holm([_match(a, b, shared) for a, b in pairs])


def _with_holm(found: list[Difference]) -> Iterator[Difference]:
    adjusted = holm([math.nan if one.p is None else one.p for one in found])
    for one, p in zip(found, adjusted, strict=True):
        yield replace(one, p_holm=or_none(p))


def _difference(text: str, a: Result, b: Result, shared: Shared, test: str) -> Difference:
    """One metric of one pair."""
    lacking = next((one for one in (a, b) if one[text].value is None), None)
    if lacking is not None:
        found = Difference(text, a.name, b.name, None, None, None, None, f"paired-{test}", None)
        return replace(found, note=f"undefined for {lacking.name}: {lacking[text].why}")
    metric, counts = a.metrics[text], padded(a.counts[text], b.counts[text])
    found, p = _measured(text, a, b, metric, (a.counts[text], b.counts[text]), shared)
    if test == "permutation" and shared.drawn:
        p = permutation(*counts, metric.value, shared.resamples, shared.seed).p
    alike = "alike in every dialogue" if np.array_equal(*counts) else ""
    note = "; ".join(filter(None, (alike, found.note)))
    return replace(found, test=f"paired-{test}", p=or_none(p), note=note)


def _match(a: Result, b: Result, shared: Shared) -> Difference:
    """The dialogues that are right at every turn, by McNemar's test."""
    counts = (shared.throughout[a.name], shared.throughout[b.name])
    found, _ = _measured(str(DialogueMatch), a, b, DialogueMatch, counts, shared)
    if not shared.drawn:
        return found
    right, other = (one[:, 1] == 1 for one in counts)
    only_a, only_b = int((right & ~other).sum()), int((other & ~right).sum())
    note = "; ".join(filter(None, (f"right throughout: {only_a} only in a, {only_b} only in b", found.note)))
    return replace(found, p=mcnemar(only_a, only_b), note=note)


def _measured(
    text: str, a: Result, b: Result, metric: Metric, counts: tuple[Counts, Counts], shared: Shared
) -> tuple[Difference, float]:
    """The difference with its interval, and the p of the paired bootstrap."""
    points = [float(metric.value(total(one))) for one in counts]
    found = Difference(text, a.name, b.name, points[0] - points[1], None, None, None, "mcnemar", None)
    if not shared.drawn:
        note = f"intervals and tests need 2 dialogues or more, found {len(a.dialogues)}"
        return replace(found, note=note), math.nan
    own, other = (metric.value(shared.drawn[id(one)]) for one in counts)
    paired = bootstrapped(metric, counts, (own, other), shared)
    note = told(paired.interval)
    if shared.level is None:
        return replace(found, note=note), paired.p
    low, high, error = (or_none(value) for value in paired.interval[:3])
    return replace(found, low=low, high=high, error=error, note=note), paired.p


def bootstrapped(
    metric: Metric, counts: tuple[Counts, Counts], drawn: tuple[Array, Array], intervals: Intervals
) -> Paired:
    """The paired bootstrap of two systems, from counts and from values [resamples] over the same draws.

    The interval is of the kind that ``intervals`` names, at its level, or 0.95 without one.
    """
    points = [float(metric.value(total(one))) for one in counts]
    level = intervals.level or 0.95
    found = paired_bootstrap(*drawn, points[0], points[1], level)
    if intervals.method == "percentile":
        return found
    left = jackknife(counts[0], metric.value) - jackknife(counts[1], metric.value)
    return found._replace(interval=bca(drawn[0] - drawn[1], found.difference, left, level))


def told(found: Interval) -> str:
    """What is to be said of an interval: why there is none, and how many resamples were left out."""
    dropped = f"{found.dropped} resamples undefined and left out" if found.dropped else ""
    return "; ".join(filter(None, (found.note, dropped)))
