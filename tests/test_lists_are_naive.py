"""SimpleTOD, FnCTOD, IC-DST and DST-as-Prompting: the engine against the naive oracles, on made-up dialogues.

What single values become is tested elsewhere: the oracles take the package's own functions of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

import dsteval
import naive_metrics as metrics
import naive_rules as rules
import naive_trade as trade
from dsteval.values.tables import table
from dsteval.values.tools import fnctod, simpletod
from dsteval.values.tools.typo_fix import typo_fix
from dsteval.values.user_tables import UserTables
from generated import SEED, UNSET, Corpus, State, Values, corpus, engine, lines, near, scores

NONES = ["none", "not mentioned"]
PLAIN = ["north", "east", "centre", "center", "dontcare", "dont care", "do not care"]

# SimpleTOD and FnCTOD: lists of items ----------------------------------------------------------------------------

Items = list[tuple[str, str]]
ItemCorpus = list[list[tuple[Items, Items]]]
OF_LISTS: Values = {
    "hotel-area": [*PLAIN, *NONES, "n", "cent", "ely"],
    "hotel-name": ["the golden house", "none such", "book end", "all none", "nonesuch", "rosa 's", *NONES],
    "hotel-type": ["guesthouse", "guest house", "hotel", "none"],
    "hotel-book day": ["monday", "monda", "not mentioned", "none"],
    "attraction-type": ["theatre", "theater", "the pool", "not present", "none"],
    "restaurant-book people": ["2", "none", "dontcare"],
}


def with_doubles(chance: Random, state: State) -> Items:
    """The items of a state; some slots stand twice, with one value or with two."""
    items = [*state.items()]
    for slot in chance.sample([*state], min(len(state), chance.choice([0, 0, 1]))):
        items.insert(chance.randint(0, len(items)), (slot, chance.choice([*OF_LISTS[slot], state[slot]])))
    return items


def item_corpus(dialogues: int) -> ItemCorpus:
    chance = Random(SEED)
    made = corpus(chance, OF_LISTS, dialogues=dialogues)
    return [[(with_doubles(chance, ref), with_doubles(chance, pred)) for ref, pred in turns] for turns in made]


def scored_items(
    made: list[list[tuple[Items, Items]]], protocol: str, wanted: Sequence[str], *settings: str
) -> Any:
    said = [[{"items": {"ref": [*map(list, b)], "pred": [*map(list, p)]}} for b, p in turns] for turns in made]
    result = dsteval.evaluate(None, lines(said), metrics=wanted, protocol=protocol, settings=settings)
    return scores(result, wanted)


@pytest.mark.parametrize("cleaned", [False, True])
def test_simpletod_with_the_item_that_escapes(cleaned: bool) -> None:
    made = item_corpus(400)
    escaped = 0
    right = []
    for ref, pred in (turn for turns in made for turn in turns):
        ref = [item for item in ref if item[1] not in UNSET]
        sides = [[f"{slot.replace('-', ' ', 1)} {value}" for slot, value in items] for items in (ref, pred)]
        kept = rules.simpletod_pred(sides[1])
        escaped += any(item.endswith(" none") for item in kept)
        texts = [rules.without_texts(items, rules.SIMPLETOD) for items in (sides[0], kept)]
        if cleaned:
            texts = [[rules.simpletod_cleaned(item, simpletod.clean) for item in items] for items in texts]
        right.append({*texts[0]} == {*texts[1]})
    assert escaped
    # What the cleaning makes "none" stays; it is what the file writes for an unset slot that goes.
    settings = ["prepare.steps=['simpletod', 'simpletod-clean']"]
    assert scored_items(made, "simpletod", ["JGA"], *settings[:cleaned]) == near({"JGA": rules.mean(right)})


def right(ref: State, pred: State, protocol: str, *settings: str) -> bool:
    sides = [{"d": [state]} for state in (ref, pred)]
    return dsteval.evaluate(*sides, metrics=["JGA"], protocol=protocol, settings=settings)["JGA"].count == 1


CLEANED = "prepare.steps=['simpletod', 'simpletod-clean']"


@pytest.mark.parametrize(
    ("protocol", "settings", "slot", "value"),
    [
        ("simpletod", [CLEANED], "hotel-type", "venetian"),  # becomes none
        ("simpletod", [CLEANED], "hotel-area", "ely"),
        ("simpletod", [], "restaurant-name", ""),
        ("simpletod", [CLEANED], "restaurant-name", ""),
        ("fnctod", [], "restaurant-name", "the"),  # becomes empty
        ("fnctod", [], "restaurant-name", ""),
    ],
)
def test_what_counts_as_nothing_leaves_both_sides_or_none(
    protocol: str, settings: list[str], slot: str, value: str
) -> None:
    state, other = {slot: value, "train-day": "monday"}, {"train-day": "monday"}
    assert right(state, state, protocol, *settings)
    # A word that the file has for "not set" may be left out; what the cleaning made may not.
    assert right(state, other, protocol, *settings) == (value == "")


def test_an_empty_text_that_only_the_tracker_says_is_an_error() -> None:
    said = {"restaurant-name": "", "train-day": "monday"}
    assert not right({"train-day": "monday"}, said, "simpletod")


@pytest.mark.parametrize(
    ("protocol", "settings"),
    [("simpletod", []), ("simpletod", ["prepare.steps=['simpletod', 'simpletod-clean']"]), ("fnctod", [])],
)
def test_two_values_of_a_slot_are_a_set(protocol: str, settings: list[str]) -> None:
    items = [["hotel-type", "hotel"], ["hotel-area", "north"], ["hotel-type", "guest house"]]
    said = [[{"items": {"ref": items, "pred": pred}} for pred in (items[::-1], items[1:])]]
    result = dsteval.evaluate(None, lines(said), metrics=["JGA"], protocol=protocol, settings=settings)
    assert (result["JGA"].count, result["JGA"].total) == (1, 2)


def test_simpletod_on_states() -> None:
    made = corpus(Random(SEED), OF_LISTS, dialogues=300)
    assert engine(made, "simpletod", ["JGA"]) == near({"JGA": rules.simpletod(metrics.without(made, UNSET))})


def test_simpletod_v1() -> None:
    made = corpus(Random(SEED), OF_LISTS, dialogues=300)
    unset = ["", *NONES, "dontcare"]
    assert engine(made, "simpletod-v1", ["JGA"]) == near({"JGA": metrics.jga(metrics.without(made, unset, unset))})


FNCTOD = {"JGA": "jga", "SlotPrecision": "precision", "SlotRecall": "recall", "SlotF1": "f1"}


def clean_ref(slot: str, value: str) -> str:
    return fnctod.clean(slot, value, predicted=False)


def clean_pred(slot: str, value: str) -> str:
    return fnctod.clean(slot, value, predicted=True)


@pytest.mark.parametrize("dontcare", [False, True])
def test_fnctod(dontcare: bool) -> None:
    made = corpus(Random(SEED), OF_LISTS, dialogues=400)
    expected = rules.fnctod(rules.fnctod_turns(made, clean_ref, clean_pred, dontcare))
    settings = ["prepare.steps=['fnctod']"] if dontcare else []
    found = engine(made, "fnctod", [*FNCTOD], settings=settings)
    assert found == near({ours: expected[theirs] for ours, theirs in FNCTOD.items()})


def test_fnctod_with_slots_that_stand_twice() -> None:
    made = item_corpus(400)

    def cleaned(items: Items, predicted: bool) -> set[str]:
        texts = [f"[{slot.replace('-', ']->', 1)}->{value}" for slot, value in items]
        found = rules.fnctod_cleaned(texts, clean_pred if predicted else clean_ref)
        return {*rules.without_texts([*found], rules.FNCTOD_DONTCARE)} if predicted else found

    turns = [(cleaned(ref, False), cleaned(pred, True)) for dialogue in made for ref, pred in dialogue]
    expected = rules.fnctod(turns)
    found = scored_items(made, "fnctod", [*FNCTOD])
    assert found == near({ours: expected[theirs] for ours, theirs in FNCTOD.items()})


# IC-DST and DST-as-Prompting: an ontology ------------------------------------------------------------------------

ICDST_NAMES = {"JGA": "Joint Acc", "SlotAccuracy": "Turn Acc", "TurnF1": "Joint F1"}
ONTOLOGY = {
    "hotel-name": ["the acorn guest house", "el shaddia", "lodge", "ashley hotel"],
    "restaurant-food": ["asian oriental", "italian", "welsh"],
    "taxi-destination": ["fenditton", "cafe uno"],
    **{name: ["x"] for name in table("typo_fix")["entities"] if name.split("-")[0] in ("attraction", "train")},
    "restaurant-name": ["good luck"],
    "taxi-departure": ["x"],
}
KNOWN: Values = {
    "hotel-name": ["the acorn guest house", "el shaddia", "lodge", "ashley hotel", "lodge|ashley hotel"],
    "restaurant-food": ["asian oriental", "italian", "italian|welsh", "welsh"],
    "taxi-destination": ["fenditton", "cafe uno", "fenditton|cafe uno"],
    "hotel-area": ["centre", "north", "north|centre", "dontcare"],
    "train-leaveat": ["09:15", "10:15", "09:15|10:15"],
}
GUESSED: Values = {
    "hotel-name": ["acorn", "acorn guest house", "el shaddai", "the lodge", "ashley", "ritz"],
    "restaurant-food": ["asian", "weish", "italian", "klingon"],
    "taxi-destination": ["fen ditton", "caffe uno", "cafe uno", "nowhere"],
    "hotel-area": ["center", "centre", "north", "south|north", "none", "dontcare"],
    "train-leaveat": ["9:15", "10:15", "9:05", "11:15 s"],
}


DELETE = "[DELETE]"
ontology = UserTables("test", ontology=ONTOLOGY).ontology


def fix(slot: str, value: str) -> str:
    return typo_fix(slot, value, ontology, "2.4")


def of_updates(made: Corpus, deletes: bool) -> tuple[Corpus, Corpus]:
    """The corpus with predicted updates, and with the states that they make.

    The oracles fix an update before it is merged, the engine fixes states. So a name that the ontology does not
    know, which is no update there and an unset slot here, never takes the place of a value that was set; nor is a
    name deleted, for the ontology does not know "[DELETE]" either.
    """
    updates, states = [], []
    for turns in made:
        state: State = {}
        for_updates, for_states = [], []
        for ref, pred in turns:
            update = {s: v for s, v in pred.items() if state.get(s) != v and (fix(s, v) or s not in state)}
            gone = [slot for slot in state if slot not in pred and fix(slot, DELETE)] if deletes else []
            state = {slot: value for slot, value in (state | update).items() if slot not in gone}
            for_updates.append((ref, {**update, **dict.fromkeys(gone, DELETE)}))
            for_states.append((ref, state))
        updates.append(for_updates)
        states.append(for_states)
    return updates, states


def test_icdst() -> None:
    updates, states = of_updates(corpus(Random(SEED), KNOWN, GUESSED, dialogues=400), deletes=True)
    expected = trade.score(rules.icdst_turns(updates, fix), 30)
    found = engine(states, "icdst", [*ICDST_NAMES], ontology=ONTOLOGY)
    assert found == near({ours: expected[theirs] for ours, theirs in ICDST_NAMES.items()})


@pytest.mark.parametrize(
    ("before", "update"),
    [
        ({"hotel-pricerange": "cheap"}, {"hotel-price range": "[DELETE]"}),
        ({"hotel-price range": "cheap"}, {"hotel-pricerange": "[DELETE]"}),
        ({"hotel-bookday": "friday"}, {"hotel-book day": "monday"}),
    ],
)
def test_icdst_on_a_reference_with_other_spellings(before: State, update: State) -> None:
    after = {slot: value for slot, value in update.items() if value != "[DELETE]"}
    said = [[{"ref": ref, "pred": ref, "pred_update": new} for ref, new in ((before, before), (after, update))]]
    settings = ["prepare.steps=['on-reference']"]
    result = dsteval.evaluate(
        None, lines(said), metrics=["JGA"], protocol="icdst", settings=settings, ontology=ONTOLOGY
    )
    assert (result["JGA"].count, result["JGA"].total) == (2, 2)


def test_icdst_on_the_reference() -> None:
    updates, states = of_updates(corpus(Random(SEED), KNOWN, GUESSED, dialogues=400), deletes=True)
    forced: Corpus = []
    for turns in updates:
        before: State = {}
        forced.append([])
        for ref, update in turns:
            forced[-1].append((ref, {s: v for s, v in update.items() if fix(s, v) or s not in before}))
            before = ref
    said = [
        [{"ref": ref, "pred": pred, "pred_update": update} for (ref, pred), (_, update) in zip(*both, strict=True)]
        for both in zip(states, forced, strict=True)
    ]
    settings = ["prepare.steps=['on-reference']"]
    result = dsteval.evaluate(
        None, lines(said), metrics=["JGA"], protocol="icdst", settings=settings, ontology=ONTOLOGY
    )
    expected = rules.icdst(forced, fix, gold_context=True)
    assert scores(result, ["JGA"]) == near({"JGA": expected})
    assert expected > rules.icdst(updates, fix)


def changes(turns: list[State], ref: bool) -> list[State]:
    """What each state has anew; where a reference shares an alternative with the one before, nothing is new."""

    def new(slot: str, value: str) -> bool:
        if slot not in before:
            return True
        return {*value.split("|")}.isdisjoint(before[slot].split("|")) if ref else value != before[slot]

    updates = []
    before: State = {}
    for state in turns:
        answers = rules.prompting_state(state, fix)
        updates.append({slot: state[slot] for slot, value in answers.items() if new(slot, value)})
        before = answers
    return updates


def test_dst_prompting() -> None:
    guessed: Values = {**GUESSED, "hotel-area": ["The Center", "north.", "a north", "none"]}
    updates, states = of_updates(corpus(Random(SEED), KNOWN, guessed, dialogues=400), deletes=False)
    news = [
        [*zip(changes([b for b, _ in turns], True), changes([p for _, p in turns], False), strict=True)]
        for turns in states
    ]
    found = engine(states, "dst-prompting", ["JGA", "UpdateAccuracy"], ontology=ONTOLOGY)
    assert found == near(
        {"JGA": rules.prompting(updates, fix), "UpdateAccuracy": rules.prompting_updates(news, fix)}
    )
