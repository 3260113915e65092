"""The naive oracle of errors: each slot of a dialogue followed turn by turn, straight from the definition.

An error is a maximal run of turns in which a slot is wrong with the same reference and the same prediction.
"""

from collections.abc import Callable
from typing import NamedTuple

import naive
from naive import Corpus, Dialogue, Values, right_in, same_ref

Same = Callable[[Values, Values], bool]


class Error(NamedTuple):
    """One error; ``u`` is the turn at which it ended, None where it lived to the last one."""

    dialogue: int
    slot: str
    origin: int
    lifetime: int
    kind: str
    end: str
    u: int | None
    ref: Values | None
    pred: Values | None


def wrong(dialogue: Dialogue, t: int, slot: str) -> bool:
    """Say whether a slot is wrong at a turn, which may lie outside the dialogue."""
    return 0 <= t < len(dialogue) and slot in naive.wrong_slots(*dialogue[t])


def stayed(before: Values | None, now: Values | None, same: Same) -> bool:
    """Say whether a side has the same value as before, or none as before."""
    return same(before, now) if before and now else before == now


def inherits(dialogue: Dialogue, t: int, slot: str) -> bool:
    """Say whether the slot was wrong at t-1 too, with the same reference and prediction."""
    if not wrong(dialogue, t - 1, slot):
        return False
    (old_ref, old_pred), (ref, pred) = dialogue[t - 1], dialogue[t]
    ref_stayed = stayed(old_ref.get(slot), ref.get(slot), same_ref)
    return ref_stayed and old_pred.get(slot) == pred.get(slot)


def kind(dialogue: Dialogue, t: int, slot: str) -> str:
    """Say what an error is that begins at turn t."""
    ref, pred = (state.get(slot) for state in dialogue[t])
    old_ref, old_pred = (state.get(slot) for state in dialogue[t - 1]) if t else (None, None)
    ref_stayed, pred_stayed = stayed(old_ref, ref, same_ref), old_pred == pred
    if pred is None:
        was_right = t > 0 and right_in(slot, *dialogue[t - 1])
        return "dropped" if was_right and ref_stayed else "missed"
    if ref is None:
        return "kept" if old_ref is not None and pred_stayed else "spurious"
    if old_ref is not None and not ref_stayed and pred_stayed:
        return "stale"
    return "wrong value"


def errors(corpus: Corpus) -> list[Error]:
    """Every error of every dialogue, by dialogue, slot and turn."""
    found = []
    for number, dialogue in enumerate(corpus):
        for slot in sorted({slot for turn in dialogue for state in turn for slot in state}):
            for t, (ref, pred) in enumerate(dialogue):
                if not wrong(dialogue, t, slot) or inherits(dialogue, t, slot):
                    continue
                u = t + 1
                while wrong(dialogue, u, slot) and inherits(dialogue, u, slot):
                    u += 1
                end = "lived" if u == len(dialogue) else "changed" if wrong(dialogue, u, slot) else "repaired"
                values = ref.get(slot), pred.get(slot)
                ended = None if end == "lived" else u
                found.append(Error(number, slot, t, u - t, kind(dialogue, t, slot), end, ended, *values))
    return found


def of_kind(found: list[Error], wanted: str) -> list[Error]:
    """The errors of one kind, by the first word of its name, or of any."""
    return [error for error in found if wanted in ("any", error.kind.split()[0])]
