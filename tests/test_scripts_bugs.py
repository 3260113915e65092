"""Where published scripts count otherwise than one would think: small inputs, worked out by their rules."""

import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run

LABELS = {"label_maps": {}, "class_types": ["none", "dontcare", "copy_value", "inform"], "slots": ["day", "size"]}
ONTOLOGY = {"hotel-name": ["lodge", "mill"], "restaurant-name": ["mill"]}


def figures(pred: Any, *metrics: str, **options: Any) -> list[float | None]:
    """The metrics in per cent, rounded."""
    result = dsteval.evaluate(options.pop("ref", None), pred, metrics=[*metrics], ci=None, **options)
    return [None if score.value is None else round(100 * score.value, 2) for score in result.scores]


def turn(ref: dict[str, Any], pred: dict[str, Any], number: int = 0, name: str = "d") -> dict[str, Any]:
    return {"dialogue_id": name, "turn_id": number, "ref": ref, "pred": pred}


def test_rsa_of_gca_cuts_at_the_last_hyphen() -> None:
    line = turn({"hotel-area": "east", "hotel-name": "rose-inn"}, {"hotel-area": "east", "hotel-name": "oak-inn"})
    assert figures([line], "RSA", "RSA(split=first)", protocol="gca") == [33.33, 50]


@pytest.mark.parametrize(
    ("protocol", "ref", "pred", "right"),
    [
        # The whole "lodge|mill" is not in the ontology, and erased.
        ("icdst", {"hotel-name": "lodge"}, {"hotel-name": "lodge|mill"}, False),
        ("icdst", {"hotel-area": "east"}, {"hotel-area": "east|west"}, True),
        # "none" is an accepted value like others, but no value by itself.
        ("icdst", {"hotel-area": "east|none"}, {"hotel-area": "none"}, True),
        ("icdst", {"hotel-area": "none"}, {}, True),
        ("dst-prompting", {"taxi-leaveat": "9:15|10:15"}, {"taxi-leaveat": "09:15"}, False),
        ("dst-prompting", {"taxi-leaveat": "9:15|10:15"}, {"taxi-leaveat": "10:15"}, True),
        ("dst-prompting", {"taxi-leaveat": "9:15"}, {"taxi-leaveat": "09:15"}, True),
        # "an" is nothing once articles are gone, and a missing slot is the empty text.
        ("dst-prompting", {"hotel-area": "an|east"}, {}, True),
        ("dst-prompting", {"hotel-area": "an|east"}, {"hotel-area": "west"}, False),
        ("dst-prompting", {"hotel-area": "east"}, {}, False),
    ],
)
def test_alternatives_are_corrected_as_one_text(
    protocol: str, ref: dict[str, str], pred: dict[str, str], right: bool
) -> None:
    found = figures([turn(ref, pred)], "JGA", protocol=protocol, ontology=ONTOLOGY)
    assert found == [100 if right else 0]


def test_new_values_of_hidst_are_looked_for_with_the_sides_swapped() -> None:
    state = {"taxi-leaveat": "6:45 pm"}
    lines = [
        turn({"taxi-leaveat": "18:45"}, {}),
        {**turn({"taxi-leaveat": "18:45"}, state, 1), "pred_update": state},
    ]
    lines[0]["pred_update"] = {}
    assert figures(lines, "TurnMatch", "JGA", protocol="hidst", variants={"a": ["b"]}) == [50, 0]


def fga_json(*numbers: int) -> dict[str, Any]:
    wrong = {"gt": {"hotel": {"area": "east"}}, "pr": {"hotel": {"area": "west"}}}
    return {"d": {str(number): wrong for number in numbers}}


@pytest.mark.parametrize("protocol", ["fga-official", "gca"])
@pytest.mark.parametrize(("numbers", "expected"), [((0, 1), 19.67), ((0, 2), 31.61), ((3, 8), 45.9)])
def test_distances_of_fga_are_of_the_numbers_as_written(
    protocol: str, numbers: tuple[int, ...], expected: float, tmp_path: Path
) -> None:
    (tmp_path / "p.json").write_text(json.dumps(fga_json(*numbers)))
    assert figures(tmp_path / "p.json", "FGA@0.5", protocol=protocol) == [expected]


def test_a_weight_of_fga_trippy_that_rounds_to_one_is_an_exact_turn(tmp_path: Path) -> None:
    marks = [0, *[1] * 29]
    for numbers, expected in (((0, 37, 74), 66.67), ((0, 40, 80), 33.33), ((0, 40, 80, 120), 50)):
        (tmp_path / "p.json").write_text(json.dumps({"d": {str(number): marks for number in numbers}}))
        assert figures(tmp_path / "p.json", "FGA@0.5", protocol="fga-trippy") == [expected]


@pytest.mark.parametrize(
    ("ref", "pred", "wrong"), [("a-x|c-d", "a-y", 2), ("b|x", "a-y", 2), ("a-x", "a-y", 1), ("b|x", "y", 1)]
)
def test_alternatives_are_one_text_where_slots_are_found_at_the_last_hyphen(
    ref: str, pred: str, wrong: int
) -> None:
    line = turn({"hotel-area": ref}, {"hotel-area": pred})
    found = figures([line], "SlotAccuracy", protocol="icdst", ontology=ONTOLOGY)
    assert found == [round(100 * (30 - wrong) / 30, 2)]


@pytest.mark.parametrize("protocol", ["fga-official", "gca", "hidst"])
def test_turns_out_of_order_are_refused_where_the_script_walks_them(protocol: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(fga_json(1, 0)))
    (tmp_path / "v.json").write_text('{"a": ["b"]}')
    options = ["--variants", str(tmp_path / "v.json")] if protocol == "hidst" else []
    told = refusal(run("score", tmp_path / "p.json", "--protocol", protocol, *options))
    assert "p.json: expected turns in ascending order" in told
    assert "(1 of 1 dialogues, d)" in told
    assert figures(tmp_path / "p.json", "JGA") == [0]


def test_domains_of_fnctod_leave_out_values_that_became_empty() -> None:
    lines = [turn({"hotel-area": "east"}, {"hotel-area": "east", "hotel-name": "the"})]
    result = dsteval.evaluate(None, lines, metrics=["JGA"], protocol="fnctod", by=["domain"], ci=None)
    assert result["JGA"].value == 0
    assert {part.scores[0].value for part in result.slices if part.key == "hotel"} == {1}


def sgd(values: dict[str, dict[str, list[str]]]) -> list[dict[str, Any]]:
    frames = [
        {"service": service, "state": {"active_intent": "NONE", "requested_slots": [], "slot_values": slots}}
        for service, slots in values.items()
    ]
    turns = [{"speaker": "USER", "utterance": "u", "frames": frames}]
    return [{"dialogue_id": "1", "services": [*values], "turns": turns}]


def test_sgd(tmp_path: Path) -> None:
    schema = [
        {"service_name": "A_1", "slots": []},
        {"service_name": "B_1", "slots": [{"name": "when", "is_categorical": False}]},
    ]
    files = {
        "schema": schema,
        "ref": sgd({"A_1": {}, "B_1": {"when": ["9:30 in the morning"]}}),
        "pred": sgd({"A_1": {}, "B_1": {"when": ["3:15 in the afternoon"]}}),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    asked: dict[str, Any] = {"ref": tmp_path / "ref.json", "schema": tmp_path / "schema.json", "protocol": "sgd"}
    # Service A_1 has no slots: its frame does not count as a right one, by itself or in its turn.
    assert figures(tmp_path / "pred.json", "JGA", "FrameJGA(across=turn)", "IntentAccuracy", **asked) == [
        55,
        55,
        100,
    ]
    notes = dsteval.evaluate(asked["ref"], tmp_path / "pred.json", schema=asked["schema"], protocol="sgd").notes
    assert "1 frame of services without slots left out of JGA (1 turn 0 A_1)" in notes
    rule = ["match.rule=sgd-difflib"]
    result = dsteval.evaluate(asked.pop("ref"), tmp_path / "pred.json", metrics=["JGA"], settings=rule, **asked)
    assert result["JGA"].value == 0.45
    assert "match:sgd-difflib" in result["JGA"].signature


def test_only_multiwoz_itself_goes_through_create_data() -> None:
    lines = [turn({"hotel-name": "", "hotel-area": "north"}, {"hotel-area": "north"})]
    assert figures(lines, "JGA", protocol="trade") == [0]  # fix_label makes "" a label "none"
    lines = [
        turn({"hotel-name": "the-mill", "taxi-departure": ""}, {"hotel-name": "the-mill", "taxi-departure": ""})
    ]
    assert figures(lines, "JGA", protocol="fga-official") == [100]


def multiwoz(*texts: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    state = {"hotel": {"book": {"booked": []}, "semi": {"area": "north", "name": ""}}}
    return {"log": [{"text": text, "metadata": state if n % 2 else {}} for n, text in enumerate(texts)]}


def test_create_data_looks_at_the_utterances_after_the_last_turn(tmp_path: Path) -> None:
    data = {
        "A": multiwoz("hi", "hello", "bye"),
        "B": multiwoz("hi", "word " * 51),
        "C": multiwoz("hi", "caf\u00e9"),
        "D": multiwoz("hi", "hello"),
    }
    (tmp_path / "data.json").write_text(json.dumps(data))
    pred = {name: [{"hotel-area": "north"}] for name in data}
    result = dsteval.evaluate(tmp_path / "data.json", pred, metrics=["JGA"], protocol="trade")
    assert (result["JGA"].value, result.coverage.scored_dialogues, result.coverage.left_out) == (
        1,
        1,
        ["A", "B", "C"],
    )
    assert run("convert", tmp_path / "data.json", tmp_path / "data.jsonl").code == 0
    again = dsteval.evaluate(tmp_path / "data.jsonl", pred, metrics=["JGA"], protocol="trade")
    assert again.coverage == result.coverage
    # A file with both sides, such as `track` writes, has its reference in it.
    both = [json.loads(line) for line in (tmp_path / "data.jsonl").read_text().splitlines()]
    both = [{"ref": line.pop("state"), **line, "pred": {"hotel-area": "north"}} for line in both]
    own = dsteval.evaluate(None, both, metrics=["JGA"], protocol="trade")
    assert (own["JGA"].value, own.coverage.left_out) == (1, ["A", "B", "C"])


def test_create_data_is_not_asked_about_utterances_that_are_not_there(tmp_path: Path) -> None:
    data = {"D": multiwoz("hi", "hello")}
    del data["D"]["log"][1]["text"]
    (tmp_path / "data.json").write_text(json.dumps(data))
    assert figures({"D": [{"hotel-area": "north"}]}, "JGA", ref=tmp_path / "data.json", protocol="trade") == [100]


@pytest.mark.parametrize(("value", "right"), [("dontcare", True), ("don't care", False), ("dont care", False)])
def test_one_spelling_of_dontcare_is_dropped(value: str, right: bool) -> None:
    lines = [turn({"hotel-area": value}, {})]
    assert figures(lines, "JGA", protocol="simpletod-v1") == [100 if right else 0]
    assert figures(lines, "JGA", protocol="mwzeval") == [100 if right else 0]


def test_dontcare_is_looked_for_before_values_are_rewritten() -> None:
    # The loader drops "dontcare", the normalisation of names comes later; a later value of the list will do.
    assert figures([turn({"hotel-name": "Dontcare"}, {})], "JGA", protocol="mwzeval") == [0]
    assert figures([turn({"hotel-name": ["lodge", "dontcare"]}, {})], "JGA", protocol="mwzeval") == [100]


@pytest.mark.parametrize(
    ("numbers", "more"), [([0, 1, 2], ["2"]), ([0, 2, 4, 6], ["4", "6"]), ([0, 1, 5], ["5"]), ([0, 2, 3], None)]
)
def test_only_turns_after_the_last_are_ignored(numbers: list[int], more: list[str] | None) -> None:
    ref = [{"dialogue_id": "d", "turn_id": t, "ref": {"hotel-area": "north"}} for t in (0, 1)]
    pred = [{"dialogue_id": "d", "turn_id": t, "pred": {"hotel-area": "north"}} for t in numbers]
    if more is None:  # which two of them are the reference's is anyone's guess
        with pytest.raises(dsteval.DstevalError, match="the same number of turns"):
            dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="mwzeval")
        assert dsteval.evaluate(ref, pred[:2], metrics=["JGA"], protocol="mwzeval")["JGA"].value == 1
        return
    result = dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="mwzeval")
    assert (result["JGA"].value, result.coverage.ignored) == (1, [f"d turn {number}" for number in more])


def test_mwzeval_ignores_what_is_predicted_after_the_last_turn() -> None:
    ref, pred = {"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": "north"}, {"hotel-area": "south"}]}
    result = dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="mwzeval")
    assert result["JGA"].value == 1
    assert result.notes[0] == "1 predicted turn after the reference's last ignored (d turn 1)"
    with pytest.raises(dsteval.DstevalError, match="the same number of turns"):
        dsteval.evaluate(ref, pred, metrics=["JGA"])


def test_names_of_bed_and_breakfasts() -> None:
    lines = [turn({"hotel-name": "oak bed and breakfast"}, {"hotel-name": "oak b and b"})]
    assert figures(lines, "JGA", protocol="mwzeval") == [0]
    assert figures(lines, "JGA", protocol="mwzeval-2023") == [100]
    lines = [turn({"taxi-departure": "Oak Bed & Breakfast"}, {"taxi-departure": "oak b&b"})]
    assert figures(lines, "JGA", protocol="mwzeval-2023") == [100]
    lines = [turn({"hotel-type": "bed and breakfast"}, {"hotel-type": "b and b"})]
    assert figures(lines, "JGA", protocol="mwzeval-2023") == [0]


def trippy(kind: int, value: str, gold: str, number: int) -> dict[str, Any]:
    said = {"class_prediction_day": kind, "slot_prediction_day": value, "slot_groundtruth_day": gold}
    return {"guid": ["test", "d", str(number)], **said}


def test_classes_of_trippy_are_those_of_the_configuration(tmp_path: Path) -> None:
    rows = [
        trippy(0, "none", "none", 0),
        trippy(3, "\u00a7\u00a7 monday", "monday", 1),
        trippy(0, "x", "monday", 2),
    ]
    (tmp_path / "pred.json").write_text(json.dumps(rows))
    asked: dict[str, Any] = {"protocol": "trippy", "settings": []}
    assert figures(tmp_path / "pred.json", "JGA", variants=LABELS, **asked) == [100]
    seven = ["none", "dontcare", "copy_value", "true", "false", "refer", "inform"]
    assert figures(tmp_path / "pred.json", "JGA", variants={**LABELS, "class_types": seven}, **asked) == [33.33]
    for classes, told in (
        (seven[:3], "expected one of the classes"),
        (None, "expected class_types, the tracker's classes in order, in the file"),
    ):
        with pytest.raises(dsteval.DstevalError, match=told):
            figures(tmp_path / "pred.json", "JGA", variants={**LABELS, "class_types": classes}, **asked)


def test_classes_of_trippy_that_the_script_does_not_know_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pred.json").write_text(json.dumps([trippy(1, "monday", "monday", 0)]))
    config = {**LABELS, "class_types": ["none", "request"]}
    with pytest.raises(dsteval.DstevalError, match=r"one of TripPy's classes .*, found class request\."):
        figures(tmp_path / "pred.json", "JGA", protocol="trippy", variants=config)
    assert figures(tmp_path / "pred.json", "JGA") == [100]


def test_the_signature_tells_configurations_with_other_classes_apart(tmp_path: Path) -> None:
    (tmp_path / "pred.json").write_text(json.dumps([trippy(1, "monday", "monday", 0)]))
    hashes = set()
    for names in (["none", "dontcare"], ["none", "copy_value"]):
        config = {**LABELS, "class_types": names}
        result = dsteval.evaluate(None, tmp_path / "pred.json", protocol="trippy", variants=config)
        hashes.add(result["JGA"].signature.partition("variants:")[2])
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"class_types": ["none"], "label_maps": {"a": "b"}}, "label_maps that are not all lists of strings"),
        ({"class_types": ["none"], "slots": ["day"]}, "an object of 'class_types, slots'"),
        ({}, "an object of ''"),
    ],
)
def test_a_configuration_without_variants_has_to_say_so(config: dict[str, Any], found: str) -> None:
    lines = [turn({"hotel-area": "east"}, {"hotel-area": "east"})]
    with pytest.raises(dsteval.DstevalError, match=found):
        figures(lines, "JGA", protocol="trippy", variants=config)
    assert figures(lines, "JGA", protocol="trippy", variants={"label_maps": {}}) == [100]
    with pytest.raises(dsteval.DstevalError, match="a JSON object of slots"):
        figures(lines, "JGA", protocol="icdst", ontology={"label_maps": {}})


@pytest.mark.parametrize("protocol", ["trade", "simpletod", "fnctod", "mwzeval"])
@pytest.mark.parametrize("sides", [("ref",), ("pred",), ("ref", "pred")])
def test_the_advice_about_lists_works(protocol: str, sides: tuple[str, ...]) -> None:
    ref, pred = ({"restaurant-food": ["thai", "greek"] if side in sides else "thai"} for side in ("ref", "pred"))
    settings: list[str] = []
    try:
        found = figures([turn(ref, pred)], "JGA", protocol=protocol)
    except dsteval.DstevalError as error:
        settings = [error.command_line.partition("--set ")[2].rstrip(".")]
        found = figures([turn(ref, pred)], "JGA", protocol=protocol, settings=settings)
    assert found == [100]
    assert settings or (protocol, sides) == ("mwzeval", ("ref",))


def test_the_advice_about_a_predicted_list_works() -> None:
    ref, pred = {"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": ["north", "the north"]}]}
    with pytest.raises(dsteval.DstevalError, match=r"states\.alternatives_pred=first"):
        figures(pred, "JGA", ref=ref, protocol="mwzeval")
    settings = ["states.alternatives_pred=first"]
    assert figures(pred, "JGA", ref=ref, protocol="mwzeval", settings=settings) == [100]
