"""``dsteval list``."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from dsteval import metrics, readers
from dsteval.cli.command import Command
from dsteval.cli.options import form_options
from dsteval.cli.output_files import emit
from dsteval.cli.values import OneOf
from dsteval.data import catalogue as catalog
from dsteval.data.fetch import missing, unverified
from dsteval.protocols import model as protocol
from dsteval.render.table import Cell, Table
from dsteval.track.tracker import TRACKERS, Loaded


def _metrics() -> list[dict[str, Any]]:
    return [
        {
            "name": f"{name}@L" if metric.number_about else name,
            "about": metric.about,
            "parameters": [f"{key}={'|'.join(p.choices)}" for key, p in metric.parameters.items()],
        }
        for name in metrics.names()
        for metric in [metrics.find(name)]
    ]


def _described(things: Iterable[object], *attributes: str, **renamed: str) -> list[dict[str, Any]]:
    """Some attributes of each, under their names or, where these differ, under others."""
    names = {**renamed, **{name: name for name in attributes}}
    return [{key: getattr(thing, name) for key, name in names.items()} for thing in things]


def _datasets() -> list[dict[str, Any]]:
    return [
        {
            "name": dataset.name,
            "about": dataset.title,
            "licence": dataset.licence,
            "splits": list(dataset.splits),
            "checksums": _share(len(dataset.single) - len(unverified(dataset)), len(dataset.single)),
            "cached": _share(len(dataset.single) - len(missing(dataset)), len(dataset.single)),
        }
        for dataset in catalog.load().values()
    ]


def _share(count: int, of: int) -> str:
    return {0: "no", of: "yes"}.get(count, f"{count} of {of} files")


_LISTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "metrics": _metrics,
    "protocols": lambda: _described(
        map(protocol.load, protocol.names()), "source", "needs", "checked", "hash", name="label", about="title"
    ),
    "readers": lambda: _described(map(readers.find, readers.names()), "name", "sides", "about"),
    "trackers": lambda: _described(map(Loaded, TRACKERS.names()), "name", "about", "needs", "hash"),
    "datasets": _datasets,
}


@click.command(
    "list",
    cls=Command,
    examples=[
        ("List the protocols", "dsteval list protocols"),
        ("List the data sets with all details", "dsteval list datasets --as json"),
    ],
)
@click.argument("what", type=OneOf(_LISTS))
@form_options()
def command(what: str) -> None:
    """List the available metrics, protocols, readers (formats), trackers or data sets."""
    entries = _LISTS[what]()
    columns = [column for column in entries[0] if column in _SHOWN]
    rows: list[list[Cell]] = [[_cell(entry[column]) for column in columns] for entry in entries]
    tidy = Table(list(entries[0]), [[_cell(value) for value in entry.values()] for entry in entries])
    emit([Table(columns, rows, tidy=tidy)], {"schema": 1, what: entries})


# What a person sees; CSV and JSON have every column.
_SHOWN = ("name", "about", "parameters", "needs", "sides", "licence", "splits", "cached")


def _cell(value: Any) -> Cell:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
