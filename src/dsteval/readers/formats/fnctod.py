"""FnCTOD's output: {dialogue: [{"bspn", "bspn_gen", "turn_num", ...}, ...]}, both sides as belief spans."""

from __future__ import annotations

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Side
from dsteval.readers.base import Flattener, Grouped, Options, Reader
from dsteval.readers.belief_spans import add_listed
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["FNCTOD"]


class _Fnctod(Reader):
    """Reads the spans. ``bspn_dict_gen`` is not the turn's: FnCTOD stores one object at all turns of a
    dialogue, so that in a finished file each of them shows the last state.
    """

    name = "fnctod"
    about = 'FnCTOD output: {dialogue: [{"bspn": span, "bspn_gen": span, "bspn_dict_gen": {...}, ...}, ...]}'
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Dialogues that are lists of turns with bspn_gen and bspn_dict_gen."""
        record = source.first_record
        turns = record if source.kind == "object" and isinstance(record, list) else ()
        fits = any(isinstance(turn, dict) and {"bspn_gen", "bspn_dict_gen"} <= turn.keys() for turn in turns)
        return "lists of turns with 'bspn_gen' and 'bspn_dict_gen'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        for name, raw in source.members():
            add_listed(turns, name, decode(raw, f"{source.name}, dialogue {name!r}").value)
        return turns.dialogues(options.updated())


FNCTOD = _Fnctod()
