"""How many dialogues a test set needs, and what the one at hand can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from dsteval.errors import OptionError
from dsteval.metrics import Metric
from dsteval.metrics.base import Array
from dsteval.results.aligned import AlignedCounts, rows
from dsteval.results.result import Result, or_none
from dsteval.stats.bootstrap import percentile, too_few
from dsteval.stats.intervals import Intervals
from dsteval.stats.power import detectable, influence, needed, sigma

__all__ = ["Plan", "PlannedPair", "PlannedSystem", "plan"]


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
class PlannedPair:
    """Two systems by one metric: what telling them apart takes.

    ``sigma`` is the standard error of their difference per dialogue. ``needed`` dialogues tell a difference of the
    size ``target`` (the one asked for, or else the observed one); ``detectable`` is the smallest difference that
    the dialogues at hand tell. None with the reason in ``note``.
    """

    metric: str
    a: str
    b: str
    difference: float | None
    sigma: float | None
    target: float | None
    needed: int | None
    detectable: float | None
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """What ``plan`` returns."""

    dialogues: int
    turns: int
    alpha: float
    power: float
    systems: tuple[PlannedSystem, ...]
    pairs: tuple[PlannedPair, ...]

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        return asdict(self)


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
    the same kind and length. One result gives its error only. Raises as ``rows.rows`` does for results that cannot
    stand side by side, and OptionError for a difference that is not above 0.
    """
    intervals = intervals or Intervals()
    lined = rows(results, metrics, fewest=1)
    asked = difference if isinstance(difference, Mapping) else dict.fromkeys(lined.metrics, difference)
    for text, metric in lined.metrics.items():
        _check_asked(metric, asked.get(text))
    drawn = lined.resampled(intervals)
    systems: list[PlannedSystem] = []
    pairs: list[PlannedPair] = []
    for text, metric in lined.metrics.items():
        points = lined.points(text)
        moved = [None if one is None else influence(one, metric.value) for one in lined.counts[text]]
        for place, point in enumerate(points):
            systems.append(_system(lined, text, place, point, moved[place], drawn[text][place]))
        for a, b in combinations(range(len(points)), 2):
            pair = _pair(lined, text, (a, b), points[a] - points[b], (moved[a], moved[b]))
            pairs.append(_planned(pair, lined.dialogues, asked.get(text), alpha, power))
    return Plan(lined.dialogues, lined.turns, alpha, power, tuple(systems), tuple(pairs))


def _check_asked(metric: Metric, difference: float | None) -> None:
    """Raise OptionError for a difference that the metric cannot have."""
    if difference is None:
        return
    if not 0 < difference < math.inf:
        raise OptionError(where="difference", expected="a number above 0", found=str(difference))
    if metric.percent and difference > 1:
        found = f"{100 * difference:g} points"
        raise OptionError(where="difference", expected=f"at most 100 points for {metric}", found=found)


def _unavailable_reason(lined: AlignedCounts, point: float, own: float) -> str:
    """Why there is no sigma."""
    if not math.isnan(own):
        return ""
    return "the metric is undefined" if math.isnan(point) else too_few(lined.dialogues) or _UNSURE


_UNSURE = "the metric is undefined without single dialogues"


def _system(
    lined: AlignedCounts, text: str, place: int, point: float, moved: Array | None, drawn: Array | None
) -> PlannedSystem:
    own = math.nan if moved is None else sigma(moved)
    found = None if drawn is None else percentile(drawn, 0.95)
    error = None if found is None else or_none(found.error)
    dropped = found.dropped if found is not None else 0
    note = _unavailable_reason(lined, point, own) or (
        f"{dropped} resamples undefined and left out" if dropped else ""
    )
    return PlannedSystem(text, lined.systems[place], or_none(point), error, or_none(own), note)


def _pair(
    lined: AlignedCounts,
    text: str,
    pair: tuple[int, int],
    difference: float,
    moved: tuple[Array | None, Array | None],
) -> PlannedPair:
    """The pair with what is known of it before any planning."""
    one, other = moved
    own = math.nan if one is None or other is None else sigma(one - other)
    a, b = (lined.systems[place] for place in pair)
    note = _unavailable_reason(lined, difference, own)
    return PlannedPair(text, a, b, or_none(difference), or_none(own), None, None, None, note)


def _planned(pair: PlannedPair, dialogues: int, asked: float | None, alpha: float, power: float) -> PlannedPair:
    if pair.sigma is None or pair.difference is None:
        return _with(pair, asked, None, None, pair.note)
    if pair.sigma == 0:
        return _with(
            pair, asked, None, None, "the systems differ by the same in every dialogue: nothing to plan by"
        )
    told = detectable(pair.sigma, dialogues, alpha, power)
    target = asked if asked is not None else abs(pair.difference)
    if not target:
        return _with(pair, None, None, told, "the systems do not differ; say which difference is to be told")
    return _with(pair, target, needed(pair.sigma, target, alpha, power), told, "")


def _with(
    pair: PlannedPair, target: float | None, needed: int | None, detectable: float | None, note: str
) -> PlannedPair:
    return PlannedPair(pair.metric, pair.a, pair.b, pair.difference, pair.sigma, target, needed, detectable, note)
