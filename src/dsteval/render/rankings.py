"""The tables of rankings, runs, two references and plans."""

import math
from collections.abc import Iterable, Sequence

from dsteval.analysis.differences import Difference
from dsteval.analysis.lambda_curve import LambdaRanking
from dsteval.analysis.rankings import Discrimination, ProtocolRanking, ResampleRanking
from dsteval.analysis.reference_change import ReferenceChange, SlotChange
from dsteval.analysis.sample_size import Plan
from dsteval.analysis.seed_runs import Repeats
from dsteval.metrics import parse
from dsteval.render.scores import in_unit
from dsteval.render.table import Cell, Table, grouped
from dsteval.results.numbers import interval, number, p_value


def lambda_tables(ranking: LambdaRanking) -> list[Table]:
    """The curves, who leads where, and where each pair crosses."""
    columns = ["system", *(f"FGA@{lambda_:g}" for lambda_ in ranking.lambdas)]
    curves = [[name, *_percents(curve)] for name, curve in zip(ranking.systems, ranking.curves, strict=True)]
    head = f"in %, variant {ranking.variant}; {ranking.dialogues} dialogues, {ranking.turns} turns"
    notes = [f"{head}; FGA@0 is JGA, FGA@inf TurnMatch", *ranking.notes]
    leaders = [(f"{_end(one.low)} \N{EN DASH} {_end(one.high)}", one.systems) for one in ranking.leaders]
    leads = [("0 (JGA)", ranking.at_zero), *leaders, ("inf (TurnMatch)", ranking.at_infinity)]
    crossed: list[list[Cell]] = []
    for one in ranking.crossings:
        points = ", ".join(str(number(point, digits=4)) for point in one.points) or "nowhere"
        crossed.append([one.a, one.b, "one curve" if one.identical else points])
    return [
        Table(columns, curves, range(1, len(columns)), "FGA over lambda", notes),
        Table(["lambda", "leads"], [[at, ", ".join(systems)] for at, systems in leads]),
        Table(["a", "b", "cross at lambda"], crossed),
    ]


def _end(value: float) -> str:
    return {0: "0", math.inf: "inf"}.get(value) or str(number(value, digits=4))


def protocol_tables(ranking: ProtocolRanking) -> list[Table]:
    """Value and rank of each system under each protocol, how often each leads, and protocols that do not apply."""
    scale = parse(ranking.metric).scale
    columns = ["protocol", *ranking.systems, "tau", "order that changes"]
    rows: list[list[Cell]] = []
    for one in ranking.protocols:
        cells = (f"{number(value, scale)} ({rank})" for value, rank in zip(one.values, one.ranks, strict=True))
        rows.append([one.protocol, *cells, number(one.tau), ", ".join(f"{a}/{b}" for a, b in one.swapped)])
    firsts = (f"{times:.4g} of {len(ranking.protocols)}" for times in ranking.firsts)
    rows.append(["leads", *firsts, "", ""])
    unit = f"{ranking.metric} in %" if scale == 100 else ranking.metric
    note = f"{unit} (rank); tau and changes against {ranking.base}; ties share a lead"
    main = Table(columns, rows, range(1, len(columns) - 1), f"{ranking.metric} under every protocol", [note])
    return [main, *not_applicable_tables(ranking.not_applicable)]


def not_applicable_tables(reasons: dict[str, str]) -> list[Table]:
    """The protocols that do not apply, those with one reason together; no table where there are none."""
    by_reason = grouped((why.replace(f"protocol {name}", "the protocol"), name) for name, why in reasons.items())
    rows = [[", ".join(names), why] for why, names in by_reason.items()]
    return [Table(["does not apply", "why"], rows)] if rows else []


def resample_tables(ranking: ResampleRanking) -> list[Table]:
    """How often each system is best, and takes each rank, by every metric."""
    ranks = ["best", *(f"rank {rank}" for rank in range(2, 1 + len(ranking.systems)))]
    columns = ["metric", "system", "value", *ranks]
    rows: list[list[Cell]] = []
    unit = in_unit("in %", ranking.metrics)
    notes = [f"{unit}; shares of {ranking.resamples} resamples of {ranking.dialogues} dialogues, ties shared"]
    for one in ranking.metrics:
        shares = one.ranks or [[None] * len(ranks)] * len(ranking.systems)
        for system, value, own in zip(ranking.systems, one.values, shares, strict=True):
            rows.append([one.metric, system, number(value, parse(one.metric).scale), *_percents(own)])
        notes += [f"{one.metric}: {one.note}"] if one.note else []
        notes += [f"{one.metric}: {one.dropped} resamples undefined and left out"] if one.dropped else []
    return [Table(columns, rows, range(2, len(columns)), "Ranks over resamples", notes)]


def discrimination_tables(found: Discrimination) -> list[Table]:
    """How many pairs each metric separates, and every pair."""
    unit = in_unit("differences in percentage points", found.metrics)
    shares: list[list[Cell]] = []
    for one in found.metrics:
        plain, holm = f"{one.separated} / {one.compared}", f"{one.separated_holm} / {one.compared}"
        shares.append([one.metric, plain, number(one.share, 100), holm, number(one.share_holm, 100)])
    listed = [pair for one in found.metrics for pair in one.pairs]
    pairs = [[one.metric, one.a, one.b, *_difference(one), p_value(one.p), p_value(one.p_holm)] for one in listed]
    head = f"pairs that differ at the {100 * found.alpha:g}% level, paired bootstrap, {found.resamples} resamples"
    notes = [f"{head}; {found.dialogues} dialogues, {found.turns} turns", *([found.note] if found.note else [])]
    columns = ["metric", "pairs", "%", "Holm", "% (Holm)"]
    heads = ["metric", "a", "b", "a - b", "interval", "p", "p (Holm)"]
    return [
        Table(columns, shares, range(1, 5), "Discriminative power", notes),
        Table(heads, pairs, range(3, 7), "Pairs", [unit, *_remarks(listed)]),
    ]


def repeats_tables(found: Repeats) -> list[Table]:
    """Mean and deviation over runs, and how the runs agree."""
    columns = ["metric", "mean", "deviation", "min", "max", *found.runs]
    rows = [
        [one.metric, *_percents((one.mean, one.deviation, one.low, one.high, *one.values), one.metric)]
        for one in found.metrics
    ]
    size = f"{len(found.runs)} runs, {found.dialogues} dialogues, {found.turns} turns"
    notes = [f"{in_unit('in %', found.metrics)}; {size}; sample standard deviation over runs"]
    notes += [f"{one.metric}: {one.dropped} runs undefined and left out" for one in found.metrics if one.dropped]
    notes += [found.note] if found.note else []
    tables = [Table(columns, rows, range(1, len(columns)), "Runs", notes)]
    if (agreed := found.agreement) is None:
        return tables
    measures = ["right in all runs", "right in any run", "two runs agree", "Fleiss' kappa"]
    values = [*_percents((agreed.right_in_all, agreed.right_in_any, agreed.mean)), number(agreed.kappa, digits=4)]
    shares = list(zip(measures, values, strict=True))
    pairs = [[name, *_percents(row)] for name, row in zip(found.runs, agreed.pairs, strict=True)]
    both = ["both right or both wrong", *found.runs]
    return [*tables, Table(["turns", "%"], shares, {1}), Table(both, pairs, range(1, len(both)))]


def reference_tables(found: ReferenceChange, most: int | None = 20) -> list[Table]:
    """Scores under both references, and slots by the size of their change; ``most`` of these, None for all."""
    a, b = found.references
    rows: list[list[Cell]] = []
    for one in found.metrics:
        values = _percents((score.value for score in found.scores[one.metric]), one.metric)
        rows.append([one.metric, *values, *_difference(one), p_value(one.p)])
    unit = in_unit("in %", found.metrics)
    head = f"{unit}; {found.dialogues} dialogues, {found.turns} turns, protocol {found.protocol}"
    share = number(found.relabelled / found.turns, 100)
    notes = [f"{head}; the references differ at {found.relabelled} turns ({share} %)"]
    notes += [f"{one.metric}: {one.note}" for one in found.metrics if one.note]
    slots = ["slot", f"wrong, {a}", f"wrong, {b}", "relabelled", "change", "dialogue", "turn", a, b, "predicted"]
    all_slots = list(map(_slot, found.slots))
    shown = all_slots[:most]
    under = [
        "wrong and relabelled: turns; change: percentage points of all turns; values: the most frequent example"
    ]
    if rest := len(all_slots) - len(shown):
        under.append(f"{rest} more slots; csv and json list all")
    tidy = Table(slots, all_slots) if rest else None
    columns = ["metric", a, b, f"{b} - {a}", "interval", "p"]
    return [
        Table(columns, rows, range(1, 6), found.name, [*notes, *found.notes]),
        Table(slots, shown, {1, 2, 3, 4, 6}, "By slot", under, tidy),
    ]


def _slot(one: SlotChange) -> list[Cell]:
    change = number(one.change, 100, sign=True)
    place = (getattr(one.example, name, None) for name in ("dialogue", "turn", "ref_a", "ref_b", "pred"))
    return [one.slot, one.wrong_a, one.wrong_b, one.relabelled, change, *place]


def plan_tables(found: Plan) -> list[Table]:
    """Standard errors, and what each pair needs."""
    columns = ["metric", "system", "value", "error", "sigma"]
    numbers = [_percents((one.value, one.error, one.sigma), one.metric) for one in found.systems]
    rows = [[one.metric, one.system, *cells] for one, cells in zip(found.systems, numbers, strict=True)]
    unit = in_unit("percentage points", found.systems)
    head = f"{unit}; error: standard error with {found.dialogues} dialogues, sigma / sqrt(dialogues)"
    notes = dict.fromkeys(f"{one.metric}, {one.system}: {one.note}" for one in found.systems if one.note)
    tables = [Table(columns, rows, range(2, 5), "Standard errors", [head, *notes])]
    if not found.pairs:
        return tables
    listed = ["metric", "a", "b", "a - b", "sigma", "target", "needed", "detectable"]
    pairs: list[list[Cell]] = []
    for one in found.pairs:
        apart = number(one.difference, one.scale, sign=True)
        sigma, target, least = _percents((one.sigma, one.target, one.detectable), one.metric)
        pairs.append([one.metric, one.a, one.b, apart, sigma, target, one.needed, least])
    often = f"at the {100 * found.alpha:g}% level with {100 * found.power:g}% power"
    head = (
        f"needed: dialogues to detect the target difference {often}; detectable: with {found.dialogues} dialogues"
    )
    return [*tables, Table(listed, pairs, range(3, 8), "Pairs", [head, *_remarks(found.pairs)])]


def _remarks(pairs: Iterable[Difference]) -> list[str]:
    """What there is to say of single pairs."""
    return [f"{one.metric}, {one.a} and {one.b}: {one.note}" for one in pairs if one.note]


def _percents(values: Iterable[float | None], metric: str | None = None) -> list[str | None]:
    """Numbers in per cent, or in the unit of a metric that has another."""
    scale = 100 if metric is None else parse(metric).scale
    return [number(value, scale) for value in values]


def _difference(one: Difference) -> Sequence[Cell]:
    """A difference and its interval, in points or the metric's own unit."""
    return number(one.difference, one.scale, sign=True), interval(one.low, one.high, one.scale, sign=True)
