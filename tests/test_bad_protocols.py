"""What protocols refuse: tables that are missing or not what they should be, and input that a rule cannot read."""

from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval.dialogue import Dialogue, Turn
from dsteval.errors import DstevalError, MetricError, ProtocolError
from dsteval.protocols import model as protocol
from generated import TABLES, lines, options
from refusals import refused, written

BOTH = '{"d": {"0": {"gt": {"hotel": {"name": "lodge"}}, "pr": {"hotel": {"name": "lodge"}}}}}'
NEEDS = {"trippy": "variants", "hidst": "variants", "icdst": "ontology", "dst-prompting": "ontology"}
TABLE_OF = {"variants": "the tool's list of value variants", "ontology": "the data set's ontology"}


def test_which_protocols_need_tables() -> None:
    needs = {name: TABLE_OF.keys() & protocol.load(name).needs for name in protocol.names()}
    assert {name: [*tables] for name, tables in needs.items() if tables} == {n: [t] for n, t in NEEDS.items()}


@pytest.mark.parametrize(("name", "table"), NEEDS.items())
def test_a_table_is_missing(tmp_path: Path, name: str, table: str) -> None:
    parts = [f"protocol {name}: needs {TABLE_OF[table]}", f"Give it with --{table} FILE."]
    refused(tmp_path, BOTH, *parts, protocol=name)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "found no such file"),
        ("{", "found invalid JSON"),
        (b'{"a": ["\xff"]}', "found invalid JSON"),
        ("[" * 3000, "found invalid JSON"),
        ("[1]", "found list"),
        ("{}", "found an object of ''"),
        ('{"a": "b"}', "found an object of 'a'"),
        ('{"a": ["b", 1], "c": []}', "found an object of 'a, c'"),
    ],
)
@pytest.mark.parametrize("name", ["hidst", "icdst"])
def test_a_table_is_odd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes | None, found: str
) -> None:
    monkeypatch.chdir(tmp_path)
    table = NEEDS[name]
    if content is not None:
        written(tmp_path / "table.json", content)
    parts = [f"--{table} table.json: expected {TABLE_OF[table]}", found]
    refused(tmp_path, BOTH, *parts, protocol=name, **{table: "table.json"})


def test_a_table_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table").mkdir()
    refused(tmp_path, BOTH, "--ontology table", "a file that cannot be read", protocol="icdst", ontology="table")


def test_a_table_in_python_has_no_path() -> None:
    odd: Any = {"a": 1}
    with pytest.raises(DstevalError, match=r"^variants: expected the tool's list .* found an object of 'a'"):
        dsteval.evaluate({"d": [{}]}, {"d": [{}]}, protocol="hidst", variants=odd)


@pytest.mark.parametrize("name", ["icdst", "dst-prompting"])
@pytest.mark.parametrize("turn", [0, 1])
def test_the_ontology_lacks_a_slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, turn: int) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "table.json", '{"restaurant-food": ["italian"]}')
    plain = '"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}'
    named = '"gt": {"hotel": {"name": "lodge"}}, "pr": {"hotel": {"name": "lodge"}}'
    turns = ", ".join(f'"{t}": {{{named if t == turn else plain}}}' for t in (0, 1))
    parts = [f"dialogue 'd', turn {turn}, slot 'hotel-name': not in the ontology"]
    parts += ["give that of this data set"]
    refused(tmp_path, f'{{"d": {{{turns}}}}}', *parts, protocol=name, ontology="table.json")


@pytest.mark.parametrize("side", ["ref", "pred"])
@pytest.mark.parametrize("name", protocol.names())
def test_lists_where_single_texts_are_compared(name: str, side: str) -> None:
    states = protocol.load(name).states
    rule = states.alternatives if side == "ref" or states.alternatives_pred == "same" else states.alternatives_pred
    turns = {"ref": [{}, {"hotel-area": "north"}], "pred": [{}, {"hotel-area": "north"}]}
    turns[side] = [{}, {"hotel-area": ["north", "south"]}]  # type: ignore[dict-item]

    def score() -> dsteval.Result:
        return dsteval.evaluate({"d": turns["ref"]}, {"d": turns["pred"]}, protocol=name, **options(name))

    if rule != "literal":
        assert score().coverage.scored_turns == 2
        return
    told = rf"dialogue 'd', turn 1, slot 'hotel-area': expected single strings, as protocol {name} needs"
    with pytest.raises(ProtocolError, match=rf"{told}, found a list of 2 values.* such as exact"):
        score()


def test_updates_where_they_are_put_on_the_reference() -> None:
    settings = ["prepare.steps=['on-reference']"]
    states = {"d": [{"hotel-area": "north"}]}
    told = r"dialogue 'd', turn 0: expected the tracker's changes at each turn.* found only states.*running log"
    with pytest.raises(ProtocolError, match=told):
        dsteval.evaluate(states, states, protocol="icdst", settings=settings, **TABLES)
    said: list[list[Any]] = [[{"ref": {}, "pred": {}, "pred_update": {}}, {"ref": {}, "pred": {}}]]
    with pytest.raises(ProtocolError, match=r"dialogue 'd0', turn 1: expected the tracker's changes"):
        dsteval.evaluate(None, lines(said), protocol="icdst", settings=settings, **TABLES)


def test_an_informed_value_without_its_mark() -> None:
    choices = [{"slot": "hotel-name", "kind": "inform", "value": "lodge"}]
    said: list[list[Any]] = [[{"ref": {}, "pred": {}, "choices": []}, {"ref": {}, "pred": {}, "choices": choices}]]
    told = r"dialogue 'd0', turn 1, slot 'hotel-name': expected a value marked §§ under the class inform, found 'l"
    with pytest.raises(ProtocolError, match=told):
        dsteval.evaluate(None, lines(said), protocol="trippy", **TABLES)


ALONE = ["FGA@0.5", "TurnMatch", "UpdateAccuracy", "DialogueMatch", "GCA"]


def test_single_instances_belong_to_no_dialogue() -> None:
    made = [
        Dialogue(str(n), [Turn(0, [("hotel-area", ("north",))], [("hotel-area", ("north",))])]) for n in (0, 1)
    ]
    for one in made:
        one.alone = True
    result = dsteval.evaluate(None, made, metrics=["JGA", *ALONE], protocol="dstc10")
    assert result["JGA"].value == 1
    for metric in ALONE:
        assert result[metric].value is None
        assert "single instances" in result[metric].why, metric


def test_a_name_that_means_another_metric_takes_its_parameters_only() -> None:
    state = {"d": [{"hotel-area": "north"}]}
    with pytest.raises(MetricError, match=r"RecipeJGA takes no parameters, but was given average=dialogue"):
        dsteval.evaluate(state, state, metrics=["JGA(average=dialogue)"], protocol="card-recipe")


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("states.visible=some", ["--set states.visible=some", "Unknown value of states.visible 'some'", "listed"]),
        ("states.alternatives_pred=lists", ["states.alternatives_pred", "Did you mean 'list'?"]),
        ("states.normalise_pred=['mwzevl']", ["Unknown normaliser 'mwzevl'", "Did you mean 'mwzeval'?"]),
        ("states.absent_ref=none", ["--set states.absent_ref=none", "a list such as"]),
        ("match.rule=hi-dst", ["Unknown matching rule 'hi-dst'", "Did you mean 'hidst'?"]),
        ("prepare.steps=['simpletot']", ["Unknown step 'simpletot'", "Did you mean 'simpletod'?"]),
        ("prepare.step=['simpletod']", ["Unknown setting 'prepare.step'", "Did you mean 'prepare.steps'?"]),
        ("scope.domain_slots=none", ["Unknown value of scope.domain_slots 'none'", "own, all"]),
    ],
)
def test_settings(tmp_path: Path, setting: str, parts: list[str]) -> None:
    refused(tmp_path, BOTH, *parts, settings=[setting])


@pytest.mark.parametrize(
    ("setting", "table"), [("match.rule=trippy", "variants"), ("match.rule=hidst", "variants")]
)
def test_a_setting_that_needs_a_table(tmp_path: Path, setting: str, table: str) -> None:
    refused(tmp_path, BOTH, "protocol exact", TABLE_OF[table], f"--{table} FILE", settings=[setting])
