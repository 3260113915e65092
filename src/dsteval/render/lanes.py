"""Arrows from the turn where an error began to the turns that inherit it, drawn left of the lines."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

__all__ = ["gutters"]


def gutters(keys: Sequence[Hashable | None]) -> list[str]:
    """What stands left of each line: a lane for each error that has several lines, an arrow to each of them.

    ``keys`` tells which error a line belongs to, None where to none.

    >>> for gutter in gutters(["a", None, "b", "a", "b"]):
    ...     print(f"{gutter}.")
    ┌──.
    │  .
    │┌─.
    └┼>.
     └>.
    """
    first: dict[Hashable, int] = {}
    last: dict[Hashable, int] = {}
    for number, key in enumerate(keys):
        if key is not None:
            first.setdefault(key, number)
            last[key] = number
    lanes = _lanes(first, last)
    width = max(lanes.values(), default=-1) + 1
    return [_gutter(number, key, (first, last, lanes), width) for number, key in enumerate(keys)]


_Lines = dict[Hashable, int]


def _lanes(first: _Lines, last: _Lines) -> dict[Hashable, int]:
    """The leftmost lane that is free for each error; those of one line need none."""
    lanes: dict[Hashable, int] = {}
    busy: list[int] = []  # lane -> the line at which it ends
    for key, start in first.items():
        if last[key] == start:
            continue
        lane = next((number for number, end in enumerate(busy) if end < start), len(busy))
        busy[lane : lane + 1] = [last[key]]
        lanes[key] = lane
    return lanes


def _gutter(number: int, key: Hashable | None, where: tuple[_Lines, _Lines, _Lines], width: int) -> str:
    if not width:
        return ""
    first, last, lanes = where
    own = lanes.get(key) if key is not None else None
    signs = [" "] * (width + 1)
    for other, lane in lanes.items():
        if first[other] <= number <= last[other]:
            signs[lane] = "│"
    if own is not None:
        signs[own] = "┌" if first[key] == number else "└" if last[key] == number else "├"
        for lane in range(own + 1, width):
            signs[lane] = "┼" if signs[lane] == "│" else "─"
        signs[width] = "─" if first[key] == number else ">"
    return "".join(signs)
