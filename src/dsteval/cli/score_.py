"""``dsteval score``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from dsteval import readers
from dsteval.cli.options import emit, form_option, input_options, open_named
from dsteval.evaluation import evaluate
from dsteval.readers import Source
from dsteval.render.scores import scores_table
from dsteval.result import document

__all__ = ["command"]

_PATIENCE = 32 << 20  # bytes; files below take no time worth a progress bar


@click.command("score")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@click.option("--metric", "metrics", multiple=True, metavar="M", help="A metric, like FGA@0.5; may be repeated.")
@form_option
def command(
    files: tuple[str, ...],
    ref: str | None,
    protocol: str,
    settings: tuple[str, ...],
    format: str | None,
    ref_format: str | None,
    updates: bool,
    metrics: tuple[str, ...],
    form: str | None,
    out: str | None,
) -> None:
    """Score the predictions in each FILE.

    A FILE that holds predictions only needs --ref. NAME=PATH names a system; - is standard input. Without
    --metric the protocol's own list is printed, for `exact` the columns of the FGA paper's Table 1 and slot F1.
    """
    results = []
    for text in files:
        name, path = open_named(text)
        source = Source.open(path)
        reference = None if ref is None else Source.open(ref)
        _say(source, format)
        if reference is not None and not results:
            _say(reference, ref_format)
        with _progress(source) as tick:
            result = evaluate(
                reference,
                source,
                metrics=metrics or None,
                protocol=protocol,
                settings=settings,
                updates=updates,
                format=format,
                ref_format=ref_format,
                name=name,
                progress=tick,
            )
        results.append(result)
    emit([scores_table(results, paper=not metrics)], document(results), form, out)


def _say(source: Source, format: str | None) -> None:
    """Tell on stderr as what a file is read."""
    if format is None:
        reader, sign = readers.detect(source)
        click.echo(f"{source.name}: read as {reader.name} ({sign})", err=True)


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
