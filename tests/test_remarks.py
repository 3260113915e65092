"""What score remarks where data were most likely not meant as they are written, and what signatures tell apart."""

from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.analysis.value_checks import facts
from dsteval.pipeline.dialogue_files import read

State = dict[str, Any]


def notes(ref: Any, pred: Any, **options: Any) -> str:
    result = dsteval.evaluate(ref, pred, metrics=["JGA"], ci=None, **options)
    return "\n".join(result.notes)


def jga(ref: Any, pred: Any, **options: Any) -> float | None:
    return dsteval.evaluate(ref, pred, metrics=["JGA"], ci=None, **options)["JGA"].value


def many(state: State, number: int = 10) -> dict[str, list[State]]:
    return {f"d{n}": [state] for n in range(number)}


def test_a_side_without_any_slot() -> None:
    assert "the reference has no slots at any turn" in notes(many({}), many({"hotel-area": "north"}))
    assert "the reference and the predictions have no slots at any turn" in notes(many({}), many({}))
    assert "every predicted state is empty" in notes(many({"hotel-area": "north"}), many({}))


@pytest.mark.parametrize(("empty", "told"), [(6, True), (5, True), (4, False), (0, False)])
def test_most_predicted_states_are_empty(empty: int, told: bool) -> None:
    pred = {f"d{n}": [{} if n < empty else {"hotel-area": "north"}] for n in range(10)}
    said = notes(many({"hotel-area": "north"}), pred)
    assert (f"{empty} of 10 predicted states are empty where the reference is not" in said) is told


@pytest.mark.parametrize("word", ["null", "n/a", "N/A", "not_mentioned", "unknown", "?", "\u672a\u63d0\u53ca"])
def test_words_for_no_value(word: str) -> None:
    ref, pred = many({"hotel-area": "north"}, 3), many({"hotel-area": "north", "hotel-name": word}, 3)
    said = notes(ref, pred)
    assert (
        f"3 predicted values are used as placeholders for no value (first: hotel-name {word.casefold()!r})" in said
    )
    assert "--set 'states.absent=" in said
    assert "placeholders for no value" not in notes(pred, pred)


def test_advice_about_words_for_no_value_works() -> None:
    ref, pred = many({"hotel-area": "north"}, 3), many({"hotel-area": "north", "hotel-name": "null"}, 3)
    advice = notes(ref, pred).split("--set '")[1].split("'")[0]
    assert jga(ref, pred, settings=[advice]) == 1


def test_deletions_in_whole_states() -> None:
    ref = {"d": [{"hotel-area": "north"}, {}]}
    pred = {"d": [{"hotel-area": "north"}, {"hotel-area": "[DELETE]"}]}
    said = notes(ref, pred)
    assert "1 predicted value is '[DELETE]'" in said
    assert "add --updates" in said
    assert jga(ref, pred, updates=True) == 1


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|endoftext|>", "</s>", "[SEP]", " <eos_b>"])
def test_special_tokens_are_not_cut_apart(mark: str) -> None:
    ref, pred = many({"hotel-area": "north"}, 2), many({"hotel-area": f"north{mark}"}, 2)
    assert "2 predicted values hold special tokens (first: hotel-area 'north" in notes(ref, pred)
    assert jga(pred, pred) == 1


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("cafe\u0301", "caf\u00e9", True),
        ("\u00c5ngstro\u0308m", "A\u030angstr\u00f6m", True),
        ("\uff11\uff12", "12", False),
        ("nor\u200bth", "north", False),
    ],
)
def test_unicode(one: str, other: str, equal: bool) -> None:
    for ref, pred in ((one, other), (other, one)):
        assert jga(many({"x-y": ref}, 1), many({"x-y": pred}, 1)) == equal
        assert jga(many({f"x-{ref}": "a"}, 1), many({f"x-{pred}": "a"}, 1)) == equal
        assert (
            "are wrong but look identical to the reference" in notes(many({"x-y": ref}, 2), many({"x-y": pred}, 2))
        ) is not equal


@pytest.mark.parametrize("protocol", ["exact", "normalised", "card"])
@pytest.mark.parametrize("value", ["friday>saturday", "friday|saturday", "friday<saturday", "a > b"])
def test_the_same_text_is_right(protocol: str, value: str) -> None:
    state = many({"hotel-book day": value}, 1)
    assert jga(state, state, protocol=protocol) == 1


SCHEMA = [
    {
        "service_name": "Media_1",
        "slots": [{"name": "subtitles", "is_categorical": True, "possible_values": ["None"]}],
    }
]


def test_values_of_the_schema_are_never_absent() -> None:
    ref, pred = many({"Media_1-subtitles": "None"}, 2), many({}, 2)
    assert jga(ref, pred) == 1
    assert jga(ref, pred, schema=SCHEMA) == 0
    assert jga(ref, pred, ontology={"media_1-subtitles": ["None", "english"]}) == 0
    hotel = many({"hotel-area": "none"}, 2)
    assert jga(hotel, pred, ontology={"hotel-area": ["none", "north"]}) == 1


def test_values_that_were_dropped_are_counted() -> None:
    state = {"Media_1-subtitles": "None", "Media_1-title": "x", "Media_1-actor": "y"}
    ref: dict[str, list[State]] = {"d": [state, state, {**state, "Media_1-title": "z"}]}
    pred = {"d": [{**one, "Media_1-subtitles": "english"} for one in ref["d"]]}
    said = notes(ref, pred)
    assert "3 reference values are treated as not set (first: Media_1-subtitles 'None')" in said
    assert "taken for slots" not in notes(ref, pred, schema=SCHEMA)
    whole = many({"hotel-area": "none", "hotel-name": "x"}, 3)
    assert "taken for slots" not in notes(whole, whole)


@pytest.mark.parametrize("others", [{}, {"hospital-department": "icu"}, {"profile-name": "x"}])
def test_slots_that_the_reference_never_has(others: State) -> None:
    ref = {**many({"hotel-area": "north"}, 2), "e": [others]}
    pred = {**many({"hotel-area": "north", "hotel-aera": "north"}, 2), "e": [others]}
    assert "1 predicted slot is never in the reference" in notes(ref, pred)
    assert "'hotel-aera' (first: dialogue 'd0', turn 0)" in notes(ref, pred)
    assert "never in the reference" not in notes(ref, ref)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('states.only=["hotel-aera"]', "hotel-area"),
        ('scope.leave_out=["d11"]', "d1"),
    ],
)
def test_settings_that_name_what_is_not_there(setting: str, told: str, tmp_path: Any) -> None:
    import json

    path = tmp_path / "both.jsonl"
    lines = [
        {"dialogue_id": f"d{n}", "turn_id": 0, "ref": {"hotel-area": "north"}, "pred": {"hotel-area": "south"}}
        for n in range(3)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    said = refusal(run("score", path, "--set", setting))
    assert setting.split("=")[0] in said
    assert told in said


def signature(lines: list[dict[str, Any]], metric: str = "JGA", **options: Any) -> str:
    return dsteval.evaluate(None, lines, metrics=[metric], ci=None, **options)[metric].signature


def lines(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    states = {"ref": {"hotel-area": "north"}, "pred": {"hotel-area": "south"}}
    return [{"dialogue_id": "D", "turn_id": number, **states, **more} for number in numbers]


def test_turn_numbers_are_in_the_signature() -> None:
    plain = signature(lines(0, 1, 2))
    assert plain == signature(lines(0, 1, 2, gaps=True))
    assert len({plain, signature(lines(0, 3, 7, gaps=True)), signature(lines(0, 1, 2, alone=True))}) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"settings": ["states.dontcare=keep"]},
        {"settings": ['states.absent=["not mentioned", "", "none"]']},
        {"settings": ["states.separators=<>|"]},
        {"settings": ["states.dontcare=drop", "states.dontcare=keep"]},
        {"settings": ["scope.leave_out_why=because"]},
        {"missing": "skip"},
        {"missing": "empty"},
        {"extra": "ignore"},
    ],
    ids=str,
)
def test_what_changes_nothing_does_not_change_the_signature(options: dict[str, Any]) -> None:
    assert signature(lines(0, 1), **options) == signature(lines(0, 1))


def test_a_parameter_at_its_default_does_not_change_the_signature() -> None:
    assert signature(lines(0, 1), "AGA(over=ref)") == signature(lines(0, 1), "AGA")
    assert signature(lines(0, 1), "FGA(variant=official)@0.5") == signature(lines(0, 1), "FGA@0.5")


def test_what_was_left_out_changes_the_signature() -> None:
    ref: dict[str, list[State]] = {"a": [{}], "b": [{}]}
    pred: dict[str, list[State]] = {"a": [{}]}
    result = dsteval.evaluate(ref, pred, metrics=["JGA"], missing="skip")
    assert "missing:skip" in result["JGA"].signature
    result = dsteval.evaluate(pred, ref, metrics=["JGA"], extra="ignore")
    assert "extra:ignore" in result["JGA"].signature


def test_slots_as_written_under_trade() -> None:
    ref, pred = many({"hotel-book day": "monday"}, 1), many({"hotel-day": "monday"}, 1)
    assert jga(ref, pred, protocol="trade") == 1
    assert jga(ref, pred, protocol="trade", settings=["states.slots=as-written"]) == 0


@pytest.mark.parametrize("value", ["null", "[DELETE]", "north<|im_end|>", "?"])
def test_validate_lists_odd_values(value: str, tmp_path: Any) -> None:
    import json

    path = tmp_path / "pred.json"
    path.write_text(json.dumps(many({"hotel-area": value}, 2)))
    (fact,) = [fact for fact in facts(read(path)) if fact.kind == "odd-values"]
    assert fact.values == 2
    ran = run("validate", path)
    assert ran.code == 0
    assert value in ran.out


def test_validate_tells_of_invisible_characters(tmp_path: Any) -> None:
    import json

    path = tmp_path / "pred.json"
    path.write_text(json.dumps({"a": [{"x-y": "nor\u200bth"}], "b": [{"x-y": "north"}]}))
    assert [fact.kind for fact in facts(read(path))] == ["variant-spellings"]
