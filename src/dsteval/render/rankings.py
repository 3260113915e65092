"""The tables of rankings, runs, two references and plans."""

from __future__ import annotations

import math

from dsteval.analysis.differences import Difference
from dsteval.analysis.rankings import Discrimination, LambdaRanking, ProtocolRanking, ResampleRanking
from dsteval.analysis.reference_change import ReferenceChange, SlotExample
from dsteval.analysis.sample_size import Plan
from dsteval.analysis.seed_runs import Repeats
from dsteval.metrics import parse
from dsteval.render.scores import in_unit
from dsteval.render.table import Cell, Table
from dsteval.results.result import Score

__all__ = [
    "discrimination_tables",
    "lambda_tables",
    "not_applicable_table",
    "plan_tables",
    "protocol_tables",
    "reference_tables",
    "repeats_tables",
    "resample_tables",
]

_DASH = "\N{EN DASH}"


def lambda_tables(ranking: LambdaRanking) -> list[Table]:
    """The curves, who leads where, and where each pair crosses."""
    rows: list[list[Cell]] = [
        [name, *map(_points, curve)] for name, curve in zip(ranking.systems, ranking.curves, strict=True)
    ]
    columns = ["system", *(f"FGA@{number:g}" for number in ranking.lambdas)]
    told = f"per cent, variant {ranking.variant}; {ranking.dialogues} dialogues, {ranking.turns} turns"
    notes = [f"{told}; FGA@0 is JGA, FGA@inf TurnMatch", *ranking.notes]
    curves = Table(columns, rows, _numbers(columns), "FGA over lambda", notes)
    leads: list[list[Cell]] = [["0 (JGA)", ", ".join(ranking.at_zero)]]
    for lead in ranking.leaders:
        leads.append([_between(lead.low, lead.high), ", ".join(lead.systems)])
    leads.append(["inf (TurnMatch)", ", ".join(ranking.at_infinity)])
    crossed: list[list[Cell]] = []
    for one in ranking.crossings:
        points = "one curve" if one.identical else ", ".join(f"{point:.4f}" for point in one.points) or "nowhere"
        crossed.append([one.a, one.b, points])
    return [curves, Table(["lambda", "leads"], leads), Table(["a", "b", "cross at lambda"], crossed)]


def _between(low: float, high: float) -> str:
    return f"{f'{low:.4f}' if low else 0} {_DASH} {'inf' if math.isinf(high) else f'{high:.4f}'}"


def protocol_tables(ranking: ProtocolRanking) -> list[Table]:
    """Value and rank of each system under each protocol, how often each leads, and protocols that do not apply."""
    scale = parse(ranking.metric).scale
    columns = ["protocol", *ranking.systems, "tau", "order that changes"]
    rows: list[list[Cell]] = []
    for one in ranking.protocols:
        cells = (f"{_points(value, scale)} ({rank})" for value, rank in zip(one.values, one.ranks, strict=True))
        tau = None if one.tau is None else f"{one.tau:.2f}"
        rows.append([one.protocol, *cells, tau, ", ".join(f"{a}/{b}" for a, b in one.swapped)])
    firsts: list[Cell] = [
        "leads",
        *(f"{times:.4g} of {len(ranking.protocols)}" for times in ranking.firsts),
        "",
        "",
    ]
    unit = f"{ranking.metric} in per cent" if scale == 100 else ranking.metric
    note = f"{unit} (rank); tau and changes against {ranking.base}; ties share a lead"
    right = frozenset(range(1, len(columns) - 1))
    tables = [Table(columns, [*rows, firsts], right, f"{ranking.metric} under every protocol", [note])]
    if ranking.not_applicable:
        tables.append(not_applicable_table(ranking.not_applicable))
    return tables


def not_applicable_table(reasons: dict[str, str]) -> Table:
    """The protocols that do not apply, those with one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(why.replace(f"protocol {name}", "the protocol"), []).append(name)
    rows: list[list[Cell]] = [[", ".join(names), why] for why, names in by_reason.items()]
    return Table(["does not apply", "why"], rows)


def resample_tables(ranking: ResampleRanking) -> list[Table]:
    """How often each system is best, and takes each rank, by every metric."""
    ranks = ["best", *(f"rank {number}" for number in range(2, 1 + len(ranking.systems)))]
    columns = ["metric", "system", "value", *ranks]
    rows: list[list[Cell]] = []
    unit = in_unit("per cent", [one.metric for one in ranking.metrics])
    notes = [f"{unit}; shares of {ranking.resamples} resamples of {ranking.dialogues} dialogues, ties shared"]
    for one in ranking.metrics:
        for place, (system, value) in enumerate(zip(ranking.systems, one.values, strict=True)):
            own = [None] * len(ranks) if one.ranks is None else map(_points, one.ranks[place])
            rows.append([one.metric, system, _points(value, parse(one.metric).scale), *own])
        notes += [f"{one.metric}: {one.note}"] if one.note else []
        notes += [f"{one.metric}: {one.dropped} resamples undefined and left out"] if one.dropped else []
    return [Table(columns, rows, frozenset(range(2, len(columns))), "Ranks over resamples", notes)]


def discrimination_tables(found: Discrimination) -> list[Table]:
    """How many pairs each metric separates, and every pair."""
    shares: list[list[Cell]] = []
    pairs: list[list[Cell]] = []
    for one in found.metrics:
        plain = [f"{one.separated} / {one.compared}", _points(one.share)]
        shares.append([one.metric, *plain, f"{one.separated_holm} / {one.compared}", _points(one.share_holm)])
        for pair in one.pairs:
            difference = _difference(one.metric, pair.difference, pair.low, pair.high)
            pairs.append([one.metric, pair.a, pair.b, *difference, _p(pair.p), _p(pair.p_holm)])
    told = f"pairs told apart at {100 * found.alpha:g} %, paired bootstrap, {found.resamples} resamples"
    notes = [f"{told}; {found.dialogues} dialogues, {found.turns} turns", *([found.note] if found.note else [])]
    unit = in_unit("differences in points", [one.metric for one in found.metrics])
    remarks = [
        f"{one.metric}, {pair.a} and {pair.b}: {pair.note}"
        for one in found.metrics
        for pair in one.pairs
        if pair.note
    ]
    columns = ["metric", "pairs", "%", "Holm", "% (Holm)"]
    listed = ["metric", "a", "b", "a - b", "interval", "p", "p (Holm)"]
    return [
        Table(columns, shares, _numbers(columns), "Discriminative power", notes),
        Table(listed, pairs, frozenset({3, 4, 5, 6}), "Pairs", [unit, *remarks]),
    ]


def repeats_tables(found: Repeats) -> list[Table]:
    """Mean and deviation over runs, and how the runs agree."""
    columns = ["metric", "mean", "deviation", "min", "max", *found.runs]
    rows: list[list[Cell]] = []
    for one in found.metrics:
        numbers = (one.mean, one.deviation, one.low, one.high, *one.values)
        rows.append([one.metric, *(_points(number, parse(one.metric).scale) for number in numbers)])
    unit = in_unit("per cent", [one.metric for one in found.metrics])
    told = f"{unit}; {len(found.runs)} runs, {found.dialogues} dialogues, {found.turns} turns"
    notes = [f"{told}; deviation between runs, n - 1"]
    notes += [f"{one.metric}: {one.dropped} runs undefined and left out" for one in found.metrics if one.dropped]
    tables = [Table(columns, rows, _numbers(columns), "Runs", notes + ([found.note] if found.note else []))]
    if found.agreement is None:
        return tables
    agreed = found.agreement
    shares: list[list[Cell]] = [
        ["right in all runs", _points(agreed.right_in_all)],
        ["right in any run", _points(agreed.right_in_any)],
        ["two runs agree", _points(agreed.mean)],
        ["Fleiss' kappa", None if agreed.kappa is None else f"{agreed.kappa:.4f}"],
    ]
    pairs: list[list[Cell]] = [
        [name, *map(_points, row)] for name, row in zip(found.runs, agreed.pairs, strict=True)
    ]
    both = ["both right or both wrong", *found.runs]
    return [*tables, Table(["turns", "%"], shares, _numbers(["turns", "%"])), Table(both, pairs, _numbers(both))]


def reference_tables(found: ReferenceChange, most: int | None = 20) -> list[Table]:
    """Scores under both references, and slots by the size of their change; ``most`` of these, None for all."""
    a, b = found.references
    columns = ["metric", a, b, f"{b} - {a}", "interval", "p"]
    rows = [_changed(one, found.scores[one.metric]) for one in found.metrics]
    unit = in_unit("per cent", [one.metric for one in found.metrics])
    told = f"{unit}; {found.dialogues} dialogues, {found.turns} turns, protocol {found.protocol}"
    share = _points(found.relabelled / found.turns)
    notes = [f"{told}; the references differ at {found.relabelled} turns ({share} %)"]
    notes += [f"{one.metric}: {one.note}" for one in found.metrics if one.note]
    notes += found.notes
    slots = ["slot", f"wrong, {a}", f"wrong, {b}", "relabelled", "change", "dialogue", "turn", a, b, "predicted"]
    shown = found.slots if most is None else found.slots[:most]
    by_slot: list[list[Cell]] = [
        [one.slot, one.wrong_a, one.wrong_b, one.relabelled, _points(one.change, sign=True), *_place(one.example)]
        for one in shown
    ]
    rest = len(found.slots) - len(shown)
    under = ["turns, and points of all turns; the most frequent values at turns wrong under one reference only"]
    under += [f"{rest} more slots; csv and json list all"] if rest else []
    tidy = reference_tables(found, None)[1] if rest else None
    return [
        Table(columns, rows, _numbers(columns), found.name, notes),
        Table(slots, by_slot, frozenset({1, 2, 3, 4, 6}), "By slot", under, tidy),
    ]


def _changed(one: Difference, scores: tuple[Score, Score]) -> list[Cell]:
    values = [_points(score.value, parse(one.metric).scale) for score in scores]
    return [one.metric, *values, *_difference(one.metric, one.difference, one.low, one.high), _p(one.p)]


def _place(example: SlotExample | None) -> list[Cell]:
    if example is None:
        return [None] * 5
    return [example.dialogue, example.turn, example.ref_a, example.ref_b, example.pred]


def plan_tables(found: Plan) -> list[Table]:
    """Standard errors, and what each pair needs."""
    columns = ["metric", "system", "value", "error", "sigma"]
    rows: list[list[Cell]] = [
        [
            one.metric,
            one.system,
            *(_points(value, parse(one.metric).scale) for value in (one.value, one.error, one.sigma)),
        ]
        for one in found.systems
    ]
    unit = in_unit("points", [one.metric for one in found.systems])
    told = f"{unit}; error with {found.dialogues} dialogues, sigma that of one: error = sigma / sqrt(dialogues)"
    notes = list(
        dict.fromkeys([told, *(f"{one.metric}, {one.system}: {one.note}" for one in found.systems if one.note)])
    )
    tables = [Table(columns, rows, frozenset({2, 3, 4}), "Standard errors", notes)]
    if not found.pairs:
        return tables
    listed = ["metric", "a", "b", "a - b", "sigma", "to tell", "dialogues", "can tell"]
    pairs: list[list[Cell]] = []
    for one in found.pairs:
        scale = parse(one.metric).scale
        known = [one.metric, one.a, one.b, _points(one.difference, scale, sign=True), _points(one.sigma, scale)]
        pairs.append([*known, _points(one.target, scale), one.needed, _points(one.detectable, scale)])
    told = (
        f"dialogues: to tell a difference of that size at {100 * found.alpha:g} % in {100 * found.power:g} % "
        f"of all tries; can tell: the smallest difference that {found.dialogues} dialogues tell"
    )
    notes = [told, *(f"{one.metric}, {one.a} and {one.b}: {one.note}" for one in found.pairs if one.note)]
    return [*tables, Table(listed, pairs, frozenset(range(3, 8)), "Pairs", notes)]


def _numbers(columns: list[str]) -> frozenset[int]:
    return frozenset(range(1, len(columns)))


def _points(value: float | None, scale: int = 100, *, sign: bool = False) -> str | None:
    if value is None or math.isnan(value):
        return None
    return f"{scale * value:{'+' if sign else ''}.2f}"


def _difference(metric: str, difference: float | None, low: float | None, high: float | None) -> list[Cell]:
    """A difference and its interval, in points or the metric's own unit."""
    scale = parse(metric).scale
    shown = _points(difference, scale, sign=True)
    if low is None or high is None:
        return [shown, None]
    return [shown, f"{scale * low:+.2f} .. {scale * high:+.2f}"]


def _p(p: float | None) -> str | None:
    return None if p is None else f"{p:.4f}"
