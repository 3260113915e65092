"""What a terminal shows, and what happens when the reader of the output goes away."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from rich.text import Text

import dsteval
from commandline import COMMAND, process, run
from dsteval.render.terminal import Piece, console, line_printer

EXAMPLE = Path(dsteval.__file__).parent / "example"
FILES = [str(EXAMPLE / f"{name}.jsonl") for name in ("pointer", "seq2seq", "prompted")]
REF = ["--ref", str(EXAMPLE / "reference.jsonl")]
SCORE = ["score", *FILES, *REF]
EXPLAIN = ["explain", FILES[1], "DEMO07", *REF]
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7])[0-9;]*m")
CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def terminal(*arguments: str, columns: int = 80, **environment: str) -> str:
    """What the command writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    cleared = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    started = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**cleared, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert started.wait() == 0
    return written.decode().replace("\r\n", "\n")


def test_a_narrow_terminal_turns_the_table_round() -> None:
    for text in (terminal(*SCORE, columns=60), terminal(*SCORE, columns=200, COLUMNS="60")):
        lines = CODE.sub("", text).splitlines()
        assert lines[0].split() == ["pointer", "seq2seq", "prompted"]
        rows = dict(line.split(maxsplit=1) for line in lines[2:13])
        assert rows["#turns"].split() == ["76", "76", "76"]
        assert rows["FGA@0.5"].split() == ["65.25", "76.82", "58.61"]
        assert all(len(line) <= 60 for line in lines[:13])  # the notes are not wrapped: one copies them


def test_a_wide_terminal_has_a_row_for_each_system() -> None:
    lines = CODE.sub("", terminal(*SCORE, columns=200)).splitlines()
    assert lines[0].split()[:3] == ["system", "#turns", "#M1"]
    assert lines[3].split()[0] == "32.42\N{EN DASH}66.68"  # the interval below the first system's JGA
    assert lines[4].split()[0] == "seq2seq"


@pytest.mark.parametrize("command", [EXPLAIN, ["list", "protocols"]], ids=lambda c: c[1][-9:])
def test_what_is_too_wide_is_folded_between_words(command: list[str]) -> None:
    lines = CODE.sub("", terminal(*command, columns=60)).splitlines()
    assert all(len(line) <= 60 for line in lines)
    words = {word for line in lines for word in line.split()}
    assert words & {"train-arriveby", "fga-official@2"}


def test_colours() -> None:
    assert COLOUR.search(terminal(*EXPLAIN))
    assert not COLOUR.search(terminal(*EXPLAIN, NO_COLOR="1"))
    assert "\x1b" not in terminal(*EXPLAIN, TERM="dumb")


@pytest.mark.parametrize("command", [SCORE, EXPLAIN], ids=["score", "explain"])
def test_no_codes_in_a_pipe(command: list[str]) -> None:
    ran = process(*command, FORCE_COLOR="1", COLUMNS="40", TERM="xterm-256color", CLICOLOR_FORCE="1")
    assert "\x1b" not in ran.out
    assert ran.out == run(*command).out


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        ("",),
        ("plain", (" bold ", "bold"), ("[red]:smile:[/red]  ", "dim"), ("", "red")),
        (" " * 300, ("word " * 20_000, "dim")),  # as wide as a line may be
        ("", ("word " * 20_001, "dim")),
        (("北" * 50_000, "red"),),
        (("北" * 50_000, "red"), "x"),
    ],
    ids=["nothing", "empty", "pieces", "blanks beyond", "too wide", "two columns", "too wide in columns"],
)
def test_a_line_without_a_terminal_is_as_rich_writes_it(pieces: tuple[Piece, ...]) -> None:
    ours, theirs = io.StringIO(), io.StringIO()
    line_printer(ours)(*pieces)
    console(theirs).print(Text.assemble(*pieces))
    assert ours.getvalue() == theirs.getvalue()


@pytest.mark.parametrize(
    "command",
    [SCORE, [*SCORE, "--as", "json"], EXPLAIN, ["list", "protocols", "--as", "json"]],
    ids=["score", "json", "explain", "list"],
)
def test_a_reader_that_goes_away(command: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)  # as `| head` does once it has enough
    done = subprocess.run([*COMMAND, *command], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    lines = [line for line in done.stderr.decode().splitlines() if ": read as " not in line]
    assert lines == []
    assert done.returncode in (0, 1)
