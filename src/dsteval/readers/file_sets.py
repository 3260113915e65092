"""Files, folders and archives, down to bytes; which of them are data, and which belong to a split."""

import glob
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from dsteval.errors import ReadError, first_few, require

# Split -> how files of it may begin; and other names under which people ask for one.
_STARTS = {"test": ("test",), "dev": ("dev", "val"), "train": ("train",)}
_SPLITS = {**{split: split for split in _STARTS}, "val": "dev", "validation": "dev"}
# How MultiWOZ's list files begin -> the split whose dialogues they name.
_LISTS = {"testlistfile": "test", "vallistfile": "dev"}
# Beside the data of known data sets and tools: texts, programs, lists of values, and a scorer's own output.
_BESIDE = ("readme", "license", "ontology", "dialogues_and_metrics")
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile, RuntimeError, ValueError)
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_HEAD = 1 << 16
_MOST_BYTES = 8 << 30
"""How large a file may be once it is unpacked."""
_NO_DATA = (".md", ".rst", ".pdf", ".html", ".py", ".sh", ".yaml", ".yml", ".toml", ".log", ".png", ".svg")


class File:
    """An unpacked file: its content, or the ``place`` where that is read when it is asked for.

    ``path`` is where it lies in its folder or archive. A ``part`` of a file is some of its lines.
    """

    def __init__(self, path: str, data: bytes = b"", place: Path | None = None) -> None:
        self.path, self.place = path, place
        self._data = data
        self._span: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The path's last part."""
        return PurePosixPath(self.path).name

    @property
    def data(self) -> bytes:
        """The whole content."""
        if self._span is not None:
            return b"".join(self.lines())
        if self.place is None:
            return self._data
        with _readable(self.place):
            return self.place.read_bytes()

    @property
    def size(self) -> int:
        """How many bytes the content has."""
        if self._span is not None:
            return self._span[1] - self._span[0]
        if self.place is None:
            return len(self._data)
        with _readable(self.place):
            return self.place.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """How the content begins."""
        start = self._span[0] if self._span is not None else 0
        if self.place is None:
            return self._data[start : start + _HEAD]
        with _readable(self.place), self.place.open("rb") as file:
            file.seek(start)
            return file.read(_HEAD)

    def part(self, start: int, end: int) -> "File":
        """The lines between two places."""
        part = File(self.path, self._data, self.place)
        part._span = start, end
        return part

    def lines(self) -> Iterator[bytes]:
        """The lines of the content, one after the other, so that it need not fit into memory."""
        start, end = self._span or (0, -1)
        opened = io.BytesIO(self._data) if self.place is None else self.place.open("rb")
        with _readable(self.place or Path(self.path)), opened as file:
            file.seek(start)
            for line in file if start != end else ():
                yield line
                start += len(line)
                if start == end:
                    return


@dataclass
class Gathered:
    """What a path stands for: its files, the split asked for, the schema beside them, and what was passed over.

    ``announced`` is how many dialogues the tracker's run has that writes the file, if one does. Once the split is
    selected, ``only`` are the dialogues to keep (None: all), ``without`` those to leave.
    """

    name: str
    files: list[File]
    split: str = ""
    schema: bytes = b""
    lists: dict[str, list[str]] = field(default_factory=dict)
    skipped_files: list[str] = field(default_factory=list)
    only: list[str] | None = None
    without: list[str] = field(default_factory=list)
    announced: int | None = None


def gather(path: str | Path) -> Gathered:
    """The files behind a path, a pattern, or ``-``. Raises ReadError where there are none."""
    text = str(path)
    try:
        return replace(_gathered(text), announced=announced(text))
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte in it
        found = getattr(error, "strerror", None) or str(error)
        raise ReadError(where=text[:80], expected="a readable file or folder", found=found) from None


def _gathered(text: str) -> Gathered:
    require(text.strip(), "FILE", "the name of a file or folder", "an empty name", ReadError)
    if text == "-":
        require(sys.stdin is not None, "standard input", "data", "it closed", ReadError)
        return _sorted("standard input", _unpacked("standard input", sys.stdin.buffer.read()))
    place = Path(text)
    if place.exists():
        return _sorted(place.name, _files(place))
    if glob.has_magic(text):
        files = [file for name in sorted(glob.glob(text)) for file in _files(Path(name))]  # noqa: PTH207
        require(files, text, "", "no file matches this pattern", ReadError)
        return _sorted(text, files)
    split = _SPLITS.get(place.name.casefold())
    if split is not None and place.parent.exists() and place.parent != Path():
        return _sorted(f"{place.parent.name}/{place.name}", _files(place.parent), split)
    raise ReadError(where=text, found="no such file or folder")


@contextmanager
def _readable(place: Path) -> Iterator[None]:
    """Turn an OSError into a ReadError that names the place."""
    try:
        yield
    except OSError as error:
        found = error.strerror or str(error)
        raise ReadError(where=str(place), expected="a readable file or folder", found=found) from None


def _files(place: Path) -> Iterator[File]:
    with _readable(place):
        inside = [place]
        if place.is_dir():
            inside = sorted(p for p in place.iterdir() if p.is_file() and not p.name.startswith("."))
            require(inside, str(place), "a folder with files", "an empty one", ReadError)
        for path in inside:
            # A pipe, or what is packed, is read at once; a plain file when somebody wants to know what is in it.
            file = File(path.name, place=path)
            if path.is_file() and not file.head.startswith((_GZIP, _ZIP)):
                yield file
            else:
                yield from _unpacked(path.name, path.read_bytes())


def announced(text: str) -> int | None:
    """How many dialogues the run has that writes a file, if PATH.run.json beside it tells."""
    try:
        run = msgspec.json.decode(Path(f"{text}.run.json").read_bytes())
        number = run["data"]["dialogues"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, msgspec.DecodeError):
        return None
    return number if isinstance(number, int) else None


def _whole(path: str, packed: IO[bytes] | gzip.GzipFile) -> bytes:
    """What is packed. Raises ReadError where that is more than a file may be, or than fits into memory."""
    pieces, size = [], 0
    try:
        while piece := packed.read(1 << 24):
            pieces.append(piece)
            size += len(piece)
            require(size <= _MOST_BYTES, path, f"at most {_MOST_BYTES >> 30} GiB unpacked", "more", ReadError)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
    except MemoryError:
        size = sum(map(len, pieces)) >> 20
        pieces.clear()
        found = f"more than {size} MiB"
        raise ReadError(where=path, expected="data that fits into memory when unpacked", found=found) from None


def _unpacked(path: str, data: bytes) -> Iterator[File]:
    """A file as it is, a gzip file without its packing, or the files of a zip archive."""
    try:
        if data.startswith(_GZIP):
            yield from _unpacked(path.removesuffix(".gz"), _whole(path, gzip.GzipFile(fileobj=io.BytesIO(data))))
        elif data.startswith(_ZIP):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for entry in archive.namelist():
                    hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(entry).parts)
                    if not entry.endswith("/") and not hidden:
                        yield from _unpacked(entry, _whole(entry, archive.open(entry)))
        else:
            yield File(path, data)
    except _BROKEN as error:
        where, found = PurePosixPath(path).name, f"a broken one ({error})"
        remedy = "Download or copy it again."
        raise ReadError(where=where, expected="a whole gzip or zip file", found=found, remedy=remedy) from None


def _sorted(name: str, unsorted: Iterable[File], split: str = "") -> Gathered:
    """Data, schema and list files apart."""
    files = list(unsorted)
    gathered = Gathered(name, [], split)
    for file in files:
        low = file.name.casefold()
        listed = next((split for start, split in _LISTS.items() if low.startswith(start)), None)
        if listed is not None:
            lines = file.data.decode("utf-8", "replace").splitlines()
            gathered.lists[listed] = [*filter(None, map(str.strip, lines))]
        elif low == "schema.json" and len(files) > 1:
            gathered.schema = file.data
        elif len(files) == 1 or not (low.endswith(_NO_DATA) or low.startswith(_BESIDE)):
            gathered.files.append(file)
        else:
            gathered.skipped_files.append(file.path)
    found = first_few([file.name for file in files]) or "nothing"
    require(gathered.files, name, "a file of dialogues", found, ReadError)
    return gathered


def selected(gathered: Gathered) -> Gathered:
    """The files of data, cut down to the split that was asked for.

    MultiWOZ keeps all splits in data.json and names those of test and dev in list files; other data sets have a
    file or a folder a split. Raises ReadError where neither tells the split apart.
    """
    whole = [file for file in gathered.files if file.name.casefold() == "data.json"] if gathered.lists else []
    if whole:
        others = [file.path for file in gathered.files if file not in whole]
        gathered = replace(gathered, files=whole, skipped_files=[*gathered.skipped_files, *others])
    if not gathered.split:
        return gathered
    lists = gathered.lists if whole else {}
    if gathered.split in lists:
        return replace(gathered, only=lists[gathered.split])
    if gathered.split == "train" and len(lists) == len(_LISTS):
        return replace(gathered, without=[name for names in lists.values() for name in names])
    chosen = [
        file
        for file in gathered.files
        if any(part.casefold().startswith(_STARTS[gathered.split]) for part in PurePosixPath(file.path).parts)
    ]
    expected = f"a list file, a file or a folder for the split {gathered.split!r}"
    found = first_few([file.path for file in gathered.files])
    remedy = "MultiWOZ's list files are testListFile and valListFile; the split train needs both."
    require(chosen, gathered.name, expected, found, ReadError, remedy)
    return replace(gathered, files=chosen)
