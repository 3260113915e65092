"""``dsteval rate``: human ratings, from a sample of dialogues to how metrics correlate with them."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from dsteval import readers
from dsteval.cli.command import COMMON, Command, CommandGroup, option
from dsteval.cli.commands import rate_studies as studies
from dsteval.cli.messages import note
from dsteval.cli.options import (
    choice,
    files_argument,
    format_option,
    number_option,
    open_named,
    open_shown,
    out_option,
    quiet_option,
    say,
    scoring_options,
    seed_option,
    slot_list,
)
from dsteval.cli.output_files import write
from dsteval.cli.path_checks import check_inputs, check_places, check_writable
from dsteval.cli.systems import check_predictions, opened
from dsteval.cli.values import FILE
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, first_few, require
from dsteval.files import alone
from dsteval.pipeline.inputs import check_names, system_name
from dsteval.pipeline.run import Run
from dsteval.rating.ratings import combined, csv_text, kept, table, written
from dsteval.rating.sampling import STRATA, SampleItem, draw, pool
from dsteval.rating.texts import check_sides, file_name, sheet, text_of
from dsteval.readers.jsonl_writer import lines
from dsteval.stats.intervals import Intervals

_SAMPLE = ("Draw 50 dialogues to be rated", "dsteval rate sample pred.json --ref ref.json --size 50 -o s.jsonl")
_EXPORT = ("Write them into a table for a rater", "dsteval rate export s.jsonl anna.csv --rater anna")


@click.group("rate", cls=CommandGroup, examples=[_SAMPLE, _EXPORT])
def command() -> None:
    """Collect human ratings: sample and export dialogues, import ratings, correlate metrics with them."""


for _study in (studies.agree_command, studies.correlate_command, studies.plan_command):
    command.add_command(_study)


@command.command(
    "sample",
    cls=Command,
    short_help="Sample dialogues to be rated.",
    examples=[
        _SAMPLE,
        (
            "Mix the dialogues of two systems and hide which is which",
            "dsteval rate sample a.jsonl b.jsonl --blind --key key.csv -o s.jsonl",
        ),
    ],
)
@files_argument()
@scoring_options
@number_option("--size", default=100, about="Number of dialogues.", group=COMMON)
@seed_option
@choice("--by", "strata", of=STRATA, multiple=True, help="Stratify the sample; may be repeated.")
@option("--blind", is_flag=True, help="Shuffle the dialogues of all systems under neutral names; needs --key.")
@option("--key", metavar="PATH", type=FILE, help="Write a CSV key: system and dialogue of each item.")
@out_option("Write the dialogues to this JSON Lines file.")
@quiet_option
def _sample(
    files: tuple[str, ...], ref: str | None, size: int, blind: bool, key: str | None, out: str, **settings: Any
) -> None:
    """Sample the same dialogues from every FILE, with both states and all utterances.

    Each system's version of a dialogue is an item. With --blind, items are shuffled, and only the --key tells
    which is which.
    """
    if blind and key is None:
        raise OptionError("needs --key PATH, to keep which item is which", where="--blind")
    check_places("out", "key")
    seed, strata = settings.pop("seed"), settings.pop("strata")
    settings["slots"] = slot_list(settings["slots"])
    reference = opened(ref, settings["ref_format"])
    pools = []
    for name, path in map(open_named, files):
        source = open_shown(path)
        check_predictions(source, "rate sample")
        say(source, settings["format"])
        pools.append(pool(name or system_name(Path(path).name), source, reference, Run.of(**settings)))
    names = [one.system for one in pools]
    check_names(names, "FILE")
    Intervals(level=None, seed=seed)  # refuses a seed that no draw takes
    drawn = draw(pools, size, seed, strata, blind)
    write("--out", out, b"".join(lines(drawn.dialogues)))
    if key is not None:
        write("--key", key, csv_text(SampleItem._fields, drawn.items).encode())
    for stratum, (available, number) in drawn.strata.items() if strata else ():
        note(f"{stratum}: {number} of {available}")
    note(f"{out}: {len(drawn.items)} items, {size} dialogues of {', '.join(names)}")


@command.command(
    "export",
    cls=Command,
    short_help="Write dialogues for raters: text files or a CSV.",
    examples=[_EXPORT, ("Write one text file per dialogue", "dsteval rate export s.jsonl texts")],
)
@click.argument("items", metavar="ITEMS", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@format_option("ITEMS")
@option("--rater", default="", metavar="NAME", help="Name of the rater, for the rows of a CSV.")
@quiet_option
def _export(items: str, target: str, format: str | None, rater: str) -> None:
    """Write the dialogues of ITEMS to OUT.

    If OUT ends in .csv, it is a table with one row per dialogue and an empty rating. Otherwise it is a folder with
    one text file per dialogue, laid out as in the study of the FGA paper.
    """
    folder = Path(target)
    is_sheet = folder.suffix.casefold() == ".csv"
    if is_sheet:
        check_places("target")
    elif folder.is_dir():
        check_inputs("target")
    dialogues = _dialogues(items, format)
    if is_sheet:
        for dialogue in dialogues:  # raters judge a prediction by the reference, as the texts show both
            check_sides(dialogue)
        texts = {folder: sheet(dialogues, rater)}
    else:
        texts = {folder / file_name(dialogue): text_of(dialogue) for dialogue in dialogues}
        _check_folder(target, texts)
    for path, text in texts.items():  # all of them, before the first is written
        if path.is_file() and path.read_bytes() != text.encode():
            found = "one with other content, possibly ratings"
            remedy = "Choose another path, or delete the file if nobody needs it."
            raise OptionError(where=f"OUT {path}", expected="a new file", found=found, remedy=remedy)
    for path, text in texts.items():
        write("OUT", str(path), text.encode())
    note(f"{target}: {len(dialogues)} dialogues written")


@command.command(
    "import",
    cls=Command,
    short_help="Add ratings to a file of ratings.",
    examples=[
        ("Add the ratings of a filled table", "dsteval rate import anna.csv --into ratings.csv"),
        ("Check the scale and the items", "dsteval rate import a.csv --into r.csv --scale 1..5 --items s.jsonl"),
    ],
)
@files_argument()
@option("--into", required=True, metavar="PATH", type=FILE, help="File of ratings to add to: .jsonl or .csv.")
@option("--items", metavar="ITEMS", type=FILE, help="The rated dialogues; ratings of others are an error.")
@studies.rating_options
@quiet_option
def _import(files: tuple[str, ...], into: str, items: str | None, **reading: Any) -> None:
    """Add the ratings of each FILE, a filled CSV or JSON Lines, to a file of ratings.

    NAME=PATH names the rater if the rows do not. Ratings that are already there are not added twice. On an error,
    nothing is added.
    """
    known = Path(into).suffix.casefold() in (".jsonl", ".csv")
    require(known, f"--into {into}", "a name that ends in .jsonl or .csv", repr(Path(into).suffix))
    new = studies.read_ratings(files, **reading)
    known_items = None if items is None else [one.id for one in _dialogues(items, None)]
    check_writable("into")
    with alone(Path(os.path.realpath(into))):  # where a link leads, since others may know it by another name
        old = kept(into) if Path(into).exists() else []
        ratings, again = combined([*old, *new])
        if known_items is not None:
            table(ratings).of(known_items)
        if added := len(ratings) - len(old):
            write("--into", into, written(ratings, into))
    note(f"{into}: {added} ratings added, {again} already there, {len(ratings)} in total")


def _dialogues(path: str, format: str | None) -> list[Dialogue]:
    source = open_shown(path)
    say(source, format)
    return list(readers.read(source, "pred", format))


def _check_folder(target: str, texts: Collection[Path]) -> None:
    """Raise OptionError for what is no folder, or holds other files: a folder is read as a whole."""
    folder = Path(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir() if path not in texts)
    except OSError as error:
        raise OptionError(where=target, expected="a folder", found=error.strerror or str(error)) from None
    expected = "a new or empty folder"
    require(not others, target, expected, f"other files in it ({first_few(others)})")
