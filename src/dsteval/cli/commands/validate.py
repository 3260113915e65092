"""``dsteval validate``."""

from typing import Any

import click

from dsteval.analysis.validation import validate
from dsteval.cli.options import arguments_of, form_option, open_shown, scoring_options
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import open_reference
from dsteval.errors import DstevalError
from dsteval.render.validation import report_table


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@scoring_options
@form_option
def command(files: tuple[str, ...], ref: str | None, **options: Any) -> None:
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
        table = report_table(reports)
        emit([table], {"schema": 1, "files": [report.to_dict() for report in reports]}, remarks=table.notes)
    if refused:
        click.get_current_context().exit(1)
