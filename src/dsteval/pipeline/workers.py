"""Tasks in processes of their own, none of which outlives the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from dsteval.errors import DstevalError, OptionError
from dsteval.readers import Source
from dsteval.readers.watching import Heard

Found = TypeVar("Found")

_PAUSE = 0.3  # seconds

can_run = "fork" in multiprocessing.get_all_start_methods()
"""Whether there are processes that begin as copies of this one, as all but Windows have them."""


def number_of_workers(text: int | str) -> int:
    """How many processes ``--workers`` asks for: a number, or ``auto``, as many as there are processors."""
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(text, bool) and str(text).isdecimal() and int(text) > 0:
        return int(text)
    raise OptionError(where="--workers", expected="a positive integer or auto", found=repr(text))


class _Worker(Generic[Found]):
    """One task in a process that has a copy of all that is here."""

    def __init__(self, task: Callable[[], Found]) -> None:
        self._mine, theirs = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.get_context("fork").Process(target=_answer, args=(task, theirs))
        self._process.start()
        theirs.close()

    def found(self, waiting: Callable[[], None] | None) -> Found | None:
        """What the task found, None where something was wrong. Raises DstevalError where the process died."""
        try:
            while waiting is not None and not self._mine.poll(_PAUSE):
                waiting()
            answer: Found | None = self._mine.recv()
        except (EOFError, OSError):
            self._process.join()
            raise DstevalError(
                where="--workers",
                expected="worker processes that finish",
                found=f"one that was killed (exit code {self._process.exitcode})",
                remedy="The memory may be too small: use fewer workers.",
            ) from None
        return answer

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._mine.close()


def _answer(task: Callable[[], Found], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits hears of it, and ends this one
    # What is wrong is told by who asked, who does the task again: it is the same sentence then, once.
    found = None
    with suppress(Exception):
        found = task()
    with suppress(OSError):
        pipe.send(found)


def shares_of(sources: Sequence[Source], heard: Heard) -> Callable[[], None]:
    """Have sources that other processes read tell how far they are, and this one, when it is called, the whole."""
    read = multiprocessing.RawArray("d", len(sources))
    for place, source in enumerate(sources):
        source.watch(partial(read.__setitem__, place))
    return lambda: heard(sum(read) / len(sources))


def run_all(
    tasks: Sequence[Callable[[], Found]], at_once: int, waiting: Callable[[], None] | None = None
) -> Iterator[Found | None]:
    """What each task found, in their order, None where something was wrong; ``waiting`` is called now and then.

    Raises DstevalError where a process dies. However this ends, no process is left.
    """
    for first in range(0, len(tasks), at_once):
        workers: list[_Worker[Found]] = []
        try:
            workers += (_Worker(task) for task in tasks[first : first + at_once])
            yield from [worker.found(waiting) for worker in workers]
        finally:
            for worker in workers:
                worker.stop()


def stop_without(parent: int) -> Callable[[int], None]:
    """What is called as a task goes on, to end its process once the one that asked for it is gone."""

    def check(done: int) -> None:
        if os.getppid() != parent:
            os._exit(1)

    return check
