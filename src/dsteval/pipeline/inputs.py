"""What the pipeline takes: paths, data sets by name, dictionaries, iterables; opened once, read once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dsteval import readers
from dsteval.dialogue import Dialogue, Side
from dsteval.errors import OptionError, encodable
from dsteval.readers import Source
from dsteval.readers.data_frames import records_of

if TYPE_CHECKING:
    from dsteval.data.fetch import Progress

Input: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any] | Source"
"""A path or a data set's name, ``{dialogue: states}``, a DataFrame or an Arrow table with the JSONL's columns,
or an iterable of Dialogues or of lines of our JSONL."""


def open_source(text: str, progress: Progress | None = None) -> Source:
    """The file or folder that a path names, or the public data set of that name (``multiwoz-2.4/test``).

    A data set that is not cached is fetched, which ``progress`` can show; what lies on disk under its name wins.
    Raises ReadError for what cannot be read, and as ``data.fetch.fetch`` does for what cannot be had.
    """
    if os.path.exists(text):  # noqa: PTH110 - Path.exists raises for a name that is too long
        return Source.open(text)
    from dsteval.data.fetch import resolve  # only a name that is no path asks for it

    place = resolve(text, progress=progress)
    source = Source.open(text if place is None else place)
    if place is not None:
        source.name = text
    return source


def open_input(value: Input, name: str) -> Source | Iterable[Dialogue]:
    """A source for whatever ``evaluate`` takes."""
    if isinstance(value, Source):
        return value
    if isinstance(value, str):
        return open_source(value)
    if isinstance(value, os.PathLike):
        return Source.open(Path(value))
    if isinstance(value, Mapping):
        return Source.of(name, value)
    if (records := records_of(value, name)) is not None:
        return Source.of(name, records)
    items = iter(value)
    first = next(items, None)
    if isinstance(first, Dialogue):
        return chain([first], items)
    return Source.of(name, [] if first is None else [first, *items])


def open_again(value: Input, name: str) -> Source:
    """A source that can be gone through more than once. Raises OptionError for an iterator."""
    source = open_input(value, name)
    if isinstance(source, Source):
        return source
    raise OptionError(
        where=name, expected="a file or a dictionary", found="an iterator, which can be read only once"
    )


def system_name(label: str) -> str:
    """A system's name where none is given: the file's, without the suffixes of formats and packers.

    >>> system_name("pred.json.gz"), system_name("my.model.v2.jsonl")
    ('pred', 'my.model.v2')
    """
    while (stem := label.rpartition("."))[2].casefold() in _SUFFIXES and stem[0]:
        label = stem[0]
    return encodable(label)


_SUFFIXES = frozenset({"csv", "gz", "json", "jsonl", "tsv", "txt", "zip"})


def check_names(names: Sequence[str], where: str) -> None:
    """Raise OptionError if two systems have one name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OptionError(
            where=where,
            expected="systems with different names",
            found=f"{twice!r} twice",
            remedy="Name them, as in ours=a.json.",
        )


def label_of(source: Source | Iterable[Dialogue]) -> str:
    """How messages and results call a source."""
    return source.name if isinstance(source, Source) else "predictions"


def read_references(
    ref: Source | Iterable[Dialogue], format: str | None, options: readers.Options
) -> Iterable[Dialogue]:
    """The reference's dialogues. They are held in memory to be paired, so a second system need not read them."""
    if not isinstance(ref, Source):
        return ref
    return _kept(ref, "ref", format, options)


def _kept(source: Source, side: Side, format: str | None, options: readers.Options) -> list[Dialogue]:
    key = (side, format, options)
    if key not in source.cache:
        source.cache[key] = list(readers.read(source, side, format, options))
    dialogues: list[Dialogue] = source.cache[key]
    return dialogues


def keep_dialogues(pred: Source, format: str | None, options: readers.Options) -> list[Dialogue]:
    """The predictions' dialogues, kept in memory for those who go through them more than once."""
    return _kept(pred, "pred", format, options)


def read_predictions(
    source: Source | Iterable[Dialogue], format: str | None, options: readers.Options
) -> Iterable[Dialogue]:
    """The dialogues of the predictions' file, as they are read."""
    if not isinstance(source, Source):
        return source
    kept: list[Dialogue] | None = source.cache.get(("pred", format, options))
    return readers.read(source, "pred", format, options) if kept is None else kept


def encoded_predictions(
    source: Source | Iterable[Dialogue], format: str | None, options: readers.Options
) -> Iterable[readers.Encoded | Dialogue]:
    """The same, in blocks of numbers where the format can."""
    if not isinstance(source, Source) or ("pred", format, options) in source.cache:
        return read_predictions(source, format, options)
    return readers.encoded(source, format, options)
