"""``dsteval score``."""

from __future__ import annotations

from typing import Any

import click

from dsteval.cli.options import (
    arguments_of,
    by_option,
    coverage_options,
    form_option,
    input_options,
    interval_options,
    metric_option,
)
from dsteval.cli.output_files import emit, write
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import merged, systems
from dsteval.errors import OptionError
from dsteval.render.scores import change_tables, errors_table, scores_table, slice_tables
from dsteval.render.table import to_csv
from dsteval.results.result import document


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@coverage_options
@interval_options
@metric_option
@by_option
@click.option(
    "--domain-lambda", "lambdas", multiple=True, metavar="DOMAIN=L", help="FGA of a domain at a lambda of its own."
)
@click.option("--merge", metavar="NAME", help="The FILEs are saved results, parts of one system.")
@click.option("--changes", is_flag=True, help="List every value that the protocol rewrote.")
@click.option("--errors", metavar="PATH", help="Write all errors as CSV: where each began, how it ended.")
@form_option
def command(
    files: tuple[str, ...],
    ref: str | None,
    lambdas: tuple[str, ...],
    merge: str | None,
    errors: str | None,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Score the predictions in each FILE.

    A FILE that holds predictions only needs --ref. NAME=PATH names a system; - is standard input. Without
    --metric the protocol's own list is printed, for `exact` the columns of the FGA paper's Table 1 and slot F1.
    With -o PATH.json the counts of each dialogue are kept: such a saved result may stand as FILE again.
    """
    check_places("out", "errors")
    arguments = arguments_of(options)
    arguments |= {"domain_lambda": _lambdas(lambdas), "errors": errors is not None}
    results = systems(files, ref, arguments) if merge is None else [merged(files, merge, arguments)]
    tables = [scores_table(results, paper=not options["metrics"]), *slice_tables(results), *change_tables(results)]
    if errors is not None:
        write("--errors", errors, to_csv(errors_table(results)).encode("utf-8", "backslashreplace"))
    remarks = [note for result in results for note in result.notes]
    emit(tables, document(results, keep=out is not None), form, out, remarks=remarks, compact=True)


def _lambdas(texts: tuple[str, ...]) -> dict[str, float]:
    """Domain -> lambda. Raises OptionError for what is not DOMAIN=L."""
    lambdas = {}
    for text in texts:
        domain, _, number = text.partition("=")
        try:
            lambdas[domain] = float(number)
        except ValueError:
            lambdas[domain] = -1
        if not domain or not lambdas[domain] >= 0:
            expected = "DOMAIN=L with L a number, 0 or more"
            raise OptionError(where=f"--domain-lambda {text}", expected=expected, found=repr(number))
    return lambdas
