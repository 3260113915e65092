"""How many dialogues a test set needs, and what this one can detect."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dsteval.analysis.differences import Difference
from dsteval.errors import require
from dsteval.metrics import Metric
from dsteval.results.aligned import AlignedCounts, aligned_counts
from dsteval.results.result import Result, or_none
from dsteval.stats.bootstrap import percentile, too_few
from dsteval.stats.intervals import Intervals
from dsteval.stats.power import detectable, influence, needed, sigma


@dataclass(frozen=True)
class PlannedSystem:
    """One system by one metric: its standard error with these dialogues, and ``sigma``, that of one dialogue.

    The error with D dialogues is sigma / sqrt(D). None with the reason in ``note``.
    """

    metric: str
    system: str
    value: float | None
    error: float | None
    sigma: float | None
    note: str = ""


@dataclass(frozen=True)
class PlannedDifference(Difference):
    """The difference of two systems by one metric, without an interval, and what telling it takes.

    ``sigma`` is its standard error per dialogue. ``needed`` dialogues tell a difference of the size ``target``
    (the one asked for, or else the observed one); ``detectable`` is the smallest difference that the dialogues at
    hand tell. None with the reason in ``note``.
    """

    sigma: float | None = None
    target: float | None = None
    needed: int | None = None
    detectable: float | None = None


_PAIR = ("metric", "a", "b", "difference", "sigma", "target", "needed", "detectable", "note")


@dataclass(frozen=True)
class Plan:
    """What ``plan`` returns."""

    dialogues: int
    turns: int
    alpha: float
    power: float
    systems: tuple[PlannedSystem, ...]
    pairs: tuple[PlannedDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        return asdict(self) | {"pairs": [pair.to_dict(*_PAIR) for pair in self.pairs]}


def plan(
    results: Sequence[Result],
    metrics: Sequence[str | Metric] | None = None,
    intervals: Intervals | None = None,
    difference: float | Mapping[str, float] | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Plan:
    """Standard errors of every system, and for each pair the dialogues that tell ``difference``.

    That is a fraction, or in the unit of a metric that is none; a mapping has one for each metric's text.
    The systems' errors come from resamples; sigma comes from leaving out each dialogue in turn, and numbers of
    dialogues from the normal approximation (``stats.power``): a plan, not a test. It holds for other dialogues of
    the same kind and length. One result gives its error only. Raises as ``aligned_counts`` does for results that
    cannot stand side by side, and OptionError for a difference that is not above 0.
    """
    intervals = intervals or Intervals()
    aligned = aligned_counts(results, metrics, fewest=1)
    asked = difference if isinstance(difference, Mapping) else dict.fromkeys(aligned.metrics, difference)
    for text, metric in aligned.metrics.items():
        if (wanted := asked.get(text)) is not None:
            require(0 < wanted < math.inf, "difference", "a number above 0", wanted)
            possible = wanted <= 1 or not metric.percent
            require(possible, "difference", f"at most 100 percentage points for {metric}", f"{100 * wanted:g}")
    drawn = aligned.resampled(intervals)
    systems: list[PlannedSystem] = []
    pairs: list[PlannedDifference] = []
    for text, metric in aligned.metrics.items():
        points = aligned.points(text)
        undefined = np.full(aligned.dialogues, np.nan)
        moved = [undefined if one is None else influence(one, metric.value) for one in aligned.counts[text]]
        for name, point, one, values in zip(aligned.systems, points, moved, drawn[text], strict=True):
            interval = None if values is None else percentile(values, 0.95)
            error = None if interval is None else or_none(interval.error)
            note = _no_sigma(aligned, point, sigma(one))
            if not note and interval and interval.dropped:
                note = f"{interval.dropped} resamples are undefined and left out"
            systems.append(PlannedSystem(text, name, or_none(point), error, or_none(sigma(one)), note))
        for a, b in combinations(range(len(points)), 2):
            apart, own = points[a] - points[b], sigma(moved[a] - moved[b])
            pair = PlannedDifference(text, aligned.systems[a], aligned.systems[b], or_none(apart))
            note = _no_sigma(aligned, apart, own)
            pair = replace(pair, sigma=or_none(own), target=asked.get(text), note=note)
            pairs.append(_planned(pair, aligned.dialogues, alpha, power))
    return Plan(aligned.dialogues, aligned.turns, alpha, power, tuple(systems), tuple(pairs))


def _no_sigma(aligned: AlignedCounts, point: float, own: float) -> str:
    """Why there is no sigma; empty where there is one."""
    if not math.isnan(own):
        return ""
    if math.isnan(point):
        return "the metric is undefined"
    return too_few(aligned.dialogues) or "the metric is undefined when a dialogue is left out"


def _planned(pair: PlannedDifference, dialogues: int, alpha: float, power: float) -> PlannedDifference:
    difference, sigma = pair.difference, pair.sigma
    if difference is None or sigma is None:
        return pair
    if sigma == 0:
        return replace(
            pair, note="the difference is the same in every dialogue, so no sample size can be estimated"
        )
    pair = replace(pair, detectable=detectable(sigma, dialogues, alpha, power))
    target = abs(difference) if pair.target is None else pair.target
    if not target:
        return replace(pair, note="the systems do not differ; give the difference to detect")
    return replace(pair, target=target, needed=needed(sigma, target, alpha, power))
