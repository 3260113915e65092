"""The command line. Each command's module is imported when it is called, so that ``--help`` starts at once."""

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from dsteval._version import __version__

# Command -> what --help says of it; the module of that name holds it as ``command``.
_COMMANDS = {
    "score": "Score predictions: JGA, slot accuracy, AGA, FGA and others.",
    "compare": "Compare systems: differences with intervals, paired tests.",
    "spread": "Score a file under every protocol, and say what makes them differ.",
    "track": "Run a tracker over a data set, and score it.",
    "rate": "Ratings by people: sample, hand out, take in, compare metrics with them.",
    "errors": "Show what systems get wrong most: errors by slot, kind and relation.",
    "explain": "Show one dialogue turn by turn, and where its errors are.",
    "validate": "Check files, and that a reference scores perfectly against itself.",
    "convert": "Write any file that is read as our JSON Lines.",
    "data": "Describe data sets, and fetch public ones.",
    "list": "List the metrics, protocols, readers, trackers or data sets at hand.",
    "lambda": "The lambda of FGA that forgets a mistake within some turns.",
}


class _Commands(click.Group):
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from dsteval.errors import unknown

            ctx.fail(unknown("command", args[0], list(_COMMANDS)))
        return super().resolve_command(ctx, args)

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
            said = f"{place}expected a file or stream that can be used, found {error.strerror or error}."
        except MemoryError:
            said = "Expected data that fit into memory, found more. Score fewer dialogues at a time."
        except RecursionError:
            said = "Expected data of a usual shape, found objects or lists nested too deep."
        click.echo(f"dsteval: {said}", err=True)
        ctx.exit(1)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: dsteval score FILE [--ref REF]. Exit codes: 0 done, 1 refused, 2 usage.",
)
@click.version_option(__version__, "-V", "--version", message="dsteval %(version)s")
def cli() -> None:
    """Score dialogue state tracking: every published rule under a name, one strict default."""


def main() -> None:
    """The entry point ``dsteval``."""
    # States are many and none refers back to another: looking for cycles every 700 of them takes a third of
    # the time of scoring and finds nothing.
    gc.set_threshold(100_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal's encoding lacks is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            cli(prog_name="dsteval")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:  # a full disk: the interpreter would end with a traceback
        found = error.strerror or error
        click.echo(f"dsteval: standard output: expected a place to write to, found {found}.", err=True)
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
