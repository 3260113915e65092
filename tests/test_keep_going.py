"""``score --keep-going``: broken lines are left out with their dialogues, listed, and end with exit code 1."""

import json
from pathlib import Path

import pytest

import dsteval
from commandline import refusal, run


def line(dialogue: str, turn: int = 0, pred: object = "north") -> str:
    state = {"hotel-area": "north"}
    return json.dumps({"dialogue_id": dialogue, "turn_id": turn, "ref": state, "pred": {"hotel-area": pred}})


def written(folder: Path, *lines: str) -> Path:
    path = folder / "both.jsonl"
    path.write_text("".join(f"{text}\n" for text in lines))
    return path


CUT = line("B")[:-20]
CASES = {
    "cut": ([line("A"), CUT, line("B", 1), line("C")], {"A", "C"}, "line 2"),
    "the first": ([CUT, line("B", 1), line("A"), line("C")], {"A", "C"}, "line 1"),
    "the last": ([line("A"), line("C"), line("B"), CUT], {"A", "C"}, "line 4"),
    "without an id": ([line("A"), line("B"), "garbage", line("D"), line("C")], {"A", "C"}, "line 3"),
    "without an id inside": ([line("A"), line("B"), "{}", line("B", 1), line("C")], {"A", "C"}, "line 3"),
    "two": ([line("A"), line("B"), "x", "y", line("D"), line("C")], {"A", "C"}, "line 3"),
    "no value": ([line("A"), line("B", pred=3.5), line("C")], {"A", "C"}, "dialogue 'B', turn 0"),
    "a turn twice": ([line("A"), line("B"), line("B"), line("C")], {"A", "C"}, "dialogue 'B', turn 0"),
    "a field twice": ([line("A"), line("B").replace("{", '{"turn_id": 0, ', 1), line("C")], {"A", "C"}, "line 2"),
}


@pytest.mark.parametrize(("lines", "left", "place"), CASES.values(), ids=list(CASES))
def test_broken_lines_are_left_out_with_their_dialogues(
    tmp_path: Path, lines: list[str], left: set[str], place: str
) -> None:
    path = written(tmp_path, *lines)
    assert run("score", path).code == 1

    ran = run("score", path, "--keep-going", "--by", "dialogue", "--metric", "JGA", "--as", "json")
    assert ran.code == 1
    system = json.loads(ran.out)["systems"][0]
    assert {part["key"] for part in system["slices"]} == left
    broken = system["coverage"]["broken"]
    assert broken[0].startswith(f"both.jsonl, {place}: ")
    assert [text for text in ran.err.splitlines() if text.startswith("dsteval: ")] == [
        f"dsteval: skipped: {text}" for text in broken
    ]
    assert f"|broken:{len(broken)}|" in system["scores"][0]["signature"]


def test_the_numbers_are_those_of_the_file_without_them(tmp_path: Path) -> None:
    sound = [line("A"), line("A", 1, "south"), line("C")]
    whole = dsteval.evaluate(None, written(tmp_path, *sound))
    broken = dsteval.evaluate(None, written(tmp_path, *sound[:2], CUT, *sound[2:]), keep_going=True)
    assert [score.value for score in whole.scores] == [score.value for score in broken.scores]
    assert broken.coverage.broken
    assert any("1 broken line left out" in note for note in broken.notes)


def test_a_sound_file_is_no_failure(tmp_path: Path) -> None:
    path = written(tmp_path, line("A"))
    assert run("score", path, "--keep-going") == run("score", path)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_however_many_processes(tmp_path: Path, workers: str) -> None:
    lines = [line(f"D{number}") for number in range(50)]
    path = written(tmp_path, *lines[:20], CUT, *lines[20:])
    ran = run("score", path, "--keep-going", "--metric", "JGA", "--workers", workers)
    assert (ran.code, ran.err.count("line 21")) == (1, 1)
    assert "50 of 50 dialogues" in ran.out


def test_nothing_left_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, line("A", pred=3.5), CUT)
    assert "at least one dialogue" in refusal(run("score", path, "--keep-going"))


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fga.json"
    state = {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}}
    path.write_text(json.dumps({"D": {"0": state}}))
    assert "--keep-going" in refusal(run("score", path, "--keep-going"))
