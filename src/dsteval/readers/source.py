"""One input, read once: a file, a folder, an archive, standard input, or Python objects."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from dsteval.dialogue import canonical_id
from dsteval.errors import ReadError, encodable, first_few, require
from dsteval.readers.file_sets import File, Gathered, gather, selected
from dsteval.readers.json_pairs import JsonChunk, decode, decode_pairs, explain_failure, plain
from dsteval.readers.schema import Schema, SchemaFile, schema_in
from dsteval.readers.watching import Heard, of_parts, one, watched

Top: TypeAlias = "dict[str, Any] | list[Any]"

_PIECE = 1 << 20
_BOM = b"\xef\xbb\xbf"
_SPACES = b" \t\r\n"

_TOP: dict[bytes, Callable[[bytes], Top]] = {
    b"{": msgspec.json.Decoder(dict[str, msgspec.Raw]).decode,
    b"[": msgspec.json.Decoder(list[msgspec.Raw]).decode,
}


class Source:
    """Bytes under a name, or Python objects in the form of decoded JSON.

    ``name`` is how messages call it. A folder or an archive is a source whose ``parts`` are its files of data;
    ``schema`` is the slot list that a schema.json beside them gives, ``skipped_files`` names files that are no
    data, ``broken`` the places that could not be read and were left out, ``announced`` is the number of dialogues
    of the tracker's run that writes it, ``cache`` holds what was found out about the source, so that it is not
    found out again.
    ``includes`` tells which dialogues belong to the split that was asked for; ``heard`` hears which share is read.
    """

    def __init__(self, name: str, file: File | None = None, top: Top | None = None) -> None:
        self.name = encodable(name)
        self._file = file or File(name)
        self._top = top
        self._parts: list[Source] | None = None
        self._schema = b""
        self._only: dict[str, str] | None = None  # canonical id -> as listed
        self._without: frozenset[str] = frozenset()
        self._record: Any = None
        self.skipped_files: list[str] = []
        self.broken: list[str] = []
        self.heard: Heard | None = None
        self.announced: int | None = None
        self.cache: dict[object, Any] = {}

    @classmethod
    def open(cls, path: str | Path) -> Source:
        """A file, the files of a folder or an archive, those a pattern with * matches, or ``-``, standard input.

        ``.gz`` and ``.zip`` are unpacked. ``FOLDER/test`` or ``data.zip/test`` takes one split of a data set, by
        its list files or its files' names. Raises ReadError for what does not exist, cannot be read or is empty.
        """
        return cls.gathered(gather(path))

    @classmethod
    def gathered(cls, gathered: Gathered) -> Source:
        """The source of files in memory. Raises ReadError where one is empty, or the split cannot be told."""
        chosen = selected(gathered)
        parts = [cls(file.name, file) for file in chosen.files]
        for part in parts:
            require(part.head.strip() or part.data.strip(), part.name, "", "the file is empty", ReadError)
        source = cls(gathered.name, chosen.files[0] if len(parts) == 1 else None)
        source._parts = parts if len(parts) > 1 else None
        source._schema = gathered.schema
        if chosen.only is not None:
            source._only = {canonical_id(name): name for name in chosen.only}
        source._without = frozenset(map(canonical_id, chosen.without))
        source.skipped_files, source.announced = chosen.skipped_files, chosen.announced
        return source

    @classmethod
    def of(cls, name: str, value: Mapping[str, Any] | list[Any]) -> Source:
        """Python objects: {dialogue: states}, or the lines of our JSONL."""
        if isinstance(value, list):
            return cls(name, top=value)
        # Dialogues and turns numbered by Python integers are the numbers that JSON writes as text.
        return cls(name, top={str(key) if isinstance(key, int) else key: inner for key, inner in value.items()})

    @cached_property
    def data(self) -> bytes:
        """The whole file."""
        return self._file.data.removeprefix(_BOM)

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return self._file.size

    @property
    def head(self) -> bytes:
        """How the file begins."""
        return self._file.head.removeprefix(_BOM)

    def lines(self) -> Iterator[bytes]:
        """The lines of the file, one after the other, so that it need not fit into memory."""
        lines = iter(watched(self._file.lines(), len, self.size if self.heard else 0, self.heard))
        yield next(lines, b"").removeprefix(_BOM).removesuffix(b"\n")
        for line in lines:
            yield line.removesuffix(b"\n")

    def watch(self, heard: Heard) -> None:
        """Let someone hear which share of the source is read, while it is."""
        for part, own in zip(self.parts, of_parts(heard, (part.size for part in self.parts)), strict=True):
            part.heard = own

    def part(self, start: int, end: int) -> Source:
        """Some of the lines, between two places in the file."""
        return Source(self.name, self._file.part(start, end))

    def includes(self, dialogue: str) -> bool:
        """Whether a dialogue belongs to the split that was asked for."""
        key = canonical_id(dialogue)
        return (self._only is None or key in self._only) and key not in self._without

    def check_split(self, kept: set[str]) -> None:
        """Raise ReadError where the split has no dialogue, or fewer than its list file names."""
        listed = self._only or {}
        lost = [name for key, name in listed.items() if key not in kept]
        expected = f"the {len(listed)} dialogues named in the list file" if lost else "at least one dialogue"
        found = f"{len(kept) or 'none'}" + (f", without {first_few(lost)}" if lost else "")
        require(kept and len(kept) >= len(listed), self.name, expected, found, ReadError)

    @property
    def whole(self) -> bool:
        """Whether every dialogue of the files belongs to what was asked for."""
        return self._only is None and not self._without

    @property
    def parts(self) -> list[Source]:
        """The files of a folder; of anything else, the source itself."""
        return [self] if self._parts is None else self._parts

    @cached_property
    def services(self) -> Schema:
        """What a schema.json beside the data lists; empty without one."""
        return schema_of(self._schema, "schema.json") if self._schema.strip() else Schema()

    @property
    def schema(self) -> list[str]:
        """The slots of that schema, as 'service-slot'."""
        return [slot for slots in self.services.values() for slot in slots]

    @cached_property
    def kind(self) -> str:
        """What the first part looks like: ``object``, ``list``, ``lines`` (of JSON) or ``text``."""
        first = self.parts[0]
        if first._top is not None:
            return "list" if isinstance(first._top, list) else "object"
        head = first.head.lstrip()
        if head[:1] != b"{":
            return "list" if head[:1] == b"[" else "text"
        # Lines have an object of its own in the first, and others after it, or, alone, a turn.
        lines = (head if b"\n" in head else first.data.lstrip()).split(b"\n", 2)
        rest = b"".join(lines[1:]).strip()
        for line in lines[:2]:  # the first may be broken
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                record = msgspec.json.decode(line)
                if isinstance(record, dict) and ("dialogue_id" in record or rest):
                    return "lines"
        return "object"

    @cached_property
    def top(self) -> Top:
        """The outermost object or list, its members not decoded yet. Raises ReadError for broken JSON."""
        if self._top is not None:
            return self._top
        try:
            if not self.data.isascii():  # a piece at a time, since files may be large
                pieces = (self.data[start : start + _PIECE] for start in range(0, len(self.data), _PIECE))
                deque(codecs.iterdecode(pieces, "utf-8"), maxlen=0)
            return _TOP[self.data.lstrip()[:1]](self.data)
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise explain_failure(self.data, self.name, error) from None

    def members(self, expected: str = "each dialogue once") -> Iterator[tuple[str, Any]]:
        """The members of the outermost object, not decoded yet.

        Raises ReadError where it is no object, is empty, or names one of them twice.
        """
        top = self.top
        if not isinstance(top, dict):
            raise ReadError(where=self.name, expected="a JSON object of dialogues", found="a list")
        require(top, self.name, "at least one dialogue", "none", ReadError)
        if self.data and not self._are_all(top):
            try:
                names = Counter(name for name, _ in decode_pairs(self.data).items())
            except (UnicodeDecodeError, ValueError) as error:
                raise explain_failure(self.data, self.name, error) from None
            if twice := [name for name, count in names.items() if count > 1]:
                extent = f"{len(twice)} of {len(names)}, {first_few(twice)}"
                raise ReadError(where=self.name, expected=expected, found=f"{twice[0]!r} twice", extent=extent)
        yield from watched(top.items(), one, len(top), self.heard)

    def dialogues(self) -> Iterator[tuple[str, JsonChunk]]:
        """The members of the outermost object, each decoded, as ``members`` has them."""
        for name, raw in self.members():
            yield name, decode(raw, f"{self.name}, dialogue {name!r}")

    def records(
        self, broken: Callable[[str, bytes, ReadError], None] | None = None
    ) -> Iterator[tuple[str, JsonChunk]]:
        """The members of the outermost list, or the JSON lines, each decoded, with its place for messages.

        Raises ReadError where there is none, or for a line that is not JSON, unless ``broken`` takes it.
        """
        if self.kind == "lines":
            for number, line in enumerate(self.lines(), start=1):
                if not line.strip():
                    continue
                try:
                    chunk = decode(line, f"{self.name}, line {number}")
                except ReadError as error:
                    if broken is None:
                        raise
                    broken(f"line {number}", line, error)
                else:
                    yield f"line {number}", chunk
            return
        top = self.top
        if not isinstance(top, list):
            raise ReadError(where=self.name, expected="a JSON list, or JSON lines", found="an object")
        require(top, self.name, "at least one turn", "an empty list", ReadError)
        for number, raw in enumerate(watched(top, one, len(top), self.heard), start=1):
            yield f"object {number}", decode(raw, f"{self.name}, object {number}")

    def _are_all(self, top: dict[str, Any]) -> bool:
        """Whether the bytes hold no more than these members, so that none was named twice and lost."""
        place = 1
        for name, raw in top.items():
            place = self._after_space(place)
            head = b'"%b":' % name.encode("utf-8", "surrogatepass")
            if not self.data.startswith(head, place):
                break
            place = self._after_space(place + len(head)) + memoryview(raw).nbytes + 1
        else:
            # As programs write them, each is where it should be.
            if self.data[place - 1 :].strip() == b"}":
                return True
        members = (f'"{name}":,'.encode("utf-8", "surrogatepass") + bytes(raw) for name, raw in top.items())
        size = sum(len(member.translate(None, _SPACES)) for member in members)
        return size + 1 == len(self.data.translate(None, _SPACES))  # two braces, and one comma less

    def _after_space(self, place: int) -> int:
        """The place itself, or the next where a blank or a line break stands there."""
        return place + (self.data[place : place + 1] in (b" ", b"\n"))

    @property
    def first_record(self) -> Any:
        """The record that a format is recognised by: the first that is not empty, or the one ``probe`` took."""
        if self._record is None:
            self._record = next(self._records(), None)
        return self._record

    def probe(self) -> Iterator[None]:
        """Take one record after the other as the one to recognise a format by, a hundred at most.

        Raises ReadError where one of them is not JSON.
        """
        self._record = None
        yield None
        for record in islice(self._records(), 1, 100):
            self._record = record
            yield None

    def _records(self) -> Iterator[Any]:
        if self.kind == "text":
            return
        if self.kind == "lines":
            records = self._sound()
        else:
            members = self.top.values() if isinstance(self.top, dict) else self.top
            records = (decode(member, self.name).value for member in members)
        yield from (plain(record) for record in islice(records, 1000) if record not in ({}, []))

    def _sound(self) -> Iterator[Any]:
        """The records of JSON lines, without those that are broken. Raises ReadError where all are."""
        errors: list[ReadError] = []
        record = None
        for _, chunk in self.records(lambda place, line, error: errors.append(error)):
            record = chunk
            yield chunk.value
        if record is None and errors:
            raise errors[0]

    def text_lines(self) -> list[str]:
        """The lines of a text file. Raises ReadError where it is not UTF-8."""
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            where = f"{self.name}, line {line}"
            raise ReadError(where=where, expected="UTF-8 text", found="other bytes") from None
        # Not splitlines: a form feed or a line separator inside an utterance ends no line of the file.
        return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")

    def cells(self, expected: str, delimiter: str = ",", above: int = 0) -> Iterator[tuple[str, list[str]]]:
        """The rows of a table below its first lines, each with its place. Raises ReadError for broken quoting."""
        text = "\n".join(self.text_lines()[above:])
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            for cells in watched(rows, one, text.count("\n") + 1, self.heard):
                yield f"line {rows.line_num + above}", cells
        except csv.Error as error:
            where = f"{self.name}, line {rows.line_num + above}"
            raise ReadError(where=where, expected=expected, found=str(error)) from None

    def sample(self) -> str:
        """The beginning of the source, for a message."""
        if self._top is not None:
            return f"{type(self._top).__name__} {str(self._top)[:60]}"
        text = self.parts[0].head[:80].decode("utf-8", "replace")
        return f"a file that starts with {' '.join(text.split())[:60]!r}"


def schema_of(value: bytes | SchemaFile, name: str = "") -> Schema:
    """A schema.json: its bytes, its path or its content. Raises ReadError for what is none."""
    if value is None:
        return Schema()
    if isinstance(value, str | PathLike):
        source = Source.open(str(value))
        value, name = source.data, source.name
    services: Any = decode(value, name).value if isinstance(value, bytes) else value
    return schema_in(services, name)
