"""The tables of ``spread``."""

from __future__ import annotations

from dsteval.analysis.protocol_spread import Disagreement, ProtocolSpread, SpreadEntry
from dsteval.render.rankings import not_applicable_table
from dsteval.render.table import Cell, Table

__all__ = ["spread_tables"]

_MOST = 20


def spread_tables(spread: ProtocolSpread, everything: bool = False) -> list[Table]:
    """Protocols with their JGA, their own metrics, those that do not apply, and what two of them disagree about.

    ``everything`` lists all disagreements instead of the first few.
    """
    tables = [_main(spread), _metrics(spread)]
    if spread.not_applicable:
        tables.append(not_applicable_table(spread.not_applicable))
    if spread.between is not None:
        tables.append(_between(spread, everything))
    return tables


def _points(value: float | None, sign: bool = False) -> Cell:
    return None if value is None else f"{100 * value:{'+' if sign else ''}.2f}"


def _main(spread: ProtocolSpread) -> Table:
    columns = ["protocol", "JGA", "- exact", "won", "lost", "what makes the difference (turns)"]
    if spread.target is not None:
        columns.insert(2, "to target")
    rows: list[list[Cell]] = []
    for entry in spread.entries:
        difference = entry.difference
        row: list[Cell] = [
            entry.protocol,
            _points(entry.jga.value),
            _points(difference, sign=True),
            entry.gained,
            entry.lost,
            _rules(entry),
        ]
        if spread.target is not None:
            away = None if entry.jga.value is None else entry.jga.value - spread.target
            row.insert(2, _points(away, sign=True))
        rows.append(row)
    notes = ["per cent; turns won and lost against exact"]
    if spread.target is not None:
        notes[0] += f"; target {100 * spread.target:.2f}, nearest first"
    usual = spread.entries[0].notes if spread.entries else ()
    notes += usual
    notes += [f"{one.protocol}: {note}" for one in spread.entries for note in one.notes if note not in usual]
    return Table(columns, rows, frozenset(range(1, len(columns) - 1)), spread.name, notes, _tidy(spread))


def _rules(entry: SpreadEntry, most: int = 3) -> str:
    listed = [f"{rule} ({turns})" for rule, turns in entry.rules.items()]
    return "; ".join(listed[:most]) + (f"; {len(listed) - most} more" if len(listed) > most else "")


def _metrics(spread: ProtocolSpread) -> Table:
    """The protocols' own metrics beside JGA, a line each."""
    rows: list[list[Cell]] = []
    for entry in spread.entries:
        own = [
            f"{score.metric} {'-' if score.value is None else f'{100 * score.value:.2f}'}"
            for score in entry.scores[1:]
        ]
        if own:
            rows.append([entry.protocol, ", ".join(own)])
    return Table(["protocol", "its own metrics"], rows, in_tidy=True)


def _tidy(spread: ProtocolSpread) -> Table:
    columns = [
        "name",
        "protocol",
        "metric",
        "value",
        "count",
        "total",
        "difference",
        "won",
        "lost",
        "signature",
        "why",
    ]
    rows: list[list[Cell]] = []
    for entry in spread.entries:
        for number, score in enumerate(entry.scores):
            own: list[Cell] = [entry.difference, entry.gained, entry.lost]
            rows.append(
                [
                    spread.name,
                    entry.protocol,
                    score.metric,
                    score.value,
                    score.count,
                    score.total,
                    *(own if number == 0 else [None] * 3),
                    score.signature,
                    score.why,
                ]
            )
    return Table(columns, rows)


def _between(spread: ProtocolSpread, everything: bool) -> Table:
    assert spread.between is not None
    a, b = spread.between
    shown = spread.disagreements if everything else spread.disagreements[:_MOST]
    columns = ["dialogue", "turn", "slot", "ref", "pred", "right under", f"{a} compares", f"{b} compares", "rule"]
    rows = [_row(one) for one in shown]
    rest = len(spread.disagreements) - len(shown)
    notes = [f"{rest} more; csv and json list all"] if rest else []
    title = f"{a} and {b} disagree about {len({(d.dialogue, d.turn) for d in spread.disagreements})} turns"
    return Table(columns, rows, frozenset({1}), title, notes)


def _row(one: Disagreement) -> list[Cell]:
    compared = [f"{_value(ref)} / {_value(pred)}" for ref, pred in one.compared]
    return [
        one.dialogue,
        one.turn,
        one.slot or None,
        one.ref,
        one.pred,
        one.right_under,
        *compared,
        one.rule,
    ]


def _value(text: str | None) -> str:
    return "-" if text is None else text
