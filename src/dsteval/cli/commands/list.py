"""``dsteval list``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dsteval import metrics, readers
from dsteval.cli.options import OneOf, form_option
from dsteval.cli.output_files import emit
from dsteval.data import catalogue as catalog
from dsteval.data.fetch import missing, unverified
from dsteval.protocols import model as protocol
from dsteval.render.table import Cell, Table
from dsteval.track import tracker

__all__ = ["command"]


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


def _protocols() -> list[dict[str, Any]]:
    return [
        {
            "name": loaded.label,
            "about": loaded.title,
            "source": loaded.source,
            "needs": list(loaded.needs),
            "checked": list(loaded.checked),
            "hash": loaded.hash,
        }
        for loaded in map(protocol.load, protocol.names())
    ]


def _readers() -> list[dict[str, Any]]:
    found = map(readers.find, readers.names())
    return [{"name": reader.name, "sides": reader.sides, "about": reader.about} for reader in found]


def _trackers() -> list[dict[str, Any]]:
    loaded = map(tracker.Loaded, tracker.names())
    return [{"name": one.name, "about": one.about, "needs": list(one.needs), "hash": one.hash} for one in loaded]


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
    "protocols": _protocols,
    "readers": _readers,
    "trackers": _trackers,
    "datasets": _datasets,
}


@click.command("list")
@click.argument("what", type=OneOf("WHAT", list(_LISTS)))
@form_option
def command(what: str, form: str | None, out: str | None) -> None:
    """List what is at hand: metrics, protocols, readers, trackers or public data sets."""
    entries = _LISTS[what]()
    columns = [column for column in entries[0] if column in _SHOWN]
    rows: list[list[Cell]] = [[_cell(entry[column]) for column in columns] for entry in entries]
    tidy = Table(list(entries[0]), [[_cell(value) for value in entry.values()] for entry in entries])
    emit([Table(columns, rows, tidy=tidy)], {"schema": 1, what: entries}, form, out)


# What a person sees; CSV and JSON have every column.
_SHOWN = ("name", "about", "parameters", "needs", "sides", "licence", "splits", "cached")


def _cell(value: Any) -> Cell:
    return "; ".join(map(str, value)) if isinstance(value, list) else value
