"""The files of ``dsteval rate``: ratings read, and sheets or texts written, never over a rater's work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from dsteval.cli.options import open_named
from dsteval.cli.output_files import replaced
from dsteval.cli.path_checks import check_inputs, check_places
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, ReadError, first_few
from dsteval.rating.ratings import Rating, parse_scale, read
from dsteval.rating.texts import check_sides, file_name, sheet, text_of

__all__ = ["check_target", "hand_out", "read_ratings", "write"]


def read_ratings(files: Sequence[str], scale: str | None, allow_missing: bool) -> list[Rating]:
    """The ratings of all files. Raises ReadError for rows without a rating, unless they are allowed."""
    limits = None if scale is None else parse_scale(scale)
    ratings: list[Rating] = []
    for name, path in map(open_named, files):
        rated, missing = read(path, name or "", limits)
        ratings += rated
        if missing:
            extent = f"{len(missing)} of {len(missing) + len(rated)} rows"
            items = first_few(dict.fromkeys(one.item for one in missing))
            if not allow_missing:
                extent, remedy = f"{extent}; {items}", "Fill them, or leave them out with --allow-missing."
                raise ReadError(where=path, expected="a rating", found="none", extent=extent, remedy=remedy)
            click.echo(f"{path}: {extent} without a rating left out ({items})", err=True)
    return ratings


def write(option: str, path: str, data: bytes) -> None:
    """Write a file. Raises OptionError, which names the ``option``, where that cannot be done."""
    with replaced(path, option) as file:
        file.write(data)


def check_target(target: str) -> None:
    """Raise OptionError where OUT is what is exported, or cannot be written."""
    if _is_sheet(target):
        check_places("target")
    elif Path(target).is_dir():
        check_inputs("target")


def hand_out(dialogues: Sequence[Dialogue], target: str, rater: str) -> None:
    """Write conversations as a CSV, or into a folder. Raises OptionError for one that holds something else."""
    folder = Path(target)
    if _is_sheet(target):
        for dialogue in dialogues:  # raters judge a prediction by the reference, as the texts show both
            check_sides(dialogue)
        texts = {folder: sheet(dialogues, rater)}
    else:
        texts = {folder / file_name(dialogue): text_of(dialogue) for dialogue in dialogues}
        _check_folder(target, texts)
    for path, text in texts.items():  # all of them, before the first is written
        if path.is_file() and path.read_bytes() != text.encode():
            raise OptionError(
                where=f"OUT {path}",
                expected="a new file",
                found="one with other content, which may be a rater's",
                remedy="Name another, or remove it if nobody needs it.",
            )
    for path, text in texts.items():
        write("OUT", str(path), text.encode())


def _check_folder(target: str, texts: Collection[Path]) -> None:
    """Raise OptionError for what is no folder, or holds other files."""
    folder = Path(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir() if path not in texts)
    except OSError as error:
        raise OptionError(where=target, expected="a folder", found=error.strerror or str(error)) from None
    if others:
        expected = "a folder of its own, for a folder is read as a whole"
        raise OptionError(where=target, expected=expected, found=f"other files in it ({first_few(others)})")


def _is_sheet(target: str) -> bool:
    return Path(target).suffix.casefold() == ".csv"
