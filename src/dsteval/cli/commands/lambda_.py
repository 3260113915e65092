"""``dsteval lambda``."""

import click
import numpy as np

from dsteval.cli.command import Command, option
from dsteval.cli.options import form_options
from dsteval.cli.output_files import emit
from dsteval.errors import OptionError
from dsteval.metrics.fga import decay, lambda_for
from dsteval.metrics.text import number_text
from dsteval.render.table import Cell, Table
from dsteval.results import numbers

_SHOWN = 50  # distances at most


@click.command(
    "lambda",
    cls=Command,
    examples=[
        ("Forgive a mistake by 95% within 6 turns", "dsteval lambda --turns 6 --factor 0.95"),
        ("Print lambda and all weights as JSON", "dsteval lambda --turns 6 --factor 0.95 --as json"),
    ],
)
@option("--turns", type=float, required=True, metavar="N", help="Number of user turns.")
@option("--factor", type=float, required=True, metavar="P", help="Weight regained by then, at least 0, below 1.")
@form_options()
def command(turns: float, factor: float) -> None:
    """Compute the lambda of FGA under which a mistake is forgiven by FACTOR within TURNS user turns.

    lambda = -ln(1 - factor) / turns. The table has the weight of an inherited error at each distance.
    """
    try:
        number = lambda_for(turns, factor)
    except ValueError as error:
        raise OptionError(str(error)) from None
    metric = f"FGA@{number_text(round(number, 5))}"
    steps = np.arange(1, max(1, round(min(turns, _SHOWN))) + 1)
    weights = decay(steps, number)
    rows: list[list[Cell]] = [[int(x), numbers.number(w, digits=4)] for x, w in zip(steps, weights, strict=True)]
    title = f"lambda {numbers.number(number, digits=5)}, metric {metric}"
    document = {"schema": 1, "lambda": number, "turns": turns, "factor": factor, "metric": metric}
    table = Table(["turns since the error", "weight"], rows, frozenset({0, 1}), title=title)
    emit([table], document | {"weights": weights.tolist()})
