"""Readers, one file each: from a tool's own format to dialogues, nothing interpreted.

The registry walks this folder; others add readers by entry points of the group ``dsteval.readers``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from dsteval.dialogue import Dialogue, Side, canonical_id
from dsteval.errors import OptionError, ReadError, first_few, unknown
from dsteval.readers import formats
from dsteval.readers.base import Options, Reader
from dsteval.readers.source import Source
from dsteval.registry import Registry, instances

__all__ = ["Detected", "Options", "Reader", "Source", "detect", "find", "names", "read"]


READERS: Registry[Reader] = Registry(
    "readers", lambda: {reader.name: reader for reader in instances(formats, Reader)}
)


@cache
def _installed() -> dict[str, Reader]:
    loaded = map(READERS.get, READERS.installed)
    return {reader.name: reader for reader in loaded if isinstance(reader, Reader)}


def names() -> list[str]:
    """The names of all readers at hand."""
    return sorted({*READERS.bundled, *_installed()})


def find(name: str) -> Reader:
    """The reader of that name. Raises OptionError where there is none."""
    reader = READERS.bundled.get(name) or _installed().get(name)
    if reader is None:
        raise OptionError(unknown("format", name, names(), "dsteval list readers"))
    return reader


@contextmanager
def not_too_deep(source: Source) -> Iterator[None]:
    """Turn the interpreter's limit on nesting into an error that names the source."""
    try:
        yield
    except RecursionError:
        found = "objects or lists nested too deep"
        raise ReadError(where=source.name, expected="states of slots and values", found=found) from None


@dataclass(frozen=True)
class Detected:
    """What a source was recognised as: the reader, and the sign that told."""

    reader: Reader
    sign: str


def detect(source: Source) -> Detected:
    """The reader that fits a source, all its files alike.

    Raises ReadError where none fits, where two do (the user is asked), or where the files of a folder differ.
    """
    if "detected" not in source.cache:
        source.cache["detected"] = _detect(source)
    detected: Detected = source.cache["detected"]
    return detected


def _detect(source: Source) -> Detected:
    with not_too_deep(source):
        found = [(part.name, _fits(part)) for part in source.parts]
    fitting = {detected.reader.name: detected for _, fits in found for detected in fits}
    if not fitting:
        _check_empty(source)
        raise ReadError(
            where=source.name,
            expected=f"one of the formats {', '.join(names())}",
            found=source.sample(),
            remedy="See dsteval list readers for what each looks like, and choose with --format.",
        )
    if len(fitting) > 1:
        raise ReadError(
            where=source.name,
            expected="one format that fits",
            found=" and ".join(f"{name} ({detected.sign})" for name, detected in fitting.items()),
            remedy=f"Say which with --format (of a reference --ref-format), for example {next(iter(fitting))}.",
        )
    odd = [name for name, fits in found if not fits]
    chosen = next(iter(fitting.values()))
    if odd:
        raise ReadError(
            where=source.name,
            expected=f"files in one format, {chosen.reader.name}",
            found=f"{odd[0]!r}, which is not",
            extent=f"{len(odd)} of {len(found)} files, {first_few(odd)}",
            remedy="Repair or move them, or name the files with a pattern such as 'FOLDER/*.json'.",
        )
    return chosen


def _check_empty(source: Source) -> None:
    """Say of JSON that holds nothing that it is empty."""
    part = source.parts[0]
    if part.kind in ("object", "list") and part.first_record is None:
        found = "none" if not part.top else f"none in {len(part.top)} of {len(part.top)} dialogues"
        raise ReadError(where=part.name, expected="at least one turn in an empty data set", found=found)


def _fits(part: Source) -> list[Detected]:
    # An odd or empty first record proves nothing: others are looked at before giving up.
    for _ in part.probe():
        for readers in (READERS.bundled, _installed()):
            fits = [Detected(reader, sign) for reader in readers.values() if (sign := reader.sniff(part))]
            if fits:
                return fits
    return []


def read(
    source: Source, side: Side, name: str | None = None, options: Options | None = None
) -> Iterator[Dialogue]:
    """The dialogues of a source; ``side`` says where a file with one side goes, ``name`` forces a format."""
    options = options or Options()
    reader = find(name) if name is not None else detect(source).reader
    if options.ref_field and not reader.ref_fields:
        able = [one for one in names() if find(one).ref_fields]
        raise OptionError(
            where=f"{source.name}, --ref-field {options.ref_field}",
            expected=f"a format that holds several references ({', '.join(able)})",
            found=reader.name,
        )
    kept: set[str] = set()
    for part in source.parts:
        with not_too_deep(part):
            held = 0
            for dialogue in reader.read(part, side, options):
                held += 1
                if source.whole or source.includes(dialogue.id):
                    kept.add(canonical_id(dialogue.id))
                    yield dialogue
            if not held and source.whole:
                raise ReadError(where=part.name, expected="at least one dialogue", found="none")
    source.check_split(kept)
