"""Options that are wrong: unknown names are told the nearest one, and nothing half written is left behind."""

import os
import subprocess
import time
from pathlib import Path

import pytest

import dsteval
from commandline import COMMAND, Ran, process, refusal, run, usage
from refusals import refused, written

BOTH = '{"d": {"0": {"gt": {"hotel": {"area": "a"}}, "pr": {}}, "1": {"gt": {"hotel": {"area": "a"}}, "pr": {}}}}'


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "pred.json", BOTH)


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("JGAA", ["Unknown metric 'JGAA'", "Did you mean 'JGA'?", "dsteval list metrics"]),
        ("jga", ["Unknown metric 'jga'", "Did you mean 'JGA'?"]),
        ("slotf1", ["Did you mean 'SlotF1'?"]),
        ("xyz", ["Unknown metric 'xyz'", "Known: ", "JGA", "FGA"]),
        ("", ["metric ''", "Name@number"]),
        ("FGA", ["metric 'FGA'", "needs a number", "For example FGA@0.5"]),
        ("FGA@", ["metric 'FGA@'", "Name@number"]),
        ("FGA@x", ["metric 'FGA@x'", "a number or inf", "'x'"]),
        ("FGA@0.5@1", ["metric 'FGA@0.5@1'"]),
        ("FGA@-1", ["FGA@-1", "at least 0, or inf", "found -1"]),
        ("FGA@-0.001", ["at least 0, or inf", "found -0.001"]),
        ("FGA@nan", ["FGA@nan", "at least 0, or inf", "found nan"]),
        ("FGA@-inf", ["at least 0, or inf", "found -inf"]),
        ("JGA@1", ["JGA takes no number"]),
        ("FGA(varian=strict)@1", ["parameter of FGA 'varian'", "Did you mean 'variant'?"]),
        ("FGA(variant=offical)@1", ["'offical'", "Did you mean 'official'?"]),
        ("JGA(average=sum)", ["'sum'", "turn, dialogue"]),
        ("JGA(average)", ["metric 'JGA(average)'", "key=value"]),
        ("JGA(average=turn,average=turn)", ["'average' twice"]),
        ("SlotF1(average=turn)", ["Unknown parameter of SlotF1 'average'", "Known: credit"]),
        ("AGA(variant=turn)", ["Known: over"]),
        ("DialogueMatch(average=turn)", ["DialogueMatch takes no parameters"]),
    ],
)
def test_metrics(tmp_path: Path, metric: str, parts: list[str]) -> None:
    refused(tmp_path, BOTH, *parts, metrics=[metric])


@pytest.mark.parametrize("metric", ["FGA@1e400", "FGA@inf", "FGA@1e308", "FGA@5e15", "FGA@1e-320", "FGA@0"])
def test_extreme_lambdas(good: Path, metric: str) -> None:
    ran = run("score", good, "--metric", metric, "--as", "csv")
    assert ran.code == 0
    value = dsteval.evaluate(None, good, metrics=[metric])[metric].value
    assert value == (0.5 if metric not in ("FGA@0", "FGA@1e-320") else pytest.approx(0, abs=1e-300))


def test_extreme_lambdas_warn_of_nothing(good: Path) -> None:
    """Three turns after the error the exponent overflows; only a process of its own shows the warning."""
    turns = ", ".join(f'"{n}": {{"gt": {{"a": {{"b": "c"}}}}, "pr": {{}}}}' for n in range(4))
    ran = process("score", written(good.with_name("four.json"), f'{{"d": {{{turns}}}}}'), "--metric", "FGA@1e308")
    assert ran.code == 0
    assert "Warning" not in ran.err


def test_malformed_metrics_are_told_at_once(good: Path) -> None:
    """A pattern that tries all ways to share white space between its parts would take seconds."""
    start = time.perf_counter()
    assert "metric 'FGA" in refusal(run("score", good, "--metric", "FGA" + " " * 1000 + "!"))
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("protocol", "parts"),
    [
        ("exct", ["Unknown protocol 'exct'", "Did you mean 'exact'?", "dsteval list protocols"]),
        ("EXACT", ["Did you mean 'exact'?"]),
        ("fga_official", ["Did you mean 'fga-official'?"]),
        ("", ["Unknown protocol ''", "Known: exact, "]),
        ("zzz", ["Known: exact, "]),
        ("nope.toml", ["nope.toml", "no such file"]),
    ],
)
def test_protocols(tmp_path: Path, protocol: str, parts: list[str]) -> None:
    refused(tmp_path, BOTH, *parts, protocol=protocol)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"\xff", ["UTF-8"]),
        (b"states = [", ["TOML"]),
        (b"", ["missing", "name"]),
        (b"colour = 1", ["unknown field 'colour'"]),
        (b"a = " + b"[" * 3000, ["TOML"]),
    ],
    ids=["bytes", "toml", "empty", "unknown", "deep"],
)
def test_protocol_files(good: Path, content: bytes, parts: list[str]) -> None:
    path = good.with_name("mine.toml")
    path.write_bytes(content)
    said = refusal(run("score", good, "--protocol", path))
    for part in ["mine.toml", *parts]:
        assert part in said, said


def test_a_protocol_file_that_changed_is_read_again(good: Path) -> None:
    exact = (Path(dsteval.__file__).parent / "protocols" / "exact.toml").read_text()
    path = written(good.with_name("mine.toml"), exact)
    assert dsteval.evaluate(None, good, protocol=str(path)).n_slots == 30
    written(path, exact.replace('slots = "auto"', "slots = 7"))
    assert dsteval.evaluate(None, good, protocol=str(path)).n_slots == 7


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("states.dontcar=drop", ["Unknown setting 'states.dontcar'", "Did you mean 'states.dontcare'?"]),
        ("dontcare=drop", ["Did you mean 'states.dontcare'?"]),
        ("name=mine", ["Unknown setting 'name'", "Known: states.slots"]),
        ("states.dontcare", ["table.key=value", "Known: states.slots"]),
        ("", ["table.key=value"]),
        ("=", ["Unknown setting ''"]),
        ("states.dontcare=dropp", ["states.dontcare", "'dropp'"]),
        ("states.absent=none", ["states.absent"]),
        ("states.absent=[1]", ["states.absent"]),
        ("states.slots=canon", ["'canon'", "Did you mean 'canonical'?"]),
        ('states.normalise=["casefald"]', ["'casefald'", "Did you mean 'casefold'?"]),
        ("scope.slots=0", ["scope.slots", "0"]),
        ("scope.slots=-3", ["scope.slots", "-3"]),
        ("scope.slots=1.5", ["scope.slots", "float"]),
        ("scope.slots=true", ["scope.slots", "bool"]),
        ("scope.slots=nan", ["scope.slots"]),
        ("scope.slots=99999999999999999999", ["scope.slots"]),
        ("match.rule=fuzzy", ["match.rule", "'fuzzy'"]),
        ("states.absent=" + "[" * 3000, ["states.absent"]),
        ("states.dontcare=drop\nx=1", ["states.dontcare"]),
        ('scope.leave_out=["d"]', ["left out", "d"]),
    ],
)
def test_settings(tmp_path: Path, setting: str, parts: list[str]) -> None:
    refused(tmp_path, BOTH, *parts, settings=[setting])


def test_settings_of_bits(tmp_path: Path) -> None:
    settings = ['scope.bits=["a"]', "scope.slots=auto"]
    for content in ('{"d": {"0": [1]}}', '{"d": {"0": [1]}, "e": {"0": [0]}}'):
        path = written(tmp_path / "bits.json", content)
        ran = run("score", path, "--protocol", "fga-trippy", *(f"--set={setting}" for setting in settings))
        assert ran.code == 0


@pytest.mark.parametrize("option", ["format", "ref_format"])
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("fga-jsn", ["Unknown format 'fga-jsn'", "Did you mean 'fga-json'?", "dsteval list readers"]),
        ("FGA-JSON", ["Did you mean 'fga-json'?"]),
        ("xml", ["Unknown format 'xml'", "Known: ", "fga-json"]),
        ("", ["Unknown format ''"]),
    ],
)
def test_formats(tmp_path: Path, option: str, name: str, parts: list[str]) -> None:
    ref = '{"d": [{}, {}]}' if option == "ref_format" else None
    refused(tmp_path, BOTH, *parts, ref=ref, **{option: name})


@pytest.mark.parametrize(
    ("form", "near"),
    [("jsn", "'json'"), ("JSON", "'json'"), ("tex", "'text'"), ("", "Known: text, json, csv, md, latex")],
)
@pytest.mark.parametrize("command", [["score", "PATH"], ["explain", "PATH", "d"], ["list", "metrics"]])
def test_forms(good: Path, command: list[str], form: str, near: str) -> None:
    arguments = [str(good) if word == "PATH" else word for word in command]
    said = refusal(run(*arguments, "--as", form))
    assert f"value of --as {form!r}" in said
    assert near in said


def test_lists() -> None:
    assert "Did you mean 'protocols'?" in refusal(run("list", "protcols"))
    assert "Known: metrics, protocols, readers" in refusal(run("list", "xyz"))


@pytest.mark.parametrize(
    ("turns", "factor", "part"),
    [
        ("0", "0.5", "turns: expected a number above 0, found 0"),
        ("-1", "0.5", "turns: expected"),
        ("nan", "0.5", "turns: expected"),
        ("inf", "0.5", "turns: expected"),
        ("6", "1", "factor: expected a share from 0 up to, not including, 1, found 1"),
        ("6", "-0.1", "factor: expected"),
        ("6", "1.5", "factor: expected"),
        ("6", "nan", "factor: expected"),
    ],
)
def test_lambda(turns: str, factor: str, part: str) -> None:
    assert part in refusal(run("lambda", "--turns", turns, "--factor", factor))


@pytest.mark.parametrize("turns", ["1e15", "1e300"])
def test_lambda_of_very_many_turns(turns: str) -> None:
    ran = run("lambda", "--turns", turns, "--factor", "0.5")
    assert ran.code in (0, 1)
    assert len(ran.out) < 10_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["score"],
        ["score", "pred.json", "--nope"],
        ["score", "pred.json", "--ref"],
        ["explain", "pred.json"],
        ["list"],
        ["lambda", "--turns", "6"],
        ["lambda", "--turns", "six", "--factor", "0.5"],
        ["lambda", "--turns", "6", "--factor", "0.5", "more"],
        ["--nope"],
        ["scor"],
    ],
)
def test_usage(arguments: list[str]) -> None:
    said = usage(run(*arguments))
    assert "Error: " in said
    if arguments == ["scor"]:
        assert "Did you mean 'score'?" in said


OUTS = ["x.xyz", "x", "", "-", "x.json.gz", "nope/x.json", "pred.json/x.json", "folder.json", "n" * 300 + ".json"]


@pytest.mark.parametrize("out", OUTS, ids=[out[:20] for out in OUTS])
@pytest.mark.parametrize("command", [["score"], ["explain", "d"]])
def test_places_to_write_to(good: Path, monkeypatch: pytest.MonkeyPatch, out: str, command: list[str]) -> None:
    monkeypatch.chdir(good.parent)
    Path("folder.json").mkdir()
    before = sorted(Path().rglob("*"))
    said = refusal(run(command[0], "pred.json", *command[1:], "--out", out))
    assert f"--out {out[:100]}" in said
    assert "suffix" in said or "cannot be written" in said
    assert sorted(Path().rglob("*")) == before
    assert good.read_text() == BOTH


def test_what_cannot_be_written_leaves_the_old_file(good: Path) -> None:
    text = "Dialogue ID : d\n------\nTurn: 0\nGT  : {'h': {'a': '\\ud800'}}\nPR  : {}\n"
    path = written(good.with_name("s.txt"), text)
    out = written(good.with_name("out.md"), "old")
    before = sorted(good.parent.iterdir())
    ran = run("explain", path, "d", "--out", out)
    if ran.code:
        refusal(ran)
        assert out.read_text() == "old"
    assert sorted(good.parent.iterdir()) == before


def test_only_regular_files_are_replaced(good: Path) -> None:
    """A pipe, a device or a link stays what it is: as root, ``-o /dev/null`` must not replace the device."""
    real, link = written(good.with_name("real.json"), "old"), good.with_name("link.json")
    link.symlink_to(real)
    assert run("score", good, "--out", link).code == 0
    assert link.is_symlink()
    assert real.read_text() != "old"
    pipe = good.with_name("pipe.json")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    ran = run("score", good, "--out", pipe)
    assert ran.code in (0, 1)
    assert pipe.is_fifo()
    os.close(reader)


def test_a_file_keeps_its_permissions(good: Path) -> None:
    out = written(good.with_name("out.json"), "old")
    out.chmod(0o600)
    assert run("score", good, "--out", out).code == 0
    assert out.stat().st_mode & 0o777 == 0o600


def closed(*arguments: str | Path, stream: str) -> Ran:
    """The command in a shell that closes one of its streams, or sends it to a full disk."""
    line = f'"$@" {stream}'
    done = subprocess.run(["sh", "-c", line, "sh", *COMMAND, *map(str, arguments)], capture_output=True)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


STREAMS = [("text", ">&-"), ("json", ">/dev/full")]


@pytest.mark.parametrize(("form", "stream"), STREAMS if Path("/dev/full").exists() else STREAMS[:1])
def test_stdout_that_cannot_be_written(good: Path, form: str, stream: str) -> None:
    ran = closed("score", good, "--as", form, stream=stream)
    assert "Traceback" not in ran.err, ran.err
    assert ran.code == 1
    assert len([line for line in ran.err.splitlines() if ": read as " not in line]) == 1


@pytest.mark.parametrize("option", ["--out", "--errors"])
def test_a_disk_that_is_full_leaves_no_half_file(good: Path, option: str) -> None:
    out = written(good.with_name("out.json"), "what was there")
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *COMMAND, "score", str(good), option, str(out)]
    done = subprocess.run(limited, capture_output=True)
    assert "File too large" in refusal(Ran(done.returncode, done.stdout.decode(), done.stderr.decode()))
    assert out.read_text() == "what was there"
    assert sorted(path.name for path in good.parent.iterdir()) == sorted({good.name, out.name})


def test_stdin_that_is_closed() -> None:
    assert "standard input" in refusal(closed("score", "-", stream="<&-"))


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_terminal_that_lacks_letters(good: Path, form: str) -> None:
    text = '{"d": {"0": {"gt": {"hotel": {"name": "\u5317\u533a \u2615"}}, "pr": {}}}}'
    path = written(good.with_name("letters.json"), text)
    ran = process("explain", path, "d", "--as", form, PYTHONIOENCODING="ascii")
    assert "Traceback" not in ran.err, ran.err
    assert ran.code == 0
