"""DSTC10 track 2 labels and entries: a list of instances without ids; the position is the key. One side."""

from collections.abc import Iterable, Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Item, Side
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener, Options, Reader, Sign, first_object, one_sided
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

_DOMAINS = frozenset({"restaurant", "hotel", "attraction"})


class _Dstc10Instances(Reader):
    """Reads [{domain: {"semi": {slot: [texts]}, "book": {...}}}, ...], each an instance of its own.

    The instances are not in the order of conversations, and nothing in the file tells which belong together:
    metrics that need dialogues are undefined.
    """

    name = "dstc10"
    about = "DSTC10 labels or entry: [{domain: {semi: {slot: [value]}, book: {...}}}, ...], by position"
    sides = "one"

    def sniff(self, source: Source) -> Sign | None:
        """A list of objects whose keys are restaurant, hotel or attraction, with semi or book inside."""
        record = first_object(source, "list")
        parts = {part for domain in record.values() if isinstance(domain, dict) for part in domain}
        fits = record.keys() <= _DOMAINS and parts & {"semi", "book"}
        return Sign("objects of domains with 'semi' or 'book'") if fits else None

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


def _members(value: Any, name: str, flattener: Flattener) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        return value.items()
    flattener.note(name, 0, "an object of domains with semi and book", value)
    return ()


def _items(value: Any, name: str, flattener: Flattener) -> Iterator[Item]:
    for domain, parts in _members(value, name, flattener):
        for part, slots in _members(parts, name, flattener):
            prefix = "book " if part == "book" else ""
            for slot, texts in _members(slots, name, flattener):
                full = f"{domain}-{prefix}{slot}"
                yield full, flattener.value(texts, name, 0, full)


DSTC10 = _Dstc10Instances()
