"""``dsteval spread``."""

from typing import Any

import click

from dsteval.analysis.protocol_spread import spread
from dsteval.cli.options import arguments_of, coverage_options, file_options, form_option, say
from dsteval.cli.output_files import emit, form_of
from dsteval.cli.path_checks import check_places
from dsteval.cli.progress import progress
from dsteval.cli.systems import open_reference, predictions
from dsteval.errors import require
from dsteval.render.spread import spread_tables


@click.command("spread")
@click.argument("file", metavar="FILE")
@file_options()
@click.option("--protocol", "only", multiple=True, metavar="NAME", help="Only this protocol; may be repeated.")
@coverage_options
@click.option("--target", type=float, metavar="PERCENT", help="A published JGA: the nearest protocols come first.")
@click.option("--between", nargs=2, metavar="A B", help="List the turns about which two protocols disagree.")
@form_option
def command(file: str, ref: str | None, target: float | None, **options: Any) -> None:
    """Score FILE under every protocol, and say which rules make the numbers differ.

    Each protocol's JGA stands beside that of `exact`, with the turns won and lost and the settings responsible.
    Protocols that cannot be applied say why; some need --variants, --ontology or a schema.
    """
    check_places("out")
    if target is not None:
        require(0 <= target <= 100, f"--target {target:g}", "a JGA in per cent, 0 to 100", f"{target:g}")
        options["target"] = target / 100
    reference = open_reference(ref)
    name, source = predictions(file, "spread")
    say(source, options["format"])
    with progress("SpinnerColumn", "{task.description}", description="scoring", total=None) as update:
        tick = update and (lambda protocol: update(description=f"scoring under {protocol}"))
        found = spread(reference, source, name=name, progress=tick, **arguments_of(options))
    emit(spread_tables(found, everything=form_of() != "text"), found.to_dict())
