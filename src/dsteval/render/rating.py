"""The tables of ratings: how raters agree, how metrics agree with them, and plans."""

from __future__ import annotations

import math
from functools import partial

from dsteval.rating.agreement import Agreement
from dsteval.rating.correlation import Correlations
from dsteval.rating.fitting import LambdaFit
from dsteval.rating.planning import LambdaPlan, MetricPlan
from dsteval.render.table import Cell, Table
from dsteval.results import numbers

__all__ = ["agreement_tables", "correlation_tables", "fit_tables", "lambda_plan_tables", "metric_plan_tables"]

_number = partial(numbers.number, digits=3)
_between = partial(numbers.interval, digits=3)


def agreement_tables(found: Agreement) -> list[Table]:
    """The coefficients, each rater, and the items that divide them."""
    rows: list[list[Cell]] = [
        [f"Krippendorff's alpha ({found.level})", _number(found.alpha), _between(found.low, found.high)],
        ["Fleiss' kappa", _number(found.fleiss), None],
        [f"Cohen's kappa, mean of {found.pairs} pairs", _number(found.cohen), None],
    ]
    told = f"{found.items} items, {len(found.raters)} raters, {found.ratings} ratings"
    raters: list[list[Cell]] = [
        [one.rater, one.items, _number(one.mean), _number(one.bias, sign=True), _number(one.error)]
        for one in found.raters
    ]
    tables = [
        Table(["agreement", "value", "interval"], rows, frozenset({1, 2}), "Agreement", [told, *found.notes]),
        Table(
            ["rater", "items", "mean", "bias", "error"],
            raters,
            frozenset({1, 2, 3, 4}),
            "Raters",
            ["bias: mean of rating - mean of the others' ratings of the item, with its standard error"],
        ),
    ]
    if found.disputed:
        disputed: list[list[Cell]] = [
            [
                one.item,
                ", ".join(f"{times} x {value}" for value, times in one.ratings.items()),
                _number(one.variance),
            ]
            for one in found.disputed
        ]
        tables.append(Table(["item", "ratings", "variance"], disputed, frozenset({2}), "Most disputed"))
    return tables


def correlation_tables(found: Correlations) -> list[Table]:
    """Each metric's coefficient, each pair's difference, and the best lambda where it was asked for."""
    rows: list[list[Cell]] = [
        [one.metric, _number(one.value), _between(one.low, one.high), one.conversations] for one in found.metrics
    ]
    told = (
        f"{found.coefficient} with {'mean' if found.against == 'mean' else 'each'} rating; "
        f"{found.conversations} conversations, {found.raters} raters, {found.ratings} ratings"
    )
    notes = [told, *found.notes, *(f"{one.metric}: {one.why}" for one in found.metrics if one.why)]
    notes += [
        f"{one.metric}: {one.dropped} resamples undefined and left out" for one in found.metrics if one.dropped
    ]
    notes += [f"signature of {found.metrics[0].metric} {found.signature}"] if found.signature else []
    columns = ["metric", "r", "interval", "conversations"]
    tables = [Table(columns, rows, frozenset({1, 2, 3}), "Agreement with people", notes)]
    if found.pairs:
        tables.append(_versus_table(found))
    return tables + (fit_tables(found.best_lambda) if found.best_lambda else [])


def _versus_table(found: Correlations) -> Table:
    columns = [
        "a",
        "b",
        "r(a, b)",
        "difference",
        "interval",
        "Williams t",
        "p (Williams)",
        "Steiger z",
        "p (Steiger)",
    ]
    rows: list[list[Cell]] = [
        [
            *(one.a, one.b, _number(one.between), _number(one.difference, sign=True)),
            _between(one.low, one.high, sign=True),
            *(_number(one.t), _number(one.p), _number(one.z), _number(one.p_steiger)),
        ]
        for one in found.pairs
    ]
    notes = ["difference: of the coefficients, a - b; r(a, b): of the metrics with each other"]
    notes += list(dict.fromkeys(f"{one.a}, {one.b}: {one.why}" for one in found.pairs if one.why))
    return Table(columns, rows, frozenset(range(2, 9)), "Does one agree better?", notes)


def fit_tables(fit: LambdaFit) -> list[Table]:
    """The best lambda and how sure it is, and the curve."""
    between = None if fit.low is None or fit.high is None else f"{_lambda(fit.low)} .. {_lambda(fit.high)}"
    rows: list[list[Cell]] = [
        ["best lambda", _lambda(fit.value)],
        ["interval", between],
        ["r there, on the same ratings", _number(fit.r)],
        [f"r with lambda from other folds, {len(fit.folds)} folds", _number(fit.held_out)],
        ["r at lambda 0 (JGA)", _number(fit.r_zero)],
        ["r at lambda 0.5", _number(fit.r_half)],
    ]
    notes = [f"variant {fit.variant}"]
    if fit.resamples:
        ends = f"{fit.at_zero} have lambda 0, {fit.at_infinity} infinity"
        notes.append(f"of {fit.resamples} resamples of conversations and raters {ends}")
    if fit.dropped:
        notes.append(f"{fit.dropped} resamples without an r left out")
    if fit.folds:
        notes.append(f"folds choose {', '.join(map(_lambda, sorted(fit.folds)))}")
    if fit.low == 0 or fit.high == math.inf:
        notes.append("the interval has an end at 0 or infinity: these ratings do not determine lambda")
    curve: list[list[Cell]] = [
        [_lambda(number), _number(r), _between(low, high)] for number, r, low, high in fit.curve
    ]
    return [
        Table(["FGA and people", "value"], rows, frozenset({1}), "The lambda that agrees best", notes),
        Table(["lambda", "r", "interval"], curve, frozenset({0, 1, 2})),
    ]


def metric_plan_tables(plan: MetricPlan) -> list[Table]:
    """Conversations needed for each number of raters."""
    rows: list[list[Cell]] = [
        [one.raters, _number(one.r1), _number(one.r2), one.conversations, numbers.number(one.power)]
        for one in plan.needs
    ]
    told = (
        f"to tell {plan.r1:g} from {plan.r2:g} (metrics correlate {plan.r12:g}) at {100 * plan.alpha:g} % in "
        f"{100 * plan.wanted:g} % of studies, by Williams' test; {plan.repetitions} simulated studies"
    )
    notes = [told]
    if any(one.conversations is None for one in plan.needs):
        notes.append("a hyphen: a million conversations do not suffice")
    columns = ["raters", "r1", "r2", "conversations", "power"]
    return [Table(columns, rows, frozenset(range(5)), "Telling two metrics apart", notes)]


def lambda_plan_tables(plan: LambdaPlan) -> list[Table]:
    """Where estimates of lambda lie, by conversations and raters."""
    rows: list[list[Cell]] = [
        [
            *(one.raters, one.conversations, _number(one.r), f"{_lambda(one.low)} .. {_lambda(one.high)}"),
            *(_lambda(one.factor), one.at_zero, one.at_infinity),
        ]
        for one in plan.rows
    ]
    crowd = plan.crowd
    notes = [
        f"true lambda {plan.true:g}, {plan.repetitions} studies a row: the middle 95 % of their best lambdas",
        f"raters: share {crowd.share:g}, slope {crowd.slope:g}, noise {crowd.noise:g}, bias {crowd.bias:g}",
    ]
    for raters, size in plan.needed.items():
        enough = f"{size} conversations" if size else "more conversations than were tried"
        notes.append(f"{raters} raters: within a factor of {plan.factor:g} with {enough}")
    columns = ["raters", "conversations", "r", "lambda found", "factor", "at 0", "at inf"]
    return [Table(columns, rows, frozenset(range(7)), "Finding lambda", notes)]


def _lambda(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.3g}"
