"""A file in parts of whole dialogues."""

from contextlib import suppress
from itertools import pairwise
from typing import Any

import msgspec

from dsteval.readers.source import Source


class _Named(msgspec.Struct):
    dialogue_id: Any


def split(source: Source, number: int) -> list[Source]:
    """The source in parts of whole dialogues, in their order, at most ``number`` of them; itself if it is one.

    Of lines, dialogues that stand apart are cut: who reads the parts has to look for such.
    """
    parts = [source]
    if len(source.parts) > 1 or not source.whole:
        return parts
    if source.kind == "object" and isinstance(source.top, dict):
        members, size = list(source.members()), -(-len(source.top) // number)
        parts = [Source(source.name, top=dict(members[at : at + size])) for at in range(0, len(members), size)]
    elif source.kind == "lines":
        between = (_dialogue_at(source, source.size * n // number) for n in range(1, number))
        parts = [source.part(*span) for span in pairwise(sorted({0, source.size, *between}))]
    for part in parts:
        part.cache["detected"] = source.cache.get("detected")
    return parts


def _dialogue_at(source: Source, place: int) -> int:
    """The place of the line, after a place, with which another dialogue begins; the end if there is none."""
    lines = source.part(place, source.size).lines()
    place += len(next(lines, b"")) + 1
    name = None
    for line in lines:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            before, name = name, msgspec.json.decode(line, type=_Named).dialogue_id
            if before is not None and before != name:
                return place
        place += len(line) + 1
    return source.size
