"""TRADE's output: states as lists of 'domain-slot-value', both sides, as an object or as a flat list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, numbered, shown, turn_number
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["TRADE"]

_FLAT = ("dialogue_idx", "turn_idx", "belief_state", "pred_belief_state")


class _Trade(Reader):
    """Reads {dialogue: {turn: {"turn_belief", "pred_bs_ptr"}}} and the list of a fork, one object a turn.

    Relatives of the first form name the prediction pred_bs_class or the like: any one key that starts with
    pred_bs.
    """

    name = "trade"
    about = "TRADE all_prediction: lists of domain-slot-value under turn_belief and pred_bs_ptr, or a flat list"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Turns with turn_belief and pred_bs_..., or objects with belief_state and pred_belief_state."""
        record = source.first_record
        if source.kind == "list" and isinstance(record, dict) and set(_FLAT) <= record.keys():
            return "objects with belief_state and pred_belief_state"
        turns = record.values() if source.kind == "object" and isinstance(record, dict) else ()
        fits = any(isinstance(turn, dict) and "turn_belief" in turn and _predicted(turn) for turn in turns)
        return "turns with turn_belief and pred_bs_..." if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        if source.kind == "list":
            _read_list(source, turns)
        else:
            for name, raw in source.members():
                _read_dialogue(name, decode(raw, f"{source.name}, dialogue {name!r}").value, turns)
        return turns.dialogues(options.updated())


def _predicted(turn: dict[str, Any]) -> str:
    return next((key for key in turn if key.startswith("pred_bs")), "")


def _read_list(source: Source, turns: Grouped) -> None:
    for line, chunk in source.records():
        record = fields(chunk.value, f"{source.name}, {line}")
        number = turn_number(record.get("turn_idx")) if set(_FLAT) <= record.keys() else None
        expected = f"an object with {', '.join(_FLAT)}"
        name = turns.place(line, record.get("dialogue_idx"), number, chunk.value, expected)
        if name is not None and number is not None:
            _add(turns, name, number, record["belief_state"], record["pred_belief_state"])


def _read_dialogue(name: str, value: Any, turns: Grouped) -> None:
    problems = turns.flattener.problems
    turns.turns.setdefault(name, [])
    for number, turn in numbered(value, name, problems):
        found = fields(turn, f"{problems.source}, dialogue {name!r}, turn {number}")
        predicted = _predicted(found)
        if "turn_belief" not in found or not predicted:
            expected = "an object with turn_belief and pred_bs_ptr"
            problems.add(name, number, expected=expected, found=shown(turn))
            turns.total += 1
        else:
            _add(turns, name, number, found["turn_belief"], found[predicted])


def _add(turns: Grouped, name: str, number: int, ref: Any, pred: Any) -> None:
    glued = turns.flattener.glued
    turns.add(name, Turn(number, glued(ref, name, number), glued(pred, name, number)))


TRADE = _Trade()
