"""Tables in the terminal."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from dsteval.errors import printable
from dsteval.render.table import Cell, Table, is_bold, text

_MEASURE = 80
"""How many columns there are where there is no terminal, and COLUMNS does not say."""
_NARROWEST = 10  # what is left for a line beside its margin
_LONG = 20  # a word that is longer may be broken in a table


def console(file: IO[str]) -> Console:
    """A console for a stream: coloured where it is a terminal and NO_COLOR is not set, else 80 columns wide."""
    made = partial(Console, file=file, highlight=False, emoji=False, markup=False)
    if file.isatty():
        return made()
    columns = os.environ.get("COLUMNS", "")
    return made(width=int(columns) if columns.isdecimal() and int(columns) else _MEASURE, color_system=None)


Piece: TypeAlias = str | tuple[str, str]
"""A part of a line, which may have a style."""


class LinePrinter:
    """Prints lines of pieces to a stream as ``console`` has it; what is too long is wrapped.

    Where nothing is coloured or wrapped, rich would take ten times as long to write the same.
    """

    def __init__(self, file: IO[str]) -> None:
        self._out, self._file, self._plain = console(file), file, not file.isatty()

    def __call__(self, *pieces: Piece, hang: int = 0, margin: tuple[Piece, str] = ("", "")) -> None:
        """Print a line; if it is wrapped, its other lines ``hang``, each behind the second of the ``margin``."""
        first, other = margin
        line = "".join(piece if isinstance(piece, str) else piece[0] for piece in (first, *pieces))
        if self._plain and line.isascii() and len(line) <= self._out.width:
            self._file.write(f"{line}\n")
            return
        style = first[1] if isinstance(first, tuple) else ""
        before, body = Text.assemble(first), Text.assemble(*pieces)
        room = max(self._out.width - before.cell_len, 2 * _NARROWEST)
        if body.cell_len <= room:
            self._print(before + body)
            return
        start = body.wrap(self._out, room)[0]
        self._print(before + start)
        left = body[len(start) :]
        left = left[len(left) - len(left.plain.lstrip()) :]
        for further in left.wrap(self._out, max(room - hang, _NARROWEST)):
            self._print(Text(other, style) + Text(" " * hang) + further)

    def _print(self, line: Text) -> None:
        line.rstrip()
        self._out.print(line, soft_wrap=True)


def show(tables: list[Table], file: IO[str]) -> None:
    """Print tables; one that is too wide is turned round, or its columns are split over several."""
    out = console(file)
    for table in tables:
        if table.title:
            out.print(Text(printable(table.title)), style="bold")
        for number, block in enumerate(_fitting(table, out.width)):
            if number:
                out.print()
            out.print(_rich(block, out.width))
        for note in table.notes:
            for line in wrapped(printable(note), out.width):
                out.print(Text(line), style="dim", soft_wrap=True)


_PIECES = re.compile(r"\s+|[^\s|]+\|*|\|+")


def wrapped(note: str, width: int) -> Iterator[str]:
    """The lines of a note: broken between words, and in a signature behind a "|"; all but the first are indented.

    >>> list(wrapped("  signature a:1|b:2|c:3", 16))
    ['  signature a:1|', '    b:2|c:3']
    """
    indent = " " * (len(note) - len(note.lstrip()) + 2)
    line = ""
    for piece in _PIECES.findall(note):
        if line.strip() and cell_len(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = indent + piece.lstrip()
        else:
            line += piece
    yield line.rstrip()


def _fitting(table: Table, width: int) -> list[Table]:
    """The table itself where its texts can be wrapped to fit, else turned round, or in parts that fit."""
    if _narrowest(table) <= width:
        return [table]
    if len(table.rows) < len(table.columns):
        turned = table.transposed()
        if turned.width() <= width:
            return [turned]
    return _split(table, width)


def _narrowest(table: Table) -> int:
    """The columns that a table takes where its texts are wrapped as much as they may be."""
    return sum(_least(table)) + 2 * len(table.columns) - 2


def _least(table: Table) -> list[int]:
    """The least width of each column: numbers are not wrapped, nor are words that are not very long."""
    least = []
    for place, width in enumerate(table.widths()):
        words = (word for row in [table.columns, *table.rows] for word in text(row[place]).split())
        least.append(width if place in table.right else min(max(map(len, words), default=0), _LONG))
    return least


def _wrapped_widths(table: Table, width: int) -> list[int]:
    """The widths of columns whose texts are wrapped to fit, the widest most."""
    widths, least, room = table.widths(), _least(table), width - 2 * len(table.columns) + 2
    if sum(widths) <= room:
        return widths
    if sum(least) > room:  # then words are broken, not numbers
        least = [low if place in table.right else min(low, _NARROWEST) for place, low in enumerate(least)]
    fitting = (
        wrapped
        for most in range(max(widths), 0, -1)
        if sum(wrapped := [min(one, max(low, most)) for one, low in zip(widths, least, strict=True)]) <= room
    )
    return next(fitting, least)


def _split(table: Table, width: int) -> list[Table]:
    """The table's columns in parts that fit, each with the first ones, which are texts."""
    widths = table.widths()
    keys = next((place for place in range(1, len(widths)) if place in table.right), len(widths))
    least = _least(table)
    taken = sum(least[:keys]) + 2 * keys - 2
    parts: list[list[int]] = [[]]
    room = width - taken
    for place in range(keys, len(widths)):
        needed = 2 + least[place]
        if needed > room and parts[-1]:
            parts.append([])
            room = width - taken
        parts[-1].append(place)
        room -= needed
    return [table.part([*range(keys), *part]) for part in parts]


def _rich(table: Table, width: int) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    columns: list[list[Text]] = []
    widths = _wrapped_widths(table, width)
    for number, name in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        signed = any(getattr(cell, "sign", "") for cell in cells)
        head, *texts = _signed(name, cells) if signed else map(printable, [name, *map(text, cells)])
        side: JustifyMethod = "right" if number in table.right and not signed else "left"
        fixed = number in table.right
        drawn.add_column(Text(head), justify=side, overflow="fold", no_wrap=fixed, width=widths[number])
        styles = ("bold" if is_bold(cell) else "" for cell in cells)
        columns.append(list(map(Text, texts, styles)))
    for row in zip(*columns, strict=True):
        drawn.add_row(*row)
    return drawn


def _signed(name: str, cells: Sequence[Cell]) -> list[str]:
    """Heading and cells of a column of numbers with signs, which stand beyond the last digit."""
    signs = ["", *(getattr(cell, "sign", "") for cell in cells)]
    bare = [one.removesuffix(sign) for one, sign in zip([name, *map(text, cells)], signs, strict=True)]
    width, room = max(map(len, bare)), max(map(len, signs))
    return [f"{one:>{width}}{sign:<{room}}" for one, sign in zip(bare, signs, strict=True)]
