"""The input of MultiWOZ_Evaluation (mwzeval): {dialogue: [{"response", "state", ...}, ...]}; one side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, fields, one_sided, shown
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["MWZEVAL"]


class _Mwzeval(Reader):
    """Reads the states; a turn's number is its position. A file of responses without states is no DST output."""

    name = "mwzeval"
    about = 'mwzeval input: {dialogue: [{"response": text, "state": {domain: {slot: value}}}, ...]}'
    sides = "one"

    def sniff(self, source: Source) -> str:
        """Dialogues that are lists of turns with a state."""
        record = source.first_record
        turns = record if source.kind == "object" and isinstance(record, list) else ()
        keys = {key for turn in turns if isinstance(turn, dict) for key in turn}
        fits = "state" in keys and not keys & {"bspn", "speaker", "bspn_gen"}
        return "dialogues that are lists of turns with 'state'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        total = 0
        for name, raw in source.members():
            value, doubled = decode(raw, f"{source.name}, dialogue {name!r}")
            if not isinstance(value, list):
                flattener.problems.add(name, None, expected="a list of turns", found=shown(value))
                value = []
            turns = [_turn(name, number, turn, side, flattener) for number, turn in enumerate(value)]
            total += len(turns)
            yield Dialogue(name, turns, doubled, options.updated(side), keyed=False)
        flattener.problems.check(total)


def _turn(name: str, number: int, value: Any, side: Side, flattener: Flattener) -> Turn:
    found = fields(value, f"{flattener.problems.source}, dialogue {name!r}, turn {number}")
    if "state" not in found:
        expected = "a turn with a state"
        flattener.problems.add(name, number, expected=expected, found=shown(value))
        return one_sided(side, number, [])
    return one_sided(side, number, flattener.items(found["state"], name, number))


MWZEVAL = _Mwzeval()
