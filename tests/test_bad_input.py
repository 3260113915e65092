"""Bad files: each is refused with one sentence that says where, what was expected and what was found."""

import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from refusals import accepted, refused, written


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def turn(number: int = 0, dialogue: str = "d", **fields: Any) -> dict[str, Any]:
    return {"dialogue_id": dialogue, "turn_id": number, **fields}


# Each format with one turn of interest, in the first dialogue or in the second; VALUE is what is put in.
FGA = '{"z": {"0": {"gt": {}, "pr": {}}}, "d": {"0": {"gt": {"hotel": {"area": VALUE}}, "pr": {}}}}'
FGA_FIRST = '{"d": {"0": {"gt": {"hotel": {"area": VALUE}}, "pr": {}}}}'
STATES = '{"z": [{}], "d": [{"hotel-area": VALUE}]}'
STATES_FIRST = '{"d": [{"hotel-area": VALUE}]}'
KEYED = '{"d": {"0": {"hotel": {"area": VALUE}}}}'
LINES_FIRST = '{"dialogue_id": "d", "turn_id": 0, "ref": {"hotel-area": VALUE}, "pred": {}}\n'
LINES = '{"dialogue_id": "z", "turn_id": 0, "ref": {}, "pred": {}}\n' + LINES_FIRST
TEXT = "Dialogue ID : d\n------\nTurn: 0\nSys :\nUsr :\n\nGT  : {'hotel': {'area': VALUE}}\nPR  : {}\n"
JSON_FORMS = {
    "fga": FGA,
    "fga-first": FGA_FIRST,
    "states": STATES,
    "states-first": STATES_FIRST,
    "keyed": KEYED,
    "lines": LINES,
    "lines-first": LINES_FIRST,
}
FORMS = {**JSON_FORMS, "text": TEXT}


TWO_TURNS = ["fga", "states", "lines"]


def filled(form: str, value: str) -> str:
    return FORMS[form].replace("VALUE", value)


def reference(form: str) -> str | None:
    """A reference where the format has one side: the same file, and nothing wrong with it."""
    return filled(form, '"north"') if form in ("states", "states-first", "keyed") else None


def tell(folder: Path, form: str, value: str, *parts: str) -> str:
    return refused(folder, filled(form, value), *parts, ref=reference(form))


@pytest.mark.parametrize(
    ("content", "found"),
    [("", "empty"), (" \n\t\r\n", "empty"), ("\ufeff", "empty"), ("\ufeff\n", "empty")],
    ids=["empty", "blank", "bom", "bom-blank"],
)
def test_empty_file(tmp_path: Path, content: str, found: str) -> None:
    path = written(tmp_path / "pred.json", content)
    said = refusal(run("score", path))
    assert "pred.json: the file is " in said
    assert found in said


def test_missing_file_and_empty_folder(tmp_path: Path) -> None:
    missing = tmp_path / "nope.json"
    for command, *more in (["score"], ["explain", "d"]):
        said = refusal(run(command, missing, *more))
        assert said.startswith(f"{missing}: no such file"), said
    with pytest.raises(dsteval.DstevalError, match="no such file"):
        dsteval.evaluate(None, tmp_path / "nope.json")
    said = refusal(run("score", written(tmp_path / "pred.json", '{"d": [{}]}'), "--ref", tmp_path / "nope.json"))
    assert "nope.json" in said
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    assert "expected a folder with files, found an empty one." in refusal(run("score", tmp_path / "folder"))


def test_empty_file_name_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "pred.json", FGA.replace("VALUE", '"north"'))
    monkeypatch.chdir(tmp_path)
    for name in ("", "ours="):
        refusal(run("score", name))


def test_file_name_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    unreadable = "expected a readable file or folder"
    for name, told in (("a", unreadable), ("a=b", "b: no such file or folder"), ("ours=a", unreadable)):
        assert told in refusal(run("score", name.replace("a", "a" * 300)))


@pytest.mark.parametrize("content", ["{}", "[]", '{"d": []}', '{"d": {}}', "Dialogue ID : d\n"])
def test_empty_data_set(tmp_path: Path, content: str) -> None:
    said = refused(tmp_path, content, ".json", ref=content)
    assert "with --ref" not in said  # it is there, and as empty
    assert "one of the formats" not in said


@pytest.mark.parametrize("name", ["fga-json", "dsteval-json", "dsteval-jsonl", "trippy-bits"])
@pytest.mark.parametrize("content", ["{}", "[]"])
def test_empty_data_set_of_a_format(tmp_path: Path, content: str, name: str) -> None:
    refused(tmp_path, content, "pred.json: expected ", format=name)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hello", ["expected one of the formats", "'hello'", "--format"]),
        ("5", ["expected one of the formats", "'5'"]),
        ("null", ["expected one of the formats", "'null'"]),
        ("[1, 2]", ["expected one of the formats"]),
        ('{"d": 5}', ["expected one of the formats"]),
        ('{"a": "b"}\n{"a": "c"}\n', ["expected one of the formats"]),
        ('{"d": [{}],}', ["invalid JSON", "line 1, column 12"]),
        ('{"d": [{}]} x', ["invalid JSON", "line 1, column 13"]),
        ("{'d': [{}]}", ["invalid JSON", "line 1, column 2"]),
        ('{\n"d": [\n{"hotel-area": north}]}', ["invalid JSON", "line 3, column 16"]),
        ('{"d": [{}],\n "e": [{"hotel-area": "no\nrth"}]}', ["invalid JSON", "line 2, column 26"]),
        (lines(turn(ref={}, pred={})) + "junk\n", ["line 2", "invalid JSON"]),
        ("junk\n" + lines(turn(ref={}, pred={})), ["pred.json", "junk"]),
        ("\x00\x01\x02", ["pred.json", "\\x00"]),
    ],
)
def test_not_json(tmp_path: Path, content: str, parts: list[str]) -> None:
    refused(tmp_path, content, "pred.json", *parts)


@pytest.mark.parametrize("form", JSON_FORMS)
@pytest.mark.parametrize("left", [1, 12, 25])
def test_truncated_json(tmp_path: Path, form: str, left: int) -> None:
    content = filled(form, '"north"').rstrip()[:-left]
    said = refused(tmp_path, content, "pred.json", "JSON", ref=reference(form))
    place = "pred.json, line 2" if form == "lines" else "line 1, column"
    assert place in said, said


@pytest.mark.parametrize("form", JSON_FORMS)
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_lacks(tmp_path: Path, form: str, value: str) -> None:
    said = tell(tmp_path, form, value, "pred.json", f"invalid JSON: {value} at ", "Write null or leave it out.")
    before = FORMS[form].split("VALUE")[0].split("\n")
    assert f"line {len(before)}" in said, said
    assert f"column {len(before[-1]) + 1}" in said, said


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "found"), [("true", "true"), ("false", "false"), ("0.5", "0.5"), ("1.0", "1.0"), ("3e2", "300.0")]
)
def test_booleans_and_fractions(tmp_path: Path, form: str, value: str, found: str) -> None:
    if form == "text":
        value = value.title()
    said = tell(
        tmp_path, form, value, "dialogue 'd', turn 0, slot 'hotel-area': expected a string or a list of strings, "
    )
    total = 2 if form in TWO_TURNS else 1
    assert said.endswith(f"found {found} (1 of {total} turns). Write it as a string."), said


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", ['[["north"]]', '[{"a": "b"}]', '["north", 0.5]', '{"a": {"b": "c"}}'])
def test_lists_of_lists_and_objects(tmp_path: Path, form: str, value: str) -> None:
    tell(tmp_path, form, value, "dialogue 'd', turn 0, slot 'hotel-area", "a string or a list of strings")


@pytest.mark.parametrize("form", JSON_FORMS)
def test_invalid_utf8(tmp_path: Path, form: str) -> None:
    content = filled(form, '"n\xffrth"').encode("latin-1")
    line = 2 if form == "lines" else 1
    refused(tmp_path, content, "pred.json", "UTF-8", f"line {line}", ref=reference(form))


def test_invalid_utf8_after_an_escaped_id(tmp_path: Path) -> None:
    content = b'{"\\u0064": [{"a": "b"}],\n "e": [{"a": "\xff"}]}'
    refused(tmp_path, content, "pred.json", "UTF-8", "line 2", ref='{"d": [{}], "e": [{}]}')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    content = FGA.replace("VALUE", '"café"').encode(encoding)
    for name in (None, "fga-json"):
        refused(tmp_path, content, "pred.json", **({} if name is None else {"format": name}))


@pytest.mark.parametrize("form", JSON_FORMS)
@pytest.mark.parametrize("depth", [100, 600, 990, 5000])
@pytest.mark.parametrize("brackets", ['{"a":|}', "[|]"], ids=["objects", "lists"])
def test_very_deep_nesting(tmp_path: Path, form: str, depth: int, brackets: str) -> None:
    opened, closed = brackets.split("|")
    said = tell(tmp_path, form, opened * depth + "1" + closed * depth, "pred.json")
    assert len(said) < 500, said


@pytest.mark.parametrize("depth", [100, 990, 100_000])
def test_very_deep_nesting_of_the_whole(tmp_path: Path, depth: int) -> None:
    for content in ("[" * depth, '{"a":' * depth, "[" * depth + "]" * depth):
        refused(tmp_path, content, "pred.json")


@pytest.mark.parametrize("form", JSON_FORMS)
def test_huge_integers(tmp_path: Path, form: str) -> None:
    assert accepted(tmp_path, filled(form, "1" * 30), reference(form))["JGA"].total
    for value in ("1" * 5000, "-" + "1" * 5000, "1e400"):
        said = tell(tmp_path, form, value, "pred.json")
        assert "set_int_max_str_digits" not in said


@pytest.mark.parametrize(
    "content",
    [
        FGA.replace('"d": {"0"', f'"d": {{"{"1" * 5000}"').replace("VALUE", "null"),
        KEYED.replace('"0"', f'"{"1" * 5000}"').replace("VALUE", "null"),
        lines(turn(0, "z", ref={}, pred={}), turn("1" * 5000, ref={}, pred={})),  # type: ignore[arg-type]
        json.dumps({"d": {"1" * 5000: [1] * 30}}),
        TEXT.replace("Turn: 0", "Turn: " + "1" * 5000).replace("VALUE", "None"),
    ],
    ids=["fga", "keyed", "lines", "bits", "text"],
)
def test_huge_turn_numbers(tmp_path: Path, content: str) -> None:
    said = refused(tmp_path, content, "pred.json", protocol="fga-trippy")
    assert "set_int_max_str_digits" not in said
    assert len(said) < 1000


@pytest.mark.parametrize("form", JSON_FORMS)
@pytest.mark.parametrize("value", ['"\\ud800"', '"\\udc00x"', '["a", "\\ud83d"]'])
def test_lone_surrogates(tmp_path: Path, form: str, value: str) -> None:
    said = tell(tmp_path, form, value, "pred.json", "JSON")
    assert "one of the formats" not in said, said


def test_lone_surrogates_in_a_python_literal(tmp_path: Path) -> None:
    tell(tmp_path, "text", "'\\ud800'", "pred.json")
    tell(tmp_path, "text", "'x'}, 'h\\ud800': {'a': 'x'", "pred.json")


@pytest.mark.parametrize("name", ["fga-json", "dsteval-json", "dsteval-jsonl", "trippy-bits", "fga-text"])
@pytest.mark.parametrize("form", [*FORMS, "bits"])
def test_the_wrong_format(tmp_path: Path, form: str, name: str) -> None:
    content = json.dumps({"d": {"0": [1] * 30}}) if form == "bits" else filled(form, '"x"')
    fits = {"bits": "trippy-bits", "text": "fga-text", "keyed": "dsteval-json"}
    kind = fits.get(form) or {"fga": "fga-json", "sta": "dsteval-json", "lin": "dsteval-jsonl"}[form[:3]]
    if name != kind:
        said = refused(tmp_path, content, "pred.json", format=name)
        assert len(said) < 700
