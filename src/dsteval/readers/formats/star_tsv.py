"""STAR's and SUMBT's tsv: one row a turn, a column a slot; references."""

from __future__ import annotations

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Items, Side
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener, Grouped, Options, Reader, one_sided, turn_number
from dsteval.readers.source import Source

__all__ = ["STAR_TSV"]

_ID, _TURN = "# Dialogue ID", "Turn Index"
_TEXTS = ("System Response", "User Utterance")
_OTHER = frozenset({_ID, _TURN, "Last Turn", *_TEXTS, ""})


class _StarTsv(Reader):
    """Reads columns by name, since STAR and SUMBT order them differently. There is no quoting: lines are cut at
    tabs. Every slot has a value, 'none' where it is not set.
    """

    name = "star-tsv"
    about = "STAR / SUMBT tsv: '# Dialogue ID', 'Turn Index', utterances, and a column for each slot"
    sides = "one"

    def sniff(self, source: Source) -> str:
        """A first line that starts with '# Dialogue ID' and a tab."""
        return "a first line '# Dialogue ID'" if source.data.startswith(f"{_ID}\t".encode()) else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        lines = source.text_lines()
        names = [name.strip() for name in lines[0].split("\t")]
        if _ID not in names or _TURN not in names:
            expected = f"a header with {_ID!r} and {_TURN!r}"
            raise ReadError(where=f"{source.name}, line 1", expected=expected, found=repr(lines[0][:60]))
        twice = next((name for name in names if name and names.count(name) > 1), None)
        if twice is not None:
            where = f"{source.name}, line 1"
            raise ReadError(where=where, expected="each column once", found=f"{twice!r} twice")
        turns = Grouped(Flattener(source.name))
        for number, line in enumerate(lines[1:], start=2):
            if line.strip():
                _row(f"line {number}", names, line.split("\t"), turns, side)
        return turns.dialogues(options.updated(side))


def _row(line: str, names: list[str], cells: list[str], turns: Grouped, side: Side) -> None:
    # A trailing tab makes a last empty column in some files' header and not in their rows, or the reverse.
    width = len(names) - (not names[-1])
    if len(cells) - (not cells[-1]) != width and len(cells) != width:
        problems = turns.flattener.problems
        problems.add("", None, line=line, expected=f"{width} columns", found=str(len(cells)))
        return
    row = dict(zip(names[:width], cells[:width], strict=True))
    number = turn_number(row[_TURN])
    found = [row[_ID], row[_TURN]]
    name = turns.place(line, row[_ID].strip(), number, found, f"a dialogue id and a number under {_TURN!r}")
    if name is not None and number is not None:
        items: Items = [(slot, value) for slot, value in row.items() if slot not in _OTHER]
        system, user = (row.get(column) for column in _TEXTS)
        turns.add(name, one_sided(side, number, items, system, user))


STAR_TSV = _StarTsv()
