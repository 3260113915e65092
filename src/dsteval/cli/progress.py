"""How far something has come, shown on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def progress(
    *columns: str, worth_it: bool = True, description: str = "", **task: Any
) -> Iterator[Callable[..., None] | None]:
    """A line on stderr while something runs, and the function that brings it up to date.

    A column is the name of one of rich's, or a text with fields of the ``task``, such as its ``description`` and
    ``total``. The function takes those that have changed. None where stderr is no terminal or the line is not
    ``worth_it``.
    """
    if not worth_it or not sys.stderr.isatty():
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
