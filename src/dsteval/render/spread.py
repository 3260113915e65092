"""The tables of ``spread``."""

from dsteval.analysis.protocol_spread import Disagreement, ProtocolSpread, SpreadEntry
from dsteval.render.rankings import not_applicable_tables
from dsteval.render.table import Cell, Table
from dsteval.results.numbers import number

_MOST = 20
_MATCH = 0.0001 + 1e-9  # 0.01 percentage points


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
        notes.insert(0, _verdict(spread, spread.target))
    alike: dict[tuple[Cell, ...], list[str]] = {}
    for one in spread.entries:
        jga = one.jga.value
        away = [] if spread.target is None else [None if jga is None else jga - spread.target]
        signed = [number(difference, 100, sign=True) for difference in (*away, one.difference)]
        alike.setdefault((_jga(one), *signed, one.gained, one.lost, _rules(one)), []).append(one.protocol)
    rows = [[", ".join(protocols), *cells] for cells, protocols in alike.items()]
    usual = spread.entries[0].notes if spread.entries else ()
    notes += usual
    notes += [f"{one.protocol}: {note}" for one in spread.entries for note in one.notes if note not in usual]
    return Table(columns, rows, range(1, len(columns) - 1), spread.name, notes, _tidy(spread))


def _verdict(spread: ProtocolSpread, target: float) -> str:
    """Which protocols give the published JGA, in a sentence, or how far the nearest is from it."""
    away = [(abs(one.jga.value - target), one) for one in spread.entries if one.jga.value is not None]
    shown = number(target, 100)
    if not away:
        return f"no protocol gives a JGA to compare with {shown}"
    nearest, first = min(away, key=lambda pair: pair[0])
    if nearest > _MATCH:
        return f"no protocol matches {shown} within 0.01; the nearest is {first.protocol} with {_jga(first)}"
    matching = [one for distance, one in away if distance <= _MATCH]
    names = ", ".join(one.protocol for one in matching)
    agree = len({(one.jga.value, one.gained, one.lost) for one in matching}) == 1
    verb = "matches" if len(matching) == 1 else "match"
    said = f"{len(matching)} of {len(spread.entries)} protocols {verb} {shown} within 0.01: {names}"
    said += "; they agree on this file" if agree and len(matching) > 1 else ""
    rules = dict.fromkeys(rule for one in matching for rule in one.rules)
    return f"{said}; the difference from exact: {', '.join(rules)}" if rules else said


def _jga(entry: SpreadEntry) -> str | None:
    return number(entry.jga.value, 100)


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
