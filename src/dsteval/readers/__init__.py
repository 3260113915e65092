"""Readers, one file each: from a tool's own format to dialogues, nothing interpreted.

The registry walks this folder; others add readers by entry points of the group ``dsteval.readers``.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import NamedTuple

from dsteval.dialogue import Dialogue, Side, canonical_id
from dsteval.errors import OptionError, ReadError, first_few, foreign, require, unknown
from dsteval.readers import formats
from dsteval.readers.base import Options, Reader, Sign, Sureness
from dsteval.readers.encoded import Encoded
from dsteval.readers.source import Source
from dsteval.readers.unrecognised import unrecognised
from dsteval.registry import Registry, instances, is_ours

__all__ = [
    "Detected",
    "Encoded",
    "Options",
    "Reader",
    "Sign",
    "Source",
    "Sureness",
    "detect",
    "encoded",
    "find",
    "names",
    "read",
]


READERS: Registry[Reader] = Registry(
    "readers", lambda: {reader.name: reader for reader in instances(formats, Reader)}
)


@cache
def _installed() -> dict[str, Reader]:
    loaded = []
    for name in READERS.installed:
        with suppress(Exception):  # a package that is broken must not keep others from being read
            loaded.append(READERS.get(name))
    return {reader.name: reader for reader in loaded if isinstance(reader, Reader)}


def names() -> list[str]:
    """The names of all available readers."""
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
        expected, found = "states of slots and values", "objects or lists that are nested too deeply"
        raise ReadError(where=source.name, expected=expected, found=found) from None


class Detected(NamedTuple):
    """What a source was recognised as: the reader, and the sign that told."""

    reader: Reader
    sign: str


def detect(source: Source) -> Detected:
    """The reader that fits a source, all its files alike.

    Raises ReadError where none fits, where two do (the user is asked), or where the files of a folder differ.
    """
    detected: Detected = source.cache.get("detected") or source.cache.setdefault("detected", _detect(source))
    return detected


def _detect(source: Source) -> Detected:
    with not_too_deep(source):
        fits_of_parts = [(part.name, _fits(part)) for part in source.parts]
    fitting = {detected.reader.name: detected for _, fits in fits_of_parts for detected in fits}
    if not fitting:
        part = source.parts[0]
        if part.kind in ("object", "list") and part.first_record is None:
            found = f"{len(part.top)} dialogues without turns" if part.top else "none"
            raise ReadError(where=part.name, expected="at least one turn", found=found)
        raise unrecognised(source, list(map(find, names())))
    chosen = next(iter(fitting.values()))
    found = " and ".join(f"{name} ({detected.sign})" for name, detected in fitting.items())
    remedy = f"Choose one with --format (--ref-format for a reference), for example {chosen.reader.name}."
    require(len(fitting) == 1, source.name, "exactly one matching format", found, ReadError, remedy)
    others = [name for name, fits in fits_of_parts if not fits]
    if others:
        raise ReadError(
            where=source.name,
            expected=f"all files in the format {chosen.reader.name}",
            found=f"{others[0]!r}, which has another format",
            extent=f"{len(others)} of {len(fits_of_parts)} files, {first_few(others)}",
            remedy="Repair or move them, or name the files with a pattern such as 'FOLDER/*.json'.",
        )
    return chosen


def _fits(part: Source) -> list[Detected]:
    """What a file is recognised as. Two of our own formats that fit are two, however sure each is; an installed
    reader is asked where none of ours is sure, and wins if it is.
    """
    # An odd or empty first record proves nothing: others are looked at before giving up.
    for _ in part.probe():
        fits = [(reader, sign) for reader in READERS.bundled.values() if (sign := reader.sniff(part)) is not None]
        if all(sign.sureness == Sureness.GENERIC for _, sign in fits):
            others = list(_asked(part))
            fits = [fit for fit in others if fit[1].sureness > Sureness.GENERIC] or fits or others
        if fits:
            return [Detected(reader, sign.text) for reader, sign in fits]
    return []


def _asked(part: Source) -> Iterator[tuple[Reader, Sign]]:
    """The installed readers that recognise a file. One that breaks does not: ours are read with it or without."""
    for reader in _installed().values():
        sign = None
        with suppress(Exception):
            sign = reader.sniff(part)
        if isinstance(sign, Sign):
            yield reader, sign


def _foreign_dialogues(reader: Reader, part: Source, side: Side, options: Options) -> Iterator[Dialogue]:
    """What a reader of another package reads. Raises DstevalError where it breaks, or gives anything else."""
    with foreign(f"reader {reader.name!r}"):
        dialogues = iter(reader.read(part, side, options))
    while True:
        with foreign(f"reader {reader.name!r}"):
            dialogue: object = next(dialogues, None)
        if dialogue is None:
            return
        if not isinstance(dialogue, Dialogue):
            found = type(dialogue).__name__
            raise ReadError(where=f"{part.name}, reader {reader.name!r}", expected="dialogues", found=found)
        yield dialogue


def encoded(
    source: Source, format: str | None = None, options: Options | None = None
) -> Iterator[Encoded | Dialogue]:
    """The same as ``read`` of predictions, in blocks of numbers where the format has them and all is wanted."""
    options = options or Options()
    reader = find(format) if format is not None else detect(source).reader
    if not source.whole or options != Options() or not hasattr(reader, "encoded"):
        yield from read(source, "pred", format, options)
        return
    for part in source.parts:
        found = False
        for block in reader.encoded(part, options):
            found |= not isinstance(block, Encoded) or len(block) > 0
            yield block
        require(found, part.name, "at least one dialogue", "none", ReadError)


def read(
    source: Source, side: Side, format: str | None = None, options: Options | None = None
) -> Iterator[Dialogue]:
    """The dialogues of a source; ``side`` says where a file with one side goes, ``format`` forces a format."""
    options = options or Options()
    reader = find(format) if format is not None else detect(source).reader
    if options.ref_field and not reader.ref_fields:
        where = f"{source.name}, --ref-field {options.ref_field}"
        able = ", ".join(name for name in names() if find(name).ref_fields)
        raise OptionError(
            where=where, expected=f"a format that holds several references ({able})", found=reader.name
        )
    if options.keep_going and not reader.keeps_going:
        able = ", ".join(name for name in names() if find(name).keeps_going)
        where = f"{source.name}, --keep-going"
        raise OptionError(where=where, expected=f"a format whose lines stand alone ({able})", found=reader.name)
    read_ids: set[str] = set()
    for part in source.parts:
        with not_too_deep(part):
            dialogue = None
            read_part = reader.read if is_ours(reader) else partial(_foreign_dialogues, reader)
            found = read_part(part, side, options)
            for dialogue in found:
                if source.includes(dialogue.id):
                    read_ids.add(canonical_id(dialogue.id))
                    yield dialogue
            require(dialogue or not source.whole, part.name, "at least one dialogue", "none", ReadError)
    source.check_split(read_ids)
