"""TripPy's right/wrong marks: {dialogue: {turn: [1, 0, ...]}}, one mark a slot, no values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import Problems
from dsteval.readers.base import Options, Reader, by_number, numbered, shown
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["TRIPPY_BITS"]


class _TrippyBits(Reader):
    """Reads marks of 0 and 1; which slot each belongs to is the protocol's to say."""

    name = "trippy-bits"
    about = "TripPy correctness bits: {dialogue: {turn: [1, 0, ...]}}, a mark per slot, no values"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Turns that are lists of 0 and 1."""
        record = source.first_record
        turns = record.values() if isinstance(record, dict) and source.kind == "object" else ()
        return "turns that are lists of 0 and 1" if any(map(_are_bits, turns)) else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        problems = Problems(source.name)
        total = 0
        width: int | None = None
        for name, raw in source.members():
            value, _ = decode(raw, f"{source.name}, dialogue {name!r}")
            turns: list[Turn] = []
            for number, bits in numbered(value, name, problems):
                width = len(bits) if width is None and _are_bits(bits) else width
                if not _are_bits(bits) or len(bits) != width:
                    expected = f"{width or 'some'} marks of 0 and 1"
                    problems.add(name, number, expected=expected, found=shown(bits))
                else:
                    turns.append(Turn(number, correctness=bits))
            total += len(turns)
            yield Dialogue(name, by_number(name, turns, problems))
        problems.check(total)


def _are_bits(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(bit) is int and bit in (0, 1) for bit in value)


TRIPPY_BITS = _TrippyBits()
