"""Options that say what S is, which reference counts, how a system is called and what format a file has."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import dsteval
from commandline import run
from dsteval import readers
from dsteval.dialogue import Dialogue, Side
from dsteval.readers import Options, Reader, Sign, Source
from native import FORMATS, counted, done, files, refusal, system, written

SCHEMA = [
    {"service_name": "hotel", "slots": [{"name": "area"}, {"name": "hotel-stars"}]},
    {"service_name": "bus", "slots": []},
]


NORTH = {"hotel-area": "north"}


@pytest.fixture
def scored(tmp_path: Path) -> Iterator[list[str]]:
    ref = {"a": [{"hotel-area": "north", "spa-room": "2"}]}
    pred = {"a": [{"hotel-area": "east", "spa-room": "2", "spa-time": "5"}]}
    yield [*files(tmp_path, ref, pred)[:-1], "SlotAccuracy"]


def test_slots_as_a_number(scored: list[str]) -> None:
    for number, right in ((7, 5), (2, 0), (1, -1)):
        found = system(*scored, "--slots", str(number))
        assert counted(found) == (right, number)
        assert f"|S:{number}|" in found["scores"][0]["signature"]
        assert found["scores"][0]["value"] == right / number
    assert f"|S| = {number}" in done(*scored, "--slots", "1").out
    assert "-100.00" in done(*scored, "--slots", "1").out


@pytest.mark.parametrize("number", ["0", "-1", "--5", "99999999999999999999", "1.5"])
def test_slots_that_are_no_number_of_slots(scored: list[str], number: str) -> None:
    assert f"{number}" in refusal(*scored, f"--slots={number}")


def test_slots_as_a_list(scored: list[str], tmp_path: Path) -> None:
    listed = written(tmp_path / "slots.txt", "hotel-Area\n\n  spa-room \nhotel-bookday\n")
    found = system(*scored, "--slots", str(listed))
    assert counted(found) == (1, 3)
    told = "not in the list given with --slots: 'spa-time' (first: dialogue 'a', turn 0)"
    assert told in done(*scored, "--slots", str(listed)).out
    assert any(told in note for note in found["notes"])


def test_slots_as_a_schema(scored: list[str], tmp_path: Path) -> None:
    listed = written(tmp_path / "schema.json", json.dumps(SCHEMA))
    assert counted(system(*scored, "--slots", str(listed))) == (0, 2)
    assert (
        "2 slots are not in the list given with --slots: 'spa-room', 'spa-time'"
        in done(*scored, "--slots", str(listed)).out
    )


@pytest.mark.parametrize(
    "content",
    [
        '["hotel-area"]',
        "[]",
        "\n\n",
        "{}",
        '[{"service_name": "x", "slots": ["a"]}]',
        '[{"service_name": "x", "slots": [{"title": "a"}]}]',
        '[{"service_name": "x", "slots": null}]',
        '[{"service_name": "x", "slots": [{"name": 7}]}]',
        "[1, 2",
    ],
)
def test_slot_files_that_hold_no_slots(scored: list[str], content: str, tmp_path: Path) -> None:
    said = refusal(*scored, "--slots", str(written(tmp_path / "slots.json", content)))
    assert "slots.json" in said


def test_slots_in_python(scored: list[str]) -> None:
    ref, pred = {"a": [{"hotel-area": "north"}]}, {"a": [{"spa-room": "2"}]}
    result = dsteval.evaluate(ref, pred, metrics=["SlotAccuracy"], slots=["hotel-area"])
    assert result["SlotAccuracy"].value == -1
    assert "not in the list given with --slots: 'spa-room'" in result.notes[0]
    assert dsteval.evaluate(ref, pred, metrics=["SlotAccuracy"], slots=4)["SlotAccuracy"].value == 0.5


# Which reference -------------------------------------------------------------------------------------------------

LLM = str(FORMATS / "llm_dst_eval/original.json")


def test_reference_field() -> None:
    assert counted(system("score", LLM, "--metric", "JGA")) == (1, 5)
    found = system("score", LLM, "--metric", "JGA", "--ref-field", "ground_truth_m24")
    # The rose-garden of turn 1 is right by these labels.
    assert counted(found) == (2, 5)
    assert "--ref-field may also be ground_truth_m24" in done("score", LLM).err
    said = refusal("score", LLM, "--ref-field", "ground_truth_m25")
    assert "original.json, --ref-field ground_truth_m25" in said
    assert "ground_truth, ground_truth_m24" in said


def test_reference_field_of_the_reference_file(tmp_path: Path) -> None:
    pred = written(tmp_path / "p.jsonl", done("convert", LLM, "-", "--ref-field", "ground_truth_m24").out)
    found = system("score", str(pred), "--ref", LLM, "--metric", "JGA", "--ref-field", "ground_truth_m24")
    assert counted(found) == (2, 5)
    assert not any("another reference" in note for note in found["notes"])


@pytest.mark.parametrize("path", ["table/cells.csv", "dsteval-jsonl/both.jsonl"])
def test_reference_field_that_is_not_there(path: str) -> None:
    said = refusal("score", FORMATS / path, "--ref-field", "gold")
    assert "--ref-field gold" in said


def test_reference_field_of_a_format_without_fields() -> None:
    said = refusal("score", FORMATS / "fga-json/result.json", "--ref-field", "gold")
    assert (
        "expected a format that holds several references (dsteval-jsonl, llm_dst_eval, table), found fga-json"
        in said
    )


def test_the_reference_given_wins_and_what_differs_is_counted(tmp_path: Path) -> None:
    both = {"a": {str(t): {"gt": {"hotel": {"area": gold}}, "pr": NORTH} for t, gold in enumerate("abcd")}}
    ref = {"a": [{"hotel-area": value} for value in ("A", "north", "c", "north")]}
    found = system(*files(tmp_path, ref, both))
    assert counted(found) == (2, 4)
    # Turn 0 differs in case only, and that is no difference under this protocol.
    told = "2 of 4 turns have a different reference in the predictions' file; --ref was used"
    assert told in found["notes"]
    assert told in done(*files(tmp_path, ref, both)).out


def test_named_systems(tmp_path: Path) -> None:
    arguments = files(tmp_path, {"a": [NORTH]}, {"a": [{}]})
    other = written(tmp_path / "other=best.json", json.dumps({"a": [NORTH]}))
    ran = done("score", f"ours={arguments[1]}", str(other), f"x.y={other}", *arguments[2:], "--as", "json")
    found = json.loads(ran.out)["systems"]
    assert [(one["name"], one["source"]) for one in found] == [
        ("ours", "pred.json"),
        ("other=best", "other=best.json"),
        ("x.y", "other=best.json"),
    ]
    assert "no such file" in refusal("score", "ours=nothing.json", *arguments[2:])


# Formats ---------------------------------------------------------------------------------------------------------


class _Twin(Reader):
    name = "twin"
    about = "fits whatever has gt and pr"
    sides = "both"

    def sniff(self, source: Source) -> Sign | None:
        return Sign("a look-alike") if "gt" in str(source.first_record) else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        raise NotImplementedError


def test_two_formats_that_fit_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers.READERS, "bundled", {**readers.READERS.bundled, "twin": _Twin()})
    path = str(FORMATS / "fga-json/result.json")
    said = refusal("score", path)
    assert (
        "result.json: expected exactly one matching format, found fga-json (turns with 'gt' and 'pr') and twin"
        in said
    )
    assert "twin (a look-alike). Choose one with --format" in said
    done("score", path, "--format", "fga-json")


def test_forced_wrong_format(tmp_path: Path) -> None:
    path = str(FORMATS / "fga-json/result.json")
    for name in set(readers.names()) - {"fga-json", "dsteval-json"}:
        said = refusal("score", path, "--format", name)
        assert "result.json" in said, name
        # "At least one dialogue, found none" would be wrong: there are two, in another format.
        assert "found none" not in said, said
    assert "Unknown format 'fga-jason'. Did you mean 'fga-json'?" in refusal(
        "score", path, "--format", "fga-jason"
    )
    assert "Did you mean 'fga-json'?" in refusal("score", path, "--ref", path, "--ref-format", "fga_json")
    ran = run("score", path, "--format", "dsteval-json", "--ref", path, "--ref-format", "fga-json")
    assert ran.code == 1, "a state of gt and pr is no state"
