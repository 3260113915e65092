"""``dsteval score``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dsteval.cli.options import (
    OneOf,
    coverage_options,
    form_option,
    input_options,
    open_named,
    open_shown,
    say,
    slot_list,
)
from dsteval.cli.output import emit
from dsteval.errors import OptionError
from dsteval.evaluation import Evaluation, Settings, evaluate
from dsteval.inputs import system_name
from dsteval.readers import Source
from dsteval.render.scores import change_tables, scores_table, slice_tables
from dsteval.result import document
from dsteval.slices import BY

__all__ = ["command"]

_PATIENCE = 32 << 20  # bytes; files below take no time worth a progress bar


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@coverage_options
@click.option("--metric", "metrics", multiple=True, metavar="M", help="A metric, like FGA@0.5; may be repeated.")
@click.option("--by", multiple=True, type=OneOf("--by", BY), help="Scores of parts as well; may be repeated.")
@click.option(
    "--domain-lambda", "lambdas", multiple=True, metavar="DOMAIN=L", help="FGA of a domain at a lambda of its own."
)
@click.option("--changes", is_flag=True, help="List every value that the protocol rewrote.")
@form_option
def command(
    files: tuple[str, ...],
    ref: str | None,
    protocol: str,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    lambdas: tuple[str, ...],
    slots: str | None,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Score the predictions in each FILE.

    A FILE that holds predictions only needs --ref. NAME=PATH names a system; - is standard input. Without
    --metric the protocol's own list is printed, for `exact` the columns of the FGA paper's Table 1 and slot F1.
    """
    settings: Settings = {"slots": slot_list(slots), "domain_lambda": _lambdas(lambdas), **options}  # type: ignore[typeddict-item]
    Evaluation(protocol, **settings).metrics(metrics or None)  # a wrong name is told before anything is read
    reference = None if ref is None else open_shown(ref)
    if reference is not None:
        say(reference, options["ref_format"])
    results = []
    for name, path in _named(files):
        source = open_shown(path)
        say(source, options["format"])
        with _progress(source) as tick:
            result = evaluate(
                reference,
                source,
                metrics=metrics or None,
                protocol=protocol,
                by=by,
                name=name,
                progress=tick,
                **settings,
            )
        results.append(result)
    tables = [scores_table(results, paper=not metrics), *slice_tables(results), *change_tables(results)]
    remarks = [note for result in results for note in result.notes]
    emit(tables, document(results), form, out, remarks=remarks)


def _named(files: tuple[str, ...]) -> list[tuple[str | None, str]]:
    """Name and path of every file; files of one name take their folder's along.

    Raises OptionError where two systems would still have one name.
    """
    named = [open_named(text) for text in files]
    plain = [name or system_name(Path(path).name) for name, path in named]
    for number, (name, path) in enumerate(named):
        if name is None and plain.count(plain[number]) > 1:
            named[number] = (f"{Path(path).absolute().parent.name}/{plain[number]}", path)
    final = [name or short for (name, _), short in zip(named, plain, strict=True)]
    twice = next((name for name in final if final.count(name) > 1), None)
    if twice is not None:
        raise OptionError(
            where="FILE",
            expected="systems of different names",
            found=f"{twice!r} twice",
            remedy="Name them apart, like ours=a.json.",
        )
    return named


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


@contextmanager
def _progress(source: Source) -> Iterator[Callable[[], None] | None]:
    """A count of dialogues on stderr, for large files on a terminal."""
    size = sum(len(part.data) for part in source.parts)
    if size < _PATIENCE or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} dialogues"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task(source.name, total=None)
        yield lambda: progress.advance(task)
