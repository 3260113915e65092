"""TripPy's right/wrong marks: {dialogue: {turn: [1, 0, ...]}}, one mark a slot, no values."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, Sign, by_number, falls, first_object, numbered
from dsteval.readers.source import Source


class _TrippyBits(Reader):
    """Reads marks of 0 and 1; which slot each belongs to is the protocol's to say."""

    name = "trippy-bits"
    about = "TripPy correctness bits: {dialogue: {turn: [1, 0, ...]}}, one mark per slot, no values"

    def sniff(self, source: Source) -> Sign | None:
        """Turns that are lists of 0 and 1."""
        fits = any(map(_are_bits, first_object(source, "object").values()))
        return Sign("turns that are lists of 0 and 1") if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        problems = flattener.problems
        width: int | None = None
        for name, chunk in source.dialogues():
            turns: list[Turn] = []
            for number, bits in numbered(chunk.value, name, problems):
                width = len(bits) if width is None and _are_bits(bits) else width
                if not _are_bits(bits) or len(bits) != width:
                    flattener.note(name, number, f"{width or 'some'} marks of 0 and 1", bits)
                else:
                    turns.append(Turn(number, correctness=bits))
            ordered = flattener.counted(by_number(name, turns, problems))
            yield Dialogue(name, ordered, shuffled=falls(turns))
        problems.check(flattener.total)


def _are_bits(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(bit) is int and bit in (0, 1) for bit in value)


TRIPPY_BITS = _TrippyBits()
