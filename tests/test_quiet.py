"""``--quiet``, and the bare number of ``--as value``."""

import json
from pathlib import Path

import pytest

import dsteval
from commandline import refusal, run

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF: list[str | Path] = ["--ref", EXAMPLE / "reference.jsonl"]
POINTER, SEQ2SEQ = EXAMPLE / "pointer.jsonl", EXAMPLE / "seq2seq.jsonl"
ONE: list[str | Path] = ["score", POINTER, *REF, "--no-ci", "--metric", "JGA"]
UNDEFINED = '{"dialogue_id": "d", "turn_id": 0, "ref": {}, "pred": {}}\n'


def test_only_the_table_is_left() -> None:
    ran = run(*ONE, "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == ["system   #turns    JGA", "─" * 22, "pointer      76  48.68"]
    assert run(*ONE, "-q") == ran
    loud = run(*ONE)
    assert loud.out.startswith(ran.out.rstrip("\n")) and "signature" in loud.out and ": read as " in loud.err


@pytest.mark.parametrize(
    "line",
    [
        "compare POINTER SEQ2SEQ REF --no-ci",
        "spread POINTER REF --protocol card",
        "validate POINTER REF",
        "convert POINTER out.jsonl",
        "data describe POINTER",
        "rate sample POINTER REF --size 2 -o s.jsonl",
        "rate export both.jsonl texts",
        "track POINTER -o out.jsonl --no-ci",
    ],
)
def test_no_notes(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_bytes(POINTER.read_bytes())
    (tmp_path / "q.jsonl").write_bytes(SEQ2SEQ.read_bytes())
    (tmp_path / "both.jsonl").write_text(UNDEFINED)
    replaced = line.replace("POINTER", "p.jsonl").replace("SEQ2SEQ", "q.jsonl").split()
    words = [word for one in replaced for word in (map(str, REF) if one == "REF" else [one])]
    if "track" in words:
        words[1] = str(EXAMPLE / "reference.jsonl")
    quiet = run(*words, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    for path in tmp_path.glob("[ost]*"):  # what was written; a run of a tracker would go on from there
        path.rename(tmp_path / f"_{path.name}")
    loud = run(*words)
    assert (loud.code, loud.out.startswith(quiet.out[:40])) == (0, True)
    assert len(loud.out + loud.err) > len(quiet.out)


def test_remarks_of_csv_go_and_errors_stay() -> None:
    assert run(*ONE, "--updates", "--as", "csv", "--quiet").err == ""
    assert refusal(run("score", "nowhere.json", "--quiet")).startswith("nowhere.json: ")


def test_json_is_whole() -> None:
    assert run(*ONE, "--as", "json", "--quiet").out == run(*ONE, "--as", "json").out


def value() -> float:
    (score,) = json.loads(run(*ONE, "--as", "json").out)["systems"][0]["scores"]
    return float(score["value"])


def test_a_bare_number() -> None:
    ran = run(*ONE, "--as", "value", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{value()!r}\n" == "0.4868421052631579\n"


def test_several_systems_are_named() -> None:
    lines = run("score", f"mine={POINTER}", *ONE[1:], SEQ2SEQ, "--as", "value", "-q")
    assert [line.split("\t")[0] for line in lines.out.splitlines()] == ["mine", "pointer", "seq2seq"]
    assert lines.out.splitlines()[0] == f"mine\t{value()!r}"


def test_into_a_file(tmp_path: Path) -> None:
    assert run(*ONE, "--as", "value", "-o", tmp_path / "jga").out == ""
    assert float((tmp_path / "jga").read_text()) == value()


@pytest.mark.parametrize("more", [["--metric", "AGA"], ["--by", "domain"], ["--changes"]])
def test_more_than_one_number_is_refused(more: list[str]) -> None:
    said = "--as value: prints a single score of each system. Give one --metric and no --by or --changes, "
    assert refusal(run(*ONE, *more, "--as", "value")) == f"{said}or use --as json."


def test_no_metric_is_refused() -> None:
    assert "Give one --metric" in refusal(run("score", POINTER, *REF, "--as", "value"))


def test_undefined(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text(UNDEFINED)
    said = refusal(run("score", tmp_path / "empty.jsonl", "--metric", "AGA", "--as", "value"))
    assert said.startswith("empty, AGA: undefined: ")


def test_other_commands_have_no_bare_number() -> None:
    assert "Unknown value of --as 'value'" in refusal(run("compare", POINTER, SEQ2SEQ, *REF, "--as", "value"))
