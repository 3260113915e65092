"""CSV and TSV with named columns: dialogue_id, turn_id, and states as JSON cells or a column for each slot."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.errors import OptionError, ReadError, first_few
from dsteval.readers.base import Flattener, Grouped, Options, Reader, turn_number
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["TABLE"]

_KEYS = ("dialogue_id", "turn_id")
_PLAIN = frozenset({*_KEYS, "system", "user"})
_STATES = ("ref", "pred", "state")


class _Table(Reader):
    """Reads a header row, then one row a turn.

    ``ref``, ``pred`` or ``state`` hold a state as JSON. Or each slot has a column: ``ref:hotel-area`` and
    ``pred:hotel-area`` for two sides, ``hotel-area`` alone for one. An empty cell is an absent slot.
    """

    name = "table"
    about = "CSV or TSV: columns dialogue_id, turn_id, then ref, pred or state as JSON, or a column per slot"
    sides = "both or one"
    ref_fields = True

    def sniff(self, source: Source) -> str:
        """A header with dialogue_id and turn_id."""
        if source.kind != "text":
            return ""
        header = source.data[:65536].split(b"\n", 1)[0].decode("utf-8", "replace")
        cells = {cell.strip().strip('"') for cell in header.split(_delimiter(header))}
        return "a header with dialogue_id and turn_id" if set(_KEYS) <= cells else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        text = "\n".join(source.text_lines())
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.split("\n", 1)[0]), strict=True)
        turns = Grouped(Flattener(source.name))
        try:
            header = [name.strip() for name in next(rows)]
            if not set(_KEYS) <= set(header) or len(set(header)) < len(header):
                expected = "a header with dialogue_id and turn_id, each column named once"
                raise ReadError(where=f"{source.name}, line 1", expected=expected, found=", ".join(header[:8]))
            _check_columns(header, source.name)
            if options.ref_field is not None and options.ref_field not in header:
                where = f"{source.name}, --ref-field {options.ref_field}"
                raise OptionError(where=where, expected="a column of the table", found=", ".join(header[:8]))
            for cells in rows:
                if any(cell.strip() for cell in cells):
                    _row(f"line {rows.line_num}", header, cells, turns, side, options)
        except csv.Error as error:
            where = f"{source.name}, line {rows.line_num}"
            raise ReadError(where=where, expected="CSV or TSV", found=str(error)) from None
        return turns.dialogues(options.updated("pred" if "pred" in header else side))


def _check_columns(header: list[str], source: str) -> None:
    """Where slots stand under ref: and pred:, a slot column without is a slip. Raises ReadError for one."""
    sided = [name for name in header if name.startswith(("ref:", "pred:"))]
    odd = [name for name in header if "-" in name and name not in sided]
    if sided and odd:
        expected = "slot columns that all start with ref: or pred:"
        raise ReadError(where=f"{source}, line 1", expected=expected, found=first_few(odd))


def _delimiter(header: str) -> str:
    return "\t" if "\t" in header else ";" if ";" in header and "," not in header else ","


def _row(line: str, header: list[str], cells: list[str], turns: Grouped, side: Side, options: Options) -> None:
    if len(cells) != len(header):
        found = str(len(cells))
        turns.flattener.problems.add("", None, line=line, expected=f"{len(header)} cells", found=found)
        return
    row = dict(zip(header, cells, strict=True))
    number = turn_number(row["turn_id"])
    name = turns.place(line, row["dialogue_id"], number, row, "a dialogue_id and a number as turn_id")
    if name is None or number is None:
        return
    turn = Turn(number, system=row.get("system"), user=row.get("user"))
    for target, items in _sides(row, name, number, turns.flattener, side, options).items():
        if target == "ref":
            turn.ref = items
        else:
            turn.pred = items
    turns.add(name, turn)


def _sides(
    row: dict[str, str], name: str, number: int, flattener: Flattener, side: Side, options: Options
) -> dict[str, Items]:
    sides: dict[str, Items] = {}
    for column, cell in row.items():
        if column in _PLAIN:
            continue
        target, colon, slot = column.partition(":")
        if column in _STATES or column == options.ref_field:
            chosen = side if column == "state" else "pred" if column == "pred" else "ref"
            if chosen == "ref" and options.ref_field not in (None, column):
                continue
            sides[chosen] = flattener.items(
                _state(cell, f"{flattener.problems.source}, dialogue {name!r}, turn {number}, {column}"),
                name,
                number,
            )
        elif colon and target in ("ref", "pred"):
            sides.setdefault(target, []).extend([(slot, cell)] if cell.strip() else [])
        elif "-" in column:
            sides.setdefault(side, []).extend([(column, cell)] if cell.strip() else [])
    return sides


def _state(cell: str, where: str) -> Any:
    return decode(cell.encode(), where).value if cell.strip() else {}


TABLE = _Table()
