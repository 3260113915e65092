"""What ``validate`` tells of files: a table, and lines for what is odd about their values."""

from collections.abc import Iterator, Sequence

from dsteval.analysis.validation import Report
from dsteval.analysis.value_counts import ValueExample
from dsteval.errors import printable
from dsteval.render.table import Table

_SHOWN = 3


def report_table(reports: Sequence[Report]) -> Table:
    """A file in each row, how it was recognised and what there is to note below."""
    columns = ["file", "format", "holds", "dialogues", "turns", "slots", "values", "against itself"]
    names = ["name", "format", "sides", "dialogues", "turns", "slots", "values", "self_check"]
    rows = [[getattr(report, name) for name in names] for report in reports]
    notes = [f"{report.name}: recognised by {report.sign}" for report in reports]
    notes += [f"{report.name}: {note}" for report in reports for note in report.notes]
    notes += [line for report in reports for line in _fact_lines(report)]
    return Table(columns, rows, range(3, 7), notes=notes)


def _fact_lines(report: Report) -> Iterator[str]:
    """A heading with the file's name and a line for each fact, with its first examples below; nothing for none.

    What protocols do about it is told once for facts that have that in common.
    """
    if report.facts:
        yield f"{report.name}: its values"
    told: set[str] = set()
    for fact in report.facts:
        yield printable(f"  {fact.kind}  {fact.about}" + (f" ({fact.advice})" if fact.advice not in told else ""))
        told.add(fact.advice)
        yield from (f"    {_line(example)}" for example in fact.examples[:_SHOWN])


def _line(example: ValueExample) -> str:
    values = " / ".join("nothing" if value is None else repr(value) for value in example.values)
    times = f" ({example.count} times)" if example.count > 1 else ""
    return printable(f"dialogue {example.dialogue!r}, turn {example.turn}: {example.slot} {values}{times}")
