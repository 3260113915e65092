"""What readers of trackers' own output take for a turn, an item or a value."""

import json
from pathlib import Path
from typing import Any

import pytest

from dsteval import readers
from dsteval.dialogue import Choice, Items, Turn
from dsteval.readers import Source
from dsteval.readers.belief_spans import taken_apart
from dsteval.readers.formats.icdst import completion_items
from native import FORMATS, done, items, read, refused, system, written


def only_turn(folder: Path, name: str, content: Any) -> Turn:
    """The one turn of a file, which is recognised by itself."""
    text = content if isinstance(content, str) else json.dumps(content)
    (dialogue,) = read(written(folder / name, text))
    (turn,) = dialogue.turns
    return turn


# Belief spans ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("", ""),
        ("<sos_b> <eos_b>", ""),
        ("[hotel] area north<eos_b> [train] day friday", "hotel-area=north"),
        ("[hotel] area north [hotel] area south", "hotel-area=north; hotel-area=south"),
        ("[hotel] the area", "hotel-area="),
        ("area north [hotel]", ""),
        ("[hotel] name [value_name] area east", "hotel-name=[value_name]; hotel-area=east"),
        ("[attraction] name the people 's gallery", "attraction-name=the; attraction-people='s gallery"),
        ("[attraction] name the people's gallery", "attraction-name=the people's gallery"),
        ("[bus] day monday", "bus-day=monday"),
        ("[train] leave 10:15 arrive 11:15 id tr1", "train-leave=10:15; train-arrive=11:15; train-id=tr1"),
        # The tokens are taken off as tokens: the last letters of 'none' and 'centre' are none of theirs.
        ("<sos_b> [hotel] area centre", "hotel-area=centre"),
        ("[hotel] name none", "hotel-name=none"),
    ],
)
def test_spans(span: str, expected: str) -> None:
    assert taken_apart(span).items == items(expected)


def test_fnctod_does_not_read_the_last_state_at_every_turn() -> None:
    states = [turn.pred for turn in read(FORMATS / "fnctod/test2-dst0shot.json")[0].turns]
    assert states[0] == []
    assert all(("hotel-area", "south") not in (state or []) for state in states)


def test_a_list_without_the_dictionaries_of_fnctod_is_belief_text(tmp_path: Path) -> None:
    data = (FORMATS / "fnctod/test2-dst0shot.json").read_text().replace('"bspn_dict_gen"', '"bsdx"')
    place = written(tmp_path / "ubar.json", data)
    assert readers.detect(Source.open(place)).reader.name == "belief-text"
    assert read(place) == read(FORMATS / "fnctod/test2-dst0shot.json")


HEADER = "dial_id,turn_num,user,bspn_gen,bspn\n"
TURNS = "a,0,hi,[hotel] area east,[hotel] area east\na,1,3,,[hotel] stars 3\n"


@pytest.mark.parametrize("title", ["", "DECODED RESULTS:\n", 'joint 5.0, "so far\n'])
@pytest.mark.parametrize("row", ["", "a,2,,,\n"])
def test_neither_a_title_nor_a_row_before_the_dialogue_is_a_turn(title: str, row: str, tmp_path: Path) -> None:
    (dialogue,) = read(written(tmp_path / "result.csv", title + HEADER + row + TURNS))
    assert [(turn.number, turn.user) for turn in dialogue.turns] == [(0, "hi"), (1, "3")]


def test_an_empty_turn_is_a_turn(tmp_path: Path) -> None:
    rows = "a,2,,,\na,0,,,\na,1,,,\nb,0,,,\n"
    found = read(written(tmp_path / "result.csv", HEADER + rows))
    assert [(d.id, [turn.number for turn in d.turns]) for d in found] == [("a", [0, 1]), ("b", [0])]
    assert found[0].turns[0] == Turn(0, [], [], user="")


@pytest.mark.parametrize("rows", ["a,3,,,\n" + TURNS, "a,2,,,\na,1,3,,\n", TURNS + "b,1,,,\n"])
def test_fewer_turns_than_the_row_before_them_says(rows: str, tmp_path: Path) -> None:
    assert "turns, as announced by the row before them, found" in refused(
        written(tmp_path / "r.csv", HEADER + rows)
    )


def test_words_before_the_first_slot_of_a_domain_belong_to_nothing(tmp_path: Path) -> None:
    """Nor do those before the first domain; the value of the slot before ends where a domain begins."""
    turns = {"0": {"bspn": "[hotel] area north", "bspn_gen": "well [hotel] area north [train] to the day friday"}}
    (dialogue,) = read(written(tmp_path / "p.json", json.dumps({"a": turns})))
    assert dialogue.turns[0].pred == [("hotel-area", "north"), ("train-day", "friday")]
    assert dialogue.turns[0].ref == [("hotel-area", "north")]


def test_a_table_of_belief_spans_is_no_table_of_ours() -> None:
    for path, name in (("belief-text/result.csv", "table"), ("table/cells.csv", "belief-text")):
        assert "a header with" in refused(FORMATS / path, name=name)


# SimpleTOD -------------------------------------------------------------------------------------------------------


def test_texts_that_are_no_items_stay_where_they_are(tmp_path: Path) -> None:
    texts = [
        "",
        "hotel area north",
        "<|endoftext|>",
        "hotel book day none",
        "hotel name the book shop",
        "a  b c d ",
    ]
    content = {"d": {"target_turn_belief": [[]], "generated_turn_belief": [texts]}}
    expected: Items = [
        ("", ""),
        ("hotel-area", "north"),
        ("<|endoftext|>", ""),
        ("hotel-book day", "none"),
        ("hotel-name", "the book shop"),
        ("a-b", "c d "),
    ]
    assert only_turn(tmp_path, "s.json", content) == Turn(0, [], expected)


# TripPy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written_value", "value"),
    [("§§north", "north"), ("§§ 11 : 45", "11 : 45"), ("none", "none"), ("", ""), ("a §§b", "a §§b"), ("§", "§")],
)
def test_the_mark_of_what_the_system_informed(written_value: str, value: str, tmp_path: Path) -> None:
    fields = {"class_prediction_a-b": 6, "slot_prediction_a-b": written_value, "slot_groundtruth_a-b": "§§x"}
    turn = only_turn(tmp_path, "pred_res.json", [{"guid": ["test", "d", "0"], **fields}])
    expected = [Choice("a-b", "6", written_value)]
    assert turn == Turn(0, [("a-b", "§§x")], [("a-b", value)], choices=expected)


def test_classes_in_the_order_of_their_index(tmp_path: Path) -> None:
    rows = [
        {
            "guid": ["dev", "a", "b.json", str(n)],
            "class_prediction_x": n,
            "slot_prediction_x": "",
            "slot_groundtruth_x": "",
        }
        for n in reversed(range(7))
    ]
    (dialogue,) = read(written(tmp_path / "p.json", json.dumps(rows)))
    assert dialogue.id == "a-b.json"
    kinds = [choice.kind for turn in dialogue.turns for choice in turn.choices or []]
    assert kinds == [*"0123456"]
    rows[0] = {"guid": ["dev", "a", "0"]}
    said = refused(written(tmp_path / "p.json", json.dumps(rows)))
    assert "expected slots with class_prediction, slot_prediction and slot_groundtruth" in said


# IC-DST ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("  WHERE ", ""),
        ("", ""),
        ("hotel WHERE area = north", ""),
        (" hotel WHERE area = north", "hotel-area=north"),
        (" train WHERE leaveat >= 10:15 AND book_people = 2", "train-leaveat=10:15; train-book people=2"),
        (" hotel WHERE name LIKE '%rose'", "hotel-name=%rose"),
        (" hotel WHERE name = rose-garden", "hotel-name-rose=garden"),
        (" hotel WHERE area = north AND area = south", "hotel-area=south"),
        (" hotel AS h, taxi AS x WHERE h.area = east AND x.leaveat < 5:00", "hotel-area=east; taxi-leaveat=5:00"),
        (" hotel AS", ""),
        (" hotel", "hotel=hotel"),
    ],
)
def test_completions(completion: str, expected: str) -> None:
    assert completion_items(completion) == items(expected)


TURN = {"ID": "d", "turn_id": 0, "dialog": {"sys": [], "usr": ["a", "b"]}, "slot_values": {"hotel-area": "a|b"}}


def test_where_the_update_of_icdst_comes_from(tmp_path: Path) -> None:
    ref, pred = items("hotel-area=a|b"), items("hotel-area=a")
    for more, update in (
        ({}, None),
        ({"completion": " hotel WHERE area = b"}, items("hotel-area=b")),
        ({"completion": " hotel WHERE area = b", "not_valid": 1}, []),
        (
            {"completion": "agent.hotel(area='c')", "pred_delta_slot_values": {"hotel-area": "c"}},
            items("hotel-area=c"),
        ),
    ):
        record = {**TURN, "pred": {"hotel-area": "a"}, **more}
        turn = only_turn(tmp_path, "running_log.json", [record])
        assert turn == Turn(0, ref, pred, user="b", pred_update=update)


def test_the_test_file_of_icdst_is_a_reference_for_its_log(tmp_path: Path) -> None:
    log = json.loads((FORMATS / "icdst/running_log.json").read_text())
    bare = [{key: value for key, value in record.items() if key != "pred"} for record in log]
    ref = written(tmp_path / "mw24_100p_test.json", json.dumps(bare))
    place = FORMATS / "icdst/running_log.json"
    expected = system("score", place, "--metric", "JGA")
    assert system("score", place, "--ref", ref, "--metric", "JGA")["scores"] == expected["scores"]


# Beside the states -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["hidst/log_test_7.json", "trippy/pred_res.test.final.json"])
def test_what_is_told_beside_the_states_is_converted(path: str, tmp_path: Path) -> None:
    done("convert", FORMATS / path, tmp_path / "c.jsonl")
    records = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()]
    if path.startswith("hidst"):
        assert records[3]["pred_update"] == {"train-day": "friday"}
        assert records[4]["pred_update"] == {}
    else:
        assert records[1]["choices"][1] == {"slot": "hotel-name", "kind": "6", "value": "§§rose-garden"}


def test_an_update_that_names_a_slot_twice_is_kept(tmp_path: Path) -> None:
    data = (FORMATS / "hidst/log_test_7.json").read_text()
    doubled = '"pr_turn": {"train-day": "monday", "train-day": "friday"}'
    place = written(tmp_path / "log.json", data.replace('"pr_turn": {"train-day": "friday"}', doubled))
    expected = items("train-day=monday; train-day=friday")
    done("convert", place, tmp_path / "c.jsonl")
    for path in (place, tmp_path / "c.jsonl"):
        assert read(path)[1].turns[0].pred_update == expected
