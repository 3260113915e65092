"""Runs the command line, in this process or in one of its own, and takes a refusal's message out of stderr."""

import inspect
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from dsteval.cli import cli

COMMAND = [sys.executable, "-c", "from dsteval.cli import main; main()"]
"""``dsteval`` as a process of its own, whatever the name and the place of the installed script."""


WIDE = {"COLUMNS": "10000"}


@dataclass(frozen=True)
class Ran:
    """What came of a command: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def runner() -> CliRunner:
    """Runs a command and keeps its stderr apart, which click below 8.2 has to be told."""
    options: dict[str, Any] = {"mix_stderr": False}
    return CliRunner(**(options if "mix_stderr" in inspect.signature(CliRunner).parameters else {}))


def run(*arguments: str | Path, stdin: bytes = b"") -> Ran:
    """The command in this process, lines not wrapped. What would be a traceback is raised, and fails the test."""
    outcome = runner().invoke(cli, list(map(str, arguments)), input=stdin, prog_name="dsteval", env=WIDE)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return Ran(outcome.exit_code, outcome.stdout, outcome.stderr)


def process(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Ran:
    """The command in a process of its own, its streams pipes."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env={**os.environ, **WIDE, **environment},
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def refusal(ran: Ran) -> str:
    """The one sentence of a refusal; nothing else was said but as what the files were read."""
    assert ran.code == 1, ran
    assert ran.out == "", ran
    told = [line for line in ran.err.split("\n")[:-1] if ": read as " not in line]
    assert len(told) == 1, ran.err
    assert told[0].startswith("dsteval: "), ran.err
    return told[0].removeprefix("dsteval: ")


def usage(ran: Ran) -> str:
    """What a usage error says: exit code 2, nothing on stdout, no traceback."""
    assert ran.code == 2, ran
    assert ran.out == "", ran
    assert "Traceback" not in ran.err
    return ran.err
