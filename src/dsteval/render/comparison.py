"""The tables of ``compare``: systems side by side, and what tells each two of them apart."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dsteval.analysis.comparison import Comparison
from dsteval.analysis.differences import SHOWN, Difference
from dsteval.render.scores import scores_table
from dsteval.render.table import Cell, Marked, Table, grouped
from dsteval.results.numbers import interval, number, p_value
from dsteval.results.result import Result
from dsteval.stats.intervals import NO_INTERVALS

_WORSE = "\N{DAGGER}"
_MEANT = {"(nothing)": "every state empty", "(turn before)": "the reference state of the turn before"}


def comparison_tables(comparison: Comparison, paper: bool, everything: bool = False) -> list[Table]:
    """The scores, the best of a column in bold and what is worse marked, and the pairs.

    Of more than two systems the pairs without the best one are left out, unless ``everything`` is to be listed.
    """
    return [_scores(comparison, paper), _pairs(comparison, everything)]


def _scores(comparison: Comparison, paper: bool) -> Table:
    """``scores_table`` without its lines of intervals, with bold and marks, and the baselines as last rows."""
    systems = [_bare(one, comparison.notes) for one in comparison.systems]
    table = scores_table(systems, paper)
    names = [score.metric for score in systems[0].scores if not (paper and score.metric == "TurnMatch")]
    best = {name: comparison.best(name) for name in names}
    behind = {name: comparison.behind(name) for name in names}
    rows: list[Sequence[Cell]] = []
    for system, *cells in table.rows:
        for place, name in enumerate(names, start=len(cells) - len(names)):
            if cells[place] is not None:
                sign = _WORSE if system in behind[name] else ""
                cells[place] = Marked(str(cells[place]), system in best[name], sign)
        rows.append([system, *cells])
    rows += scores_table([*systems[:1], *comparison.baselines], paper).rows[1:]
    notes = [*comparison.notes, *table.notes]
    notes += [f"{one.name}: {_MEANT[one.name]}" for one in comparison.baselines]
    pairs = {(one.a, one.b) for one in comparison.differences}
    if any(behind.values()):
        tests = ", ".join({one.test for one in comparison.differences} - {"mcnemar"})
        test = f"5%, {tests}, Holm over {_pairs_of(len(pairs))}"
        notes.append(f"{_WORSE} significantly worse than the best of the column ({test})")
    tidy = scores_table([*comparison.systems, *comparison.baselines], paper).tidy
    return replace(table, rows=rows, notes=notes, tidy=tidy)


def _pairs_of(number: int) -> str:
    return f"{number} pair" + "s" * (number > 1)


def _bare(result: Result, told: Sequence[str]) -> Result:
    """A result without intervals, which stand beside the differences, and without notes that are told once."""
    return replace(result, intervals=NO_INTERVALS, notes=tuple(note for note in result.notes if note not in told))


def _pairs(comparison: Comparison, everything: bool) -> Table:
    differences = comparison.differences
    pairs = {(one.a, one.b) for one in differences}
    few = len(pairs) < math.comb(len(comparison.systems), 2)  # those with a saved result, or one system, only
    beaten = {(one.metric, one.worse) for one in differences}
    best = [one for one in differences if not {(one.metric, one.a), (one.metric, one.b)} <= beaten]
    shown = list(differences) if everything or few else best
    p_of = partial(p_value, short=True)
    rows = [
        [one.metric, one.a, one.b, _points(one), p_of(one.p, floor=one.floor), p_of(one.p_holm)] for one in shown
    ]
    notes = _notes(comparison, shown)
    if more := len(differences) - len(shown):
        notes.append(f"pairs without the best system: {more} more; csv and json list all")
    tidy = Table(SHOWN, [[getattr(one, name) for name in SHOWN] for one in differences])
    return Table(["metric", "a", "b", "a - b", "p", "p (Holm)"], rows, range(3, 6), "Differences", notes, tidy)


def _points(one: Difference) -> str | None:
    difference = number(one.difference, one.scale, sign=True)
    between = interval(one.low, one.high, one.scale, sign=True, to=", ")
    return f"{difference} [{between}]" if difference and between else difference


def _notes(comparison: Comparison, shown: list[Difference]) -> list[str]:
    """How the numbers came about, and what there is to say of single pairs, pairs that are alike together."""
    tests = dict.fromkeys(one.test for one in comparison.differences)
    notes = [f"percentage points; p by {', '.join(tests)}; Holm over all pairs of a metric"]
    if any(one.low is not None for one in shown):
        notes[0] += "; in brackets the bootstrap CI over dialogues"
    told = grouped((f"{one.a}, {one.b}: {one.note}", one.metric) for one in shown if one.note)
    return notes + [f"{note} ({', '.join(metrics)})" for note, metrics in told.items()]
