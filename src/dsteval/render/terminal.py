"""Tables in the terminal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import IO, TypeAlias

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from dsteval.errors import printable
from dsteval.render.table import Cell, Table, is_bold, text

_WIDE = 100_000  # a pipe has no width; nothing is wrapped there


def console(file: IO[str]) -> Console:
    """A console for a stream: coloured where it is a terminal and NO_COLOR is not set."""
    made = partial(Console, file=file, highlight=False, emoji=False, markup=False)
    return made() if file.isatty() else made(width=_WIDE, color_system=None)


Piece: TypeAlias = str | tuple[str, str]
"""A part of a line, which may have a style."""


def line_printer(file: IO[str]) -> Callable[..., None]:
    """What prints one line, given its pieces, to a stream as ``console`` has it.

    Where nothing is coloured or wrapped, rich would take ten times as long to write the same.
    """
    out, plain = console(file), not file.isatty()

    def write(*pieces: Piece) -> None:
        line = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
        if plain and len(line) <= _WIDE // 2:  # a character may be two columns wide
            file.write(f"{line}\n")
        else:
            out.print(Text.assemble(*pieces))

    return write


def show(tables: list[Table], file: IO[str]) -> None:
    """Print tables; one that is too wide for the terminal is turned round."""
    out = console(file)
    for table in tables:
        if table.title:
            out.print(Text(printable(table.title)), style="bold")
        table = _fitting(table, out.width)
        out.print(_rich(table))
        for note in table.notes:
            # Not wrapped: a signature is there to be copied.
            out.print(Text(printable(note)), style="dim", soft_wrap=True)


def _fitting(table: Table, width: int) -> Table:
    """The table, turned round if it is too wide, or what stands in for it."""
    if table.width() <= width or len(table.rows) >= len(table.columns):
        return table
    turned = table.transposed()
    if turned.width() > width and table.narrow is not None:
        return _fitting(table.narrow, width)
    return turned


def _rich(table: Table) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    columns: list[list[Text]] = []
    for number, name in enumerate(table.columns):
        cells = [row[number] for row in table.rows]
        signed = any(getattr(cell, "sign", "") for cell in cells)
        head, *texts = _signed(name, cells) if signed else map(printable, [name, *map(text, cells)])
        side: JustifyMethod = "right" if number in table.right and not signed else "left"
        drawn.add_column(Text(head), justify=side, overflow="fold")
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
