"""The command line. Each command's module is imported when it is called, so that ``--help`` starts at once."""

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import click

from dsteval._version import __version__
from dsteval.cli.command import CommandGroup
from dsteval.cli.messages import failure

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Command -> what --help says of it; the module of that name holds it as ``command``.
_COMMANDS = {
    "score": "Score predictions: JGA, slot accuracy, AGA, FGA and more.",
    "compare": "Compare systems: score differences, CIs and paired tests.",
    "spread": "Score one file under every protocol and explain the differences.",
    "explain": "Show a dialogue turn by turn, with its errors.",
    "errors": "List what systems get wrong most, with examples.",
    "validate": "Check files before you score them.",
    "convert": "Convert any supported format to JSON Lines.",
    "track": "Run a tracker over a data set and score it.",
    "rate": "Collect human ratings and correlate metrics with them.",
    "data": "Describe and download data sets.",
    "list": "List metrics, protocols, readers, trackers or data sets.",
    "lambda": "Compute lambda of FGA from how fast errors are forgiven.",
    "completion": "Print the completion script for bash, zsh or fish.",
}
_COMPLETE = "_DSTEVAL_COMPLETE"  # set by the completion scripts


class _Commands(CommandGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = {"lambda": "lambda_"}.get(cmd_name, cmd_name)  # a keyword is no module's name
        command: click.Command = import_module(f"dsteval.cli.commands.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Commands and options, without importing any command."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=about) for name, about in _COMMANDS.items() if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; what dsteval refuses is one sentence and exit code 1."""
        from dsteval.errors import DstevalError

        try:
            return super().invoke(ctx)
        except DstevalError as error:
            said = error.command_line
        except BrokenPipeError:
            raise
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            said = f"{place}cannot be read or written ({error.strerror or error})."
        except MemoryError:
            said = "Out of memory. Score fewer dialogues at a time."
        except RecursionError:
            said = "Objects or lists in the data are nested too deep."
        failure(said)
        ctx.exit(1)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=[
        ("Score a file of predictions", "dsteval score pred.json --ref multiwoz-2.4/test"),
        ("Compare two systems", "dsteval compare old.json new.json --ref multiwoz-2.4/test"),
    ],
    epilog="`dsteval COMMAND --help` describes a command. Exit codes: 0 done, 1 error, 2 wrong usage.",
)
@click.version_option(__version__, "-V", "--version", message="dsteval %(version)s")
def cli() -> None:
    """Score dialogue state tracking under any published protocol."""


def main() -> None:
    """The entry point ``dsteval``."""
    # States are many and none refers back to another: looking for cycles every 700 of them takes a third of
    # the time of scoring and finds nothing.
    gc.set_threshold(100_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal's encoding lacks is escaped
            stream.reconfigure(errors="backslashreplace")
    if _COMPLETE in os.environ:
        import_module("dsteval.cli.commands.completion")  # has our script for bash
    try:
        try:
            cli(prog_name="dsteval", complete_var=_COMPLETE)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:  # a full disk: the interpreter would end with a traceback
        failure(f"standard output: cannot be written ({error.strerror or error}).")
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
