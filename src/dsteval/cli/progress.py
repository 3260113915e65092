"""Progress bars on a terminal."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import click

from dsteval.cli.messages import is_quiet

_PATIENCE = 2.0  # seconds
_lines: list[object] = []  # those that are shown; a second would overwrite the first


@contextmanager
def progress(*columns: str, description: str = "", **task: Any) -> Iterator[Callable[..., None] | None]:
    """A progress bar on stderr, as a function that updates it.

    A column is the name of a rich column class, or a text with fields of the ``task``, such as its ``description``
    and ``total``. The function takes the fields that have changed. None if stderr is not a terminal, or if
    ``--quiet`` was given.
    """
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich_progress  # rich takes a while to load, and only terminals need it
    from rich.console import Console

    made = (
        getattr(rich_progress, column)() if column.endswith("Column") else rich_progress.TextColumn(column)
        for column in columns
    )
    with rich_progress.Progress(*made, console=Console(file=sys.stderr), transient=True) as line:
        _lines.append(line)
        try:
            yield partial(line.update, line.add_task(description, **task))
        finally:
            _lines.remove(line)


class ReadingBar(ExitStack):
    """Shows how much of a file is read, how fast, and the time left, once it takes longer than two seconds."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__()
        self._name, self._size, self._process = name, size, os.getpid()
        self._begun, self._share = 0.0, 1.0
        self._update: Callable[..., None] | None = None
        if (context := click.get_current_context(silent=True)) is not None:
            context.call_on_close(self.close)

    def __call__(self, share: float) -> None:
        """Update the share that is read; less than before means that the file is read again."""
        if os.getpid() != self._process:
            return
        if share < self._share:
            self._begun = time.monotonic()
        self._share = share
        if self._update is None and share < 1 and not _lines and time.monotonic() - self._begun > _PATIENCE:
            columns = ("{task.description}", "BarColumn", "TransferSpeedColumn", "TimeRemainingColumn")
            bar = progress(*columns, description=self._name, total=self._size, completed=share * self._size)
            self._update = self.enter_context(bar)
        if self._update is not None:
            self._update(completed=share * self._size)
            if share >= 1:
                self._update = None
                self.close()
