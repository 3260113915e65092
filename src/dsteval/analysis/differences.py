"""What tells two results on the same dialogues apart: differences with intervals, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np

from dsteval.metrics import Counts, Metric, parse, total
from dsteval.metrics.dialogue_match import DialogueMatch
from dsteval.outcomes.table import Array
from dsteval.results.result import Result, or_none
from dsteval.stats.bootstrap import TOLERANCE, bca, jackknife
from dsteval.stats.intervals import Intervals
from dsteval.stats.paired import holm, mcnemar, padded, paired_bootstrap, permutation

TESTS = ("bootstrap", "permutation")


@dataclass(frozen=True)
class Difference:
    """How far ``a`` is above ``b`` by one metric, a fraction, or in the unit of a metric that is none.

    ``low``, ``high`` and the standard ``error`` are those of the difference over resampled dialogues, None without
    an interval; ``p`` is that of ``test`` (the paired bootstrap where it is empty), ``p_holm`` the same after Holm
    over all pairs of this metric, None without a test. ``floor`` is the smallest p that so many resamples can
    tell, None where there is none. ``note`` says why something is None, and what else to know.
    """

    metric: str
    a: str
    b: str
    difference: float | None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    test: str = ""
    p: float | None = None
    p_holm: float | None = None
    note: str = ""
    floor: float | None = None

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
        values = (self.difference, self.high, self.low)
        difference, low, high = (None if value is None else 0.0 - value for value in values)
        return replace(self, a=self.b, b=self.a, difference=difference, low=low, high=high)

    def to_dict(self, *names: str) -> dict[str, Any]:
        """Some of the fields, as JSON has them where not all are told."""
        return {name: getattr(self, name) for name in names}


SHOWN = tuple(one.name for one in fields(Difference) if one.name != "floor")
"""The fields of a difference that JSON and CSV have."""

Measured: TypeAlias = tuple[str, Counts | None, Array | None]
"""A system's name, its counts, None where the metric is undefined, and values [resamples], None without draws."""


def difference_of(text: str, metric: Metric, a: Measured, b: Measured, intervals: Intervals) -> Difference:
    """The difference of two systems with its interval and the p of the paired bootstrap.

    The two are drawn together; without draws only the difference is told. The interval is of the kind that
    ``intervals`` names, at its level; without one there is a p alone.
    """
    (name_a, counts_a, drawn_a), (name_b, counts_b, drawn_b) = a, b
    points = [math.nan if one is None else float(metric.value(total(one))) for one in (counts_a, counts_b)]
    plain = Difference(text, name_a, name_b, or_none(points[0] - points[1]))
    if counts_a is None or counts_b is None or drawn_a is None or drawn_b is None:
        return plain
    level = intervals.level or 0.95
    difference, interval, p = paired_bootstrap(drawn_a, drawn_b, points[0], points[1], level)
    if intervals.method == "bca":
        left = jackknife(counts_a, metric.value) - jackknife(counts_b, metric.value)
        interval = bca(drawn_a - drawn_b, difference, left, level)
    dropped = f"{interval.dropped} resamples are undefined and left out" if interval.dropped else ""
    note = _joined(interval.note, dropped)
    low, high, error = map(or_none, interval[:3]) if intervals.level is not None else (None, None, None)
    floor = 2 / (1 + len(drawn_a))
    return replace(plain, low=low, high=high, error=error, p=or_none(p), note=note, floor=floor)


def with_holm(pairs: Sequence[Difference]) -> Iterator[Difference]:
    """All pairs of one metric with their p after Holm."""
    adjusted = holm([math.nan if pair.p is None else pair.p for pair in pairs])
    for pair, p in zip(pairs, adjusted, strict=True):
        yield replace(pair, p_holm=or_none(p))


@dataclass(frozen=True)
class SharedDraws(Intervals):
    """Intervals whose resampled sums are made once, for all systems and metrics: ``drawn``, by id of the counts.

    ``throughout`` tells by system's name which dialogues are right at every turn. With one dialogue there are no
    draws.
    """

    drawn: dict[int, Counts] = field(default_factory=dict)
    throughout: dict[str, Counts] = field(default_factory=dict)

    @classmethod
    def over(cls, intervals: Intervals, results: Sequence[Result]) -> SharedDraws:
        """The draws for results on the same dialogues in the same order, which are to be kept while these are."""
        throughout = {result.name: right for result in results for right in _throughout(result)}
        counts = [counts for result in results for counts in result.counts.values()] + list(throughout.values())
        drawn = intervals.sums(counts) if counts and len(results[0].dialogues) > 1 else {}
        return cls(intervals.level, intervals.resamples, intervals.seed, intervals.method, drawn, throughout)

    def sums(self, counts: Sequence[Counts]) -> dict[int, Counts]:
        """The sums that were drawn."""
        return self.drawn


def _throughout(result: Result) -> Iterator[Counts]:
    """Per dialogue 1, and whether every turn is right, from a JGA that is a plain share of turns, if any is."""
    for text, counts in result.counts.items():
        metric = result.metrics[text]
        if metric.name == "JGA" and (metric.get("average"), metric.get("turns")) == ("turn", "all"):
            turns, right = counts.T
            yield np.stack([turns > 0, (turns > 0) & (right == turns)], axis=1).astype(np.int64)


def differences(pairs: Sequence[tuple[Result, Result]], shared: SharedDraws, test: str) -> Iterator[Difference]:
    """Every metric's pairs, Holm over them; then by McNemar, where JGA tells, the fully correct dialogues."""
    for text in pairs[0][0].metrics:
        yield from with_holm([_difference(text, a, b, shared, test) for a, b in pairs])
    if all(result.name in shared.throughout for pair in pairs for result in pair):
        yield from with_holm([_match(a, b, shared) for a, b in pairs])


def _difference(text: str, a: Result, b: Result, shared: SharedDraws, test: str) -> Difference:
    """One metric of one pair."""
    for result in (a, b):
        if result[text].value is None:
            note = f"undefined for {result.name}: {result[text].why}"
            return Difference(text, a.name, b.name, None, test=f"paired-{test}", note=note)
    metric, counts_a, counts_b = a.metrics[text], a.counts[text], b.counts[text]
    measured = _measured(text, metric, {a.name: counts_a, b.name: counts_b}, shared)
    p = measured.p
    if test == "permutation" and shared.drawn:
        swapped = permutation(counts_a, counts_b, metric.value, shared.resamples, shared.seed)
        p = or_none(swapped.p)
        measured = replace(measured, floor=None if swapped.exact else 1 / (1 + swapped.resamples_used))
    alike = "identical in every dialogue" if np.array_equal(*padded(counts_a, counts_b)) else ""
    return replace(measured, test=f"paired-{test}", p=p, note=_joined(alike, measured.note))


def _match(a: Result, b: Result, shared: SharedDraws) -> Difference:
    """The dialogues that are right at every turn, by McNemar's test."""
    counts = {one.name: shared.throughout[one.name] for one in (a, b)}
    measured = replace(_measured(str(DialogueMatch), DialogueMatch, counts, shared), test="mcnemar")
    if not shared.drawn:
        return measured
    right, other = (one[:, 1] == 1 for one in counts.values())
    only_a, only_b = int((right & ~other).sum()), int((other & ~right).sum())
    note = _joined(f"fully correct dialogues: {only_a} only {a.name}, {only_b} only {b.name}", measured.note)
    return replace(measured, p=mcnemar(only_a, only_b), note=note, floor=None)


def _measured(text: str, metric: Metric, counts: Mapping[str, Counts], shared: SharedDraws) -> Difference:
    """The difference of two systems, from their counts by their names."""
    drawn = {id(one): metric.value(shared.drawn[id(one)]) for one in counts.values() if shared.drawn}
    a, b = ((name, one, drawn.get(id(one))) for name, one in counts.items())
    measured = difference_of(text, metric, a, b, shared)
    few = f"intervals and tests need at least 2 dialogues, found {len(a[1])}"
    return measured if shared.drawn else replace(measured, note=few)


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
