"""An explained dialogue: coloured in the terminal, or as a table of slots."""

from __future__ import annotations

import sys
from typing import IO

from rich.text import Text

from dsteval.errors import printable
from dsteval.explanation import Explanation, SlotLine, TurnLine
from dsteval.render.table import Cell, Table
from dsteval.render.terminal import console

__all__ = ["explanation_table", "show_explanation"]

_SIGN = {"right": " ", "missed": "-", "spurious": "+", "wrong": "~", "marked wrong": "x"}
_STYLE = {"right": "dim", "missed": "red", "spurious": "magenta", "wrong": "yellow", "marked wrong": "red"}
_OUTCOME = {"exact": "green", "type 1": "bold red", "type 2": "yellow"}


def show_explanation(explanation: Explanation, file: IO[str] | None = None) -> None:
    """Print the dialogue turn by turn: utterances, both states, and what each wrong slot is."""
    out = console(file or sys.stdout)

    def line(*pieces: str | tuple[str, str], style: str = "") -> None:
        out.print(Text.assemble(*pieces, style=style))

    rights = sum(turn.outcome == "exact" for turn in explanation.turns)
    mean = sum(turn.weight for turn in explanation.turns) / max(1, len(explanation.turns))
    told = f"{rights} of {len(explanation.turns)} turns right, {explanation.metric} {100 * mean:.2f}"
    head = "  ".join(map(_clean, (explanation.system, explanation.protocol, told)))
    line((_clean(explanation.dialogue), "bold"), f"  {head}")
    for turn in explanation.turns:
        line("")
        line(f"turn {turn.turn}  ", (_verdict(turn), _OUTCOME[turn.outcome]))
        if turn.system:
            line(f"  system  {_clean(turn.system)}", style="dim")
        if turn.user:
            line(f"  user    {_clean(turn.user)}")
        width = max((len(_clean(slot.slot)) for slot in turn.slots), default=0)
        for slot in turn.slots:
            line(f"  {_SIGN[slot.kind]} {_clean(slot.slot):<{width}}  {_states(slot)}", style=_STYLE[slot.kind])
        if not turn.slots:
            line("    both states are empty" if turn.outcome == "exact" else "    no slot", style="dim")
    line("")
    marked = any(slot.kind == "marked wrong" for turn in explanation.turns for slot in turn.slots)
    signs = "- missed   + spurious   ~ wrong value   * new or changed in the reference"
    line("x marked wrong" if marked else signs, style="dim")


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
    since = f"  (since turn {slot.since})"
    if slot.kind == "marked wrong":
        return f"marked wrong{since}"
    return f"ref {_value(slot.ref)}, pred {_value(slot.pred)}{star}{since}"


def explanation_table(explanation: Explanation) -> Table:
    """One row per slot and turn; a turn without slots has one row."""
    columns = ["dialogue", "turn", "outcome", "weight", "error turn", "slot", "ref", "pred", "kind", "since"]
    rows: list[list[Cell]] = []
    for turn in explanation.turns:
        head: list[Cell] = [explanation.dialogue, turn.turn, turn.outcome, round(turn.weight, 6), turn.error_turn]
        rows += [[*head, s.slot, s.ref, s.pred, s.kind, s.since] for s in turn.slots] or [[*head, *[None] * 5]]
    title = f"{explanation.dialogue}, {explanation.system}, {explanation.protocol}, {explanation.metric}"
    return Table(columns, rows, frozenset({1, 3, 4, 9}), title=title)
