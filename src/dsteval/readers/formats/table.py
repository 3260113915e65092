"""CSV and TSV with named columns: dialogue_id, turn_id, and states as JSON cells or a column for each slot."""

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.errors import ReadError, first_few, require
from dsteval.readers.base import Flattener, Grouped, Options, Reader, Sign, Sureness
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source
from dsteval.values.slots import MULTIWOZ, canonical

_KEYS = ("dialogue_id", "turn_id")
_PLAIN = frozenset({*_KEYS, "system", "user"})
_STATES = ("ref", "pred", "state")


class _Table(Reader):
    """Reads a header row, then one row a turn.

    ``ref``, ``pred`` or ``state`` hold a state as JSON. Or each slot has a column: ``ref:hotel-area`` and
    ``pred:hotel-area`` for two sides, ``hotel-area`` alone for one. An empty cell is an absent slot.
    """

    name = "table"
    about = "CSV or TSV: columns dialogue_id, turn_id, then ref, pred or state as JSON, or one column per slot"
    sides = "both or one"
    ref_fields = True

    def sniff(self, source: Source) -> Sign | None:
        """A header with dialogue_id and turn_id."""
        if source.kind != "text":
            return None
        header = source.head.split(b"\n", 1)[0].decode("utf-8", "replace")
        cells = {cell.strip().strip('"') for cell in header.split(_delimiter(header))}
        return Sign("a header with dialogue_id and turn_id", Sureness.GENERIC) if cells.issuperset(_KEYS) else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        rows = source.cells("CSV or TSV", _delimiter(source.text_lines()[0]))
        header = [name.strip() for name in next(rows, ("", []))[1]]
        _check_header(header, source.name, options.ref_field)
        turns = Grouped(source.name)
        for line, cells in rows:
            if not any(map(str.strip, cells)):
                continue
            if len(cells) != len(header):
                turns.note_line(line, f"{len(header)} cells", str(len(cells)))
                continue
            row = dict(zip(header, cells, strict=True))
            expected = "a dialogue_id and a number as turn_id"
            if place := turns.place(line, row["dialogue_id"], row["turn_id"], row, expected):
                turn = Turn(place[1], system=row.get("system"), user=row.get("user"))
                for target, items in _states(row, *place, turns, side, options.ref_field).items():
                    setattr(turn, target, items)
                turns.add(place[0], turn)
        return turns.dialogues(options.updated("pred" if "pred" in header else side))


def _check_header(header: list[str], source: str, ref_field: str | None) -> None:
    line = f"{source}, line 1"
    columns = ", ".join(header[:8])
    usable = set(_KEYS) <= set(header) and len(set(header)) == len(header)
    expected = "a header with dialogue_id and turn_id, each column named once"
    require(usable, line, expected, columns, ReadError)
    held = [name for name in header if name in _STATES or name == ref_field or ":" in name or _is_slot(name)]
    expected = (
        "one row per turn with a column state (or ref and pred), or a column for each slot, such as hotel-area"
    )
    require(held, line, expected, f"no such column among {columns}", ReadError)
    # Where slots stand under ref: and pred:, a slot column without is a slip.
    sided = [name for name in header if name.startswith(("ref:", "pred:"))]
    bare = [name for name in header if "-" in name and name not in sided]
    expected = "slot columns that all start with ref: or pred:"
    require(not (sided and bare), line, expected, first_few(bare), ReadError)
    where = f"{source}, --ref-field {ref_field}"
    require(ref_field is None or ref_field in header, where, "a column of the table", columns)


def _is_slot(column: str) -> bool:
    return "-" in column or canonical(column) in MULTIWOZ


def _delimiter(header: str) -> str:
    return "\t" if "\t" in header else ";" if ";" in header and "," not in header else ","


def _states(
    row: dict[str, str], name: str, number: int, flattener: Flattener, side: Side, ref_field: str | None
) -> dict[str, Items]:
    """The states of a row by their sides."""
    states: dict[str, Items] = {}
    for column, cell in row.items():
        target, colon, slot = column.partition(":")
        if column in _PLAIN:
            continue
        if column in _STATES or column == ref_field:
            target = side if column == "state" else "pred" if column == "pred" else "ref"
            if target == "pred" or ref_field in (None, column):
                where = f"{flattener.where(name, number)}, {column}"
                state = decode(cell.encode(), where).value if cell.strip() else {}
                states[target] = flattener.items(state, name, number)
            continue
        if not colon or target not in ("ref", "pred"):
            target, slot = side, column
            if not _is_slot(column):
                continue
        items = states.setdefault(target, [])
        if cell.strip():
            items.append((slot, cell))
    return states


TABLE = _Table()
