"""Errors as rows: what a wrong value has to do with the dialogue, and the file of ``score --errors``."""

import csv
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import process, run
from dsteval.outcomes.error_records import RELATIONS, DialogueContext, ErrorRecord, relation
from dsteval.prepare.vocabulary import State
from native import FORMATS, done, refusal, written

EXAMPLE = Path(dsteval.__file__).parent / "example"

TOLD = DialogueContext(
    [None, "The Gonville is a 4-star hotel. Shall I book it?", "It leaves at 09:15."],
    ["A cheap room, please, and a train.", "No! Not so dear. How about Kings' Hedges?", "The earlier one."],
    [{"train-day": "monday"}, {"train-day": "friday", "hotel-stars": "2"}, {"hotel-stars": frozenset({"2", "3"})}],
)


@pytest.mark.parametrize(
    ("slot", "ref", "pred", "at", "expected"),
    [
        ("hotel-area", None, "dontcare", 0, "dontcare or none"),
        ("hotel-area", "dontcare", None, 0, "dontcare or none"),
        ("hotel-area", frozenset({"dontcare", "north"}), None, 0, "dontcare or none"),
        ("hotel-area", None, "don't care", 0, "dontcare or none"),
        ("hotel-area", "north", "dontcare", 0, "nowhere"),
        ("hotel-area", "north", None, 2, None),
        ("train-leaveat", "05:15", "5:15", 0, "spelling"),
        ("hotel-name", "the a-z guest house", "az guesthouse", 0, "spelling"),
        ("hotel-name", "pebble cottage", "pebble", 0, "substring"),
        ("hotel-name", "pebble", frozenset({"old pebble", "nothing"}), 0, "substring"),
        ("hotel-name", "pebble", "pebbles", 0, "nowhere"),  # words, not letters
        ("train-departure", None, "monday", 0, "another slot"),
        ("train-departure", None, "monday", 2, "another slot"),  # or before
        ("train-departure", None, "friday", 0, "nowhere"),  # not later
        ("train-day", "sunday", "monday", 2, "nowhere"),  # its own old value is no other slot's
        ("taxi-departure", None, "friday", 1, "another domain"),
        ("hotel-name", None, "2", 1, "another slot"),
        ("train-people", None, "3", 2, "another domain"),  # any accepted value
        ("hotel-name", None, "gonville", 0, "nowhere"),
        ("hotel-name", None, "gonville", 1, "offered"),
        ("train-leaveat", None, "09:15", 2, "offered"),
        ("hotel-pricerange", None, "Cheap", 2, "said"),
        ("hotel-area", None, "king's hedges", 1, "nowhere"),  # "kings hedges" has other words
        ("hotel-area", None, "kings hedges", 1, "said"),
        ("hotel-area", None, "-", 1, "nowhere"),
    ],
)
def test_the_first_relation_that_holds(slot: str, ref: Any, pred: Any, at: int, expected: str | None) -> None:
    assert relation(slot, ref, pred, TOLD, at) == expected
    assert expected is None or expected in RELATIONS


def test_without_texts_no_relation_that_needs_them() -> None:
    silent = replace(TOLD, system=[None] * 3, user=[None] * 3)
    assert relation("hotel-name", None, "gonville", silent, 1) is None
    assert relation("hotel-name", "the gonville", "gonville", silent, 1) == "spelling"
    assert relation("train-departure", None, "monday", silent, 1) == "another slot"
    # Whether the user accepted what was offered cannot be told from the system's words alone.
    assert relation("hotel-name", None, "gonville", replace(TOLD, user=[None] * 3), 1) is None


def test_what_was_said_is_found_in_whole_words_of_one_utterance() -> None:
    told = DialogueContext(["Red", None, "", "a lion"], [None, "the old", "RED, Lion!", "lions the"], [{}] * 4)
    for text, by_user, by_system in (
        ("red lion", 2, None),
        ("lion", 2, 3),
        ("lions", 3, None),
        ("the", 1, None),
        ("red", 2, 0),
        ("old red", None, None),  # the end of one and the beginning of the next
        ("li", None, None),
        ("a", None, 3),
        ("-", None, None),
    ):
        for side, first in enumerate((by_user, by_system)):
            assert [told.said(side, text, at) for at in range(4)] == [
                first is not None and at >= first for at in range(4)
            ]


@pytest.mark.parametrize(
    ("value", "pred", "expected"),
    [
        (frozenset({"a", "b", "c"}), frozenset({"c", "b"}), "another slot"),
        (frozenset({"a", "b"}), frozenset({"b", "d"}), "nowhere"),
        ("a", frozenset({"a", "b"}), "nowhere"),
        (("a", "b", "a"), ("b", "a"), "another slot"),
        (("a", "b"), "b", "another slot"),
    ],
)
def test_another_slots_value_holds_all_that_is_predicted(value: Any, pred: Any, expected: str) -> None:
    context = DialogueContext([None], ["Hello."], [{"hotel-area": value}])
    assert relation("hotel-name", None, pred, context, 0) == expected


def test_relations_of_a_long_dialogue_are_told_at_once() -> None:
    turns = range(8_000)
    texts = [f"I want number {at}" for at in turns]
    states: list[State] = [{"hotel-name": f"x{at}"} for at in turns]
    context = DialogueContext([*texts], [*texts], states)
    found = [relation("hotel-area", None, f"{'x' * (at % 2)}{at}", context, at) for at in turns]
    assert found == ["said", "another slot"] * 4_000
    assert {relation("hotel-area", None, f"y{at}", context, at) for at in turns} == {"nowhere"}


def line(turn: int, ref: dict[str, Any], pred: dict[str, Any], **texts: str) -> dict[str, Any]:
    return {"dialogue_id": "d", "turn_id": turn, "ref": ref, "pred": pred, **texts}


LINES = [
    line(0, {"hotel-area": "North"}, {"hotel-area": "north"}, user="In the north."),
    line(1, {"hotel-area": "South"}, {"hotel-area": "north"}, system="None there.", user='Then\n"south", please.'),
    line(2, {"hotel-area": ["south", "East"]}, {"hotel-area": "South", "spa-room": "north"}, system="", user="Ok"),
]


def test_errors_in_python() -> None:
    result = dsteval.evaluate(None, LINES, metrics=["JGA"], errors=True)
    assert result.errors == (
        ErrorRecord(
            dialogue="d",
            slot="hotel-area",
            domain="hotel",
            kind="stale",
            origin=1,
            end="repaired",
            end_turn=2,
            lifetime=1,
            ref="south",
            pred="north",
            relation="said",
            user_text='Then\n"south", please.',
            system_text="None there.",
        ),
        ErrorRecord(
            "d", "spa-room", "spa", "spurious", 2, "lived", None, 1, None, "north", "another domain", "Ok", ""
        ),
    )
    assert dsteval.evaluate(None, LINES, metrics=["JGA"]).errors is None
    perfect = [line(0, {"hotel-area": "north"}, {"hotel-area": "north"})]
    assert dsteval.evaluate(None, perfect, metrics=["JGA"], errors=True).errors == ()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_file_of_several_systems(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    both = written(tmp_path / "both.jsonl", "\n".join(map(json.dumps, LINES)))
    ran = done("score", f"a={both}", f"b={both}", "--metric", "JGA", "--errors", path, "--as", "csv")
    assert ran.out.startswith("system,protocol,metric,")
    found = rows(path)
    assert [(row["system"], row["slot"]) for row in found] == [
        (name, slot) for name in "ab" for slot in ("hotel-area", "spa-room")
    ]
    assert [*found[0]] == ["system", *(field.name for field in fields(ErrorRecord))]
    assert found[0]["user_text"] == 'Then\n"south", please.'
    assert (found[1]["ref"], found[1]["end_turn"], found[1]["lifetime"]) == ("", "", "1")


def test_the_header_is_always_there(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    perfect = written(tmp_path / "both.jsonl", json.dumps(line(0, {"hotel-area": "a"}, {"hotel-area": "a"})))
    done("score", perfect, "--errors", path)
    assert path.read_text(encoding="utf-8").startswith("system,dialogue,slot,domain,kind,origin,")
    assert rows(path) == []


def test_rows_of_the_example_are_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    arguments: list[str | Path] = [
        EXAMPLE / "prompted.jsonl",
        "--ref",
        EXAMPLE / "reference.jsonl",
        "--as",
        "json",
        "--no-ci",
    ]
    chosen = [part for name in ("OriginErrors", "RepairRate", "ErrorLifetime") for part in ("--metric", name)]
    scores = json.loads(done("score", *arguments, *chosen, "--errors", path).out)["systems"][0]["scores"]
    found = rows(path)
    counts = [score["count"] for score in scores]
    assert counts == [
        len(found),
        sum(row["end"] == "repaired" for row in found),
        sum(int(row["lifetime"]) for row in found),
    ]
    assert {row["relation"] for row in found} <= {*RELATIONS, ""}


def test_marks_give_rows_without_values_and_kinds(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    marks = {"d.json": {"0": [0] + [1] * 29, "1": [0] + [1] * 29, "2": [1] * 30}}
    done("score", written(tmp_path / "bits.json", json.dumps(marks)), "--protocol", "fga-trippy", "--errors", path)
    (row,) = rows(path)
    assert (row["origin"], row["end"], row["end_turn"], row["lifetime"]) == ("0", "repaired", "2", "2")
    assert {row[name] for name in ("kind", "ref", "pred", "relation", "user_text", "system_text")} == {""}


def test_what_has_no_errors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    sgd = FORMATS / "sgd/dev"
    ran = run("score", sgd, "--ref", sgd, "--protocol", "sgd", "--errors", path)
    assert (ran.code, ran.out) == (1, "")
    assert "dsteval: errors: cannot be followed: the protocol scores service frames" in ran.err
    both = written(tmp_path / "both.jsonl", "\n".join(map(json.dumps, LINES)))
    saved = tmp_path / "saved.json"
    done("score", both, "-o", saved)
    assert "a saved result" in refusal("score", saved, "--errors", path)
    assert "--errors" in refusal("score", saved, "--merge", "whole", "--errors", path)
    assert not path.exists()
    ran = process("score", both, "--errors", tmp_path / "none" / "errors.csv")
    assert (ran.code, ran.out) == (1, "")
    assert "cannot be written" in ran.err
