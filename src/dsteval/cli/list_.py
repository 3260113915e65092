"""``dsteval list``."""

from __future__ import annotations

from typing import Any

import click

from dsteval import metrics, protocol, readers
from dsteval.cli.options import OneOf, emit, form_option
from dsteval.render.table import Cell, Table

__all__ = ["command"]


@click.command("list")
@click.argument("what", type=OneOf("WHAT", ["metrics", "protocols", "readers"]))
@form_option
def command(what: str, form: str | None, out: str | None) -> None:
    """List what is at hand: metrics, protocols or readers."""
    entries: list[dict[str, Any]] = {"metrics": _metrics, "protocols": _protocols, "readers": _readers}[what]()
    columns = list(entries[0])
    rows: list[list[Cell]] = [[_cell(entry[column]) for column in columns] for entry in entries]
    emit([Table(columns, rows)], {"schema": 1, what: entries}, form, out)


def _cell(value: Any) -> Cell:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


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
            "checked": list(loaded.checked),
            "hash": loaded.hash,
        }
        for loaded in map(protocol.load, protocol.names())
    ]


def _readers() -> list[dict[str, Any]]:
    found = map(readers.find, readers.names())
    return [{"name": reader.name, "sides": reader.sides, "about": reader.about} for reader in found]
