"""What ``compare`` leaves out and adds: common dialogues, baselines, pairs with some systems only."""

import pytest

import dsteval
from compare_samples import FEW, METRICS, REF, SYSTEMS, compared, results
from dsteval.analysis.baselines import BASELINES
from dsteval.analysis.comparison import compare
from dsteval.dialogue import Dialogue, Turn
from dsteval.errors import AlignmentError, OptionError


def test_common_dialogues() -> None:
    short = {name: turns for name, turns in SYSTEMS["fair"].items() if name not in ("d03", "d07")}
    uneven = {name: turns[:-1] if name == "d11" else turns for name, turns in SYSTEMS["poor"].items()}
    systems = {"good": SYSTEMS["good"], "fair": short, "poor": uneven}
    with pytest.raises(AlignmentError, match=r"fair lacks 2 \(d03, d07\); poor lacks 1 \(d11\) \(3 of 20"):
        compared(systems, missing="skip")
    found = compared(systems, common=True)
    kept = {name: turns for name, turns in REF.items() if name not in ("d03", "d07", "d11")}
    plain = compared({name: {key: pred[key] for key in kept} for name, pred in systems.items()}, kept)
    assert found.differences == plain.differences
    for one, other in zip(found.systems, plain.systems, strict=True):
        assert [score.value for score in one.scores] == [score.value for score in other.scores]
        assert one.coverage.scored_dialogues == 17 and one.coverage.ref_dialogues == 20
        assert "|common:17/20|ci:" in one.scores[0].signature
        turns = sum(map(len, kept.values()))
        assert f"|turns:{turns}/{sum(map(len, REF.values()))}|" in one.scores[0].signature
        assert one.notes[0] == found.notes[0]
    assert found.notes[0].startswith("COMMON DIALOGUES ONLY: 17 of 20 dialogues")
    assert "3 dialogues that some systems lack are left out (d03, d07, d11)" in found.notes[0]
    assert sorted(found.systems[0].coverage.left_out) == ["d03", "d07", "d11"]


def test_common_where_all_is_common() -> None:
    assert compared(common=True).differences == compared().differences
    assert compared(common=True).notes == ()


def test_nothing_in_common() -> None:
    names = list(REF)
    halves = {
        "a": {name: REF[name] for name in names[:10]},
        "b": {name: REF[name] for name in names[10:]},
    }
    with pytest.raises(AlignmentError, match="expected at least one dialogue that all systems have, found none"):
        compared(halves, common=True)


def test_baselines_take_part_in_nothing() -> None:
    plain, found = compared(), compared(baselines=["nothing", "before"])
    assert found.differences == plain.differences and found.systems == pytest.approx(found.systems)
    nothing, before = found.baselines
    assert (nothing.name, before.name) == (BASELINES["nothing"], BASELINES["before"])
    turns = sum(map(len, REF.values()))
    repeated = sum(a == b for states in REF.values() for a, b in zip([{}, *states], states, strict=False))
    assert (nothing["JGA"].count, nothing["JGA"].total) == (0, turns)
    assert (before["JGA"].count, before["JGA"].total) == (repeated, turns)
    assert nothing["SlotF1"].value == 0 and nothing["JGA"].low is None
    assert [one["name"] for one in found.to_dict()["baselines"]] == list(BASELINES.values())


def test_baselines_cover_what_is_compared() -> None:
    some = {name: {key: pred[key] for key in list(pred)[:9]} for name, pred in SYSTEMS.items()}
    found = compared(some, missing="skip", baselines=["before"])
    kept = {name: REF[name] for name in list(REF)[:9]}
    shifted = {name: [{}, *states[:-1]] for name, states in kept.items()}
    alone = dsteval.evaluate(kept, shifted, metrics=METRICS)
    assert [score.value for score in found.baselines[0].scores] == [score.value for score in alone.scores]
    assert found.baselines[0].coverage.scored_dialogues == 9


def test_baselines_of_other_forms_of_the_reference() -> None:
    dialogues = [
        Dialogue(name, [Turn(number, ref=[*state.items()]) for number, state in enumerate(states)])
        for name, states in REF.items()
    ]
    assert compared(ref=iter(dialogues), baselines=["before"]).baselines[0].scores == (
        compared(baselines=["before"]).baselines[0].scores
    )
    both = {
        name: [
            {"dialogue_id": key, "turn_id": turn, "ref": REF[key][turn], "pred": state}
            for key, states in pred.items()
            for turn, state in enumerate(states)
        ]
        for name, pred in SYSTEMS.items()
    }
    inside = compared(both, ref=None, baselines=["before"])
    assert [score.value for score in inside.baselines[0].scores] == [
        score.value for score in compared(baselines=["before"]).baselines[0].scores
    ]


def test_baselines_need_the_reference_of_the_systems() -> None:
    held = list(results().values())
    with pytest.raises(OptionError, match="baselines: expected the reference"):
        compare(held, baselines=["before"])
    with pytest.raises(AlignmentError, match="expected the same reference"):
        compare(held, {**REF, "d00": [{"hotel-area": "x"} for _ in REF["d00"]]}, baselines=["before"])


def test_against_makes_pairs_with_these_only() -> None:
    held = results()
    found = compare([held["good"], held["fair"]], against=[held["poor"]], **FEW)
    assert {(one.a, one.b) for one in found.differences} == {("good", "poor"), ("fair", "poor")}
    usual = compared()
    assert found["JGA", "good", "poor"].low == usual["JGA", "good", "poor"].low
    assert found.behind("JGA") == ["poor"]  # fair has no pair with the best
    assert len(compare([held["good"]], against=[held["poor"]]).systems) == 2
