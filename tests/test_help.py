"""``--help`` of every command: groups, examples, 80 columns; and what wrong usage is answered with."""

import re
import shlex

import click
import pytest

from commandline import refusal, run, usage
from dsteval.cli import cli
from dsteval.cli.command import COMMON, CommandGroup
from dsteval.cli.command import Command as OurCommand


def every_command(command: click.Command = cli, words: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Each command under its words, parted by blanks."""
    found = {" ".join(words): command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found |= every_command(inner, (*words, name))
    return found


COMMANDS = every_command()


@pytest.mark.parametrize("words", COMMANDS)
def test_help_fits_80_columns_and_ends_with_two_examples(words: str) -> None:
    command = COMMANDS[words]
    ran = run(*words.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert isinstance(command, OurCommand | CommandGroup) and len(command.examples) >= 2
    sections = re.findall(r"^(\S.*):$", ran.out, re.MULTILINE)
    assert sections[-1] == "Examples"
    names = [name for param in command.params if isinstance(param, click.Option) for name in param.opts]
    assert [name for name in names if f"{name} " not in ran.out and f"{name}," not in ran.out] == []


@pytest.mark.parametrize(
    ("words", "line"), [(words, line) for words, one in COMMANDS.items() for _, line in vars(one)["examples"]]
)
def test_examples_are_understood(words: str, line: str) -> None:
    """Each calls the command that it stands at, or for a group one of its, with options that exist."""
    typed = re.sub(r"^(?:\w+=\$\(|eval \"\$\()|\)\"?$| [|>] .*", "", line)
    name, *arguments = shlex.split(typed)
    assert name == "dsteval" and " ".join(arguments).startswith(words)
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        word = arguments.pop(0)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    command.make_context("x", arguments).close()


@pytest.mark.parametrize("words", ["score", "compare", "track"])
def test_common_options_come_first(words: str) -> None:
    help_text = run(words, "--help").out
    sections = re.findall(r"^(\S.*):$", help_text, re.MULTILINE)
    assert sections[0] == COMMON and {"Input", "Scoring", "Confidence intervals"} < set(sections)
    common = help_text.partition(f"{COMMON}:")[2].partition("\n\n")[0]
    assert len(re.findall(r"^  -", common, re.MULTILINE)) <= 13
    for option in ("--protocol", "--metric", "--missing", "--as", "--out", "--quiet"):
        assert option in common


@pytest.mark.parametrize(
    ("line", "wrong", "near"),
    [
        ("scroe", "scroe", "score"),
        ("rate agre", "agre", "agree"),
        ("data fech", "fech", "fetch"),
        ("score x --metrc JGA", "--metrc", "--metric"),
        ("compare x --agianst y", "--agianst", "--against"),
    ],
)
def test_the_nearest_name(line: str, wrong: str, near: str) -> None:
    said = usage(run(*line.split())).partition("Error: ")[2]
    first, _, suggested = said.partition("Did you mean ")
    assert wrong in first and suggested.strip("?'\n)") == near


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("score x --metric JGAA", "Unknown metric 'JGAA'. Did you mean 'JGA'? See: dsteval list metrics."),
        ("score x --protocol exct", "Unknown protocol 'exct'. Did you mean 'exact'? See: dsteval list protocols."),
        ("score x --by domian", "Unknown value of --by 'domian'. Did you mean 'domain'?"),
        ("list metric", "Unknown value of WHAT 'metric'. Did you mean 'metrics'?"),
    ],
)
def test_the_nearest_value(line: str, said: str) -> None:
    assert refusal(run(*line.split())) == said
