"""The naive oracle of SimpleTOD, FnCTOD, IC-DST, DST-as-Prompting and TripPy: rules that are procedures on states.

It shares nothing with the package. What a scorer does to single values is a parameter, so that each rule can be
run with value functions from anywhere. A state maps a slot such as "hotel-area" to one text, and a corpus is a
list of dialogues of turns (reference, prediction); where a tracker's updates are scored, the prediction is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from string import punctuation

State = dict[str, str]
Turn = tuple[State, State]
Corpus = list[list[Turn]]
Rewrite = Callable[[str, str], str]  # (slot, value) -> value

END = "<|endoftext|>"


def mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores) if scores else float("nan")


def same(_slot: str, value: str) -> str:
    return value


def removed_while_walking(items: list[str], unwanted: Callable[[str], bool]) -> list[str]:
    """Remove items from the list that is walked: the one after a removed item moves up and is not looked at."""
    left = list(items)
    position = 0
    while position < len(left):
        if unwanted(left[position]):
            del left[position]
        position += 1
    return left


def without_texts(items: list[str], texts: Collection[str]) -> list[str]:
    return [item for item in items if not any(text in item for text in texts)]


# SimpleTOD

SIMPLETOD = ("not mentioned",)
SIMPLETOD_V1 = ("not mentioned", "dontcare")  # dontcare goes on both sides
UBAR = ("not mentioned", "none")


def simpletod_items(state: State) -> list[str]:
    return [f"{slot.replace('-', ' ', 1)} {value}" for slot, value in state.items()]


def simpletod_pred(items: list[str]) -> list[str]:
    """Items that are empty or end in the word none go, though not all of them."""
    left = removed_while_walking(items, lambda item: item in ("", " ", END) or item.split()[-1] == "none")
    return [item.replace(END, "").strip() for item in left]


def simpletod_cleaned(item: str, rewrite: Rewrite) -> str:
    """The text "book" ANYWHERE in the item makes a slot of two words; the rewriting sees no domain."""
    domain, *words = item.split()
    n_words = 2 if "book" in item else 1
    slot, value = " ".join(words[:n_words]), " ".join(words[n_words:])
    return f"{domain} {slot} {rewrite(slot, value)}"


def simpletod(
    corpus: Corpus,
    dropped: Collection[str] = SIMPLETOD,
    rewrite: Rewrite | None = None,
    forgiving: bool = False,
    ignored: Collection[tuple[int, int]] = (),
) -> float:
    """Set equality of items. An item that the rewriting makes "... none" stays.

    ``forgiving`` is the type-2 option: a turn that finds its whole reference, with all else in the dialogue's last
    reference, is right too, unless ``ignored`` names its (dialogue, turn).
    """
    scores = []
    for d, dialogue in enumerate(corpus):
        final = simpletod_items(dialogue[-1][0]) if dialogue else []
        for t, (ref_state, pred_state) in enumerate(dialogue):
            ref = without_texts(simpletod_items(ref_state), dropped)
            pred = without_texts(simpletod_pred(simpletod_items(pred_state)), dropped)
            if rewrite is not None:
                ref = [simpletod_cleaned(item, rewrite) for item in ref]
                pred = [simpletod_cleaned(item, rewrite) for item in pred if item]
            forgiven = forgiving and (d, t) not in ignored and set(ref) <= set(pred) <= set(final)
            scores.append(set(ref) == set(pred) or forgiven)
    return mean(scores)


# FnCTOD

FNCTOD_NONE = ("not mentioned", "none", "not present")
FNCTOD_DONTCARE = ("dontcare", "dont care", "do not care")


def fnctod_items(state: State) -> list[str]:
    """ "[hotel]->area->north"."""
    parts = [(*slot.split("-", 1), value) for slot, value in state.items()]
    return [f"[{domain}]->{slot}->{value}" for domain, slot, value in parts]


def fnctod_cleaned(items: list[str], rewrite: Rewrite) -> set[str]:
    """A none anywhere in an item drops it, before the rewriting and after it.

    (The scorer also removes predicted nones while it walks the list; whatever that leaves goes here.)
    """
    cleaned = []
    for item in without_texts(items, FNCTOD_NONE):
        domain, slot, value = item.split("->")
        cleaned.append(f"{domain}->{slot}->{rewrite(slot, value)}")
    return set(without_texts(cleaned, FNCTOD_NONE))


def fnctod_turns(
    corpus: Corpus, rewrite_ref: Rewrite = same, rewrite_pred: Rewrite = same, dontcare: bool = False
) -> list[tuple[set[str], set[str]]]:
    """Both sides of every turn; only the prediction loses its dontcare, unless ``dontcare`` keeps it."""
    turns = []
    for dialogue in corpus:
        for ref, pred in dialogue:
            pred_items = [item.replace(END, "").strip() for item in fnctod_items(pred)]
            cleaned = fnctod_cleaned(pred_items, rewrite_pred)
            kept = cleaned if dontcare else set(without_texts(list(cleaned), FNCTOD_DONTCARE))
            turns.append((fnctod_cleaned(fnctod_items(ref), rewrite_ref), kept))
    return turns


def fnctod(turns: list[tuple[set[str], set[str]]]) -> dict[str, float]:
    """JGA, and micro scores with 0 for what cannot be divided."""
    right = sum(len(ref & pred) for ref, pred in turns)
    n_ref, n_pred = sum(len(ref) for ref, _ in turns), sum(len(pred) for _, pred in turns)
    precision, recall = right / n_pred if n_pred else 0.0, right / n_ref if n_ref else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    jga = mean([ref == pred for ref, pred in turns])
    return {"jga": jga, "precision": precision, "recall": recall, "f1": f1}


def fnctod_domain(turns: list[tuple[set[str], set[str]]], domain: str) -> float:
    """JGA of one domain over all turns of the dialogues picked (whose last turn lists the domain)."""

    def of_domain(items: set[str]) -> set[str]:
        return {item for item in items if item.startswith(f"[{domain}]->") and not item.endswith("->")}

    return mean([of_domain(ref) == of_domain(pred) for ref, pred in turns])


# IC-DST


def icdst_states(updates: list[State], fix: Rewrite, contexts: list[State] | None = None) -> list[State]:
    """Merge each update, its values fixed (an empty one is no update), into the state before.

    "[DELETE]" removes a slot, if the fixing leaves it in place. With ``contexts`` the state before is that
    reference instead. Then every value is cut at its first "|".
    """
    states: list[State] = []
    for t, update in enumerate(updates):
        state = dict(contexts[t]) if contexts is not None else dict(states[-1]) if states else {}
        for slot, raw in update.items():
            value = fix(slot, raw)
            if value == "[DELETE]":
                state.pop(slot, None)
            elif value:
                state[slot] = value
        states.append({slot: value.split("|")[0] for slot, value in state.items()})
    return states


def icdst_patched(ref: State, pred: State) -> State:
    """The reference takes over the prediction wherever that is one of its alternatives."""
    return {slot: pred[slot] if pred.get(slot) in value.split("|") else value for slot, value in ref.items()}


def icdst_turns(corpus: Corpus, fix: Rewrite = same, gold_context: bool = False) -> list[Turn]:
    """The turns as they are compared, for slot accuracy and F1 too; predictions are updates."""
    turns = []
    for dialogue in corpus:
        refs = [ref for ref, _ in dialogue]
        contexts = [{}, *refs[:-1]] if gold_context else None
        for ref, pred in zip(refs, icdst_states([u for _, u in dialogue], fix, contexts), strict=True):
            turns.append((icdst_patched(ref, pred), pred))
    return turns


def icdst(corpus: Corpus, fix: Rewrite = same, gold_context: bool = False) -> float:
    return mean([ref == pred for ref, pred in icdst_turns(corpus, fix, gold_context)])


# DST-as-Prompting


def answer(value: str) -> str:
    """Lower case, no punctuation (so "10:30" is "1030"), no articles, single spaces; by alternative."""

    def tidy(text: str) -> str:
        letters = "".join(letter for letter in text.lower() if letter not in punctuation)
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", letters).split())

    return "|".join(tidy(part) for part in value.split("|"))


def prompting_state(state: State, fix: Rewrite) -> State:
    """A slot that the fixing empties is left out, of the reference too."""
    fixed = {slot: fix(slot, value) for slot, value in state.items()}
    return {slot: answer(value) for slot, value in fixed.items() if value}


def prompting_right(ref: State, pred: State) -> bool:
    """Each slot's whole prediction is one of the reference's alternatives; a side without the slot has ""."""
    return all(pred.get(slot, "") in ref.get(slot, "").split("|") for slot in ref.keys() | pred.keys())


def prompting_updates(corpus: Corpus, fix: Rewrite = same) -> float:
    """TLB accuracy: both sides are updates."""
    return mean(
        [prompting_right(prompting_state(r, fix), prompting_state(p, fix)) for turns in corpus for r, p in turns]
    )


def prompting(corpus: Corpus, fix: Rewrite = same) -> float:
    """DST accuracy: references are states, predictions updates that overwrite and never delete."""
    scores = []
    for dialogue in corpus:
        state: State = {}
        for ref, update in dialogue:
            state = {**state, **prompting_state(update, fix)}
            scores.append(prompting_right(prompting_state(ref, fix), state))
    return mean(scores)


# TripPy

MARK = "§§"
Variants = dict[str, list[str]]
Guess = tuple[str, str]  # (class, value); the value matters to the classes copy_value, refer and inform
TrippyTurn = tuple[State, dict[str, Guess]]


def tokens(text: str) -> list[str]:
    """Split at runs of non-word characters, and keep the runs; word pieces marked "Ġ" are joined first."""
    if "Ġ" in text:
        text = text.replace(" ", "").replace("Ġ", " ").strip()
    return [token for token in map(str.strip, re.split(r"(\W+)", text)) if token]


def tokenised(text: str) -> str:
    return " ".join(tokens(text))


def tokenised_variants(variants: Variants) -> Variants:
    return {tokenised(value): [tokenised(other) for other in others] for value, others in variants.items()}


def within(part: str, whole: str) -> bool:
    """Part's tokens stand in a row in whole's; no token at all stands in everything."""
    few, many = tokens(part), tokens(whole)
    return any(many[i : i + len(few)] == few for i in range(len(many) + 1 - len(few)))


def informed(ref: str, value: str, variants: Variants) -> str:
    """The reference if either holds the other; else by the value's variants, if it has any, or the reference's."""

    def close(a: str, b: str) -> bool:
        return a == b or within(a, b) or within(b, a)

    if close(ref, value):
        return ref
    if value in variants:
        return ref if any(close(ref, variant) for variant in variants[value]) else value
    return ref if any(close(variant, value) for variant in variants.get(ref, [])) else value


def trippy_value(before: str, guess: Guess, ref: str, variants: Variants) -> str:
    """The running value after a turn; it is rewritten towards the reference, and carried on so."""
    kind, value = guess[0], tokenised(guess[1])
    if kind in ("dontcare", "true", "false"):
        return kind
    if kind == "copy_value":
        return value
    if kind == "none":
        return before
    marked = value.startswith(MARK)
    if kind == "inform" and not marked:
        raise ValueError(f"an informed value has no mark: {value!r}")
    bare = value.removeprefix(MARK).removeprefix(" ")
    if bare == "none":
        return before
    return informed(ref, bare, variants) if marked else bare


def trippy_right(ref: str, pred: str, variants: Variants) -> bool:
    """Equal, or a variant of the reference: exact, and in this direction only."""
    fixed = ("none", "dontcare", "true", "false")
    return ref == pred or (ref not in fixed and pred in variants.get(ref, []))


def trippy(corpus: list[list[TrippyTurn]], slots: Collection[str], raw_variants: Variants) -> float:
    """JGA from classes and values: a slot without a guess has class none, one without a reference is "none"."""
    variants = tokenised_variants(raw_variants)
    scores = []
    for dialogue in corpus:
        state = dict.fromkeys(slots, "none")
        for raw_ref, guesses in dialogue:
            ref = {slot: tokenised(raw_ref.get(slot, "none")) for slot in slots}
            state = {
                slot: trippy_value(state[slot], guesses.get(slot, ("none", "")), ref[slot], variants)
                for slot in slots
            }
            scores.append(all(trippy_right(ref[slot], state[slot], variants) for slot in slots))
    return mean(scores)


def trippy_states(corpus: Corpus, raw_variants: Variants) -> float:
    """JGA of states as they are, by the rule that tells a right value: no class, nothing rewritten."""
    variants = tokenised_variants(raw_variants)
    return mean(
        [
            all(
                trippy_right(tokenised(ref.get(slot, "none")), tokenised(pred.get(slot, "none")), variants)
                for slot in ref.keys() | pred.keys()
            )
            for dialogue in corpus
            for ref, pred in dialogue
        ]
    )
