"""Our own formats, JSON Lines and plain states: what is read of each form, and how malformed ones are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from dsteval import readers
from dsteval.dialogue import Dialogue, Frame, Side, Turn
from dsteval.errors import ReadError
from dsteval.readers import Source

AREA = ("hotel-area", "north")
STARS = ("hotel-stars", "3")


def read(path: Path, side: Side = "pred", updates: bool = False, name: str | None = None) -> list[Dialogue]:
    return list(readers.read(Source.open(path), side, name, readers.Options(updates)))


def written(folder: Path, text: str | bytes, name: str = "pred.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def turn(number: int = 0, dialogue: str = "MUL9001.json", **fields: Any) -> dict[str, Any]:
    return {"dialogue_id": dialogue, "turn_id": number, **fields}


def refused(path: Path, *parts: str, name: str | None = None, side: Side = "pred") -> None:
    with pytest.raises(ReadError) as caught:
        read(path, side, name=name)
    for part in parts:
        assert part in caught.value.command_line


BOTH = [
    turn(0, system="", user="a room in the north please", ref={"hotel-area": "north"}, pred={}),
    turn(1, system="how many stars ?", user="3", ref={"hotel-area": "north", "hotel-stars": "3"}, pred={}),
]


def test_jsonl_with_both_sides(tmp_path: Path) -> None:
    path = written(tmp_path, lines(*BOTH))
    assert readers.detect(Source.open(path)).reader.name == "dsteval-jsonl"
    assert read(path) == [
        Dialogue(
            "MUL9001.json",
            [
                Turn(0, ref=[AREA], pred=[], system="", user="a room in the north please"),
                Turn(1, ref=[AREA, STARS], pred=[], system="how many stars ?", user="3"),
            ],
        )
    ]


def test_jsonl_with_one_line_alone(tmp_path: Path) -> None:
    path = written(tmp_path, lines(BOTH[0])[:-1])
    assert readers.detect(Source.open(path)).reader.name == "dsteval-jsonl"
    assert len(read(path)) == 1


@pytest.mark.parametrize("side", ["ref", "pred"])
def test_jsonl_with_one_side(tmp_path: Path, side: Side) -> None:
    path = written(tmp_path, lines(turn(0, state={"hotel-area": "north"}), turn(1, state={})))
    expected = [Turn(0, **{side: [AREA]}), Turn(1, **{side: []})]  # type: ignore[arg-type]
    assert read(path, side) == [Dialogue("MUL9001.json", expected)]


def test_jsonl_with_updates(tmp_path: Path) -> None:
    path = written(tmp_path, lines(turn(0, update={"hotel-area": "north"}), turn(1, update={"hotel-area": None})))
    turns = [[AREA], [("hotel-area", None)]]
    expected = [Turn(number, pred=items) for number, items in enumerate(turns)]  # type: ignore[arg-type]
    assert read(path) == [Dialogue("MUL9001.json", expected, updates=("pred",))]
    assert read(path, "ref")[0].updates == ("ref",)


def test_states_read_as_updates_when_told_so(tmp_path: Path) -> None:
    path = written(tmp_path, lines(turn(0, state={"hotel-area": "north"})))
    assert read(path, updates=True)[0].updates == ("pred",)
    assert read(path, "ref", updates=True)[0].updates == ()


def test_jsonl_with_frames_of_one_side(tmp_path: Path) -> None:
    frame = {"service": "Hotels_9", "state": {"area": "north"}, "intent": "FindHotel", "requested": ["stars"]}
    path = written(tmp_path, lines(turn(0, frames=[frame, {"service": "Taxi_1", "state": {}}])))
    frames = [Frame("Hotels_9", [("area", "north")], "FindHotel", ["stars"]), Frame("Taxi_1", [])]
    assert read(path) == [Dialogue("MUL9001.json", [Turn(0, pred_frames=frames)])]
    assert read(path, "ref") == [Dialogue("MUL9001.json", [Turn(0, ref_frames=frames)])]


def test_jsonl_with_frames_of_both_sides(tmp_path: Path) -> None:
    one = {"service": "Hotels_9", "state": {"area": ["north", "the north"]}}
    path = written(tmp_path, lines(turn(0, frames={"ref": [one], "pred": []})))
    frames = [Frame("Hotels_9", [("area", ("north", "the north"))])]
    assert read(path) == [Dialogue("MUL9001.json", [Turn(0, ref_frames=frames, pred_frames=[])])]


def test_jsonl_with_items_keeps_order_and_doubles(tmp_path: Path) -> None:
    items = [["hotel-stars", "3"], ["hotel-area", "none"], ["hotel-area", "north"]]
    path = written(tmp_path, lines(turn(0, items=items)))
    expected = [STARS, ("hotel-area", "none"), AREA]
    assert read(path) == [Dialogue("MUL9001.json", [Turn(0, pred=expected)], doubles=True)]  # type: ignore[arg-type]
    both = written(tmp_path, lines(turn(0, items={"ref": items[:2], "pred": []})), "both.jsonl")
    assert read(both) == [Dialogue("MUL9001.json", [Turn(0, ref=expected[:2], pred=[])])]  # type: ignore[arg-type]


def test_jsonl_values(tmp_path: Path) -> None:
    state = {"hotel-stars": 3, "hotel-area": ["north", "east"], "hotel-name": None, "taxi-leaveat": [7, "8"]}
    path = written(tmp_path, lines(turn(0, state={**state, "hotel-type": [], "hotel-parking": "none"})))
    assert read(path)[0].turns[0].pred == [
        ("hotel-stars", "3"),
        ("hotel-area", ("north", "east")),
        ("hotel-name", None),
        ("taxi-leaveat", ("7", "8")),
        ("hotel-type", ()),
        ("hotel-parking", "none"),
    ]


def test_jsonl_keeps_doubles(tmp_path: Path) -> None:
    first = lines(turn(0, "a", state={}))
    second = '{"dialogue_id": "b", "turn_id": 0, "state": {"hotel-area": "north", "hotel-area" : "east"}}\n'
    plain, doubled = read(written(tmp_path, first + second))
    assert not plain.doubles
    assert doubled == Dialogue("b", [Turn(0, pred=[AREA, ("hotel-area", "east")])], doubles=True)


def test_jsonl_sorts_turns_and_gathers_interleaved_dialogues(tmp_path: Path) -> None:
    order = [("b", 10), ("a", 1), ("b", 2), ("a", 0)]
    path = written(tmp_path, lines(*(turn(n, name, state={"x-y": f"{name}{n}"}) for name, n in order)))
    found = [(d.id, [(t.number, t.pred) for t in d.turns]) for d in read(path)]
    assert found == [
        ("b", [(2, [("x-y", "b2")]), (10, [("x-y", "b10")])]),
        ("a", [(0, [("x-y", "a0")]), (1, [("x-y", "a1")])]),
    ]


def test_jsonl_ids_and_turns_as_numbers_or_texts(tmp_path: Path) -> None:
    path = written(tmp_path, lines(turn(1, 7, state={}), turn("0", "7", state={})))  # type: ignore[arg-type]
    assert [(d.id, [t.number for t in d.turns]) for d in read(path)] == [("7", [0, 1])]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n \t\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\n" * 3 + text,
        lambda text: "\n" * 20 + text,
        lambda text: text + "\n" * 20,
        lambda text: text[:-1],
        lambda text: text.replace(": ", " \t: "),
        lambda text: "[" + text.rstrip().replace("\n", ",") + "]",
    ],
    ids=["crlf", "blank", "bom", "blank-first", "many-blank-first", "blank-last", "cut", "white", "list"],
)
def test_jsonl_white_space_does_not_matter(tmp_path: Path, change: Any) -> None:
    path = written(tmp_path, change(lines(*BOTH)))
    assert readers.detect(Source.open(path)).reader.name == "dsteval-jsonl"
    assert read(path) == read(written(tmp_path, lines(*BOTH), "plain.jsonl"))


START = turn(0, "a", state={})


@pytest.mark.parametrize(
    ("record", "parts"),
    [
        ({"turn_id": 0, "state": {}}, ["line 2", "dialogue_id"]),
        (turn(1.0, state={}), ["line 2", "turn_id (a number)", "1.0"]),  # type: ignore[arg-type]
        (turn(-1, state={}), ["line 2", "turn_id (a number)", "-1"]),
        (turn(0, True, state={}), ["line 2", "dialogue_id (a string)"]),  # type: ignore[arg-type]
        (turn(0, state=["north"]), ["'MUL9001.json', turn 0", "an object of slots", "['north']"]),
        (turn(0, state=None), ["'MUL9001.json', turn 0", "an object of slots", "null"]),
        (
            turn(0, state={"x": 0.5}),
            ["turn 0, slot 'x'", "a string or a list", "0.5", "1 of 2 turns", "as a string"],
        ),
        (turn(0, state={"x": True}), ["turn 0, slot 'x'", "a string or a list", "true"]),
        (turn(0, state={"x": [["a"]]}), ["turn 0, slot 'x'", "a string or a list", "[['a']]"]),
        (turn(0, state={"x": ["a", None]}), ["turn 0, slot 'x'", "a string or a list", "['a', None]"]),
        (turn(0, state={"x": {"y": {"z": "a"}}}), ["turn 0, slot 'x-y'", "a string or a list"]),
        (turn(0, items=[["x"]]), ["turn 0", "[slot, value]", "['x']"]),
        (turn(0, items=[["x", 0.5]]), ["turn 0, slot 'x'", "0.5"]),
        (turn(0, items={"x": "a"}), ["turn 0", "items"]),
        (turn(0, frames=["hotel"]), ["turn 0", "a service and a state", "'hotel'"]),
        (turn(0, frames=[{"service": "hotel"}]), ["turn 0", "a service and a state", "{'service': 'hotel'}"]),
        (turn(0, frames={"service": "hotel", "state": {}}), ["turn 0", "frames"]),
        (turn(0, frames=5), ["turn 0", "frames", "5"]),
        (turn(0, frames={"ref": True, "pred": []}), ["turn 0", "frames", "true"]),
        (turn(0, "a", state={}), ["'a', turn 0", "each turn once", "twice", "Keep one"]),
    ],
)
def test_jsonl_malformed(tmp_path: Path, record: dict[str, Any], parts: list[str]) -> None:
    path = written(tmp_path, lines(START, record))
    with pytest.raises(ReadError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith("pred.jsonl, ")
    assert message.count("pred.jsonl") == 1
    for part in parts:
        assert part in message


HEAD = '{"dialogue_id": "b", "turn_id": 0, '


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (HEAD + '"state": {}, "state": {}}', ["'b', turn 0", "'state' twice"]),
        (HEAD + '"state": {}', ["line 2", "column 47"]),
        (HEAD + '"state": {"x": NaN}}', ["line 2", "column 51", "NaN", "null"]),
        (HEAD + '"state": {"x": "\xff"}}', ["line 2", "UTF-8"]),
        ("[1]", ["line 2", "dialogue_id", "[1]"]),
        (HEAD + '"frames": [{"service": "x", "state": {}, "state": {}}]}', ["'b', turn 0"]),
        (HEAD + '"frames": {"ref": [], "ref": [], "pred": []}}', ["'b', turn 0"]),
        (HEAD + '"items": {"ref": [], "ref": [], "pred": []}}', ["'b', turn 0"]),
    ],
)
def test_jsonl_broken_lines(tmp_path: Path, line: str, parts: list[str]) -> None:
    path = written(tmp_path, lines(START).encode() + line.encode("latin-1"))
    with pytest.raises(ReadError) as caught:
        read(path)
    message = str(caught.value)
    assert "line 1" not in message  # the lines of the file count, not those of the piece that was decoded
    for part in ["pred.jsonl, ", *parts]:
        assert part in message


@pytest.mark.parametrize("other", [{"update": {}}, {"pred": {}}], ids=["update", "pred"])
def test_jsonl_refuses_two_states_of_one_side(tmp_path: Path, other: dict[str, Any]) -> None:
    path = written(tmp_path, lines(START, turn(0, state={"hotel-area": "north"}, **other)))
    refused(path, "'MUL9001.json', turn 0", "state")


def test_jsonl_refuses_states_at_some_turns_and_others_elsewhere(tmp_path: Path) -> None:
    for one in ("state", "pred"):
        mixed = lines(turn(0, update={}), {**turn(1), one: {}})
        refused(written(tmp_path, mixed), "'MUL9001.json'", "only states, only updates", "a mixture")
    frames = [{"service": "hotel", "state": {"area": "north"}}]
    mixed = lines(turn(0, frames=frames), turn(1, state={"hotel-area": "south"}))
    refused(written(tmp_path, mixed), "'MUL9001.json'", "frames")


def test_jsonl_refuses_a_service_twice_in_a_turn(tmp_path: Path) -> None:
    frames = [{"service": "hotel", "state": {"area": "north"}}, {"service": "hotel", "state": {"area": "south"}}]
    refused(written(tmp_path, lines(turn(0, frames=frames))), "'MUL9001.json', turn 0", "hotel")


FLAT = '[{"hotel-area": "north"}, {"hotel-stars": "3", "hotel-area": "north"}]'
NESTED = '[{"hotel": {"area": "north"}}, {"hotel": {"stars": 3, "area": "north"}}]'
KEYED = '{"0": {"hotel-area": "north"}, "1": {"hotel-stars": "3", "hotel-area": "north"}}'
SHUFFLED = '{"1": {"hotel": {"stars": "3", "area": "north"}}, "0": {"hotel-area": "north"}}'


def states(first: str, second: str) -> str:
    return f'{{"MUL9001.json": {first}, "b": {second}}}'


@pytest.mark.parametrize("text", [FLAT, NESTED, KEYED, SHUFFLED], ids=["flat", "nested", "keyed", "shuffled"])
@pytest.mark.parametrize("side", ["ref", "pred"])
def test_states(tmp_path: Path, text: str, side: Side) -> None:
    path = written(tmp_path, states(text, "[{}]"), "pred.json")
    assert readers.detect(Source.open(path)).reader.name == "dsteval-json"
    turns = [Turn(0, **{side: [AREA]}), Turn(1, **{side: [STARS, AREA]})]  # type: ignore[arg-type]
    keyed = text in (KEYED, SHUFFLED)
    assert read(path, side)[0] == Dialogue("MUL9001.json", turns, keyed=keyed)
    assert [dialogue.id for dialogue in read(path, side)] == ["MUL9001.json", "b"]


def test_states_keep_order_doubles_and_none(tmp_path: Path) -> None:
    state = '{"hotel": {"area": "none", "area": "north"}, "hotel": {"stars": null}}'
    (dialogue,) = read(written(tmp_path, states(FLAT, f"[{state}]"), "pred.json"))[1:]
    assert dialogue.doubles
    assert dialogue.turns[0].pred == [("hotel-area", "none"), AREA, ("hotel-stars", None)]


def test_states_of_the_same_slots_keep_their_own_order(tmp_path: Path) -> None:
    again = '[{"x-y": "b", "x-z": "c"}, {"x-z": "c", "x-y": "b"}]'
    turns = read(written(tmp_path, states(again, "[{}]"), "pred.json"))[0].turns
    assert [[slot for slot, _ in turn.pred or []] for turn in turns] == [["x-y", "x-z"], ["x-z", "x-y"]]


def test_states_as_updates(tmp_path: Path) -> None:
    path = written(tmp_path, states(FLAT, "[{}]"), "pred.json")
    assert {dialogue.updates for dialogue in read(path, updates=True)} == {("pred",)}
    assert {dialogue.updates for dialogue in read(path, "ref", updates=True)} == {()}


@pytest.mark.parametrize(
    ("second", "parts"),
    [
        ("5", ["dialogue 'b'", "states", "5"]),
        ("null", ["dialogue 'b'", "states", "null"]),
        ('{"first": {}}', ["dialogue 'b'", "keyed by number", "'first'"]),
        ('{"-1": {}}', ["dialogue 'b'", "keyed by number", "'-1'"]),
        ('{"1": {}, "01": {}, "0": {}}', ["dialogue 'b', turn 1", "each turn once", "twice"]),
        ('{"0": {}, "0": {}}', ["dialogue 'b', turn 0", "each turn once", "twice"]),
        ('[{}, "north"]', ["dialogue 'b', turn 1", "an object of slots", "'north'", "1 of 3 turns"]),
        ('[{"x": 0.5}, {}]', ["dialogue 'b', turn 0, slot 'x'", "0.5", "1 of 3 turns"]),
        ('[{"x": 0.5}, {"x": 0.5}]', ["dialogue 'b', turn 0, slot 'x'", "0.5", "2 of 3 turns", "turn 1"]),
        ('[{"x": 1}, {"x": true}]', ["dialogue 'b', turn 1, slot 'x'", "true"]),
        ('[{"x": 1}, {"x": 1.0}]', ["dialogue 'b', turn 1, slot 'x'", "1.0"]),
    ],
)
def test_states_malformed(tmp_path: Path, second: str, parts: list[str]) -> None:
    path = written(tmp_path, states("[{}]", second), "pred.json")
    refused(path, "pred.json, ", *parts)
