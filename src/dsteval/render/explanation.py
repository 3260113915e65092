"""An explained dialogue: coloured in the terminal, or as a table of slots."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from typing import IO, TypeAlias

from rich.text import Text

from dsteval.analysis.explanation import Explanation, SlotLine, TurnLine
from dsteval.analysis.worst_dialogues import Worst
from dsteval.errors import printable
from dsteval.metrics import parse
from dsteval.render.lanes import gutters
from dsteval.render.table import Cell, Table
from dsteval.render.terminal import console

__all__ = [
    "explanation_table",
    "show_explanation",
    "show_side_by_side",
    "side_by_side_table",
    "worst_table",
]

_SIGN = {"right": " ", "missed": "-", "spurious": "+", "wrong": "~", "marked wrong": "x"}
_STYLE = {"right": "dim", "missed": "red", "spurious": "magenta", "wrong": "yellow", "marked wrong": "red"}
_OUTCOME = {"exact": "green", "type 1": "bold red", "type 2": "yellow"}


def show_explanation(
    explanation: Explanation, file: IO[str] | None = None, whole: Explanation | None = None
) -> None:
    """Print the dialogue turn by turn: utterances, both states, and what each wrong slot is.

    The heading tells the numbers of ``whole``, where not all of its turns are shown.
    """
    out = console(file or sys.stdout)

    def line(*pieces: str | tuple[str, str], style: str = "") -> None:
        out.print(Text.assemble(*pieces, style=style))

    turns = (whole or explanation).turns
    rights = sum(turn.outcome == "exact" for turn in turns)
    mean = sum(turn.weight for turn in turns) / max(1, len(turns))
    told = f"{rights} of {len(turns)} turns right, {explanation.metric} {100 * mean:.2f}"
    head = "  ".join(map(_clean, (explanation.system, explanation.protocol, told)))
    line((_clean(explanation.dialogue), "bold"), f"  {head}")
    lines = [one for turn in explanation.turns for one in _lines(turn)]
    for gutter, (_, pieces, style) in zip(gutters([key for key, *_ in lines]), lines, strict=True):
        # The arrows keep their place and their colour, whatever the line is about.
        line((gutter, "cyan"), *[(text, own or style) for text, own in pieces])
    line("")
    marked = any(slot.kind == "marked wrong" for turn in explanation.turns for slot in turn.slots)
    signs = "- missed   + spurious   ~ wrong value   * new or changed in the reference"
    line("x marked wrong" if marked else signs, style="dim")


_Line: TypeAlias = tuple[Hashable | None, list[tuple[str, str]], str]
"""Which error it belongs to, its pieces with their styles, and the style of the others."""


def _lines(turn: TurnLine) -> Iterator[_Line]:
    """One turn: its verdict, what was said, and a line for each slot."""
    yield None, [("", "")], ""
    yield None, [(f"turn {turn.turn}  ", ""), (_verdict(turn), _OUTCOME[turn.outcome])], ""
    for who, text, style in (("system", turn.system, "dim"), ("user  ", turn.user, "")):
        if text:
            yield None, [(f"  {who}  {_clean(text)}", "")], style
    width = max((len(_clean(slot.slot)) for slot in turn.slots), default=0)
    for slot in turn.slots:
        key = None if slot.since is None else (slot.slot, slot.since)
        yield key, [(f"  {_SIGN[slot.kind]} {_clean(slot.slot):<{width}}  {_states(slot)}", "")], _STYLE[slot.kind]
    if not turn.slots:
        yield None, [("    both states are empty" if turn.outcome == "exact" else "    no slot", "")], "dim"


def _clean(text: str) -> str:
    return printable(" ".join(text.split()))


def _value(value: str | None) -> str:
    return "nothing" if value is None else _clean(value) or "''"


def _verdict(turn: TurnLine) -> str:
    text = f"{turn.outcome}, weight {turn.weight:.3f}"
    if turn.outcome == "type 1":
        return f"{text}: a new error"
    if turn.outcome == "exact":
        return text
    origin = (
        "an error without an error turn" if turn.error_turn is None else f"the error of turn {turn.error_turn}"
    )
    return f"{text}: inherits {origin}"


def _states(slot: SlotLine) -> str:
    star = " *" if slot.new else ""
    if slot.kind == "right":
        said = "" if slot.pred == slot.ref else f", pred {_value(slot.pred)}"
        return f"{_value(slot.ref)}{said}{star}"
    what = ", ".join(filter(None, (slot.error, slot.relation)))
    since = f"  ({what + ', ' if what else ''}since turn {slot.since})"
    if slot.kind == "marked wrong":
        return f"marked wrong{since}"
    return f"ref {_value(slot.ref)}, pred {_value(slot.pred)}{star}{since}"


def explanation_table(explanation: Explanation) -> Table:
    """One row per slot and turn; a turn without slots has one row."""
    own = ["slot", "ref", "pred", "kind", "since", "until", "error", "relation"]
    columns = ["dialogue", "turn", "outcome", "weight", "error turn", *own]
    rows: list[list[Cell]] = []
    for turn in explanation.turns:
        head: list[Cell] = [explanation.dialogue, turn.turn, turn.outcome, round(turn.weight, 6), turn.error_turn]
        lines = [[s.slot, s.ref, s.pred, s.kind, s.since, s.until, s.error, s.relation] for s in turn.slots]
        rows += [[*head, *cells] for cells in lines or [[None] * len(own)]]
    title = f"{explanation.dialogue}, {explanation.system}, {explanation.protocol}, {explanation.metric}"
    return Table(columns, rows, frozenset({1, 3, 4, 9, 10}), title=title)


def worst_table(found: Worst) -> Table:
    """The worst dialogues, one a row."""
    columns = ["dialogue", found.metric, "turns", "right", "wrong slots", "first wrong turn"]
    scale = parse(found.metric).scale
    rows: list[list[Cell]] = [
        [one.dialogue, f"{scale * one.value:.2f}", one.turns, one.right, one.wrong_slots, one.first_wrong]
        for one in found.dialogues
    ]
    title = f"{found.system}: {len(rows)} of {found.of} dialogues, the worst first"
    notes = [f"{'per cent; ' if scale == 100 else ''}protocol {found.protocol}"]
    return Table(columns, rows, frozenset(range(1, len(columns))), title, notes)


def show_side_by_side(one: Explanation, other: Explanation, file: IO[str] | None = None) -> None:
    """Print two systems' explanations of one dialogue side by side, turn by turn."""
    out = console(file or sys.stdout)
    names = f"{_clean(one.system)} | {_clean(other.system)}"
    told = f"  {names}  {_clean(one.protocol)}, {_clean(one.metric)}"
    out.print(Text.assemble((_clean(one.dialogue), "bold"), told))
    for turn, theirs in _paired(one, other):
        shown = turn or theirs
        assert shown is not None, "one of the two has the turn"
        out.print("")
        verdicts = [("-", "dim") if t is None else (_verdict(t), _OUTCOME[t.outcome]) for t in (turn, theirs)]
        out.print(Text.assemble(f"turn {shown.turn}  ", verdicts[0], "  |  ", verdicts[1]))
        for who, text in (("system", shown.system), ("user  ", shown.user)):
            if text:
                out.print(Text(f"  {who}  {_clean(text)}", style="dim" if who == "system" else ""))
        for pieces in _rows(turn, theirs):
            out.print(Text.assemble(*pieces))


def _paired(one: Explanation, other: Explanation) -> Iterator[tuple[TurnLine | None, TurnLine | None]]:
    """The turns that either shows, by number."""
    ours, theirs = ({turn.turn: turn for turn in side.turns} for side in (one, other))
    for number in sorted({**ours, **theirs}):
        yield ours.get(number), theirs.get(number)


def _by_slot(turn: TurnLine | None) -> dict[str, SlotLine]:
    return {} if turn is None else {slot.slot: slot for slot in turn.slots}


def _rows(turn: TurnLine | None, theirs: TurnLine | None) -> Iterator[list[tuple[str, str]]]:
    """A line for each slot: the reference, and what either system has, coloured by what it is."""
    sides = _by_slot(turn), _by_slot(theirs)
    slots = sorted({**sides[0], **sides[1]})
    cells = [[_clean(slot), _ref_of(slot, sides), *(_cell(slot, side) for side in sides)] for slot in slots]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(3)]
    for slot, (name, ref, ours, other) in zip(slots, cells, strict=True):
        styles = [_STYLE[side[slot].kind] if slot in side else "dim" for side in sides]
        yield [
            (f"    {name:<{widths[0]}}  {ref:<{widths[1]}}  ", "dim"),
            (f"{ours:<{widths[2]}}", styles[0]),
            ("  |  ", "dim"),
            (other, styles[1]),
        ]


def _ref_of(slot: str, sides: tuple[dict[str, SlotLine], ...]) -> str:
    return next((_value(side[slot].ref) for side in sides if slot in side), "nothing")


def _cell(slot: str, side: dict[str, SlotLine]) -> str:
    """What a system has in a slot, with its sign and the kind of its error."""
    line = side.get(slot)
    if line is None:
        return "  nothing"
    told = f"  ({line.error}, since turn {line.since})" if line.since is not None else ""
    return f"{_SIGN[line.kind]} {_value(line.pred)}{told}"


def side_by_side_table(one: Explanation, other: Explanation) -> Table:
    """One row per slot and turn: the reference, and what either system has."""
    columns = ["dialogue", "turn", "slot", "ref"]
    for explanation in (one, other):
        columns += [f"{explanation.system}: {name}" for name in ("pred", "kind", "error", "since")]
    rows: list[list[Cell]] = []
    for turn, theirs in _paired(one, other):
        sides = _by_slot(turn), _by_slot(theirs)
        told = turn or theirs
        assert told is not None, "one of the two has the turn"
        for slot in sorted({**sides[0], **sides[1]}):
            ref = next(side[slot].ref for side in sides if slot in side)
            row: list[Cell] = [one.dialogue, told.turn, slot, ref]
            for side in sides:
                line = side.get(slot)
                row += [None] * 4 if line is None else [line.pred, line.kind, line.error, line.since]
            rows.append(row)
    return Table(columns, rows, frozenset({1, 7, 11}), title=f"{one.dialogue}, {one.protocol}")
