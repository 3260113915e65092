"""The FGA paper's formats, JSON, text and correctness bits: what is read, and what is told of malformed ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from dsteval import readers
from dsteval.dialogue import Dialogue, Turn
from dsteval.errors import ReadError
from dsteval.readers import Source

AREA = ("hotel-area", "north")
STARS = ("hotel-stars", "3")


def read(path: Path, updates: bool = False, name: str | None = None) -> list[Dialogue]:
    return list(readers.read(Source.open(path), "pred", name, readers.Options(updates)))


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message(path: Path, name: str | None = None) -> str:
    with pytest.raises(ReadError) as caught:
        read(path, name=name)
    return str(caught.value)


def fga(turns: str) -> str:
    return '{"z": {"0": {"gt": {}, "pr": {}}}, "d": ' + turns + "}"


FGA = """\
{"MUL9001.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}},
                  "1": {"gt": {"hotel": {"area": "north", "stars": "3"}}, "pr": {"hotel": {"area": "north"}}}},
 "SNG9002.json": {"0": {"gt": {"hotel": {}}, "pr": {}}}}
"""
READ = [
    Dialogue("MUL9001.json", [Turn(0, ref=[AREA], pred=[AREA]), Turn(1, ref=[AREA, STARS], pred=[AREA])]),
    Dialogue("SNG9002.json", [Turn(0, ref=[], pred=[])]),
]


@pytest.mark.parametrize(
    "text",
    [
        FGA,
        "\ufeff" + FGA.replace("\n", "\r\n"),
        FGA.replace(" ", "").replace("\n", ""),
        FGA.replace(":", "\t :\n"),
        FGA.replace('{"hotel": {"area": "north"}}', '{"hotel-area": "north"}'),
        FGA.replace('"gt"', '"x": 1, "gt"'),
        FGA.replace("MUL9001", "\\u004dUL9001").replace("north", "\\u006eorth"),
        FGA.replace('"3"', "3"),
        FGA.replace('"0"', '"00"'),
    ],
    ids=["plain", "bom-crlf", "dense", "white", "flat", "more-keys", "escapes", "integer", "labels"],
)
def test_fga_json(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "pred.json", text)
    assert readers.detect(Source.open(path)).reader.name == "fga-json"
    assert read(path) == READ


def test_fga_json_sorts_turns_by_number(tmp_path: Path) -> None:
    turns = {str(n): {"gt": {"a": {"b": str(n)}}, "pr": {}} for n in (10, 2, 0, 1)}
    (dialogue,) = read(written(tmp_path / "pred.json", json.dumps({"d": turns})))
    assert [(turn.number, turn.ref) for turn in dialogue.turns] == [(n, [("a-b", str(n))]) for n in (0, 1, 2, 10)]


def test_fga_json_keeps_order_doubles_and_none(tmp_path: Path) -> None:
    hotel = '"hotel": {"stars": "3", "area": "none", "area" : "north"}'
    state = f'{{{hotel}, "taxi": {{"leaveat": null}}, "hotel": {{"a": "b"}}}}'
    path = written(tmp_path / "p.json", fga(f'{{"0": {{"gt": {state}, "pr": {{}}}}}}'))
    items = [STARS, ("hotel-area", "none"), AREA, ("taxi-leaveat", None), ("hotel-a", "b")]
    assert read(path)[1] == Dialogue("d", [Turn(0, ref=items, pred=[])], doubles=True)  # type: ignore[arg-type]


def test_fga_json_alternatives_and_updates(tmp_path: Path) -> None:
    path = written(tmp_path / "pred.json", FGA.replace('"3"', '["3", 4]'))
    found = read(path, updates=True)
    assert found[0].turns[1].ref == [AREA, ("hotel-stars", ("3", "4"))]
    assert {dialogue.updates for dialogue in found} == {("pred",)}


def test_fga_json_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path / f"{name}.json", FGA.replace("MUL9001", name).replace("SNG", name))
    written(tmp_path / ".hidden", "not read")
    assert [dialogue.id for dialogue in read(tmp_path)] == ["a.json", "a9002.json", "b.json", "b9002.json"]


@pytest.mark.parametrize(
    ("turns", "parts"),
    [
        ("[1]", ["dialogue 'd'", "an object of turns", "[1]"]),
        ('{"first": {"gt": {}, "pr": {}}}', ["dialogue 'd'", "keyed by number", "'first'"]),
        ('{"0": {"gt": {}}}', ["dialogue 'd', turn 0", '"gt" and "pr"', "{'gt': {}}", "1 of 2 turns"]),
        ('{"0": {"gt": {}, "gt": {}, "pr": {}}}', ["dialogue 'd', turn 0", '"gt" and "pr" once']),
        (
            '{"0": {"gt": {}, "pr": {}}, "0": {"gt": {}, "pr": {}}}',
            ["dialogue 'd', turn 0", "twice", "1 of 3 turns"],
        ),
        ('{"1": {"gt": {}, "pr": {}}, "01": {"gt": {}, "pr": {}}}', ["dialogue 'd', turn 1", "once", "twice"]),
        ('{"0": {"gt": [], "pr": {}}}', ["dialogue 'd', turn 0", "an object of slots", "[]"]),
        ('{"0": {"gt": null, "pr": {}}}', ["dialogue 'd', turn 0", "an object of slots", "null"]),
        (
            '{"0": {"gt": {"a": {"b": 0.5}}, "pr": {}}}',
            ["turn 0, slot 'a-b'", "a string or a list of strings", "0.5", "as a string"],
        ),
        ('{"0": {"gt": {"a": {"b": false}}, "pr": {}}}', ["turn 0, slot 'a-b'", "false", "as a string"]),
        ('{"0": {"gt": {}, "pr": {"a": {"b": [["c"]]}}}}', ["turn 0, slot 'a-b'", "[['c']]"]),
        ('{"0": {"gt": {}, "pr": {"a": {"b": {"c": "d"}}}}}', ["turn 0, slot 'a-b'", "{'c': 'd'}"]),
        (
            '{"0": {"gt": {}, "pr": {"a": {"b": 0.5}}}, "1": {"gt": {}, "pr": {"a": {"b": 0.5}}}}',
            ["turn 0", "2 of 3 turns"],
        ),
        ('{"0": {"gt": {}, "pr": {"a": {"b": "\\ud800"}}}}', []),
    ],
)
def test_fga_json_malformed(tmp_path: Path, turns: str, parts: list[str]) -> None:
    said = message(written(tmp_path / "pred.json", fga(turns)), "fga-json")
    for part in ["pred.json", *parts]:
        assert part in said


def test_fga_json_that_breaks_off(tmp_path: Path) -> None:
    said = message(written(tmp_path / "pred.json", FGA[:-30]), "fga-json")
    assert said.startswith("pred.json: invalid JSON: ")
    assert "line 3, column" in said


RULE = "-" * 22
TEXT = f"""\
Dialogue ID : MUL9001.json
{RULE}
Turn: 0
Sys :\x20
Usr : a room in the north please

GT  : {{'hotel': {{'area': 'north'}}}}
PR  : {{{{}}}}

Matched : False

{RULE}
Turn: 1
Sys : how many stars ?
There are some with 3.
Usr : three, and is it near
Usr : rosa's ?

GT  : {{'hotel': {{'area': 'north', 'name': "rosa's"}}}}
PR  : {{'hotel': {{'area': 'north', 'name': "rosa's"}}}}

Matched : True

{RULE}
"""
ROSA = ("hotel-name", "rosa's")
FROM_TEXT = Dialogue(
    "MUL9001.json",
    [
        Turn(0, ref=[AREA], pred=[], system="", user="a room in the north please"),
        Turn(
            1,
            ref=[AREA, ROSA],
            pred=[AREA, ROSA],
            system="how many stars ?\nThere are some with 3.",
            user="three, and is it near\nUsr : rosa's ?",
        ),
    ],
)


@pytest.mark.parametrize("text", [TEXT, "\ufeff" + TEXT.replace("\n", "\r\n"), TEXT.replace("GT  :", "GT:")])
def test_fga_text(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "MUL9001.json.txt", text)
    assert readers.detect(Source.open(path)).reader.name == "fga-text"
    assert read(path) == [FROM_TEXT]


def test_fga_text_keeps_doubles(tmp_path: Path) -> None:
    state = "{'hotel': {'area': 'none', 'area': 'north'}, 'hotel': {'stars': '3'}}"
    dialogue = read(written(tmp_path / "p.txt", TEXT.replace("{{}}", state)))[0]
    assert dialogue.doubles
    assert dialogue.turns[0].pred == [("hotel-area", "none"), AREA, STARS]


def test_fga_text_folder(tmp_path: Path) -> None:
    written(tmp_path / "b.json.txt", TEXT)
    written(tmp_path / "a.json.txt", TEXT.replace("MUL9001", "SNG9002").replace("Turn: 1", "Turn: 7"))
    assert readers.detect(Source.open(tmp_path)).reader.name == "fga-text"
    first, second = read(tmp_path, updates=True)
    assert (first.id, [turn.number for turn in first.turns]) == ("SNG9002.json", [0, 7])
    assert second.turns == FROM_TEXT.turns
    assert first.updates == second.updates == ("pred",)


def test_fga_text_values(tmp_path: Path) -> None:
    state = "{'taxi': {'leaveat': 7}, 'hotel': {'area': ['north', 'east'], 'name': None}, 'x-y': 'none'}"
    path = written(tmp_path / "p.txt", TEXT.replace("{{}}", state))
    expected = [("taxi-leaveat", "7"), ("hotel-area", ("north", "east")), ("hotel-name", None), ("x-y", "none")]
    assert read(path)[0].turns[0].pred == expected


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("Dialogue ID : MUL9001.json", "Dialogue ID :", ["p.txt, line 1", "'Dialogue ID : NAME'"]),
        ("Turn: 0", "Turn: first", ["p.txt, line 3", "a turn number", "'first'"]),
        ("Turn: 0", "Turn: " + "1" * 5000, ["p.txt, line 3", "a turn number"]),
        ("PR  : {{}}\n", "", ["p.txt, line 3", "Turn, GT and PR", "no PR"]),
        ("{{}}", "{'hotel': ", ["p.txt, line 8", "a Python literal", "{'hotel':"]),
        ("{{}}", "open('x')", ["p.txt, line 8", "a Python literal", "open('x')"]),
        ("{{}}", "{'a':" * 3000, ["p.txt, line 8", "a Python literal"]),
        ("{{}}", "['hotel']", ["'MUL9001.json', turn 0", "an object of slots", "['hotel']"]),
        ("{{}}", "{'hotel': {'area': 0.5}}", ["turn 0, slot 'hotel-area'", "0.5", "as a string"]),
        ("{{}}", "{'hotel': {'area': b'x'}}", ["turn 0, slot 'hotel-area'", "b'x'"]),
        ("{{}}", "{'hotel': {'area': 0x" + "f" * 5000 + "}}", ["p.txt, "]),
        ("{{}}", "{1: 'x'}", ["turn 0", "1"]),
        ("{{}}", "{None: 'x'}", ["turn 0"]),
        ("{{}}", "{'hotel': {'area': '\\ud800'}}", ["p.txt, "]),
        ("Matched : True", "Matched : False", ["p.txt, line 22", "Matched : True", "turn 1", "'False'"]),
        ("Turn: 1", "Turn: 0", ["'MUL9001.json', turn 0", "each turn once", "1 of 2 turns"]),
        ("rosa's ?", "caf\xe9", ["p.txt, line 17", "UTF-8"]),
    ],
)
def test_fga_text_malformed(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    text = TEXT.replace(old, new)
    if old == "{{}}":
        text = text.replace("Matched : False", "")  # it may be true of the new state
    said = message(written(tmp_path / "p.txt", text.encode("latin-1")))
    for part in parts:
        assert part in said


def test_fga_text_that_is_empty(tmp_path: Path) -> None:
    assert "p.txt" in message(written(tmp_path / "p.txt", b"\xef\xbb\xbf"), "fga-text")


BITS = {"MUL9001.json": {"10": [1, 1, 1], "9": [1, 0, 1]}, "SNG9002.json": {"0": [0, 0, 0]}}


def test_trippy_bits(tmp_path: Path) -> None:
    path = written(tmp_path / "bits.json", json.dumps(BITS))
    assert readers.detect(Source.open(path)).reader.name == "trippy-bits"
    assert read(path) == [
        Dialogue("MUL9001.json", [Turn(9, correctness=[1, 0, 1]), Turn(10, correctness=[1, 1, 1])], shuffled=True),
        Dialogue("SNG9002.json", [Turn(0, correctness=[0, 0, 0])]),
    ]


@pytest.mark.parametrize(
    ("turns", "parts"),
    [
        ([1], ["dialogue 'd'", "an object of turns", "[1]"]),
        ({"first": [1, 1]}, ["dialogue 'd'", "keyed by number", "'first'"]),
        ({"0": [1, 2]}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "[1, 2]", "1 of"]),
        ({"0": [1, True]}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "[1, True]"]),
        ({"0": [1, 1.0]}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "[1, 1.0]"]),
        ({"0": ["1", "0"]}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "['1', '0']"]),
        ({"0": [1, 0, 1]}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "[1, 0, 1]"]),
        ({"0": []}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "[]"]),
        ({"0": None}, ["dialogue 'd', turn 0", "2 marks of 0 and 1", "null"]),
        ({"0": [1, 1], "00": [1, 1]}, ["dialogue 'd', turn 0", "each turn once", "twice"]),
    ],
)
def test_trippy_bits_malformed(tmp_path: Path, turns: Any, parts: list[str]) -> None:
    said = message(written(tmp_path / "bits.json", json.dumps({"z": {"0": [1, 0]}, "d": turns})))
    for part in ["bits.json, ", *parts]:
        assert part in said


def test_trippy_bits_twice(tmp_path: Path) -> None:
    text = '{"z": {"0": [1, 0]}, "d": {"0": [1, 0], "0": [1, 1]}}'
    assert "dialogue 'd', turn 0: expected each turn once" in message(written(tmp_path / "bits.json", text))
    text = '{"z": {"0": [1, 0]}, "z": {"0": [1, 1]}}'
    assert "bits.json: expected each dialogue once, found 'z' twice" in message(
        written(tmp_path / "bits.json", text)
    )
