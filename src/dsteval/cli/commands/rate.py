"""``dsteval rate``: what people say of conversations, from drawing them to how metrics agree with it."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from dsteval import readers
from dsteval.cli.commands import rate_studies as studies
from dsteval.cli.options import choice, open_named, open_shown, say, scoring_options, seed_option, slot_list
from dsteval.cli.output_files import write
from dsteval.cli.path_checks import check_inputs, check_places, check_writable
from dsteval.cli.systems import check_predictions, opened
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


@click.group("rate")
def command() -> None:
    """Ratings by people: draw conversations, hand them out, take ratings in, and compare metrics with them."""


for _study in (studies.agree_command, studies.correlate_command, studies.plan_command):
    command.add_command(_study)


@command.command("sample", short_help="Draw conversations to be rated.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@scoring_options
@click.option("--size", type=int, default=100, metavar="N", help="How many dialogues.", show_default=True)
@seed_option
@choice("--by", "strata", of=STRATA, multiple=True, help="Draw from each stratum its share.")
@click.option("--blind", is_flag=True, help="Mix all systems' conversations under names that tell nothing.")
@click.option("--key", metavar="PATH", help="Where the key goes: which item is which system's dialogue.")
@click.option("-o", "--out", required=True, metavar="PATH", help="Where the conversations go, as JSON Lines.")
def _sample(
    files: tuple[str, ...], ref: str | None, size: int, blind: bool, key: str | None, out: str, **settings: Any
) -> None:
    """Draw dialogues, the same for every FILE, with both states and utterances.

    Each system's conversations become items; --blind shuffles them and keeps what they are in the --key alone.
    """
    require(key is not None or not blind, "--blind", "--key, where the names are kept", "none")
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
    for stratum, (at_hand, number) in drawn.strata.items() if strata else ():
        click.echo(f"{stratum}: {number} of {at_hand}", err=True)
    click.echo(f"{out}: {len(drawn.items)} items, {size} dialogues of {', '.join(names)}", err=True)


@command.command("export", short_help="Write conversations for raters: text files, or a CSV.")
@click.argument("items", metavar="ITEMS")
@click.argument("target", metavar="OUT")
@click.option("--format", metavar="NAME", help="Format of ITEMS, instead of detecting it.")
@click.option("--rater", default="", metavar="NAME", help="Who is to rate, written into every row of a CSV.")
def _export(items: str, target: str, format: str | None, rater: str) -> None:
    """Write the conversations of ITEMS to OUT.

    A name that ends in .csv gets a row for each conversation with an empty rating; any other becomes a folder with
    one text file each, in the form of the FGA paper's study.
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
            found = "one with other content, which may be a rater's"
            remedy = "Name another, or remove it if nobody needs it."
            raise OptionError(where=f"OUT {path}", expected="a new file", found=found, remedy=remedy)
    for path, text in texts.items():
        write("OUT", str(path), text.encode())
    click.echo(f"{target}: {len(dialogues)} conversations written", err=True)


@command.command("import", short_help="Take ratings in; the same ones twice change nothing.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--into", required=True, metavar="PATH", help="Where ratings are kept: .jsonl, or .csv.")
@click.option("--items", metavar="ITEMS", help="The conversations: ratings of others are refused.")
@click.option("--scale", metavar="LOW..HIGH", help="What ratings may be, such as 0..1; others are refused.")
@click.option("--allow-missing", is_flag=True, help="Take a file in though rows of it have no rating.")
def _import(files: tuple[str, ...], into: str, items: str | None, **reading: Any) -> None:
    """Add the ratings of each FILE, a filled CSV or JSON Lines, to those kept.

    NAME=PATH names the rater where rows do not. All is taken in, or nothing.
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
    click.echo(f"{into}: {added} ratings added, {again} there already, {len(ratings)} in all", err=True)


def _dialogues(path: str, format: str | None) -> list[Dialogue]:
    source = open_shown(path)
    say(source, format)
    return list(readers.read(source, "pred", format))


def _check_folder(target: str, texts: Collection[Path]) -> None:
    """Raise OptionError for what is no folder, or holds other files."""
    folder = Path(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir() if path not in texts)
    except OSError as error:
        raise OptionError(where=target, expected="a folder", found=error.strerror or str(error)) from None
    expected = "a folder of its own, for a folder is read as a whole"
    require(not others, target, expected, f"other files in it ({first_few(others)})")
