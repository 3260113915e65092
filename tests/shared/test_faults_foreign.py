"""Code of others, and files made to break: each ends as one sentence, and nothing of the user's is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import COMMAND, process, refusal, run
from shared.figures import SCORE, Folder, plain

pytestmark = pytest.mark.shared


def test_tracker_that_changes_directory(folder: Folder) -> None:
    folder("brk-12-track-chdir-scores-another-file")
    options = ["--tracker", "wander:tracker", "--out", "out.jsonl", *SCORE, "--as", "json"]
    ran = process("track", "reference.jsonl", *options, PYTHONPATH=".")
    tracked = (
        json.loads(ran.out[ran.out.index("{") :])["systems"][0]["scores"][0]["value"] if ran.code == 0 else None
    )
    assert (
        tracked
        == json.loads(run("score", "out.jsonl", *SCORE, "--as", "json").out)["systems"][0]["scores"][0]["value"]
    )


@pytest.mark.parametrize("kind", ["device", "fifo"])
def test_devices_stay(folder: Folder, kind: str) -> None:
    place = folder("brk-13-track-deletes-device")
    (place / "x").mkdir()
    node = place / "x/node"
    try:
        os.mkfifo(node) if kind == "fifo" else os.mknod(node, 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices can only be made as root")
    before = os.lstat(node)
    refusal(process("track", "reference.jsonl", "--out", "x/node"))
    after = os.lstat(node)
    assert (before.st_mode, before.st_ino) == (after.st_mode, after.st_ino)
    assert [path.name for path in (place / "x").iterdir()] == ["node"]


@pytest.mark.parametrize(
    ("data", "arguments"),
    [
        ("z.run.json", "track z.run.json --out z"),
        ("y.errors.log", "track y.errors.log --out y --tracker boom:tracker --verbose"),
        ("dd/reference.jsonl", "track dd --out dd/reference.jsonl --restart"),
    ],
)
def test_inputs_stay(folder: Folder, data: str, arguments: str) -> None:
    place = folder("brk-14-track-destroys-input")
    (place / data).parent.mkdir(exist_ok=True)
    content = (place / "reference.jsonl").read_bytes()
    (place / data).write_bytes(content)
    plain(process(*arguments.split(), PYTHONPATH="."))
    assert (place / data).read_bytes() == content


HOSTILE = [
    "npstr",
    "substr",
    "substrkey",
    "strenum",
    "intenum",
    "nplist",
    "none",
    "lst",
    "nan",
    "big",
    "surr",
    "nul",
    "deep",
    "selfref",
    "sysexit",
    "genexit",
    "recur",
    "stdout_fd",
    "stdout_sub",
    "stdout_dunder",
    "close1",
    "close2",
    "closestd",
    "setstdout",
    "chdir",
    "fork",
    "forkexit",
    "exc_group",
    "badexc",
    "excnl",
    "exchuge",
    "warn",
    "lazy",
    "ResetRaise",
    "VersionRaise",
    "NeedsOdd",
    "NeedsInt",
    "GetattrAll",
    "InitExit",
    "InitKbd",
    "obj",
    "num",
    "coro",
    "gen",
    "mutates",
    "mutstate",
]


@pytest.mark.slow
@pytest.mark.parametrize("tracker", ["exit0:tracker", "init0:T", *(f"hostile:{name}" for name in HOSTILE)])
def test_hostile_trackers(folder: Folder, tracker: str) -> None:
    place = folder("brk-15-track-hostile-trackers")
    ran = process("track", "reference.jsonl", "--tracker", tracker, "--out", "out.jsonl", PYTHONPATH=".")
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.out + ran.err
    assert len(ran.err) < 20_000
    assert "POLLUTION" not in ran.out
    if (place / "out.jsonl").exists():
        lines = (place / "out.jsonl").read_bytes().splitlines()
        assert all(isinstance(json.loads(line), dict) for line in lines)


PLUGINS = [
    "metrics,missing,nosuch:M",
    "metrics,raises,brkplug:NOSUCH",
    "metrics,five,brkplug:NOTMETRIC",
    "metrics,InfV,brkplug:INFV",
    "metrics,ObjC,brkplug:OBJC",
    "metrics,StrC,brkplug:STRC",
    "metrics,LstC,brkplug:LSTC",
    "metrics,ShapeC,brkplug:SHAPE",
    "metrics,OneD,brkplug:ONED",
    "metrics,EmptyC,brkplug:EMPTY",
    "metrics,RaiseC,brkplug:RAISEC",
    "metrics,RaiseV,brkplug:RAISEV",
    "metrics,NoneV,brkplug:NONEV",
    "metrics,StrV,brkplug:STRV",
    "metrics,Cplx,brkplug:COMPLEX",
    "metrics,ExitC,brkplug:EXITC",
    "metrics,NanC,brkplug:NANC",
    "metrics,InfC,brkplug:INFC",
    "metrics,NinfV,brkplug:NINF",
    "readers,hostile-reader,brkplug:R",
    "readers,greedy,brkplug:RG",
    "readers,trade,brkplug:RS",
    "readers,raises,brkplug:boom",
    "protocols,proto,brkplug:PROTO_TEXT",
    "protocols,five,brkplug:PROTO_OBJ",
]


@pytest.mark.slow
@pytest.mark.parametrize("plugin", PLUGINS)
def test_plugins(folder: Folder, shared: Path, plugin: str) -> None:
    place = folder("brk-17-plugins")
    example = str(shared / "faults/brk-25-small-tracebacks/reference.jsonl")
    (place / "brkplug-1.0.dist-info").mkdir()
    (place / "brkplug-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: brkplug\nVersion: 1.0\n")
    subprocess.run([sys.executable, "eps.py", ".", plugin], check=True)
    without = process("score", example, "--ref", example, *SCORE, PYTHONPATH=".")
    assert "100.00" in plain(without, 0)
    kind, name, _ = plugin.split(",", 2)
    option = {"metrics": "--metric", "readers": "--format", "protocols": "--protocol"}[kind]
    ran = process("score", example, "--ref", example, "--no-ci", option, name, PYTHONPATH=".")
    if (kind, name) in (("readers", "trade"), ("metrics", "NanC")):
        assert "Traceback" not in ran.err  # a bundled name stays bundled; NaN is undefined
    else:
        assert name in refusal(ran)


@pytest.mark.slow
def test_bombs(folder: Folder) -> None:
    place = folder("brk-23-bombs")
    text = (place / "gen.py").read_text()
    (place / "gen.py").write_text("\n".join(line for line in text.split("\n") if "long1m" not in line) + "\n"
                                  + "w('long100k.jsonl',longd(100000))\n")  # fmt: skip
    subprocess.run([sys.executable, "gen.py"], check=True)
    limited = ["bash", "-c", 'ulimit -v 6000000; exec "$0" "$@"', *COMMAND, "score"]
    for path in sorted([*place.glob("*.json"), *place.glob("*.jsonl")]):
        arguments = [str(path), *(["--ref", str(path)] if path.suffix == ".json" else [])]
        done = subprocess.run([*limited, *arguments], capture_output=True)
        assert done.returncode in (0, 1), (path.name, done.stderr)
        assert b"Traceback" not in done.stderr, (path.name, done.stderr)
