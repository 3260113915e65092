"""``track``: a tracker is run over data, and nothing is lost however often the run is stopped."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import COMMAND, Ran, refusal, run
from dsteval.readers import Source
from dsteval.track.dialogues import gather
from dsteval.track.runs import run as track
from dsteval.track.tracker import Loaded

TESTS = str(Path(__file__).parent)
REFERENCE = Path(dsteval.__file__).parent / "example" / "reference.jsonl"

WORDS = ("hotel-area=north", "hotel-stars=4", "taxi-leaveat=10:15|10.15", "nothing today", "hotel-area=south")


def written(place: Path, dialogues: dict[str, list[str]]) -> Path:
    """Data whose user turns are these texts; the reference is what they say."""
    lines = []
    for name, texts in dialogues.items():
        state: dict[str, Any] = {}
        for number, text in enumerate(texts):
            for word in text.split():
                slot, equals, value = word.partition("=")
                if equals:
                    state[slot] = value.split("|") if "|" in value else value
            lines.append(
                {"dialogue_id": name, "turn_id": number, "system": "", "user": text, "state": dict(state)}
            )
    place.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place


@pytest.fixture
def data(tmp_path: Path) -> Path:
    chance = random.Random(7)
    dialogues = {f"D{n}.json": chance.choices(WORDS, k=chance.randint(1, 6)) for n in range(40)}
    return written(tmp_path / "data.jsonl", dialogues)


def tracked(data: Path, out: Path, tracker: str = "trackers:Resetting", *more: str | Path) -> Ran:
    return run("track", data, "--tracker", tracker, "--out", out, *more)


def scores(ran: Ran) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)["systems"][0]["scores"]
    return found


def predictions(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_the_card_comes_first_then_the_usual_list(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    found = scores(tracked(data, out, "trackers:Resetting", "--as", "json"))
    assert [score["metric"] for score in found][:2] == ["SlotRecall", "JGA"]
    assert len(found) > 8
    assert all(score["value"] == 1 for score in found if score["metric"] != "TurnMatch")
    assert found[0]["low"] is not None
    assert all(set(json.loads(line)) >= {"system", "user", "ref", "pred"} for line in out.read_text().splitlines())


@pytest.mark.parametrize("tracker", ["Resetting", "Echo", "echo", "Changes", "Historian", "Nested", "Slow"])
@pytest.mark.parametrize("nested", [False, True])
def test_every_kind_of_tracker(data: Path, tmp_path: Path, tracker: str, nested: bool) -> None:
    out = tmp_path / "out.jsonl"
    ran = tracked(data, out, f"trackers:{tracker}", "--metric", "JGA", "--as", "json", *["--nested"] * nested)
    assert scores(ran)[0]["value"] == 1
    kinds = {isinstance(v, dict) for line in predictions(out) for v in line["pred"].values()}
    assert kinds == {nested}


@pytest.mark.parametrize(
    "more", [[], ["--by", "domain", "--protocol", "card"], ["--ci", "0.8", "--metric", "FGA@3"]]
)
def test_the_file_scored_later_gives_the_numbers_and_signatures(tmp_path: Path, more: list[str]) -> None:
    """Twelve made-up dialogues, of which the tracker gets next to nothing right."""
    out = tmp_path / "out.jsonl"
    more = [*more, "--metric", "SlotRecall", "--metric", "JGA", "--metric", "SlotF1", "--as", "json"]
    ran = tracked(REFERENCE, out, "trackers:echo", *more)
    later = json.loads(run("score", out, *more).out)["systems"][0]
    now = json.loads(ran.out)["systems"][0]
    assert [now[key] for key in ("name", "source", "scores", "slices", "coverage")] == [
        later[key] for key in ("name", "source", "scores", "slices", "coverage")
    ]
    again = json.loads(run("score", out, "--ref", REFERENCE, *more).out)["systems"][0]
    assert again["scores"] == later["scores"]


def test_teacher_forcing_is_told(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = tracked(data, out, "trackers:Forced", "--as", "json")
    found = json.loads(ran.out)
    assert all("|forced:ref-state|" in score["signature"] for score in found["systems"][0]["scores"])
    assert any("teacher forcing" in note for note in found["systems"][0]["notes"])
    assert found["run"]["tracker"]["needs"] == ["ref-state"]
    assert all(line["forced"] is True for line in predictions(out))


def test_forcing_gives_the_reference_before(tmp_path: Path) -> None:
    """The second turn says nothing of the area, and the tracker has forgotten it: the reference tells."""
    lines = [
        {
            "dialogue_id": "A",
            "turn_id": 0,
            "user": "hm",
            "state": {"hotel-area": ["north"], "hotel-stars": "none"},
        },
        {"dialogue_id": "A", "turn_id": 1, "user": "yes", "state": {"hotel-area": ["north", "centre"]}},
        {"dialogue_id": "A", "turn_id": 2, "user": "yes", "state": {}},
    ]
    place = tmp_path / "data.jsonl"
    place.write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "out.jsonl"
    assert tracked(place, out, "trackers:Forced", "--metric", "JGA").code == 0
    states = [line["pred"] for line in predictions(out)]
    assert states == [{}, {"hotel-area": "north"}, {"hotel-area": ["north", "centre"]}]


def test_updates_take_back(tmp_path: Path) -> None:
    data = written(
        tmp_path / "d.jsonl", {"A": ["hotel-area=north hotel-bookday=monday", "hotel-Area=south", "never"]}
    )
    lines = data.read_text().splitlines()
    data.write_text("\n".join([lines[0], *(line.replace('"hotel-area": "north", ', "") for line in lines[1:])]))
    out = tmp_path / "out.jsonl"
    tracked(data, out, "trackers:Changes", "--metric", "JGA")
    states = [line["pred"] for line in predictions(out)]
    assert states == [
        {"hotel-area": "north", "hotel-bookday": "monday"},
        {"hotel-bookday": "monday", "hotel-Area": "south"},
        {},
    ]


def test_options_schema_and_slots_reach_the_constructor(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    tracked(data, out, "trackers:Resetting", "--tracker-option", "upper=true", "--metric", "JGA")
    assert '"NORTH"' in out.read_text() or '"SOUTH"' in out.read_text()
    schema = [{"service_name": "spa", "slots": [{"name": "day", "is_categorical": False}]}]
    tracker = Loaded("trackers:Resetting", {}, {"schema": schema, "slots": ["spa-day"]})
    assert tracker._tracker.schema == schema
    assert Loaded("trackers:Echo", {}, {"schema": schema}).needs == ("turn",)


# ---- stopped and taken up again


def test_cut_off_anywhere_it_ends_the_same(tmp_path: Path) -> None:
    chance = random.Random(3)
    data = written(tmp_path / "few.jsonl", {f"D{n}": chance.choices(WORDS, k=n % 3 + 1) for n in range(6)})
    material = gather(Source.open(data))
    tracker = Loaded("trackers:Resetting")
    out = tmp_path / "out.jsonl"
    track(material, tracker, out)
    whole = out.read_bytes()
    ends = [0, *(place + 1 for place, byte in enumerate(whole) if byte == 10)]
    for cut in [*ends, *chance.sample(range(len(whole)), 40)]:
        out.write_bytes(whole[:cut])
        came = track(material, tracker, out)
        assert came.before + came.tracked == len(material.dialogues)
        assert out.read_bytes() == whole


SERVER = f"""
import os, resource, signal, sys
sys.path.insert(0, {TESTS!r})
from pathlib import Path
from dsteval.readers import Source
from dsteval.track.dialogues import gather
from dsteval.track.runs import run
from dsteval.track.tracker import Loaded
material, tracker = gather(Source.open(sys.argv[1])), Loaded("trackers:Resetting")
for limit in map(int, sys.stdin):
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        run(material, tracker, Path(sys.argv[2]))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files there")
def test_killed_at_twenty_moments_nothing_is_lost_or_twice(tmp_path: Path) -> None:
    """The system kills a run in the middle of a write, as soon as a file of it would be longer than a limit.

    Under a limit below what is written already, that is while the file is cut down to what is finished. One
    process has everything loaded and forks the runs, so that twenty of them take no time to start.
    """
    straight, out = tmp_path / "straight.jsonl", tmp_path / "out.jsonl"
    chance = random.Random(11)
    data = written(tmp_path / "many.jsonl", {f"D{n}": chance.choices(WORDS, k=3) for n in range(150)})
    track(gather(Source.open(data)), Loaded("trackers:Resetting"), straight)
    whole = straight.read_bytes()
    limits = [100]  # in the middle of the header
    for limit in sorted(chance.sample(range(1000, len(whole)), 10)):
        limits += [limit, chance.randrange(limit)]
    command = [sys.executable, "-c", SERVER, str(data), str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        finished, sizes = 0, set()
        for limit in [*limits[:-1], 2 * len(whole)]:
            server.stdin.write(f"{limit}\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
            assert code == (0 if limit > len(whole) else -signal.SIGXFSZ)
            text = out.read_bytes() if out.exists() else b""
            assert whole.startswith(text)
            assert text.count(b"\n") // 3 >= finished
            finished = text.count(b"\n") // 3
            sizes.add(len(text))
        server.stdin.close()
    assert len(sizes) > 10
    assert text == whole


@pytest.fixture
def started(data: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run that has written some dialogues, and goes on once the file "gate" is there."""
    out = tmp_path / "out.jsonl"
    command = [*COMMAND, "track", str(data), "--tracker", "trackers:Gated", "--out", str(out)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([TESTS, *filter(None, sys.path)]),
        "TRACKER_GATE": str(tmp_path / "gate"),
    }
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as run:
        while not (out.exists() and out.read_bytes().count(b'"D9.json"')) and run.poll() is None:
            time.sleep(0.005)
        yield run
        run.kill()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_the_command_goes_on_from_where_it_was_stopped(
    started: "subprocess.Popen[str]", data: Path, tmp_path: Path, sign: signal.Signals
) -> None:
    out = tmp_path / "out.jsonl"
    started.send_signal(sign)
    told = started.communicate()[1]
    if sign == signal.SIGINT:
        assert started.returncode == 130, told
        assert "Run the same command again to continue" in told
        assert "Traceback" not in told
    assert len({line["dialogue_id"] for line in predictions(out)}) == 10
    ran = tracked(data, out, "trackers:Gated", "--metric", "JGA", "--as", "json")
    assert "40 of 40 dialogues tracked (10 of them in an earlier run)" in ran.err
    assert scores(ran)[0]["count"] == scores(ran)[0]["total"] == len(predictions(out))
    assert [line["dialogue_id"] for line in predictions(out)] == [
        line["dialogue_id"] for line in predictions(data)
    ]


def test_two_runs_do_not_write_one_file(started: "subprocess.Popen[str]", data: Path, tmp_path: Path) -> None:
    told = refusal(tracked(data, tmp_path / "out.jsonl", "trackers:Gated"))
    assert "another run is writing this file" in told
    (tmp_path / "gate").touch()
    assert started.wait() == 0


def test_a_finished_run_is_only_scored_again(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = tracked(data, out)
    held = out.stat().st_mtime_ns
    second = tracked(data, out)
    assert second.out == first.out
    assert "(40 of them in an earlier run)" in second.err
    assert out.stat().st_mtime_ns == held


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_terminal_shows_how_far_it_has_come(data: Path, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([TESTS, *filter(None, sys.path)]),
        "TERM": "xterm",
        "COLUMNS": "120",
    }
    command = [*COMMAND, "track", str(data), "--tracker", "trackers:Slow", "--out", str(tmp_path / "out.jsonl")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while len(piece := _read(ours)):
        shown += piece
    os.close(ours)
    assert done.returncode == 0
    assert b"SlotRecall" in done.stdout
    turns = len(predictions(data))
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(rf"{turns}/{turns} *turns, 40 dialogues, 0 failures", plain)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody writes any more
        return b""


def test_trackers_are_listed() -> None:
    found = json.loads(run("list", "trackers", "--as", "json").out)["trackers"]
    assert [one["name"] for one in found] == ["baseline"]
    assert found[0]["needs"] == ["turn"]
    assert len(found[0]["hash"]) == 12
