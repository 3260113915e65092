"""``dsteval score``."""

from typing import Any

import click

from dsteval.cli import options as shared
from dsteval.cli.output_files import emit, to_file, write
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import merged, systems
from dsteval.errors import require
from dsteval.render.scores import change_tables, errors_table, scores_table, slice_tables
from dsteval.render.table import to_csv
from dsteval.results.result import document


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@shared.scoring_options
@shared.interval_options
@shared.metric_option
@shared.by_option
@click.option("--domain-lambda", multiple=True, metavar="DOMAIN=L", help="FGA of a domain at a lambda of its own.")
@click.option("--merge", metavar="NAME", help="The FILEs are saved results, parts of one system.")
@click.option("--changes", is_flag=True, help="List every value that the protocol rewrote.")
@click.option("--errors", metavar="PATH", help="Write all errors as CSV: where each began, how it ended.")
@click.option("--keep-going", is_flag=True, help="Leave out broken lines with their dialogues; exit with 1.")
@shared.workers_option
@shared.form_option
def command(files: tuple[str, ...], ref: str | None, merge: str | None, workers: str, **options: Any) -> None:
    """Score the predictions in each FILE.

    A FILE that holds predictions only needs --ref. NAME=PATH names a system; - is standard input. Without
    --metric the protocol's own list is printed, for `exact` the columns of the FGA paper's Table 1 and slot F1.
    With -o PATH.json the counts of each dialogue are kept: such a saved result may stand as FILE again.
    """
    check_places("out", "errors")
    errors = options["errors"]
    arguments = {**shared.arguments_of(options), "errors": errors is not None}
    arguments["domain_lambda"] = _lambdas(arguments["domain_lambda"])
    if merge is None:
        results = systems(files, ref, arguments, outcomes=False, workers=workers)
    else:
        results = [merged(files, merge, arguments)]
    tables = [scores_table(results, paper=not options["metrics"]), *slice_tables(results), *change_tables(results)]
    if errors is not None:
        write("--errors", errors, to_csv(errors_table(results)).encode("utf-8", "backslashreplace"))
    remarks = [note for result in results for note in result.notes]
    emit(tables, document(results, keep=to_file()), remarks=remarks, compact=True)
    broken = [place for result in results for place in result.coverage.broken] if options["keep_going"] else []
    for place in broken:
        click.echo(f"dsteval: left out: {place}", err=True)
    if broken:
        click.get_current_context().exit(1)


def _lambdas(texts: tuple[str, ...]) -> dict[str, float]:
    """Domain -> lambda. Raises OptionError for what is not DOMAIN=L."""
    lambdas = {}
    for text in texts:
        domain, _, number = text.partition("=")
        lambdas[domain] = shared.as_number(number)
        valid = domain and lambdas[domain] >= 0
        require(valid, f"--domain-lambda {text}", "DOMAIN=L with L a number, 0 or more", repr(number))
    return lambdas
