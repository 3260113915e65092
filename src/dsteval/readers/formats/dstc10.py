"""DSTC10 track 2 labels and entries: a list of instances without ids; the position is the key. One side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Items, Side
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener, Options, Reader, one_sided, shown
from dsteval.readers.json_pairs import Pairs, decode
from dsteval.readers.source import Source

__all__ = ["DSTC10"]

_DOMAINS = frozenset({"restaurant", "hotel", "attraction"})


class _Dstc10(Reader):
    """Reads [{domain: {"semi": {slot: [texts]}, "book": {...}}}, ...], each an instance of its own.

    The instances are not in the order of conversations, and nothing in the file tells which belong together:
    metrics that need dialogues are undefined.
    """

    name = "dstc10"
    about = "DSTC10 labels or entry: [{domain: {semi: {slot: [value]}, book: {...}}}, ...], by position"
    sides = "one"

    def sniff(self, source: Source) -> str:
        """A list of objects whose keys are restaurant, hotel or attraction, with semi or book inside."""
        record = source.first_record
        if source.kind != "list" or not isinstance(record, dict) or not record.keys() <= _DOMAINS:
            return ""
        parts = [part for domain in record.values() if isinstance(domain, dict) for part in domain]
        return "objects of domains with 'semi' or 'book'" if set(parts) & {"semi", "book"} else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each instance as a dialogue of one turn, named by its position from 0."""
        flattener = Flattener(source.name)
        instances = source.top
        if not isinstance(instances, list):
            raise ReadError(where=source.name, expected="a JSON list of instances", found="an object")
        for position, raw in enumerate(instances):
            name = str(position)
            value, doubled = decode(raw, f"{source.name}, instance {name}")
            items = list(_items(value, name, flattener))
            yield Dialogue(name, [one_sided(side, 0, items)], doubled, options.updated(side), alone=True)
        flattener.problems.check(len(instances), "instances")


def _pairs(value: Any, name: str, flattener: Flattener) -> Items:
    if isinstance(value, dict | Pairs):
        return list(value.items()) if isinstance(value, dict) else value
    flattener.problems.add(name, 0, expected="an object of domains with semi and book", found=shown(value))
    return []


def _items(value: Any, name: str, flattener: Flattener) -> Iterator[tuple[str, Any]]:
    for domain, parts in _pairs(value, name, flattener):
        for part, slots in _pairs(parts, name, flattener):
            prefix = "book " if part == "book" else ""
            for slot, texts in _pairs(slots, name, flattener):
                full = f"{domain}-{prefix}{slot}"
                yield full, flattener.value(texts, name, 0, full)


DSTC10 = _Dstc10()
