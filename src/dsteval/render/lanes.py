"""Arrows from the turn where an error began to the turns that inherit it, drawn left of the lines."""

from collections.abc import Hashable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TypeAlias


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
    lines: dict[Hashable, list[int]] = {}
    for number, key in enumerate(keys):
        if key is not None:
            lines.setdefault(key, []).append(number)
    spans = {key: range(numbers[0], numbers[-1] + 1) for key, numbers in lines.items() if len(numbers) > 1}
    return list(_drawn(keys, spans, _lanes(spans)))


def continued(gutter: str) -> str:
    """What stands left of the further lines of a line that is wrapped: the lanes that go on.

    >>> continued("├┼>"), continued("└─>")
    ('││ ', '   ')
    """
    return gutter.translate(_CONTINUED)


_CONTINUED = str.maketrans("├┌┼└─>", "│││   ")

_Spans: TypeAlias = dict[Hashable, range]
"""The lines from the first of an error to its last, where these are two; by their first lines."""


def _lanes(spans: _Spans) -> dict[Hashable, int]:
    """The leftmost lane that is free for each error."""
    lanes: dict[Hashable, int] = {}
    busy: list[tuple[int, int]] = []  # heap of the last line and the lane of each error that is still drawn
    free: list[int] = []  # heap of the lanes that were given back
    for key, span in spans.items():
        while busy and busy[0][0] < span[0]:
            heappush(free, heappop(busy)[1])
        lanes[key] = heappop(free) if free else len(busy)
        heappush(busy, (span[-1], lanes[key]))
    return lanes


def _drawn(keys: Sequence[Hashable | None], spans: _Spans, lanes: dict[Hashable, int]) -> Iterator[str]:
    """The gutter of each line, from what the lines before left in the lanes."""
    width = max(lanes.values(), default=-1) + 1
    open_lanes = [" "] * (width + 1 if width else 0)
    for number, key in enumerate(keys):
        if key not in lanes:
            yield "".join(open_lanes)
            continue
        own, span = lanes[key], spans[key]
        sign = {span[0]: "┌", span[-1]: "└"}.get(number, "├")
        crossed = ("┼" if lane == "│" else "─" for lane in open_lanes[own + 1 : width])
        yield "".join((*open_lanes[:own], sign, *crossed, "─" if sign == "┌" else ">"))
        open_lanes[own] = " " if sign == "└" else "│"
