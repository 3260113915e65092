"""The summary of a comparison with a saved result, as Markdown for the page of a CI job."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dsteval.analysis.comparison import Comparison
from dsteval.analysis.regressions import Regressions, regressions
from dsteval.errors import printable
from dsteval.render.comparison import comparison_tables
from dsteval.render.table import Cell, Marked, Table, to_md
from dsteval.results.numbers import interval, number
from dsteval.results.result import Result

MOST_BYTES = 64_000
"""A summary never has more; pages that show them are limited."""

_VERDICT, _TABLE, _NOTES = 2_000, 15_000, 4_000
"""Bytes of the verdict, of each table, and of the notes below each."""

_CELL, _NOTE = 150, 500
"""Bytes of one cell, and of one note."""


def summary(
    comparison: Comparison,
    limits: Mapping[str, float],
    failures: Sequence[str],
    scored: Sequence[Result] = (),
    paper: bool = False,
) -> str:
    """Markdown, below 64 kB: the verdict in one line, the tables of the comparison, and the worst regressions.

    ``limits`` are the points by metric below which a difference fails, ``failures`` a sentence for each one that
    does. Regressions are those by the metric of the first limit, or the first metric; of ``scored`` results, which
    have the outcomes of turns, wrong slots are named. Rows and notes for which there is no room are left out from
    the end, and their number is given.
    """
    found = regressions(comparison, next(iter({**limits, **comparison.systems[0].metrics})), scored)
    titles = ("Scores", "Differences")
    sections = [_clipped(_verdict(comparison, limits, failures), _VERDICT)]
    for title, table in zip(titles, comparison_tables(comparison, paper), strict=True):
        sections.append(f"### {title}\n\n{_fitted(table)}")
    sections.append(f"### Worst regressions by {_clipped(found.metric, _CELL)}\n\n{_fitted(_regressions(found))}")
    # GitHub takes an angle bracket for HTML: a dialogue's name could hide the rest of the page.
    text = "\n\n".join(section.strip("\n") for section in sections).replace("<", "&lt;") + "\n"
    assert len(text.encode("utf-8", "backslashreplace")) < MOST_BYTES
    return text


def _verdict(comparison: Comparison, limits: Mapping[str, float], failures: Sequence[str]) -> str:
    """Whether the limits hold, and by what: the first that fails, or the one that holds most narrowly."""
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        return f"**Failed**: {failures[0]}{more}"
    checked = [one for one in comparison.differences if one.metric in limits and one.low is not None]
    if not checked:
        return "**No verdict**: no limit was set with --fail-below"
    one = min(checked, key=lambda one: one.scale * (one.low or 0.0) - limits[one.metric])
    ends = interval(one.low, one.high, one.scale, sign=True, to=" to ")
    points = " points" if one.scale == 100 else ""
    more = f" (the narrowest of {len(checked)})" if len(checked) > 1 else ""
    return (
        f"**Passed**: --fail-below {one.metric}={limits[one.metric]:g}: {one.a} against {one.b}: "
        f"{number(one.difference, one.scale, sign=True)}{points}, CI {ends}{more}"
    )


def _regressions(found: Regressions) -> Table:
    several = len({(one.a, one.b) for one in found.worst}) > 1
    rows: list[list[Cell]] = [
        [
            *([f"{one.a} against {one.b}"] if several else []),
            *(one.dialogue, one.turns),
            *(number(value, found.scale) for value in (one.value_b, one.value_a)),
            number(one.change, found.scale, digits=3, sign=True),
            one.first_wrong or None,
        ]
        for one in found.worst
    ]
    heads = ["dialogue", "turns", "before", "now", "change", "first wrong turn now"]
    notes = [f"{found.worse} of {found.of} dialogues got worse, {found.better} better"]
    if found.worst:
        notes[0] += f"; shown are the {len(found.worst)} that move the score most"
        notes.append("change: how far the dialogue alone moves the score over all dialogues")
    first = 1 if several else 0
    return Table([*(["systems"] if several else []), *heads], rows, range(first + 1, first + 5), notes=notes)


def _fitted(table: Table) -> str:
    """A table as Markdown, of so many rows and notes as there is room for."""
    rows = [[_short(cell) for cell in row] for row in table.rows]
    head, rule, *lines = to_md(replace(table, rows=rows, notes=())).rstrip("\n").split("\n")
    if _size(head + rule) > _TABLE // 2:
        return f"A table of {len(table.columns)} columns, too wide for this summary."
    kept = _first(lines, _TABLE - _size(head + rule))
    notes = _first([_clipped(note, _NOTE) for note in table.notes], _NOTES)
    left = [(len(lines) - len(kept), "rows"), (len(table.notes) - len(notes), "notes")]
    notes += [f"{more} more {what} left out" for more, what in left if more]
    shown = [head, rule, *kept] if lines else []
    return "\n".join([*shown, "", *(f"{note}\n" for note in notes)])


def _first(lines: Sequence[str], room: int) -> list[str]:
    """The first of some lines, as many as have room."""
    kept = []
    for line in lines:
        room -= _size(line) + 2
        if room < 0:
            break
        kept.append(line)
    return kept


def _size(text: str) -> int:
    """The bytes that a text takes in the end."""
    return len(text.replace("<", "&lt;").encode("utf-8", "backslashreplace"))


def _short(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    short = _clipped(cell, _CELL)
    return Marked(short, cell.bold, cell.sign) if isinstance(cell, Marked) else short


def _clipped(text: str, most: int) -> str:
    """A text on one line, of so many bytes at most."""
    whole = " ".join(printable(text).split())
    if _size(whole) <= most:
        return whole
    kept = whole[: most - 3]
    while _size(kept) > most - 3:
        kept = kept[:-1]
    return f"{kept}..."
