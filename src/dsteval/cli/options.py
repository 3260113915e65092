"""Options that several commands share, and where their output goes."""

import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar, get_args

import click

from dsteval.align.coverage import Extra, Missing
from dsteval.cli import values
from dsteval.cli.command import option
from dsteval.cli.messages import is_quiet, note
from dsteval.cli.progress import ReadingBar, progress
from dsteval.errors import ReadError, first_few, require
from dsteval.outcomes.slices import BY
from dsteval.pipeline.inputs import open_source
from dsteval.protocols.model import MOST_SLOTS
from dsteval.readers import Source, detect
from dsteval.readers.source import schema_of
from dsteval.stats.bootstrap import METHODS

F = TypeVar("F", bound=Callable[..., Any])

INPUT, SCORING, INTERVALS, OUTPUT = "Input", "Scoring", "Confidence intervals", "Output"
"""Groups of options in ``--help``, after the common ones."""


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator; ``--help`` lists them in this order."""

    def decorate(command: F) -> F:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def choice(*names: str, of: Iterable[str], **attributes: Any) -> Callable[[F], F]:
    """An option that takes one ``of`` some words."""
    return option(*names, type=values.OneOf(of), **attributes)


def files_argument(
    name: str = "files", metavar: str = "FILE...", type: values.Text = values.FILE
) -> Callable[[F], F]:
    """An argument that takes one or more files."""
    return click.argument(name, nargs=-1, required=True, metavar=metavar, type=type)


def _keep(context: click.Context, param: click.Parameter, value: Any) -> None:
    context.meta[str(param.name)] = value


_KEPT: dict[str, Any] = {"expose_value": False, "callback": _keep}  # for ``emit``; the command does not get it
_FORMS = ("text", "json", "csv", "md", "latex")


def as_option(about: str, *more: str) -> Callable[[F], F]:
    """``--as``, which ``emit`` looks up in the context; ``more`` forms than usual."""
    return choice("--as", "form", of=[*_FORMS, *more], help=about, **_KEPT)


def out_option(about: str) -> Callable[[F], F]:
    """``--out``, which a command must be given."""
    return option("-o", "--out", required=True, metavar="PATH", type=values.FILE, help=about)


quiet_option = option("-q", "--quiet", is_flag=True, help="Print results and errors only, no notes.", **_KEPT)
protocol_option = option(
    "--protocol",
    metavar="NAME",
    default="exact",
    show_default=True,
    type=values.PROTOCOL,
    help="Scoring protocol, see `dsteval list protocols`.",
)
metric_option = option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    type=values.METRIC,
    help="Metric, such as JGA or FGA@0.5; may be repeated.",
)
setting_option = option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    group=SCORING,
    help="Override one setting of the protocol; may be repeated.",
)
_file_option = partial(option, metavar="FILE", type=values.FILE)
tables_options = together(
    _file_option("--variants", group=SCORING, help="Value variants, for protocols that need them."),
    _file_option("--ontology", group=SCORING, help="Ontology (values of each slot), for protocols that need it."),
)
slots_option = option(
    "--slots",
    metavar="N|FILE",
    group=SCORING,
    type=values.FILE,
    help="Number of slots |S|, or a file of slot names (one per line, or a schema).",
)
by_option = choice("--by", of=BY, multiple=True, help="Also score each part; may be repeated.")
workers_option = option(
    "--workers",
    default="1",
    show_default=True,
    metavar="N|auto",
    group=SCORING,
    type=values.Text(lambda: ["auto"]),
    help="Number of processes.",
)
_OUT = "Write to a file; its suffix sets the format: .txt, .json, .csv, .md or .tex."


def form_options(about: str = "Output format.", *more: str) -> Callable[[F], F]:
    """``--as`` and ``--out``, which ``emit`` looks up in the context; ``more`` forms than usual."""
    out = option("-o", "--out", metavar="PATH", type=values.FILE, help=_OUT, **_KEPT)
    return together(as_option(about, *more), out)


output_options = together(form_options(), quiet_option)
"""The format and place of the output, and whether notes are printed."""


def format_option(of: str, *names: str) -> Callable[[F], F]:
    """``--format``, or an option of other ``names``: the format ``of`` a file."""
    about = f"Format of {of}. Detected by default."
    return option(*(names or ("--format",)), metavar="NAME", group=INPUT, type=values.FORMAT, help=about)


def field_option(several: bool = False) -> Callable[[F], F]:
    """``--ref-field``, which may be ``several``."""
    about = "Field to use as the reference, if a file has several."
    return option("--ref-field", multiple=several, metavar="FIELD", group=INPUT, help=about)


def file_options(several: bool = False) -> Callable[[F], F]:
    """What every command takes that reads predictions: the reference, settings, formats, tables.

    ``several`` references, or fields that hold one, may be named.
    """
    about = "Reference: a file, a folder (FOLDER/test selects a split) or a data set."
    return together(
        option("--ref", multiple=several, metavar="REF", type=values.DATA, help=about),
        option("--updates", is_flag=True, help="FILE has the changes of each turn, not full states."),
        format_option("FILE"),
        format_option("REF", "--ref-format"),
        field_option(several),
        _file_option("--schema", group=INPUT, help="Schema of the services. Default: schema.json next to REF."),
        _file_option("--train-schema", group=INPUT, help="Schema of the training data, for --by group."),
        setting_option,
        tables_options,
    )


input_options = together(file_options(), protocol_option)
"""What every command takes that reads predictions and compares them by one rule."""


def number_option(*names: str, default: int, about: str, group: str = INTERVALS) -> Callable[[F], F]:
    """An option that takes a whole number."""
    return option(*names, type=int, default=default, show_default=True, metavar="N", group=group, help=about)


seed_option = number_option("--seed", default=12345, about="Random seed.")
level_options = together(
    option("--no-ci", is_flag=True, help="Do not compute confidence intervals."),
    option(
        "--ci",
        type=float,
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        group=INTERVALS,
        help="Confidence level.",
    ),
)
resamples_option = number_option("--resamples", default=1000, about="Number of bootstrap resamples.")
interval_options = together(
    level_options,
    choice(
        "--interval",
        of=METHODS,
        default="percentile",
        show_default=True,
        group=INTERVALS,
        help="Type of bootstrap interval.",
    ),
    resamples_option,
    seed_option,
)
"""How sure the numbers are."""

_MISSING = "Reference dialogues without a prediction: stop with an error, score as empty, or skip and list."
_EXTRA = "Predicted dialogues without a reference: stop with an error, or ignore and list."


def missing_option(about: str = _MISSING) -> Callable[[F], F]:
    """``--missing``."""
    return choice("--missing", of=get_args(Missing), default="error", show_default=True, help=about)


coverage_options = together(
    missing_option(),
    choice("--extra", of=get_args(Extra), default="error", show_default=True, group=SCORING, help=_EXTRA),
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
    require(known, text, "slot names, one per line, or a schema", "a JSON object", ReadError)
    if source.kind == "list":
        names = [slot for slots in schema_of(source.data, source.name).values() for slot in slots]
    else:
        names = [line.strip() for line in source.text_lines() if line.strip()]
    require(names, text, "a list of slots", "none", ReadError)
    return names


def say(source: Source, format: str | None) -> None:
    """Print as which format a file is read."""
    if format is None:
        found = detect(source)
        note(f"{source.name}: read as {found.reader.name} ({found.sign})")
    if source.skipped_files:
        note(f"{source.name}: skipped files without dialogues: {first_few(source.skipped_files, 5)}")


class FetchBar(ExitStack):
    """A progress bar for a download, shown from the first byte on."""

    def __init__(self) -> None:
        super().__init__()
        self.came = False
        self._name = ""
        self._update: Callable[..., None] | None = None

    def __call__(self, name: str, done: int, size: int | None) -> None:
        """Update the bar; ``data.fetch.fetch`` calls this."""
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
    if sys.stderr.isatty() and not is_quiet():
        source.watch(ReadingBar(source.name, sum(part.size for part in source.parts)))
    return source


def say_unverified(text: str) -> None:
    """Print how many files of a data set, NAME or NAME/SPLIT, could not be verified."""
    from dsteval.data import catalogue as catalog
    from dsteval.data.fetch import unverified

    name, _, split = text.partition("/")
    dataset = catalog.find(name, catalog.load())
    chosen = dataset.split(split) if split else None
    if files := unverified(dataset, chosen):
        total = len(dataset.needed(chosen))
        note(f"{text}: {len(files)} of {total} files not verified: no checksum is known")


def open_named(text: str) -> tuple[str | None, str]:
    """The name and the path of ``name=path``; a path that exists as written is a path."""
    name, equals, path = text.partition("=")
    if not (equals and name) or "/" in name or os.path.exists(text):  # noqa: PTH110 - Path.exists raises for a name that is too long
        return None, text
    return name, path
