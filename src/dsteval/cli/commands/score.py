"""``dsteval score``."""

from __future__ import annotations

from typing import Any

import click

from dsteval.cli.options import (
    OneOf,
    coverage_options,
    form_option,
    input_options,
    interval_options,
    interval_settings,
    slot_list,
)
from dsteval.cli.output_files import emit, replaced
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import merged, systems
from dsteval.errors import OptionError
from dsteval.outcomes.slices import BY
from dsteval.pipeline.run import Settings
from dsteval.render.scores import change_tables, errors_table, scores_table, slice_tables
from dsteval.render.table import FORMS
from dsteval.results.result import document

__all__ = ["command"]


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@coverage_options
@interval_options
@click.option("--metric", "metrics", multiple=True, metavar="M", help="A metric, like FGA@0.5; may be repeated.")
@click.option("--by", multiple=True, type=OneOf("--by", BY), help="Scores of parts as well; may be repeated.")
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
    protocol: str,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    lambdas: tuple[str, ...],
    merge: str | None,
    errors: str | None,
    slots: str | None,
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
    own = {"slots": slot_list(slots), "domain_lambda": _lambdas(lambdas), "errors": errors is not None}
    settings: Settings = {**own, **interval_settings(options)}  # type: ignore[typeddict-item]
    if merge is not None:
        results = [merged(files, merge, metrics, settings)]
    else:
        results = systems(files, ref, protocol, metrics, by, settings)
    tables = [scores_table(results, paper=not metrics), *slice_tables(results), *change_tables(results)]
    if errors is not None:
        with replaced(errors, "--errors") as file:
            file.write(FORMS["csv"](errors_table(results)).encode("utf-8", "backslashreplace"))
    remarks = [note for result in results for note in result.notes]
    emit(tables, document(results, keep=out is not None), form, out, remarks=remarks, compact=True)


def _lambdas(texts: tuple[str, ...]) -> dict[str, float]:
    """Domain -> lambda. Raises OptionError for what is not DOMAIN=L."""
    found = {}
    for text in texts:
        domain, equals, number = text.partition("=")
        try:
            found[domain] = float(number)
        except ValueError:
            equals = ""
        if not equals or not domain or not found.get(domain, -1) >= 0:
            expected = "DOMAIN=L with L a number, 0 or more"
            raise OptionError(where=f"--domain-lambda {text}", expected=expected, found=repr(number))
    return found
