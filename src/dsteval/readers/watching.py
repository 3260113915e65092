"""Which share of a source is read, told while it is."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Heard: TypeAlias = Callable[[float], None]
"""Hears the share that is read, from 0 to 1."""


def watched(things: Iterable[T], size_of: Callable[[T], int], total: int, heard: Heard | None) -> Iterable[T]:
    """The same things; the share is told at every hundredth of their ``total`` size."""
    return things if heard is None else _told(things, size_of, max(total, 1), heard)


def _told(things: Iterable[T], size_of: Callable[[T], int], total: int, heard: Heard) -> Iterator[T]:
    done = due = 0
    for thing in things:
        yield thing
        done += size_of(thing)
        if done >= due:
            due = done + total // 100
            heard(min(done / total, 1))
    heard(1)


def one(thing: object) -> int:
    """The size of a thing where they are counted."""
    return 1


def of_parts(heard: Heard, sizes: Iterable[int]) -> Iterator[Heard]:
    """What hears of each part of something, given their sizes, and tells the share of the whole."""
    listed = [size or 1 for size in sizes]  # Python objects have no bytes
    whole, start = sum(listed), 0
    for size in listed:
        yield _of_part(heard, start / whole, size / whole)
        start += size


def _of_part(heard: Heard, start: float, part: float) -> Heard:
    return lambda share: heard(start + share * part)
