"""One input, read once: a file, a folder, standard input, or Python objects."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from dsteval.errors import ReadError, first_few
from dsteval.readers.json_text import JsonChunk, decode, decode_pairs, explain_failure

__all__ = ["Source"]

Top: TypeAlias = "dict[str, Any] | list[Any]"

_TOP: dict[bytes, Callable[[bytes], Top]] = {
    b"{": msgspec.json.Decoder(dict[str, msgspec.Raw]).decode,
    b"[": msgspec.json.Decoder(list[msgspec.Raw]).decode,
}


class Source:
    """Bytes under a name, or Python objects in the form of decoded JSON.

    ``name`` is how messages call it. A folder is a source whose ``parts`` are its files.
    """

    def __init__(self, name: str, data: bytes = b"", top: Top | None = None, parts: list[Source] | None = None):
        self.name = name
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        self._top = top
        self._parts = parts

    @classmethod
    def open(cls, path: str | Path) -> Source:
        """A file, every visible file of a folder, or ``-`` for standard input.

        Raises ReadError for what does not exist, cannot be read or is empty.
        """
        if str(path) == "-":
            return cls("standard input", _filled("standard input", sys.stdin.buffer.read()))
        place = Path(path)
        try:
            if not place.is_dir():
                return cls(place.name, _filled(str(path), place.read_bytes()))
            files = sorted(p for p in place.iterdir() if p.is_file() and not p.name.startswith("."))
            if not files:
                raise ReadError(where=str(path), expected="a folder of files", found="no file in it")
            return cls(place.name, parts=[cls(p.name, _filled(str(p), p.read_bytes())) for p in files])
        except FileNotFoundError:
            found = "no such file or folder"
        except OSError as error:
            found = error.strerror or str(error)
        raise ReadError(where=str(path), expected="a file or a folder that can be read", found=found)

    @classmethod
    def of(cls, name: str, value: Mapping[str, Any] | list[Any]) -> Source:
        """Python objects: {dialogue: states}, or the lines of our JSONL."""
        return cls(name, top=value if isinstance(value, list) else dict(value))

    @property
    def parts(self) -> list[Source]:
        """The files of a folder; of anything else, the source itself."""
        return [self] if self._parts is None else self._parts

    @cached_property
    def kind(self) -> str:
        """What the first part looks like: ``object``, ``list``, ``lines`` (of JSON) or ``text``."""
        first = self.parts[0]
        if first._top is not None:
            return "list" if isinstance(first._top, list) else "object"
        head = first.data[:4096].lstrip()
        if head[:1] == b"[":
            return "list"
        if head[:1] != b"{":
            return "text"
        return "lines" if first._is_lines() else "object"

    def _is_lines(self) -> bool:
        """Whether each line is a JSON object of its own; of one line alone, whether it is a turn."""
        lines = [line for line in self.data.split(b"\n", 8)[:8] if line.strip()]
        try:
            first = msgspec.json.decode(lines[0])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        if len(lines) > 1:
            return lines[1].lstrip()[:1] == b"{"
        return isinstance(first, dict) and "dialogue_id" in first

    @cached_property
    def top(self) -> Top:
        """The outermost object or list, its members not decoded yet. Raises ReadError for broken JSON."""
        if self._top is not None:
            return self._top
        try:
            return _TOP[self.data.lstrip()[:1]](self.data)
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise explain_failure(self.data, self.name, error) from None

    def members(self, expected: str) -> Iterator[tuple[str, Any]]:
        """The members of the outermost object, not decoded yet.

        Raises ReadError where it is no object, is empty, or names one of them twice.
        """
        top = self.top
        if not isinstance(top, dict):
            raise ReadError(where=self.name, expected="a JSON object of dialogues", found="a list")
        if not top:
            raise ReadError(where=self.name, expected="at least one dialogue", found="none")
        if self.data and not self._are_all(top):
            self._check_names(expected)
        yield from top.items()

    def _are_all(self, top: dict[str, Any]) -> bool:
        """Whether the bytes are these members one after the other, so that none was named twice and lost."""
        data = self.data
        at = data.index(b"{") + 1
        for name, raw in top.items():
            for piece, between in ((f'"{name}"'.encode(), b","), (b":", b""), (bytes(raw), b"")):
                found = data.find(piece[:1], at)
                if data[at:found].strip(b" \t\r\n") not in (b"", between) or not data.startswith(piece, found):
                    return False
                at = found + len(piece)
        return data[at:].strip() == b"}"

    def _check_names(self, expected: str) -> None:
        pairs = decode_pairs(self.data)
        names = Counter(name for name, _ in pairs)
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            extent = f"{len(twice)} of {len(names)}, {first_few(twice)}"
            raise ReadError(where=self.name, expected=expected, found=f"{twice[0]!r} twice", extent=extent)

    def lines(self) -> Iterator[tuple[int, JsonChunk]]:
        """The JSON lines that are not blank, each with its line number."""
        for number, line in enumerate(self.data.split(b"\n"), start=1):
            if line.strip():
                yield number, decode(line, f"{self.name}, line {number}")

    def first_record(self) -> Any:
        """The first member of the JSON, decoded, as far as it can be; what a format is recognised by."""
        first = self.parts[0]
        try:
            if self.kind == "text":
                return None
            if self.kind == "lines":
                return next(first.lines())[1].value
            members = list(first.top.items() if isinstance(first.top, dict) else enumerate(first.top))
            for _, member in members[:100]:
                value = decode(member, first.name).value
                if value not in ({}, []):
                    return value
        except ReadError:
            return None
        return None

    def sample(self) -> str:
        """The beginning of the source, for a message."""
        if self._top is not None:
            return f"{type(self._top).__name__} {str(self._top)[:60]}"
        text = self.parts[0].data[:80].decode("utf-8", "replace")
        return f"a file that starts with {' '.join(text.split())[:60]!r}"


def _filled(name: str, data: bytes) -> bytes:
    if not data.strip():
        raise ReadError(where=name, expected="data", found="an empty file")
    return data
