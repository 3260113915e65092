"""LLM-DST-EVAL's list: one object a turn with the prediction and the references of several label versions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import OptionError, first_few
from dsteval.readers.base import Flattener, Options, Sign, fields
from dsteval.readers.json_format import JsonFormat
from dsteval.readers.source import Source


class _LlmDstEval(JsonFormat):
    """The reference is ``ground_truth``, MultiWOZ 2.1's labels, unless ``--ref-field`` names another such as
    ``ground_truth_m24``. ``predict_turn_label``, if there, is what the tracker changed at the turn.
    """

    ref_fields = True

    def sniff(self, source: Source) -> Sign | None:
        """Objects with flag, predict and ground_truth; the sign names the other references."""
        sign = super().sniff(source)
        keys = source.first_record if sign else ()
        others = [key for key in keys if key.startswith(self.ref) and key != self.ref]
        return Sign(f"{self.sign}; --ref-field may also be {', '.join(others)}") if others else sign

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, with the reference that was asked for."""
        field = options.ref_field or self.ref
        line, chunk = next(source.records())
        record = fields(chunk.value, f"{source.name}, {line}")
        if record and field not in record:
            where = f"{source.name}, --ref-field {field}"
            known = first_few(key for key in record if key.startswith(self.ref))
            raise OptionError(where=where, expected="a field of the file", found=known)
        asked = replace(self, ref=field, expected=f"an object with flag 'ID-turn', predict and {field}")
        return JsonFormat.read(asked, source, side, options)

    def place(self, record: dict[str, Any]) -> tuple[Any, Any]:
        """Dialogue and turn, which the flag has as 'ID-turn'."""
        flag = record.get("flag")
        name, _, label = flag.rpartition("-") if isinstance(flag, str) else ("", "", "")
        return name, label

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn, with what the tracker changed if the file tells it."""
        turn = super().turn(record, name, number, side, flattener)
        update = record.get("predict_turn_label")
        turn.pred_update = None if update is None else flattener.items(update, name, number)
        return turn


LLM_DST_EVAL = _LlmDstEval(
    name="llm_dst_eval",
    about="LLM-DST-EVAL list: [{flag, predict, ground_truth, ground_truth_m24}, ...]; choose with --ref-field",
    kind="list",
    sign="objects with 'flag', 'predict' and 'ground_truth'",
    marks=("flag", "predict", "ground_truth"),
    expected="",
    ref="ground_truth",
    pred="predict",
    system="system",
    user="user",
)
