"""States as belief spans: the JSON of UBAR and PPTOD, by dialogue or flat, and the CSV of DAMD, MinTL and UBAR."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, numbered, turn_number
from dsteval.readers.belief_spans import FIELDS, add_listed, add_turn
from dsteval.readers.json_pairs import Pairs, decode
from dsteval.readers.source import Source

__all__ = ["BELIEF_TEXT"]

_KEYS = ("dial_id", "turn_num", "trun_num")
_COLUMNS = ("dial_id", "turn_num", *FIELDS)


class _BeliefText(Reader):
    """Reads ``bspn`` and ``bspn_gen`` of each turn: {dialogue: {turn: {...}}}, {dialogue: [{...}, ...]}, and rows
    with ``dial_id`` and ``turn_num`` in a JSON list or as CSV, which may have a title above its header.

    The tools write a row before each dialogue that holds only its name and how many turns it has. Such a row is
    no turn: it is told by being the first of its dialogue, with nothing but a number above 0.
    """

    name = "belief-text"
    about = "UBAR, PPTOD, DAMD, MinTL: bspn and bspn_gen, spans '[hotel] area north', as JSON or result.csv"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Turns or rows with bspn_gen, and not FnCTOD's bspn_dict_gen; a CSV header with dial_id and a span."""
        record = source.first_record
        if source.kind == "text":
            heads = source.data[:65536].decode("utf-8", "replace").split("\n")[:2]
            return "a header with dial_id and a span" if any(map(_is_header, heads)) else ""
        if source.kind == "list":
            fits = isinstance(record, dict) and {"dial_id", "bspn_gen"} <= record.keys()
            return "objects with 'dial_id' and 'bspn_gen'" if fits else ""
        listed = record.values() if isinstance(record, dict) else record if isinstance(record, list) else ()
        keys = {key for turn in listed if isinstance(turn, dict) for key in turn}
        fits = source.kind == "object" and "bspn_gen" in keys and "bspn_dict_gen" not in keys
        return "turns with 'bspn_gen'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        if source.kind == "object":
            for name, raw in source.members():
                _read_dialogue(name, decode(raw, f"{source.name}, dialogue {name!r}").value, turns)
        elif source.kind == "text":
            _read_rows(_table(source, turns), turns)
        else:
            rows = ((line, fields(chunk.value, f"{source.name}, {line}")) for line, chunk in source.records())
            _read_rows(rows, turns)
        return turns.dialogues(options.updated())


def _is_header(line: str) -> bool:
    cells = {cell.strip().strip('"') for cell in line.split(",")}
    return "dial_id" in cells and not cells.isdisjoint(FIELDS)


def _read_dialogue(name: str, value: Any, turns: Grouped) -> None:
    if isinstance(value, list) and not isinstance(value, Pairs):
        add_listed(turns, name, value)
        return
    problems = turns.flattener.problems
    turns.turns.setdefault(name, [])
    for number, turn in numbered(value, name, problems):
        add_turn(turns, name, number, fields(turn, f"{problems.source}, dialogue {name!r}, turn {number}"))


def _table(source: Source, turns: Grouped) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a CSV file under its column names, each with its line."""
    lines = source.text_lines()
    above = 0 if _is_header(lines[0]) else 1
    rows = csv.reader(io.StringIO("\n".join(lines[above:]), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        if not set(_COLUMNS) <= set(header) or len(set(header)) < len(header):
            expected = f"a header with {', '.join(_COLUMNS)}, each column named once"
            found = ", ".join(header[:8])
            raise ReadError(where=f"{source.name}, line {1 + above}", expected=expected, found=found)
        for cells in rows:
            line = f"line {rows.line_num + above}"
            if len(cells) == len(header):
                yield line, dict(zip(header, cells, strict=True))
            elif any(cell.strip() for cell in cells):
                expected = f"{len(header)} cells"
                turns.flattener.problems.add("", None, line=line, expected=expected, found=str(len(cells)))
                turns.total += 1
    except csv.Error as error:
        where = f"{source.name}, line {rows.line_num + above}"
        raise ReadError(where=where, expected="CSV", found=str(error)) from None


def _read_rows(rows: Iterable[tuple[str, dict[str, Any]]], turns: Grouped) -> None:
    """Take in rows of any dialogues; each must have as many turns as the row before it says, if there is one."""
    announced: dict[str, int] = {}
    for line, found in rows:
        label = found.get("dial_id")
        count = _announced(found)
        if count and isinstance(label, str) and label not in turns.turns and label not in announced:
            announced[label] = count
            continue
        number = turn_number(found.get("turn_num")) if found.keys() >= set(FIELDS) else None
        name = turns.place(line, label, number, found, f"{', '.join(_COLUMNS)} of a turn")
        if name is not None and number is not None:
            add_turn(turns, name, number, found)
    for name, count in announced.items():
        held = len(turns.turns.get(name, ()))
        if held != count:
            expected = f"{count} turns, as the row before them says"
            turns.flattener.problems.add(name, None, expected=expected, found=str(held))


def _announced(found: dict[str, Any]) -> int:
    """How many turns a row announces that holds nothing else; 0 for a turn, also for one that is empty."""
    if not found.keys() >= set(FIELDS) or any(value for key, value in found.items() if key not in _KEYS):
        return 0
    return turn_number(found.get("turn_num") or found.get("trun_num")) or 0


BELIEF_TEXT = _BeliefText()
