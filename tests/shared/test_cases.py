"""Small made inputs, each with the one right answer, worked out by hand."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import run
from dsteval.analysis.explanation import explain
from shared.figures import assert_ends, domain_scores

pytestmark = pytest.mark.shared

CASES = [
    "01-worked-example",
    "02-hyphen-in-value",
    "03-fga-distance-and-recovery",
    "04-micro-macro-and-per-domain",
    "05-none-in-gold",
    "06-dontcare-is-not-none",
    "07-value-normalisation-profile",
    "12-alternatives-any-of",
    "13-slot-name-spellings",
    "14-turn-updates-not-states",
]

NAMES = {
    "jga": "JGA",
    "jga_dialogue_macro": "JGA(average=dialogue)",
    "slot_accuracy": "SlotAccuracy",
    "aga": "AGA",
    "precision": "SlotPrecision",
    "recall": "SlotRecall",
    "f1": "SlotF1",
    "f1_turn_macro": "TurnF1",
    **{f"fga_{number}": f"FGA@{float(number):g}" for number in ("0.25", "0.5", "0.75", "1.0")},
}

# What a case calls an option that is not the default, and how it is asked for here.
OPTIONS: dict[str, dict[str, Any]] = {
    "dontcare_ignored": {"settings": ["states.dontcare=drop"]},
    "literal": {"settings": ["states.dontcare=literal", "states.normalise=[]"]},
    "normalised": {"protocol": "normalised"},
    "as_states": {"updates": False},
}


def read(shared: Path, name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((shared / f"cases/{name}.json").read_bytes())
    return case


def score(case: dict[str, Any], keys: list[str], **options: Any) -> dsteval.Result:
    options = {"updates": case["pred_format"] == "updates", **options}
    wanted = [NAMES[key] for key in keys if key in NAMES]
    return dsteval.evaluate(case["gold"], case["pred"], metrics=wanted, **options)


def assert_expected(result: dsteval.Result, expected: dict[str, float | None]) -> None:
    for key, value in expected.items():
        found = result[NAMES[key]].value
        if value is None:
            assert found is None, key
        else:
            assert found is not None, key
            assert abs(found - value) <= 1e-12, key


@pytest.mark.parametrize("name", CASES)
def test_default(shared: Path, name: str) -> None:
    case = read(shared, name)
    expected = dict(case["expect"])
    turns = sum(map(len, case["gold"].values()))
    result = score(case, [*expected])
    assert (result.coverage.scored_turns, result.n_slots) == (turns, 30)
    assert expected.pop("turns", turns) == turns
    assert_expected(result, {key: value for key, value in expected.items() if "[" not in key})
    assert_ends(case["gold"], case["pred"], updates=case["pred_format"] == "updates")


@pytest.mark.parametrize("name", CASES)
def test_expressions_behind_the_numbers(shared: Path, name: str) -> None:
    case = read(shared, name)
    for key, text in case["exact"].items():
        if isinstance(text, str):
            worked = eval(text, {"__builtins__": {}, "Fr": Fraction, "e": math.exp})
            assert abs(float(worked) - case["expect"][key]) <= 1e-12, key


@pytest.mark.parametrize("name", CASES)
def test_named_options(shared: Path, name: str) -> None:
    case = read(shared, name)
    for option, expected in case.get("expect_if", {}).items():
        assert_expected(score(case, [*expected], **OPTIONS[option]), expected)


def test_hyphen_in_a_value_where_slots_are_cut_at_the_last(shared: Path) -> None:
    case = read(shared, "02-hyphen-in-value")
    for options in ({"metrics": ["SlotAccuracy(split=last)"]}, {"metrics": ["SlotAccuracy"], "protocol": "gca"}):
        (found,) = dsteval.evaluate(case["gold"], case["pred"], **options).scores
        assert (found.count, found.total) == (58, 60)


def test_markers_of_absence_kept_as_values(shared: Path) -> None:
    case = read(shared, "05-none-in-gold")
    assert score(case, ["jga"], settings=["states.absent=[]"])["JGA"].value == 0
    assert score(case, ["jga"], protocol="fga-official")["JGA"].value == 0


@pytest.mark.parametrize("domain", ["hotel", "restaurant"])
def test_three_conventions_of_a_domain(shared: Path, domain: str) -> None:
    case = read(shared, "04-micro-macro-and-per-domain")
    result = dsteval.evaluate(case["gold"], case["pred"], metrics=["JGA"], by=["domain"])
    names = {"active": "turns_with_gold", "dialogue": "dialogues_with_domain", "all": "all_turns"}
    found = {f"jga[{domain}|{names[key]}]": value for key, value in domain_scores(result, domain).items()}
    assert found == {key: value for key, value in case["expect"].items() if key.startswith(f"jga[{domain}|")}
    assert len(found) == 3


@pytest.mark.parametrize(
    ("name", "dialogue", "error_turns"),
    [
        ("01-worked-example", "MUL9001", [None, None, 2, 2, 4, 4]),
        ("03-fga-distance-and-recovery", "MUL9003", [None, 1, 1, 1, None, 5, 5, 5]),
        ("04-micro-macro-and-per-domain", "MUL9042", [None, 1, 1, 3]),
        ("12-alternatives-any-of", "MUL9012", [None, 1, 1, None]),
        ("14-turn-updates-not-states", "MUL9014", [None, None, 2, 2, 2]),
    ],
)
def test_where_each_error_began(shared: Path, name: str, dialogue: str, error_turns: list[int | None]) -> None:
    case = read(shared, name)
    explained = explain(case["gold"], case["pred"], dialogue, updates=case["pred_format"] == "updates")
    assert [turn.error_turn for turn in explained.turns] == error_turns
    for turn, start in zip(explained.turns, error_turns, strict=True):
        weight = 1.0 if start is None else 1 - math.exp(-0.5 * (turn.turn - start))
        assert abs(turn.weight - weight) <= 1e-12


@pytest.mark.parametrize(
    ("name", "arguments", "option"),
    [
        ("01-worked-example", [], ""),
        ("06-dontcare-is-not-none", [], ""),
        ("06-dontcare-is-not-none", ["--set", "states.dontcare=drop"], "dontcare_ignored"),
        ("12-alternatives-any-of", [], ""),
        ("13-slot-name-spellings", [], ""),
        ("14-turn-updates-not-states", ["--updates"], ""),
        ("14-turn-updates-not-states", [], "as_states"),
    ],
)
def test_on_the_command_line(shared: Path, tmp_path: Path, name: str, arguments: list[str], option: str) -> None:
    case = read(shared, name)
    expected = case["expect_if"][option] if option else case["expect"]
    expected = {NAMES[key]: value for key, value in expected.items() if key in NAMES}
    for side in ("gold", "pred"):
        (tmp_path / f"{side}.json").write_text(json.dumps(case[side]), encoding="utf-8")
    asked = [part for metric in expected for part in ("--metric", metric)]
    files = [str(tmp_path / "pred.json"), "--ref", str(tmp_path / "gold.json")]
    ran = run("score", *files, *arguments, *asked, "--as", "json")
    assert ran.code == 0
    scores = json.loads(ran.out)["systems"][0]["scores"]
    assert [entry["metric"] for entry in scores] == [*expected]
    for entry in scores:
        assert abs(entry["value"] - expected[entry["metric"]]) <= 1e-12
        assert ("input:updates" in entry["signature"]) == ("--updates" in arguments)
