"""``dsteval convert``."""

import gzip
from contextlib import nullcontext
from pathlib import Path

import click

from dsteval import readers
from dsteval.cli.command import Command, option
from dsteval.cli.messages import note
from dsteval.cli.options import field_option, format_option, open_shown, quiet_option, say
from dsteval.cli.output_files import replaced, to_stdout
from dsteval.cli.path_checks import check_places
from dsteval.cli.values import DATA, FILE
from dsteval.readers.jsonl_writer import lines, one_side


@click.command(
    "convert",
    cls=Command,
    examples=[
        ("Convert a file to JSON Lines", "dsteval convert pred.json pred.jsonl"),
        ("Convert a split of a data set to standard output", "dsteval convert multiwoz-2.4/test - | head -2"),
    ],
)
@click.argument("source", metavar="IN", type=DATA)
@click.argument("target", metavar="OUT", type=FILE)
@format_option("IN")
@field_option()
@option("--updates", is_flag=True, help="The predictions of IN are the changes of each turn, not full states.")
@quiet_option
def command(source: str, target: str, format: str | None, ref_field: str | None, updates: bool) -> None:
    """Convert IN, in any supported format, to JSON Lines in OUT.

    OUT may be - for standard output, and is compressed if its name ends in .gz. The conversion loses nothing:
    utterances, services, duplicate slots and turn numbers are kept. A file with only one side keeps it as `state`,
    and can then be used as predictions or as a reference.
    """
    if target != "-" and not _in_place(source, target):
        check_places("target")
    opened = open_shown(source)
    say(opened, format)
    # All is read before anything is written: nothing is written half, to stdout neither.
    dialogues = list(readers.read(opened, "pred", format, readers.Options(updates, ref_field)))
    written = list(lines(dialogues, one_side(dialogues)))
    if target == "-":
        to_stdout(b"".join(written))
    else:
        with replaced(target, "OUT") as file:  # complete, or not there
            packs = target.endswith(".gz")
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packs else nullcontext(file) as put:
                put.writelines(written)
    note(f"{target}: {len(written)} turns written")
    if opened.schema:
        about = f"the {len(opened.schema)} slots of the schema are not in OUT; score it with --slots schema.json"
        note(f"{opened.name}: {about}")


def _in_place(source: str, target: str) -> bool:
    """Whether a file is converted where it is, which loses nothing; one file of a folder would be lost."""
    try:
        return Path(source).is_file() and Path(source).samefile(target)
    except (OSError, ValueError):
        return False
