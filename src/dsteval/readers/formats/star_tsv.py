"""STAR's and SUMBT's tsv: one row a turn, a column a slot; references."""

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Items, Side
from dsteval.errors import ReadError, require
from dsteval.readers.base import Grouped, Options, Reader, Sign, first_double, one_sided
from dsteval.readers.source import Source

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

    def sniff(self, source: Source) -> Sign | None:
        """A first line that starts with '# Dialogue ID' and a tab."""
        return Sign("a first line '# Dialogue ID'") if source.head.startswith(f"{_ID}\t".encode()) else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        lines = source.text_lines()
        where = f"{source.name}, line 1"
        names = [name.strip() for name in lines[0].split("\t")]
        expected = f"a header with {_ID!r} and {_TURN!r}"
        require({_ID, _TURN} <= set(names), where, expected, repr(lines[0][:60]), ReadError)
        twice = first_double(list(filter(None, names)))
        require(twice is None, where, "each column once", f"{twice!r} twice", ReadError)
        # A trailing tab makes a last empty column in some files' header and not in their rows, or the reverse.
        width = len(names) - (not names[-1])
        expected = f"a dialogue id and a number under {_TURN!r}"
        turns = Grouped(source.name)
        for number, line in enumerate(lines[1:], start=2):
            if not line.strip():
                continue
            cells = line.split("\t")
            if width not in (len(cells), len(cells) - (not cells[-1])):
                turns.note_line(f"line {number}", f"{width} columns", str(len(cells)))
                continue
            row = dict(zip(names[:width], cells[:width], strict=True))
            found = [row[_ID], row[_TURN]]
            if place := turns.place(f"line {number}", row[_ID].strip(), row[_TURN], found, expected):
                items: Items = [(slot, value) for slot, value in row.items() if slot not in _OTHER]
                system, user = (row.get(column) for column in _TEXTS)
                turns.add(place[0], one_sided(side, place[1], items, system, user))
        return turns.dialogues(options.updated(side))


STAR_TSV = _StarTsv()
