"""Fetching public data sets on request: each file once, verified, into a cache that belongs to the user.

A file is downloaded as NAME.partial beside its place and takes its name when it is complete and right, so that
what has its name can be read. Nothing is requested that is there, and nothing unless a data set is named.
"""

import glob
import hashlib
import os
import re
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import msgspec

from dsteval.data import catalogue as catalog
from dsteval.data import limits
from dsteval.data.catalogue import Catalogue, DataFile, Dataset
from dsteval.errors import FetchError, OptionError, require
from dsteval.files import lock, replacing

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes of it that have come, and its size where that is known."""

BASE = "https://raw.githubusercontent.com"
TRIES = 4
PAUSE = 0.5  # seconds before the second try; longer before each later one
TIMEOUT = 30.0  # seconds without a byte

_CHUNK = 1 << 16
_LISTS = {"testlistfile": "testListFile.txt", "vallistfile": "valListFile.txt"}


def cache_folder() -> Path:
    """Where data sets are kept: $DSTEVAL_CACHE, $XDG_CACHE_HOME/dsteval, or the system's place for caches."""
    try:
        return _cache_folder()
    except RuntimeError as error:  # no such user, or one without a home
        remedy = "Set DSTEVAL_CACHE to a folder."
        raise OptionError(where="DSTEVAL_CACHE", expected="a folder", found=str(error), remedy=remedy) from None


def _cache_folder() -> Path:
    if chosen := os.environ.get("DSTEVAL_CACHE"):
        return Path(chosen).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():  # the convention asks for a relative one to be ignored
        return Path(shared) / "dsteval"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dsteval" / "Cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "dsteval"


def resolve(text: str, *, progress: Progress | None = None, catalogue: Catalogue | None = None) -> Path | None:
    """The path to open for ``NAME/SPLIT`` or ``NAME``, fetched if it is not cached.

    None where the text names no data set; what lies on disk under that name always wins. Raises OptionError for
    a split that the data set does not have, or where it has to be named, and FetchError as ``fetch`` does.
    """
    name, _, split = text.partition("/")
    # os.path, since Path.exists raises where a name is longer than a file's can be.
    if any(map(os.path.exists, (text, name))) or "/" in split or glob.has_magic(text):
        return None
    catalogue = catalog.load() if catalogue is None else catalogue
    dataset = catalogue.get(name.casefold())
    if dataset is None:
        return None
    chosen = dataset.split(split) if split else None
    opened = dataset.whole if chosen is None else dataset.splits[chosen]
    if opened is None:
        names = " or ".join(f"{dataset.name}/{split}" for split in dataset.splits)
        raise OptionError(where=text, problem="needs a split", remedy=f"Write {names}.")
    return fetch(name, chosen, progress=progress, catalogue=catalogue) / opened


def fetch(
    name: str, split: str | None = None, *, progress: Progress | None = None, catalogue: Catalogue | None = None
) -> Path:
    """Fetch what is not yet cached of a data set, or of one of its splits; returns the data set's folder.

    Raises OptionError for a name or a split that does not exist, and FetchError where a file cannot be reached,
    breaks off, cannot be written, or is not the one that the catalogue means.
    """
    catalogue = catalog.load() if catalogue is None else catalogue
    dataset = catalog.find(name, catalogue)
    folder = _folder(dataset)
    for file in dataset.needed(None if split is None else dataset.split(split)):
        place = folder / file.to
        if place.is_file():
            _check_copy(dataset, file, place)
            continue
        with _alone(dataset, folder):
            # Another process may have brought it while this one waited.
            if not place.is_file():
                with _writing(dataset, place.parent):
                    place.parent.mkdir(parents=True, exist_ok=True)
                _Download(dataset, file, place, progress).run()
    if dataset.lists_of:
        _borrow_lists(dataset, folder, progress, catalogue)
    return folder


def missing(dataset: Dataset) -> list[DataFile]:
    """The files of a data set that are not cached."""
    return [file for file in dataset.single if not (_folder(dataset) / file.to).exists()]


def unverified(dataset: Dataset, split: str | None = None) -> list[DataFile]:
    """The files of a data set, or of one of its splits, for which no checksum is known."""
    return [file for file in dataset.needed(split) if not file.blob]


def blob_id(path: Path) -> str:
    """The git blob id of a file, what ``git hash-object`` prints."""
    head = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as content:
        return hashlib.file_digest(content, head.copy).hexdigest()


def _folder(dataset: Dataset) -> Path:
    # With the commit, so that a later catalogue does not take the files of an earlier one for its own.
    return cache_folder() / dataset.name / dataset.commit[:12]


def _check_copy(dataset: Dataset, file: DataFile, place: Path) -> None:
    """Refuse a cached file, or one put there by hand, that is not the file of the catalogue."""
    with suppress(OSError):  # of what cannot be read its reader tells
        remedy = "Delete it to download it again, or give the path of your own file."
        blob, where = file.blob and blob_id(place), f"{dataset.name}, {place}"
        require(blob == file.blob, where, f"the git blob {file.blob}", blob, FetchError, remedy)


@contextmanager
def _writing(dataset: Dataset, place: Path) -> Iterator[None]:
    """Raise FetchError where the file system refuses."""
    try:
        yield
    except OSError as error:
        where, found = f"{dataset.name}, {place}", error.strerror or str(error)
        remedy = "Set DSTEVAL_CACHE to another folder."
        raise FetchError(where=where, expected="a writable place", found=found, remedy=remedy) from None


@contextmanager
def _alone(dataset: Dataset, folder: Path) -> Iterator[None]:
    """Let one process at a time download a data set: two that write one partial file would spoil it."""
    with _writing(dataset, folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("ab")
    with file:
        lock(file, wait=True)
        yield


def _borrow_lists(dataset: Dataset, folder: Path, progress: Progress | None, catalogue: Catalogue) -> None:
    """Put the list files of the data set that has them beside a data set that has none."""
    if all((folder / name).exists() for name in _LISTS.values()):
        return
    other = catalog.find(dataset.lists_of, catalogue)
    archive = fetch(other.name, progress=progress, catalogue=catalogue) / other.single[0].to
    try:
        with _writing(dataset, folder), zipfile.ZipFile(archive) as opened:
            for entry in opened.namelist():
                if name := _LISTS.get(PurePosixPath(entry).stem.casefold()):
                    with replacing(folder / name) as file:
                        file.write(opened.read(entry))
    except zipfile.BadZipFile as error:
        raise FetchError(where=str(archive), expected="a zip archive with list files", found=str(error)) from None


@dataclass
class _Download:
    """One file on its way to its place."""

    dataset: Dataset
    file: DataFile
    place: Path
    progress: Progress | None

    def __post_init__(self) -> None:
        from urllib.parse import quote  # urllib takes a while to load, and most runs fetch nothing

        base = os.environ.get("DSTEVAL_DATA_URL") or BASE
        is_web = base.startswith(("http://", "https://"))
        require(is_web, "DSTEVAL_DATA_URL", "an http or https address", repr(base))
        folder = f"{base.rstrip('/')}/{self.dataset.repository}/{self.dataset.commit}"
        self.url = f"{folder}/{quote(self.file.path)}"
        self.partial = self.place.with_name(f"{self.place.name}.partial")
        self.by_hand = f"set DSTEVAL_DATA_URL to a mirror, or put a copy of the file at {self.place}"

    def run(self) -> None:
        """Download, verify, and give the file its name."""
        self._download()
        with _writing(self.dataset, self.place):
            expected, found = self._verdict()
            if not expected:
                self.partial.replace(self.place)
                return
            self.partial.unlink()
        where, found = f"{self.dataset.name}, {self.url}", f"{found}, which was deleted"
        remedy = f"The server or a proxy sent another file: try again, {self.by_hand}."
        raise FetchError(where=where, expected=expected, found=found, remedy=remedy)

    def _verdict(self) -> tuple[str, str]:
        """What was expected and what was found; empty where the file is right.

        Without a checksum JSON must be whole and hold dialogues or a schema: half a file or an error does not.
        """
        if self.file.blob:
            if (blob := blob_id(self.partial)) != self.file.blob:
                return f"the git blob {self.file.blob}", blob
        elif self.place.suffix == ".json":
            try:
                content = msgspec.json.decode(self.partial.read_bytes())
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                return "JSON", f"invalid JSON ({error})"
            # SGD's form, as all files without a checksum have it.
            members = content if isinstance(content, list) else []
            known = ({"dialogue_id", "service_name"} & set(one) for one in members if isinstance(one, dict))
            if not members or sum(map(bool, known)) < len(members):
                return "a list of dialogues or services", f"other JSON, {str(content)[:60]!r}"
        return "", ""

    @property
    def _come(self) -> int:
        """Bytes that are here."""
        return self.partial.stat().st_size if self.partial.exists() else 0

    def _download(self) -> None:
        """Try until the file is complete; what has come is kept and gone on from."""
        import socket
        import ssl
        from http.client import HTTPException
        from urllib.error import HTTPError

        trouble = FetchError()
        for number in range(TRIES):
            time.sleep(PAUSE * number)
            try:
                return self._attempt()
            except HTTPError as error:
                error.close()
                advice = "Try again later" if error.code >= 500 else "Check the address"
                expected, found = f"a file at {self.url}", f"HTTP {error.code} {error.reason}".rstrip()
                remedy = f"{advice}, {self.by_hand}."
                trouble = FetchError(where=self.dataset.name, expected=expected, found=found, remedy=remedy)
                hopeless = error.code < 500 and error.code not in (408, 429)
            except (ValueError, UnicodeError) as error:
                found, remedy = f"{self.url} ({error})", "Check DSTEVAL_DATA_URL."
                raise FetchError(
                    where=self.dataset.name,
                    expected="a valid address",
                    found=found,
                    remedy=remedy,
                ) from None
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", error)
                trouble = self._broken(reason)
                # No such host, or a certificate that is not trusted: that stays so.
                hopeless = isinstance(reason, socket.gaierror | ssl.SSLCertVerificationError)
            if hopeless:
                break
        raise trouble

    def _broken(self, reason: object) -> FetchError:
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        problem = f"{self.url} cannot be reached ({said})"
        remedy = "Check the connection"
        if self._come:
            problem = f"the download of {self.url} was interrupted ({said})"
            remedy = f"{self._come} bytes are kept: run the command again to resume"
        return FetchError(problem, where=self.dataset.name, remedy=f"{remedy}, {self.by_hand}.")

    def _attempt(self) -> None:
        """One request. Raises OSError where the connection breaks, HTTPError where the server refuses."""
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        with _writing(self.dataset, self.partial), suppress(FileNotFoundError):
            state = self.partial.lstat()
            if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
                self.partial.unlink()  # not of our making: what it leads to is not to be written
        come = self._come
        headers = {"User-Agent": "dsteval"} | ({"Range": f"bytes={come}-"} if come else {})
        try:
            request = Request(self.url, headers=headers)
            with limits.answer(lambda: urlopen(request, timeout=TIMEOUT)) as response:
                start, size = 0, response.length
                if response.status == 206:
                    start, size = _extent(response.headers)
                if start not in (0, come):
                    self.partial.unlink()
                    raise ConnectionError(f"the server resumed at byte {start} instead of {come}")
                self._write(response, start, size)
        except HTTPError as error:
            if error.code != 416 or not come:
                raise
            error.close()
            # There is nothing after what has come: it is all of it, or not this file's beginning.
            if _extent(error.headers)[1] != come:
                self.partial.unlink()
                self._attempt()

    def _check_limits(self, size: int, come: int, seconds: float) -> None:
        """Raise FetchError for a server that sends without end, or hardly anything in so many seconds."""
        if found := limits.beyond(size, come, seconds):
            self.partial.unlink(missing_ok=True)
            where, remedy = f"{self.dataset.name}, {self.url}", f"Try again later, {self.by_hand}."
            raise FetchError(where=where, expected=limits.expected(), found=found, remedy=remedy)

    def _write(self, response: Any, done: int, size: int | None) -> None:
        """Write what comes behind the bytes that are there."""
        self._check_limits(size or 0, 0, 0.0)
        with _writing(self.dataset, self.partial):
            # Without a buffer, so that a full disk shows where it is told apart.
            out = self.partial.open("ab" if done else "wb", buffering=0)
        start, begun = done, time.monotonic()
        with out:
            while chunk := response.read1(_CHUNK):
                done += len(chunk)
                self._check_limits(done, done - start, time.monotonic() - begun)
                with _writing(self.dataset, self.partial):
                    while chunk:
                        chunk = chunk[out.write(chunk) :]
                if self.progress is not None:
                    self.progress(self.file.to, done, size)
        if size is not None and done != size:
            if done > size:
                self.partial.unlink()
            raise ConnectionError(f"{done} of {size} bytes received")


def _extent(headers: Any) -> tuple[int, int | None]:
    """Where bytes begin in their file, or -1, and the file's size, as ``Content-Range: bytes 5-9/10`` tells."""
    text = headers.get("Content-Range", "")
    start = re.match(r"bytes (\d+)-", text)
    size = text.rpartition("/")[2]
    return int(start[1]) if start else -1, int(size) if size.isdecimal() else None
