"""``dsteval spread``."""

from typing import Any

import click

from dsteval.analysis.protocol_spread import spread
from dsteval.cli.command import Command, option
from dsteval.cli.options import arguments_of, coverage_options, file_options, output_options, say
from dsteval.cli.output_files import emit, form_of
from dsteval.cli.path_checks import check_places
from dsteval.cli.progress import progress
from dsteval.cli.systems import open_reference, predictions
from dsteval.cli.values import FILE, PROTOCOL
from dsteval.errors import require
from dsteval.render.spread import spread_tables


@click.command(
    "spread",
    cls=Command,
    examples=[
        ("Score a file under every protocol", "dsteval spread pred.json --ref multiwoz-2.1/test"),
        ("Find the protocols that give a published JGA", "dsteval spread pred.json --target 52.73"),
    ],
)
@click.argument("file", metavar="FILE", type=FILE)
@option("--target", type=float, metavar="PERCENT", help="Published JGA: list the nearest protocols first.")
@option(
    "--between", nargs=2, metavar="A B", type=PROTOCOL, help="List the turns on which protocols A and B disagree."
)
@option(
    "--protocol", "only", multiple=True, metavar="NAME", type=PROTOCOL, help="Use this protocol; may be repeated."
)
@file_options()
@coverage_options
@output_options
def command(file: str, ref: str | None, target: float | None, **options: Any) -> None:
    """Score FILE under every protocol, and explain the differences.

    The table compares the JGA of each protocol with that of `exact`: turns won and lost, and the settings that
    make the difference. Protocols that cannot score the file say why; some need --variants, --ontology or a
    schema.
    """
    check_places("out")
    if target is not None:
        require(0 <= target <= 100, f"--target {target:g}", "a JGA in percent, 0 to 100", f"{target:g}")
        remedy = f"In percent it is --target {100 * target:g}."
        require(
            not 0 < target < 1, f"--target {target:g}", "a JGA in percent", "what may be a fraction", remedy=remedy
        )
        options["target"] = target / 100
    reference = open_reference(ref)
    name, source = predictions(file, "spread")
    say(source, options["format"])
    with progress("SpinnerColumn", "{task.description}", description="scoring", total=None) as update:
        tick = update and (lambda protocol: update(description=f"scoring under {protocol}"))
        found = spread(reference, source, name=name, progress=tick, **arguments_of(options))
    emit(spread_tables(found, everything=form_of() != "text"), found.to_dict())
