"""``dsteval validate``."""

from typing import Any

import click

from dsteval.analysis.validation import validate
from dsteval.cli.command import Command
from dsteval.cli.messages import failure
from dsteval.cli.options import arguments_of, files_argument, open_shown, output_options, scoring_options
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import open_reference
from dsteval.cli.values import DATA
from dsteval.errors import DstevalError
from dsteval.render.validation import report_table


@click.command(
    "validate",
    cls=Command,
    examples=[
        ("Check a file of predictions", "dsteval validate pred.json"),
        ("Check that it fits a reference", "dsteval validate pred.json --ref multiwoz-2.4/test"),
    ],
)
@files_argument(type=DATA)
@scoring_options
@output_options
def command(files: tuple[str, ...], ref: str | None, **options: Any) -> None:
    """Check each FILE: that it can be read, what it holds, and that its reference scores 100 against itself.

    With --ref, also check that predictions and reference fit together. What is an error here is an error in
    `score`. Below the table are facts about unusual values; with --ontology, also values that the ontology lacks.
    """
    check_places("out")
    reference = open_reference(ref)
    arguments = arguments_of(options)
    reports, refused = [], 0
    for file in files:
        try:
            reports.append(validate(open_shown(file), reference, **arguments))
        except DstevalError as error:
            failure(error.command_line)
            refused += 1
    if reports:
        table = report_table(reports)
        emit([table], {"schema": 1, "files": [report.to_dict() for report in reports]}, remarks=table.notes)
    if refused:
        click.get_current_context().exit(1)
