"""Made-up systems to compare: a reference whose states grow, and predictions that lose or change some slots."""

import random
from dataclasses import replace
from typing import Any

import dsteval
from dsteval.analysis.comparison import Comparison, compare
from dsteval.results.result import Result

State = dict[str, str]
States = dict[str, list[State]]

METRICS = ["JGA", "TurnMatch", "SlotAccuracy", "AGA", "FGA@0.5", "FGA@2", "SlotF1"]
SLOTS = ["hotel-area", "hotel-stars", "train-day", "taxi-leaveat"]


def reference(dialogues: int = 20, seed: int = 1) -> States:
    """States that grow by a slot at most turns."""
    chance = random.Random(seed)
    made: States = {}
    for number in range(dialogues):
        state: State = {}
        turns = []
        for _ in range(chance.randint(2, 6)):
            state = {**state, chance.choice(SLOTS): str(chance.randint(1, 3))}
            turns.append(state)
        made[f"d{number:02}"] = turns
    return made


def noisy(ref: States, wrong: float, seed: int) -> States:
    """Predictions in which a share of the slots is lost or has another value."""
    chance = random.Random(seed)

    def spoilt(state: State) -> State:
        kept = {slot: value for slot, value in state.items() if chance.random() > wrong / 2}
        return {slot: "9" if chance.random() < wrong / 2 else value for slot, value in kept.items()}

    return {name: [spoilt(state) for state in turns] for name, turns in ref.items()}


REF = reference()
SYSTEMS = {"good": noisy(REF, 0.1, 2), "fair": noisy(REF, 0.3, 3), "poor": noisy(REF, 0.7, 4)}
FEW: dict[str, Any] = {"resamples": 200, "seed": 7}


def compared(systems: Any = SYSTEMS, ref: Any = REF, metrics: Any = METRICS, **options: Any) -> Comparison:
    return compare(systems, ref, metrics=metrics, **{**FEW, **options})


def results(systems: dict[str, States] = SYSTEMS, ref: States = REF, **options: Any) -> dict[str, Result]:
    chosen: dict[str, Any] = {"metrics": METRICS, **options}
    return {name: dsteval.evaluate(ref, pred, name=name, **chosen) for name, pred in systems.items()}


def lacking(result: Result, metric: str, reason: str = "no values") -> Result:
    """The result as it is where the files do not give a metric."""
    counts = {key: counts for key, counts in result.partition.counts.items() if key != metric}
    return replace(result, partition=replace(result.partition, counts=counts, unavailable={metric: reason}))
