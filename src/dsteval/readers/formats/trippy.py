"""TripPy's pred_res: a list, one object a turn, with a class, a running value and a gold value for each slot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Choice, Dialogue, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, shown, turn_number
from dsteval.readers.source import Source
from dsteval.values.tools.trippy import MARK

__all__ = ["TRIPPY"]

_KINDS = ("none", "dontcare", "copy_value", "true", "false", "refer", "inform")
"""The classes of MultiWOZ's configuration, in the order of their indices."""

_GOLD, _VALUE, _CLASS = "slot_groundtruth_", "slot_prediction_", "class_prediction_"


class _Trippy(Reader):
    """Reads ``slot_groundtruth_S`` and ``slot_prediction_S`` of every slot S as the two states.

    The mark of a value that the system informed is taken off the predicted state. The choice of a slot keeps
    it, beside the class that ``class_prediction_S`` gives as an index.
    """

    name = "trippy"
    about = "TripPy pred_res: [{guid: [set, dialogue, turn], class_prediction_S, slot_prediction_S, ...}, ...]"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Objects with guid and a slot_prediction."""
        record = source.first_record
        fits = source.kind == "list" and isinstance(record, dict) and "guid" in record
        fits = fits and any(key.startswith(_VALUE) for key in record)
        return "objects with 'guid' and 'slot_prediction_...'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        for line, chunk in source.records():
            record = fields(chunk.value, f"{source.name}, {line}")
            name, number = _place(record.get("guid"))
            expected = "an object with guid [set, dialogue, turn]"
            place = turns.place(line, name, number, chunk.value, expected)
            if place is not None and number is not None:
                turns.add(place, _turn(record, place, number, turns.flattener))
        return turns.dialogues(options.updated())


def _place(guid: Any) -> tuple[str, int | None]:
    """Dialogue and turn: TripPy cuts its key at every hyphen, those of the dialogue's name included."""
    if not isinstance(guid, list) or len(guid) < 3 or not all(isinstance(part, str) for part in guid):
        return "", None
    return "-".join(guid[1:-1]), turn_number(guid[-1])


def _turn(record: dict[str, Any], name: str, number: int, flattener: Flattener) -> Turn:
    starts = (_VALUE, _GOLD, _CLASS)
    slots = dict.fromkeys(key.removeprefix(start) for start in starts for key in record if key.startswith(start))
    ref: Items = []
    pred: Items = []
    choices: list[Choice] = []
    for slot in slots:
        gold, value, chosen = (record.get(start + slot) for start in (_GOLD, _VALUE, _CLASS))
        kind = _KINDS[chosen] if type(chosen) is int and 0 <= chosen < len(_KINDS) else None
        if isinstance(gold, str) and isinstance(value, str) and kind is not None:
            ref.append((slot, gold))
            pred.append((slot, _unmarked(value)))
            choices.append(Choice(slot, kind, value))
        else:
            _complain(record, slot, name, number, flattener)
    if not slots:
        expected = "slots with class_prediction, slot_prediction and slot_groundtruth"
        flattener.problems.add(name, number, expected=expected, found=shown(record))
    return Turn(number, ref, pred, choices=choices)


def _unmarked(value: str) -> str:
    return value[len(MARK) :].removeprefix(" ") if value.startswith(MARK) else value


def _complain(record: dict[str, Any], slot: str, name: str, number: int, flattener: Flattener) -> None:
    """Note which of a slot's three fields is not there, or not what it should be."""
    texts = {start + slot: f"a text as {start}{slot}" for start in (_VALUE, _GOLD)}
    index = f"the index of a class ({', '.join(_KINDS)}) as {_CLASS}{slot}"
    odd = next((key for key in texts if not isinstance(record.get(key), str)), _CLASS + slot)
    found = shown(record[odd]) if odd in record else "nothing"
    flattener.problems.add(name, number, slot=slot, expected=texts.get(odd, index), found=found)


TRIPPY = _Trippy()
