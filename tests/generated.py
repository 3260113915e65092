"""Dialogues made up at random in thousands, with a tracker's errors, for scorers that have an oracle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pytest

import dsteval
from dsteval.protocols import model as protocol

SEED = 20220522
UNSET = ("", "none", "not mentioned")
"""What references write for a slot that is not set."""

State = dict[str, str]
Corpus = list[list[tuple[State, State]]]
Values = Mapping[str, Sequence[str]]


TABLES: dict[str, Any] = {
    "variants": {"centre": ["center"], "none": ["nothing"]},
    "ontology": {"hotel-name": ["lodge"], "restaurant-food": ["italian"]},
}
"""What some protocols cannot do without."""


def options(name: str) -> dict[str, Any]:
    """What a protocol needs to score plain states: tables, and frames out of states where it counts frames."""
    frames = protocol.load(name).scope.unit == "frame"
    return {**TABLES, "settings": ["scope.schema=none", "scope.frames=domains"] if frames else []}


def shuffled(chance: Random, state: State) -> State:
    """The same items in another order."""
    return dict(chance.sample([*state.items()], len(state)))


def corpus(chance: Random, refs: Values, preds: Values | None = None, dialogues: int = 200) -> Corpus:
    """Dialogues over the slots of ``refs``, the reference's values; ``preds`` are what a tracker may say.

    A slot is set, changed, dropped and set again; the tracker follows, misses, strays, forgets, repairs some slot
    late or everything at once.
    """
    return [_dialogue(chance, refs, preds or refs) for _ in range(dialogues)]


def _dialogue(chance: Random, refs: Values, preds: Values) -> list[tuple[State, State]]:
    ref: State = {}
    pred: State = {}
    turns = []
    slots = [*refs]
    for _ in range(chance.randint(1, 12)):
        ref, pred = dict(ref), dict(pred)
        for slot in chance.sample(slots, chance.choice([0, 1, 1, 2])):
            ref[slot] = chance.choice(refs[slot])
            if chance.random() < 0.8:
                pred[slot] = ref[slot] if chance.random() < 0.6 else chance.choice(preds[slot])
        for state in (ref, pred):
            if state and chance.random() < 0.1:
                del state[chance.choice([*state])]
        if chance.random() < 0.15:
            slot = chance.choice(slots)
            pred[slot] = chance.choice(preds[slot])
        if ref and chance.random() < 0.2:
            slot = chance.choice([*ref])
            pred[slot] = ref[slot]
        if chance.random() < 0.1:
            pred = dict(ref)
        turns.append((shuffled(chance, ref), shuffled(chance, pred)))
    return turns


def sides(dialogues: Sequence[Iterable[tuple[Any, Any]]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """{dialogue: [state, ...]} of the reference and of the prediction."""
    names = [f"d{number}" for number in range(len(dialogues))]
    return (
        {name: [ref for ref, _ in turns] for name, turns in zip(names, dialogues, strict=True)},
        {name: [pred for _, pred in turns] for name, turns in zip(names, dialogues, strict=True)},
    )


def lines(dialogues: Sequence[Iterable[Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """A line of our JSONL a turn, out of what each turn says."""
    for number, turns in enumerate(dialogues):
        for t, said in enumerate(turns):
            yield {"dialogue_id": f"d{number}", "turn_id": t, **said}


def mapped(corpus: Corpus, ref: Any = None, pred: Any = None) -> Corpus:
    """The corpus with each value put through a function (slot, value) -> value of its side."""

    def put(state: State, rewrite: Any) -> State:
        return {s: rewrite(s, v) for s, v in state.items()} if rewrite else state

    return [[(put(b, ref), put(p, pred)) for b, p in turns] for turns in corpus]


def engine(dialogues: Sequence[Any], protocol: str, wanted: Sequence[str], **options: Any) -> dict[str, float]:
    """The scores that are asked for, of dialogues of (reference, prediction)."""
    result = dsteval.evaluate(*sides(dialogues), metrics=wanted, protocol=protocol, **options)
    return scores(result, wanted)


def scores(result: dsteval.Result, wanted: Sequence[str]) -> dict[str, float]:
    found = {metric: result[metric].value for metric in wanted}
    assert all(value is not None and 0 < value < 1 for value in found.values()), found
    return {metric: value for metric, value in found.items() if value is not None}


def near(expected: dict[str, float]) -> Any:
    return pytest.approx(expected, abs=1e-12, rel=0)
