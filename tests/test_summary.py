"""``compare --summary``: verdict, tables and worst regressions as Markdown, and how much of it there may be."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import Ran, refusal, run
from dsteval.analysis.comparison import Comparison, compare
from dsteval.analysis.regressions import regressions
from dsteval.render.summary import MOST_BYTES, summary

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF = ("--ref", EXAMPLE / "reference.jsonl")
NEW = f"new={EXAMPLE / 'prompted.jsonl'}"
State = dict[str, str]


@pytest.fixture
def gate(tmp_path: Path) -> list[str | Path]:
    """The end of a command: against a saved result, with a summary."""
    assert run("score", f"old={EXAMPLE / 'seq2seq.jsonl'}", *REF, "-o", tmp_path / "saved.json").code == 0
    return [*REF, "--against", tmp_path / "saved.json", "--summary", tmp_path / "summary.md"]


def sections(text: str) -> dict[str, list[list[str]]]:
    """The rows of each section's table, without the rule, each as wide as its heading."""
    found = {}
    for part in text.split("\n### ")[1:]:
        title, _, rest = part.partition("\n")
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in rest.splitlines() if line.startswith("|")]
        assert len({len(row) for row in rows}) <= 1
        found[title] = [[cell.strip() for cell in row] for row in rows if "---" not in row[0]]
    return found


def verdict(text: str) -> str:
    return text.split("\n")[0]


@pytest.mark.parametrize(
    ("limits", "code", "expected"),
    [
        (
            ["JGA=-1", "SlotF1=-10"],
            1,
            "**Failed**: --fail-below JGA=-1: new against old: -18.42 percentage points, and the confidence "
            "interval -36.63 to +0.00 reaches below -1",
        ),
        (
            ["JGA=-1", "SlotF1=0"],
            1,
            "**Failed**: --fail-below JGA=-1: new against old: -18.42 percentage points, and the confidence "
            "interval -36.63 to +0.00 reaches below -1 (and 1 more)",
        ),
        (
            ["JGA=-40", "SlotF1=-6"],
            0,
            "**Passed**: --fail-below SlotF1=-6: new against old: -2.55 points, CI -5.72 to +0.63 "
            "(the narrowest of 2)",
        ),
        ([], 0, "**No verdict**: no limit was set with --fail-below"),
    ],
)
def test_the_verdict_is_that_of_the_exit_code(
    gate: list[str | Path], tmp_path: Path, limits: list[str], code: int, expected: str
) -> None:
    flags = [part for limit in limits for part in ("--fail-below", limit)]
    assert run("compare", NEW, *gate, *flags).code == code
    assert verdict((tmp_path / "summary.md").read_text()) == expected


def test_tables_and_regressions(gate: list[str | Path], tmp_path: Path) -> None:
    ran = run("compare", NEW, *gate, "--metric", "JGA", "--as", "md")
    found = sections((tmp_path / "summary.md").read_text())
    assert list(found) == ["Scores", "Differences", "Worst regressions by JGA"]
    assert found["Scores"] == [["system", "#turns", "JGA"], ["new", "76", "53.95"], ["old", "76", "**72.37**"]]
    for row in found["Differences"]:
        assert f"| {' | '.join(row)} |" in ran.out
    heads, *rows = found["Worst regressions by JGA"]
    assert heads == ["dialogue", "turns", "before", "now", "change", "first wrong turn now"]
    assert rows[:2] == [
        ["DEMO02", "5", "100.00", "20.00", "-5.263", "turn 1: train-leaveat dontcare -> (none)"],
        ["DEMO05", "6", "100.00", "50.00", "-3.947", "turn 1: restaurant-area west -> south"],
    ]
    both = [
        dsteval.evaluate(REF[1], EXAMPLE / f"{name}.jsonl", metrics=["JGA"]).per_dialogue("JGA")
        for name in ("prompted", "seq2seq")
    ]
    worse = {name for name, value in both[0].items() if value < both[1][name]}
    assert {row[0] for row in rows} == worse
    better = sum(value > both[1][name] for name, value in both[0].items())
    text = (tmp_path / "summary.md").read_text()
    assert f"{len(worse)} of 12 dialogues got worse, {better} better; shown are the {len(worse)}" in text


def test_regressions_are_by_the_first_limit(gate: list[str | Path], tmp_path: Path) -> None:
    run("compare", NEW, *gate, "--fail-below", "FGA@0.5=0", "--fail-below", "JGA=0")
    assert "### Worst regressions by FGA@0.5\n" in (tmp_path / "summary.md").read_text()


def test_added_to_the_end(gate: list[str | Path], tmp_path: Path) -> None:
    out = tmp_path / "summary.md"
    run("compare", NEW, *gate)
    once = out.read_text()
    out.write_text("# Job\n")
    run("compare", NEW, *gate)
    run("compare", NEW, *gate)
    assert out.read_text() == f"# Job\n\n{once}\n{once}"
    assert once.endswith("\n") and not once.startswith("\n")


def test_saved_on_both_sides_names_no_turns(gate: list[str | Path], tmp_path: Path) -> None:
    run("score", NEW, *REF, "-o", tmp_path / "new.json")
    ran = run("compare", tmp_path / "new.json", *gate[2:])
    assert ran.code == 0, ran.err
    _, *rows = sections((tmp_path / "summary.md").read_text())["Worst regressions by JGA"]
    assert rows[0] == ["DEMO02", "5", "100.00", "20.00", "-5.263", "-"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--summary", "out.md"], "--summary: expected --against SAVED"),
        (
            ["--against", "saved.json", "--summary", "nowhere/out.md"],
            "--summary nowhere/out.md: cannot be written",
        ),
        (
            ["--against", "saved.json", "--summary", "saved.json"],
            "would overwrite the input (--against saved.json)",
        ),
        (["--against", "saved.json", "--summary", "o.md", "-o", "o.md"], "the same file as --out"),
        (["--runs", "--summary", "out.md"], "--summary: no effect with --runs"),
    ],
)
def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    run("score", f"old={EXAMPLE / 'seq2seq.jsonl'}", *REF, "-o", "saved.json")
    before = {path.name for path in tmp_path.iterdir()}
    assert message in refusal(run("compare", NEW, f"b={EXAMPLE / 'pointer.jsonl'}", *REF, *arguments))
    assert {path.name for path in tmp_path.iterdir()} == before


def compared(names: dict[str, Any], ref: Any, against: str, metrics: list[str]) -> Comparison:
    results = [dsteval.evaluate(ref, pred, metrics=metrics, name=name, ci=None) for name, pred in names.items()]
    (old,) = (one for one in results if one.name == against)
    return compare([one for one in results if one is not old], against=[old], metrics=metrics)


def test_what_a_dialogue_changes_is_what_exchanging_it_changes() -> None:
    north, none = {"hotel-area": "north"}, dict[str, str]()
    ref = {name: [north] * size for name, size in {"a": 1, "b": 4, "c": 5}.items()}
    new = {"a": [none], "b": [north, none, none, north], "c": [none] * 5}
    old = {"a": [north], "b": [north] * 4, "c": [none] * 4 + [north]}
    results = [dsteval.evaluate(ref, pred, metrics=["JGA"], name=name) for name, pred in (("n", new), ("o", old))]
    found = regressions(compare(results), "JGA", results)
    assert [(one.dialogue, round(one.change, 9)) for one in found.worst] == [("b", -0.2), ("a", -0.1), ("c", -0.1)]
    assert [one.first_wrong for one in found.worst] == [
        "turn 1: hotel-area north -> (none)",
        "turn 0: hotel-area north -> (none)",
        "turn 0: hotel-area north -> (none)",
    ]
    assert (found.of, found.worse, found.better) == (3, 3, 0)
    (turned,) = [regressions(compare(results[::-1]), "JGA")]
    assert (turned.worse, turned.better, turned.worst) == (0, 3, ())


def test_of_a_metric_of_which_less_is_better() -> None:
    north: State = {"hotel-area": "north"}
    ref = {"a": [north] * 3, "b": [north] * 3}
    new = {"a": [{}, {}, {}], "b": [{}, north, north]}
    old = {"a": [{}, north, north], "b": [{}, {}, north]}
    results = [
        dsteval.evaluate(ref, pred, metrics=["ErrorLifetime"], name=name)
        for name, pred in (("n", new), ("o", old))
    ]
    found = regressions(compare(results), "ErrorLifetime")
    assert [(one.dialogue, one.value_a, one.value_b, one.change) for one in found.worst] == [("a", 3.0, 1.0, 1.0)]
    assert found.better == 1


@pytest.mark.parametrize("unit", ["x", "<", "|", "\N{GRINNING FACE}", "\x07", "\ud800"])
def test_below_64_kb_whatever_the_names(unit: str) -> None:
    """Many systems, long names, long values, and signs that take more bytes when written."""
    long = unit * 3000
    ref: dict[str, list[State]] = {f"{number}{long}": [{f"hotel-{long}": "north"}] for number in range(12)}
    right = {f"system {number} {long}": ref for number in range(3)}
    wrong = {f"bad {number} {long}": {name: [{f"hotel-{long}": long}] for name in ref} for number in range(24)}
    comparison = compared({**right, **wrong, "old": ref}, ref, "old", ["JGA", "SlotF1", "FGA@0.5"])
    scored = [dsteval.evaluate(ref, pred, metrics=["JGA"], name=name) for name, pred in wrong.items()]
    failures = [f"--fail-below JGA=0: {long}"] * 24
    text = summary(comparison, {"JGA": 0.0}, failures, scored)
    assert len(text.encode("utf-8", "backslashreplace")) < MOST_BYTES
    assert len(verdict(text)) <= 2000 and verdict(text).startswith("**Failed**")
    found = sections(text)
    shown = len(found["Differences"]) - 1
    assert 10 < shown < len(comparison.differences)
    assert f"{len(comparison.differences) - shown} more rows left out" in text
    assert len(found["Worst regressions by JGA"]) == 11
    assert "<" not in text


def test_too_many_metrics_for_a_table() -> None:
    ref = {"a": [{"hotel-area": "north"}], "b": [{"hotel-area": "north"}]}
    metrics = [f"FGA(variant=official)@{number}" for number in range(300)]
    text = summary(compared({"new": ref, "old": ref}, ref, "old", metrics), {}, [])
    assert "A table of 302 columns, too wide for this summary." in text
    assert len(text.encode()) < MOST_BYTES


def test_as_large_as_a_test_set(tmp_path: Path) -> None:
    ref = {f"d{number}": [{"hotel-area": "north"}] * 5 for number in range(400)}
    new = {name: [{}, *states[1:]] for name, states in ref.items()}
    for name, states in (("ref", ref), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(states))
    run("score", f"old={tmp_path / 'ref.json'}", "--ref", tmp_path / "ref.json", "-o", tmp_path / "saved.json")
    out = tmp_path / "summary.md"
    ran: Ran = run(
        *("compare", tmp_path / "new.json", "--ref", tmp_path / "ref.json", "--against", tmp_path / "saved.json"),
        *("--fail-below", "JGA=-1", "--summary", out, "-o", tmp_path / "out.json"),
    )
    assert ran.code == 1
    assert len(sections(out.read_text())["Worst regressions by JGA"]) == 11
    assert "400 of 400 dialogues got worse, 0 better; shown are the 10 that move the score most" in out.read_text()
