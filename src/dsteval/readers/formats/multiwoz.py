"""MultiWOZ 2.0, 2.1, 2.3 and 2.4 data.json: the state after a user turn is the metadata of the entry after it."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, Sign, are_texts, first_object, one_sided
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source


class _MultiwozData(Reader):
    """Reads {dialogue: {"log": [{"text", "metadata"}, ...]}}, user first; one side.

    ``semi`` and ``book`` hold slots; ``booked`` is the result of a booking and no slot. A last user turn that no
    entry follows has no state and is left out, as in the data's own scripts.
    """

    name = "multiwoz"
    about = "MultiWOZ 2.0-2.4 data.json: {dialogue: {log: [{text, metadata}]}}; FOLDER/test selects a split"
    sides = "one"

    def sniff(self, source: Source) -> Sign | None:
        """Dialogues with a log of entries with metadata."""
        log = first_object(source, "object").get("log")
        fits = isinstance(log, list) and bool(log) and isinstance(log[0], dict) and "metadata" in log[0]
        return Sign("dialogues with a 'log' of 'metadata'") if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        for name, raw in source.members():
            if not source.includes(name):
                continue
            value, doubled = decode(raw, flattener.where(name))
            log = flattener.fields(value, name).get("log")
            if not isinstance(log, list):
                flattener.note(name, None, 'an object with "log"', value)
                log = []
            turns = flattener.counted(_turns(name, log, side, flattener, doubled))
            last = log[max(2 * len(turns) - 1, 0) :]
            texts = [entry.get("text") if isinstance(entry, dict) else None for entry in last]
            after = tuple(texts) if are_texts(texts) else ()
            yield Dialogue(name, turns, doubled, options.updated(side), keyed=False, after=after)
        flattener.problems.check(flattener.total)


def _turns(name: str, log: list[Any], side: Side, flattener: Flattener, doubled: bool) -> Iterator[Turn]:
    before: str | None = ""
    known: dict[str, tuple[Any, Items]] = {}  # most domains stay as they were at the turn before
    for number in range(len(log) // 2):
        user, system = (flattener.fields(entry, name, number) for entry in log[2 * number : 2 * number + 2])
        metadata = system.get("metadata")
        if not metadata or not isinstance(metadata, dict):
            flattener.note(name, number, "the state as metadata of the system's entry", metadata)
            metadata = {}
        items: Items = []
        for domain, value in metadata.items():
            if domain not in known or known[domain][0] != value:
                found = list(_items(domain, value, name, number, flattener))
                known.pop(domain, None)
                if not doubled and _is_plain(value):
                    known[domain] = value, found
                items += found
            else:
                items += known[domain][1]
        yield one_sided(side, number, items, before, flattener.utterance(user.get("text"), name, number))
        before = flattener.utterance(system.get("text"), name, number)


def _is_plain(value: Any) -> bool:
    """Whether a domain's metadata hold texts alone: those are equal only to their like."""
    if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
        return False
    return all(type(text) is str for part in value.values() for slot, text in part.items() if slot != "booked")


def _items(domain: str, value: Any, name: str, number: int, flattener: Flattener) -> Iterator[Item]:
    """The items of one domain's metadata."""
    parts = flattener.fields(value, name, number)
    if unknown := parts.keys() - {"book", "semi"}:
        found = {key: parts[key] for key in sorted(unknown)}
        flattener.note(name, number, f"only semi and book in the metadata of {domain}", found)
    elif not isinstance(value, dict):
        flattener.note(name, number, f"an object with semi and book as the metadata of {domain}", value)
    for part, prefix in (("book", "book "), ("semi", "")):
        slots = parts.get(part, {})
        if not isinstance(slots, dict):
            flattener.note(name, number, "an object of slots", slots, slot=f"{domain}-{part}")
            continue
        for slot, written in slots.items():
            if slot != "booked":
                full = f"{domain}-{prefix}{slot}"
                yield full, flattener.value(written, name, number, full)


MULTIWOZ_DATA = _MultiwozData()
