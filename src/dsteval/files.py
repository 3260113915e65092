"""Files that are there whole or not at all, and files that one process has at a time."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(place: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of ``place``, and its permissions, when it is complete.

    Until then ``place`` stays as it was, and it does where an error is raised.
    """
    partial = place.with_name(f".{place.name[:100]}.{os.getpid()}.partial")
    try:
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:  # never through a link that somebody has put there
            yield file
        if place.exists():
            shutil.copymode(place, partial)
        partial.replace(place)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Keep other processes that ask for the same from a file that is read and then replaced."""
    path = place.with_name(f".{place.name[:100]}.lock")
    while True:
        with path.open("ab") as file:
            lock(file, wait=True)
            mine = False
            with suppress(FileNotFoundError):  # another had it, and took it away
                mine = os.path.samestat(os.fstat(file.fileno()), path.stat())
            if mine:
                try:
                    yield
                finally:
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
                return


def lock(file: IO[bytes], wait: bool) -> bool:
    """Keep other processes from an open file until it is closed, however that comes; False where another has it.

    True without a lock on file systems that have none, and on Windows unless it may ``wait``.
    """
    if sys.platform == "win32":
        import msvcrt

        while wait:
            with suppress(OSError):
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                break
            time.sleep(0.5)
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
