"""Options that several commands share, and where their output goes."""

import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, TypeVar, get_args

import click
from click import option

from dsteval.align.coverage import Extra, Missing
from dsteval.cli.progress import ReadingBar, progress
from dsteval.errors import OptionError, ReadError, first_few, require, unknown
from dsteval.outcomes.slices import BY
from dsteval.pipeline.inputs import open_source
from dsteval.protocols.model import MOST_SLOTS
from dsteval.readers import Source, detect
from dsteval.readers.source import schema_of
from dsteval.stats.bootstrap import METHODS

F = TypeVar("F", bound=Callable[..., Any])


class OneOf(click.types.StringParamType):
    """One of some words; a wrong one is told which is near."""

    def __init__(self, choices: Iterable[str]) -> None:
        self.choices = list(choices)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The choices, as ``--help`` shows them; click before 8.2 gives no context."""
        return "[" + "|".join(self.choices) + "]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself. Raises OptionError where it is none of the choices."""
        if value not in self.choices:
            label = param and (param.opts[0] if isinstance(param, click.Option) else param.human_readable_name)
            raise OptionError(unknown(f"value of {label}", str(value), self.choices))
        return str(value)


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator; ``--help`` lists them in this order."""

    def decorate(command: F) -> F:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def choice(*names: str, of: Iterable[str], **attributes: Any) -> Callable[[F], F]:
    """An option that takes one ``of`` some words."""
    return option(*names, type=OneOf(of), **attributes)


def _keep(context: click.Context, param: click.Parameter, value: str | None) -> None:
    context.meta[str(param.name)] = value


_KEPT: dict[str, Any] = {"expose_value": False, "callback": _keep}  # for ``emit``; the command does not get it


def as_option(about: str) -> Callable[[F], F]:
    """``--as``, which ``emit`` looks up in the context."""
    return choice("--as", "form", of=["text", "json", "csv", "md", "latex"], help=about, **_KEPT)


protocol_option = option(
    "--protocol", metavar="NAME", default="exact", help="The rule; see: dsteval list protocols."
)
metric_option = option(
    "--metric", "metrics", multiple=True, metavar="M", help="A metric, like FGA@0.5; may be repeated."
)
setting_option = option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change one setting of the rule."
)
tables_options = together(
    option("--variants", metavar="FILE", help="Variants of values, where the protocol needs them."),
    option("--ontology", metavar="FILE", help="Values of each slot, where the protocol needs them."),
)
slots_option = option("--slots", metavar="N|FILE", help="|S|, or the list of slots: one a line, or a schema.")
by_option = choice("--by", of=BY, multiple=True, help="Scores of parts as well; may be repeated.")
workers_option = option(
    "--workers", default="1", show_default=True, metavar="N|auto", help="Score with N processes."
)
_OUT = "Write to a file; the suffix decides: .txt .json .csv .md .tex."
form_option = together(as_option("Form of the output."), option("-o", "--out", metavar="PATH", help=_OUT, **_KEPT))


def field_option(several: bool = False) -> Callable[[F], F]:
    """``--ref-field``, which may be ``several``."""
    about = "Which field is the reference, where a file has several."
    return option("--ref-field", multiple=several, metavar="FIELD", help=about)


def file_options(several: bool = False) -> Callable[[F], F]:
    """What every command takes that reads predictions: the reference, settings, formats, tables.

    ``several`` references, or fields that hold one, may be named.
    """
    about = "The reference: a file, a folder (FOLDER/test takes a split), a data set."
    return together(
        option("--ref", multiple=several, metavar="REF", help=about),
        setting_option,
        option("--format", metavar="NAME", help="Format of FILE, instead of detecting it."),
        option("--ref-format", metavar="NAME", help="Format of REF, instead of detecting it."),
        field_option(several),
        tables_options,
        option("--schema", metavar="FILE", help="The services' slots, if no schema.json is beside REF."),
        option("--train-schema", metavar="FILE", help="The services seen in training, for --by group."),
        option("--updates", is_flag=True, help="FILE holds what each turn changed, not whole states."),
    )


input_options = together(protocol_option, file_options())
"""What every command takes that reads predictions and compares them by one rule."""

seed_option = option("--seed", type=int, default=12345, metavar="N", help="Seed of the draws.")
interval_options = together(
    option("--ci", type=float, default=0.95, show_default=True, metavar="LEVEL", help="Level of the intervals."),
    option("--no-ci", is_flag=True, help="No intervals."),
    choice("--interval", of=METHODS, default="percentile", help="Kind of interval."),
    option("--resamples", type=int, default=1000, metavar="N", help="Number of bootstrap resamples."),
    seed_option,
)
"""How sure the numbers are."""

_MISSING = "A reference dialogue without prediction: refuse, score as empty, or leave out and name."
_EXTRA = "A predicted dialogue without reference: refuse, or ignore and name."
coverage_options = together(
    choice("--missing", of=get_args(Missing), default="error", help=_MISSING),
    choice("--extra", of=get_args(Extra), default="error", help=_EXTRA),
    slots_option,
)
"""What is done where one side lacks dialogues or turns, and what S is."""


scoring_options = together(input_options, coverage_options)


def arguments_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a command as the keyword arguments of ``evaluate``.

    ``--slots`` is read, ``--no-ci`` is no level, and no ``--metric`` stands for the protocol's own.
    """
    arguments = dict(options)
    if arguments.pop("no_ci", False):
        arguments["ci"] = None
    if "slots" in arguments:
        arguments["slots"] = slot_list(arguments["slots"])
    if "metrics" in arguments:
        arguments["metrics"] = arguments["metrics"] or None
    return arguments


def as_number(text: str) -> float:
    """The number that a text is; NaN for one that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def slot_list(text: str | None) -> int | list[str] | None:
    """What ``--slots`` names: a number, or the slots of a file with one a line or of a schema.

    Raises OptionError for a number below 1 and ReadError for a file without slots.
    """
    if text is None:
        return None
    if re.fullmatch(r"[-+]?\d+", text):
        number, shown = int(text[:12]), text[:40]
        require(1 <= number <= MOST_SLOTS, f"--slots {shown}", f"a number of slots from 1 to {MOST_SLOTS}", shown)
        return number
    source = Source.open(text)
    known = source.kind in ("list", "text")
    require(known, text, "slots, one a line, or a schema", "a JSON object", ReadError)
    if source.kind == "list":
        names = [slot for slots in schema_of(source.data, source.name).values() for slot in slots]
    else:
        names = [line.strip() for line in source.text_lines() if line.strip()]
    require(names, text, "a list of slots", "none", ReadError)
    return names


def say(source: Source, format: str | None) -> None:
    """Tell on stderr as what a file is read."""
    if format is None:
        found = detect(source)
        click.echo(f"{source.name}: read as {found.reader.name} ({found.sign})", err=True)
    if source.skipped_files:
        skipped = first_few(source.skipped_files, 5)
        click.echo(f"{source.name}: passed over, being no dialogues: {skipped}", err=True)


class FetchBar(ExitStack):
    """Shows a download on stderr, where that is a terminal; there is nothing to see before the first byte."""

    def __init__(self) -> None:
        super().__init__()
        self.came = False
        self._name = ""
        self._update: Callable[..., None] | None = None

    def __call__(self, name: str, done: int, size: int | None) -> None:
        """Take in how far a file has come, as ``data.fetch.fetch`` tells it."""
        self.came = True
        if name != self._name:
            self.close()
            columns = ("{task.description}", "BarColumn", "DownloadColumn", "TimeRemainingColumn")
            self._update = self.enter_context(progress(*columns, description=name, total=size))
            self._name = name
        if self._update is not None:
            self._update(completed=done, total=size)


def open_shown(text: str) -> Source:
    """What a text names: a file, a folder, or a data set, whose download is shown."""
    with FetchBar() as bar:
        source = open_source(text, bar)
    if bar.came:
        say_unverified(text)
    if sys.stderr.isatty():
        source.watch(ReadingBar(source.name, sum(part.size for part in source.parts)))
    return source


def say_unverified(text: str) -> None:
    """Tell on stderr which part of a data set, NAME or NAME/SPLIT, could not be verified."""
    from dsteval.data import catalogue as catalog
    from dsteval.data.fetch import unverified

    name, _, split = text.partition("/")
    dataset = catalog.find(name, catalog.load())
    chosen = dataset.split(split) if split else None
    if files := unverified(dataset, chosen):
        total = len(dataset.needed(chosen))
        click.echo(f"{text}: {len(files)} of {total} files not verified: no checksum is known", err=True)


def open_named(text: str) -> tuple[str | None, str]:
    """The name and the path of ``name=path``; a path that exists as written is a path."""
    name, equals, path = text.partition("=")
    if not (equals and name) or "/" in name or os.path.exists(text):  # noqa: PTH110 - Path.exists raises for a name that is too long
        return None, text
    return name, path
