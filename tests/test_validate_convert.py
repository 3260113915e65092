"""``validate``, ``convert`` and ``--changes``: what they tell, and that nothing is lost or left half done."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import run
from dsteval import readers
from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import ReadError
from dsteval.protocols import model as protocol
from dsteval.readers import Options, Reader, Sign, Source
from dsteval.readers.jsonl_writer import lines
from native import FORMATS, counted, done, files, items, read, refusal, system, written
from native_samples import SAMPLES

FGA = str(FORMATS / "fga-json/result.json")
BITS = str(FORMATS / "trippy-bits/trippy_result.json")
NORTH = {"hotel-area": "north"}


def report(*arguments: str | Path) -> dict[str, Any]:
    document = json.loads(done("validate", *arguments, "--as", "json").out)
    assert document["schema"] == 1
    found: dict[str, Any] = document["files"][0]
    return found


# validate --------------------------------------------------------------------------------------------------------


def test_report() -> None:
    found = report(FGA)
    kinds = [fact["kind"] for fact in found.pop("facts")]
    assert kinds == ["none-in-ref", "none-in-pred", "hyphens", "dontcare", "dontcare-or-none"]
    assert found == {
        "name": "result.json",
        "format": "fga-json",
        "sign": "turns with 'gt' and 'pr'",
        "protocol": "exact@2",
        "sides": "ref and pred",
        "dialogues": 2,
        "turns": 5,
        "slots": 4,
        "values": 4,
        "self_check": "perfect",
        "notes": [],
    }
    text = done("validate", FGA).out
    assert "against itself" in text
    assert "result.json: recognised by turns with 'gt' and 'pr'" in text


def test_report_of_one_side_and_of_marks() -> None:
    found = report(FORMATS / "mwzeval/predictions.json")
    assert (found["sides"], found["self_check"]) == ("pred", "perfect")
    found = report(BITS, "--protocol", "fga-trippy")
    assert (found["sides"], found["dialogues"], found["turns"], found["slots"]) == ("marks", 2, 5, 0)
    assert found["self_check"] == "not possible: right/wrong marks have no values"
    assert "Only --protocol fga-trippy scores them." in refusal("validate", BITS)


def test_several_files_of_which_one_is_refused(tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.json", '{"d": {"0": {"gt": {}}}}')
    ran = run("validate", FGA, bad, FORMATS / "sgd/dev", "--as", "json")
    assert ran.code == 1
    assert [one["name"] for one in json.loads(ran.out)["files"]] == ["result.json", "dev"]
    assert ran.err.count("dsteval: ") == 1
    assert "bad.json" in ran.err
    assert run("validate", bad).out == ""
    assert done("validate", FGA, FORMATS / "sgd/dev").err == ""


def _is_even(one: protocol.Protocol) -> bool:
    """Whether a protocol does the same to both sides and needs nothing; the others are test_asymmetric's."""
    states = one.states
    sided = (states.normalise_ref, states.normalise_pred, states.absent_ref, states.absent_pred, states.only)
    plain = one.match.rule == "exact" and one.scope.unit == "turn" and not one.needs and not one.prepare.steps
    return plain and not any(sided)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.path != "dsteval-json/by_turn.json"], ids=str)
@pytest.mark.parametrize("name", [name for name in protocol.names() if _is_even(protocol.load(name))])
def test_reference_is_perfect_against_itself(sample: Any, name: str) -> None:
    if sample.reader == "trippy-bits" and name != "fga-trippy":
        return
    if sample.path == "dsteval-jsonl/changes.jsonl":
        return
    lists = any(len(value) > 1 for _, value in _values(sample.dialogues) if isinstance(value, tuple))
    if lists and protocol.load(name).states.alternatives == "literal":
        assert "expected single strings" in refusal("validate", sample.place, "--protocol", name)
        return
    said = report(sample.place, "--protocol", name)["self_check"]
    # RSA and GCA under gca, and the card's recipe, are below 1 by their own rule.
    usual = ("perfect", "not possible: right/wrong marks have no values")
    assert said in usual or said.startswith("every slot is right")


def _values(dialogues: list[Dialogue]) -> Iterator[tuple[str, Any]]:
    for turn in (turn for dialogue in dialogues for turn in dialogue.turns):
        for state in (turn.ref, turn.pred):
            yield from state or []
        for frame in [*(turn.ref_frames or []), *(turn.pred_frames or [])]:
            yield from frame.items


def test_protocol_that_treats_the_sides_differently() -> None:
    said = refusal("validate", FGA, "--set", "states.dontcare=drop-pred")
    assert (
        "expected a perfect score of the reference against itself under exact@2[states.dontcare=drop-pred]" in said
    )
    assert "JGA 0.6000" in said
    assert "first: dialogue 'MUL9001.json', turn 1, slot 'hotel-stars'" in said


def test_metrics_that_are_not_1_by_their_own_rule(tmp_path: Path) -> None:
    place = written(tmp_path / "states.json", json.dumps({"d": [{}, NORTH]}))
    assert report(place, "--protocol", "gca")["self_check"] == "every slot is right, but RSA 0.5000"
    assert report(place)["self_check"] == "perfect"


def test_validate_refuses_what_score_refuses(tmp_path: Path) -> None:
    pred = written(tmp_path / "p.json", json.dumps({"a": [NORTH]}))
    ref = written(tmp_path / "r.json", json.dumps({"a": [NORTH, NORTH]}))
    assert refusal("validate", pred, "--ref", ref) == refusal("score", pred, "--ref", ref)
    more = written(tmp_path / "m.json", json.dumps({"a": [NORTH], "b": [NORTH]}))
    (note,) = report(more, "--ref", pred, "--extra", "ignore")["notes"]
    assert "without reference ignored (b)" in note
    assert "Unknown protocol" in refusal("validate", pred, "--protocol", "exactly")
    assert "no such file" in refusal("validate", tmp_path / "nothing.json")


# Hints -----------------------------------------------------------------------------------------------------------


def noted(folder: Path, ref: Any, pred: Any) -> list[str]:
    """The notes of scoring and of validating, which are the same."""
    arguments = files(folder, ref, pred)
    found: list[str] = system(*arguments)["notes"]
    assert report(*arguments[1:4])["notes"] == found
    return found


def test_hint_at_updates(tmp_path: Path) -> None:
    slots = ["hotel-area", "hotel-stars", "hotel-name", "train-day", "train-leaveat", "taxi-leaveat"]
    ref = {"d": [dict.fromkeys(slots[: t + 1], "x") for t in range(6)]}
    changes = {"d": [{slot: "x"} for slot in slots]}
    (hint,) = noted(tmp_path, ref, changes)
    assert hint.startswith("at 5 of 5 turns nothing of the previous predicted state is left")
    assert "--updates" in hint
    arguments = files(tmp_path, ref, changes)
    assert counted(system(*arguments, "--updates")) == (6, 6)
    assert system(*arguments, "--updates")["notes"] == []
    assert "|input:updates|" in system(*arguments, "--updates")["scores"][0]["signature"]
    assert noted(tmp_path, ref, ref) == []


def test_hints_where_nothing_is_right(tmp_path: Path) -> None:
    ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "spa-room": "2"}]}
    (hint,) = noted(tmp_path, ref, {"d": [{"a.b": "north"}, {"a.c": "north"}]})
    assert hint.startswith(
        "no slot is right: reference and predictions have no slot name in common (reference hotel-area, spa"
    )
    assert "predictions a.b, a.c)" in hint
    (hint,) = noted(tmp_path, ref, {"d": [{"hotel-area": "N."}, {"spa-room": "two"}]})
    assert hint == (
        "no slot is right: values never match, for example hotel-area: reference 'north', predicted 'n.'"
    )
    (hint,) = noted(tmp_path, ref, {"d": [{}, {}]})
    assert hint == "no slot is right: every predicted state is empty"
    assert noted(tmp_path, ref, {"d": [{"hotel-area": "north"}, {}]}) == []


def test_hint_where_all_is_right(tmp_path: Path) -> None:
    ref = {f"d{n}": [NORTH] for n in range(100)}
    assert noted(tmp_path, ref, ref) == ["every turn is right: are reference and predictions the same file?"]
    assert noted(tmp_path, ref, {**ref, "d7": [{}]}) == []


def test_hint_at_slots_that_nobody_knows(tmp_path: Path) -> None:
    (hint,) = noted(tmp_path, {"d": [NORTH]}, {"d": [{**NORTH, "hotel-colour": "red"}]})
    assert "1 predicted slot is never in the reference" in hint
    assert "'hotel-colour' (first: dialogue 'd', turn 0)" in hint


# --changes -------------------------------------------------------------------------------------------------------

CHANGED: dict[str, Any] = {
    "ref": {
        "a": [{"hotel-bookday": "Monday"}, {"hotel-bookday": "Monday", "hotel-stars": "not mentioned"}],
        "b": [{"hotel-area": ["north", "the  North"], "hotel-stars": None}, {"hotel-area": "don't care"}],
    },
    "pred": {"a": [{"hotel-name": "x"}, {"hotel-name": "X "}], "b": [{"hotel-name": "X "}, {"hotel-name": "X "}]},
}
EXPECTED = [
    ("ref", "hotel-bookday", "Monday", "hotel-book day", "monday", 2, "a", 0),
    ("ref", "hotel-area", "don't care", "hotel-area", "dontcare", 1, "b", 1),
    ("ref", "hotel-area", "north|the  North", "hotel-area", "north|the north", 1, "b", 0),
    ("ref", "hotel-stars", "not mentioned", "hotel-stars", None, 1, "a", 1),
    ("ref", "hotel-stars", "null", "hotel-stars", None, 1, "b", 0),
    ("pred", "hotel-name", "X ", "hotel-name", "x", 3, "a", 1),
]


def test_changes(tmp_path: Path) -> None:
    result = dsteval.evaluate(CHANGED["ref"], CHANGED["pred"], changes=True)
    assert [tuple(change)[:-1] for change in result.changes or ()] == EXPECTED
    assert all(change.by for change in result.changes or ())
    arguments = files(tmp_path, CHANGED["ref"], CHANGED["pred"])
    found = system(*arguments, "--changes")["changes"]
    assert [tuple(change.values())[:-1] for change in found] == EXPECTED
    assert [one["by"] for one in found] == [
        "states.slots=canonical, normaliser casefold",
        "states.dontcare=keep",
        "normaliser casefold, normaliser whitespace",
        "states.absent",
        "null",
        "normaliser casefold, normaliser whitespace",
    ]
    text = done(*arguments, "--changes").out
    assert "values that exact@2 rewrote" in text
    assert "hotel-book day: monday" in text
    assert "(absent)" in text
    assert "changes" not in system(*arguments)
    assert dsteval.evaluate(CHANGED["ref"], CHANGED["pred"]).changes is None


def test_no_changes_are_said_to_be_none(tmp_path: Path) -> None:
    arguments = files(tmp_path, {"a": [NORTH]}, {"a": [NORTH]})
    assert system(*arguments, "--changes")["changes"] == []
    assert "rewrote" in done(*arguments, "--changes").out
    # Every item that a protocol rewrites is listed, and nothing that it does not.
    arguments = files(tmp_path, CHANGED["pred"], CHANGED["pred"])
    assert system(*arguments, "--changes", "--protocol", "fga-paper")["changes"] == []


def test_changes_are_counted_once_where_a_file_has_a_reference_of_its_own(tmp_path: Path) -> None:
    both = {"a": {"0": {"gt": {"hotel-area": "East"}, "pr": NORTH}}}
    found = system(*files(tmp_path, {"a": [{"hotel-area": "North"}]}, both), "--changes")["changes"]
    assert [(one["side"], one["value"], one["turns"]) for one in found] == [("ref", "North", 1)]


def test_conflicts_in_a_reference_that_is_not_used_are_not_its_faults(tmp_path: Path) -> None:
    inner = '{"a": {"0": {"gt": {"hotel-area": "x", "hotel-area": "y"}, "pr": {"hotel-area": "north"}}}}'
    pred = written(tmp_path / "p.json", inner)
    ref = written(tmp_path / "r.json", json.dumps({"a": [NORTH]}))
    assert counted(system("score", str(pred), "--ref", str(ref), "--metric", "JGA")) == (1, 1)


def test_changes_of_a_deletion_is_no_rewritten_value(tmp_path: Path) -> None:
    changes = {"a": [NORTH, {"hotel-area": "[DELETE]"}]}
    found = system(*files(tmp_path, {"a": [NORTH, {}]}, changes), "--updates", "--changes")
    assert counted(found) == (2, 2)
    assert all(one["became"] is None for one in found["changes"])


# convert ---------------------------------------------------------------------------------------------------------


def test_convert_to_file_standard_output_and_gzip(tmp_path: Path) -> None:
    ran = done("convert", FGA, tmp_path / "out.jsonl")
    assert ran.out == ""
    assert "result.json: read as fga-json" in ran.err
    assert f"{tmp_path / 'out.jsonl'}: 5 turns written" in ran.err
    data = (tmp_path / "out.jsonl").read_bytes()
    assert done("convert", FGA, "-").out.encode() == data
    done("convert", FGA, tmp_path / "out.jsonl.gz")
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.gz"]
    first = json.loads(data.splitlines()[1])
    assert list(first) == ["dialogue_id", "turn_id", "ref", "pred"]


def test_nothing_of_the_run_is_in_a_packed_file(tmp_path: Path) -> None:
    for name in ("one.gz", "other.gz"):
        done("convert", FGA, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


class _Midway(Reader):
    name = "midway"
    about = "fails after its second dialogue"
    sides = "one"

    def sniff(self, source: Source) -> Sign | None:
        return Sign("it says so") if source.data.startswith(b"midway") else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        yield from (Dialogue(name, [Turn(0, pred=[("hotel-area", "north")])] * 2000) for name in "ab")
        raise ReadError(where=source.name, expected="a third", found="none")


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_never_half_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers.READERS, "bundled", {**readers.READERS.bundled, "midway": _Midway()})
    source, target = written(tmp_path / "in.txt", "midway"), tmp_path / "to" / name
    target.parent.mkdir()
    assert "expected a third, found none" in refusal("convert", source, target)
    assert list(target.parent.iterdir()) == []
    written(target, "as it was")
    refusal("convert", source, target)
    assert target.read_text() == "as it was"
    assert [path.name for path in target.parent.iterdir()] == [name]


def test_never_half_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # dsteval convert IN - > OUT: what was printed would be half a file. refusal() checks that nothing was.
    monkeypatch.setattr(readers.READERS, "bundled", {**readers.READERS.bundled, "midway": _Midway()})
    assert "expected a third" in refusal("convert", written(tmp_path / "in.txt", "midway"), "-")


def test_problems_of_values_leave_no_file(tmp_path: Path) -> None:
    source = written(tmp_path / "in.json", json.dumps({"a": [NORTH], "b": [{"hotel-stars": 3.5}]}))
    assert "slot 'hotel-stars'" in refusal("convert", source, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


@pytest.mark.parametrize("target", ["nowhere/out.jsonl", "folder"])
def test_places_that_cannot_be_written(target: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    said = refusal("convert", FGA, tmp_path / target)
    assert "cannot be written" in said
    assert target in said
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_convert_onto_itself(tmp_path: Path) -> None:
    place = written(tmp_path / "x.json", Path(FGA).read_bytes())
    done("convert", place, place)
    assert len(read(place)) == 2


def test_convert_keeps_both_sides_whatever_the_first_dialogue_is_like(tmp_path: Path) -> None:
    second = '"b": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "south"}}}}'
    place = written(tmp_path / "in.json", f'{{"a": {{}}, {second}}}')
    done("convert", place, tmp_path / "out.jsonl")
    turns = [turn for dialogue in read(tmp_path / "out.jsonl") for turn in dialogue.turns]
    assert turns == [Turn(0, items("hotel-area=north"), items("hotel-area=south"))]
    one = '{"dialogue_id": "a", "turn_id": 0, "pred": {}}\n'
    both = '{"dialogue_id": "b", "turn_id": 0, "ref": {"hotel-area": "north"}, "pred": {"hotel-area": "south"}}\n'
    for text in (one + both, both + one):
        place = written(tmp_path / "in.jsonl", text)
        done("convert", place, tmp_path / "out.jsonl")
        assert read(tmp_path / "out.jsonl") == read(place)


@pytest.mark.parametrize("path", ["sgd/dev", "mwzeval/predictions.json", "fga-json/result.json"])
def test_convert_keeps_updates(path: str, tmp_path: Path) -> None:
    done("convert", FORMATS / path, tmp_path / "out.jsonl", "--updates")
    assert {dialogue.updates for dialogue in read(tmp_path / "out.jsonl")} == {("pred",)}


def test_convert_keeps_updates_that_name_a_slot_twice(tmp_path: Path) -> None:
    place = written(tmp_path / "in.json", '{"a": [{"hotel-area": "x", "hotel-area": "x"}]}')
    done("convert", place, tmp_path / "out.jsonl", "--updates")
    (dialogue,) = read(tmp_path / "out.jsonl")
    assert (dialogue.updates, dialogue.turns[0].pred) == (("pred",), [("hotel-area", "x")] * 2)


@pytest.mark.parametrize("side", ["ref", "pred"])
def test_a_file_with_one_side_serves_as_either(side: Side, tmp_path: Path) -> None:
    done("convert", FORMATS / "mwzeval/predictions.json", tmp_path / "out.jsonl")
    (first, *_) = read(tmp_path / "out.jsonl", side)
    assert [getattr(turn, side) is None for turn in first.turns] == [False] * 3


def test_a_state_never_passes_for_the_reference_of_a_file_that_has_one(tmp_path: Path) -> None:
    # The reference and what a tracker changed: behind --ref it is the reference that is asked for, or nothing.
    done("convert", FGA, tmp_path / "out.jsonl", "--updates")
    expected = [turn.ref for dialogue in read(FGA, "ref") for turn in dialogue.turns]
    try:
        found = [turn.ref for dialogue in read(tmp_path / "out.jsonl", "ref") for turn in dialogue.turns]
    except ReadError as error:
        assert "update" in str(error)
    else:
        assert found == expected


def test_lines_of_a_dialogue() -> None:
    dialogue = Dialogue("d", [Turn(0, [("a-b", None)], [("a-b", ("x",))], user="hé")], gaps=True)
    expected = '{"dialogue_id":"d","turn_id":0,"user":"hé","gaps":true,"ref":{"a-b":null},"pred":{"a-b":["x"]}}\n'
    assert b"".join(lines([dialogue])).decode() == expected
