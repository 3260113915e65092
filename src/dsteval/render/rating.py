"""The tables of ratings: how raters agree, how metrics agree with them, and plans."""

import math
from collections.abc import Sequence
from functools import partial

from dsteval.rating.agreement import RaterAgreement
from dsteval.rating.correlation import Correlations
from dsteval.rating.fitting import LambdaFit
from dsteval.rating.planning import LambdaPlan, MetricPlan
from dsteval.render.table import Cell, Table
from dsteval.results import numbers

_number = partial(numbers.number, digits=3)
_interval = partial(numbers.interval, digits=3)


def agreement_tables(found: RaterAgreement) -> list[Table]:
    """The coefficients, each rater, and the items that divide them."""
    coefficients = [
        [f"Krippendorff's alpha ({found.level})", _number(found.alpha), _interval(found.low, found.high)],
        ["Fleiss' kappa", _number(found.fleiss), None],
        [f"Cohen's kappa, mean of {found.pairs} pairs", _number(found.cohen), None],
    ]
    size = f"{found.items} items, {len(found.raters)} raters, {found.ratings} ratings"
    raters = [
        [one.rater, one.items, _number(one.mean), _number(one.bias, sign=True), _number(one.error)]
        for one in found.raters
    ]
    bias = "bias: mean of rating - mean of the others' ratings of the item, with its standard error"
    ratings = [", ".join(f"{times} x {value}" for value, times in one.ratings.items()) for one in found.disputed]
    disputed = [[one.item, text, _number(one.variance)] for one, text in zip(found.disputed, ratings, strict=True)]
    tables = [
        _table(["agreement", "value", "interval"], coefficients, 1, "Agreement", size, *found.notes),
        _table(["rater", "items", "mean", "bias", "error"], raters, 1, "Raters", bias),
    ]
    return tables + ([_table(["item", "ratings", "variance"], disputed, 2, "Most disputed")] if disputed else [])


def correlation_tables(found: Correlations) -> list[Table]:
    """Each metric's coefficient, each pair's difference, and the best lambda where it was asked for."""
    values = [(_number(one.value), _interval(one.low, one.high)) for one in found.metrics]
    rows = [[one.metric, *cells, one.conversations] for one, cells in zip(found.metrics, values, strict=True)]
    size = f"{found.conversations} conversations, {found.raters} raters, {found.ratings} ratings"
    notes = [f"{found.coefficient} with {'mean' if found.against == 'mean' else 'each'} rating; {size}"]
    notes += found.notes
    notes += [f"{one.metric}: {one.why}" for one in found.metrics if one.why]
    dropped = ((one.metric, one.dropped) for one in found.metrics if one.dropped)
    notes += [f"{metric}: {times} resamples undefined and left out" for metric, times in dropped]
    notes += [f"signature of {found.metrics[0].metric} {found.signature}"] if found.signature else []
    tables = [_table(["metric", "r", "interval", "conversations"], rows, 1, "Agreement with people", *notes)]
    tables += [_differences(found)] if found.pairs else []
    return tables + (fit_tables(found.best_lambda) if found.best_lambda else [])


def _differences(found: Correlations) -> Table:
    columns = ["a", "b", "r(a, b)", "difference", "interval"]
    columns += ["Williams t", "p (Williams)", "Steiger z", "p (Steiger)"]
    rows: list[list[Cell]] = []
    for one in found.pairs:
        difference, interval = _number(one.difference, sign=True), _interval(one.low, one.high, sign=True)
        tests = map(_number, (one.t, one.p, one.z, one.p_steiger))
        rows.append([one.a, one.b, _number(one.between), difference, interval, *tests])
    meaning = "difference: of the coefficients, a - b; r(a, b): of the metrics with each other"
    reasons = dict.fromkeys(f"{one.a}, {one.b}: {one.why}" for one in found.pairs if one.why)
    return _table(columns, rows, 2, "Does one agree better?", meaning, *reasons)


def fit_tables(fit: LambdaFit) -> list[Table]:
    """The best lambda and how sure it is, and the curve."""
    interval = None if fit.low is None or fit.high is None else f"{_lambda(fit.low)} .. {_lambda(fit.high)}"
    rows: list[list[Cell]] = [
        ["best lambda", _lambda(fit.value)],
        ["interval", interval],
        ["r there, on the same ratings", _number(fit.r)],
        [f"r with lambda from other folds, {len(fit.folds)} folds", _number(fit.held_out)],
        ["r at lambda 0 (JGA)", _number(fit.r_zero)],
        ["r at lambda 0.5", _number(fit.r_half)],
    ]
    notes = [f"variant {fit.variant}"]
    if fit.resamples:
        drawn = f"of {fit.resamples} resamples of conversations and raters"
        notes.append(f"{drawn} {fit.at_zero} have lambda 0, {fit.at_infinity} infinity")
    notes += [f"{fit.dropped} resamples without an r left out"] if fit.dropped else []
    notes += [f"folds choose {', '.join(map(_lambda, sorted(fit.folds)))}"] if fit.folds else []
    if fit.low == 0 or fit.high == math.inf:
        notes.append("the interval has an end at 0 or infinity: these ratings do not determine lambda")
    curve = [[_lambda(at["lambda"]), _number(at["r"]), _interval(at["low"], at["high"])] for at in fit.curve]
    return [
        _table(["FGA and people", "value"], rows, 1, "The lambda that agrees best", *notes),
        _table(["lambda", "r", "interval"], curve, 0),
    ]


def metric_plan_tables(plan: MetricPlan) -> list[Table]:
    """Conversations needed for each number of raters."""
    rows: list[list[Cell]] = [
        [one.raters, _number(one.r1), _number(one.r2), one.conversations, numbers.number(one.power)]
        for one in plan.needs
    ]
    pair = f"{plan.r1:g} from {plan.r2:g} (metrics correlate {plan.r12:g})"
    often = f"at {100 * plan.alpha:g} % in {100 * plan.wanted:g} % of studies"
    notes = [f"to tell {pair} {often}, by Williams' test; {plan.repetitions} simulated studies"]
    if any(one.conversations is None for one in plan.needs):
        notes.append("a hyphen: a million conversations do not suffice")
    return [_table(["raters", "r1", "r2", "conversations", "power"], rows, 0, "Telling two metrics apart", *notes)]


def lambda_plan_tables(plan: LambdaPlan) -> list[Table]:
    """Where estimates of lambda lie, by conversations and raters."""
    rows: list[list[Cell]] = []
    for one in plan.rows:
        cells = _number(one.r), f"{_lambda(one.low)} .. {_lambda(one.high)}", _lambda(one.factor)
        rows.append([one.raters, one.conversations, *cells, one.at_zero, one.at_infinity])
    crowd = plan.crowd
    notes = [
        f"true lambda {plan.true:g}, {plan.repetitions} studies a row: the middle 95 % of their best lambdas",
        f"raters: share {crowd.share:g}, slope {crowd.slope:g}, noise {crowd.noise:g}, bias {crowd.bias:g}",
    ]
    for raters, size in plan.needed.items():
        enough = f"{size} conversations" if size else "more conversations than were tried"
        notes.append(f"{raters} raters: within a factor of {plan.factor:g} with {enough}")
    columns = ["raters", "conversations", "r", "lambda found", "factor", "at 0", "at inf"]
    return [_table(columns, rows, 0, "Finding lambda", *notes)]


def _table(columns: list[str], rows: Sequence[Sequence[Cell]], texts: int, title: str = "", *notes: str) -> Table:
    """A table of which the first columns hold texts, the others numbers."""
    return Table(columns, rows, range(texts, len(columns)), title, notes)


def _lambda(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.3g}"
