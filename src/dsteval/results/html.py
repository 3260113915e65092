"""Tables as HTML, for results that show themselves in a notebook. Everything is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from dsteval.errors import printable


def cell(value: object, *, bold: bool = False, color: str = "") -> str:
    """One cell's content: a number or a text, empty where there is none."""
    text = "" if value is None else escape(printable(str(value)))
    text = f"<b>{text}</b>" if bold else text
    return f'<span style="color:{color}">{text}</span>' if color else text


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", notes: Iterable[str] = ()
) -> str:
    """A table, and notes below it in small print; the cells of rows come from ``cell``, all else are texts.

    >>> table(["a<b"], [[cell("x&y")]])
    '<div><table><thead><tr><th>a&lt;b</th></tr></thead><tbody><tr><td>x&amp;y</td></tr></tbody></table></div>'
    """
    caption = f"<caption>{cell(title)}</caption>" if title else ""
    head = "".join(f"<th>{cell(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{content}</td>" for content in row) + "</tr>" for row in rows)
    small = "".join(f"<div><small>{cell(note)}</small></div>" for note in notes)
    return f"<div><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{small}</div>"
