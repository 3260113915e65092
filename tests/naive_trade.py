"""The naive oracle of TRADE's scorer and of what SOM-DST adds to it, over plain dictionaries.

It shares nothing with the package. A state maps a slot such as "hotel-area" to one text, and is compared as the
set of its texts "hotel-area-north", so nothing tells a hyphen of the value from one of the slot.
"""

from __future__ import annotations

State = dict[str, str]
Turn = tuple[State, State]
Dialogue = list[Turn]
Corpus = list[Dialogue]


def items(state: State) -> set[str]:
    return {f"{slot}-{value}" for slot, value in state.items()}


def turns_of(corpus: Corpus) -> list[Turn]:
    return [turn for dialogue in corpus for turn in dialogue]


def mean(scores: list[float]) -> float:
    return sum(scores) / len(scores) if scores else float("nan")


def exact(ref: State, pred: State) -> float:
    return float(items(ref) == items(pred))


def slot_accuracy(ref: State, pred: State, n_slots: int) -> float:
    """A predicted item is an extra error only if its slot, by the LAST hyphen, is not that of a missed item."""
    missed = items(ref) - items(pred)
    missed_slots = {item.rsplit("-", 1)[0] for item in missed}
    extra = [item for item in items(pred) - items(ref) if item.rsplit("-", 1)[0] not in missed_slots]
    return (n_slots - len(missed) - len(extra)) / n_slots


def turn_f1(ref: State, pred: State) -> float:
    """1 for two empty states, 0 where only one is empty or nothing is right."""
    if not ref and not pred:
        return 1.0
    right = len(items(ref) & items(pred))
    precision = right / len(items(pred)) if pred else 0.0
    recall = right / len(items(ref)) if ref else 0.0
    return 2 * precision * recall / (precision + recall) if right else 0.0


def score(turns: list[Turn], n_slots: int) -> dict[str, float]:
    """TRADE's three numbers over a list of turns."""
    return {
        "Joint Acc": mean([exact(*turn) for turn in turns]),
        "Turn Acc": mean([slot_accuracy(*turn, n_slots) for turn in turns]),
        "Joint F1": mean([turn_f1(*turn) for turn in turns]),
    }


def trade(corpus: Corpus, n_slots: int = 30) -> dict[str, float]:
    return score(turns_of(corpus), n_slots)


def without_domain(corpus: Corpus, domain: str, n_slots: int = 30) -> dict[str, float]:
    """TRADE's except_domain: slots whose domain name contains the text go, every turn stays."""
    return score([(cut(ref, domain, False), cut(pred, domain, False)) for ref, pred in turns_of(corpus)], n_slots)


def only_domain(corpus: Corpus, domain: str, n_slots: int = 30) -> dict[str, float]:
    """TRADE's only_domain, over the dialogues that the caller has picked: every turn of them stays."""
    return score([(cut(ref, domain, True), cut(pred, domain, True)) for ref, pred in turns_of(corpus)], n_slots)


def cut(state: State, domain: str, inside: bool) -> State:
    return {slot: value for slot, value in state.items() if (domain in slot.split("-")[0]) == inside}


def somdst_final(corpus: Corpus, n_slots: int = 30) -> dict[str, float]:
    """The same numbers at the last turn of each dialogue."""
    return score([dialogue[-1] for dialogue in corpus if dialogue], n_slots)


def somdst_domain(corpus: Corpus, domain: str, n_slots: int = 30) -> dict[str, float]:
    """The same over the domain's slots, at turns whose reference has one: the others are not looked at."""
    turns = []
    for ref, pred in turns_of(corpus):
        ref_cut = {slot: value for slot, value in ref.items() if slot.startswith(domain)}
        pred_cut = {slot: value for slot, value in pred.items() if slot.startswith(domain)}
        if ref_cut:
            turns.append((ref_cut, pred_cut))
    return score(turns, n_slots)
