"""``dsteval errors``: what systems get wrong most, in one table, against the list of all errors."""

import csv
import io
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import dsteval
from commandline import WIDE, refusal, run
from dsteval.analysis.error_overview import error_overview
from dsteval.errors import OptionError

EXAMPLE = Path(dsteval.__file__).parent / "example"
FILES = [str(EXAMPLE / f"{name}.jsonl") for name in ("pointer", "seq2seq")]
REF = ["--ref", str(EXAMPLE / "reference.jsonl")]


def test_groups_add_up_to_the_list_of_errors(tmp_path: Path) -> None:
    listed = tmp_path / "errors.csv"
    assert run("score", *FILES, *REF, "--errors", listed).code == 0
    errors, turns, fixed = Counter[tuple[str, ...]](), Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    places = defaultdict(set)
    for row in csv.DictReader(io.StringIO(listed.read_text())):
        key = tuple(row[name] for name in ("system", "slot", "kind", "relation"))
        errors[key] += 1
        turns[key] += int(row["lifetime"])
        fixed[key] += row["end"] == "repaired"
        places[key].add((row["dialogue"], row["origin"], row["ref"], row["pred"]))
    rows = list(csv.DictReader(io.StringIO(run("errors", *FILES, *REF, "--as", "csv").out)))
    assert len(rows) == len(errors)
    for row in rows:
        key = tuple(row[name] for name in ("system", "slot", "kind", "relation"))
        counts = errors.pop(key), turns[key], fixed[key]
        assert counts == tuple(int(row[name]) for name in ("errors", "turns", "repaired"))
        assert (row["dialogue"], row["turn"], row["ref"], row["pred"]) in places[key]
    assert not errors


def test_the_most_turns_come_first_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WIDE, "COLUMNS", "80")
    text = run("errors", FILES[0], *REF, "--top", "2").out
    lines = text.splitlines()
    assert lines[1].split()[0] == "slot"
    assert lines[3].split()[0] == "hotel-area"
    assert max(map(len, lines)) <= 80
    assert "17 more rows" in text
    assert "21 errors, 62 wrong slots" in text


def test_json() -> None:
    document = json.loads(run("errors", *FILES, *REF, "--as", "json").out)
    assert [one["system"] for one in document["systems"]] == ["pointer", "seq2seq"]
    assert document["systems"][0]["errors"] == sum(one["errors"] for one in document["systems"][0]["groups"]) == 21


def test_what_has_no_errors_is_refused() -> None:
    with pytest.raises(OptionError, match="errors=True"):
        error_overview(dsteval.evaluate({"d": [{}]}, {"d": [{}]}))
    assert "frames" in refusal(run("errors", FILES[0], *REF, "--protocol", "sgd"))


def test_a_saved_result_is_refused(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    assert run("score", FILES[0], *REF, "-o", saved).code == 0
    assert "Give the predictions themselves" in refusal(run("errors", saved))
    assert "--turns" in refusal(run("score", saved, "--turns", tmp_path / "turns.csv"))
    assert not (tmp_path / "turns.csv").exists()


def test_no_spreadsheet_runs_a_name_as_a_formula(tmp_path: Path) -> None:
    pred, turns = tmp_path / "both.jsonl", tmp_path / "turns.csv"
    line = {"dialogue_id": "=cmd()", "turn_id": 0, "ref": {"hotel-area": "north"}, "pred": {}}
    pred.write_text(json.dumps(line) + "\n")
    assert run("score", pred, "--turns", turns).code == 0
    assert next(csv.DictReader(io.StringIO(turns.read_text())))["dialogue"] == "'=cmd()"


def test_no_error_at_all() -> None:
    assert "0 errors" in run("errors", REF[1], *REF).out
