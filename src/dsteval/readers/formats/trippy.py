"""TripPy's pred_res: a list, one object a turn, with a class, a running value and a gold value for each slot."""

from typing import Any

from dsteval.dialogue import Choice, Items, Side, Turn
from dsteval.readers.base import Flattener, are_texts, shown
from dsteval.readers.json_format import JsonFormat
from dsteval.values.tools.trippy import MARK

_MOST_CLASSES = 20
"""More than any configuration has: MultiWOZ's has seven, that of WOZ, sim-M and sim-R four."""

_GOLD, _VALUE, _CLASS = "slot_groundtruth_", "slot_prediction_", "class_prediction_"


class _TrippyFormat(JsonFormat):
    """``slot_groundtruth_S`` and ``slot_prediction_S`` of every slot S are the two states.

    The mark of a value that the system informed is taken off the predicted state. The choice of a slot keeps
    it, beside the class, of which ``class_prediction_S`` gives the position in the configuration's list.
    """

    def place(self, record: dict[str, Any]) -> tuple[Any, Any]:
        """Dialogue and turn: TripPy cuts its key at every hyphen, those of the dialogue's name included."""
        guid = record.get("guid")
        return ("-".join(guid[1:-1]), guid[-1]) if are_texts(guid) and len(guid) >= 3 else ("", None)

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn, slot by slot."""
        starts = (_VALUE, _GOLD, _CLASS)
        slots = dict.fromkeys(key[len(start) :] for start in starts for key in record if key.startswith(start))
        ref: Items = []
        pred: Items = []
        choices: list[Choice] = []
        for slot in slots:
            gold, value, chosen = (record.get(start + slot) for start in (_GOLD, _VALUE, _CLASS))
            kind = str(chosen) if type(chosen) is int and 0 <= chosen < _MOST_CLASSES else None
            if isinstance(gold, str) and isinstance(value, str) and kind is not None:
                ref.append((slot, gold))
                pred.append((slot, value[len(MARK) :].removeprefix(" ") if value.startswith(MARK) else value))
                choices.append(Choice(slot, kind, value))
                continue
            texts = {start + slot: f"a string as {start}{slot}" for start in (_VALUE, _GOLD)}
            index = f"the number of a class, from 0, as {_CLASS}{slot}"
            key = next((key for key in texts if not isinstance(record.get(key), str)), _CLASS + slot)
            found = shown(record[key]) if key in record else "nothing"
            flattener.problems.add(name, number, slot=slot, expected=texts.get(key, index), found=found)
        if not slots:
            expected = "slots with class_prediction, slot_prediction and slot_groundtruth"
            flattener.note(name, number, expected, record)
        return Turn(number, ref, pred, choices=choices)


TRIPPY = _TrippyFormat(
    name="trippy",
    about="TripPy pred_res: [{guid: [set, dialogue, turn], class_prediction_S, slot_prediction_S, ...}, ...]",
    kind="list",
    sign="objects with 'guid' and 'slot_prediction_...'",
    marks=("guid", "slot_prediction_*"),
    expected="an object with guid [set, dialogue, turn]",
)
