"""A table, and the forms it is written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dsteval.errors import printable

__all__ = ["FORMS", "Cell", "Table", "text"]

Cell = str | int | float | None

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass
class Table:
    """Columns with a heading each, rows of cells, and notes below.

    ``right`` tells which columns hold numbers. ``narrow`` stands in where a terminal has no room for this table
    even if it is turned round. ``tidy`` is the table
    to write as CSV where that has another shape than the one for the eye; ``in_tidy`` marks one whose figures
    are in another's tidy table already.
    """

    columns: list[str]
    rows: list[list[Cell]]
    right: frozenset[int] = frozenset()
    title: str = ""
    notes: list[str] = field(default_factory=list)
    tidy: Table | None = None
    narrow: Table | None = None
    in_tidy: bool = False

    def transposed(self) -> Table:
        """Rows and columns exchanged; the first column becomes the heading."""
        heads = [str(row[0]) for row in self.rows]
        rows: list[list[Cell]] = [
            [name, *(row[number] for row in self.rows)] for number, name in enumerate(self.columns) if number
        ]
        return Table(["", *heads], rows, frozenset(range(1, len(heads) + 1)), self.title, self.notes)

    def width(self) -> int:
        """Characters a line takes in the terminal, columns two blanks apart."""
        widths = [max(len(line) for line in name.split("\n")) for name in self.columns]
        for row in self.rows:
            widths = [max(width, len(text(cell))) for width, cell in zip(widths, row, strict=True)]
        return sum(widths) + 2 * len(widths)


def text(cell: Cell) -> str:
    """A cell as people read it."""
    return "-" if cell is None else str(cell)


def to_csv(table: Table) -> str:
    """CSV with a heading row; an undefined cell is empty."""
    table = table.tidy or table
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name.replace("\n", "") for name in table.columns])
    writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
    return out.getvalue()


def to_md(table: Table) -> str:
    """A Markdown table, notes below it."""

    def line(cells: Sequence[Cell]) -> str:
        texts = (printable(text(cell)).replace("|", r"\|").replace("\n", " ") for cell in cells)
        return "| " + " | ".join(texts) + " |"

    rule = ["---:" if number in table.right else "---" for number in range(len(table.columns))]
    heads = [name.replace("\n", "") for name in table.columns]
    lines = [line(heads), line(rule), *map(line, table.rows)]
    return "\n".join(lines) + "\n" + "".join(f"\n{note}\n" for note in table.notes)


def to_latex(table: Table) -> str:
    """A booktabs tabular, notes as comments above it."""

    def line(cells: Sequence[Cell]) -> str:
        texts = (printable(text(cell)).replace("\n", "") for cell in cells)
        return " & ".join("".join(_LATEX.get(c, c) for c in one) for one in texts) + r" \\"

    align = "".join("r" if number in table.right else "l" for number in range(len(table.columns)))
    notes = [f"% {note}" for note in [table.title, *table.notes] if note]
    body = [r"\toprule", line(table.columns), r"\midrule", *map(line, table.rows), r"\bottomrule"]
    return "\n".join([*notes, rf"\begin{{tabular}}{{{align}}}", *body, r"\end{tabular}"]) + "\n"


FORMS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_md, "latex": to_latex}
"""Writers by the name that ``--as`` takes; text and JSON have their own."""
