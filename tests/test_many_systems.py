"""Many systems at once: tests that can tell them apart, one |S| for all, and saved results that nobody changed."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.analysis.comparison import compare
from dsteval.results.result import checksum

REF = {f"d{n}": [{"hotel-area": "north"}] for n in range(40)}


def system(right: int, seed: int) -> dict[str, list[dict[str, str]]]:
    """A system that is right in so many dialogues."""
    chosen = set(Random(seed).sample(sorted(REF), right))
    return {name: [{"hotel-area": "north" if name in chosen else "south"}] for name in REF}


MANY = {f"s{n}": system(36 - 2 * n, n) for n in range(12)}


def test_twelve_systems_can_be_told_apart() -> None:
    found = compare(MANY, REF, metrics=["JGA"])
    assert found.best("JGA") == ["s0"]
    assert {"s11", "s10", "s9", "s8"} <= set(found.behind("JGA"))
    assert "s1" not in found.behind("JGA")
    assert "tests use 26400 resamples, as needed for 66 pairs" in found.notes[0]
    few = compare({name: MANY[name] for name in ("s0", "s5", "s11")}, REF, metrics=["JGA"])
    assert few.notes == ()
    assert few["JGA", "s0", "s11"].p == 2 / 1001


@pytest.mark.parametrize("pairs", ["best", "s3"])
def test_pairs_with_one_system(pairs: str) -> None:
    found = compare(MANY, REF, metrics=["JGA"], pairs=pairs)
    jga = [one for one in found.differences if one.metric == "JGA"]
    name = "s0" if pairs == "best" else pairs
    assert len(jga) == 11
    assert {one.a for one in jga} == {name}
    with pytest.raises(dsteval.DstevalError, match=r"Unknown system in pairs=.nobody."):
        compare(MANY, REF, metrics=["JGA"], pairs="nobody")


def test_a_p_at_the_floor_is_printed_as_below_it(tmp_path: Path) -> None:
    paths = []
    for name, content in {"ref": REF, "a": system(39, 1), "b": system(3, 2)}.items():
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(content))
    ran = run("compare", *paths[1:], "--ref", paths[0], "--metric", "JGA")
    assert "<0.002" in ran.out


def test_invented_slots_make_one_list_for_all() -> None:
    states: dict[str, Any] = {
        "plain": REF,
        "inventive": {name: [{"hotel-area": "north", "hotel-colour": "red"}] for name in REF},
        "other": {name: [{"hotel-area": "north", "hotel-smell": "rose"}] for name in REF},
    }
    found = compare(states, REF, metrics=["SlotAccuracy"])
    assert {one.n_slots for one in found.systems} == {3}
    assert [round(one["SlotAccuracy"].value or 0, 4) for one in found.systems] == [1, 0.6667, 0.6667]
    assert "|S| = 3 for all systems" in found.notes[0]
    assert all("|S:3|" in one["SlotAccuracy"].signature for one in found.systems)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    for name, content in {"ref": REF, "pred": system(30, 1)}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    out = tmp_path / "saved.json"
    wanted = ["--metric", "JGA", "--metric", "FGA@0.5", "--metric", "SlotAccuracy"]
    assert run("score", tmp_path / "pred.json", "--ref", tmp_path / "ref.json", *wanted, "-o", out).code == 0
    return out


EDITS = [
    lambda system: system["scores"][0].update(value=0.99),
    lambda system: system["coverage"].update(scored_turns=39),
    lambda system: system["per_dialogue"]["turns"].__setitem__(0, 2),
    lambda system: system["per_dialogue"]["dialogues"].__setitem__(0, "d1"),
    lambda system: system["per_dialogue"].update(slots=12),
    lambda system: system["per_dialogue"]["counts"]["JGA"].__setitem__(0, [1, 0]),
    lambda system: system["per_dialogue"]["counts"]["JGA"].__setitem__(0, [1, 1, 1, 1]),
    lambda system: system["scores"][1].update(signature="x"),
]


@pytest.mark.parametrize("edit", range(len(EDITS)))
def test_a_saved_result_that_was_changed_is_refused(saved: Path, edit: int) -> None:
    held = json.loads(saved.read_text())
    EDITS[edit](held["systems"][0])
    saved.write_text(json.dumps(held))
    assert "with the checksum" in refusal(run("score", saved))


@pytest.mark.parametrize("edit", range(len(EDITS) - 1))
def test_a_saved_result_that_contradicts_itself_is_refused(saved: Path, edit: int) -> None:
    held = json.loads(saved.read_text())
    (system,) = held["systems"]
    before = json.dumps(system)
    EDITS[edit](system)
    assert json.dumps(system) != before
    system["checksum"] = checksum(system)
    saved.write_text(json.dumps(held))
    refusal(run("score", saved))


def test_another_order_of_keys_is_no_change(saved: Path) -> None:
    held = json.loads(saved.read_text())
    saved.write_text(json.dumps(held, sort_keys=True, indent=3))
    assert run("score", saved).code == 0


LINES: list[dict[str, Any]] = [
    {"dialogue_id": n, "turn_id": 0, "ref": {"hotel-area": "a"}, "pred": {"hotel-area": "a"}} for n in "abcd"
]


def part(names: str, **options: Any) -> dsteval.Result:
    own = [{**line, **options.pop("more", {})} for line in LINES if line["dialogue_id"] in names]
    return dsteval.evaluate(None, own, metrics=["JGA"], **options)


def test_a_merge_keeps_what_held_for_some_parts() -> None:
    forced = part("cd", more={"forced": True})
    for parts in ([part("ab"), forced], [forced, part("ab")]):
        assert "forced:ref-state" in dsteval.merge(parts)["JGA"].signature


def test_a_merge_of_other_settings_is_refused() -> None:
    one = part("ab", protocol="trippy", variants={"label_maps": {"a": ["b"]}, "class_types": ["none"]})
    two = part("cd", protocol="trippy", variants={"label_maps": {"a": ["c"]}, "class_types": ["none"]})
    with pytest.raises(dsteval.DstevalError, match="expected the same settings"):
        dsteval.merge([one, two])


def test_what_differs_is_told_before_metrics(saved: Path) -> None:
    ref, pred = saved.parent / "ref.json", saved.parent / "pred.json"
    told = refusal(run("compare", pred, "--ref", ref, "--against", saved, "--protocol", "trade"))
    assert "expected the same protocol, trade@2" in told


def test_common_and_protocols_are_refused_at_once(saved: Path) -> None:
    ref, pred = saved.parent / "ref.json", saved.parent / "pred.json"
    told = refusal(run("compare", pred, f"b={pred}", "--ref", ref, "--common", "--over", "protocols"))
    assert "--over protocols" in told


def test_counts_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsteval.metrics.counting.MOST_CELLS", 1000)
    wrong = [{"hotel-area": "south"}] * 60
    ref = {**REF, "long": [{"hotel-area": "north"}] * 60}
    pred: dict[str, list[dict[str, str]]] = {**REF, "long": wrong}
    with pytest.raises(dsteval.DstevalError, match="dialogue 'long': expected at most 1000 counts"):
        dsteval.evaluate(ref, pred, metrics=["FGA@0.5"])
