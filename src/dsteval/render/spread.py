"""The tables of ``spread``."""

from dsteval.analysis.protocol_spread import Disagreement, ProtocolSpread, SpreadEntry
from dsteval.render.rankings import not_applicable_tables
from dsteval.render.table import Cell, Table
from dsteval.results.numbers import number

_MOST = 20


def spread_tables(spread: ProtocolSpread, everything: bool = False) -> list[Table]:
    """Protocols with their JGA, their own metrics, those that do not apply, and what two of them disagree about.

    ``everything`` lists all disagreements instead of the first few.
    """
    own = [
        [one.protocol, ", ".join(f"{score.metric} {number(score.value, 100) or '-'}" for score in one.scores[1:])]
        for one in spread.entries
        if len(one.scores) > 1
    ]
    tables = [_main(spread), Table(["protocol", "its own metrics"], own, in_tidy=True)]
    tables += not_applicable_tables(spread.not_applicable)
    if spread.between is not None:
        tables.append(_between(spread, spread.between, everything))
    return tables


def _main(spread: ProtocolSpread) -> Table:
    notes = ["in %; turns won and lost against exact"]
    columns = ["protocol", "JGA", "- exact", "won", "lost", "what makes the difference (turns)"]
    if spread.target is not None:
        notes[0] += f"; target {number(spread.target, 100)}, nearest first"
        columns.insert(2, "to target")
    rows: list[list[Cell]] = []
    for one in spread.entries:
        jga = one.jga.value
        away = [] if spread.target is None else [None if jga is None else jga - spread.target]
        signed = [number(difference, 100, sign=True) for difference in (*away, one.difference)]
        rows.append([one.protocol, number(jga, 100), *signed, one.gained, one.lost, _rules(one)])
    usual = spread.entries[0].notes if spread.entries else ()
    notes += usual
    notes += [f"{one.protocol}: {note}" for one in spread.entries for note in one.notes if note not in usual]
    return Table(columns, rows, range(1, len(columns) - 1), spread.name, notes, _tidy(spread))


def _rules(entry: SpreadEntry, most: int = 3) -> str:
    listed = [f"{rule} ({turns})" for rule, turns in entry.rules.items()]
    listed[most:] = [f"{len(listed) - most} more"] if len(listed) > most else []
    return "; ".join(listed)


def _tidy(spread: ProtocolSpread) -> Table:
    """A row for each score; what is told of a protocol's JGA stands beside that alone, its first."""
    rows: list[list[Cell]] = []
    for entry in spread.entries:
        apart: list[Cell] = [entry.difference, entry.gained, entry.lost]
        for one in entry.scores:
            head: list[Cell] = [spread.name, entry.protocol, one.metric, one.value, one.count, one.total]
            rows.append([*head, *apart, one.signature, one.why])
            apart = [None] * 3
    columns = ["name", "protocol", "metric", "value", "count", "total", "difference", "won", "lost"]
    return Table([*columns, "signature", "why"], rows)


def _between(spread: ProtocolSpread, pair: tuple[str, str], everything: bool) -> Table:
    a, b = pair
    shown = spread.disagreements if everything else spread.disagreements[:_MOST]
    columns = ["dialogue", "turn", "slot", "ref", "pred", "right under", f"{a} compares", f"{b} compares", "rule"]
    rest = len(spread.disagreements) - len(shown)
    notes = [f"{rest} more; csv and json list all"] if rest else []
    title = f"{a} and {b} disagree about {len({(d.dialogue, d.turn) for d in spread.disagreements})} turns"
    return Table(columns, list(map(_row, shown)), {1}, title, notes)


def _row(one: Disagreement) -> list[Cell]:
    compared = (f"{'-' if ref is None else ref} / {'-' if pred is None else pred}" for ref, pred in one.compared)
    return [one.dialogue, one.turn, one.slot or None, one.ref, one.pred, one.right_under, *compared, one.rule]
