"""Dialogues out of files and into files, without scoring them."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from os import PathLike
from pathlib import Path

from dsteval import readers
from dsteval.dialogue import Dialogue, Side
from dsteval.files import replacing
from dsteval.pipeline.inputs import Input, open_input
from dsteval.readers import Options, Source
from dsteval.readers.jsonl_writer import lines, one_side


def read(
    file: Input,
    side: Side = "pred",
    *,
    format: str | None = None,
    updates: bool = False,
    ref_field: str | None = None,
) -> Iterator[Dialogue]:
    """The dialogues of whatever ``evaluate`` takes, as written, without interpretation.

    ``side`` says what a file with one side holds, ``ref`` or ``pred``; the rest are the options of ``convert``.
    Raises a DstevalError where something is wrong, for values only after the last dialogue.

    >>> [turn.pred for dialogue in read({"D1": [{"hotel": {"area": "north"}}]}) for turn in dialogue.turns]
    [[('hotel-area', 'north')]]
    """
    source = open_input(file, "dialogues")
    if isinstance(source, Source):
        return readers.read(source, side, format, Options(updates, ref_field))
    return iter(source)


def write(dialogues: Iterable[Dialogue], path: str | PathLike[str]) -> None:
    """Write dialogues as our JSON Lines, as ``convert`` does; a path that ends in .gz is packed.

    The file is written completely or not at all. Raises OSError where it cannot be written.
    """
    dialogues = list(dialogues)
    place = Path(path)
    with replacing(place) as file:
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if place.suffix == ".gz" else nullcontext(file)
        with packed as out:
            out.writelines(lines(dialogues, one_side(dialogues)))
