"""The scripts of TripPy and Hi-DST: the engine against the naive oracle, on made-up dialogues."""

from __future__ import annotations

from random import Random

import pytest

import dsteval
import naive_metrics as metrics
import naive_rules as rules
from dsteval.values.tools import hidst
from generated import SEED, State, Values, corpus, engine, lines, mapped, near, scores

# TripPy ----------------------------------------------------------------------------------------------------------

VARIANTS = {
    "centre": ["center", "city centre"],
    "guest house": ["guest-house", "guesthouse"],
    "rosa's b&b": ["rosas bed and breakfast", "rosa"],
    "rose garden": ["rose-garden", "the garden"],
    "none": ["nothing"],
    "dontcare": ["any"],
}
OF_TRIPPY: Values = {
    "hotel-name": [
        *VARIANTS,
        "rosa 's b & b",
        "rosa",
        "rose-garden",
        "the rose garden",
        "\u0120rose \u0120garden",
    ],
    "hotel-area": ["centre", "center", "city centre", "north", "any", "dontcare", "none", "nothing"],
    "hotel-internet": ["true", "false", "yes", "dontcare", "none"],
    "hotel-book time": ["10:15", "10 : 15", "15", "10"],
}


def test_trippy_on_states() -> None:
    made = corpus(Random(SEED), OF_TRIPPY, dialogues=400)
    found = engine(made, "trippy", ["JGA"], variants=VARIANTS)
    assert found == near({"JGA": rules.trippy_states(made, VARIANTS)})
    assert found["JGA"] > engine(made, "exact", ["JGA"])["JGA"]


def trippy_turn(chance: Random, ref: State) -> dict[str, rules.Guess]:
    """A class and a value for every slot."""
    guesses = {}
    for slot, values in OF_TRIPPY.items():
        kinds = ["none", "none", "none", "copy_value", "refer", "inform", "dontcare", "true", "false"]
        kind, value = chance.choice(kinds), chance.choice([*values, ref.get(slot, "none")])
        marked = kind == "inform" or (kind == "refer" and chance.random() < 0.5)
        guesses[slot] = (kind, rules.MARK + chance.choice(["", " "]) + value if marked else value)
    return guesses


CLASSES = ["refer", "copy_value", "none", "false", "inform", "dontcare", "true"]


@pytest.mark.parametrize("numbered", [False, True])
def test_trippy_on_classes(numbered: bool) -> None:
    """A class is named, or counted by the configuration's list, whose order is the tool's own business."""

    def choices(guesses: dict[str, rules.Guess]) -> list[dict[str, str]]:
        kinds = {kind: str(number) if numbered else kind for number, kind in enumerate(CLASSES)}
        return [{"slot": slot, "kind": kinds[kind], "value": value} for slot, (kind, value) in guesses.items()]

    config = {"label_maps": VARIANTS, "class_types": CLASSES}
    chance = Random(SEED)
    made = [[(ref, trippy_turn(chance, ref)) for ref, _ in turns] for turns in corpus(chance, OF_TRIPPY)]
    # Most turns have four errors: look at each slot alone.
    for slot in OF_TRIPPY:
        one = [
            [({s: v for s, v in ref.items() if s == slot}, {slot: guesses[slot]}) for ref, guesses in turns]
            for turns in made
        ]
        said = [[{"ref": ref, "pred": {}, "choices": choices(guesses)} for ref, guesses in turns] for turns in one]
        result = dsteval.evaluate(None, lines(said), metrics=["JGA"], protocol="trippy", variants=config)
        assert scores(result, ["JGA"]) == near({"JGA": rules.trippy(one, [slot], VARIANTS)})


# Hi-DST ----------------------------------------------------------------------------------------------------------

OF_HIDST: Values = {
    "hotel-name": [*VARIANTS, "rosa 's b&b", "rosa's b and b", "the rose garden", "rose", "none"],
    "hotel-area": ["centre", "center", "east", "northeast", "south", "none"],
    "hotel-stars": ["1", "10", "4"],
    "train-leaveat": ["10:15", "10:30", "10:31", "9:15", "24:05", "00:05", "23:55", "5 o 'clock", "none"],
}


def test_hidst_with_its_aliasing() -> None:
    said: Values = {slot: [value for value in values if value != "none"] for slot, values in OF_HIDST.items()}
    made = corpus(Random(SEED), OF_HIDST, {**said, "hotel-area": [*said["hotel-area"], ""]}, dialogues=300)
    # What is predicted at a turn is an update; "none" in one is not said what it does.
    made = [[(ref, {s: v for s, v in pred.items() if v != "none"}) for ref, pred in turns] for turns in made]
    tidied = metrics.without(mapped(made, hidst.unspaced_ref, hidst.unspaced_pred), ["none"])

    def match(slot: str, ref: str, pred: str) -> bool:
        return hidst.matches(slot, ref, pred, VARIANTS)

    def seen(now: str, before: str) -> bool:
        return hidst.seen(before, now, VARIANTS)

    turns = metrics.turns_of([metrics.hidst_states(dialogue) for dialogue in tidied])
    hits = [sum(s in pred and match(s, ref[s], pred[s]) for s in ref) for ref, pred in turns]
    wrong = [len(ref.keys() | pred.keys()) - n for n, (ref, pred) in zip(hits, turns, strict=True)]
    found = engine(made, "hidst", ["JGA", "SlotAccuracy", "AGA", "FGA@0.25", "FGA@1"], variants=VARIANTS)
    assert found == near(
        {
            "JGA": metrics.mean(metrics.same_state(ref, pred, match) for ref, pred in turns),
            "SlotAccuracy": metrics.mean((30 - n) / 30 for n in wrong),
            "AGA": metrics.mean(n / len(ref) for n, (ref, _) in zip(hits, turns, strict=True) if ref),
            "FGA@0.25": metrics.fga_hidst(tidied, 0.25, match, seen),
            "FGA@1": metrics.fga_hidst(tidied, 1, match, seen),
        }
    )
    official = engine(made, "hidst", ["FGA(variant=official)@1"], variants=VARIANTS)
    assert official != near({"FGA(variant=official)@1": found["FGA@1"]}), "the slip of the script shows"
