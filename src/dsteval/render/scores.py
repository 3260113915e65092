"""Results as tables: one for the eye, in the columns of the FGA paper's Table 1, and one for spreadsheets."""

from collections.abc import Iterable, Sequence
from typing import Any

from dsteval.metrics import parse
from dsteval.metrics.text import HEADINGS
from dsteval.render.table import Cell, Table, grouped
from dsteval.results.numbers import interval, number
from dsteval.results.result import Result, Score

_COUNTS = {name: short for short, name in HEADINGS.items() if short.startswith("#")}
_SHORT = {name: short for short, name in HEADINGS.items() if not short.startswith("#")}
_FEW = 3  # metrics of a slice, with which each number has its interval beside it


def scores_table(results: Sequence[Result], paper: bool) -> Table:
    """One row a system. ``paper`` puts the counts #turns, #M1 and #M2 first, as Table 1 of the FGA paper does."""
    names = [score.metric for score in results[0].scores]
    ratios = {score.metric for result in results for score in result.scores if score.count is not None}
    counted = [name for name in _COUNTS if paper and name in names and name in ratios]
    shown = [name for name in names if not (paper and name == "TurnMatch")]
    columns = ["system", "#turns", *(_COUNTS[name] for name in counted)]
    columns += [_SHORT.get(name, name) for name in shown]
    rows: list[list[Cell]] = []
    for result in results:
        by_name = {score.metric: score for score in result.scores}
        scores = [by_name[name] for name in shown]
        counts = [by_name[name].count for name in counted]
        rows.append([result.name, result.coverage.scored_turns, *counts, *map(_value, scores)])
        if any(score.low is not None for score in result.scores):
            rows.append(["", "", *("" for _ in counted), *map(_interval, scores)])
    return Table(columns, rows, range(1, len(columns)), notes=_notes(results, paper), tidy=_tidy(results))


def _value(score: Score) -> str | None:
    return number(score.value, parse(score.metric).scale)


def _interval(score: Score) -> str | None:
    return interval(score.low, score.high, parse(score.metric).scale, to="\N{EN DASH}")


def in_unit(unit: str, scores: Iterable[Any]) -> str:
    """The unit of a table's numbers, and the metrics among those of ``scores`` that are in turns."""
    others = [metric for metric in dict.fromkeys(one.metric for one in scores) if not parse(metric).percent]
    return f"{unit}; {', '.join(others)} in turns" if others else unit


def _notes(results: Sequence[Result], paper: bool) -> list[str]:
    """What is said of systems, once where it holds for several, and the legend last."""
    names = [result.name for result in results]
    said = grouped((line, result.name) for result in results for line in _told(result))
    notes: list[str] = []
    for line, named in said.items():
        notes.append(line if named == names and len(names) > 1 else f"{', '.join(named)}: {line}")
    first, *others = grouped((_signature(result), result.name) for result in results).items()
    notes.append(f"signature: {first[0]}")
    notes += [f"  {', '.join(named)}: {_differing(first[0], signature)}" for signature, named in others]
    unit = in_unit("in %", results[0].scores)
    return [*notes, "; ".join([unit, *_sure(results), *(_legend(results) if paper else [])])]


def _told(result: Result) -> list[str]:
    """How much was scored, what is undefined, and notes."""
    coverage = result.coverage
    extent = f"{coverage.scored_dialogues} of {coverage.ref_dialogues} dialogues, "
    extent += f"{coverage.scored_turns} of {coverage.ref_turns} turns, |S| = {result.n_slots}"
    undefined = grouped((score.why, score.metric) for score in result.scores if score.value is None)
    return [extent, *(f"{', '.join(names)} undefined: {why}" for why, names in undefined.items()), *result.notes]


def _signature(result: Result) -> str:
    """What follows the metric in the signature of every score of a system."""
    return result.scores[0].signature.partition("|")[2]


def _differing(one: str, other: str) -> str:
    """In which pieces a signature is not like another."""
    left, right = one.split("|"), other.split("|")
    lacking = [
        piece for piece in left if piece.partition(":")[0] not in {name.partition(":")[0] for name in right}
    ]
    pieces = [f"{'|'.join(piece for piece in right if piece not in left)}"] if set(right) - set(left) else []
    return " ".join([*pieces, *(f"without {piece}" for piece in lacking)])


def _sure(results: Sequence[Result]) -> list[str]:
    """What the second line of each system is, and why some numbers have none."""
    scores = [score for result in results for score in result.scores]
    reasons = dict.fromkeys(score.no_interval for score in scores if score.no_interval)
    sure = (one.intervals.level for one in results if any(score.low is not None for score in one.scores))
    if (level := next(sure, None)) is None:
        return list(reasons)
    dropped = sum(score.dropped for score in scores)
    left_out = [f"{dropped} resamples undefined and left out"] if dropped else []
    return [f"{100 * level:g}% bootstrap CIs over dialogues", *reasons, *left_out]


def _legend(results: Sequence[Result]) -> list[str]:
    metrics = {score.metric for result in results for score in result.scores}
    texts = {"JGA": "#M1: correct turns", "TurnMatch": "#M2: correct, or only inheriting an error"}
    return [text for name, text in texts.items() if metrics >= {name, "TurnMatch"}]


def _tidy(results: Sequence[Result]) -> Table:
    columns = ["metric", "value", "low", "high", "error", "count", "total", "signature", "why"]
    rows = [
        [result.name, result.protocol, *(getattr(score, name) for name in columns)]
        for result in results
        for score in (*result.scores, *(score for one in result.slices for score in one.scores))
    ]
    return Table(["system", "protocol", *columns], rows)


def slice_tables(results: Sequence[Result]) -> list[Table]:
    """One table for each thing that the results are sliced by: a row per system, key and convention.

    With a few metrics each number has its interval beside it.
    """
    tables = []
    slices = [(result.name, one) for result in results for one in result.slices]
    for by in dict.fromkeys(one.by for _, one in slices):
        chosen = [(system, one) for system, one in slices if one.by == by]
        names = list(dict.fromkeys(score.metric for _, one in chosen for score in one.scores))
        rows: list[list[Cell]] = []
        for system, one in chosen:
            cells: dict[str, Cell] = dict.fromkeys(names)
            for score in one.scores:
                between = _interval(score) if len(names) <= _FEW else None
                cells[score.metric] = f"{_value(score)} [{between}]" if between else _value(score)
            rows.append([system, one.key, one.convention, one.turns, *cells.values()])
        columns = ["system", by, "denominator", "#turns", *(_SHORT.get(name, name) for name in names)]
        tables.append(Table(columns, rows, range(3, len(columns)), f"By {by}", in_tidy=True))
    return tables


def change_tables(results: Sequence[Result]) -> list[Table]:
    """For each system the values that the protocol rewrote."""
    columns = ["side", "slot", "value", "compared as", "turns", "first dialogue", "turn", "by"]
    tables = []
    for result in (each for each in results if each.changes is not None):
        rows: list[list[Cell]] = []
        for one in result.changes or ():
            became = "(absent)" if one.became is None else one.became
            became = became if one.became_slot == one.slot else f"{one.became_slot}: {became}"
            rows.append([one.side, one.slot, one.value, became, one.turns, one.dialogue, one.turn, one.by])
        title = f"{result.name}: values that {result.protocol} rewrote"
        tables.append(Table(columns, rows, (4, 6), title, () if rows else ["none"]))
    return tables
