"""FGA as a function of lambda: the curves of several systems, where they cross, and who leads in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from dsteval.errors import MetricError
from dsteval.metrics import parse, total
from dsteval.metrics.base import Array
from dsteval.metrics.fga import FGA
from dsteval.results.aligned import check_same_rows
from dsteval.results.result import Result, finite
from dsteval.stats.bootstrap import TOLERANCE
from dsteval.stats.ranking import Lead, crossings, curve, intervals_of_winner

__all__ = ["Crossing", "LambdaRanking", "Leaders", "over_lambda"]

LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0, 2.0, math.inf)

_WIDEST = 150  # columns; exact crossings of wider histograms take too long
_GRID = np.geomspace(1e-4, 12, 1201)  # beyond 12, curves differ from their end by too little to tell


@dataclass(frozen=True)
class Crossing:
    """Where the curves of two systems cross, rising; ``identical`` curves do nowhere."""

    a: str
    b: str
    points: tuple[float, ...]
    identical: bool


@dataclass(frozen=True)
class Leaders:
    """Who leads between two lambdas; more than one where curves are identical."""

    low: float
    high: float
    systems: tuple[str, ...]


@dataclass(frozen=True)
class LambdaRanking:
    """What ``over_lambda`` returns.

    ``curves`` holds a value for each of ``lambdas``, system by system. ``leaders`` are those of the open
    intervals between 0 and infinity; ``at_zero`` leads by JGA, ``at_infinity`` by TurnMatch. ``exact`` is False
    where crossings were looked for on a grid.
    """

    variant: str
    systems: tuple[str, ...]
    dialogues: int
    turns: int
    lambdas: tuple[float, ...]
    curves: tuple[tuple[float, ...], ...]
    crossings: tuple[Crossing, ...]
    at_zero: tuple[str, ...]
    leaders: tuple[Leaders, ...]
    at_infinity: tuple[str, ...]
    exact: bool = True
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The ranking as JSON has it, with infinity as the text ``inf``."""
        found = asdict(self)
        found["lambdas"] = list(map(finite, self.lambdas))
        found["leaders"] = [{**asdict(one), "high": finite(one.high)} for one in self.leaders]
        return found


def over_lambda(
    results: Sequence[Result], variant: str | None = None, lambdas: Sequence[float] = ()
) -> LambdaRanking:
    """FGA of each system at every lambda from 0 to infinity: curves, exact crossings, leaders.

    ``variant`` is one of FGA's; by default that of the results' own FGA. ``lambdas`` are shown beside 0, 0.25,
    0.5, 0.75, 1, 2 and inf. The order of two systems is settled by integers, not by rounded values.

    Raises MetricError where a result has not counted FGA in that variant, and as ``rows.rows`` for results that
    cannot stand side by side.

    >>> from dsteval import evaluate
    >>> ref = {"d": [{"a-x": "1"}] * 3}
    >>> early, late = {"d": [{}] * 3}, {"d": [{"a-x": "1"}, {"a-x": "2"}, {"a-x": "3"}]}
    >>> found = over_lambda([evaluate(ref, early, name="early"), evaluate(ref, late, name="late")])
    >>> found.at_zero, [round(point, 4) for point in found.crossings[0].points], found.at_infinity
    (('late',), [0.4812], ('early',))
    """
    check_same_rows(results)
    variant = variant or _variant(results[0])
    sums = [_histogram(one, variant) for one in results]
    names = tuple(one.name for one in results)
    shown = tuple(sorted({*LAMBDAS, *((FGA @ number).number or 0.0 for number in lambdas)}))
    curves = tuple(tuple(map(float, curve(one, shown))) for one in sums)
    exact = max(map(len, sums)) <= _WIDEST
    found, leads = (_exact if exact else _on_grid)(sums)
    crossed = tuple(
        Crossing(names[a], names[b], *each) for (a, b), each in zip(_pairs(len(names)), found, strict=True)
    )
    return LambdaRanking(
        variant,
        names,
        len(results[0].dialogues),
        sum(results[0].turns_per_dialogue),
        shown,
        curves,
        crossed,
        _named(names, _most([int(one[1]) for one in sums])),
        tuple(Leaders(lead.low, lead.high, _named(names, lead.systems)) for lead in leads),
        _named(names, _most([int(one[1:].sum()) for one in sums])),
        exact,
        () if exact else (_told(max(map(len, sums))),),
    )


def _told(columns: int) -> str:
    return (
        f"errors are inherited over up to {columns - 3} turns: crossings are looked for on a grid of "
        f"{len(_GRID)} lambdas from {_GRID[0]:g} to {_GRID[-1]:g}, exactly only up to {_WIDEST - 3} turns"
    )


def _variant(result: Result) -> str:
    """The variant that the result's FGA has where none was typed, or that of its first FGA."""
    own = [(text, metric) for text, metric in result.metrics.items() if metric.name == "FGA"]
    if not own:
        raise MetricError(where=result.name, expected="FGA among its metrics", found="none", remedy=_REMEDY)
    plain = [metric for text, metric in own if "variant" not in dict(parse(text).given)]
    return (plain or [own[0][1]])[0].get("variant")


_REMEDY = "Score the predictions with FGA@0.5; one lambda gives all."


def _histogram(result: Result, variant: str) -> Array:
    """The summed histogram of a variant, out of the counts that are kept, or out of the outcomes."""
    for text, metric in result.metrics.items():
        if (metric.name, metric.given) in _spellings(variant) and text in result.counts:
            return total(result.counts[text])
    wanted = FGA(variant=variant)
    if result.outcomes is None:
        remedy = f"Score the predictions with {wanted}@0.5; one lambda gives all."
        raise MetricError(where=result.name, expected=f"counts of {wanted}", found="none", remedy=remedy)
    if why := wanted.unavailable_reason(result.outcomes):
        raise MetricError(where=f"{result.name}, {wanted}", found=f"no value: {why}")
    return total(wanted.count(result.outcomes))


def _spellings(variant: str) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
    """The parameters, typed or not, that mean this variant over turns."""
    wanted = [FGA(variant=variant), FGA(variant=variant, average="turn")]
    if variant == FGA.get("variant"):
        wanted += [FGA, FGA(average="turn")]
    return {(metric.name, metric.given) for metric in wanted}


def _pairs(systems: int) -> list[tuple[int, int]]:
    return list(combinations(range(systems), 2))


def _named(names: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(names[place] for place in places)


def _most(numbers: Sequence[float]) -> tuple[int, ...]:
    most = max(numbers)
    return tuple(place for place, number in enumerate(numbers) if number >= most - TOLERANCE)


_Crossed = list[tuple[tuple[float, ...], bool]]


def _exact(sums: Sequence[Array]) -> tuple[_Crossed, list[Lead]]:
    found = [crossings(sums[a], sums[b]) for a, b in _pairs(len(sums))]
    return [(one.points, one.identical) for one in found], intervals_of_winner(sums)


def _on_grid(sums: Sequence[Array]) -> tuple[_Crossed, list[Lead]]:
    """Sign changes between points of the grid, each told by the geometric mean of the two."""
    values = np.stack([curve(one, _GRID) for one in sums])
    found: _Crossed = []
    for a, b in _pairs(len(sums)):
        apart = values[a] - values[b]
        seen = np.flatnonzero(np.abs(apart) > TOLERANCE)
        turns = [(one, two) for one, two in pairwise(seen) if apart[one] * apart[two] < 0]
        found.append((tuple(math.sqrt(_GRID[one] * _GRID[two]) for one, two in turns), not len(seen)))
    leads: list[Lead] = []
    for number, column in enumerate(values.T):
        first = _most(column.tolist())
        if not leads:
            leads.append(Lead(0.0, math.inf, first))
        elif leads[-1].systems != first:
            bound = math.sqrt(_GRID[number - 1] * _GRID[number])
            leads[-1] = leads[-1]._replace(high=bound)
            leads.append(Lead(bound, math.inf, first))
    return found, leads
