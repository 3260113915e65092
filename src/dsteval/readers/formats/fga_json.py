"""The JSON of the FGA and GCA scripts: {dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, by_number, numbered, shown, turn_number
from dsteval.readers.json_pairs import Pairs, decode, keys_in_bytes
from dsteval.readers.source import Source

__all__ = ["FGA_JSON"]


class _Both(msgspec.Struct, forbid_unknown_fields=True):
    gt: msgspec.Raw
    pr: msgspec.Raw


_SHALLOW = msgspec.json.Decoder(dict[str, _Both])


class _FgaJson(Reader):
    """Reads both sides from one object; the states may be flat as well.

    A state's bytes are often those of the turn before: then they are not decoded again.
    """

    name = "fga-json"
    about = 'FGA / GCA JSON: {dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}'
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Turns with the keys gt and pr, and not Hi-DST's pr_turn."""
        record = source.first_record
        if source.kind != "object" or not isinstance(record, dict):
            return ""
        turns = [turn for turn in record.values() if isinstance(turn, dict)]
        fits = any({"gt", "pr"} <= turn.keys() and "pr_turn" not in turn for turn in turns)
        return "turns with 'gt' and 'pr'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        return _Reading(source, options).dialogues()


class _Reading:
    def __init__(self, source: Source, options: Options) -> None:
        self.source = source
        self.updated = options.updated()
        self.flattener = Flattener(source.name)
        self.turns = 0

    def dialogues(self) -> Iterator[Dialogue]:
        for name, raw in self.source.members():
            yield self._fast(name, raw) or self._careful(name, raw)
        self.flattener.problems.check(self.turns)

    def _fast(self, name: str, raw: Any) -> Dialogue | None:
        """A dialogue in the usual shape, or None where it takes a careful look."""
        if not isinstance(raw, msgspec.Raw):
            return None
        data = bytes(raw)
        try:
            shallow = _SHALLOW.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        keys = 3 * len(shallow)
        turns = []
        known: dict[bytes, tuple[Items, int]] = {}
        for label, both in shallow.items():
            number = turn_number(label)
            if number is None:
                return None
            sides = []
            for raw_state in (both.gt, both.pr):
                text = bytes(raw_state)
                found = known.get(text)
                if found is None:
                    try:
                        value = msgspec.json.decode(text)
                    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
                        return None
                    if type(value) is not dict:
                        return None
                    items = self.flattener.items(value, name, number)
                    if self.flattener.problems.places:
                        return None  # every turn that holds this state counts: not only the first
                    # Without a problem every key is an item, or a domain of items.
                    domains = [*map(type, value.values())].count(dict)
                    found = known[text] = (items, len(items) + domains)
                keys += found[1]
                sides.append(found[0])
            turns.append(Turn(number, sides[0], sides[1]))
        if keys != keys_in_bytes(data):
            return None
        self.turns += len(turns)
        return Dialogue(name, by_number(name, turns, self.flattener.problems), False, self.updated)

    def _careful(self, name: str, raw: Any) -> Dialogue:
        """A dialogue of any shape: what is wrong with it is collected, and doubles are kept."""
        problems = self.flattener.problems
        value, doubled = decode(raw, f"{self.source.name}, dialogue {name!r}")
        turns: list[Turn] = []
        for number, turn in numbered(value, name, problems):
            self.turns += 1
            sides = _sides(turn)
            if sides is None:
                expected = 'an object with "gt" and "pr" once each'
                problems.add(name, number, expected=expected, found=shown(turn))
                continue
            ref, pred = (self.flattener.items(side, name, number) for side in sides)
            turns.append(Turn(number, ref, pred))
        return Dialogue(name, by_number(name, turns, problems), doubled, self.updated)


def _sides(turn: Any) -> tuple[Any, Any] | None:
    pairs = turn if isinstance(turn, Pairs) else list(turn.items()) if isinstance(turn, dict) else []
    found = [[value for key, value in pairs if key == side] for side in ("gt", "pr")]
    return (found[0][0], found[1][0]) if all(len(values) == 1 for values in found) else None


FGA_JSON = _FgaJson()
