"""Schema-guided dialogues and MultiWOZ 2.2: dialogues_NNN.json with frames per service; one side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Frame, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, fields, shown
from dsteval.readers.json_pairs import JsonChunk, Pairs, decode
from dsteval.readers.source import Source

__all__ = ["SGD"]


class _Sgd(Reader):
    """Reads the frames of user turns; a turn's number counts user turns.

    ``slot_values`` are lists of accepted texts; a text instead of a list is that one value. The top level may also
    be an object of dialogues by id. The slots of schema.json beside the files are S.
    """

    name = "sgd"
    about = "SGD and MultiWOZ 2.2 dialogues: turns with frames per service; a folder of them, schema.json beside"
    sides = "one"

    def sniff(self, source: Source) -> str:
        """Dialogues with turns that have a speaker and frames."""
        record = source.first_record
        turns = record.get("turns") if isinstance(record, dict) else None
        fits = isinstance(turns, list) and any(
            isinstance(turn, dict) and "speaker" in turn and "frames" in turn for turn in turns[:3]
        )
        return "turns with 'speaker' and 'frames'" if fits and source.kind in ("list", "object") else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the list, or of the object."""
        flattener = Flattener(source.name)
        total = 0
        for line, chunk in _records(source):
            found = fields(chunk.value, f"{source.name}, {line}")
            name = found.get("dialogue_id")
            turns = found.get("turns")
            if not isinstance(name, str) or not isinstance(turns, list):
                expected = "an object with dialogue_id and turns"
                flattener.problems.add("", None, line=line, expected=expected, found=shown(chunk.value))
                continue
            read = list(_turns(name, turns, side, flattener))
            total += len(read)
            yield Dialogue(name, read, chunk.doubled, options.updated(side), keyed=False)
        flattener.problems.check(total)


def _records(source: Source) -> Iterator[tuple[str, JsonChunk]]:
    if source.kind == "list":
        yield from source.records()
        return
    for name, raw in source.members():
        where = f"{source.name}, dialogue {name!r}"
        chunk = decode(raw, where)
        yield f"dialogue {name!r}", JsonChunk({"dialogue_id": name, **fields(chunk.value, where)}, chunk.doubled)


def _turns(name: str, turns: list[Any], side: Side, flattener: Flattener) -> Iterator[Turn]:
    number = 0
    system: str | None = ""
    for value in turns:
        where = f"{flattener.problems.source}, dialogue {name!r}, turn {number}"
        found = fields(value, where)
        speaker = str(found.get("speaker", "")).upper()
        if speaker == "SYSTEM":
            system = flattener.utterance(found.get("utterance"), name, number)
            continue
        if speaker != "USER" or not isinstance(found.get("frames"), list):
            expected = "a turn of USER or SYSTEM with frames"
            flattener.problems.add(name, number, expected=expected, found=shown(value))
            continue
        frames = [frame for one in found["frames"] if (frame := _frame(one, name, number, flattener))]
        services = [frame.service for frame in frames]
        twice = next((service for service in services if services.count(service) > 1), None)
        if twice is not None:
            expected = "one frame a service"
            flattener.problems.add(name, number, expected=expected, found=f"{shown(twice)} twice")
        turn = Turn(number, system=system, user=flattener.utterance(found.get("utterance"), name, number))
        if side == "ref":
            turn.ref_frames = frames
        else:
            turn.pred_frames = frames
        yield turn
        number += 1


def _frame(value: Any, name: str, number: int, flattener: Flattener) -> Frame | None:
    where = f"{flattener.problems.source}, dialogue {name!r}, turn {number}"
    found = fields(value, where)
    state = fields(found.get("state"), where)
    service, values = found.get("service"), state.get("slot_values")
    if not isinstance(service, str) or not isinstance(values, dict | Pairs):
        expected = "a frame with a service and a state of slot_values"
        flattener.problems.add(name, number, expected=expected, found=shown(value))
        return None
    requested = state.get("requested_slots")
    if requested is not None and not (isinstance(requested, list) and all(isinstance(r, str) for r in requested)):
        expected = "requested_slots as a list of texts"
        flattener.problems.add(name, number, expected=expected, found=shown(requested))
        return None
    pairs = values if isinstance(values, Pairs) else values.items()
    items = [(slot, flattener.value(value, name, number, slot)) for slot, value in pairs]
    intent = flattener.utterance(state.get("active_intent"), name, number)
    return Frame(service, items, intent, requested)


SGD = _Sgd()
