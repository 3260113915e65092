"""The naive oracle: each metric straight from its definition, over plain dictionaries.

It shares nothing with the package, so that the two can be held against each other. It is written
to be read, not to be fast: every metric makes its own pass over the corpus.

    python tests/naive.py FILE.json [--protocol exact]

For turn t of a dialogue, B_t is the reference state and P_t the predicted one. A prepared state
maps a slot to the set of its values: the accepted ones in B_t, the guessed ones in P_t.
"""

import argparse
import json
import math
import unicodedata
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from naive_protocols import DONTCARE, Settings
from naive_protocols import PROTOCOLS as PROTOCOLS

Raw = str | list[str]
RawState = dict[str, Raw]
RawCorpus = dict[str, list[tuple[RawState, RawState]]]
Values = frozenset[str]
State = dict[str, Values]
Turn = tuple[State, State]
Dialogue = list[Turn]
Corpus = list[Dialogue]
Normaliser = Callable[[str, str], str] | None

REF_MARKS = PRED_MARKS = "|<>"  # where a text is split into alternatives


def alternatives(value: Raw, marks: str) -> list[str]:
    """Split a text, or each member of a list, at every mark."""
    parts = [value] if isinstance(value, str) else list(value)
    for mark in marks:
        parts = [piece for part in parts for piece in part.split(mark)]
    return parts


def folded(slot: str, value: str, normalise: Normaliser) -> str:
    """Fold case, accents' forms and white space, normalise, and make one value of the dontcare spellings."""
    value = " ".join(unicodedata.normalize("NFC", value.casefold()).split())
    if normalise is not None:
        value = normalise(slot, value)
    return "dontcare" if value in DONTCARE else value


def prepare_state(state: RawState, protocol: Settings, marks: str, normalise: Normaliser) -> State:
    """Give the sets of values that are compared; a slot with no value left is absent."""
    prepared = {}
    for slot, value in state.items():
        if not protocol["literal"]:
            values = [folded(slot, part, normalise) for part in alternatives(value, marks)]
        elif isinstance(value, str):
            unset = value in protocol["absent"]
            values = [] if unset else [normalise(slot, value) if normalise else value]
        else:
            raise ValueError(f"{slot}: a literal protocol takes one text, found {value!r}")
        kept = frozenset(value for value in values if value not in protocol["absent"])
        if kept:
            prepared[slot] = kept
    return prepared


def prepare(corpus: RawCorpus, protocol: str | Settings, normalise: Normaliser = None) -> Corpus:
    """Prepare both sides of every turn; the normaliser is used only where the protocol asks."""
    protocol = PROTOCOLS[protocol] if isinstance(protocol, str) else protocol
    if protocol["normalised"] and normalise is None:
        raise ValueError("this protocol needs a value normaliser")
    for_ref = normalise if protocol["normalised"] else None
    for_pred = normalise if protocol["normalised"] == "both" else None
    of_ref = {**protocol, "absent": [*protocol["absent"], *protocol["absent_ref"]]}
    prepared = []
    for name, turns in corpus.items():
        if name.casefold().removesuffix(".json") in protocol["left_out"]:
            continue
        dialogue = []
        for raw_ref, raw_pred in turns:
            ref = prepare_state(raw_ref, of_ref, REF_MARKS, for_ref)
            pred = prepare_state(raw_pred, protocol, PRED_MARKS, for_pred)
            dialogue.append((ref, pred))
        prepared.append(dialogue)
    return prepared


def accumulate(updates: Iterable[dict[str, Raw | None]]) -> list[RawState]:
    """Turn the changes of each turn into states: None, "[DELETE]" and "none" delete a slot."""
    states = []
    state: RawState = {}
    for update in updates:
        state = dict(state)
        for slot, value in update.items():
            if value is None or str(value).casefold() in ("[delete]", "none"):
                state.pop(slot, None)
            else:
                state[slot] = value
        states.append(state)
    return states


def restrict(corpus: Corpus, keep: Callable[[str], bool]) -> Corpus:
    """Cut every state down to the slots that are kept; no turn is lost."""

    def cut(state: State) -> State:
        return {slot: values for slot, values in state.items() if keep(slot)}

    return [[(cut(ref), cut(pred)) for ref, pred in dialogue] for dialogue in corpus]


def right(ref_values: Values, pred_values: Values) -> bool:
    """Say whether something was predicted and all of it is accepted."""
    return bool(pred_values) and pred_values <= ref_values


def same_ref(a: Values, b: Values) -> bool:
    """Say whether two accepted sets share a value."""
    return bool(a & b)


def right_in(slot: str, ref: State, pred: State) -> bool:
    """Say whether a slot is in both states and right."""
    return slot in ref and slot in pred and right(ref[slot], pred[slot])


def right_slots(ref: State, pred: State) -> set[str]:
    """B & P, named by slot."""
    return {slot for slot in ref if right_in(slot, ref, pred)}


def wrong_slots(ref: State, pred: State) -> set[str]:
    """Slots of B or P that are not in both and right."""
    return {slot for slot in ref.keys() | pred.keys() if not right_in(slot, ref, pred)}


def exact(ref: State, pred: State) -> bool:
    """B = P: the same slots, and every slot right."""
    return ref.keys() == pred.keys() and all(right(ref[slot], pred[slot]) for slot in ref)


def mean(scores: list[float]) -> float:
    """sum / n, nan if there is nothing to average."""
    return math.fsum(scores) / len(scores) if scores else math.nan


def averaged(scores: list[list[float]], average: str) -> float:
    """Average over all turns, or over the means of the dialogues (that have a turn)."""
    if average == "turn":
        return mean(list(chain.from_iterable(scores)))
    if average == "dialogue":
        return mean([mean(dialogue) for dialogue in scores if dialogue])
    raise ValueError(f"average is turn or dialogue, not {average!r}")


def jga(corpus: Corpus, average: str = "turn") -> float:
    """Mean of [B_t = P_t]."""
    return averaged([[float(exact(*turn)) for turn in dialogue] for dialogue in corpus], average)


def slot_errors(ref: State, pred: State) -> int:
    r"""|X| + |Y| - |P & Q| of Eq. 1: X = B \ P and Y = P \ B, P and Q their slots."""
    correct = right_slots(ref, pred)
    x, y = ref.keys() - correct, pred.keys() - correct
    return len(x) + len(y) - len(x & y)


def slot_errors_trade(ref: State, pred: State) -> int:
    """Count missed pairs, and wrong predicted pairs whose slot is not among the missed ones.

    The slot is what stands before the last hyphen of "slot-value", so a hyphen in the value
    moves a part of it into the slot. Several values are one text, "a|b".
    """

    def name(slot: str, values: Values) -> str:
        return (slot + "-" + "|".join(sorted(values))).rpartition("-")[0]

    correct = right_slots(ref, pred)
    missed = ref.keys() - correct
    missed_names = [name(slot, ref[slot]) for slot in missed]
    extra = [slot for slot in pred.keys() - correct if name(slot, pred[slot]) not in missed_names]
    return len(missed) + len(extra)


def slot_accuracy(corpus: Corpus, n_slots: int, average: str = "turn", split: str = "first") -> float:
    """Mean of (|S| - errors) / |S|; split is "first" for Eq. 1, "last" for TRADE's rule."""
    errors = {"first": slot_errors, "last": slot_errors_trade}[split]
    scores = [[(n_slots - errors(ref, pred)) / n_slots for ref, pred in d] for d in corpus]
    return averaged(scores, average)


def aga(corpus: Corpus, over: str = "ref") -> float:
    """Mean of |B & P| / |B|, or of |B & P| / |B | P|; turns where the divisor is 0 are left out."""
    scores = []
    for ref, pred in chain.from_iterable(corpus):
        n_right = len(right_slots(ref, pred))
        sizes = {"ref": len(ref), "union": len(ref) + len(pred) - n_right}
        if sizes[over]:
            scores.append(n_right / sizes[over])
    return mean(scores)


def pair_counts(corpus: Corpus) -> tuple[int, int, int]:
    """Count the right, the reference and the predicted pairs of all turns."""
    turns = list(chain.from_iterable(corpus))
    n_right = sum(len(right_slots(ref, pred)) for ref, pred in turns)
    return n_right, sum(len(ref) for ref, _ in turns), sum(len(pred) for _, pred in turns)


def slot_precision(corpus: Corpus) -> float:
    """Right pairs / predicted pairs, nan if nothing was predicted."""
    n_right, _, n_pred = pair_counts(corpus)
    return n_right / n_pred if n_pred else math.nan


def slot_recall(corpus: Corpus) -> float:
    """Right pairs / reference pairs, nan if there is no reference pair."""
    n_right, n_ref, _ = pair_counts(corpus)
    return n_right / n_ref if n_ref else math.nan


def slot_f1(corpus: Corpus) -> float:
    """2 right / (reference + predicted pairs), nan if there are neither."""
    n_right, n_ref, n_pred = pair_counts(corpus)
    return 2 * n_right / (n_ref + n_pred) if n_ref + n_pred else math.nan


def turn_f1(corpus: Corpus) -> float:
    """Mean of 2 |B & P| / (|B| + |P|); 1 for a turn where both are empty."""
    scores = []
    for ref, pred in chain.from_iterable(corpus):
        size = len(ref) + len(pred)
        scores.append(2 * len(right_slots(ref, pred)) / size if size else 1.0)
    return mean(scores)


def type_1_paper(before: Turn, now: Turn) -> bool:
    r"""T = B_t \ B_(t-1) is not inside P_t, or T' = P_t \ P_(t-1) is not inside B_t."""
    (old_ref, old_pred), (ref, pred) = before, now
    # A value is new if the slot is, if no accepted value stayed, if the guesses are not the same.
    new_ref = {s for s in ref if s not in old_ref or not same_ref(old_ref[s], ref[s])}
    new_pred = {s for s in pred if s not in old_pred or old_pred[s] != pred[s]}
    return not all(right_in(slot, ref, pred) for slot in new_ref | new_pred)


def type_1_official(before: Turn, now: Turn) -> bool:
    """The rule of the paper, or turn t-1 was exact."""
    return exact(*before) or type_1_paper(before, now)


def type_1_strict(before: Turn, now: Turn) -> bool:
    """Some slot that is wrong now was not wrong at t-1 with the same reference and prediction."""
    (old_ref, old_pred), (ref, pred) = before, now
    old_wrong = wrong_slots(old_ref, old_pred)

    def inherited(slot: str) -> bool:
        old, new = old_ref.get(slot), ref.get(slot)
        ref_stayed = same_ref(old, new) if old and new else old == new
        return slot in old_wrong and ref_stayed and old_pred.get(slot) == pred.get(slot)

    return not all(inherited(slot) for slot in wrong_slots(ref, pred))


def type_1_hidst(before: Turn, now: Turn) -> bool:
    """The rule of the paper, or the prediction of turn t is the reference of turn t-1."""
    return exact(before[0], now[1]) or type_1_paper(before, now)


def weight(distance: float | None, lam: float) -> float:
    """1 for an exact turn (None), 0 at distance 0 (type 1), else 1 - exp(-lam distance)."""
    if distance is None:
        return 1.0
    # A factor of 0 is set apart, because 0 times infinity would be nan.
    return 0.0 if distance == 0 or lam == 0 else 1 - math.exp(-lam * distance)


def distances_trippy(dialogue: Dialogue) -> list[float | None]:
    """Type 2: the wrong slots are those of the error turn, and turn t-1 did not weigh 1."""
    distances: list[float | None] = []
    error_slots: set[str] = set()
    error_turn = 0
    for t, (ref, pred) in enumerate(dialogue):
        wrong = wrong_slots(ref, pred)
        if not wrong:
            distances.append(None)
        # The rule compares floats at lambda 1: from distance 38 on, type 2 weighs 1.0 too.
        elif t == 0 or weight(distances[-1], 1) == 1.0 or wrong != error_slots:
            error_slots, error_turn = wrong, t
            distances.append(0)
        else:
            distances.append(t - error_turn)
    return distances


def error_distances(dialogue: Dialogue, variant: str) -> list[float | None]:
    """Per turn: None if exact, 0 if type 1, t - t_err if type 2, t_err the last type 1 turn."""
    if variant == "trippy":
        return distances_trippy(dialogue)
    rules = {"official": type_1_official, "paper": type_1_paper, "strict": type_1_strict, "hidst": type_1_hidst}
    is_type_1 = rules[variant]
    distances: list[float | None] = []
    t_err = 0 if variant == "hidst" else -math.inf
    for t, turn in enumerate(dialogue):
        if exact(*turn):
            distances.append(None)
        elif t == 0 or is_type_1(dialogue[t - 1], turn):
            t_err = t
            distances.append(0)
        else:
            distances.append(t - t_err)
    return distances


def turn_weights(dialogue: Dialogue, lam: float, variant: str = "official") -> list[float]:
    """w = 1 if exact, 0 if type 1, 1 - exp(-lam (t - t_err)) if type 2."""
    if not lam >= 0:
        raise ValueError(f"lambda must not be negative, found {lam}")
    return [weight(distance, lam) for distance in error_distances(dialogue, variant)]


def fga(corpus: Corpus, lam: float, variant: str = "official", average: str = "turn") -> float:
    """Mean of w."""
    return averaged([turn_weights(dialogue, lam, variant) for dialogue in corpus], average)


def turn_match(corpus: Corpus, variant: str = "official", average: str = "turn") -> float:
    """Mean of [turn t is exact or type 2]."""
    matched = [[float(x is None or x > 0) for x in error_distances(d, variant)] for d in corpus]
    return averaged(matched, average)


def score_all(
    corpus: RawCorpus, protocol_name: str, n_slots: int = 30, normalise: Normaliser = None
) -> dict[str, float]:
    """Score by every metric under the protocol's own rules; its own |S| goes first."""
    protocol = PROTOCOLS[protocol_name]
    variant, n_slots = protocol["variant"], protocol["n_slots"] or n_slots
    prepared = prepare(corpus, protocol, normalise)
    scores = {"JGA": jga(prepared), "TurnMatch": turn_match(prepared, variant)}
    scores["SlotAccuracy"] = slot_accuracy(prepared, n_slots, split=protocol["split"])
    scores["AGA"] = aga(prepared)
    scores["AGA(over=union)"] = aga(prepared, over="union")
    for lam in (0.25, 0.5, 0.75, 1):
        scores[f"FGA@{lam}"] = fga(prepared, lam, variant)
    scores["SlotPrecision"] = slot_precision(prepared)
    scores["SlotRecall"] = slot_recall(prepared)
    scores["SlotF1"] = slot_f1(prepared)
    scores["TurnF1"] = turn_f1(prepared)
    return scores


def read_fga_json(path: str | Path) -> RawCorpus:
    """Read {dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": ...}}}."""

    def flat(state: dict[str, dict[str, Raw]]) -> RawState:
        return {f"{domain}-{s}": value for domain, d in state.items() for s, value in d.items()}

    with Path(path).open(encoding="utf-8") as file:
        data = json.load(file)
    corpus = {}
    for name, turns in data.items():
        # The labels are text, and as text "10" would come before "2".
        ordered = [turns[label] for label in sorted(turns, key=int)]
        corpus[name] = [(flat(turn["gt"]), flat(turn["pr"])) for turn in ordered]
    return corpus


def main() -> None:
    """Print every score of one file as JSON; there is no normaliser to be had from here."""
    parser = argparse.ArgumentParser(description="Score one file by the naive definitions.")
    parser.add_argument("file")
    names = sorted(name for name in PROTOCOLS if not PROTOCOLS[name]["normalised"])
    parser.add_argument("--protocol", default="exact", choices=names)
    arguments = parser.parse_args()
    scores = score_all(read_fga_json(arguments.file), arguments.protocol)
    # JSON has no nan: an undefined score is null.
    print(json.dumps({k: None if math.isnan(v) else v for k, v in scores.items()}, indent=2))


if __name__ == "__main__":
    main()
