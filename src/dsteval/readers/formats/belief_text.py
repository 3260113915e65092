"""States as belief spans: the JSON of UBAR and PPTOD, by dialogue or flat, and the CSV of DAMD, MinTL and UBAR."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side
from dsteval.errors import ReadError, require
from dsteval.readers.base import Grouped, Options, Sign, Sureness, fields, first_object, turn_number
from dsteval.readers.belief_spans import FIELDS, SpanFormat
from dsteval.readers.source import Source

_KEYS = ("dial_id", "turn_num", "trun_num")
_COLUMNS = ("dial_id", "turn_num", *FIELDS)


class _BeliefText(SpanFormat):
    """Reads dialogues {turn: {...}} or [{...}, ...], and rows with ``dial_id`` and ``turn_num`` in a JSON list or
    as CSV, which may have a title above its header.

    The tools write a row before each dialogue that holds only its name and how many turns it has. Such a row is
    no turn: it is told by being the first of its dialogue, with nothing but a number above 0.
    """

    def sniff(self, source: Source) -> Sign | None:
        """Turns or rows with bspn_gen, and not FnCTOD's bspn_dict_gen; a CSV header with dial_id and a span."""
        if source.kind == "text":
            heads = source.head.decode("utf-8", "replace").split("\n")[:2]
            return Sign("a header with dial_id and a span", self.sureness) if any(map(_is_header, heads)) else None
        if {"dial_id", "bspn_gen"} <= first_object(source, "list").keys():
            return Sign("objects with 'dial_id' and 'bspn_gen'", self.sureness)
        return super().sniff(source)

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        if source.kind == "object":
            return super().read(source, side, options)
        turns = Grouped(source.name)
        if source.kind == "text":
            rows = _table(source, turns)
        else:
            rows = ((line, fields(chunk.value, f"{source.name}, {line}")) for line, chunk in source.records())
        announced: dict[str, int] = {}
        for line, record in rows:
            label, count = record.get("dial_id"), _announced(record)
            if count and isinstance(label, str) and label not in turns.turns and label not in announced:
                announced[label] = count
                continue
            number = record.get("turn_num") if record.keys() >= set(FIELDS) else None
            if place := turns.place(line, label, number, record, f"{', '.join(_COLUMNS)} of a turn"):
                turns.add(place[0], self.turn(record, *place, side, turns))
        for name, count in announced.items():
            given = sum(turn.ref is not None for turn in turns.turns.get(name, ()))
            if given != count:
                expected = f"{count} turns, as announced by the row before them"
                turns.problems.add(name, None, expected=expected, found=str(given))
        return turns.dialogues(options.updated())


def _is_header(line: str) -> bool:
    cells = {cell.strip().strip('"') for cell in line.split(",")}
    return "dial_id" in cells and not cells.isdisjoint(FIELDS)


def _table(source: Source, turns: Grouped) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a CSV file under its column names, each with its line."""
    above = 0 if _is_header(source.text_lines()[0]) else 1
    rows = source.cells("CSV", above=above)
    header = [name.strip() for name in next(rows, ("", []))[1]]
    usable = set(_COLUMNS) <= set(header) and len(set(header)) == len(header)
    expected = f"a header with {', '.join(_COLUMNS)}, each column named once"
    require(usable, f"{source.name}, line {1 + above}", expected, ", ".join(header[:8]), ReadError)
    for line, cells in rows:
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        elif any(cell.strip() for cell in cells):
            turns.note_line(line, f"{len(header)} cells", str(len(cells)))
            turns.total += 1


def _announced(record: dict[str, Any]) -> int:
    """How many turns a row announces that holds nothing else; 0 for a turn, also for one that is empty."""
    if not record.keys() >= set(FIELDS) or any(value for key, value in record.items() if key not in _KEYS):
        return 0
    return turn_number(record.get("turn_num") or record.get("trun_num")) or 0


BELIEF_TEXT = _BeliefText(
    name="belief-text",
    about="UBAR, PPTOD, DAMD, MinTL: bspn and bspn_gen, spans '[hotel] area north', as JSON or result.csv",
    sign="turns with 'bspn_gen'",
    sureness=Sureness.GENERIC,
    marks=("bspn_gen",),
    unlike=frozenset({"bspn_dict_gen"}),
    expected="a turn with bspn, bspn_gen and a number as turn_num",
    layout="either",
    number="turn_num",
)
