"""The tables of ``compare``: systems side by side, and what tells each two of them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

from dsteval.analysis.comparison import Comparison
from dsteval.analysis.differences import Difference
from dsteval.render.scores import scores_table
from dsteval.render.table import Cell, Marked, Table
from dsteval.results.result import Result
from dsteval.stats.intervals import NO_INTERVALS

__all__ = ["comparison_tables"]

_WORSE = "\N{DAGGER}"
_TOLD = {"(nothing)": "every state empty", "(turn before)": "the reference state of the turn before"}


def comparison_tables(comparison: Comparison, paper: bool, everything: bool = False) -> list[Table]:
    """The scores, the best of a column in bold and what is worse marked, and the pairs.

    Of more than two systems the pairs without the best one are left out, unless ``everything`` is to be listed.
    """
    return [_scores(comparison, paper), _pairs(comparison, everything)]


def _scores(comparison: Comparison, paper: bool) -> Table:
    """``scores_table`` without its lines of intervals, with bold and marks, and the baselines as last rows."""
    systems = [_bare(one, comparison.notes) for one in comparison.systems]
    table = scores_table(systems, paper)
    table.notes[:0] = comparison.notes
    names = [score.metric for score in systems[0].scores if not (paper and score.metric == "TurnMatch")]
    best = {name: comparison.best(name) for name in names}
    behind = {name: comparison.behind(name) for name in names}
    for row in table.rows:
        for place, name in enumerate(names, start=len(row) - len(names)):
            if row[place] is not None:
                sign = _WORSE if row[0] in behind[name] else ""
                row[place] = Marked(str(row[place]), row[0] in best[name], sign)
    if comparison.baselines:
        table.rows += scores_table([*systems[:1], *comparison.baselines], paper).rows[1:]
        table.notes += [f"{one.name}: {_TOLD[one.name]}" for one in comparison.baselines]
    if any(behind.values()):
        tests = {one.test for one in comparison.differences} - {"mcnemar"}
        told = f"worse than the best of the column at 5 % ({', '.join(tests)}, Holm over all pairs)"
        table.notes.append(f"{_WORSE} {told}")
    table.tidy = scores_table([*comparison.systems, *comparison.baselines], paper).tidy
    return table


def _bare(result: Result, told: Sequence[str]) -> Result:
    """A result without intervals, which stand beside the differences, and without notes that are told once."""
    return replace(result, intervals=NO_INTERVALS, notes=tuple(note for note in result.notes if note not in told))


def _pairs(comparison: Comparison, everything: bool) -> Table:
    found = comparison.differences
    pairs = {(one.a, one.b) for one in found}
    against = len(pairs) < math.comb(len(comparison.systems), 2)  # pairs with a saved result only: few
    every = everything or against
    beaten = {(one.metric, one.worse) for one in found}
    shown = [one for one in found if every or not {(one.metric, one.a), (one.metric, one.b)} <= beaten]
    rows: list[list[Cell]] = [[one.metric, one.a, one.b, _points(one), _p(one.p), _p(one.p_holm)] for one in shown]
    notes = _notes(comparison, shown)
    if len(shown) < len(found):
        notes.append(f"pairs without the best system: {len(found) - len(shown)} more; csv and json list all")
    columns = ["metric", "a", "b", "a - b", "p", "p (Holm)"]
    return Table(columns, rows, frozenset({3, 4, 5}), "Differences", notes, _tidy(comparison))


def _points(one: Difference) -> Cell:
    def signed(value: float) -> str:
        return f"{round(one.scale * value, 2) + 0.0:+.2f}"  # no -0.00

    if one.difference is None:
        return None
    between = "" if one.low is None or one.high is None else f" [{signed(one.low)}, {signed(one.high)}]"
    return signed(one.difference) + between


def _p(value: float | None) -> Cell:
    return None if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _notes(comparison: Comparison, shown: list[Difference]) -> list[str]:
    """How the numbers came about, and what there is to say of single pairs, pairs that are alike together."""
    tests = dict.fromkeys(one.test for one in comparison.differences)
    notes = [f"points of per cent; p by {', '.join(tests)}; Holm over all pairs of a metric"]
    if any(one.low is not None for one in shown):
        notes[0] += "; in brackets the interval, over dialogues drawn anew"
    told: dict[tuple[str, str], list[str]] = {}
    for one in shown:
        if one.note:
            told.setdefault((f"{one.a}, {one.b}", one.note), []).append(one.metric)
    return notes + [f"{pair}: {note} ({', '.join(metrics)})" for (pair, note), metrics in told.items()]


def _tidy(comparison: Comparison) -> Table:
    columns = [one.name for one in fields(Difference)]
    rows: list[list[Cell]] = [[getattr(one, name) for name in columns] for one in comparison.differences]
    return Table(columns, rows)
