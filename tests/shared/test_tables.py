"""Every entry of the tables against the folder of facts, and the rules that real data can prove."""

import ast
import gzip
import json
import re
import zipfile
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from dsteval.values.slots import canonical
from dsteval.values.tables import table
from dsteval.values.tools import dstc10, trade_data
from dsteval.values.tools.fix_label import fix_label

pytestmark = pytest.mark.shared

KEYS = {"slot_is": "slot", "slot_contains": "slot_holds", "value_in": "values"}


def facts(shared: Path, name: str) -> dict[str, Any]:
    place = shared / f"tables/{name}.json"
    if not place.is_file():
        pytest.skip("the folder of real data has no tables")
    read: dict[str, Any] = json.loads(place.read_bytes())
    return read


def ours(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Steps of the facts as our tables spell them: one rule for each condition, the dead ones left out."""
    return [
        {KEYS[key]: value for key, value in when.items()}
        | {key: step[key] for key in ("to", "map") if key in step}
        for step in steps
        if "dead" not in step
        for when in step["when"]
    ]


def by_step(shared: Path, name: str) -> dict[Any, dict[str, Any]]:
    return {rule["step"]: rule for rule in facts(shared, name)["rules"]}


@pytest.mark.parametrize("scorer", ["trade", "somdst", "t5dst"])
def test_fix_label(shared: Path, scorer: str) -> None:
    rules = by_step(shared, f"{scorer}_fix_label")
    mine = table("fix_label")
    assert [*rules] == [*range(1, 10)]
    assert mine["general"] == rules[1]["map"]
    assert mine["first"] == ours([rules[step] for step in range(2, 9)])
    assert mine["last"] == ours([rules[9]])
    assert [*mine] == ["general", "first", "last"]


def test_simpletod(shared: Path) -> None:
    rules = by_step(shared, "simpletod_cleaning")
    mine = table("simpletod")
    assert [*rules] == ["G", "J1", "J2", "J3", "J4", "J5", "J6", "J7", "JZ"]
    assert "dead" in rules["G"]
    assert mine == {"first": ours([rules[f"J{step}"] for step in range(1, 8)]), "last": ours([rules["JZ"]])}


def test_fnctod(shared: Path) -> None:
    rules = by_step(shared, "fnctod_cleaning")
    mine, base = table("fnctod"), table("simpletod")
    assert table("fix_label")["general"] | mine["general"] == rules["G"]["map"]
    assert base["first"] + mine["first"] == ours([rules[f"J{step}"] for step in range(1, 9)])
    assert base["last"] == ours([rules["JZ"]])
    listed = [(one, entry["to"]) for entry in rules["N"]["list"] if "dead" not in entry for one in entry["from"]]
    assert [tuple(pair) for pair in mine["whole"]] == listed
    assert [*mine] == ["whole", "general", "first"]
    assert [*rules] == ["G", *(f"J{step}" for step in range(1, 11)), "JW", "JZ", "N"]


def test_mwzeval(shared: Path) -> None:
    read, mine = facts(shared, "mwzeval"), table("mwzeval")
    assert mine["rename"] == read["slot_name"][2]["map"]
    groups = {slot: group["procedure"] for group in read["slot_groups"] for slot in group["slots"]}
    assert mine["procedure"] == {slot: name for slot, name in groups.items() if slot != "*"}
    names = [
        rule["procedure"] + ("_begins" if rule["kind"].startswith("prefix") else "") for rule in read["rules"]
    ]
    assert {name: mine[name] for name in names} == {
        name: rule["map"] for name, rule in zip(names, read["rules"], strict=True)
    }
    assert mine.keys() == {"rename", "procedure", *names}


def test_typo_fix(shared: Path) -> None:
    read, mine = facts(shared, "icdst_typo_fix"), table("typo_fix")
    rules = {rule["step"]: rule for rule in read["rules"]}
    assert mine == {
        "entities": rules[5]["slots"],
        "prefixes": read["procedures"]["prefixes"],
        "suffixes": read["procedures"]["suffixes"],
        "inside": rules[2]["list"],
        "whole": rules[3]["list"],
        "only": {"2.1": rules[3]["only_2.1"], "2.4": rules[3]["only_2.4"]},
    }


def test_dstc10(shared: Path) -> None:
    read, mine = facts(shared, "dstc10_digits"), table("dstc10")
    assert mine == {"slots": read["slots"], "digits": read["rules"][0]["map"]}
    assert all(canonical(slot) == slot for slot in dstc10.slot_names())


def test_trade_data(shared: Path) -> None:
    assert table("trade_data") == {"words": facts(shared, "trade_create_data")["rules"][0]["list"]}


@pytest.fixture(scope="module")
def logs(shared: Path) -> dict[str, list[dict[str, Any]]]:
    with zipfile.ZipFile(shared / "data/multiwoz21/test.json.zip") as archive:
        dialogues = json.loads(archive.read("test.json"))
    return {name.removesuffix(".json"): dialogue["log"] for name, dialogue in dialogues.items()}


def test_dialogues_that_trade_leaves_out(logs: dict[str, list[dict[str, Any]]]) -> None:
    texts = {name: [turn["text"] for turn in log] for name, log in logs.items()}
    dropped = {name for name, said in texts.items() if trade_data.drops(said)}
    assert dropped == {"PMUL1455"}
    kept = [said for name, said in texts.items() if name not in dropped]
    assert (len(kept), sum(map(len, kept)) // 2) == (999, 7368)


def corrected(metadata: dict[str, Any]) -> dict[str, str]:
    """A state of MultiWOZ 2.1 as SOM-DST's files hold it: prepared like TRADE's, corrected, without none."""
    state = {}
    for domain in ("taxi", "restaurant", "hotel", "attraction", "train"):
        parts = metadata[domain]
        listed = {f"book {slot}": value for slot, value in parts["book"].items() if slot != "booked"}
        for slot, value in (listed | parts["semi"]).items():
            if value in ("", "not mentioned"):
                continue
            name = f"{domain}-{slot.lower()}"
            plain = "dontcare" if value in ("dont care", "don't care", "do not care") else value
            state[name] = fix_label(name, trade_data.normalise(plain))
    return {slot: value for slot, value in state.items() if value != "none"}


def test_references_of_somdst_follow_from_multiwoz(shared: Path, logs: dict[str, list[dict[str, Any]]]) -> None:
    turns = 0
    for file in (shared / "data/fga/somdst_100_dialogues").glob("*.txt"):
        log = logs[file.name.removesuffix(".json.txt")]
        printed = re.findall(r"^GT  : (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        for turn, text in enumerate(printed):
            read = ast.literal_eval(text.replace("{{}}", "{}"))
            ref = {canonical(f"{domain}-{slot}"): value for domain in read for slot, value in read[domain].items()}
            assert corrected(log[2 * turn + 1]["metadata"]) == ref
            turns += 1
    assert turns == 751


def flat(instance: dict[str, Any]) -> dict[str, list[str]]:
    return {
        f"{domain}-{'book ' if part == 'book' else ''}{slot}": values
        for domain, parts in instance.items()
        for part, slots in parts.items()
        for slot, values in slots.items()
    }


@pytest.mark.parametrize("team", ["A01", "A02", "A05"])
def test_official_scores_of_dstc10(shared: Path, team: str) -> None:
    place = shared / "data/dstc10"
    with gzip.open(place / "test_labels.json.gz") as file:
        wanted = [flat(instance) for instance in json.load(file)]
    with gzip.open(place / f"team{team}_entry0.json.gz") as file:
        given = [flat(instance) for instance in json.load(file)]
    official = json.loads((place / f"team{team}_entry0.scores.json").read_bytes())
    slots = dstc10.slot_names()
    pairs = [[(ref.get(slot), pred.get(slot)) for slot in slots] for ref, pred in zip(wanted, given, strict=True)]

    def right(ref: list[str] | None, pred: list[str] | None) -> bool:
        if ref is None or pred is None:
            return ref is pred
        return dstc10.list_score(ref, pred) == 1

    marks = [[right(*pair) for pair in turn] for turn in pairs]
    both = sum(dstc10.list_score(ref, pred) for ref, pred in chain(*pairs) if ref is not None and pred is not None)
    assert {
        "joint_goal_accuracy": sum(map(all, marks)) / len(marks),
        "accuracy": sum(map(sum, marks)) / len(marks) / len(slots),
        "prec": both / sum(pred is not None for _, pred in chain(*pairs)),
        "rec": both / sum(ref is not None for ref, _ in chain(*pairs)),
    } == pytest.approx(
        {
            "joint_goal_accuracy": official["joint_goal_accuracy"],
            "accuracy": official["slot"]["accuracy"],
            **{key: official["slot"]["value_prediction"][key] for key in ("prec", "rec")},
        },
        abs=1e-12,
    )
