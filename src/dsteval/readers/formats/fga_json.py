"""The JSON of the FGA and GCA scripts: {dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": {...}}}}."""

from collections.abc import Iterator
from operator import lt
from typing import Any

import msgspec

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import (
    Flattener,
    Options,
    Reader,
    Sign,
    by_number,
    falls,
    first_object,
    numbered,
)
from dsteval.readers.encoded import Encoded
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source
from dsteval.readers.state_bytes import StateBytes


class _FgaJson(Reader):
    """Reads both sides from one object; the states may be flat as well.

    Equal states of a block are read once.
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
        for part in self.encoded(source, options):
            yield from part.dialogues(options.updated()) if isinstance(part, Encoded) else (part,)

    def encoded(self, source: Source, options: Options) -> Iterator[Encoded | Dialogue]:
        """Blocks of dialogues that are written as programs write them, and the others one by one."""
        flattener = Flattener(source.name)
        states = StateBytes()
        block, waiting = states.block(), list[tuple[str, bytes]]()

        def finished() -> Iterator[Encoded | Dialogue]:
            if not len(block):
                return
            if states.complete(block):
                flattener.total += len(block)
                yield block
            else:
                for name, data in waiting:
                    yield self._careful(name, data, flattener, options)

        for name, raw in source.members():
            data = bytes(raw) if isinstance(raw, msgspec.Raw) else raw
            if isinstance(data, bytes) and _usual(name, data, block):
                waiting.append((name, data))
                if not block.is_full:
                    continue
                yield from finished()
            else:
                yield from finished()
                yield self._careful(name, data, flattener, options)
            block, waiting = states.block(), []
        yield from finished()
        flattener.problems.check(flattener.total)

    @staticmethod
    def _careful(name: str, raw: Any, flattener: Flattener, options: Options) -> Dialogue:
        """A dialogue with a close look at each value."""
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
        return Dialogue(name, ordered, doubled, options.updated(), shuffled=falls(turns))


def _usual(name: str, data: bytes, block: Encoded) -> bool:
    """Add a dialogue whose turns are written as programs write them; False for another."""
    gt, pr, comma = _TIGHT if b'":{"gt":{' in data else _SPACED
    head, *pieces = data.replace(pr, gt).split(gt)
    if not pieces or len(pieces) % 2 or head[:1] != b"{" or data[-2:] != b"}}":
        return False
    pieces[-1] = pieces[-1][:-1] + comma[1:]  # the last turn ends as if there were another
    ends = [piece.rpartition(comma) for piece in pieces[1::2]]
    labels = [head[1:], *(label for _, _, label in ends)]
    turns = [_LABELS.get(label, -1) for label in labels[:-1]]
    if -1 in turns or labels[-1] or not all(map(lt, turns, turns[1:])):
        return False
    block.add(name, turns, pieces[::2], [state for state, _, _ in ends])
    return True


_LABELS = {b'"%d"' % number: number for number in range(1000)}

# What stands before the two states, and before the next turn.
_SPACED = (b': {"gt": ', b', "pr": ', b"}, ")
_TIGHT = (b':{"gt":', b',"pr":', b"},")

FGA_JSON = _FgaJson()
