"""``dsteval explain``."""

from __future__ import annotations

from typing import Any

import click

from dsteval.cli.options import form_option, input_options, open_named, open_shown
from dsteval.cli.output import emit
from dsteval.explanation import explain
from dsteval.render.explanation import explanation_table, show_explanation

__all__ = ["command"]


@click.command("explain")
@click.argument("file", metavar="FILE")
@click.argument("dialogue", metavar="DIALOGUE")
@input_options
@click.option("--metric", default="FGA@0.5", metavar="M", help="The FGA that weighs the turns.", show_default=True)
@form_option
def command(
    file: str,
    dialogue: str,
    ref: str | None,
    protocol: str,
    metric: str,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Show DIALOGUE of FILE turn by turn: both states, what is wrong and since when, and each turn's weight.

    A turn is exact (weight 1), has a new error (type 1, weight 0), or only inherits an old one (type 2). The
    id counts in any case, with or without .json.
    """
    name, path = open_named(file)
    reference = None if ref is None else open_shown(ref)
    source = open_shown(path)
    explanation = explain(reference, source, dialogue, metric=metric, protocol=protocol, name=name, **options)
    table = explanation_table(explanation)
    emit([table], explanation.to_dict(), form, out, lambda stream: show_explanation(explanation, stream))
