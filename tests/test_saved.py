"""Saved results: what ``score -o`` keeps gives the same numbers again, alone and in parts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dsteval
from commandline import refusal, run
from dsteval import metrics
from dsteval.errors import DstevalError
from dsteval.results import saved
from dsteval.results.result import Result, checksum
from dsteval.stats.intervals import Intervals

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF = EXAMPLE / "reference.jsonl"
FILES = [EXAMPLE / f"{name}.jsonl" for name in ("pointer", "seq2seq", "prompted")]

ALL = [f"{name}@0.5" if metrics.find(name).number_about else name for name in metrics.names()]


def save(folder: Path, *arguments: str | Path, name: str = "saved.json") -> Path:
    out = folder / name
    ran = run("score", *arguments, "-o", out)
    assert ran.code == 0, ran.err
    return out


def document(*arguments: str | Path) -> dict[str, Any]:
    ran = run(*arguments, "--as", "json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def scores(found: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [system["scores"] for system in found["systems"]]


def test_a_saved_result_is_scored_as_the_predictions_are(tmp_path: Path) -> None:
    wanted = [part for text in ALL for part in ("--metric", text)]
    out = save(tmp_path, *FILES, "--ref", REF, *wanted)
    fresh = document("score", *FILES, "--ref", REF, *wanted)
    assert scores(document("score", out)) == scores(fresh)
    assert document("score", out)["systems"][0]["coverage"] == fresh["systems"][0]["coverage"]


@pytest.mark.parametrize(
    "more", [["--ci", "0.8"], ["--no-ci"], ["--interval", "bca", "--resamples", "300", "--seed", "7"]]
)
def test_other_intervals_without_predictions(tmp_path: Path, more: list[str]) -> None:
    out = save(tmp_path, FILES[0], "--ref", REF)
    assert scores(document("score", out, *more)) == scores(document("score", FILES[0], "--ref", REF, *more))


def test_another_lambda_comes_from_the_kept_histogram(tmp_path: Path) -> None:
    out = save(tmp_path, FILES[0], "--ref", REF)
    arguments = ["--metric", "FGA@3", "--metric", "JGA"]
    assert scores(document("score", out, *arguments)) == scores(
        document("score", FILES[0], "--ref", REF, *arguments)
    )
    said = refusal(run("score", out, "--metric", "RSA"))
    assert (
        "metric 'RSA': expected one of the metrics that the saved result has counts for "
        "(JGA, TurnMatch(variant=official)" in said
    )


def test_older_columns_are_read_where_they_mean_the_same(tmp_path: Path) -> None:
    wanted = ["--metric", "JGA", "--metric", "FGA@0.5", "--metric", "AGA"]
    out = save(tmp_path, FILES[0], "--ref", REF, *wanted)
    older = broken(out, lambda held: held["systems"][0]["per_dialogue"].pop("columns"))
    assert scores(document("score", older)) == scores(document("score", FILES[0], "--ref", REF, *wanted))
    newer = broken(out, lambda held: held["systems"][0]["per_dialogue"].update(columns=3))
    assert "found version 3, which differs for JGA, FGA@0.5, AGA" in refusal(run("score", newer))


@pytest.mark.parametrize("value", ["north", "south"])
def test_rows_that_end_in_zeros_are_whole_again(tmp_path: Path, value: str) -> None:
    # Of a perfect prediction FGA keeps two columns, of one that is never right JGA keeps one.
    paths = [tmp_path / "ref.json", tmp_path / "pred.json"]
    for path, own in zip(paths, ("north", value), strict=True):
        path.write_text(json.dumps({"d": [{"hotel-area": own}, {"hotel-area": own}], "e": [{"hotel-area": own}]}))
    wanted = [part for text in ALL for part in ("--metric", text)]
    out = save(tmp_path, paths[1], "--ref", paths[0], *wanted)
    assert scores(document("score", out)) == scores(document("score", paths[1], "--ref", paths[0], *wanted))


def test_names_and_several_systems(tmp_path: Path) -> None:
    out = save(tmp_path, *FILES, "--ref", REF)
    assert [one["name"] for one in document("score", out)["systems"]] == ["pointer", "seq2seq", "prompted"]
    one = save(tmp_path, FILES[0], "--ref", REF, name="one.json")
    mixed = document("score", f"ours={one}", FILES[1], "--ref", REF)
    assert [s["name"] for s in mixed["systems"]] == ["ours", "seq2seq"]


def test_parts_of_a_system_are_the_whole(tmp_path: Path) -> None:
    whole = dsteval.evaluate(REF, FILES[0])
    lines = FILES[0].read_text().splitlines(keepends=True)
    ids = list(dict.fromkeys(json.loads(line)["dialogue_id"] for line in lines))
    parts = []
    for number, chosen in enumerate((ids[:5], ids[5:])):
        text = "".join(line for line in lines if json.loads(line)["dialogue_id"] in chosen)
        path = tmp_path / f"part{number}.jsonl"
        path.write_text(text)
        parts.append(save(tmp_path, path, "--ref", REF, "--missing", "skip", name=f"{number}.json"))
    found = document("score", "--merge", "pointer", *parts)["systems"][0]
    for score, expected in zip(found["scores"], whole.scores, strict=True):
        assert (score["value"], score["count"], score["total"]) == (expected.value, expected.count, expected.total)
        assert score["signature"].replace("|missing:skip", "") == expected.signature
    assert found["coverage"]["missing"] == []


def test_parts_of_the_reference_add_up_to_its_hash(tmp_path: Path) -> None:
    ref = {f"d{n}": [{"hotel-area": "north"}] * (n + 1) for n in range(4)}
    pred = {
        name: [{"hotel-area": "north" if len(name) % 2 else "south"}] * len(states) for name, states in ref.items()
    }
    pieces = [
        {name: side[name] for name in names} for names in (["d0", "d3"], ["d1", "d2"]) for side in (ref, pred)
    ]
    parts = [dsteval.evaluate(pieces[0], pieces[1]), dsteval.evaluate(pieces[2], pieces[3])]
    whole = dsteval.evaluate(ref, pred)
    merged = saved.recounted(saved.merge(parts), None, Intervals())
    assert str(merged.reference_hash) == str(whole.reference_hash)
    assert merged.scores[0].signature == whole.scores[0].signature
    assert [score.value for score in merged.scores] == [score.value for score in whole.scores]
    assert merged.coverage.to_dict() == whole.coverage.to_dict()


def result(pred: dict[str, Any], **options: Any) -> Result:
    return dsteval.evaluate({name: [{"hotel-area": "north"}] for name in pred}, pred, **options)


def test_what_cannot_be_merged() -> None:
    one = result({"a": [{}]})
    with pytest.raises(DstevalError, match="each dialogue in only one part, found 1 of 2 twice"):
        dsteval.merge([one, result({"A.json": [{}]})])
    with pytest.raises(DstevalError, match="the same protocol"):
        dsteval.merge([one, result({"b": [{}]}, protocol="normalised")])
    with pytest.raises(DstevalError, match=r"or the same \|S\| for all, found 35 beside 30"):
        dsteval.merge([one, result({"b": [{}]}, slots=35)])
    with pytest.raises(DstevalError, match="the same metrics"):
        dsteval.merge([one, result({"b": [{}]}, metrics=["JGA"])])
    with pytest.raises(DstevalError, match="at least one result"):
        dsteval.merge([])


def broken(path: Path, change: Any) -> Path:
    held = json.loads(path.read_text())
    change(held)
    for system in held["systems"]:
        system["checksum"] = checksum(system)
    path.write_text(json.dumps(held))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held: held["systems"][0].pop("per_dialogue"), "expected counts per dialogue, found none"),
        (lambda held: held["systems"].clear(), "expected at least one system, found none"),
        (lambda held: held.update(schema=2), "expected schema 1, found schema 2"),
        (
            lambda held: held["systems"][0].update(scores=3),
            "expected a result that score -o wrote, found Expected 'array'",
        ),
        (lambda held: held["systems"][0].update(protocol="exact@1"), "as in version"),
        (lambda held: held["systems"][0]["per_dialogue"].update(settings="0"), "Score the predictions again."),
        (
            lambda held: held["systems"][0]["per_dialogue"]["turns"].pop(),
            "one row of counts per dialogue, found 11, 12 rows",
        ),
        (lambda held: held["systems"][0]["per_dialogue"]["counts"].pop("JGA"), "found none of JGA"),
        (
            lambda held: held["systems"][0]["per_dialogue"].pop("columns"),
            "in version 2 of the columns, found version 1, which differs for SlotAccuracy. Score the pred",
        ),
        (
            lambda held: held["systems"][0]["per_dialogue"].update(reference=[1]),
            "found Expected 'array' of length 2",
        ),
        (lambda held: held["systems"][0]["per_dialogue"]["widths"].update(JGA=10**25), "per metric, found 12000"),
        (
            lambda held: held["systems"][0].update(coverage={"pr": 1}),
            "0 dialogues and 0 turns, found 12 dialogues",
        ),
    ],
)
def test_what_is_no_saved_result(tmp_path: Path, change: Any, said: str) -> None:
    assert said in refusal(run("score", broken(save(tmp_path, FILES[0], "--ref", REF), change)))


def test_a_saved_result_that_is_no_utf8(tmp_path: Path) -> None:
    path = save(tmp_path, FILES[0], "--ref", REF)
    path.write_bytes(path.read_bytes().replace(b'"schema"', b'"odd": "\xff", "schema"', 1))
    with pytest.raises(DstevalError, match="expected a result that score -o wrote"):
        saved.load(path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--by", "domain"], "--by: expected predictions, found a saved result, which holds counts only"),
        (["--changes"], "--changes"),
        (["--protocol", "normalised"], "expected a result under protocol normalised, found one of exact@2"),
    ],
)
def test_options_that_need_the_predictions(tmp_path: Path, more: list[str], said: str) -> None:
    out = save(tmp_path, FILES[0], "--ref", REF)
    assert said in refusal(run("score", out, *more))


def test_merge_takes_saved_results_only() -> None:
    said = refusal(run("score", "--merge", "x", FILES[0]))
    assert "expected a result saved by score -o PATH.json" in said


def test_python_loads_what_the_command_wrote(tmp_path: Path) -> None:
    out = save(tmp_path, FILES[0], "--ref", REF)
    (loaded,) = dsteval.load(out)
    fresh = dsteval.evaluate(REF, FILES[0])
    assert loaded.per_dialogue("FGA@0.5") == fresh.per_dialogue("FGA@0.5")
    assert loaded["JGA"] == fresh["JGA"]
    assert all(np.array_equal(loaded.counts[text], counts) for text, counts in fresh.counts.items())
