"""Published scorers: the engine under each protocol against the naive oracle of the scorer, on made-up dialogues.

What single values become is tested elsewhere: the oracles take the package's own functions of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

import dsteval
import naive_metrics as metrics
import naive_trade as trade
from dsteval.dialogue import Items, Turn
from dsteval.values.tools import mwzeval
from dsteval.values.tools.fix_label import fix_label
from generated import SEED, UNSET, State, Values, corpus, engine, mapped, near, scores, sides
from naive_protocols import DONTCARE

N_TURNS = 20_000

PLAIN = ["north", "east", "centre", "center", "cheap", "4", "14", "dontcare", "dont care", "do not care"]
NAMES = [
    "rose-garden",
    "garden",
    "rose - garden",
    "the garden",
    "book end",
    "el shaddai",
    "b and b",
    "Rose-Garden",
]
TIMES = ["10:15", "10:30", "10:31", "9:15", "09:15", "24:05", "00:05", "23:55", "5pm", "17:00", "after 9:15"]
NONES = ["none", "not mentioned"]


def n_turns(dialogues: Sequence[Sequence[Any]]) -> int:
    return sum(map(len, dialogues))


# TRADE, SOM-DST, T5DST -------------------------------------------------------------------------------------------

OF_TRADE: Values = {
    "hotel-area": [*PLAIN, "east side", "n", *NONES],
    "hotel-name": [*NAMES, "cb30aq", "not men"],
    "hotel-type": ["guesthouse", "guest house", "hotel", "nigh", "moderate -ly", "rose-garden"],
    "hotel-book day": ["monda", "monday", "next friday", "friday", *NONES],
    "hotel-internet": ["y", "yes", "free", "free internet", "does not care", "any"],
    "restaurant-food": ["fun", "italian", "rose-garden", *NONES],
    "restaurant-book time": TIMES,
    "attraction-type": ["mus", "museum", "architectural", "art", "concert", "none"],
    "train-leaveat": TIMES,
    "taxi-departure": [*NAMES, "a-b-c", "b-c", "c"],
}
TRADE_NAMES = {"JGA": "Joint Acc", "SlotAccuracy": "Turn Acc", "TurnF1": "Joint F1"}


def of_trade(found: dict[str, float], suffix: str = "") -> dict[str, float]:
    """TRADE's three numbers under our names."""
    return {ours + suffix: found[theirs] for ours, theirs in TRADE_NAMES.items()}


def test_trade_and_t5dst() -> None:
    made = corpus(Random(SEED), OF_TRADE, dialogues=3200)
    assert n_turns(made) >= N_TURNS
    labels = mapped(made, ref=fix_label)
    assert any("none" in ref.values() for turns in labels for ref, _ in turns)
    assert engine(made, "trade", [*TRADE_NAMES]) == near(of_trade(trade.trade(labels)))
    assert engine(made[:300], "t5dst", [*TRADE_NAMES]) == near(of_trade(trade.trade(labels[:300], 35)))


def test_somdst_at_all_turns_at_the_last_and_by_domain() -> None:
    made = corpus(Random(SEED), OF_TRADE, dialogues=400)
    labels = metrics.without(mapped(made, ref=fix_label), ["none"])
    assert engine(made, "somdst", [*TRADE_NAMES]) == near(of_trade(trade.trade(labels)))
    last = [f"{name}(turns=last)" for name in TRADE_NAMES]
    assert engine(made, "somdst", last) == near(of_trade(trade.somdst_final(labels), "(turns=last)"))
    result = dsteval.evaluate(*sides(made), metrics=[*TRADE_NAMES], protocol="somdst", by=["domain"])
    by_domain = {one.key: one.scores for one in result.slices if one.convention == "active"}
    assert by_domain.keys() == {slot.split("-")[0] for slot in OF_TRADE}
    for domain, found in by_domain.items():
        expected = of_trade(trade.somdst_domain(labels, domain))
        assert {score.metric: score.value for score in found} == near(expected)


# MultiWOZ_Evaluation ---------------------------------------------------------------------------------------------

OF_MWZEVAL: Values = {
    "hotel-name": [
        "acorn guest house",
        "the acorn guest house",
        "acorn guesthouse",
        "Acorn",
        "rosa's b&b",
        "Rosa's Bed & Breakfast",
        "Dontcare",
        "",
        "none",
    ],
    "hotel-area": ["north", "northeast", "south", "dontcare", "don't care", "not mentioned"],
    "hotel-stars": ["1", "10", "dontcare"],
    "hotel-parking": ["free", "yes", "no"],
    "restaurant-food": ["italian", "Italian", "dontcare"],
    "restaurant-time": [*TIMES, "12:30 pm", "dontcare"],
    "train-leave": [*TIMES, "none"],
}


def of_2023(slot: str, value: str) -> str:
    """Names have "b and b" for "bed and breakfast", before the scorer's list of names is consulted."""
    if slot == "hotel-name":
        value = value.strip().lower().replace("&", " and ").replace("  ", " ")
        value = value.replace("bed and breakfast", "b and b")
    return mwzeval.normalise(slot, value)


@pytest.mark.parametrize(("name", "normalise"), [("mwzeval", mwzeval.normalise), ("mwzeval-2023", of_2023)])
def test_mwzeval(name: str, normalise: Callable[[str, str], str]) -> None:
    chance = Random(SEED)
    made = corpus(chance, OF_MWZEVAL, dialogues=400)
    gone = {"", "none", "not mentioned"}

    def listed(state: State) -> dict[str, list[str]]:
        return {s: [v, chance.choice(OF_MWZEVAL[s])][: chance.choice([1, 1, 2])] for s, v in state.items()}

    written = [[(listed(ref), pred) for ref, pred in turns] for turns in made]
    turns = [
        (
            {s: v[0] for s, v in ref.items() if v[0] not in gone and "dontcare" not in v},
            {s: normalise(s, v) for s, v in pred.items()},
        )
        for dialogue in written
        for ref, pred in dialogue
    ]
    turns = [({s: normalise(s, v) for s, v in ref.items()}, pred) for ref, pred in turns]
    hits = [sum(s in pred and mwzeval.matches(ref[s], pred[s]) for s in ref) for ref, pred in turns]
    n_ref, n_pred = (sum(len(turn[side]) for turn in turns) for side in (0, 1))
    ref, pred = sides(written)
    for states in pred.values():
        states += [{"hotel-area": "north"}] * chance.choice([0, 0, 1, 2])  # what the reference has no turn for
    wanted = ["JGA", "SlotPrecision", "SlotRecall", "SlotF1"]
    assert scores(dsteval.evaluate(ref, pred, metrics=wanted, protocol=name), wanted) == near(
        {
            "JGA": metrics.mean(n == len(ref) == len(pred) for n, (ref, pred) in zip(hits, turns, strict=True)),
            "SlotPrecision": sum(hits) / n_pred,
            "SlotRecall": sum(hits) / n_ref,
            "SlotF1": 2 * sum(hits) / (n_ref + n_pred),
        }
    )


# ConvLab-3 -------------------------------------------------------------------------------------------------------

OF_CONVLAB: Values = {
    "hotel-name": ["Rose Garden", "rosegarden", "rose garden|the garden", "the garden|lodge", "lodge", "none"],
    "hotel-area": ["north", "NORTH", "north|east", "east", "dontcare"],
    "taxi-destination": ["a", "a|b", "b", "c|d|a"],
    "train-day": ["monday", " monday ", "friday"],
}
EMPTY: Values = {slot: [*values, "", " "] for slot, values in OF_CONVLAB.items()}
UNIFIED = {"JGA": "accuracy", "SlotPrecision": "precision", "SlotRecall": "recall", "SlotF1": "f1"}


@pytest.mark.parametrize("visible", ["domains", "all", "listed"])
def test_convlab_unified(visible: str) -> None:
    made = corpus(Random(SEED), EMPTY, EMPTY, dialogues=300)
    listed = mapped(made, ref=lambda slot, value: "" if value in UNSET else value)
    if visible != "listed":
        listed = [[(metrics.listed(b, [*EMPTY], visible == "all"), p) for b, p in turns] for turns in listed]
    found = engine(made, "convlab-unified", [*UNIFIED], settings=[f"states.visible={visible}"])
    expected = metrics.convlab_unified(listed)
    assert found == near({ours: expected[theirs] for ours, theirs in UNIFIED.items()})


def test_convlab_t5() -> None:
    made = corpus(Random(SEED), EMPTY, EMPTY, dialogues=300)
    expected = metrics.convlab_t5(metrics.without(made, UNSET))
    found = engine(made, "convlab-t5", [*UNIFIED])
    assert found == near({ours: expected[theirs] for ours, theirs in UNIFIED.items()})


# DSTC10 ----------------------------------------------------------------------------------------------------------

DSTC10_VALUES = ["one", "One", "1", "2", "north", "North", "east", "10"]
DSTC10_SLOTS = ["hotel book people", "hotel semi area", "restaurant semi food", "attraction semi fee"]
DSTC10_SCORES = {
    "JGA": "joint_goal_accuracy",
    "SlotAccuracy": "slot_accuracy",
    **{f"Slot{name}": f"value_{name.lower()}" for name in ("Precision", "Recall", "F1")},
    **{f"None{name}": f"none_{name.lower()}" for name in ("Precision", "Recall", "F1")},
}


def lists(chance: Random) -> metrics.Lists:
    """Lists of values with repeats in one spelling and in several, and empty ones."""
    slots = chance.sample(DSTC10_SLOTS, chance.randint(0, 3))
    return {slot: chance.choices(DSTC10_VALUES, k=chance.choice([0, 1, 1, 1, 2, 3])) for slot in slots}


def instance(number: int, ref: metrics.Lists, pred: metrics.Lists) -> dsteval.Dialogue:
    def items(state: metrics.Lists) -> Items:
        return [
            (slot.replace(" semi ", "-").replace(" ", "-", 1), tuple(values)) for slot, values in state.items()
        ]

    return dsteval.Dialogue(str(number), [Turn(0, items(ref), items(pred))], alone=True)


def test_dstc10() -> None:
    chance = Random(SEED)
    refs = [lists(chance) for _ in range(3000)]
    preds = [ref if chance.random() < 0.5 else lists(chance) for ref in refs]
    made = [instance(number, ref, pred) for number, (ref, pred) in enumerate(zip(refs, preds, strict=True))]
    found = scores(dsteval.evaluate(None, made, protocol="dstc10"), [*DSTC10_SCORES])
    expected = metrics.dstc10([*zip(refs, preds, strict=True)])
    assert found == near({ours: expected[theirs] for ours, theirs in DSTC10_SCORES.items()})


# GCA and the card ------------------------------------------------------------------------------------------------


def test_gca() -> None:
    made = corpus(Random(SEED), {slot: [*values, "none"] for slot, values in OF_TRADE.items()}, dialogues=400)
    kept = metrics.without(made, ["none"], ["none"])
    found = engine(made, "gca", ["JGA", "SlotAccuracy", "RSA", "IAGA", "GCA", "GCA(none=absent)"])
    assert found == near(
        {
            "JGA": metrics.jga(kept),
            "SlotAccuracy": trade.trade(kept)["Turn Acc"],
            "RSA": metrics.rsa(kept, empty=0),
            "IAGA": metrics.iaga(kept),
            "GCA": metrics.gca(made),
            "GCA(none=absent)": metrics.gca(kept),
        }
    )
    others = engine(made, "gca", ["RSA(empty=one)", "RSA(empty=skip)"])
    assert others == near({"RSA(empty=one)": metrics.rsa(kept, 1), "RSA(empty=skip)": metrics.rsa(kept, None)})


def test_the_card_and_its_recipe() -> None:
    made = corpus(Random(SEED), OF_TRADE, dialogues=400)
    listed = metrics.without(made, ["", "not mentioned"])
    found = engine(made, "card-recipe", ["JGA", "SlotRecall"])
    recall = metrics.pair_scores(listed)["recall"]
    assert found == near({"JGA": metrics.card_joint(listed), "SlotRecall": recall})
    tidy = metrics.without(made, NONES, NONES)
    folded = mapped(tidy, *[lambda slot, value: "dontcare" if value in DONTCARE else value.casefold()] * 2)
    found = engine(made, "card", ["JGA", "SlotRecall"])
    assert found == near({"JGA": metrics.jga(folded), "SlotRecall": metrics.pair_scores(folded)["recall"]})
