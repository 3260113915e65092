"""What aligning asks of single dialogues, and how two sides become one."""

from collections.abc import Sequence

from dsteval.dialogue import Dialogue, Side, Turn


def user_turns(keys: list[int]) -> list[int] | None:
    """User turn numbers 0, 1, 2, ... for sorted turn keys, or None where the keys are neither those nor
    the numbers of the user's utterances 0, 2, 4, ...

    >>> user_turns([0, 1, 2]), user_turns([0, 2, 4]), user_turns([0, 1, 3])
    ([0, 1, 2], [0, 1, 2], None)
    """
    count = len(keys)
    if keys == list(range(count)):
        return keys
    return list(range(count)) if keys == list(range(0, 2 * count, 2)) else None


def has_correctness(dialogue: Dialogue) -> bool:
    """Whether a dialogue holds right/wrong marks."""
    return bool(dialogue.turns) and dialogue.turns[0].correctness is not None


def lacks_prediction(dialogue: Dialogue) -> bool:
    """Whether no turn has a prediction, as in a dialogue in which a tracker failed."""
    return all(
        turn.pred is None and turn.pred_frames is None and turn.correctness is None for turn in dialogue.turns
    )


def listed(numbers: Sequence[int]) -> str:
    """The first numbers, for a message."""
    return ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")


def filled(ref: Dialogue, predicted: dict[int, Turn], pred: Dialogue | None = None) -> Dialogue:
    """The reference's turns with the predicted states by number; a turn without one has an empty state."""
    turns = []
    for turn in ref.turns:
        guess = predicted.get(turn.number) or Turn(turn.number, pred=[])
        turns.append(
            Turn(
                number=turn.number,
                ref=turn.ref,
                pred=guess.pred,
                system=guess.system if turn.system is None else turn.system,
                user=guess.user if turn.user is None else turn.user,
                ref_frames=turn.ref_frames,
                pred_frames=guess.pred_frames,
                correctness=guess.correctness,
                pred_update=guess.pred_update,
                choices=guess.choices,
            )
        )
    sides: dict[Side, Dialogue | None] = {"ref": ref, "pred": pred}
    updates = tuple(side for side, source in sides.items() if source is not None and side in source.updates)
    doubles = ref.doubles or (pred is not None and pred.doubles)
    forced = pred is not None and pred.forced
    return Dialogue((pred or ref).id, turns, doubles, updates, ref.gaps, ref.alone, forced=forced, after=ref.after)
