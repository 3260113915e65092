"""T5DST's output (Zero-Shot-DST, TransferQA, Prompter): lists of 'domain-slot-value', both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, numbered, shown
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["T5DST"]


class _T5dst(Reader):
    """Reads {dialogue: {"domain", "turns": {turn: {"turn_belief", "pred_belief"}}}}.

    ``domain`` is the dialogue's first domain, not the one that is tested; it is not used.
    """

    name = "t5dst"
    about = "T5DST prediction: {dialogue: {turns: {turn: {turn_belief, pred_belief}}}}, lists of domain-slot-value"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Dialogues with turns that hold turn_belief and pred_belief."""
        record = source.first_record
        turns = record.get("turns") if source.kind == "object" and isinstance(record, dict) else None
        found = turns.values() if isinstance(turns, dict) else ()
        fits = any(isinstance(turn, dict) and {"turn_belief", "pred_belief"} <= turn.keys() for turn in found)
        return "turns with turn_belief and pred_belief" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        for name, raw in source.members():
            _read_dialogue(name, decode(raw, f"{source.name}, dialogue {name!r}").value, turns)
        return turns.dialogues(options.updated())


def _read_dialogue(name: str, value: Any, grouped: Grouped) -> None:
    problems, glued = grouped.flattener.problems, grouped.flattener.glued
    grouped.turns.setdefault(name, [])
    turns = fields(value, f"{problems.source}, dialogue {name!r}").get("turns")
    if turns is None:
        problems.add(name, None, expected='an object with "turns"', found=shown(value))
        return
    for number, turn in numbered(turns, name, problems):
        found = fields(turn, f"{problems.source}, dialogue {name!r}, turn {number}")
        if not {"turn_belief", "pred_belief"} <= found.keys():
            problems.add(name, number, expected="turn_belief and pred_belief", found=shown(turn))
            grouped.total += 1
        else:
            ref, pred = glued(found["turn_belief"], name, number), glued(found["pred_belief"], name, number)
            grouped.add(name, Turn(number, ref, pred))


T5DST = _T5dst()
