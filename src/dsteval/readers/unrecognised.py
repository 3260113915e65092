"""Why a file is none of the formats: what it is instead, or which format it is nearest to and what it lacks."""

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from dsteval.errors import ReadError, first_few
from dsteval.readers.base import Reader
from dsteval.readers.json_format import JsonFormat
from dsteval.readers.source import Source

_OURS = ("dialogue_id", "turn_id", "ref|pred|state|update|frames")
_SAID = frozenset({"dialogue_id", "dialogue_idx", "dial_id", "id", "turn", "turn_id", "turn_idx", "turns", "log"})
_SAID |= {"speaker", "user", "system", "text", "utterance", "response", "role", "content", "messages", "goal"}
_METRIC = re.compile("jga|joint|goal|acc|f1|precision|recall|score|bleu|loss|rate", re.IGNORECASE)
_DEEP = 4


def unrecognised(source: Source, readers: Collection[Reader]) -> ReadError:
    """The error for a source that no reader takes."""
    part = source.parts[0]
    text = part.head[:4096].lstrip()
    if text.startswith(b"version https://git-lfs"):
        return ReadError(
            where=part.name,
            expected="dialogues",
            found="a Git LFS pointer instead of the file",
            remedy="Fetch the file itself with git lfs pull.",
        )
    if text[:15].lower().startswith((b"<!doctype html", b"<html")):
        remedy = "Download the file itself; a web page may have been saved instead."
        return ReadError(where=part.name, expected="dialogues", found="a web page (HTML)", remedy=remedy)
    if part.kind in ("object", "list", "lines"):
        record: Any = part.first_record
        numbers = _numbers(part.top if part.kind == "object" else record)
        if any(map(_METRIC.search, numbers)):
            found = f"scores ({first_few(numbers)})"
            remedy = "Give the predictions that were scored."
            return ReadError(where=part.name, expected="dialogues with states", found=found, remedy=remedy)
        fields = _fields(record)
        if fields and fields <= _SAID:
            found = f"dialogues without states (fields {', '.join(sorted(fields))})"
            return ReadError(where=part.name, expected="dialogues with states", found=found)
        if near := _nearest(part, readers):
            remedy = "Rename the fields, or see dsteval list readers for what each format looks like."
            return ReadError(where=source.name, expected="a known format", found=near, remedy=remedy)
    return ReadError(
        where=source.name,
        expected=f"one of the formats {', '.join(reader.name for reader in readers)}",
        found=source.sample(),
        remedy="See dsteval list readers for what each looks like, and choose one with --format.",
    )


def _numbers(value: Any, deep: int = 0) -> list[str]:
    """The names of an object of numbers, or of objects of numbers; nothing where it holds anything else."""
    if not isinstance(value, dict) or not value or deep > 2:
        return []
    plain = {key: _plain(member) for key, member in value.items()}
    if all(isinstance(member, int | float) and not isinstance(member, bool) for member in plain.values()):
        return [f"{key} {member}" for key, member in plain.items()]
    names = [_numbers(member, deep + 1) for member in plain.values()]
    return names[0] if all(names) else []


def _plain(member: Any) -> Any:
    if isinstance(member, msgspec.Raw):
        try:
            return msgspec.json.decode(member)
        except (msgspec.DecodeError, RecursionError):
            return None
    return member


def _fields(value: Any, deep: int = 0) -> set[str]:
    """The names of all fields inside a record, those of lists and objects in it too."""
    if isinstance(value, dict):
        return set(map(str, value)).union(
            *(_fields(member, deep + 1) for member in value.values() if deep < _DEEP)
        )
    if isinstance(value, list) and value and deep < _DEEP:
        return _fields(value[0], deep + 1)
    return set()


def _nearest(part: Source, readers: Iterable[Reader]) -> str:
    """The format that has most of its fields here, and the fields that have another name or are not there."""
    best: tuple[int, str] = (1, "")
    for name, needed, keys in _candidates(part, readers):
        exact = [field for field in needed if any(one in keys for one in field.split("|"))]
        free = sorted(keys - {one for field in exact for one in field.split("|")})
        told, renamed = [], 0
        for field in needed:
            if field not in exact:
                close = get_close_matches(field.partition("|")[0], free, 1, 0.6)
                renamed += bool(close)
                told.append(f"{close[0]} for {field}" if close else f"without {field.replace('|', ' or ')}")
        if exact and told and 2 * len(exact) + renamed > best[0] and len(exact) + renamed > len(told) - renamed:
            best = (2 * len(exact) + renamed, f"something like {name}, but {', '.join(told)}")
    return best[1]


def _candidates(part: Source, readers: Iterable[Reader]) -> Iterator[tuple[str, tuple[str, ...], set[str]]]:
    """Formats with the fields that a turn of theirs has, and the fields that are here."""
    record = part.first_record
    if part.kind in ("lines", "list") and isinstance(record, dict):
        yield "dsteval-jsonl", _OURS, set(record)
    for reader in readers:
        if isinstance(reader, JsonFormat) and part.kind == reader.kind:
            for turn in reader.sample(record)[:1]:
                if isinstance(turn, dict):
                    place = (reader.id, reader.number) if reader.kind == "list" else ()
                    needed = tuple(dict.fromkeys(filter(None, (*place, *(reader.marks or reader.fields_needed)))))
                    yield reader.name, needed, set(turn)
