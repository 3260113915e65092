"""Shell completion: candidates in bash, names of files as readline completes them, and scripts that parse."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import refusal, run
from dsteval.data import catalogue
from dsteval.protocols import model as protocol

SHELLS = ["bash", "zsh", "fish"]
# The function that completes, called as bash calls it. ``compopt`` works only while bash completes.
CALLED = """
compopt() { options+=" $*"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); options=; COMPREPLY=()
[[ $(complete -p dsteval) =~ -F\\ ([^ ]+) ]] && "${BASH_REMATCH[1]}" dsteval
printf '%s\\n' "${COMPREPLY[@]}" "options:$options"
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with some files, and ``dsteval`` as a command, whatever the place of the installed script."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/dsteval"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dsteval "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("unique.json", "two words.json", "multi.json", "ours.json"):
        Path(name).touch()
    Path("folder").mkdir()


def script(shell: str) -> str:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def completed(*words: str) -> tuple[list[str], str]:
    """Candidates for the last of some words, and the options of readline that were set."""
    text = script("bash") + CALLED
    ran = subprocess.run(["bash", "-c", text, "-", *words], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    *candidates, options = ran.stdout.splitlines()
    return [one for one in candidates if one], options.removeprefix("options:").strip()


@pytest.mark.parametrize(
    ("typed", "candidates"),
    [
        ("sc", ["score"]),
        ("l", ["list", "lambda"]),
        ("rate ag", ["agree"]),
        ("score --pro", ["--protocol"]),
        ("score --metric FG", ["FGA@0.5"]),
        ("score --as v", ["value"]),
        ("score --as = v", ["value"]),  # bash takes the = of --as=v for a word
        ("score --by do", ["domain"]),
        ("score --ref-format multiwoz", ["multiwoz"]),
        ("score --slots 3 --missing s", ["skip"]),
        ("spread unique.json --between exact gc", ["gca"]),
        ("track --tracker b", ["baseline"]),
        ("data fetch sgd/", ["sgd/train", "sgd/dev", "sgd/test"]),
        ("list d", ["datasets"]),
        ("completion ", SHELLS),
        ("scroe ", ["score", "compare", "spread", "explain", "errors", "validate", "convert", "track", "rate"]),
    ],
)
def test_candidates(typed: str, candidates: list[str]) -> None:
    found, _ = completed("dsteval", *typed.split(" "))
    assert found[: len(candidates)] == candidates
    assert found == candidates or typed == "scroe "


def test_protocols() -> None:
    assert completed("dsteval", "score", "--protocol", "mw") == (["mwzeval", "mwzeval-2023"], "-o filenames")
    found, _ = completed("dsteval", "score", "--protocol", "")
    assert found[: len(protocol.names())] == protocol.names()


def test_data_sets_stand_beside_files() -> None:
    found, options = completed("dsteval", "score", "unique.json", "--ref", "mul")
    assert found == [*(name for name in catalogue.load() if name.startswith("mul")), "multi.json"]
    assert options == "-o filenames"
    found, _ = completed("dsteval", "score", "unique.json", "--ref", "multiwoz-2.4")
    assert found == ["multiwoz-2.4", *(f"multiwoz-2.4/{split}" for split in ("train", "dev", "test"))]


@pytest.mark.parametrize(
    "typed", ["score uni", "score ours = uni", "compare uni", "score --variants uni", "validate --ontology uni"]
)
def test_files_are_left_to_readline(typed: str) -> None:
    assert completed("dsteval", *typed.split()) == ([], "-o default")


def typed(lines: list[str]) -> list[str]:
    """What an interactive bash makes of lines with tabs: the words of each, as the command gets them."""
    log = Path("../typed").resolve()
    started = (
        f'dsteval() {{ printf "<%s>" "$@" >> {log}; echo >> {log}; }}\nPS1="ready> "\n'  # env calls the command
    )
    Path("../rc").write_text(script("bash") + started)
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "TERM": "dumb", "INPUTRC": "/dev/null"}
        os.execvpe("bash", ["bash", "--noprofile", "--rcfile", "../rc", "-i"], environment)
    for line in [*lines, "exit"]:
        shown = b""
        while b"ready> " not in shown:
            shown += os.read(terminal, 4096)
        os.write(terminal, f"{line}\n".encode())
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the shell has ended
        pass
    os.waitpid(child, 0)
    return log.read_text().splitlines()


def test_files_in_an_interactive_bash() -> None:
    lines = {
        "dsteval sc\t uni\t": "<score><unique.json>",
        'dsteval score "two w\t': "<score><two words.json>",
        "dsteval score mine=uni\t ./mu\t": "<score><mine=unique.json><./multi.json>",
        "dsteval score --ref=multi.\t": "<score><--ref=multi.json>",
        "dsteval score --ref multiwoz-2.4/te\t": "<score><--ref><multiwoz-2.4/test>",
        "dsteval score --protocol=mwzeval-\t": "<score><--protocol=mwzeval-2023>",
    }
    assert typed(list(lines)) == list(lines.values())


@pytest.mark.parametrize(
    ("typed", "candidates"),
    [
        ("ours=uni", ["ours=unique.json"]),
        ("ours=fo", ["ours=folder/"]),
        ("ours=two", ["ours=two words.json"]),
        ("ours=none", []),
    ],
)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_named_files_where_the_shell_takes_them_for_one_word(
    shell: str, typed: str, candidates: list[str]
) -> None:
    number = {"zsh": "2", "fish": typed}[shell]
    environment = {"_DSTEVAL_COMPLETE": f"{shell}_complete", "COMP_WORDS": f"dsteval score {typed}"}
    ran = subprocess.run(
        [sys.executable, "-m", "dsteval"],
        env={**os.environ, **environment, "COMP_CWORD": number},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    found = lines[1::3] if shell == "zsh" else [line.removeprefix("plain,") for line in lines if line]
    assert [one for one in found if one] == candidates


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts(shell: str) -> None:
    """Each script is written everywhere; whether it parses is asked of the shell where there is one."""
    text = script(shell)
    assert f"_DSTEVAL_COMPLETE={shell}_complete" in text
    assert "%(" not in text
    if place := shutil.which(shell):
        subprocess.run([place, "-n"], input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    if shell == "fish":
        assert 'string split -m 1 ","' in text  # descriptions have commas


def test_another_shell_and_no_shell() -> None:
    assert refusal(run("completion", "bsh")) == "Unknown value of SHELL 'bsh'. Did you mean 'bash'?"
    assert run("completion").code == 2
