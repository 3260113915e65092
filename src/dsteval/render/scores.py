"""Results as tables: one for the eye, in the columns of the FGA paper's Table 1, and one for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence

from dsteval.metrics import parse
from dsteval.metrics.text import HEADINGS
from dsteval.render.table import Cell, Table
from dsteval.results.result import Result, Score, SliceScores

__all__ = ["change_tables", "scores_table", "slice_tables"]


def scores_table(results: Sequence[Result], paper: bool) -> Table:
    """One row a system. ``paper`` puts the counts #turns, #M1 and #M2 first, as Table 1 of the FGA paper does."""
    names = [score.metric for score in results[0].scores]
    counts = {score.metric for result in results for score in result.scores if score.count is not None}
    counted = [name for name in ("JGA", "TurnMatch") if paper and name in names and name in counts]
    shown = [name for name in names if not (paper and name == "TurnMatch")]
    columns = ["system", "#turns", *(_COUNTS[name] for name in counted), *map(_heading, shown)]
    rows: list[list[Cell]] = []
    plain: list[list[Cell]] = []
    for result in results:
        by_name = {score.metric: score for score in result.scores}
        row: list[Cell] = [result.name, result.coverage.scored_turns]
        row += [by_name[name].count for name in counted]
        row += [_percent(by_name[name]) for name in shown]
        rows.append(row)
        plain.append(row)
        if any(score.low is not None for score in result.scores):
            rows.append(["", *[""] * (1 + len(counted)), *(_between(by_name[name]) for name in shown)])
    right = frozenset(range(1, len(columns)))
    notes = _notes(results, paper)
    narrow = None
    if len(plain) < len(rows):
        less = [*notes[:-1], f"{notes[-1].replace(f'{_WITH} its', 'no room here for each')}"]
        narrow = Table(columns, plain, right, notes=less)
    return Table(columns, rows, right, notes=notes, tidy=_tidy(results), narrow=narrow)


_COUNTS = {name: short for short, name in HEADINGS.items() if short.startswith("#")}
_SHORT = {name: short for short, name in HEADINGS.items() if not short.startswith("#")}


def _heading(metric: str) -> str:
    return _SHORT.get(metric, metric)


def _between(score: Score) -> str | None:
    """The interval, in the unit of the table."""
    if score.low is None or score.high is None:
        return None
    return f"{parse(score.metric).scale * score.low:.2f}\N{EN DASH}{parse(score.metric).scale * score.high:.2f}"


def in_unit(unit: str, metrics: Sequence[str]) -> str:
    """The unit of a table's numbers, and the metrics that have another."""
    odd = [metric for metric in dict.fromkeys(metrics) if not parse(metric).percent]
    return f"{unit}, but {', '.join(odd)}" if odd else unit


def _percent(score: Score) -> str | None:
    return None if score.value is None else f"{parse(score.metric).scale * score.value:.2f}"


def _notes(results: Sequence[Result], paper: bool) -> list[str]:
    shared: dict[str, list[str]] = {}
    for result in results:
        coverage = result.coverage
        mine = [
            f"{coverage.scored_dialogues} of {coverage.ref_dialogues} dialogues, "
            f"{coverage.scored_turns} of {coverage.ref_turns} turns, |S| = {result.n_slots}"
        ]
        undefined: dict[str, list[str]] = {}
        for score in result.scores:
            if score.value is None:
                undefined.setdefault(score.why, []).append(score.metric)
        mine += [f"{', '.join(names)} undefined: {why}" for why, names in undefined.items()]
        mine += result.notes
        # Every score of a system shares what follows the metric.
        mine.append(f"signature {result.scores[0].signature.partition('|')[2]}")
        shared.setdefault("\n".join(mine), []).append(result.name)
    notes = []
    for block, names in shared.items():
        first, *rest = block.split("\n")
        notes += [f"{', '.join(names)}: {first}", *(f"  {line}" for line in rest)]
    unit = in_unit("per cent", [score.metric for score in results[0].scores])
    notes.append("; ".join([unit, *_sure(results), *(_legend(results) if paper else [])]))
    return notes


_WITH = "with each number"


def _sure(results: Sequence[Result]) -> list[str]:
    """What the second line of each system is, and why some numbers have none."""
    scores = [score for result in results for score in result.scores]
    signature = next((score.signature for score in scores if score.low is not None), "")
    reasons = dict.fromkeys(score.no_interval for score in scores if score.no_interval)
    parts = dict(part.partition(":")[::2] for part in signature.split("|") if ":" in part)
    if not signature:
        return list(reasons)
    level = float(parts.get("level", "0.95"))
    told = f"{_WITH} its {100 * level:g} % interval, over dialogues drawn anew"
    dropped = sum(score.dropped for score in scores)
    return [told, *reasons, *([f"{dropped} resamples undefined and left out"] if dropped else [])]


def _legend(results: Sequence[Result]) -> list[str]:
    metrics = {score.metric for result in results for score in result.scores}
    texts = {"JGA": "#M1 turns that are right", "TurnMatch": "#M2 right or only inheriting an error"}
    return [text for name, text in texts.items() if name in metrics and "TurnMatch" in metrics]


def _tidy(results: Sequence[Result]) -> Table:
    columns = [
        "system",
        "protocol",
        "metric",
        "value",
        "low",
        "high",
        "error",
        "count",
        "total",
        "signature",
        "why",
    ]
    rows: list[list[Cell]] = [
        [
            result.name,
            result.protocol,
            score.metric,
            score.value,
            score.low,
            score.high,
            score.error,
            score.count,
            score.total,
            score.signature,
            score.why,
        ]
        for result in results
        for score in (*result.scores, *(score for one in result.slices for score in one.scores))
    ]
    return Table(columns, rows)


def slice_tables(results: Sequence[Result]) -> list[Table]:
    """One table for each thing that the results are sliced by: a row per system, key and convention."""
    tables = []
    for by in dict.fromkeys(one.by for result in results for one in result.slices):
        rows: list[list[Cell]] = []
        names: list[str] = []
        for result in results:
            for one in result.slices:
                if one.by == by:
                    names += [score.metric for score in one.scores if score.metric not in names]
        for result in results:
            rows += [_slice_row(result, one, names) for one in result.slices if one.by == by]
        columns = ["system", by, "turns that count", "#turns", *map(_heading, names)]
        tables.append(Table(columns, rows, frozenset(range(3, len(columns))), title=f"By {by}", in_tidy=True))
    return tables


def change_tables(results: Sequence[Result]) -> list[Table]:
    """For each system the values that the protocol rewrote."""
    columns = ["side", "slot", "value", "compared as", "turns", "first dialogue", "turn", "by"]
    tables = []
    for result in results:
        if result.changes is None:
            continue
        rows: list[list[Cell]] = []
        for change in result.changes:
            renamed = "" if change.became_slot == change.slot else f"{change.became_slot}: "
            became = "(absent)" if change.became is None else change.became
            place: list[Cell] = [change.turns, change.dialogue, change.turn]
            rows.append([change.side, change.slot, change.value, renamed + became, *place, change.by])
        title = f"{result.name}: values that {result.protocol} rewrote"
        tables.append(Table(columns, rows, frozenset({4, 6}), title, [] if rows else ["none"]))
    return tables


_FEW = 3


def _slice_row(result: Result, one: SliceScores, names: list[str]) -> list[Cell]:
    """One slice; with a few metrics each number has its interval beside it."""
    by_name = {score.metric: score for score in one.scores}
    cells: list[Cell] = []
    for name in names:
        score = by_name.get(name)
        cell = None if score is None else _percent(score)
        between = None if score is None or len(names) > _FEW else _between(score)
        cells.append(f"{cell} [{between}]" if between else cell)
    return [result.name, one.key, one.convention, one.turns, *cells]
