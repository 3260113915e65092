"""``dsteval data describe`` and ``dsteval data fetch``."""

from typing import Any

import click

from dsteval.analysis.describe import PROTOCOL, Description, describe
from dsteval.cli.options import FetchBar, field_option, form_option, say_unverified
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places
from dsteval.data.fetch import fetch
from dsteval.render.table import Table
from dsteval.results.numbers import number


@click.group("data")
def command() -> None:
    """Describe data, and fetch public data sets; dsteval list datasets tells which."""


@command.command("describe", short_help="Count conversations, turns, slots and values.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", metavar="NAME", help="Format of the files, instead of detecting it.")
@field_option()
@form_option
def _describe(files: tuple[str, ...], **reading: Any) -> None:
    """Count conversations, turns, slots and values of each FILE: a path, or a data set such as sgd/dev.

    A folder or an archive with list files, as MultiWOZ has them, gets a row for train, dev and test, and so does a
    data set named without a split.
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
    notes = [f"slots that have a value, and distinct pairs of slot and value, as protocol {PROTOCOL} reads them"]
    table = Table(columns, rows, range(1, 6), notes=notes)
    emit([table], {"schema": 1, "data": [one.to_dict() for one in found]})


@command.command("fetch", short_help="Fetch public data sets into the cache.")
@click.argument("names", nargs=-1, required=True, metavar="NAME[/SPLIT]...")
def _fetch(names: tuple[str, ...]) -> None:
    """Fetch public data sets, or single splits of them, and print the folder that each is kept in.

    What is cached is not requested again. DSTEVAL_CACHE names another cache, DSTEVAL_DATA_URL a mirror.
    """
    for text in names:
        name, _, split = text.partition("/")
        with FetchBar() as bar:
            folder = fetch(name, split or None, progress=bar)
        say_unverified(text)
        click.echo(folder)
