"""Hi-DST's log_test: {dialogue: {turn: {"gt", "pr", "pr_turn", ...}}}, flat states, both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, numbered, shown
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["HIDST"]

_STATES = ("gt", "pr", "pr_turn")


class _Hidst(Reader):
    """Reads ``gt`` and ``pr`` as the two states and ``pr_turn`` as what the tracker changed at the turn.

    Hi-DST's own script scores what it adds up from ``pr_turn``, whose spelling may differ from that of ``pr``.
    """

    name = "hidst"
    about = 'Hi-DST log_test: {dialogue: {turn: {"gt": {slot: value}, "pr": {...}, "pr_turn": {...}, ...}}}'
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Turns with the keys gt, pr and pr_turn."""
        record = source.first_record
        turns = record.values() if source.kind == "object" and isinstance(record, dict) else ()
        fits = any(isinstance(turn, dict) and turn.keys() >= set(_STATES) for turn in turns)
        return "turns with 'gt', 'pr' and 'pr_turn'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        for name, raw in source.members():
            _read_dialogue(name, decode(raw, f"{source.name}, dialogue {name!r}").value, turns)
        return turns.dialogues(options.updated())


def _read_dialogue(name: str, value: Any, turns: Grouped) -> None:
    flattener = turns.flattener
    turns.turns.setdefault(name, [])
    for number, turn in numbered(value, name, flattener.problems):
        found = fields(turn, f"{flattener.problems.source}, dialogue {name!r}, turn {number}")
        if not found.keys() >= set(_STATES):
            flattener.problems.add(name, number, expected="an object with gt, pr and pr_turn", found=shown(turn))
            turns.total += 1
            continue
        ref, pred, update = (flattener.items(found[key], name, number) for key in _STATES)
        system, user = (flattener.utterance(found.get(key), name, number) for key in ("a_sys", "a_usr"))
        turns.add(name, Turn(number, ref, pred, system, user, pred_update=update))


HIDST = _Hidst()
