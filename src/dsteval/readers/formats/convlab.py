"""ConvLab-3's predictions.json: a list of samples with the unified format's state and predictions; both sides."""

from typing import Any

from dsteval.readers.base import turn_number
from dsteval.readers.json_format import JsonFormat


class _Convlab(JsonFormat):
    """``utt_idx`` counts all utterances; setSUMBT's ``turn_id`` counts user turns."""

    def place(self, record: dict[str, Any]) -> tuple[Any, Any]:
        """The dialogue, and the number by either."""
        name, label = super().place(record)
        if "utt_idx" in record:
            index = turn_number(record["utt_idx"])
            label = None if index is None else index // 2
        return name, label


CONVLAB = _Convlab(
    name="convlab",
    about="ConvLab-3 unified predictions: [{dialogue_id, utt_idx, state, predictions: {state}}, ...]",
    kind="list",
    sign="objects with 'state' and 'predictions'",
    marks=("state", "predictions.state"),
    needed=("predictions.state", "state"),
    expected="an object with dialogue_id, utt_idx, state and predictions of a state",
    id="dialogue_id",
    number="turn_id",
    ref="state",
    pred="predictions.state",
    user="utterance",
)
