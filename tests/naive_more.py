"""The naive oracle's newer metrics over prepared states, in the style of naive.py: a slot has a set of values."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from naive import (
    Corpus,
    RawCorpus,
    RawState,
    State,
    Turn,
    mean,
    right_in,
    right_slots,
    same_ref,
    slot_errors_trade,
    wrong_slots,
)

NONE = frozenset({"none"})


def last_turns(corpus: Corpus) -> Corpus:
    """The last turn of each dialogue, as a dialogue of its own."""
    return [dialogue[-1:] for dialogue in corpus]


def slot_errors_twice(ref: State, pred: State) -> int:
    """Count wrong pairs of either side, so that a wrong value is two."""
    return len(ref) + len(pred) - 2 * len(right_slots(ref, pred))


def rsa_scores(corpus: Corpus, empty: str, split: str = "first") -> list[float]:
    """(T - M - W) / T, T the slots of either side; a turn without any is skipped, or counts 0 or 1.

    With split "last" a wrong value that holds a hyphen is not found again, and is a slot more, and wrong twice.
    """
    scores = []
    for ref, pred in chain.from_iterable(corpus):
        right = len(right_slots(ref, pred))
        wrong = slot_errors_trade(ref, pred) if split == "last" else len(wrong_slots(ref, pred))
        if right + wrong:
            scores.append(right / (right + wrong))
        elif empty != "skip":
            scores.append(float(empty == "one"))
    return scores


def iaga(corpus: Corpus) -> tuple[float, int]:
    """Sum of |B & P| / |B | P| over turns with a union, by the turns where B is not empty; and these."""
    fractions, with_ref = [], 0
    for ref, pred in chain.from_iterable(corpus):
        n_right = len(right_slots(ref, pred))
        if ref or pred:
            fractions.append(n_right / (len(ref) + len(pred) - n_right))
        with_ref += bool(ref)
    return (math.fsum(fractions) / with_ref if with_ref else math.nan), with_ref


def with_none(raw: RawCorpus, prepared: Corpus) -> Corpus:
    """The prepared states, and the slots written "none" as slots with that value."""

    def labelled(written: RawState, state: State) -> State:
        return {**{slot: NONE for slot, value in written.items() if value == "none"}, **state}

    return [
        [
            (labelled(raw_ref, ref), labelled(raw_pred, pred))
            for (raw_ref, raw_pred), (ref, pred) in zip(turns, states, strict=True)
        ]
        for turns, states in zip(raw.values(), prepared, strict=True)
    ]


def filled(states: list[State]) -> list[State]:
    """A slot that was there before and is gone is "none"."""
    seen: set[str] = set()
    found = []
    for state in states:
        seen |= state.keys()
        found.append({slot: state.get(slot, NONE) for slot in seen})
    return found


def changed(before: State, now: State) -> set[str]:
    return {slot for slot in now if slot not in before or before[slot] != now[slot]}


def changed_ref(before: State, now: State) -> set[str]:
    """A list of accepted values that shares one with the list before is no change."""
    return {slot for slot in now if slot not in before or not same_ref(before[slot], now[slot])}


def gca_turn(before: Turn, now: Turn) -> Counter[str]:
    """Judge the slots that changed in the reference, then those that changed in the prediction."""
    ref, pred = now
    judged = {}
    for slot in changed_ref(before[0], ref):
        if slot not in pred:
            judged[slot] = "correct" if ref[slot] == NONE else "missed"
        elif right_in(slot, ref, pred):
            judged[slot] = "correct"
        else:
            judged[slot] = "over" if ref[slot] == NONE else "wrong"
    counts = Counter(judged.values())
    for slot in changed(before[1], pred):
        if slot not in ref:
            counts["correct" if pred[slot] == NONE else "over"] += 1
        elif right_in(slot, ref, pred) and judged.get(slot) != "correct":
            counts["correct"] += 1
        # What both sides delete at one turn is correct already, and is missed as well: the script's slip.
        elif pred[slot] == NONE:
            counts["missed"] += 1
        elif not right_in(slot, ref, pred) and judged.get(slot) != "wrong":
            counts["wrong"] += 1
    return counts


def gca_counts(corpus: Corpus) -> list[Counter[str]]:
    """What is counted at each turn."""
    counts = []
    for dialogue in corpus:
        before: Turn = ({}, {})
        refs, preds = (filled([turn[side] for turn in dialogue]) for side in (0, 1))
        for now in zip(refs, preds, strict=True):
            counts.append(gca_turn(before, now))
            before = now
    return counts


def gca(turns: Iterable[Counter[str]], alpha: float = 10 / 11) -> tuple[float, int]:
    """Weighted harmonic mean of P, R (alpha) and p, r (1 - alpha), by their denominators too; and all counts."""
    counts = sum(turns, Counter[str]())
    correct, labelled = counts["correct"], counts["correct"] + counts["wrong"]
    predicted, wanted = labelled + counts["over"], labelled + counts["missed"]
    if not correct:
        return (0.0 if predicted + wanted else math.nan), counts.total()
    parts = [(alpha * predicted, correct / predicted), (alpha * wanted, correct / wanted)]
    parts += [((1 - alpha) * predicted, labelled / predicted), ((1 - alpha) * wanted, labelled / wanted)]
    return sum(weight for weight, _ in parts) / sum(weight / part for weight, part in parts), counts.total()


def dialogue_matches(corpus: Corpus) -> list[float]:
    """Per dialogue with a turn: whether no turn of it has a wrong slot."""
    return [float(not any(wrong_slots(*turn) for turn in dialogue)) for dialogue in corpus if dialogue]


def update_matches(corpus: Corpus) -> list[float]:
    """Per turn: whether both sides changed or added the same slots, each with a right value."""
    scores = []
    for dialogue in corpus:
        before: Turn = ({}, {})
        for ref, pred in dialogue:
            new = changed_ref(before[0], ref)
            same = new == changed(before[1], pred)
            scores.append(float(same and all(right_in(slot, ref, pred) for slot in new)))
            before = ref, pred
    return scores


def recipe_matches(corpus: Corpus) -> list[float]:
    """Per turn: whether as many values are right as the reference has domains."""
    return [
        float(len(right_slots(ref, pred)) == len({slot.split("-")[0] if "-" in slot else "" for slot in ref}))
        for ref, pred in chain.from_iterable(corpus)
    ]


def none_counts(corpus: Corpus, n_slots: int) -> tuple[int, int, int]:
    """Slots of S that neither side has, that the reference lacks, and that the prediction lacks."""
    turns = [*chain.from_iterable(corpus)]
    return (
        sum(n_slots - len(ref.keys() | pred.keys()) for ref, pred in turns),
        sum(n_slots - len(ref) for ref, _ in turns),
        sum(n_slots - len(pred) for _, pred in turns),
    )


def share(scores: list[float]) -> tuple[float, int, int]:
    """Mean, sum and number of scores that are 0 or 1."""
    return mean(scores), round(sum(scores)), len(scores)
