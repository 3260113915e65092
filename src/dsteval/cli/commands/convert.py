"""``dsteval convert``."""

import gzip
from contextlib import nullcontext
from pathlib import Path

import click

from dsteval import readers
from dsteval.cli.options import field_option, open_shown, say
from dsteval.cli.output_files import replaced, to_stdout
from dsteval.cli.path_checks import check_places
from dsteval.readers.jsonl_writer import lines, one_side


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--format", metavar="NAME", help="Format of IN, instead of detecting it.")
@field_option()
@click.option("--updates", is_flag=True, help="The predicted states of IN are what each turn changed.")
def command(source: str, target: str, format: str | None, ref_field: str | None, updates: bool) -> None:
    """Write IN, in any format that is read, as our JSON Lines to OUT (- is standard output, .gz packs).

    A file with one side keeps it as `state`, and may then serve as predictions or as reference. Nothing is lost:
    utterances, services, doubled slots, turn numbers.
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
    click.echo(f"{target}: {len(written)} turns written", err=True)
    if opened.schema:
        told = f"the schema's {len(opened.schema)} slots are no part of the lines: score with --slots schema.json"
        click.echo(f"{opened.name}: {told}", err=True)


def _in_place(source: str, target: str) -> bool:
    """Whether a file is converted where it is, which loses nothing; one file of a folder would be lost."""
    try:
        return Path(source).is_file() and Path(source).samefile(target)
    except (OSError, ValueError):
        return False
