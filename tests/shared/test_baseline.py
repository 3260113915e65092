"""The baseline on real data: coarse floors here; run as a script, this file prints the tables of docs/track.md.

PYTHONPATH=src:tests python tests/shared/test_baseline.py FOLDER
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval import Dialogue, Turn, readers
from dsteval.readers import Source
from dsteval.track.baseline.lexicon import lexicon_from_states
from dsteval.track.baseline.tracker import RULES, Baseline, states_of
from dsteval.values.slots import canonical

pytestmark = pytest.mark.shared

METRICS = ["JGA", "SlotF1", "FGA@0.5"]
States = dict[str, list[dict[str, str]]]
Ontology = dict[str, Counter[str]]


def multiwoz_ontology(shared: Path) -> Ontology:
    """Values of MultiWOZ 2.1 dev and of STAR's train split.

    Dev counts tenfold, as STAR respelled its labels and the test labels are spelled like dev's.
    """
    found = lexicon_from_states(states_of(shared / "data/multiwoz21/star_relabelled_tsv.zip/train"))
    for slot, values in lexicon_from_states(states_of(shared / "data/multiwoz21/val.json.zip")).items():
        if not slot.startswith(("hospital", "police", "bus")):
            found.setdefault(slot, Counter()).update({value: 10 * count for value, count in values.items()})
    return found


def sgd_schema(shared: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared / "data/sgd/dev/schema.json").read_text())
    return found


def possible_values(schema: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {
        f"{service['service_name']}-{slot['name']}": slot["possible_values"]
        for service in schema
        for slot in service["slots"]
    }


def read(path: Path) -> list[Dialogue]:
    return [*readers.read(Source.open(str(path)), "ref")]


class StringMatch:
    """Each slot has the longest of its values that the user said, whatever the domain."""

    def __init__(self, values: Mapping[str, Iterable[str]]) -> None:
        words: dict[str, list[str]] = {}
        for slot, texts in values.items():
            for text in texts:
                words.setdefault(text.casefold(), []).append(slot)
        self.slots = words
        self.pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b")
        self.state: dict[str, str] = {}

    def reset(self, dialogue_id: str | None = None) -> None:
        self.state = {}

    def update(self, system: str, user: str) -> dict[str, str]:
        for found in self.pattern.findall(user.casefold()):
            for slot in self.slots[found]:
                self.state[slot] = found
        return dict(self.state)


class Nothing:
    """Says nothing."""

    def reset(self, dialogue_id: str | None = None) -> None:
        """Nothing to forget."""

    def update(self, system: str, user: str) -> dict[str, str]:
        return {}


Tracker = Baseline | StringMatch | Nothing


def tracked(tracker: Tracker, dialogues: list[Dialogue]) -> States:
    found = {}
    for dialogue in dialogues:
        tracker.reset(dialogue.id)
        found[dialogue.id] = [tracker.update(turn.system or "", turn.user or "") for turn in dialogue.turns]
    return found


def scored(tracker: Tracker, dialogues: list[Dialogue], ci: float | None = None) -> dsteval.Result:
    return dsteval.evaluate(dialogues, tracked(tracker, dialogues), metrics=METRICS, ci=ci)


@pytest.fixture(scope="module")
def multiwoz_test(shared: Path) -> list[Dialogue]:
    return read(shared / "data/multiwoz21/test.json.zip")


@pytest.fixture(scope="module")
def ontology(shared: Path) -> Ontology:
    return multiwoz_ontology(shared)


def jga(tracker: Tracker, dialogues: list[Dialogue]) -> float:
    value = scored(tracker, dialogues)["JGA"].value
    assert value is not None
    return value


def test_multiwoz_far_above_nothing_and_above_string_match(
    multiwoz_test: list[Dialogue], ontology: Ontology
) -> None:
    nothing, match = (jga(one, multiwoz_test) for one in (Nothing(), StringMatch(ontology)))
    started = time.process_time()
    found = jga(Baseline(train=ontology), multiwoz_test)
    assert found > 0.40
    assert found > match + 0.2
    assert found > nothing + 0.2
    assert time.process_time() - started < 3 * len(multiwoz_test) * 7.4 / 1000


@pytest.mark.parametrize("group", ["values", "numbers", "times", "days", "travel", "domains"])
def test_each_large_group_of_rules_is_worth_something(
    group: str, multiwoz_test: list[Dialogue], ontology: Ontology
) -> None:
    some = multiwoz_test[::4]
    assert (
        jga(Baseline(train=ontology, rules={*RULES} - {group}), some) < jga(Baseline(train=ontology), some) - 0.01
    )


def test_sgd_by_the_schema_alone(shared: Path) -> None:
    dialogues, schema = read(shared / "data/sgd/dev"), sgd_schema(shared)
    match = jga(StringMatch(possible_values(schema)), dialogues)
    assert jga(Baseline(schema=schema), dialogues) > max(0.2, match + 0.1, jga(Nothing(), dialogues) + 0.1)


def table(name: str, dialogues: list[Dialogue], make: Callable[[set[str]], Baseline], match: StringMatch) -> None:
    rows: list[tuple[str, Tracker]] = [("nothing", make({*RULES}))]
    rows += [(group, make({*RULES} - {group})) for group in RULES]
    rows += [("string match", match), ("no prediction", Nothing())]
    print(f"\n{name}\n{'left out':16}{''.join(f'{metric:22}' for metric in METRICS)}seconds")
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    for label, tracker in rows:
        started = time.process_time()
        found = tracked(tracker, dialogues)
        seconds = 1000 * (time.process_time() - started) / turns
        result = dsteval.evaluate(dialogues, found, metrics=METRICS, ci=0.95)
        cells = []
        for metric in METRICS:
            score = result[metric]
            assert score.value is not None
            low, high = (100 * (end or 0.0) for end in (score.low, score.high))
            cells.append(f"{100 * score.value:.2f} [{low:.2f}\u2013{high:.2f}]")
        print(f"{label:16}{''.join(f'{cell:22}' for cell in cells)}{seconds:.2f}")


OBSTACLES: dict[str, Callable[[str, str, str], bool]] = {
    "names of hotels, restaurants, attractions": lambda slot, value, ref: slot.endswith("-name"),
    "hotel-type": lambda slot, value, ref: slot == "hotel-type",
    "attraction-type": lambda slot, value, ref: slot == "attraction-type",
    "restaurant-food": lambda slot, value, ref: slot == "restaurant-food",
    "area, price range, stars": lambda slot, value, ref: slot.endswith(("area", "pricerange", "stars")),
    "parking, internet": lambda slot, value, ref: slot.endswith(("parking", "internet")),
    "day, people, stay, time of a booking": lambda slot, value, ref: "-book " in slot,
    "taxi": lambda slot, value, ref: slot.startswith("taxi"),
    "train times": lambda slot, value, ref: slot in ("train-leaveat", "train-arriveby"),
    "train places and day": lambda slot, value, ref: slot in ("train-departure", "train-destination", "train-day"),
    "dontcare on either side": lambda slot, value, ref: "dontcare" in (value, ref),
    "predicted and not labelled, any slot": lambda slot, value, ref: bool(value) and not ref,
    "labelled and not predicted, any slot": lambda slot, value, ref: bool(ref) and not value,
    "another value than labelled, any slot": lambda slot, value, ref: bool(ref) and bool(value),
}
"""Kinds of errors: whether one in this slot, with this value and this label, is of the kind."""


def obstacles(tracker: Baseline, dialogues: list[Dialogue]) -> None:
    """Print by how much JGA rises where all errors of one kind are put right."""
    found = tracked(tracker, dialogues)
    print(f"\n{'corrected':41}{'JGA':>8}{'states':>9}")
    for kind, belongs in OBSTACLES.items():
        mended: States = {}
        touched = 0
        for dialogue in dialogues:
            mended[dialogue.id] = []
            for turn, state in zip(dialogue.turns, found[dialogue.id], strict=True):
                ref = states(turn)
                changed = {
                    slot: ref.get(slot, "")
                    for slot in {*ref, *state}
                    if state.get(slot, "") not in (ref.get(slot, ""), *re.split(r"[|>]", ref.get(slot, "")))
                    and belongs(slot, state.get(slot, ""), ref.get(slot, ""))
                }
                touched += bool(changed)
                mended[dialogue.id].append({slot: value for slot, value in (state | changed).items() if value})
        value = dsteval.evaluate(dialogues, mended, metrics=["JGA"])["JGA"].value
        assert value is not None
        print(f"{kind:41}{100 * value:8.2f}{touched:9}")


def states(turn: Turn) -> dict[str, str]:
    return {
        canonical(slot): value.casefold()
        for slot, value in turn.ref or ()
        if isinstance(value, str) and value not in ("", "none", "not mentioned")
    }


def main(shared: Path) -> None:
    found = multiwoz_ontology(shared)
    for name, part in (("MultiWOZ 2.1 dev", "val"), ("MultiWOZ 2.1 test", "test")):
        dialogues = read(shared / f"data/multiwoz21/{part}.json.zip")
        table(name, dialogues, lambda rules: Baseline(train=found, rules=rules), StringMatch(found))
    obstacles(Baseline(train=found), dialogues)
    bundled = scored(Baseline(), dialogues)
    print("\nbundled lexicon, MultiWOZ 2.1 test:", [(name, bundled[name].value) for name in METRICS])
    schema = sgd_schema(shared)
    table(
        "SGD dev",
        read(shared / "data/sgd/dev"),
        lambda rules: Baseline(schema=schema, rules=rules),
        StringMatch(possible_values(schema)),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
