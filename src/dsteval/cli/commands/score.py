"""``dsteval score``."""

from collections.abc import Sequence
from typing import Any

import click

from dsteval.cli import options as shared
from dsteval.cli.command import Command, option
from dsteval.cli.messages import failure, note
from dsteval.cli.output_files import emit, form_of, put, to_file, write
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import merged, systems
from dsteval.cli.values import FILE
from dsteval.errors import OptionError, require
from dsteval.render.frame_files import frame_bytes, stacked, suffix_of
from dsteval.render.scores import change_tables, scores_table, slice_tables
from dsteval.results.result import Result, document


@click.command(
    "score",
    cls=Command,
    examples=[
        (
            "Score predictions against a data set",
            "dsteval score pred.json --ref multiwoz-2.4/test",
        ),
        ("Use JGA in a script, as a fraction", "jga=$(dsteval score pred.json -q --metric JGA --as value)"),
    ],
)
@shared.files_argument()
@shared.input_options
@shared.metric_option
@shared.by_option
@shared.coverage_options
@shared.interval_options
@option(
    "--domain-lambda",
    multiple=True,
    metavar="DOMAIN=L",
    group=shared.SCORING,
    help="FGA of a domain with its own lambda.",
)
@shared.workers_option
@shared.form_options("Output format; `value` is the score of one --metric.", "value")
@shared.quiet_option
@option("--errors", metavar="PATH", type=FILE, group=shared.OUTPUT, help="Write all errors to a CSV file.")
@option(
    "--turns", metavar="PATH", type=FILE, group=shared.OUTPUT, help="Write all turns: .csv, .jsonl or .parquet."
)
@option("--changes", is_flag=True, group=shared.OUTPUT, help="List the values that the protocol rewrote.")
@option("--keep-going", is_flag=True, group=shared.INPUT, help="Skip and list broken lines; exit with 1.")
@option("--merge", metavar="NAME", group=shared.INPUT, help="FILEs are saved results, parts of system NAME.")
def command(
    files: tuple[str, ...], ref: str | None, merge: str | None, workers: str, turns: str | None, **options: Any
) -> None:
    """Score the predictions in each FILE.

    FILE holds predictions, with or without the reference, or a result saved with -o PATH.json. NAME=PATH names a
    system; - is standard input. Without --metric, the metrics of the protocol are printed.
    """
    check_places("out", "errors", "turns")
    if turns is not None:
        suffix_of("--turns", turns)
    single = form_of() == "value"
    if single and (len(options["metrics"]) != 1 or options["by"] or options["changes"]):
        remedy = "Give one --metric and no --by or --changes, or use --as json."
        raise OptionError("prints a single score of each system", where="--as value", remedy=remedy)
    errors = options["errors"]
    arguments = {**shared.arguments_of(options), "errors": errors is not None}
    arguments["domain_lambda"] = _lambdas(arguments["domain_lambda"])
    if merge is None:
        results = systems(files, ref, arguments, outcomes=turns is not None, workers=workers)
    else:
        results = [merged(files, merge, arguments)]
    tables = [scores_table(results, paper=not options["metrics"]), *slice_tables(results), *change_tables(results)]
    if errors is not None:
        listed = stacked({result.name: result.error_frame() for result in results})
        write("--errors", errors, frame_bytes(listed, ".csv"))
    if turns is not None:
        listed = stacked({result.name: result.turns() for result in results})
        write("--turns", turns, frame_bytes(listed, suffix_of("--turns", turns)))
    remarks = [remark for result in results for remark in result.notes]
    if single:
        put(_values(results, remarks))
    else:
        emit(tables, document(results, keep=to_file()), remarks=remarks, compact=True)
    broken = [place for result in results for place in result.coverage.broken] if options["keep_going"] else []
    for place in broken:
        failure(f"skipped: {place}")
    if broken:
        click.get_current_context().exit(1)


def _values(results: Sequence[Result], remarks: Sequence[str]) -> str:
    """The score of each system with all digits, as in JSON; several are a line each, after the name and a tab."""
    scores = [(result.name, result.scores[0]) for result in results]
    for name, score in scores:
        if score.value is None:
            raise OptionError(f"undefined: {score.why}", where=f"{name}, {score.metric}")
    for remark in remarks:
        note(remark)
    lines = [f"{name}\t{score.value!r}" if len(scores) > 1 else repr(score.value) for name, score in scores]
    return "".join(f"{line}\n" for line in lines)


def _lambdas(texts: tuple[str, ...]) -> dict[str, float]:
    """Domain -> lambda. Raises OptionError for what is not DOMAIN=L."""
    lambdas = {}
    for text in texts:
        domain, _, number = text.partition("=")
        lambdas[domain] = shared.as_number(number)
        valid = domain and lambdas[domain] >= 0
        require(valid, f"--domain-lambda {text}", "DOMAIN=L, where L is a number of at least 0", repr(number))
    return lambdas
