"""Arrows from the turn where an error began to the turns that inherit it, drawn left of the lines."""

from collections.abc import Collection, Hashable, Sequence
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
    lanes = _lanes(spans)
    width = max(lanes.values(), default=-1) + 1
    open_lanes: set[int] = set()
    drawn = []
    for number, key in enumerate(keys):
        if key not in lanes:
            drawn.append(_gutter(open_lanes, width))
            continue
        lane, span = lanes[key], spans[key]
        open_lanes.add(lane)
        sign = {span[0]: "┌", span[-1]: "└"}.get(number, "├")
        drawn.append(_gutter(open_lanes, width, lane, sign))
        if number == span[-1]:
            open_lanes.remove(lane)
    return drawn


_Spans: TypeAlias = dict[Hashable, range]
"""The lines from the first of an error to its last, where these are two."""


def _lanes(spans: _Spans) -> dict[Hashable, int]:
    """The leftmost lane that is free for each error."""
    lanes: dict[Hashable, int] = {}
    busy: list[range] = []  # lane -> the lines that take it last
    for key, span in spans.items():
        lane = next((number for number, taken in enumerate(busy) if taken[-1] < span[0]), len(busy))
        busy[lane : lane + 1] = [span]
        lanes[key] = lane
    return lanes


def _gutter(open_lanes: Collection[int], width: int, own: int | None = None, sign: str = "") -> str:
    """What stands left of a line; ``sign`` in the lane of its ``own`` error, if it belongs to one."""
    signs = [" "] * (width + 1 if width else 0)
    for lane in open_lanes:
        signs[lane] = "│"
    if own is not None:
        signs[own] = sign
        for lane in range(own + 1, width):
            signs[lane] = "┼" if signs[lane] == "│" else "─"
        signs[width] = "─" if sign == "┌" else ">"
    return "".join(signs)
