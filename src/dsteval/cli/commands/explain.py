"""``dsteval explain``."""

from functools import partial
from typing import Any

import click

from dsteval.analysis.explanation import explain
from dsteval.analysis.worst_dialogues import worst
from dsteval.cli.command import Command, option
from dsteval.cli.options import choice, input_options, output_options
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import open_reference, predictions
from dsteval.cli.values import FILE, METRIC
from dsteval.errors import OptionError
from dsteval.render import explanation as render
from dsteval.results.result import SCHEMA

_ONLY = {"type1": ("type 1",), "type2": ("type 2",), "wrong": ("type 1", "type 2")}


@click.command(
    "explain",
    cls=Command,
    examples=[
        ("Find the five worst dialogues", "dsteval explain pred.json --ref ref.json --worst 5"),
        ("Show one of them", "dsteval explain pred.json MUL0071 --ref ref.json"),
    ],
)
@click.argument("file", metavar="FILE", type=FILE)
@click.argument("dialogue", metavar="[DIALOGUE]", required=False)
@option("--worst", "count", type=int, metavar="N", help="List the N dialogues with the lowest scores.")
@choice("--only", of=list(_ONLY), help="Show only turns with this outcome.")
@option("--system", "other", metavar="FILE", type=FILE, help="Second system to show side by side with FILE.")
@input_options
@option(
    "--metric",
    default="FGA@0.5",
    metavar="NAME",
    type=METRIC,
    help="FGA that weights the turns.",
    show_default=True,
)
@output_options
def command(
    file: str, dialogue: str | None, ref: str | None, only: str | None, count: int | None, **options: Any
) -> None:
    """Show DIALOGUE of FILE turn by turn: both states, where each error began, and the weight of each turn.

    A turn is exact (weight 1), has a new error (type 1, weight 0) or only inherits errors (type 2). Arrows lead
    from an error to the turns that inherit it. The dialogue id is matched without regard to case and .json. With
    --worst and no DIALOGUE, the dialogues with the lowest scores are listed instead.
    """
    other = options.pop("other")
    if count is None and dialogue is None:
        raise click.UsageError("Give DIALOGUE, or --worst N to list the dialogues with the lowest scores.")
    beside = [name for name, value in (("DIALOGUE", dialogue), ("--only", only), ("--system", other)) if value]
    if count is not None and beside:
        raise OptionError(f"does not go with {beside[0]}", where=f"--worst {count}", remedy="Drop one of them.")
    check_places("out")
    reference = open_reference(ref)
    files = [file] if other is None else [file, other]
    inputs = (predictions(each, "explain") for each in files)  # the second is opened when the first is explained
    if count is not None:
        name, source = next(inputs)
        listed = worst(reference, source, count, name=name, **options)
        emit([render.worst_table(listed)], listed.to_dict())
        return
    shown = [explain(reference, source, dialogue or "", name=name, **options) for name, source in inputs]
    whole = shown[0]
    if only is not None:
        numbers = set().union(*(one.turns_of(_ONLY[only]) for one in shown))
        shown = [one.at(numbers) for one in shown]
    if other is None:
        text = partial(render.show_explanation, shown[0], whole=whole)
        emit([render.explanation_table(shown[0])], shown[0].to_dict(), text)
    else:
        document = {"schema": SCHEMA, "systems": [one.to_dict() for one in shown]}
        emit([render.side_by_side_table(*shown)], document, partial(render.show_side_by_side, shown[0], shown[1]))
