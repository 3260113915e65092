"""ConvLab-3's predictions.json: a list of samples with the unified format's state and predictions; both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, turn_number
from dsteval.readers.source import Source

__all__ = ["CONVLAB"]


class _Convlab(Reader):
    """Reads samples with dialogue_id, ``utt_idx`` (which counts all utterances) or setSUMBT's ``turn_id`` (user
    turns), ``state`` and ``predictions.state``.
    """

    name = "convlab"
    about = "ConvLab-3 unified predictions: [{dialogue_id, utt_idx, state, predictions: {state}}, ...]"
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Objects with a state and predictions that hold a state."""
        record = source.first_record
        predictions = record.get("predictions") if source.kind == "list" and isinstance(record, dict) else None
        fits = isinstance(predictions, dict) and "state" in predictions and "state" in record
        return "objects with 'state' and 'predictions'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        for line, chunk in source.records():
            found = fields(chunk.value, f"{source.name}, {line}")
            number = _number(found)
            predicted = fields(found.get("predictions"), f"{source.name}, {line}")
            whole = number is not None and "state" in found and "state" in predicted
            expected = "an object with dialogue_id, utt_idx, state and predictions of a state"
            name = turns.place(line, found.get("dialogue_id"), number if whole else None, chunk.value, expected)
            if name is None or number is None:
                continue
            ref, pred = (turns.flattener.items(state["state"], name, number) for state in (found, predicted))
            user = turns.flattener.utterance(found.get("utterance"), name, number)
            turns.add(name, Turn(number, ref, pred, user=user))
        return turns.dialogues(options.updated())


def _number(found: dict[str, Any]) -> int | None:
    if "utt_idx" in found:
        index = turn_number(found["utt_idx"])
        return None if index is None else index // 2
    return turn_number(found.get("turn_id"))


CONVLAB = _Convlab()
