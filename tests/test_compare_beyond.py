"""What ``compare`` adds or does instead: rankings, plans, runs, two references, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.analysis.lambda_curve import over_lambda
from dsteval.analysis.rankings import discriminative_power, over_protocols, over_resamples
from dsteval.analysis.reference_change import two_references
from dsteval.analysis.sample_size import plan
from dsteval.analysis.seed_runs import repeated

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF = EXAMPLE / "reference.jsonl"
NAMES = ["pointer", "seq2seq", "prompted"]
FILES = [EXAMPLE / f"{name}.jsonl" for name in NAMES]
COMPARE: list[str | Path] = ["compare", *FILES, "--ref", REF, "--metric", "JGA", "--metric", "FGA@0.5"]


def document(*arguments: str | Path) -> dict[str, Any]:
    ran = run(*arguments, "--as", "json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def plain(value: Any) -> Any:
    """As JSON has it."""
    return json.loads(json.dumps(value))


@pytest.fixture(scope="module")
def results() -> list[dsteval.Result]:
    return [dsteval.evaluate(REF, path, metrics=["JGA", "FGA@0.5"]) for path in FILES]


def test_what_is_added_is_what_python_gives(results: list[dsteval.Result]) -> None:
    more = ["--over", "lambda", "--over", "resamples", "--over", "protocols", "--discriminate", "--power"]
    found = document(*COMPARE, *more)
    assert found["over_lambda"] == plain(over_lambda(results).to_dict())
    assert found["over_resamples"] == plain(over_resamples(results).to_dict())
    named = dict(zip(NAMES, FILES, strict=True))
    assert found["over_protocols"] == [
        plain(over_protocols(REF, named, one).to_dict()) for one in ("JGA", "FGA@0.5")
    ]
    assert found["discrimination"] == plain(discriminative_power(results).to_dict())
    assert found["plan"] == plain(plan(results).to_dict())
    assert len(found["systems"]) == 3 and len(found["comparisons"]) == 9


def test_nothing_is_added_unasked() -> None:
    assert list(document(*COMPARE)) == ["schema", "systems", "comparisons"]


def test_a_difference_to_plan_for(results: list[dsteval.Result]) -> None:
    found = document(*COMPARE, "--power", "--difference", "2")
    assert found["plan"] == plain(plan(results, difference=0.02).to_dict())
    assert refusal_of(*COMPARE, "--difference", "2") == "--difference: needs --power."


def refusal_of(*arguments: str | Path) -> str:
    return refusal(run(*arguments))


def test_runs_of_one_system(results: list[dsteval.Result]) -> None:
    found = document(*COMPARE, "--runs")
    assert found == {"schema": 1, "runs": plain(repeated(results).to_dict())}


def other_labels(folder: Path) -> Path:
    path = folder / "other.jsonl"
    path.write_text(REF.read_text().replace("guest house", "hotel"), encoding="utf-8")
    return path


def test_two_references(tmp_path: Path) -> None:
    other = other_labels(tmp_path)
    found = document("compare", FILES[0], "--ref", f"old={REF}", "--ref", f"new={other}", "--metric", "JGA")
    expected = two_references(FILES[0], {"old": REF, "new": other}, metrics=["JGA"], name="pointer")
    assert found["references"] == plain(expected.to_dict())
    text = run("compare", FILES[0], "--ref", REF, "--ref", other, "--metric", "JGA").out
    assert "hotel-type" in text and "By slot" in text


def test_two_fields_of_one_file(tmp_path: Path) -> None:
    turn = {"flag": "A.json-0", "predict": {"hotel-area": "north"}, "system": "", "user": "", "history": []}
    labels = {"ground_truth": {"hotel-area": "south"}, "ground_truth_m24": {"hotel-area": "north"}}
    path = tmp_path / "llm.json"
    path.write_text(json.dumps([turn | labels]), encoding="utf-8")
    fields = ["--ref-field", "ground_truth", "--ref-field", "ground_truth_m24"]
    found = document("compare", path, *fields, "--metric", "JGA")["references"]
    assert json.dumps(found).count("ground_truth_m24")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*FILES[:2], "--ref", REF, "--ref", FILES[2]], "one FILE and two references"),
        ([FILES[0], "--ref", REF, "--ref", REF], "twice"),
        ([FILES[0], "--ref", REF, "--ref", REF, "--ref", REF], "one FILE and two references"),
        ([*FILES, "--ref", REF, "--over", "lamda"], "Did you mean 'lambda'?"),
        ([FILES[0], "--ref", REF, "--runs"], "at least 2"),
    ],
)
def test_refusals(arguments: list[str | Path], said: str) -> None:
    assert said in refusal_of("compare", *arguments)


def test_files_of_one_name_keep_apart_under_protocols(tmp_path: Path) -> None:
    for folder, file in (("a", FILES[0]), ("b", FILES[1])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.jsonl").write_bytes(Path(file).read_bytes())
    files = [tmp_path / "a/x.jsonl", tmp_path / "b/x.jsonl"]
    found = document("compare", *files, "--ref", REF, "--metric", "JGA", "--over", "protocols")
    assert found["over_protocols"][0]["systems"] == [one["name"] for one in found["systems"]] == ["a/x", "b/x"]
