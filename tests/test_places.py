"""Places that a command may not write to: its own inputs, one place twice, and what is not there."""

import json
import shutil
from pathlib import Path

import pytest

from commandline import refusal, run, usage

EXAMPLE = Path(__file__).resolve().parent.parent / "src/dsteval/example"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with predictions, references, ratings, and a folder of each, to work in."""
    shutil.copytree(EXAMPLE, tmp_path / "data")
    shutil.copy(EXAMPLE / "prompted.jsonl", tmp_path / "p.json")
    shutil.copy(EXAMPLE / "pointer.jsonl", tmp_path / "q.json")
    shutil.copy(EXAMPLE / "reference.jsonl", tmp_path / "r.json")
    (tmp_path / "slots.txt").write_text("hotel-area\n")
    (tmp_path / "a.csv").write_text("item,rating\nDEMO01,1\nDEMO02,0\nDEMO03,1\n")
    (tmp_path / "b.csv").write_text("item,rating\nDEMO01,1\nDEMO02,0\nDEMO03,0\n")
    (tmp_path / "link.json").symlink_to("p.json")
    (tmp_path / "hard.json").hardlink_to(tmp_path / "r.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


SCORE = "score p.json --ref r.json"
SAMPLE = "rate sample p.json q.json --ref r.json --size 2"


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (f"{SCORE} --errors p.json", "--errors p.json"),
        (f"{SCORE} --errors r.json", "--errors r.json"),
        (f"{SCORE} -o p.json", "--out p.json"),
        (f"{SCORE} -o r.json", "--out r.json"),
        (f"{SCORE} -o ./data/../p.json", "--out ./data/../p.json"),
        (f"{SCORE} -o link.json", "--out link.json"),
        (f"{SCORE} -o hard.json", "--out hard.json"),
        (f"{SCORE} --slots slots.txt -o slots.txt", "--out slots.txt"),
        ("score ours=p.json --ref r.json -o p.json", "--out p.json"),
        ("score p.json --ref data -o data/reference.jsonl --as json", "--out data/reference.jsonl"),
        ("score p.json --ref data/test --errors data/reference.jsonl", "--errors data/reference.jsonl"),
        ("score data/p*.jsonl --ref r.json --errors data/pointer.jsonl", "--errors data/pointer.jsonl"),
        ("compare p.json ours=q.json --ref r.json -o q.json", "--out q.json"),
        ("spread p.json --ref r.json -o p.json", "--out p.json"),
        ("explain p.json DEMO01 --ref r.json -o r.json", "--out r.json"),
        ("explain p.json DEMO01 --ref r.json --system q.json -o q.json", "--out q.json"),
        ("validate p.json -o p.json", "--out p.json"),
        ("data describe p.json -o p.json", "--out p.json"),
        ("convert data data/pointer.jsonl", "OUT data/pointer.jsonl"),
        (f"{SAMPLE} -o p.json", "--out p.json"),
        (f"{SAMPLE} -o s.jsonl --key q.json", "--key q.json"),
        ("rate export a.csv a.csv", "OUT a.csv"),
        ("rate agree a.csv b.csv -o a.csv", "--out a.csv"),
        ("rate agree anna=a.csv ben=b.csv -o b.csv", "--out b.csv"),
        ("rate correlate p.json --ref r.json --ratings anna=a.csv -o a.csv", "--out a.csv"),
        ("rate correlate p.json --ref r.json --ratings anna=b.csv --key a.csv -o a.csv", "--out a.csv"),
        ("rate plan p.json --ref r.json --true-lambda 0.5 -o p.json", "--out p.json"),
    ],
)
def test_inputs_are_not_written_over(here: Path, line: str, option: str) -> None:
    before = contents(here)
    said = refusal(run(*line.split()))
    assert said.startswith(f"{option}: would overwrite the input (")
    assert contents(here) == before


def test_what_is_no_input_is_replaced(here: Path) -> None:
    (here / "old.json").write_text("old")
    for _ in range(2):
        assert run(*SCORE.split(), "-o", "old.json").code == 0
    assert run("score", "-", "--ref", "r.json", "-o", "old.json", stdin=(here / "p.json").read_bytes()).code == 0
    assert run(*SCORE.split(), "-o", "data/new.json").code == 0


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (
            f"{SCORE} --errors e.csv -o e.csv",
            "--errors e.csv: the same file as --out. Choose another path.",
        ),
        (f"{SCORE} --errors e.csv -o data/../e.csv", "--errors e.csv: the same file as --out"),
        (f"{SAMPLE} --blind -o x --key x", "--key x: the same file as --out"),
    ],
)
def test_two_outputs_take_two_places(here: Path, line: str, option: str) -> None:
    before = contents(here)
    assert refusal(run(*line.split())).startswith(option)
    assert contents(here) == before


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (
            f"{SAMPLE} --blind -o s.jsonl --key none/k.csv",
            "--key none/k.csv: cannot be written (No such file",
        ),
        (f"{SAMPLE} --blind -o none/s.jsonl --key k.csv", "--out none/s.jsonl: cannot be written (No such file"),
        (f"{SCORE} --errors ok.csv -o none/o.json", "--out none/o.json: cannot be written (No such file"),
        (f"{SCORE} --errors none/e.csv -o ok.json", "--errors none/e.csv: cannot be written (No such file"),
        (f"{SCORE} --errors data -o ok.json", "--errors data: cannot be written (Is a directory)."),
        (
            f"{SCORE} --errors p.json/e -o ok.json",
            "--errors p.json/e: cannot be written (Not a dir",
        ),
        (f"{SCORE} --errors ok.csv -o ok.xyz", "--out ok.xyz: expected one of the suffixes"),
        ("convert p.json none/o.jsonl", "OUT none/o.jsonl: cannot be written (No such file"),
        ("rate export p.json none/o.csv", "OUT none/o.csv: cannot be written (No such file"),
    ],
)
def test_all_places_are_there_or_nothing_is_written(here: Path, line: str, part: str) -> None:
    before = contents(here)
    assert refusal(run(*line.split())).startswith(part)
    assert contents(here) == before


def test_devices_take_both() -> None:
    assert run(*SCORE.split(), "--errors", "/dev/null", "-o", "/dev/null", "--as", "json").code == 0


# What raters wrote ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["sheet.csv", "texts"])
def test_what_a_rater_filled_in_stays(here: Path, target: str) -> None:
    assert run(*SAMPLE.split(), "-o", "s.jsonl").code == 0
    assert run("rate", "export", "s.jsonl", target).code == 0
    assert run("rate", "export", "s.jsonl", target).code == 0  # nothing is lost by the same again
    one = here / target if target.endswith(".csv") else sorted((here / target).iterdir())[-1]
    one.write_text(one.read_text() + "satisfied: 1\n")
    before = contents(here)
    ran = run("rate", "export", "s.jsonl", target)
    assert "expected a new file, found one with other content, possibly ratings. Choose another path" in refusal(
        ran
    )
    assert contents(here) == before


def test_a_sheet_shows_both_states(here: Path) -> None:
    (here / "one.json").write_text('{"a": [{"hotel-area": "north"}]}')
    (here / "bits.json").write_text(json.dumps({"a": {"0": [1] * 30}}))
    for name in ("one.json", "bits.json"):
        said = {refusal(run("rate", "export", name, target)) for target in ("sheet.csv", "texts")}
        assert said == {
            "dialogue 'a', turn 0: expected a reference and a predicted state, found at most one of them."
        }
    assert not (here / "sheet.csv").exists()


# Options that would do nothing, or cannot be --------------------------------------------------------------------


@pytest.mark.parametrize("instead", [["--runs", "--ref", "r.json"], ["--ref", "r.json", "--ref", "hard.json"]])
@pytest.mark.parametrize(
    "option",
    [
        ["--against", "saved.json"],
        ["--fail-below", "JGA=-1"],
        ["--baselines"],
        ["--over", "lambda"],
        ["--power"],
        ["--discriminate"],
        ["--difference", "1"],
        ["--test", "bootstrap"],
        ["--common"],
    ],
)
def test_options_of_comparisons_are_not_dropped(instead: list[str], option: list[str]) -> None:
    files = ["p.json", "q.json"] if "--runs" in instead else ["p.json"]
    said = refusal(run("compare", *files, *instead, *option))
    with_what = "--runs" if "--runs" in instead else "two references"
    assert said == f"{option[0]}: no effect with {with_what}. Drop it."
    assert run("compare", *files, *instead).code == 0


def test_runs_and_two_references_exclude_each_other() -> None:
    said = refusal(run("compare", "p.json", "--runs", "--ref", "r.json", "--ref", "hard.json", "--against", "x"))
    assert said == "--against, --runs: no effect with two references. Drop them."


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (
            "correlate p.json --ref r.json --ratings anna=a.csv --fit --folds 1",
            "--folds: expected 2 or more, found 1",
        ),
        ("correlate p.json --ref r.json --ratings anna=a.csv --fit --folds -3", "--folds: expected 2 or more"),
        ("correlate p.json --ref r.json --ratings anna=a.csv --folds 3", "--folds: needs --fit"),
        ("agree a.csv b.csv --worst -1", "--worst: expected 0 or more, found -1"),
        (
            "import anna=a.csv --into q.txt",
            "--into q.txt: expected a name that ends in .jsonl or .csv, found '.txt'",
        ),
        ("import anna=a.csv --into q", "--into q: expected a name that ends in .jsonl or .csv"),
        (
            "plan r.json --ref r.json --true-lambda .5",
            "--true-lambda: expected conversations with different FGA",
        ),
        (
            "plan one.json --ref one.json --true-lambda .5",
            "--true-lambda: expected conversations with different FGA",
        ),
    ],
)
def test_ratings_refuse(here: Path, line: str, part: str) -> None:
    (here / "one.json").write_text('{"a": [{"hotel-area": "north"}, {}]}')
    before = contents(here)
    assert refusal(run("rate", *line.split())).startswith(part)
    assert contents(here) == before


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--r1 .3 --r2 .4",
        "p.json --r1 .3",
        "p.json --ref r.json --true-lambda .5 --r1 .3",
        "p.json --ref r.json --true-lambda .5 --r1 .3 --r2 .2 --r12 .1",
        "--true-lambda .5 --r1 .3 --r2 .2 --r12 .1",
    ],
)
def test_plan_takes_correlations_or_a_file(line: str) -> None:
    said = usage(run("rate", "plan", *line.split()))
    assert said.endswith("\nError: Give --r1, --r2 and --r12, or FILE with --true-lambda.\n")


def test_no_more_folds_than_conversations(here: Path) -> None:
    rated = "".join(f"DEMO{number:02},{number % 2}\n" for number in range(1, 7))
    (here / "c.csv").write_text(f"item,rating\n{rated}")
    fit = ["rate", "correlate", "p.json", "--ref", "r.json", "--ratings", "c=c.csv", "--fit", "--no-ci"]
    assert run(*fit).code == run(*fit, "--folds", "6").code == 0
    assert refusal(run(*fit, "--folds", "7")) == "--folds: expected at most 6, the number of dialogues, found 7."


@pytest.mark.parametrize(
    "line",
    [
        "spread saved.json --ref r.json",
        "explain saved.json DEMO01 --ref r.json",
        "explain saved.json --ref r.json --worst 3",
        "explain p.json DEMO01 --ref r.json --system saved.json",
        "rate sample saved.json --ref r.json --size 2 -o s.jsonl",
    ],
)
def test_saved_results_are_no_predictions(line: str) -> None:
    assert run(*SCORE.split(), "-o", "saved.json").code == 0
    said = refusal(run(*line.split()))
    assert said.startswith("saved.json: expected predictions, found a saved result, which holds counts only.")


@pytest.mark.parametrize(
    ("heading", "name"), [("SA", "SlotAccuracy"), ("sa", "SlotAccuracy"), ("#M1", "JGA"), ("#m2", "TurnMatch")]
)
def test_headings_of_tables_lead_to_metrics(heading: str, name: str) -> None:
    said = refusal(run(*SCORE.split(), "--metric", heading))
    assert said == f"Unknown metric {heading!r}. Did you mean {name!r}? See: dsteval list metrics."


@pytest.mark.parametrize("only", ["type1", "type2", "wrong"])
def test_some_turns_have_the_numbers_of_all(only: str) -> None:
    command = ["explain", "p.json", "DEMO04", "--ref", "r.json"]
    whole, some = (run(*command, *more).out.split("\n") for more in ([], ["--only", only]))
    assert whole[0].endswith("3 of 7 turns right, FGA(variant=official)@0.5 48.48")
    assert some[0] == whole[0]
    assert len(some) < len(whole)
