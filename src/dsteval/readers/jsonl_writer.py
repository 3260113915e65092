"""Dialogues as lines of our JSONL, so that nothing a reader found is lost."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from dsteval.dialogue import Dialogue, Frame, Side, Turn, is_doubled


def lines(dialogues: Iterable[Dialogue], side: Side | None = None) -> Iterator[bytes]:
    """The lines of our JSONL, each with its line end.

    ``side`` is given where the file has one side: its states are written as ``state``, or ``update``, so that the
    lines may serve as either. A state that names a slot twice is written as ``items``, or in their form where it
    is a ``pred_update``; services as ``frames``.
    """
    encoder = msgspec.json.Encoder()
    for dialogue in dialogues:
        for turn in dialogue.turns:
            yield encoder.encode(_record(dialogue, turn, side)) + b"\n"


def one_side(dialogues: Iterable[Dialogue]) -> Side | None:
    """The side to write as ``state``: ``pred``, where dialogues hold nothing else."""
    turns = (turn for dialogue in dialogues for turn in dialogue.turns)
    alone = all(turn.ref is None and turn.ref_frames is None and turn.correctness is None for turn in turns)
    return "pred" if alone else None


def _record(dialogue: Dialogue, turn: Turn, side: Side | None) -> dict[str, Any]:
    record: dict[str, Any] = {"dialogue_id": dialogue.id, "turn_id": turn.number, **_given(turn, "system", "user")}
    # What cannot be told from a line's states: see Dialogue.
    record |= {flag: True for flag in ("gaps", "alone", "forced") if getattr(dialogue, flag)}
    framed = turn.ref_frames is not None or turn.pred_frames is not None
    if dialogue.updates and (framed or any(map(is_doubled, (turn.ref, turn.pred)))):
        record["updates"] = True
    if turn.correctness is not None:
        record["bits"] = turn.correctness
    frames: dict[str, Any] = {}
    doubled: dict[str, Any] = {}
    for target in ("ref", "pred"):
        items, services = getattr(turn, target), getattr(turn, f"{target}_frames")
        if services is not None:
            frames[target] = [_frame(frame) for frame in services]
        elif items is not None and is_doubled(items):
            doubled[target] = items
        elif items is not None:
            record["update" if target in dialogue.updates else "state" if side else target] = dict(items)
    for key, values in (("frames", frames), ("items", doubled)):
        if values:
            record[key] = values.get(side or "", values)
    if turn.pred_update is not None:
        record["pred_update"] = turn.pred_update if is_doubled(turn.pred_update) else dict(turn.pred_update)
    if dialogue.after is not None and turn is dialogue.turns[-1]:
        record["after"] = dialogue.after
    return record | _given(turn, "choices")


def _given(struct: msgspec.Struct, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(struct, name)) is not None}


def _frame(frame: Frame) -> dict[str, Any]:
    state = {"items": frame.items} if is_doubled(frame.items) else {"state": dict(frame.items)}
    return {"service": frame.service, **state, **_given(frame, "intent", "requested")}
