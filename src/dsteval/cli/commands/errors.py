"""``dsteval errors``."""

from typing import Any

import click

from dsteval.analysis.error_overview import document, error_overview
from dsteval.cli import options as shared
from dsteval.cli.command import Command, option
from dsteval.cli.output_files import emit, form_of
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import systems
from dsteval.render.error_overview import error_table


@click.command(
    "errors",
    cls=Command,
    examples=[
        ("List what a tracker gets wrong most", "dsteval errors pred.json --ref multiwoz-2.4/test"),
        ("Compare two trackers", "dsteval errors old.json new.json --ref multiwoz-2.4/test --top 10"),
    ],
)
@shared.files_argument()
@shared.input_options
@shared.coverage_options
@shared.output_options
@option(
    "--top",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    group=shared.OUTPUT,
    help="Rows per system.",
)
def command(files: tuple[str, ...], ref: str | None, top: int, **options: Any) -> None:
    """List what each FILE gets wrong most: errors by slot, kind and relation, with an example.

    An error counts once, however many turns inherit it. For a row per error, use `score --errors PATH`.
    """
    check_places("out")
    arguments = {**shared.arguments_of(options), "metrics": ["JGA"], "by": (), "ci": None, "errors": True}
    found = [error_overview(result) for result in systems(files, ref, arguments, outcomes=False)]
    emit([error_table(found, top if form_of() == "text" else None)], document(found))
