"""LLM-DST-EVAL's list: one object a turn with the prediction and the references of several label versions."""

from __future__ import annotations

from collections.abc import Iterator

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import OptionError, first_few
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, turn_number
from dsteval.readers.source import Source

__all__ = ["LLM_DST_EVAL"]

_DEFAULT = "ground_truth"


class _LlmDstEval(Reader):
    """Reads ``flag`` ('ID-turn'), ``system``, ``user``, ``predict`` and a reference: ``ground_truth``, MultiWOZ
    2.1's labels, unless ``--ref-field`` names another such as ``ground_truth_m24``. ``predict_turn_label``, if
    there, is what the tracker changed at the turn.
    """

    name = "llm_dst_eval"
    about = "LLM-DST-EVAL list: [{flag, predict, ground_truth, ground_truth_m24}, ...]; --ref-field chooses"
    sides = "both"
    ref_fields = True

    def sniff(self, source: Source) -> str:
        """Objects with flag, predict and ground_truth."""
        record = source.first_record
        fits = (
            source.kind == "list" and isinstance(record, dict) and {"flag", "predict", _DEFAULT} <= record.keys()
        )
        if not fits:
            return ""
        others = [key for key in record if key.startswith(_DEFAULT) and key != _DEFAULT]
        also = f"; --ref-field may also be {', '.join(others)}" if others else ""
        return f"objects with 'flag', 'predict' and 'ground_truth'{also}"

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        field = options.ref_field or _DEFAULT
        for line, chunk in source.records():
            found = fields(chunk.value, f"{source.name}, {line}")
            if found and field not in found and turns.total == 0:
                known = [key for key in found if key.startswith(_DEFAULT)]
                where = f"{source.name}, --ref-field {field}"
                raise OptionError(where=where, expected="a field of the file", found=first_few(known))
            flag = found.get("flag")
            name, _, label = flag.rpartition("-") if isinstance(flag, str) else ("", "", "")
            number = turn_number(label)
            whole = "predict" in found and field in found
            expected = f"an object with flag 'ID-turn', predict and {field}"
            place = turns.place(line, name, number if whole else None, chunk.value, expected)
            if place is None or number is None:
                continue
            ref, pred = (turns.flattener.items(found[key], place, number) for key in (field, "predict"))
            system, user = (turns.flattener.utterance(found.get(key), place, number) for key in ("system", "user"))
            update = found.get("predict_turn_label")
            changed = None if update is None else turns.flattener.items(update, place, number)
            turns.add(place, Turn(number, ref, pred, system, user, pred_update=changed))
        return turns.dialogues(options.updated())


LLM_DST_EVAL = _LlmDstEval()
