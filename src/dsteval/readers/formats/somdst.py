"""SOM-DST's preds_N.json: {"ID_turn": [predicted, reference]}, lists of 'domain-slot-value'."""

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Grouped, Options, Reader, Sign, are_texts, turn_number
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source


class _Somdst(Reader):
    """Reads both sides, the prediction first. Turns of other domains are not in the file: numbers may skip."""

    name = "somdst"
    about = 'SOM-DST preds: {"ID_turn": [[predicted ...], [reference ...]]}, lists of domain-slot-value'

    def sniff(self, source: Source) -> Sign | None:
        """Keys that end in _turn, each with two lists."""
        if source.kind != "object":
            return None
        _, underscore, label = next(iter(source.top), "").rpartition("_")
        record = source.first_record
        fits = isinstance(record, list) and len(record) == 2 and all(map(are_texts, record))
        return Sign("keys 'ID_turn' with two lists") if fits and underscore and label.isdecimal() else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(source.name)
        for key, raw in source.members("each turn once"):
            value = decode(raw, f"{source.name}, {key!r}").value
            name, _, label = key.rpartition("_")
            number = turn_number(label)
            if not name or number is None:
                turns.note_line(f"key {key!r}", "keys 'ID_turn' that end in a number", repr(label))
            elif not isinstance(value, list) or len(value) != 2:
                turns.note(name, number, "two lists, the prediction and the reference", value)
            else:
                pred, ref = (turns.glued(items, name, number) for items in value)
                turns.add(name, Turn(number, ref, pred))
        return turns.dialogues(options.updated(), gaps=True)


SOMDST = _Somdst()
