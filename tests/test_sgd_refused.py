"""What the protocols of service frames refuse, and say."""

import math
from typing import Any

import pytest

from dsteval.errors import DstevalError
from naive_sgd import Json
from test_sgd import PRED, REF, SCHEMA, dialogue, evaluate, turns

BARE = [{**SCHEMA[0], "slots": [{"name": "area"}, {"name": "name", "is_categorical": False}]}, SCHEMA[1]]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"schema": None}, ["expected a schema", "found none", "--schema FILE", "scope.schema=none"]),
        ({"schema": SCHEMA[:1]}, ["every service of the reference", "1 missing (Media_1)"]),
        ({"schema": [SCHEMA[0], {"service_name": "Media_1"}]}, ["every slot", "1 missing (Media_1-title)"]),
        ({"schema": BARE}, ["whether it is categorical", "1 missing (Hotels_1-area)"]),
        ({"schema": [{"name": "x"}]}, ["--schema", "expected a schema", "found a different structure"]),
        ({"train_schema": "absent.json"}, ["absent.json", "no such file"]),
        ({"updates": True}, ["expected a frame", "found updates (pred)"]),
        ({"by": ["group"]}, ["--by group", "--train-schema FILE"]),
        ({"by": ["group"], "protocol": "exact"}, ["--by group", "--protocol sgd"]),
        ({"by": ["slot"]}, ["--by slot", "service, domain, group"]),
        ({"domain_lambda": {"hotel": 1.0}}, ["--domain-lambda", "found service frames"]),
        ({"settings": ["scope.frames=all"]}, ["scope.frames", "domains"]),
        ({"settings": ["scope.unit=frames"]}, ["scope.unit", "'frame'"]),
    ],
)
def test_refused(options: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(DstevalError) as refused:
        evaluate(REF, PRED, **options)
    for part in told:
        assert part in refused.value.command_line


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"area": []}, ["turn 0", "Hotels_1-area", "a value in every list (pred)", "1 of 2 turns"]),
        ({"area": None}, ["Hotels_1-area", "a value in every list (pred)"]),
    ],
)
def test_a_list_without_a_value_is_refused(values: Json, told: list[str]) -> None:
    listed = turns(PRED)
    listed[0]["Hotels_1"]["slot_values"] = values
    with pytest.raises(DstevalError) as refused:
        evaluate(REF, [dialogue("1", *listed)])
    for part in told:
        assert part in refused.value.command_line


def test_states_of_whole_turns_are_refused() -> None:
    flat = {"1": [{"hotel-area": "north"}, {}]}
    frames: dict[str, Any] = {"format": None, "ref_format": None}
    for ref, pred, side in ((flat, flat, "reference"), (REF, flat, "predictions"), (flat, PRED, "reference")):
        with pytest.raises(DstevalError, match=f"scores them.*whole turns in the {side}.*scope.frames=domains"):
            evaluate(ref, pred, **frames)


def test_requested_slots_are_texts() -> None:
    listed = turns(PRED)
    listed[0]["Hotels_1"]["requested_slots"] = [{"a": 1}]
    with pytest.raises(DstevalError, match="requested_slots as a list of strings"):
        evaluate(REF, [dialogue("1", *listed)])


def test_no_frame_at_all_is_undefined() -> None:
    empty = [dialogue("1", {}, {})]
    result = evaluate(empty, empty)
    assert [(score.value, score.total) for score in result.scores] == [(None, 0)] * 8
    assert all(math.isnan(result.per_dialogue(score.metric)["1"]) for score in result.scores)
