"""FGA as a function of lambda: the curves of several systems, where they cross, and who leads in between."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from dsteval.errors import MetricError
from dsteval.metrics import Metric, parse, total
from dsteval.metrics.fga import FGA
from dsteval.outcomes.table import Array
from dsteval.results.aligned import check_comparable
from dsteval.results.result import Result, finite
from dsteval.stats.ranking import crossings, curve, intervals_of_winner

LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0, 2.0, math.inf)


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
    intervals between 0 and infinity; ``at_zero`` leads by JGA, ``at_infinity`` by TurnMatch. ``exact`` is always
    True and ``notes`` empty: they belong to the JSON, of which earlier versions told long dialogues on a grid.
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
        leaders = [{**asdict(one), "high": finite(one.high)} for one in self.leaders]
        return asdict(self) | {"lambdas": list(map(finite, self.lambdas)), "leaders": leaders}


def over_lambda(
    results: Sequence[Result], variant: str | None = None, lambdas: Sequence[float] = ()
) -> LambdaRanking:
    """FGA of each system at every lambda from 0 to infinity: curves, crossings, leaders.

    ``variant`` is one of FGA's; by default that of the results' own FGA. ``lambdas`` are shown beside 0, 0.25,
    0.5, 0.75, 1, 2 and inf.

    Raises MetricError where a result has not counted FGA in that variant, and as ``aligned_counts`` for results
    that cannot stand side by side.

    >>> from dsteval import evaluate
    >>> ref = {"d": [{"a-x": "1"}] * 3}
    >>> early, late = {"d": [{}] * 3}, {"d": [{"a-x": "1"}, {"a-x": "2"}, {"a-x": "3"}]}
    >>> found = over_lambda([evaluate(ref, early, name="early"), evaluate(ref, late, name="late")])
    >>> found.at_zero, [round(point, 4) for point in found.crossings[0].points], found.at_infinity
    (('late',), [0.4812], ('early',))
    """
    check_comparable(results)
    variant = variant or _variant(results[0])
    sums = [_histogram(one, variant) for one in results]
    names = tuple(result.name for result in results)
    shown = tuple(sorted({*LAMBDAS, *((FGA @ number).number or 0.0 for number in lambdas)}))
    pairs = combinations(zip(names, sums, strict=True), 2)

    def leading(right: list[Any]) -> tuple[str, ...]:
        return tuple(name for name, turns in zip(names, right, strict=True) if turns == max(right))

    at_zero, at_infinity = leading([one[1] for one in sums]), leading([one[1:].sum() for one in sums])
    size = (len(results[0].dialogues), sum(results[0].turns_per_dialogue))
    curves = tuple(tuple(map(float, curve(one, shown))) for one in sums)
    crossed = tuple(Crossing(a, b, *crossings(one, other)) for (a, one), (b, other) in pairs)
    leads = intervals_of_winner(sums)
    leaders = tuple(Leaders(low, high, tuple(names[place] for place in places)) for low, high, places in leads)
    return LambdaRanking(variant, names, *size, shown, curves, crossed, at_zero, leaders, at_infinity)


def _variant(result: Result) -> str:
    """The variant that the result's FGA has where none was typed, or that of its first FGA."""
    metrics = {text: metric for text, metric in result.metrics.items() if metric.name == "FGA"}
    if not metrics:
        raise _lacking(result, "FGA among its metrics", FGA)
    first = min(metrics, key=lambda text: "variant" in dict(parse(text).given))
    return metrics[first].get("variant")


def _histogram(result: Result, variant: str) -> Array:
    """The summed histogram of a variant, out of the counts that are kept, or out of the outcomes."""
    for text, metric in result.metrics.items():
        over_turns = metric.name == "FGA" and metric.get("average") == "turn"
        if over_turns and metric.get("variant") == variant and text in result.counts:
            return total(result.counts[text])
    wanted = FGA(variant=variant)
    if result.outcomes is None:
        raise _lacking(result, f"counts of {wanted}", wanted)
    if why := wanted.unavailable_reason(result.outcomes):
        raise MetricError(where=f"{result.name}, {wanted}", found=f"no value: {why}")
    return total(wanted.count(result.outcomes))


def _lacking(result: Result, expected: str, metric: Metric) -> MetricError:
    remedy = f"Score the predictions with {metric}@0.5; any lambda will do."
    return MetricError(where=result.name, expected=expected, found="none", remedy=remedy)
