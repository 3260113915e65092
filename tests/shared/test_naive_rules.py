"""The naive rules on the SOM-DST sample."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import naive_files
import naive_rules as rules
from naive_files import Corpus

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def sample(shared: Path) -> Corpus:
    return naive_files.somdst(shared)


def per_cent(value: float) -> float:
    return round(100 * value, 2)


def fits(rule: dict[str, Any], slot: str, value: str) -> bool:
    return any(
        slot == when.get("slot_is", slot)
        and when.get("slot_contains", "") in slot
        and value in when.get("value_in", [value])
        and value.startswith(when.get("value_starts_with", ""))
        and when.get("value_contains", "") in value
        for when in rule["when"]
    )


def rewriting(table: dict[str, Any], by_value: bool) -> Callable[[str, str], str]:
    """Run a cleaning table of SimpleTOD's family; FnCTOD's predictions go through the general map."""
    steps = {rule["step"]: rule for rule in table["rules"]}
    first_fit = [rule for step, rule in steps.items() if re.fullmatch(r"J\d+", step)]

    def rewrite(slot: str, value: str) -> str:
        if by_value:
            value = steps["G"]["map"].get(value, value)
        rule = next((rule for rule in first_fit if fits(rule, slot, value)), dict[str, Any]())
        value = value[4:] if "do" in rule else rule.get("map", {}).get(value, rule.get("to", value))
        if "JW" in steps:
            value = re.sub(r"(\w+)\s('s\s\w+)", r"\1\2", value)
        value = "none" if fits(steps["JZ"], slot, value) else value
        for entry in steps.get("N", {"list": []})["list"]:
            value = entry["to"] if value in entry["from"] and "dead" not in entry else value
        return value

    return rewrite


def table(shared: Path, name: str) -> dict[str, Any]:
    path = shared / f"tables/{name}.json"
    if not path.is_file():
        pytest.skip(f"the folder of real data lacks tables/{name}.json")
    found: dict[str, Any] = naive_files.load(path)
    return found


def updates(corpus: Corpus, deletions: bool) -> Corpus:
    """Each prediction as what it changed; a slot that is gone may be said to be deleted."""
    changed = []
    for dialogue in corpus:
        before: rules.State = {}
        turns = []
        for ref, pred in dialogue:
            update = {slot: value for slot, value in pred.items() if before.get(slot) != value}
            gone = dict.fromkeys(before.keys() - pred.keys(), "[DELETE]") if deletions else {}
            turns.append((ref, update | gone))
            before = pred
        changed.append(turns)
    return changed


def test_simpletod(shared: Path, sample: Corpus) -> None:
    rewrite = rewriting(table(shared, "simpletod_cleaning"), by_value=False)
    found = [
        per_cent(rules.simpletod(sample, dropped, rewrite, forgiving))
        for dropped in (rules.SIMPLETOD_V1, rules.SIMPLETOD, rules.UBAR)
        for forgiving in (False, True)
    ]
    assert found == [52.73, 53.26, 49.93, 50.47, 49.93, 50.47]


@pytest.mark.parametrize(("dontcare", "jga", "hotel"), [(True, 49.93, 64.53), (False, 48.60, 60.24)])
def test_fnctod(shared: Path, sample: Corpus, dontcare: bool, jga: float, hotel: float) -> None:
    cleaning = table(shared, "fnctod_cleaning")
    sides = rewriting(cleaning, by_value=False), rewriting(cleaning, by_value=True)
    assert per_cent(rules.fnctod(rules.fnctod_turns(sample, *sides, dontcare=dontcare))["jga"]) == jga
    stays = [d for d in sample if any(slot.startswith("hotel-") for ref, _ in d for slot in ref)]
    assert per_cent(rules.fnctod_domain(rules.fnctod_turns(stays, *sides, dontcare=dontcare), "hotel")) == hotel


def test_icdst_merges_to_the_states(sample: Corpus) -> None:
    assert per_cent(rules.icdst(updates(sample, deletions=True))) == 49.93
    assert per_cent(rules.icdst(updates(sample, deletions=False))) == 50.20
    assert per_cent(rules.icdst(updates(sample, deletions=True), gold_context=True)) == 79.23


def test_prompting_never_deletes(sample: Corpus) -> None:
    assert per_cent(rules.prompting(updates(sample, deletions=False))) == 50.20


def test_trippy(shared: Path, sample: Corpus) -> None:
    labels = naive_files.load(shared / "data/fga/trippy_label_variants.json")
    slots, variants = [*{s for d in sample for turn in d for state in turn for s in state}], labels["label_maps"]
    assert per_cent(rules.trippy_states(sample, {})) == 49.93
    assert per_cent(rules.trippy_states(sample, variants)) == 50.07
    found = {}
    for kind, mark in (("copy_value", ""), ("inform", rules.MARK)):
        guesses = [
            [(ref, {slot: (kind, mark + value) for slot, value in update.items()}) for ref, update in dialogue]
            for dialogue in updates(sample, deletions=False)
        ]
        found[kind] = per_cent(rules.trippy(guesses, slots, variants))
    assert found == {"copy_value": 50.33, "inform": 51.13}
