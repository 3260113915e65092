"""A table, and the forms it is written in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from dsteval.errors import printable


class Marked(str):
    """A cell's text, bold or not, with a sign behind it; CSV has the bare text."""

    bold: bool
    sign: str

    def __new__(cls, text: str, bold: bool = False, sign: str = "") -> Marked:  # noqa: D102
        marked = super().__new__(cls, text)
        marked.bold, marked.sign = bold, sign
        return marked


Cell = str | int | float | None

_LATEX = str.maketrans(
    {
        "\n": "",
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\N{DAGGER}": r"\textsuperscript{\dag}",
    }
)


# A sign that begins a formula, unless a number follows.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d+(?:\.\d+)?(?:\s|$|\[|%))")


@dataclass
class Table:
    """Columns with a heading each, rows of cells, and notes below.

    ``right`` tells which columns hold numbers. ``tidy`` is the table to write as CSV where that has another shape
    than the one for the eye; ``in_tidy`` marks one whose figures are in another's tidy table already.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    right: Collection[int] = ()
    title: str = ""
    notes: Sequence[str] = ()
    tidy: Table | None = None
    in_tidy: bool = False

    def transposed(self) -> Table:
        """Rows and columns exchanged; the first column becomes the heading."""
        heads, *rows = zip(self.columns, *self.rows, strict=True)
        return Table(["", *map(str, heads[1:])], rows, range(1, len(heads)), self.title, self.notes)

    def part(self, places: Sequence[int]) -> Table:
        """Some of the columns."""
        rows = [[row[place] for place in places] for row in self.rows]
        right = [number for number, place in enumerate(places) if place in self.right]
        return Table([self.columns[place] for place in places], rows, right)

    def widths(self) -> list[int]:
        """Characters that each column takes in the terminal."""
        widths = []
        for name, *cells in zip(self.columns, *self.rows, strict=True):
            signs = [getattr(cell, "sign", "") for cell in cells]  # which stand beyond the last digit
            bare = [text(cell).removesuffix(sign) for cell, sign in zip(cells, signs, strict=True)]
            widths.append(max(map(len, [*name.split("\n"), *bare])) + max(map(len, signs), default=0))
        return widths


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The second things of pairs by the first, each in the order in which they come."""
    groups: dict[str, list[str]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def text(cell: Cell) -> str:
    """A cell as people read it."""
    return "-" if cell is None else f"{cell}{getattr(cell, 'sign', '')}"


def is_bold(cell: Cell) -> bool:
    """Whether a cell is to be in bold."""
    return isinstance(cell, Marked) and cell.bold


def to_csv(table: Table) -> str:
    """CSV with a heading row; an undefined cell is empty."""
    table = table.tidy or table
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name.replace("\n", "") for name in table.columns])
    writer.writerows([_plain_cell(cell) for cell in row] for row in table.rows)
    return out.getvalue()


def _plain_cell(cell: Cell) -> Cell:
    """A cell that no spreadsheet takes for a formula: a text that begins like one has an apostrophe before it."""
    if not isinstance(cell, str):
        return cell
    shown = printable(cell)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def _one_line(note: str) -> str:
    """A note on one line: a line break in a name would end a comment of LaTeX."""
    return printable(note).replace("\n", " ")


def to_md(table: Table) -> str:
    """A Markdown table, notes below it."""

    def line(cells: Sequence[Cell]) -> str:
        texts = (printable(text(cell)).replace("|", r"\|").replace("\n", " ") for cell in cells)
        shown = (f"**{one}**" if is_bold(cell) else one for cell, one in zip(cells, texts, strict=True))
        return "| " + " | ".join(shown) + " |"

    rule = ["---:" if number in table.right else "---" for number in range(len(table.columns))]
    heads = [name.replace("\n", "") for name in table.columns]
    lines = [line(heads), line(rule), *map(line, table.rows)]
    return "\n".join(lines) + "\n" + "".join(f"\n{_one_line(note)}\n" for note in table.notes)


def to_latex(table: Table) -> str:
    """A booktabs tabular, notes as comments above it."""

    def line(cells: Sequence[Cell]) -> str:
        shown = [_latex(cell, number in table.right) for number, cell in enumerate(cells)]
        # What follows the end of a row in these signs would be taken for its argument.
        return ("{}" if shown[0][:1] in ("[", "*") else "") + " & ".join(shown) + r" \\"

    align = "".join("r" if number in table.right else "l" for number in range(len(table.columns)))
    notes = [f"% {_one_line(note)}" for note in [table.title, *table.notes] if note]
    body = [r"\toprule", line(table.columns), r"\midrule", *map(line, table.rows), r"\bottomrule"]
    return "\n".join([*notes, rf"\begin{{tabular}}{{{align}}}", *body, r"\end{tabular}"]) + "\n"


def _latex(cell: Cell, number: bool) -> str:
    """A cell with LaTeX's signs escaped, in bold if it is to be; a number's minus is one."""
    escaped = printable(text(cell)).translate(_LATEX)
    if number:
        escaped = re.sub(r"(?<![\w.)])-(?=\d)", "$-$", escaped)
    return rf"\textbf{{{escaped}}}" if is_bold(cell) else escaped


FORMS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_md, "latex": to_latex}
"""Writers by the name that ``--as`` takes; text and JSON have their own."""
