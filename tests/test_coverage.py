"""What is scored where the two sides differ in dialogues, turns or ids, and how it is told."""

import json
from pathlib import Path

import pytest

import dsteval
from dsteval import readers
from dsteval.readers import Source
from native import FORMATS, counted, done, files, refusal, system, written

NORTH = {"hotel-area": "north"}
EAST = {"hotel-area": "east"}


def states(**lengths: int) -> dict[str, list[dict[str, str]]]:
    return {name: [dict(NORTH) for _ in range(length)] for name, length in lengths.items()}


def keyed(dialogues: dict[str, list[int]]) -> dict[str, dict[str, dict[str, str]]]:
    return {name: {str(key): dict(NORTH) for key in keys} for name, keys in dialogues.items()}


# A reference of ten turns, and predictions that lack the dialogues c and d of three and four.
REF, SHORT = states(a=1, b=2, c=3, d=4), states(b=2, a=1)


def test_missing_dialogues_are_an_error(tmp_path: Path) -> None:
    said = refusal(*files(tmp_path, REF, SHORT))
    assert said == (
        "pred.json: 2 of 4 reference dialogues have no "
        "prediction (c, d). Check that both are from the same split, or score the missing ones as empty with "
        "--missing empty, or leave them out with --missing skip."
    )
    assert refusal(*files(tmp_path, REF, SHORT), "--missing", "error") == said
    many = {**REF, **states(e=1, f=1)}
    assert "4 of 6 reference dialogues have no prediction (first: c, d, e)" in refusal(
        *files(tmp_path, many, SHORT)
    )


def test_missing_dialogues_scored_as_empty(tmp_path: Path) -> None:
    arguments = [*files(tmp_path, REF, SHORT), "--missing", "empty"]
    found = system(*arguments)
    assert counted(found) == (3, 10)
    assert found["coverage"] == {
        "ref_dialogues": 4,
        "scored_dialogues": 4,
        "ref_turns": 10,
        "scored_turns": 10,
        "missing": ["c", "d"],
        "extra": [],
        "left_out": [],
    }
    assert "|turns:10/10|" in found["scores"][0]["signature"]
    assert "|missing:empty|" in found["scores"][0]["signature"]
    assert "2 dialogues without prediction scored as empty (c, d)" in done(*arguments).out
    assert "2 dialogues without prediction scored as empty (c, d)" in found["notes"]


def test_an_empty_reference_turn_is_right_where_nothing_was_predicted(tmp_path: Path) -> None:
    ref = {"a": [NORTH], "b": [{}, NORTH]}
    found = system(*files(tmp_path, ref, states(a=1)), "--missing", "empty")
    assert counted(found) == (2, 3)


def test_missing_dialogues_left_out(tmp_path: Path) -> None:
    arguments = [*files(tmp_path, REF, SHORT), "--missing", "skip"]
    found = system(*arguments)
    assert counted(found) == (3, 3)
    assert found["coverage"]["missing"] == ["c", "d"]
    assert (found["coverage"]["scored_dialogues"], found["coverage"]["scored_turns"]) == (2, 3)
    assert (found["coverage"]["ref_dialogues"], found["coverage"]["ref_turns"]) == (4, 10)
    assert "|turns:3/10|" in found["scores"][0]["signature"]
    assert "|missing:skip|" in found["scores"][0]["signature"]
    text = done(*arguments).out
    assert "2 dialogues without prediction left out (c, d)" in text
    assert "2 of 4 dialogues, 3 of 10 turns" in text


def test_extra_dialogues(tmp_path: Path) -> None:
    arguments = files(tmp_path, REF, {**REF, **states(x=1, y=2)})
    said = refusal(*arguments)
    assert "2 of 6 predicted" in said
    assert "are not in the reference (x, y)" in said
    assert "ignore the extra ones with --extra ignore" in said
    # --missing is about one side only.
    assert refusal(*arguments, "--missing", "skip") == said
    found = system(*arguments, "--extra", "ignore")
    assert counted(found) == (10, 10)
    assert found["coverage"]["extra"] == ["x", "y"]
    assert "|extra:ignore|" in found["scores"][0]["signature"]
    assert "missing:" not in found["scores"][0]["signature"]
    assert "without reference ignored (x, y)" in done(*arguments, "--extra", "ignore").out


def test_missing_and_extra_at_once(tmp_path: Path) -> None:
    arguments = files(tmp_path, REF, {**SHORT, **states(x=1)})
    said = refusal(*arguments)
    assert "2 of 4 reference dialogues have no prediction (c, d) and 1 of 3 predicted" in said
    one = refusal(*arguments, "--missing", "empty")
    assert "1 of 3 predicted" in one
    assert "are not in the reference (x)" in one
    assert "2 of 4 reference dialogues" in refusal(*arguments, "--extra", "ignore")
    found = system(*arguments, "--extra", "ignore", "--missing", "empty")
    assert counted(found) == (3, 10)
    signature = found["scores"][0]["signature"]
    assert "|missing:empty|extra:ignore|" in signature


@pytest.mark.parametrize(("option", "near"), [("--missing", "empty"), ("--extra", "ignore")])
def test_unknown_policy(option: str, near: str, tmp_path: Path) -> None:
    said = refusal(*files(tmp_path, REF, REF), option, near[:-1])
    assert said.startswith(f"Unknown value of {option} {near[:-1]!r}. Did you mean {near!r}?")
    with pytest.raises(dsteval.DstevalError, match=f"Did you mean '{near}'"):
        dsteval.evaluate(REF, REF, **{option[2:]: near[:-1]})  # type: ignore[arg-type]


def test_turn_counts_that_differ(tmp_path: Path) -> None:
    ref, pred = states(MUL0001=3, MUL0002=2, MUL0003=1), states(MUL0001=2, MUL0002=3, MUL0003=1)
    said = refusal(*files(tmp_path, ref, pred))
    assert "MUL0001: reference 3 turns, predicted 2; MUL0002: reference 2 turns, predicted 3" in said
    assert "(2 of 3 dialogues)" in said
    arguments = [*files(tmp_path, ref, pred), "--missing", "skip"]
    found = system(*arguments)
    assert counted(found) == (1, 1)
    assert found["coverage"]["left_out"] == ["MUL0001", "MUL0002"]
    text = done(*arguments).out
    assert "left out (MUL0001: reference 3 turns, predicted 2, MUL0002: reference 2 turns, predicted 3)" in text


def test_missing_turns_of_predictions_with_turn_keys(tmp_path: Path) -> None:
    ref = {"a": [NORTH, NORTH, {}, NORTH, NORTH], "b": [NORTH]}
    pred = keyed({"a": [0, 1, 4], "b": [0]})
    assert "a: reference 5 turns, predicted 3" in refusal(*files(tmp_path, ref, pred))
    arguments = [*files(tmp_path, ref, pred), "--missing", "empty"]
    found = system(*arguments)
    # Turn 2 is empty on both sides now, turn 3 lacks its slot; turn 4 is the prediction's own.
    assert counted(found) == (5, 6)
    assert found["coverage"]["scored_turns"] == 6
    assert "missing turns scored as empty (a: reference 5 turns, predicted 3)" in done(*arguments).out


def test_a_filled_turn_is_empty_where_predictions_have_frames(tmp_path: Path) -> None:
    both = json.loads((FORMATS / "sgd/dev/dialogues_001.json").read_text())
    lines = done("convert", FORMATS / "sgd/dev", "-").out.splitlines()
    ref = written(tmp_path / "ref.json", json.dumps(both))
    pred = written(tmp_path / "pred.jsonl", lines[0] + "\n" + lines[2] + "\n" + lines[3] + "\n")
    found = system("score", str(pred), "--ref", str(ref), "--metric", "SlotRecall", "--missing", "empty")
    # Of 9_00001 turn 1 is missing: the hotel's area of turn 0 is not to be carried into an empty state.
    assert counted(found) == (2, 4)


@pytest.mark.parametrize(
    "path", ["mwzeval/predictions.json", "dsteval-json/states.json", "sgd/by_id.json", "sgd/dev", "multiwoz"]
)
def test_turns_whose_position_is_their_number_are_not_filled(path: str) -> None:
    # A turn that is missing in the middle would shift all that follow, and nothing would tell.
    assert not any(dialogue.keyed for dialogue in readers.read(Source.open(FORMATS / path), "pred"))


def test_position_keyed_predictions_are_refused_under_empty(tmp_path: Path) -> None:
    said = refusal(*files(tmp_path, states(a=3), states(a=2)), "--missing", "empty")
    assert "a: reference 3 turns, predicted 2 (1 of 1 dialogues)" in said
    assert "--missing skip" in said
    turn = {"speaker": "USER", "utterance": "", "frames": [{"service": "h", "state": {"slot_values": {"a": "b"}}}]}
    sgd = [{"dialogue_id": "a", "services": ["h"], "turns": [turn] * 2}]
    ref = {"a": [{"h-a": "b"}] * 3}
    assert "a: reference 3 turns, predicted 2" in refusal(*files(tmp_path, ref, sgd), "--missing", "empty")


@pytest.mark.parametrize("keys", [[0, 2], [0, 2, 4], [1, 2, 3, 4, 5], [0, 1, 2, 3, 7]])
def test_turn_keys_that_could_mean_two_things_are_not_filled(keys: list[int], tmp_path: Path) -> None:
    # 0, 2 of five turns: utterances 0 and 2, or the turns 0 and 2?
    assert "a" in refusal(*files(tmp_path, states(a=5), keyed({"a": keys})), "--missing", "empty")


@pytest.mark.parametrize("keys", [[0, 1, 3], [1, 2, 3], [0, 2, 6], [3]])
def test_gaps(keys: list[int], tmp_path: Path) -> None:
    ref = states(a=len(keys), b=1)
    said = refusal(*files(tmp_path, ref, keyed({"a": keys, "b": [0]})))
    assert (
        "dialogue 'a': expected turns numbered 0, 1, 2, ... (user turns) or 0, 2, 4, ... (all utterances)" in said
    )
    assert f"found {', '.join(map(str, keys))} (1 of 2 dialogues, a)" in said
    said = refusal(*files(tmp_path, keyed({"a": keys, "b": [0]}), ref))
    assert f"found {', '.join(map(str, keys))} (1 of 2 dialogues, a)" in said


def test_a_reference_with_gaps_asks_for_its_own_numbers(tmp_path: Path) -> None:
    som = FORMATS / "somdst/preds_0.json"
    pred = written(tmp_path / "p.json", json.dumps(states(MUL9001=3, PMUL9002=2)))
    said = refusal("score", pred, "--ref", som)
    # Not: expected 0, 1, 2, ..., found 0, 1, 2.
    assert "0, 1, 3" in said
    right = keyed({"MUL9001": [0, 1, 3], "PMUL9002": [0, 2]})
    done("score", written(tmp_path / "q.json", json.dumps(right)), "--ref", som)


@pytest.mark.parametrize(("pred", "ref"), [([0, 2, 4], [0, 1, 2]), ([4, 0, 2], [0, 2, 4]), ([0, 1, 2], [0, 2, 4])])
def test_numbers_of_utterances(pred: list[int], ref: list[int], tmp_path: Path) -> None:
    found = system(*files(tmp_path, keyed({"a": ref}), keyed({"a": pred})))
    assert counted(found) == (3, 3)


IDS = [
    (
        ["a/b/MUL1", "a/b/MUL2"],
        ["MUL1", "MUL2"],
        "the ids of the reference were compared without their folder names",
    ),
    (
        ["MUL1.json", "MUL2.json"],
        ["MUL1.json-0", "MUL2.json-0"],
        "the predictions were compared without the part after",
    ),
    (["MUL1", "MUL2"], ["MUL1_x", "MUL2_y"], "the predictions were compared without the part after the last '_'"),
    (
        ["MUL1", "MUL2"],
        ["test-MUL1", "test-MUL2"],
        "the predictions were compared without the part before the last '-'",
    ),
    (
        ["MUL1", "MUL2"],
        ["run_MUL1", "run_MUL2"],
        "the predictions were compared without the part before the last '_'",
    ),
    (["MUL0001", "PMUL0002"], ["1", "2"], "by digits only"),
    (["1_00001", "1_00002"], ["1-00001", "1-00002"], "They would match if all ids were compared by digits"),
    (["WOZ_a", "WOZ_b"], ["woz a", "woz b"], "all ids were compared by letters and digits only"),
    (["MUL1", "MUL2"], ["SNG7", "WOZ8"], "Check that both are from the same data set and split."),
]


@pytest.mark.parametrize(("ref", "pred", "advice"), IDS)
def test_ids_that_never_meet(ref: list[str], pred: list[str], advice: str, tmp_path: Path) -> None:
    said = refusal(*files(tmp_path, {name: [NORTH] for name in ref}, {name: [NORTH] for name in pred}))
    assert "none of the 2 predicted dialogues is in the reference" in said
    assert f"(reference {', '.join(ref)}; predictions {', '.join(pred)})" in said
    assert advice in said


def test_three_ids_of_each_side_are_shown(tmp_path: Path) -> None:
    ref, pred = ({f"{kind}{n}": [NORTH] for n in range(9)} for kind in ("ref", "pred"))
    said = refusal(*files(tmp_path, ref, pred))
    assert (
        "none of the 9 predicted dialogues is in the reference "
        "(reference ref0, ref1, ref2; predictions pred0, pred1, pred2)" in said
    )


@pytest.mark.parametrize("options", [["--missing", "empty"], ["--missing", "skip"], ["--extra", "ignore"]])
def test_ids_that_never_meet_are_told_whatever_the_policy(options: list[str], tmp_path: Path) -> None:
    arguments = files(tmp_path, states(MUL1=1), {"MUL1-0": [NORTH]})
    assert "without the part after the last '-'" in refusal(*arguments, *options)


@pytest.mark.parametrize("missing", ["empty", "skip"])
def test_nothing_in_common_is_never_a_zero(missing: str, tmp_path: Path) -> None:
    arguments = files(tmp_path, states(MUL1=1), {"MUL1-0": [NORTH]})
    said = refusal(*arguments, "--extra", "ignore", "--missing", missing)
    assert "without the part after the last '-'" in said


def test_ids_in_any_case_with_or_without_json(tmp_path: Path) -> None:
    ref = {"PMUL0001.json": [NORTH], "sng2": [NORTH], "Mul3.JSON": [NORTH]}
    pred = {"pmul0001": [NORTH], "SNG2.json": [NORTH], "MUL3": [EAST]}
    found = system(*files(tmp_path, ref, pred))
    assert counted(found) == (2, 3)
    said = refusal(*files(tmp_path, ref, {**pred, "pmul0001.json": [NORTH]}))
    assert "expected each dialogue once, found 'pmul0001.json' twice (ids are compared without .json" in said
