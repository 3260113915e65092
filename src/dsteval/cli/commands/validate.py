"""``dsteval validate``."""

from __future__ import annotations

from typing import Any

import click

from dsteval.analysis.validation import Report, validate
from dsteval.cli.options import arguments_of, coverage_options, form_option, input_options, open_shown
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import open_reference
from dsteval.errors import DstevalError
from dsteval.render.table import Cell, Table
from dsteval.render.value_checks import fact_lines

__all__ = ["command"]


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@coverage_options
@form_option
def command(files: tuple[str, ...], ref: str | None, form: str | None, out: str | None, **options: Any) -> None:
    """Check each FILE: that it reads, what it holds, and that its reference is perfect against itself.

    With --ref also that predictions and reference belong together. What is refused, and why, is what `score`
    would refuse. Below the table stands what is odd about the values, with --ontology also those that it lacks.
    """
    check_places("out")
    reference = open_reference(ref)
    arguments = arguments_of(options)
    reports, refused = [], 0
    for file in files:
        try:
            reports.append(validate(open_shown(file), reference, **arguments))
        except DstevalError as error:
            click.echo(f"dsteval: {error.command_line}", err=True)
            refused += 1
    if reports:
        table = _table(reports)
        document = {"schema": 1, "files": [report.to_dict() for report in reports]}
        emit([table], document, form, out, remarks=table.notes)
    if refused:
        click.get_current_context().exit(1)


def _table(reports: list[Report]) -> Table:
    columns = ["file", "format", "holds", "dialogues", "turns", "slots", "values", "against itself"]
    rows: list[list[Cell]] = [
        [r.name, r.format, r.sides, r.dialogues, r.turns, r.slots, r.values, r.self_check] for r in reports
    ]
    notes = [f"{report.name}: recognised by {report.sign}" for report in reports]
    notes += [f"{report.name}: {note}" for report in reports for note in report.notes]
    notes += [line for report in reports for line in fact_lines(report.name, report.facts)]
    return Table(columns, rows, range(3, 7), notes=notes)
