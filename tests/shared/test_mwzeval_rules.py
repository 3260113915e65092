"""The original scorer's figures for four systems, by our rules and a scorer of a few lines."""

import gzip
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dsteval.values.normalise import DONTCARE
from dsteval.values.slots import canonical
from dsteval.values.tools import mwzeval

pytestmark = pytest.mark.shared

State = dict[str, str]
Spell = Callable[[str], str]

ABSENT = frozenset({"", "not mentioned", "none"}) | DONTCARE
SYSTEMS = ["augpt", "damd", "labes", "pptod"]

matches = cache(mwzeval.matches)
normalise = cache(mwzeval.normalise)


def named(state: dict[str, dict[str, str]], spell: Spell) -> State:
    return {spell(f"{domain}-{slot}"): value for domain, slots in state.items() for slot, value in slots.items()}


def normalised(state: State) -> State:
    return {slot: normalise(slot, value) for slot, value in state.items()}


@pytest.fixture(scope="module", params=[mwzeval.slot_name, canonical], ids=["its names", "our names"])
def spell(request: pytest.FixtureRequest) -> Spell:
    spelling: Spell = request.param
    return spelling


@pytest.fixture(scope="module")
def gold(shared: Path, spell: Spell) -> dict[str, list[State]]:
    with zipfile.ZipFile(shared / "data/multiwoz21/test.json.zip") as archive:
        dialogues = json.loads(archive.read("test.json"))

    def state(metadata: dict[str, Any]) -> State:
        slots = {domain: parts["semi"] | parts["book"] for domain, parts in metadata.items()}
        texts = {
            domain: {slot: value for slot, value in values.items() if slot != "booked"}
            for domain, values in slots.items()
        }
        return {slot: value for slot, value in named(texts, spell).items() if value.lower() not in ABSENT}

    return {
        name.removesuffix(".json").lower(): [state(turn["metadata"]) for turn in dialogue["log"][1::2]]
        for name, dialogue in dialogues.items()
    }


def score(gold: dict[str, list[State]], pred: dict[str, list[State]]) -> dict[str, Any]:
    joint = turns = hits = false = missed = 0
    for name, states in pred.items():
        for ref, state in zip(gold[name], states, strict=True):
            found = sum(slot in ref and matches(ref[slot], value) for slot, value in state.items())
            hits, false, missed = hits + found, false + len(state) - found, missed + len(ref) - found
            joint += found == len(ref) == len(state)
            turns += 1
    precision, recall = hits / (hits + false + 1e-10), hits / (hits + missed + 1e-10)
    return {
        "dialogues": len(pred),
        "turns": turns,
        "joint_accuracy": 100 * joint / (turns + 1e-10),
        "slot_f1": 100 * 2 * precision * recall / (precision + recall + 1e-10),
        "slot_precision": precision,
        "slot_recall": recall,
    }


@pytest.mark.parametrize("block", ["systems", "gold_left_raw"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_figures_of_the_original(
    shared: Path, gold: dict[str, list[State]], spell: Spell, system: str, block: str
) -> None:
    expected = json.loads((shared / "data/mwzeval/expected.json").read_bytes())[block]
    assert sorted(expected) == SYSTEMS
    with gzip.open(shared / f"data/mwzeval/{system}.json.gz") as file:
        read = json.load(file)
    pred = {name: [normalised(named(turn["state"], spell)) for turn in turns] for name, turns in read.items()}
    dropped = sorted(name for name, turns in pred.items() if len(turns) != len(gold[name]))
    assert dropped == expected[system].pop("dropped_length_mismatch")
    pred = {name: states for name, states in pred.items() if name not in dropped}
    if block == "systems":
        ref = {name: [normalised(state) for state in states] for name, states in gold.items()}
    else:
        ref = gold
    assert score(ref, pred) == pytest.approx(expected[system], abs=1e-6)
