"""The JSON of the FGA and GCA scripts: {dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}."""

from collections.abc import Iterator
from typing import Any

import msgspec

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.readers.base import (
    Flattener,
    Options,
    Reader,
    Sign,
    by_number,
    falls,
    first_object,
    numbered,
    turn_number,
)
from dsteval.readers.json_pairs import count_keys, decode, keys_in_bytes
from dsteval.readers.source import Source


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

    def sniff(self, source: Source) -> Sign | None:
        """Turns with the keys gt and pr, and not Hi-DST's pr_turn."""
        turns = [turn for turn in first_object(source, "object").values() if isinstance(turn, dict)]
        fits = any({"gt", "pr"} <= turn.keys() and "pr_turn" not in turn for turn in turns)
        return Sign("turns with 'gt' and 'pr'") if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        for name, raw in source.members():
            turns, doubled = _usual(name, raw, flattener), False
            flattener.total += len(turns or ())
            if turns is None:
                turns = []
                value, doubled = decode(raw, flattener.where(name))
                for number, turn in numbered(value, name, flattener.problems):
                    flattener.total += 1
                    keys = [key for key, _ in turn.items()] if isinstance(turn, dict) else []
                    if keys.count("gt") == keys.count("pr") == 1:
                        ref, pred = (flattener.items(turn[key], name, number) for key in ("gt", "pr"))
                        turns.append(Turn(number, ref, pred))
                    else:
                        flattener.note(name, number, 'an object with "gt" and "pr" once each', turn)
            ordered = by_number(name, turns, flattener.problems)
            yield Dialogue(name, ordered, doubled, options.updated(), shuffled=falls(turns))
        flattener.problems.check(flattener.total)


def _usual(name: str, raw: Any, flattener: Flattener) -> list[Turn] | None:
    """The turns of a dialogue in the usual shape, or None where it takes a careful look."""
    if not isinstance(raw, msgspec.Raw):
        return None
    data = bytes(raw)
    known: dict[bytes, tuple[Items, int]] = {}
    turns = []
    keys = 0
    try:
        for label, both in _SHALLOW.decode(data).items():
            number = turn_number(label)
            if number is None:
                return None
            states = bytes(both.gt), bytes(both.pr)
            for state in states:
                if state not in known:
                    value = msgspec.json.decode(state)
                    known[state] = flattener.items(value, name, number), count_keys(value)
                    if flattener.problems.places:
                        return None  # every turn that holds this state counts: not only the first
            (ref, ref_keys), (pred, pred_keys) = (known[state] for state in states)
            turns.append(Turn(number, ref, pred))
            keys += 3 + ref_keys + pred_keys
    except (msgspec.DecodeError, ValueError):
        return None
    return turns if keys == keys_in_bytes(data) else None


FGA_JSON = _FgaJson()
