"""What stands twice: slots, domains, fields, turns and dialogues. Equal doubles do no harm, others are refused."""

import json
from pathlib import Path

import pytest

from commandline import refusal, run
from dsteval.readers.json_pairs import decode
from refusals import accepted, refused

# A turn of each format, in the first dialogue of a file and in a later one; STATE is the reference's, or the
# prediction's where the format has one side.
EMPTY_FGA = '"0": {"gt": {}, "pr": {}}'
START, LINE = '{"dialogue_id": "z", "turn_id": 0, ', '{"dialogue_id": "d", "turn_id": 0, '
FORMS = {
    "fga-first": '{"d": {"0": {"gt": STATE, "pr": {}}}}',
    "fga": '{"z": {' + EMPTY_FGA + '}, "d": {"0": {"gt": STATE, "pr": {}}}}',
    "states-first": '{"d": [STATE]}',
    "states": '{"z": [{}], "d": [STATE]}',
    "keyed": '{"d": {"0": STATE}}',
    "lines-first": LINE + '"ref": STATE, "pred": {}}\n',
    "lines": START + '"ref": {}, "pred": {}}\n' + LINE + '"ref": STATE, "pred": {}}\n',
    "state": START + '"state": {}}\n' + LINE + '"state": STATE}\n',
    "update": START + '"update": {}}\n' + LINE + '"update": STATE}\n',
    "frames": START + '"state": {}}\n' + LINE + '"frames": [{"service": "hotel", "state": STATE}]}\n',
    "text": "Dialogue ID : d\n------\nTurn: 0\nSys :\nUsr :\n\nGT  : STATE\nPR  : {}\n",
}
ONE_SIDE = ["states-first", "states", "keyed", "state", "update", "frames"]


def reference(form: str) -> str | None:
    """A reference with nothing in it, where the format has one side."""
    names = ["d"] if form in ("states-first", "keyed") else ["z", "d"]
    return json.dumps({name: [{}] for name in names}) if form in ONE_SIDE else None


DOUBLES = {
    "slot": '{"hotel-area": "north", "hotel-area": "east"}',
    "white-space": '{"hotel-area": "north", "hotel-area" \t\n\r : "east"}',
    "escaped": '{"hotel-area": "north", "hotel-\\u0061rea": "east"}',
    "in-domain": '{"hotel": {"area": "north", "stars": "3", "area": "east"}}',
    "domain": '{"hotel": {"area": "north"}, "hotel": {"area": "east"}}',
    "flat-and-nested": '{"hotel": {"area": "north"}, "hotel-area": "east"}',
    "none-and-value": '{"hotel-area": "none", "hotel-area": "east"}',
    "list-and-text": '{"hotel-area": ["north", "east"], "hotel-area": "east"}',
}


@pytest.mark.parametrize("state", DOUBLES)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "frames"])
def test_one_slot_with_two_values(tmp_path: Path, form: str, state: str) -> None:
    written = DOUBLES[state]
    if form in ("lines-first", "lines", "state", "update", "text"):
        written = written.replace("\n", "").replace("\r", "")
    content = FORMS[form].replace("STATE", written)
    said = refused(tmp_path, content, "pred.json", "'d', turn 0", ref=reference(form))
    assert "hotel" in said, said


def test_one_slot_with_two_values_in_a_frame(tmp_path: Path) -> None:
    content = FORMS["frames"].replace("STATE", '{"area": "north", "area" : "east"}')
    refused(tmp_path, content, "'d', turn 0, slot 'hotel-area'", "'north' and 'east'", ref=reference("frames"))


@pytest.mark.parametrize("form", FORMS)
def test_two_spellings_of_one_slot(tmp_path: Path, form: str) -> None:
    name = "" if form == "frames" else "hotel-"
    state = f'{{"{name}day": "monday", "{name}book day": "friday"}}'
    content = FORMS[form].replace("STATE", state)
    refused(tmp_path, content, "'d', turn 0", "'hotel-book day'", "'monday' and 'friday'", ref=reference(form))
    again = content.replace("friday", "Monday ")
    outcomes = accepted(tmp_path, again, reference(form)).outcomes
    assert outcomes is not None and outcomes.slots == ("hotel-book day",)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "frames"])
def test_equal_doubles_do_no_harm(tmp_path: Path, form: str) -> None:
    state = '{"hotel": {"area": "north", "area": "NORTH"}, "hotel": {"area": "north"}}'
    result = accepted(tmp_path, FORMS[form].replace("STATE", state), reference(form), metrics=["SlotF1"])
    assert result.outcomes is not None and result.outcomes.slots == ("hotel-area",)
    assert result["SlotF1"].total == 1


@pytest.mark.parametrize("form", ["fga-first", "fga", "lines-first", "lines"])
def test_doubles_under_a_literal_protocol(tmp_path: Path, form: str) -> None:
    state = '{"hotel": {"area": "north", "area": "North"}}'
    refused(tmp_path, FORMS[form].replace("STATE", state), "'north' and 'North'", "(ref)", protocol="fga-official")


def test_updates_by_the_option(tmp_path: Path) -> None:
    state = '{"hotel-area": "north", "hotel-area": "east"}'
    for form in ("states", "state", "keyed"):
        content = FORMS[form].replace("STATE", state)
        refused(tmp_path, content, "'d', turn 0", "hotel-area", ref=reference(form), updates=True)


@pytest.mark.parametrize(
    "turns",
    [
        EMPTY_FGA + ", " + EMPTY_FGA,
        '"1": {"gt": {}, "pr": {}}, ' + EMPTY_FGA + ', "01": {"gt": {}, "pr": {}}',
        '" 0 ": {"gt": {}, "pr": {}}, ' + EMPTY_FGA,
    ],
    ids=["same", "01", "blank"],
)
@pytest.mark.parametrize("first", [True, False])
def test_turns_twice(tmp_path: Path, turns: str, first: bool) -> None:
    more = "" if first else '"z": {' + EMPTY_FGA + "}, "
    refused(
        tmp_path,
        f'{{{more}"d": {{{turns}}}}}',
        "dialogue 'd', turn ",
        "each turn once",
        "twice",
        "Keep one of them.",
    )
    states = turns.replace('{"gt": {}, "pr": {}}', "{}")
    more = "" if first else '"z": {"0": {}}, '
    ref = '{"d": [{}], "z": [{}]}'
    refused(tmp_path, f'{{{more}"d": {{{states}}}}}', "dialogue 'd', turn ", "each turn once", "twice", ref=ref)


@pytest.mark.parametrize("field", ["gt", "pr"])
@pytest.mark.parametrize("first", [True, False])
def test_sides_twice(tmp_path: Path, field: str, first: bool) -> None:
    more = "" if first else '"z": {' + EMPTY_FGA + "}, "
    turn = f'{{"gt": {{}}, "pr": {{}}, "{field}": {{"hotel": {{"area": "north"}}}}}}'
    refused(tmp_path, f'{{{more}"d": {{"0": {turn}}}}}', "dialogue 'd', turn 0", f'"{field}"')


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("field", ["ref", "pred", "dialogue_id", "turn_id"])
def test_fields_twice(tmp_path: Path, first: bool, field: str) -> None:
    more = "" if first else '{"dialogue_id": "z", "turn_id": 0, "ref": {}, "pred": {}}\n'
    again = {"ref": "{}", "pred": "{}", "dialogue_id": '"d"', "turn_id": "0"}[field]
    line = f'{{"dialogue_id": "d", "turn_id": 0, "ref": {{}}, "pred": {{}}, "{field}": {again}}}\n'
    number = 1 if first else 2
    refused(tmp_path, more + line, f"line {number}", "each field once", f"{field!r} twice")


@pytest.mark.parametrize(
    ("one", "other"),
    [("d", "d"), ("d", "\\u0064"), ("d", "D"), ("d.json", "d"), ("D.JSON", "d.json"), ("d", " d")],
)
def test_dialogues_twice(tmp_path: Path, one: str, other: str) -> None:
    name = json.loads(f'"{other}"')
    content = f'{{"{one}": {{{EMPTY_FGA}}}, "z": {{{EMPTY_FGA}}}, "{other}": {{{EMPTY_FGA}}}}}'
    refused(tmp_path, content, "pred.json", "each dialogue once", repr(name))
    states = content.replace(EMPTY_FGA, '"0": {}')
    refused(tmp_path, states, "pred.json", "each dialogue once", repr(name), ref='{"d": [{}], "z": [{}]}')
    good = '{"d": [{}], "z": [{}]}'
    refused(tmp_path, good, "json", "each dialogue once", repr(name), ref=states)
    bits = content.replace(EMPTY_FGA, f'"0": {[1] * 30}')
    refused(tmp_path, bits, "pred.json", "each dialogue once", repr(name), protocol="fga-trippy")
    if one != name:
        lines = [json.dumps({"dialogue_id": x, "turn_id": 0, "ref": {}, "pred": {}}) for x in (one, name)]
        refused(tmp_path, "\n".join(lines), "pred.json", "each dialogue once", repr(name))


def test_dialogues_twice_in_a_folder(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(f'{{"d": {{{EMPTY_FGA}}}}}')
    assert "each dialogue once" in refusal(run("score", tmp_path))


@pytest.mark.parametrize("text", [r"\u0022:", r"\"\u0020:", r"\"\u003a", r"\"\u003A", r"\"\u0009:", r"\"\u000a:"])
def test_an_escape_hides_no_key_that_stands_twice(text: str) -> None:
    chunk = decode(b'{"a": "%b", "b": 1, "b": 2}' % text.encode(), "here")
    assert chunk.doubled
    assert [key for key, _ in chunk.value.items()] == ["a", "b", "b"]
    assert not decode(b'{"a": "%b", "b": 1}' % text.encode(), "here").doubled
