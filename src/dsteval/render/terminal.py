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
            out.print(_rich(*block))
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


def _fitting(table: Table, width: int) -> list[tuple[Table, list[int]]]:
    """The table and its columns' widths, its texts wrapped; turned round, or in parts, where that does not fit."""
    widths = table.widths()
    if _line(widths) <= width:
        return [(table, widths)]
    least = _least(table, widths)
    if _line(least) <= width:
        return [(table, _wrapped_widths(widths, least, width))]
    if len(table.rows) < len(table.columns):
        turned = table.transposed()
        if _line(turned_widths := turned.widths()) <= width:
            return [(turned, turned_widths)]
    return list(_split(table, widths, least, width))


def _line(widths: Sequence[int]) -> int:
    """Characters that a line takes, columns two blanks apart."""
    return sum(widths) + 2 * len(widths) - 2


def _least(table: Table, widths: Sequence[int]) -> list[int]:
    """The least width of each column: numbers are not wrapped, nor are words that are not very long."""
    least = []
    for place, width in enumerate(widths):
        words = (word for row in [table.columns, *table.rows] for word in text(row[place]).split())
        least.append(width if place in table.right else min(max(map(len, words), default=0), _LONG))
    return least


def _wrapped_widths(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """The widths of columns whose texts are wrapped to fit, the widest most; the least ones if none fit."""
    for most in range(max(widths), 0, -1):
        wrapped = [min(one, max(low, most)) for one, low in zip(widths, least, strict=True)]
        if _line(wrapped) <= width:
            return wrapped
    return list(least)


def _split(
    table: Table, widths: Sequence[int], least: Sequence[int], width: int
) -> Iterator[tuple[Table, list[int]]]:
    """The table's columns in parts that fit, each with the first ones, which are texts."""
    keys = next((place for place in range(1, len(widths)) if place in table.right), len(widths))
    parts = [list(range(keys))]
    for place in range(keys, len(widths)):
        if len(parts[-1]) > keys and _line([least[one] for one in (*parts[-1], place)]) > width:
            parts.append(list(range(keys)))
        parts[-1].append(place)
    for part in parts:
        low = [least[place] for place in part]
        if _line(low) > width:  # then words are broken, not numbers
            low = [
                one if place in table.right else min(one, _NARROWEST) for place, one in zip(part, low, strict=True)
            ]
        yield table.part(part), _wrapped_widths([widths[place] for place in part], low, width)


def _rich(table: Table, widths: Sequence[int]) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    columns: list[list[Text]] = []
    for number, name in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        signed = any(getattr(cell, "sign", "") for cell in cells)
        head, *texts = _signed(name, cells) if signed else map(printable, [name, *map(text, cells)])
        is_number = number in table.right
        side: JustifyMethod = "right" if is_number and not signed else "left"
        drawn.add_column(Text(head), justify=side, overflow="fold", no_wrap=is_number, width=widths[number])
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
