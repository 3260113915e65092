"""``dsteval convert``."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import click

from dsteval import readers
from dsteval.cli.options import open_shown, say
from dsteval.errors import OptionError
from dsteval.writing import lines

__all__ = ["command"]


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--format", metavar="NAME", help="Format of IN, instead of detecting it.")
@click.option("--ref-field", metavar="FIELD", help="Which field is the reference, where a file has several.")
@click.option("--updates", is_flag=True, help="The predicted states of IN are what each turn changed.")
def command(source: str, target: str, format: str | None, ref_field: str | None, updates: bool) -> None:
    """Write IN, in any format that is read, as our JSON Lines to OUT (- is standard output, .gz packs).

    A file with one side keeps it as `state`, and may then serve as predictions or as reference. Nothing is lost:
    utterances, services, doubled slots, turn numbers.
    """
    opened = open_shown(source)
    say(opened, format)
    reader = readers.find(format) if format else readers.detect(opened).reader
    options = readers.Options(updates, ref_field)
    dialogues = iter(readers.read(opened, "pred", reader.name, options))
    first = next(dialogues)
    one_sided = all(turn.ref is None and turn.ref_frames is None and turn.bits is None for turn in first.turns)
    written = lines(chain([first], dialogues), "pred" if one_sided else None)
    count = _write(written, target)
    click.echo(f"{target}: {count} turns written", err=True)


def _write(written: Iterable[bytes], target: str) -> int:
    """Write all lines, or none: a file is complete or not there. Returns how many."""
    if target == "-":
        return sum(1 for line in written if sys.stdout.buffer.write(line))
    place = Path(target)
    partial = place.with_name(f".{place.name}.partial")
    try:
        with gzip.open(partial, "wb") if place.suffix == ".gz" else partial.open("wb") as out:
            count = sum(1 for line in written if out.write(line))
        partial.replace(place)
    except OSError as error:
        found = error.strerror or str(error)
        raise OptionError(where=target, expected="a place to write to", found=found) from None
    finally:
        partial.unlink(missing_ok=True)
    return count
