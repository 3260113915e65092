"""Progress while files are read: which share, by any reader and by several processes, and only on a terminal."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from commandline import process
from dsteval.cli import cli, progress
from dsteval.pipeline.evaluation import evaluate
from dsteval.readers import Source, read
from dsteval.readers.watching import of_parts

TURN = {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "north"}}}
CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LINE = '{"dialogue_id": "D%d", "turn_id": 0, "ref": {"hotel-area": "north"}, "pred": {"hotel-area": "north"}}\n'
N = 400


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.json"
    path.write_text(json.dumps({f"D{number}": {"0": TURN} for number in range(N)}))
    return path


def forms(folder: Path) -> list[Path]:
    contents = {
        "object.json": json.dumps({f"D{number}": {"0": TURN} for number in range(N)}),
        "lines.jsonl": "".join(LINE % number for number in range(N)),
        "list.json": json.dumps([json.loads(LINE % number) for number in range(N)]),
        "table.csv": "dialogue_id,turn_id,ref,pred\n"
        + "D1,0,{},{}\n"
        + "".join(f"E{n},0,{{}},{{}}\n" for n in range(N)),
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    return [folder / name for name in contents]


@pytest.mark.parametrize("number", range(4))
def test_the_share_rises_to_one(tmp_path: Path, number: int) -> None:
    source, heard = Source.open(forms(tmp_path)[number]), list[float]()
    source.watch(heard.append)
    assert len(list(read(source, "pred"))) >= N
    shares = heard[heard.index(min(heard)) :]
    assert shares == sorted(shares)
    assert shares[0] < 0.05
    assert shares[-1] == 1
    assert 50 < len(shares) < 220


def test_files_of_a_folder_are_shares_of_the_whole(tmp_path: Path) -> None:
    heard: list[float] = []
    parts = list(of_parts(heard.append, [30, 10]))
    parts[0](0.5)
    parts[0](1)
    parts[1](0.5)
    assert heard == [0.375, 0.75, 0.875]


def test_processes_tell_how_far_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsteval.pipeline.workers._PAUSE", 0.001)
    path = tmp_path / "many.jsonl"
    path.write_text("".join(LINE % number for number in range(20 * N)))
    source, heard = Source.open(path), list[float]()
    source.watch(heard.append)
    evaluate(None, source, outcomes=False, workers=2, ci=None)
    assert heard == sorted(heard)
    assert len(set(heard)) > 2


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_terminal_shows_it(large: Path, monkeypatch: pytest.MonkeyPatch, workers: str) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    monkeypatch.setattr("dsteval.pipeline.workers._PAUSE", 0.001)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    cli.main(["score", str(large), "--no-ci", "--workers", workers], prog_name="dsteval", standalone_mode=False)
    assert "large.json \u2501" in CODE.sub("", terminal.getvalue())


def test_quiet_shows_nothing(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    cli.main(["score", str(large), "--no-ci", "--quiet"], prog_name="dsteval", standalone_mode=False)
    assert terminal.getvalue() == ""


def test_what_is_soon_done_shows_nothing(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    cli.main(["score", str(large), "--no-ci"], prog_name="dsteval", standalone_mode=False)
    assert terminal.getvalue().splitlines() == ["large.json: read as fga-json (turns with 'gt' and 'pr')"]


def test_what_is_read_at_once_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    progress.ReadingBar("small.json", 10)(1.0)
    assert terminal.getvalue() == ""


def test_a_refusal_ends_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1)
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(LINE % number for number in range(N)) + "{broken\n")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with pytest.raises(SystemExit):
        cli.main(["score", str(path), "--no-ci"], prog_name="dsteval")
    shown = CODE.sub("", terminal.getvalue())
    assert "\u2501" in shown
    assert shown.replace("\r", "\n").splitlines()[-1].startswith("dsteval: broken.jsonl, line 401: ")
    assert not progress._lines


def test_a_pipe_gets_none(large: Path) -> None:
    assert process("score", large, "--no-ci").err.count("\n") == 1
