"""``dsteval data describe`` and ``dsteval data fetch``."""

from typing import Any

import click

from dsteval.analysis.describe import PROTOCOL, Description, describe
from dsteval.cli.command import Command, CommandGroup
from dsteval.cli.options import (
    FetchBar,
    field_option,
    files_argument,
    format_option,
    output_options,
    quiet_option,
    say_unverified,
)
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.cli.values import DATA, DATA_SET
from dsteval.data.fetch import fetch
from dsteval.render.table import Table
from dsteval.results.numbers import number

_DESCRIBE = ("Describe a split of a data set", "dsteval data describe multiwoz-2.4/test")
_FETCH = ("Download it", "dsteval data fetch multiwoz-2.4/test")


@click.group("data", cls=CommandGroup, examples=[_DESCRIBE, _FETCH])
def command() -> None:
    """Describe and download data sets; `dsteval list datasets` lists them."""


@command.command(
    "describe",
    cls=Command,
    short_help="Count dialogues, turns, slots and values.",
    examples=[_DESCRIBE, ("Compare your own data with it", "dsteval data describe mine.json multiwoz-2.4/test")],
)
@files_argument(type=DATA)
@format_option("FILE")
@field_option()
@output_options
def _describe(files: tuple[str, ...], **reading: Any) -> None:
    """Count dialogues, turns, slots and values of each FILE: a path, or a data set such as sgd/dev.

    A data set named without a split has a row for each of train, dev and test. So has a folder or an archive with
    lists of dialogues, such as those of MultiWOZ.
    """
    check_places("out")
    found: list[Description] = []
    for text in files:
        with FetchBar() as bar:
            found += describe(text, **reading, progress=bar)
        if bar.came:
            say_unverified(text)
    columns = ["data", "conversations", "turns", "turns a conversation", "slots", "values"]
    rows = [[one.name, one.conversations, one.turns, number(one.average), one.slots, one.values] for one in found]
    notes = [f"slots with a value, and distinct (slot, value) pairs, as read under protocol {PROTOCOL}"]
    table = Table(columns, rows, range(1, 6), notes=notes)
    emit([table], {"schema": 1, "data": [one.to_dict() for one in found]})


@command.command(
    "fetch",
    cls=Command,
    short_help="Download public data sets into the cache.",
    examples=[_FETCH, ("Download all splits of two data sets", "dsteval data fetch multiwoz-2.1 sgd")],
)
@files_argument("names", "NAME[/SPLIT]...", DATA_SET)
@quiet_option
def _fetch(names: tuple[str, ...]) -> None:
    """Download public data sets, or single splits, and print the folder of each.

    Files that are in the cache are not downloaded again. DSTEVAL_CACHE sets another cache folder, DSTEVAL_DATA_URL
    a mirror.
    """
    for text in names:
        name, _, split = text.partition("/")
        with FetchBar() as bar:
            folder = fetch(name, split or None, progress=bar)
        say_unverified(text)
        click.echo(folder)
