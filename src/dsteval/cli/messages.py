"""What is printed on standard error beside the results: notes, progress and errors. ``--quiet`` leaves errors."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click


def is_quiet() -> bool:
    """Whether the command was given ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("quiet"))


def note(text: str) -> None:
    """Print a note, unless ``--quiet`` was given."""
    if not is_quiet():
        click.echo(text, err=True)


def failure(text: str) -> None:
    """Print an error, whether ``--quiet`` was given or not."""
    click.echo(f"dsteval: {text}", err=True)


@contextmanager
def progress(
    *columns: str, worth_it: bool = True, description: str = "", **task: Any
) -> Iterator[Callable[..., None] | None]:
    """A progress bar on stderr, as a function that updates it.

    A column is the name of a rich column class, or a text with fields of the ``task``, such as its ``description``
    and ``total``. The function takes the fields that have changed. None if stderr is not a terminal, if
    ``--quiet`` was given, or if the bar is not ``worth_it``.
    """
    if not worth_it or is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich_progress  # rich takes a while to load, and only terminals need it
    from rich.console import Console

    made = (
        getattr(rich_progress, column)() if column.endswith("Column") else rich_progress.TextColumn(column)
        for column in columns
    )
    with rich_progress.Progress(*made, console=Console(file=sys.stderr), transient=True) as line:
        yield partial(line.update, line.add_task(description, **task))
