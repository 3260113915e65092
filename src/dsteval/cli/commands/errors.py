"""``dsteval errors``."""

from typing import Any

import click

from dsteval.analysis.error_overview import document, error_overview
from dsteval.cli import options as shared
from dsteval.cli.output_files import emit, form_of
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import systems
from dsteval.render.error_overview import error_table


@click.command("errors")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Rows a system."
)
@shared.scoring_options
@shared.form_option
def command(files: tuple[str, ...], ref: str | None, top: int, **options: Any) -> None:
    """Show what each FILE gets wrong most: errors by slot, kind and relation, with an example.

    An error counts once, however many turns inherit it. For every error in a row of its own, use
    `score --errors PATH`.
    """
    check_places("out")
    arguments = {**shared.arguments_of(options), "metrics": ["JGA"], "by": (), "ci": None, "errors": True}
    found = [error_overview(result) for result in systems(files, ref, arguments, outcomes=False)]
    emit([error_table(found, top if form_of() == "text" else None)], document(found))
