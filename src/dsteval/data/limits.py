"""What a server may send, and how long it may take: generous, so that only one that never ends meets them."""

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

MOST_BYTES = 4 << 30  # of one file; the largest known has 0.1 GiB
SLOWEST = 1000  # bytes a second, once PATIENCE is over
PATIENCE = 60.0  # seconds


def expected() -> str:
    """The limits, for a message."""
    return f"a file of at most {MOST_BYTES >> 30} GiB, at {SLOWEST} bytes per second or more"


def beyond(size: int, come: int, seconds: float) -> str:
    """What is beyond the limits, or empty: a file's size as far as known, or what came in so many seconds."""
    if size > MOST_BYTES:
        return f"more than {MOST_BYTES >> 30} GiB"
    return f"{come} bytes in {int(seconds)} seconds" if seconds > PATIENCE and come < SLOWEST * seconds else ""


def answer(call: Callable[[], T]) -> T:
    """What a call returns. Raises TimeoutError when PATIENCE is over: a socket counts anew for each byte."""
    from concurrent.futures import Future  # takes a while to load, and most runs fetch nothing

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return future.result(PATIENCE)
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"no answer in {PATIENCE:g} seconds") from error
