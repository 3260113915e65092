"""Readers, one file each: from a tool's own format to dialogues, nothing interpreted.

The registry walks this folder; others add readers by entry points of the group ``dsteval.readers``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from dsteval.dialogue import Dialogue, Side
from dsteval.errors import OptionError, ReadError, unknown
from dsteval.plugins import installed
from dsteval.readers.base import Reader
from dsteval.readers.source import Source

__all__ = ["Reader", "Source", "detect", "find", "names", "read"]


@cache
def _bundled() -> dict[str, Reader]:
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, Reader):
                found[value.name] = value
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


@cache
def _installed() -> dict[str, Reader]:
    loaded = (point.load() for point in installed("readers").values())
    return {reader.name: reader for reader in loaded if isinstance(reader, Reader)}


def names() -> list[str]:
    """The names of all readers at hand."""
    return sorted({*_bundled(), *_installed()})


def find(name: str) -> Reader:
    """The reader of that name. Raises OptionError where there is none."""
    reader = _bundled().get(name) or _installed().get(name)
    if reader is None:
        raise OptionError(unknown("format", name, names(), "dsteval list readers"))
    return reader


def detect(source: Source) -> tuple[Reader, str]:
    """The reader that fits a source, and the sign by which it was recognised. Raises ReadError if none does."""
    fits = [(reader, sign) for reader in _bundled().values() if (sign := reader.sniff(source))]
    if not fits:
        fits = [(reader, sign) for reader in _installed().values() if (sign := reader.sniff(source))]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise ReadError(
            where=source.name,
            expected="a file that one format fits",
            found=" and ".join(f"{reader.name} ({sign})" for reader, sign in fits),
            remedy=f"Name one with --format {fits[0][0].name}.",
        )
    raise ReadError(
        where=source.name,
        expected=f"one of the formats {', '.join(names())}",
        found=source.sample(),
        remedy="See dsteval list readers for what each looks like, and choose with --format.",
    )


def read(source: Source, side: Side, name: str | None = None, updates: bool = False) -> Iterator[Dialogue]:
    """The dialogues of a source; ``side`` says where a file with one side goes, ``name`` forces a format."""
    reader = find(name) if name else detect(source)[0]
    return reader.read(source, side, updates)
