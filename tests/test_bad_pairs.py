"""References and predictions that do not belong together, and files that a protocol cannot score."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.dialogue import Dialogue, Turn
from refusals import accepted, refused, written

BOTH = '{"d": {"0": {"gt": {}, "pr": {}}}}'


def states(**lengths: int) -> str:
    return json.dumps({name: [{}] * length for name, length in lengths.items()})


def keyed(*keys: str) -> str:
    return json.dumps({"d": {key: {} for key in keys}})


def test_dialogues_of_one_side_only(tmp_path: Path) -> None:
    said = refused(tmp_path, states(a=1, b=2), ref=states(a=1, b=2, c=1, d=1, e=1, f=1))
    assert "4 of 6 reference dialogues have no prediction (first: c, d, e)" in said
    assert "not in the reference" not in said
    said = refused(tmp_path, states(a=1, b=2, x=1), ref=states(a=1, b=2))
    assert "1 of 3 predicted dialogues are not in the reference (x)" in said
    assert "have no prediction" not in said
    said = refused(tmp_path, states(a=1, x=1), "Check that both are from the same split", ref=states(a=1, c=1))
    assert "1 of 2 reference dialogues have no prediction (c) and 1 of 2 predicted" in said


def test_numbers_of_turns_that_differ(tmp_path: Path) -> None:
    said = refused(tmp_path, states(a=1, b=2, c=9), ref=states(a=1, b=3, c=8))
    assert "the same number of turns in reference and predictions" in said
    assert "b: reference 3 turns, predicted 2; c: reference 8 turns, predicted 9 (2 of 3 dialogues)" in said


@pytest.mark.parametrize(
    "keys", [["1", "2"], ["0", "1", "3"], ["0", "2", "3"], ["0", "2", "6"], ["1", "3"], ["5"]]
)
def test_turns_with_gaps(tmp_path: Path, keys: list[str]) -> None:
    said = refused(tmp_path, keyed(*keys), "pred.json, dialogue 'd'", "0, 2, 4", ref=states(d=len(keys)))
    assert f"found {', '.join(keys)} (1 of 1 dialogues" in said
    refused(tmp_path, states(d=len(keys)), "dialogue 'd'", "0, 2, 4", ref=keyed(*keys))


@pytest.mark.parametrize("key", ["first", "-1", "1.0", "", "0x1", "\u00b2", "1e3", "None"])
def test_turn_keys_that_are_no_numbers(tmp_path: Path, key: str) -> None:
    content = json.dumps({"d": {"0": {}}, "e": {key: {}}})
    refused(tmp_path, content, "dialogue 'e'", "keyed by number", repr(key), ref=states(d=1, e=1))


def test_numbers_of_utterances_are_accepted(tmp_path: Path) -> None:
    for pred, ref in [
        (["0", "2", "4"], ["0", "1", "2"]),
        (["0", "1", "2"], ["4", "0", "2"]),
        (["2", "0"], ["0", "2"]),
    ]:
        assert accepted(tmp_path, keyed(*pred), keyed(*ref))["JGA"].total == len(pred)
    turns = {str(2 * n): {"gt": {"a": {"b": "c"}}, "pr": {}} for n in range(4)}
    for texts in (json.dumps({"d": turns}), json.dumps({"d": {str(n): turns[str(2 * n)] for n in range(4)}})):
        result = accepted(tmp_path, texts, metrics=["FGA@1", "TurnMatch"])
        assert result["TurnMatch"].count == 3
        # The distances 1, 2 and 3 are counted in user turns.
        assert result["FGA@1"].value == pytest.approx((0.6321205588 + 0.8646647168 + 0.9502129316) / 4)


def test_predictions_without_reference(tmp_path: Path) -> None:
    for content in (states(d=1), '{"dialogue_id": "d", "turn_id": 0, "pred": {}}'):
        said = refused(tmp_path, content, "pred.json", "a reference state at every turn", "--ref")
        assert "1 of 1 dialogues without one (d from turn 0)" in said
    lines = [{"turn_id": 0, "ref": {}, "pred": {}}, {"turn_id": 1, "pred": {}}]
    content = "\n".join(json.dumps({"dialogue_id": "d", **line}) for line in lines)
    refused(tmp_path, content, "pred.json", "a reference state at every turn", "d")


def test_a_reference_alone(tmp_path: Path) -> None:
    content = '{"dialogue_id": "d", "turn_id": 0, "ref": {}}'
    said = refused(tmp_path, content, "pred.json", "a predicted state at every turn", "tracker's output")
    assert "1 of 1 dialogues without one (d from turn 0)" in said
    refused(tmp_path, content, "a predicted state at every turn", ref=states(d=1))


def test_a_reference_that_holds_predictions_only(tmp_path: Path) -> None:
    ref = '{"dialogue_id": "d", "turn_id": 0, "pred": {}}'
    refused(tmp_path, states(d=1), "a reference state at every turn", "1 of 1 dialogues", "ref.json", ref=ref)


def test_a_dialogue_without_turns(tmp_path: Path) -> None:
    said = refused(tmp_path, '{"d": {"0": {"gt": {}, "pr": {}}}, "e": {}}', "pred.json", "e")
    assert "--ref" not in said  # a reference is there; it has no turn, and the prediction has none either
    said = refused(tmp_path, states(d=1, e=1), "e", ref=states(d=1, e=0))
    assert "without (e)" not in said or "turn" in said


def bits(**turns: Any) -> str:
    return json.dumps({name: {"0": marks} for name, marks in turns.items()})


@pytest.mark.parametrize("protocol", ["exact", "normalised", "fga-official", "fga-paper", "gca"])
def test_bits_under_another_protocol(tmp_path: Path, protocol: str) -> None:
    said = refused(tmp_path, bits(d=[1] * 30), "pred.json", f"protocol {protocol}", protocol=protocol)
    assert "right/wrong marks" in said
    assert "--protocol fga-trippy" in said


@pytest.mark.parametrize("width", [1, 29, 31])
def test_bits_of_the_wrong_length(tmp_path: Path, width: int) -> None:
    refused(tmp_path, bits(d=[1] * width), "dialogue 'd'", "30 marks", str(width), protocol="fga-trippy")
    content = bits(z=[1] * 30, d=[1] * width)
    refused(tmp_path, content, "dialogue 'd', turn 0", "30 marks", protocol="fga-trippy")


def test_bits_as_reference(tmp_path: Path) -> None:
    refused(tmp_path, states(d=1), "a reference state at every turn", ref=bits(d=[1] * 30), protocol="fga-trippy")


def test_only_a_dialogue_that_is_left_out(tmp_path: Path) -> None:
    content = bits(**{"PMUL1455.json": [1] * 30})
    said = refused(tmp_path, content, "pred.json", "PMUL1455", protocol="fga-trippy")
    assert "skips" in said
    path = tmp_path / "pred.json"
    said = refusal(run("explain", path, "pmul1455", "--protocol", "fga-trippy"))
    assert "pmul1455" in said.lower()
    assert "skips" in said


@pytest.mark.parametrize("protocol", ["fga-official", "fga-paper", "gca", "fga-trippy"])
def test_alternatives_under_a_literal_protocol(tmp_path: Path, protocol: str) -> None:
    content = json.dumps(
        {"d": {"0": {"gt": {}, "pr": {}}, "1": {"gt": {"hotel": {"area": ["a", "b"]}}, "pr": {}}}}
    )
    said = refused(tmp_path, content, "pred.json, dialogue 'd', turn 1", "slot 'hotel-area'", protocol=protocol)
    assert protocol in said
    assert "Use a protocol" in said
    accepted(tmp_path, content.replace(', "b"', ""), protocol=protocol)
    accepted(tmp_path, content, protocol="exact")


def test_names_with_line_breaks_stay_on_one_line(tmp_path: Path) -> None:
    one, other = '{"a\\nb": [{}]}', '{"c\\r\\nd": [{}, {}]}'
    refused(tmp_path, one, ref=other)
    refused(tmp_path, one, ref=one.replace("[{}]", "[{}, {}]"))
    refused(tmp_path, one)
    refused(tmp_path, one.replace("[{}]", "[{}, null]"), ref=one)
    for content in ('{"z": [{}], "d": [{"a\\nb": 0.5}]}', '{"z": [{}], "d": [{"a": [["x\\n\\u001b[31my"]]}]}'):
        assert "\x1b" not in refused(tmp_path, content, ref='{"d": [{}], "z": [{}]}')


def test_values_with_line_breaks(tmp_path: Path) -> None:
    content = json.dumps({"d": {"0": {"gt": {"a": {"b": "x\ny"}}, "pr": {"a": {"b": "x y"}}}}})
    assert accepted(tmp_path, content)["JGA"].value == 1
    assert accepted(tmp_path, content, protocol="fga-official")["JGA"].value == 0


def test_a_folder_with_another_file_in_it(tmp_path: Path) -> None:
    written(tmp_path / "a.json", BOTH)
    assert run("score", tmp_path).code == 0
    written(tmp_path / "zz.txt", "notes")
    assert "zz.txt" in refusal(run("score", tmp_path))
    (tmp_path / "zz.txt").rename(tmp_path / "README")
    assert run("score", tmp_path).code == 0  # data sets come with one


def test_python_objects() -> None:
    assert dsteval.evaluate({1: [{}]}, {1: [{}]})["JGA"].total == 1
    marks = Dialogue("d", [Turn(0, correctness=[1] * 30), Turn(1)])
    for pred, options in [
        ({"d": [{1: "x"}]}, {}),
        ({"d": [{"x": math.nan}]}, {}),
        ({"d": [None]}, {}),
        ({"d": "north"}, {}),
        ({}, {}),
        ([], {}),
        ({"d": [{}]}, {"format": "fga-text"}),
        ({"d": [{}]}, {"format": "dsteval-jsonl"}),
        ([marks], {"protocol": "fga-trippy"}),
    ]:
        with pytest.raises(dsteval.DstevalError):
            dsteval.evaluate({"d": [{}]} if pred != [marks] else None, pred, **options)  # type: ignore[arg-type]
