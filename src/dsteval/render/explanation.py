"""An explained dialogue: coloured in the terminal, or as a table of slots."""

from collections.abc import Hashable, Iterator
from typing import IO, TypeAlias

from dsteval.analysis.explanation import Explanation, SlotLine, TurnLine
from dsteval.analysis.worst_dialogues import Worst
from dsteval.errors import printable
from dsteval.metrics import parse
from dsteval.render.lanes import continued, gutters
from dsteval.render.table import Cell, Table
from dsteval.render.terminal import LinePrinter
from dsteval.results.numbers import number

_SIGN = {"right": " ", "missed": "-", "spurious": "+", "wrong": "~", "marked wrong": "x"}
_STYLE = {"right": "dim", "missed": "red", "spurious": "magenta", "wrong": "yellow", "marked wrong": "red"}
_OUTCOME = {"exact": "green", "type 1": "bold red", "type 2": "yellow"}

_Line: TypeAlias = tuple[Hashable | None, list[tuple[str, str]]]
"""Which error it belongs to, and its pieces, each with its style."""


def show_explanation(explanation: Explanation, file: IO[str], whole: Explanation) -> None:
    """Print the dialogue turn by turn: utterances, both states, and what each wrong slot is.

    The heading tells the numbers of ``whole``, where not all of its turns are shown.
    """
    write, turns = LinePrinter(file), whole.turns
    rights = sum(turn.outcome == "exact" for turn in turns)
    mean = sum(turn.weight for turn in turns) / max(1, len(turns))
    scores = f"{rights} of {len(turns)} turns right, {explanation.metric} {number(mean, 100)}"
    head = "  ".join(map(_clean, (explanation.system, explanation.protocol, scores)))
    write((_clean(explanation.dialogue), "bold"), f"  {head}", hang=2)
    lines = [line for turn in explanation.turns for line in _lines(turn)]
    for gutter, (_, pieces) in zip(gutters([key for key, _ in lines]), lines, strict=True):
        # The arrows keep their place and their colour, whatever the line is about.
        write(*pieces, hang=_hang(pieces), margin=((gutter, "cyan"), continued(gutter)))
    write()
    marked = any(slot.kind == "marked wrong" for turn in explanation.turns for slot in turn.slots)
    signs = "- missed   + spurious   ~ wrong value   * new or changed in the reference"
    write(("x marked wrong" if marked else signs, "dim"))


def _lines(turn: TurnLine) -> Iterator[_Line]:
    """One turn: its verdict, what was said, and a line for each slot."""
    yield None, []
    yield None, [(f"turn {turn.turn}  ", ""), _verdict(turn)]
    yield from ((None, [line]) for line in _said(turn))
    width = max((len(_clean(slot.slot)) for slot in turn.slots), default=0)
    for slot in turn.slots:
        key = None if slot.since is None else (slot.slot, slot.since)
        yield key, [(f"  {_SIGN[slot.kind]} {_clean(slot.slot):<{width}}  {_states(slot)}", _STYLE[slot.kind])]
    if not turn.slots:
        yield None, [("    both states are empty" if turn.outcome == "exact" else "    no slot", "dim")]


def _hang(pieces: list[tuple[str, str]]) -> int:
    """Where the further lines of one that is wrapped begin: below what was said, or below a slot's value."""
    return 10 if pieces and pieces[0][0].startswith(("  system  ", "  user    ")) else 6


def _clean(text: str) -> str:
    return printable(" ".join(text.split()))


def _value(value: str | None) -> str:
    return "nothing" if value is None else _clean(value) or "''"


def _said(turn: TurnLine) -> Iterator[tuple[str, str]]:
    for who, text, style in (("system", turn.system, "dim"), ("user  ", turn.user, "")):
        if text:
            yield f"  {who}  {_clean(text)}", style


def _verdict(turn: TurnLine | None) -> tuple[str, str]:
    """What became of a turn, with its colour."""
    if turn is None:
        return "-", "dim"
    counted = "" if turn.error_turn is None else f", counted from turn {turn.error_turn}, the last with a new one"
    more = {"type 1": ": a new error", "type 2": f": inherited errors only{counted}"}.get(turn.outcome, "")
    return f"{turn.outcome}, weight {number(turn.weight, digits=3)}{more}", _OUTCOME[turn.outcome]


def _states(slot: SlotLine) -> str:
    star = " *" if slot.new else ""
    if slot.kind == "right":
        pred = "" if slot.pred == slot.ref else f", pred {_value(slot.pred)}"
        return f"{_value(slot.ref)}{pred}{star}"
    since = ", ".join(filter(None, (slot.error, slot.relation, f"since turn {slot.since}")))
    if slot.kind == "marked wrong":
        return f"marked wrong  ({since})"
    return f"ref {_value(slot.ref)}, pred {_value(slot.pred)}{star}  ({since})"


def explanation_table(explanation: Explanation) -> Table:
    """One row per slot and turn; a turn without slots has one row."""
    own = ["slot", "ref", "pred", "kind", "since", "until", "error", "relation"]
    rows: list[list[Cell]] = []
    for turn in explanation.turns:
        head: list[Cell] = [explanation.dialogue, turn.turn, turn.outcome, round(turn.weight, 6), turn.error_turn]
        rows += [[*head, *(getattr(slot, name, None) for name in own)] for slot in turn.slots or (None,)]
    title = f"{explanation.dialogue}, {explanation.system}, {explanation.protocol}, {explanation.metric}"
    columns = ["dialogue", "turn", "outcome", "weight", "error turn", *own]
    return Table(columns, rows, {1, 3, 4, 9, 10}, title)


def worst_table(found: Worst) -> Table:
    """The worst dialogues, one a row."""
    columns = ["dialogue", found.metric, "turns", "right", "wrong slots", "first wrong turn"]
    scale = parse(found.metric).scale
    rows = [
        [one.dialogue, number(one.value, scale), one.turns, one.right, one.wrong_slots, one.first_wrong]
        for one in found.dialogues
    ]
    title = f"{found.system}: {len(rows)} of {found.of} dialogues, the worst first"
    notes = [f"{'in %; ' if scale == 100 else ''}protocol {found.protocol}"]
    return Table(columns, rows, range(1, 6), title, notes)


_Pair: TypeAlias = list[SlotLine | None]
_PairedTurn: TypeAlias = tuple[TurnLine, list[TurnLine | None], list[tuple[str, str | None, _Pair]]]
"""A turn of two systems: one of the two lines, which share what was said, both, and their slots.

A slot has its name, its reference, and the line of either system.
"""


def _paired(one: Explanation, other: Explanation) -> Iterator[_PairedTurn]:
    """The turns that either shows, by number."""
    by_number = [{turn.turn: turn for turn in side.turns} for side in (one, other)]
    for _, shown in sorted({**by_number[1], **by_number[0]}.items()):
        turns = [side.get(shown.turn) for side in by_number]
        by_slot = [{slot.slot: slot for slot in (turn.slots if turn else ())} for turn in turns]
        refs = {slot: line.ref for side in reversed(by_slot) for slot, line in side.items()}
        slots = [(slot, ref, [side.get(slot) for side in by_slot]) for slot, ref in sorted(refs.items())]
        yield shown, turns, slots


def show_side_by_side(one: Explanation, other: Explanation, file: IO[str]) -> None:
    """Print two systems' explanations of one dialogue side by side, turn by turn."""
    write = LinePrinter(file)
    head = f"  {_clean(one.system)} | {_clean(other.system)}  {_clean(one.protocol)}, {_clean(one.metric)}"
    write((_clean(one.dialogue), "bold"), head)
    for shown, turns, slots in _paired(one, other):
        write()
        write(f"turn {shown.turn}  ", _verdict(turns[0]), "  |  ", _verdict(turns[1]))
        for line in _said(shown):
            write(line, hang=10)
        # The reference, and what either system has, coloured by what it is.
        cells = [[_clean(slot), _value(ref), *map(_cell, lines)] for slot, ref, lines in slots]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for (slot, ref, ours, theirs), (_, _, lines) in zip(cells, slots, strict=True):
            styles = ["dim" if line is None else _STYLE[line.kind] for line in lines]
            left = f"    {slot:<{widths[0]}}  {ref:<{widths[1]}}  "
            both = (f"{ours:<{widths[2]}}", styles[0]), ("  |  ", "dim"), (theirs, styles[1])
            write((left, "dim"), *both, hang=6)


def _cell(line: SlotLine | None) -> str:
    """What a system has in a slot, with its sign and the kind of its error."""
    if line is None:
        return "  nothing"
    error = f"  ({line.error}, since turn {line.since})" if line.since is not None else ""
    return f"{_SIGN[line.kind]} {_value(line.pred)}{error}"


def side_by_side_table(one: Explanation, other: Explanation) -> Table:
    """One row per slot and turn, both systems' values in it."""
    own = ["pred", "kind", "error", "since"]
    columns = ["dialogue", "turn", "slot", "ref"]
    columns += [f"{side.system}: {name}" for side in (one, other) for name in own]
    rows = [
        [one.dialogue, shown.turn, slot, ref, *(getattr(line, name, None) for line in lines for name in own)]
        for shown, _, slots in _paired(one, other)
        for slot, ref, lines in slots
    ]
    return Table(columns, rows, {1, 7, 11}, f"{one.dialogue}, {one.protocol}")
