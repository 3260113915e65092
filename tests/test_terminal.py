"""What a terminal shows, and what happens when the reader of the output goes away."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
from collections import Counter
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.text import Text

import dsteval
from commandline import COMMAND, WIDE, process, run
from dsteval.render.terminal import LinePrinter, Piece, console, wrapped

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


NUMBER = re.compile(r"(?<![\w.@])[+-]?\d+\.\d+")
DOMAINS = [*SCORE, "--by", "domain", "--by", "length"]
MANY = [part for n in range(13) for part in (f"a-system-with-a-long-name-{n}={FILES[n % 3]}",)]
COMMANDS = {
    "score": SCORE,
    "one system": ["score", FILES[0], *REF],
    "without intervals": [*SCORE, "--no-ci"],
    "slices": DOMAINS,
    "changes": ["score", FILES[0], *REF, "--changes", "--protocol", "normalised"],
    "thirteen": ["score", *MANY, *REF],
    "compare": ["compare", *FILES, *REF, "--baselines"],
    "compare thirteen": ["compare", *MANY, *REF, "--metric", "JGA", "--metric", "SlotF1"],
    "spread": ["spread", FILES[0], *REF, "--target", "50", "--between", "exact", "normalised"],
    "explain": EXPLAIN,
    "two explained": ["explain", FILES[0], "DEMO07", "--system", FILES[1], *REF],
    "worst": ["explain", FILES[0], *REF, "--worst", "5"],
    "validate": ["validate", FILES[0], *REF],
    "describe": ["data", "describe", REF[1]],
    "list": ["list", "protocols"],
    "errors": ["errors", *FILES, *REF],
    "over": ["compare", *FILES, *REF, "--over", "lambda", "--over", "protocols", "--over", "resamples"],
    "power": ["compare", *FILES, *REF, "--power", "--discriminate"],
    "runs": ["compare", *FILES, *REF, "--runs"],
}


@pytest.mark.parametrize("columns", [80, 64, 120])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_every_line_fits_and_no_number_is_lost(
    command: list[str], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = run(*command).out
    monkeypatch.setitem(WIDE, "COLUMNS", str(columns))
    narrow = run(*command).out
    assert max(map(cell_len, narrow.splitlines())) <= columns
    assert Counter(NUMBER.findall(narrow)) == Counter(NUMBER.findall(wide))


def test_a_pipe_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(WIDE, "COLUMNS")
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = process(*SCORE).out.splitlines()
    assert lines[0].split() == ["pointer", "seq2seq", "prompted"]
    assert 70 < max(map(len, lines)) <= 80
    rows = dict(line.split(maxsplit=1) for line in lines[2:13])
    assert rows["FGA@0.5"].split() == [
        *("65.25", "54.27\u201376.22"),
        *("76.82", "65.83\u201387.06"),
        *("58.61", "47.31\u201371.15"),
    ]


def test_a_terminal_turns_the_table_round() -> None:
    for text in (terminal(*SCORE, columns=80), terminal(*SCORE, columns=200, COLUMNS="80")):
        assert CODE.sub("", text).splitlines()[0].split() == ["pointer", "seq2seq", "prompted"]


def test_columns_are_split_over_several_tables() -> None:
    lines = CODE.sub("", terminal(*SCORE, columns=40)).splitlines()
    heads = [line.split() for line in lines if line.startswith("system")]
    assert len(heads) > 2
    assert [name for head in heads for name in head[1:]][:5] == ["#turns", "#M1", "#M2", "JGA", "SA"]


def test_signatures_break_behind_a_bar() -> None:
    note = "signature: proto:exact@2|turns:76/76|ref:94d858|match:exact"
    lines = list(wrapped(note, 40))
    assert all(len(line) <= 40 for line in lines)
    assert "".join(line.removeprefix("  ") for line in lines) == note
    assert lines[0].endswith("|")


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
    ran = process(*command, FORCE_COLOR="1", TERM="xterm-256color", CLICOLOR_FORCE="1")
    assert "\x1b" not in ran.out
    assert ran.out == run(*command).out


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        ("",),
        ("plain", (" bold ", "bold"), ("[red]:smile:[/red]  ", "dim"), ("", "red")),
        (("\u5317" * 30, "red"), "x"),
    ],
    ids=["nothing", "empty", "pieces", "two columns"],
)
def test_a_line_that_fits_is_as_rich_writes_it(pieces: tuple[Piece, ...]) -> None:
    ours, theirs = io.StringIO(), io.StringIO()
    LinePrinter(ours)(*pieces)
    console(theirs).print(Text.assemble(*pieces))
    assert [line.rstrip() for line in ours.getvalue().splitlines()] == [
        line.rstrip() for line in theirs.getvalue().splitlines()
    ]


@pytest.mark.parametrize("word", ["word", "\u5317\u533a", "x" * 100])
def test_a_line_that_is_wrapped_keeps_its_margin_and_its_words(word: str) -> None:
    file = io.StringIO()
    text = " ".join([word] * 50)
    LinePrinter(file)("  user  ", text, hang=8, margin=(("\u251c\u2500>", "cyan"), "\u2502  "))
    first, *others = file.getvalue().splitlines()
    assert first.startswith("\u251c\u2500>  user")
    assert others
    assert all(line.startswith("\u2502  " + " " * 8 + word[0]) for line in others)
    assert max(map(cell_len, [first, *others])) <= 80
    shown = "".join([first[11:], *(line[11:] for line in others)])
    assert shown.replace(" ", "") == text.replace(" ", "")


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
