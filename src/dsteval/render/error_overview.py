"""The table of ``errors``."""

from collections.abc import Sequence

from dsteval.analysis.error_overview import ErrorGroup, ErrorOverview
from dsteval.render.table import Cell, Table


def error_table(overviews: Sequence[ErrorOverview], top: int | None) -> Table:
    """One row a system and group, the ``top`` of each system or all."""
    columns = [
        "system",
        "slot",
        "kind (relation)",
        "errors",
        "turns",
        "fixed",
        "dialogue",
        "turn",
        "ref -> predicted",
    ]
    shown = [(one.system, group) for one in overviews for group in one.groups[:top]]
    rows = [_row(*pair) for pair in shown]
    tidy = _tidy(overviews)
    if len(overviews) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    right = [place for place, name in enumerate(columns) if name in ("errors", "turns", "fixed", "turn")]
    return Table(columns, rows, right, notes=_notes(overviews, top), tidy=tidy)


def _row(system: str, group: ErrorGroup) -> list[Cell]:
    kind = f"{group.kind or 'marked wrong'}" + (f" ({group.relation})" if group.relation else "")
    values = None if group.kind is None else f"{_shown(group.ref)} -> {_shown(group.pred)}"
    counts = group.errors, group.turns, group.repaired
    return [system, group.slot, kind, *counts, group.dialogue, group.turn, values]


def _shown(value: str | None) -> str:
    return "nothing" if value is None else value or "''"


def _notes(overviews: Sequence[ErrorOverview], top: int | None) -> list[str]:
    notes = [
        f"{one.system}: {one.errors} errors, {one.turns} wrong slots over all turns; protocol {one.protocol}"
        for one in overviews
    ]
    notes.append(
        "turns: how long the errors lasted; fixed: errors repaired; dialogue, turn: where one of these began"
    )
    more = sum(max(0, len(one.groups) - top) for one in overviews) if top is not None else 0
    return [*notes, f"{more} more rows; --top, csv and json list all"] if more else notes


def _tidy(overviews: Sequence[ErrorOverview]) -> Table:
    names = ["slot", "kind", "relation", "errors", "turns", "repaired", "dialogue", "turn", "ref", "pred"]
    rows = [[one.system, *(getattr(group, name) for name in names)] for one in overviews for group in one.groups]
    return Table(["system", *names], rows)
