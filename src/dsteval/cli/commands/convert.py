"""``dsteval convert``."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from contextlib import ExitStack
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
    count = _write(lines(dialogues, one_side(dialogues)), target)
    click.echo(f"{target}: {count} turns written", err=True)
    if opened.schema:
        told = f"the schema's {len(opened.schema)} slots are no part of the lines: score with --slots schema.json"
        click.echo(f"{opened.name}: {told}", err=True)


def _in_place(source: str, target: str) -> bool:
    """Whether a file is converted where it is, which loses nothing; one file of a folder would be lost."""
    try:
        return Path(source).is_file() and Path(source).samefile(target)
    except (OSError, ValueError):
        return False


def _write(written: Iterable[bytes], target: str) -> int:
    """Write all lines, or none: a file is complete or not there. Returns how many."""
    count = 0
    with ExitStack() as opened:
        put: Callable[[bytes], object] = to_stdout
        if target != "-":
            file = opened.enter_context(replaced(target, "OUT"))
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if target.endswith(".gz") else None
            put = opened.enter_context(packed).write if packed else file.write
        for line in written:
            put(line)
            count += 1
    return count
