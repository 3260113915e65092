"""Schema-guided dialogues and MultiWOZ 2.2: dialogues_NNN.json with frames per service; one side."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Frame, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, Sign, are_texts, fields, first_object, shown
from dsteval.readers.json_pairs import JsonChunk
from dsteval.readers.source import Source


class _Sgd(Reader):
    """Reads the frames of user turns; a turn's number counts user turns.

    ``slot_values`` are lists of accepted texts; a text instead of a list is that one value. The top level may also
    be an object of dialogues by id. The slots of schema.json beside the files are S.
    """

    name = "sgd"
    about = "SGD and MultiWOZ 2.2 dialogues: turns with frames per service; a folder with schema.json"
    sides = "one"

    def sniff(self, source: Source) -> Sign | None:
        """Dialogues with turns that have a speaker and frames."""
        turns = first_object(source, "list", "object").get("turns")
        first = turns[:3] if isinstance(turns, list) else []
        fits = any(isinstance(turn, dict) and {"speaker", "frames"} <= turn.keys() for turn in first)
        return Sign("turns with 'speaker' and 'frames'") if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the list, or of the object."""
        flattener = Flattener(source.name)
        for line, chunk in _records(source):
            record = fields(chunk.value, f"{source.name}, {line}")
            name, listed = record.get("dialogue_id"), record.get("turns")
            if not isinstance(name, str) or not isinstance(listed, list):
                flattener.note_line(line, "an object with dialogue_id and turns", shown(chunk.value))
                continue
            turns = flattener.counted(_turns(name, listed, side, flattener))
            yield Dialogue(name, turns, chunk.doubled, options.updated(side), keyed=False)
        flattener.problems.check(flattener.total)


def _records(source: Source) -> Iterator[tuple[str, JsonChunk]]:
    if source.kind == "list":
        yield from source.records()
        return
    for name, chunk in source.dialogues():
        record = fields(chunk.value, f"{source.name}, dialogue {name!r}")
        yield f"dialogue {name!r}", JsonChunk({"dialogue_id": name, **record}, chunk.doubled)


def _turns(name: str, listed: list[Any], side: Side, flattener: Flattener) -> Iterator[Turn]:
    number = 0
    system: str | None = ""
    for value in listed:
        turn = flattener.fields(value, name, number)
        speaker = str(turn.get("speaker", "")).upper()
        said = turn.get("utterance")
        if speaker == "SYSTEM":
            system = flattener.utterance(said, name, number)
        elif speaker != "USER" or not isinstance(turn.get("frames"), list):
            flattener.note(name, number, "a turn of USER or SYSTEM with frames", value)
        else:
            frames = [frame for value in turn["frames"] if (frame := _frame(value, name, number, flattener))]
            flattener.check_services(frames, name, number)
            read = Turn(number, system=system, user=flattener.utterance(said, name, number))
            setattr(read, f"{side}_frames", frames)
            yield read
            number += 1


def _frame(value: Any, name: str, number: int, flattener: Flattener) -> Frame | None:
    frame = flattener.fields(value, name, number)
    state = flattener.fields(frame.get("state"), name, number)
    service, values, requested = frame.get("service"), state.get("slot_values"), state.get("requested_slots")
    if not isinstance(service, str) or not isinstance(values, dict):
        flattener.note(name, number, "a frame with a service and a state of slot_values", value)
        return None
    if requested is not None and not are_texts(requested):
        flattener.note(name, number, "requested_slots as a list of strings", requested)
        return None
    items = [(slot, flattener.value(value, name, number, slot)) for slot, value in values.items()]
    return Frame(service, items, flattener.utterance(state.get("active_intent"), name, number), requested)


SGD = _Sgd()
