"""The naive oracle of the newer metrics and of the scorers with counts of their own, over plain dictionaries.

It shares nothing with the package, and is written to be read. A state maps a slot such as "hotel-area" to one
text (DSTC10: to a list of texts), and a corpus is a list of dialogues of turns (reference, prediction).
Every score is a fraction of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable

State = dict[str, str]
Turn = tuple[State, State]
Dialogue = list[Turn]
Corpus = list[Dialogue]
Lists = dict[str, list[str]]


def turns_of(corpus: Corpus) -> list[Turn]:
    return [turn for dialogue in corpus for turn in dialogue]


def mean(scores: Iterable[float]) -> float:
    scores = list(scores)
    return math.fsum(scores) / len(scores) if scores else math.nan


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def without(corpus: Corpus, ref_values: Collection[str] = (), pred_values: Collection[str] = ()) -> Corpus:
    """Leave out the slots whose value is one of those named for its side."""

    def keep(state: State, values: Collection[str]) -> State:
        return {slot: value for slot, value in state.items() if value not in values}

    return [[(keep(ref, ref_values), keep(pred, pred_values)) for ref, pred in dialogue] for dialogue in corpus]


def jga(corpus: Corpus) -> float:
    return mean(ref == pred for ref, pred in turns_of(corpus))


def last_turn_jga(corpus: Corpus) -> float:
    return mean(dialogue[-1][0] == dialogue[-1][1] for dialogue in corpus if dialogue)


def dialogue_accuracy(corpus: Corpus) -> float:
    """Share of dialogues in which every turn is right."""
    return mean(all(ref == pred for ref, pred in dialogue) for dialogue in corpus if dialogue)


def mean_over_dialogues(corpus: Corpus) -> float:
    return mean(jga([dialogue]) for dialogue in corpus if dialogue)


def reference_accuracy(corpus: Corpus) -> float:
    """JGA over the reference's slots: a spurious prediction is not seen."""
    return mean(ref.items() <= pred.items() for ref, pred in turns_of(corpus))


def turn_level_accuracy(corpus: Corpus) -> float:
    """Share of turns where both sides changed or added the same (slot, value) pairs; deletions are not seen."""
    scores = []
    for dialogue in corpus:
        before: Turn = ({}, {})
        for turn in dialogue:
            new_ref, new_pred = (
                set(now.items()) - set(old.items()) for now, old in zip(turn, before, strict=True)
            )
            scores.append(new_ref == new_pred)
            before = turn
    return mean(scores)


def damd_slot_accuracy(corpus: Corpus, n_slots: int = 31) -> float:
    """(|S| - false positives - false negatives) / |S|: a wrong value is both, and counts twice."""
    return mean((n_slots - len(ref.items() ^ pred.items())) / n_slots for ref, pred in turns_of(corpus))


def rsa(corpus: Corpus, empty: float | None) -> float:
    """(T - M - W) / T, T the slots of either side; one without any counts as ``empty``, or not if None.

    The script has "slot-value" texts, and finds the slot again at the last hyphen.
    """

    def cut(text: str) -> str:
        return text.rsplit("-", 1)[0]

    scores = []
    for turn in turns_of(corpus):
        ref, pred = ({f"{slot}-{value}" for slot, value in state.items()} for state in turn)
        either = {cut(text) for text in ref | pred}
        missed = ref - pred
        wrong = {text for text in pred - ref if cut(text) not in {cut(gone) for gone in missed}}
        if either:
            scores.append((len(either) - len(missed) - len(wrong)) / len(either))
        elif empty is not None:
            scores.append(empty)
    return mean(scores)


def iaga(corpus: Corpus) -> float:
    """Shared pairs / pairs of either side, summed over turns, divided by the turns with a NON-EMPTY REFERENCE."""
    turns = turns_of(corpus)
    total = sum(
        len(ref.items() & pred.items()) / len(ref.items() | pred.items()) for ref, pred in turns if ref or pred
    )
    return ratio(total, sum(bool(ref) for ref, _ in turns))


def gca_states(states: list[State]) -> list[State]:
    """A slot that was there before and is not now is "none"."""
    seen: set[str] = set()
    filled = []
    for state in states:
        seen |= state.keys()
        filled.append({slot: state.get(slot, "none") for slot in seen})
    return filled


def gca_turn(before: Turn, now: Turn) -> dict[str, int]:
    """Judge what changed on either side of one turn."""
    ref, pred = now
    changed_ref = {slot for slot in ref if before[0].get(slot) != ref[slot]}
    changed_pred = {slot for slot in pred if before[1].get(slot) != pred[slot]}
    judged = {"correct": set[str](), "wrong": set[str](), "over": set[str](), "missed": set[str]()}
    for slot in changed_ref:
        if slot not in pred:
            judged["correct" if ref[slot] == "none" else "missed"].add(slot)
        elif pred[slot] == ref[slot]:
            judged["correct"].add(slot)
        else:
            judged["over" if ref[slot] == "none" else "wrong"].add(slot)
    counts = {name: len(slots) for name, slots in judged.items()}
    for slot in changed_pred:
        if slot not in ref:
            counts["correct" if pred[slot] == "none" else "over"] += 1
        elif pred[slot] == ref[slot] and slot not in judged["correct"]:
            counts["correct"] += 1
        # A slot that both sides delete at this turn is correct already, and comes here to be missed as well.
        elif pred[slot] == "none":
            counts["missed"] += 1
        elif pred[slot] != ref[slot] and slot not in judged["wrong"]:
            counts["wrong"] += 1
    return counts


def gca_counts(corpus: Corpus) -> dict[str, int]:
    total = {"correct": 0, "wrong": 0, "over": 0, "missed": 0}
    for dialogue in corpus:
        refs, preds = (gca_states(list(side)) for side in zip(*dialogue, strict=True))
        before: Turn = ({}, {})
        for now in zip(refs, preds, strict=True):
            for name, count in gca_turn(before, now).items():
                total[name] += count
            before = now
    return total


def gca(corpus: Corpus, alpha: float = 10 / 11) -> float:
    """Weighted harmonic mean of precision and recall of values (weight alpha) and of slots (1 - alpha)."""
    counts = gca_counts(corpus)
    correct, labelled = counts["correct"], counts["correct"] + counts["wrong"]
    predicted, wanted = labelled + counts["over"], labelled + counts["missed"]
    if not correct:
        return 0.0
    weights = [alpha * predicted, alpha * wanted, (1 - alpha) * predicted, (1 - alpha) * wanted]
    parts = [correct / predicted, correct / wanted, labelled / predicted, labelled / wanted]
    return sum(weights) / sum(weight / part for weight, part in zip(weights, parts, strict=True))


def card_joint(corpus: Corpus) -> float:
    """Share of turns with as many right slot VALUES as the reference has DOMAINS; one not predicted has none."""
    return mean(
        len(ref.items() & pred.items()) == len({slot.split("-")[0] for slot in ref})
        for ref, pred in turns_of(corpus)
    )


def micro(triples: Iterable[tuple[int, int, int]]) -> dict[str, float]:
    """Precision, recall and F1 from turns' (true positives, false positives, false negatives)."""
    tp, fp, fn = (sum(column) for column in zip(*triples, strict=True))
    return {"precision": ratio(tp, tp + fp), "recall": ratio(tp, tp + fn), "f1": ratio(2 * tp, 2 * tp + fp + fn)}


def pair_scores(corpus: Corpus) -> dict[str, float]:
    """Micro scores over (slot, value) pairs; the card's "slot accuracy" is the recall."""
    return micro(
        (len(r.items() & p.items()), len(p.items() - r.items()), len(r.items() - p.items()))
        for r, p in turns_of(corpus)
    )


def squeezed(value: str) -> str:
    return "".join(value.split()).lower()


def listed(ref: State, inventory: Collection[str], every_domain: bool) -> State:
    """The unified data's reference: "" for each slot it lacks, of its own domains or of all."""
    domains = {slot.split("-")[0] for slot in ref}
    return {s: ref.get(s, "") for s in inventory if every_domain or s in ref or s.split("-")[0] in domains}


def unified_turn(ref: State, pred: State) -> tuple[int, int, int]:
    """Count the slots that the reference lists; a wrong value is a false positive and a false negative.

    One alternative of the prediction that is one of the reference's is enough.
    """
    tp = fp = fn = 0
    for slot, value in ref.items():
        wanted, guessed = squeezed(value), squeezed(pred.get(slot, ""))
        if wanted and guessed and set(wanted.split("|")) & set(guessed.split("|")):
            tp += 1
        else:
            fn += bool(wanted)
            fp += bool(guessed)
    return tp, fp, fn


def convlab_unified(corpus: Corpus) -> dict[str, float]:
    counts = [unified_turn(ref, pred) for ref, pred in turns_of(corpus)]
    return {**micro(counts), "accuracy": mean(fp == fn == 0 for _, fp, fn in counts)}


def convlab_t5(corpus: Corpus) -> dict[str, float]:
    """Whole states compared: squeezed, empty values out, no alternatives."""

    def tidy(state: State) -> State:
        return {slot: squeezed(value) for slot, value in state.items() if squeezed(value)}

    tidied = [[(tidy(ref), tidy(pred)) for ref, pred in dialogue] for dialogue in corpus]
    return {**pair_scores(tidied), "accuracy": jga(tidied)}


DIGITS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
}
DSTC10_SLOTS = [
    *("restaurant book people", "restaurant book day", "restaurant book time"),
    *("restaurant semi food", "restaurant semi pricerange", "restaurant semi name", "restaurant semi area"),
    *("hotel book people", "hotel book rooms", "hotel book day", "hotel book stay"),
    *("hotel semi name", "hotel semi area", "hotel semi pricerange", "hotel semi stars", "hotel semi type"),
    *("attraction semi type", "attraction semi name", "attraction semi area"),
]


def f1_of(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def list_f1(ref: list[str], pred: list[str]) -> float:
    """F1 of two lists by pairs of equal values; repeats go by their spelling, before "One" becomes "1"."""

    def tidy(value: str) -> str:
        return DIGITS.get(value.lower(), value.lower())

    pairs = sum(tidy(a) == tidy(b) for a in set(ref) for b in set(pred))
    if not pairs:  # one of the lists may be empty
        return 0.0
    return f1_of(pairs / len(set(pred)), pairs / len(set(ref)))


def dstc10(turns: list[tuple[Lists, Lists]], slots: Collection[str] = DSTC10_SLOTS) -> dict[str, float]:
    """A slot is right if neither side has it, or both do with F1 = 1; slots outside the list are not seen."""
    cells = [[(ref.get(slot), pred.get(slot)) for slot in slots] for ref, pred in turns]
    flat = [cell for turn in cells for cell in turn]
    f1 = [list_f1(ref, pred) for ref, pred in flat if ref is not None and pred is not None]
    none_both = sum(ref is None and pred is None for ref, pred in flat)
    none_ref, none_pred = (sum(cell[side] is None for cell in flat) for side in (0, 1))

    def right(ref: list[str] | None, pred: list[str] | None) -> bool:
        return ref is pred if ref is None or pred is None else list_f1(ref, pred) == 1

    scores = {
        "joint_goal_accuracy": mean(all(right(*cell) for cell in turn) for turn in cells),
        "slot_accuracy": mean(right(*cell) for cell in flat),
        "value_precision": ratio(sum(f1), len(flat) - none_pred),
        "value_recall": ratio(sum(f1), len(flat) - none_ref),
        "none_precision": ratio(none_both, none_pred),
        "none_recall": ratio(none_both, none_ref),
    }
    for kind in ("value", "none"):
        scores[f"{kind}_f1"] = f1_of(scores[f"{kind}_precision"], scores[f"{kind}_recall"])
    return scores


Match = Callable[[str, str, str], bool]


def same_state(ref: State, pred: State, match: Match) -> bool:
    return ref.keys() == pred.keys() and all(match(slot, ref[slot], pred[slot]) for slot in ref)


def inside(part: State, whole: State, match: Match) -> bool:
    return all(slot in whole and match(slot, part[slot], whole[slot]) for slot in part)


def hidst_states(dialogue: Dialogue) -> Dialogue:
    """The prediction is an update: the running state is overwritten by it, and nothing is ever deleted."""
    running: State = {}
    states = []
    for ref, update in dialogue:
        running = {**running, **update}
        states.append((ref, running))
    return states


def hidst_weights(dialogue: Dialogue, lam: float, match: Match, same: Callable[[str, str], bool]) -> list[float]:
    """FGA's weights by Hi-DST's script; ``same`` says whether a new value is a listed variant of the old one.

    The list of past predictions holds one object many times, so "turn t-1 was exact" is asked of the OLD reference
    and the NEW prediction. The last error turn starts at 0.
    """

    def new(now: State, old: State) -> State:
        return {s: v for s, v in now.items() if s not in old or not (v == old[s] or same(v, old[s]))}

    states = hidst_states(dialogue)
    weights: list[float] = []
    error_turn = 0
    for t, (ref, pred) in enumerate(states):
        if same_state(ref, pred, match):
            weights.append(1.0)
            continue
        old_ref, old_pred = states[t - 1] if t else ({}, {})
        type_1 = (
            t == 0
            or same_state(old_ref, pred, match)
            or not inside(new(ref, old_ref), pred, match)
            or not inside(new(pred, old_pred), ref, match)
        )
        weights.append(0.0 if type_1 else 1 - math.exp(-lam * (t - error_turn)))
        if weights[-1] == 0:
            error_turn = t
    return weights


def fga_hidst(corpus: Corpus, lam: float, match: Match, same: Callable[[str, str], bool]) -> float:
    return mean(weight for dialogue in corpus for weight in hidst_weights(dialogue, lam, match, same))
