"""What ``rate export`` writes: a sheet or texts, and never over what a rater may have written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dsteval.cli.output_files import replaced
from dsteval.cli.path_checks import check_inputs, check_places
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, first_few
from dsteval.rating.texts import check_sides, file_name, sheet, text_of

__all__ = ["check_target", "hand_out"]


def check_target(target: str) -> None:
    """Raise OptionError where OUT is what is exported, or cannot be written."""
    if _is_sheet(target):
        check_places("target")
    elif Path(target).is_dir():
        check_inputs("target")


def hand_out(dialogues: Sequence[Dialogue], target: str, rater: str) -> None:
    """Write conversations as a CSV, or into a folder. Raises OptionError for one that holds something else."""
    if _is_sheet(target):
        for one in dialogues:  # raters judge a prediction by the reference, as the texts show both
            check_sides(one)
        _write(Path(target), sheet(dialogues, rater))
        return
    texts = {file_name(one): text_of(one) for one in dialogues}  # all of them, before the first is written
    folder = Path(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir() if path.name not in texts)
    except OSError as error:
        raise OptionError(where=target, expected="a folder", found=error.strerror or str(error)) from None
    if others:
        expected = "a folder of its own, for a folder is read as a whole"
        raise OptionError(where=target, expected=expected, found=f"other files in it ({first_few(others)})")
    for name, text in texts.items():  # all of them as well
        _check_unwritten(folder / name, text)
    for name, text in texts.items():
        _write(folder / name, text)


def _is_sheet(target: str) -> bool:
    return Path(target).suffix.casefold() == ".csv"


def _write(path: Path, text: str) -> None:
    _check_unwritten(path, text)
    with replaced(str(path), "OUT") as file:
        file.write(text.encode())


def _check_unwritten(path: Path, text: str) -> None:
    """Raise OptionError for a file with other content: hours of a rater's work may be in it."""
    if path.is_file() and path.read_bytes() != text.encode():
        raise OptionError(
            where=f"OUT {path}",
            expected="a new file",
            found="one with other content, which may be a rater's",
            remedy="Name another, or remove it if nobody needs it.",
        )
