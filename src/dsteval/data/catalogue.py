"""The catalogue of public data sets: where the files of each lie, how they are verified, what a split means."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

import msgspec

from dsteval.errors import OptionError, unknown

_HEX = re.compile(r"[0-9a-f]{40}")
_NUMBER = "###"
_ALIASES = {"val": "dev", "validation": "dev", "valid": "dev"}


class DataFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One file, or a numbered row of them.

    ``path`` in the repository; a row has ``###`` in it, which runs from 001 to ``last``. ``to`` is its place in
    the data set's folder (default: the path without the data set's ``root``). ``blob`` is its git blob id, what
    ``git hash-object`` prints; empty where none is known, so that the file cannot be verified.
    """

    path: str
    to: str = ""
    blob: str = ""
    last: int = 0

    def __post_init__(self) -> None:
        for name in (self.path, self.to):
            if name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"expected a path inside the data set, found {name!r}")
        if self.blob and not _HEX.fullmatch(self.blob):
            raise ValueError(f"expected a git blob id of 40 hexadecimal digits, found {self.blob!r}")
        if (_NUMBER in self.path) != (self.last > 0) or (self.last and self.blob):
            raise ValueError(f"expected '{_NUMBER}' together with 'last', without 'blob', found {self.path!r}")


class Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One data set: ``files`` of a ``repository`` (OWNER/NAME on GitHub) at a ``commit``.

    ``root`` is the part of the files' paths that the cache leaves out. ``splits`` maps each split to what a
    reader opens in the data set's folder: a folder, a file, or an archive and the split of its list files,
    ``X.zip/test``. ``lists_of`` names the data set whose list files tell the splits of this one, which has none.
    """

    name: str
    title: str
    licence: str
    repository: str
    commit: str
    files: tuple[DataFile, ...]
    splits: dict[str, str]
    root: str = ""
    lists_of: str = ""

    def __post_init__(self) -> None:
        if not _HEX.fullmatch(self.commit):
            raise ValueError(f"expected a commit of 40 hexadecimal digits, found {self.commit!r}")

    @property
    def single(self) -> list[DataFile]:
        """Every file, rows written out, each with its place in the data set's folder."""
        return [
            DataFile(path=path, to=file.to or path.removeprefix(f"{self.root}/"), blob=file.blob)
            for file in self.files
            for path in (file.path.replace(_NUMBER, f"{n:03}") for n in range(1, max(file.last, 1) + 1))
        ]

    def needed(self, split: str | None) -> list[DataFile]:
        """The files of a split; every file for None, and where the splits share all files."""
        if split is None:
            return self.single
        opened = f"{self.splits[split]}/"
        files = [file for file in self.single if opened.startswith(f"{file.to}/") or file.to.startswith(opened)]
        return files or self.single

    def split(self, name: str) -> str:
        """The split of that name; ``val`` is ``dev``. Raises OptionError where there is none."""
        folded = name.casefold()
        folded = folded if folded in self.splits else _ALIASES.get(folded, folded)
        if folded not in self.splits:
            raise OptionError(unknown(f"split of {self.name}", name, list(self.splits)))
        return folded

    @property
    def whole(self) -> str | None:
        """What a reader opens for all splits at once; None where each split has files of its own."""
        if self.lists_of:
            return "."
        return self.single[0].to if len(self.single) == 1 else None


Catalogue: TypeAlias = Mapping[str, Dataset]
"""Data sets by name."""


@cache
def load() -> Catalogue:
    """The data sets that dsteval knows."""
    return parse(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8"), "catalogue.toml")


def parse(text: str, where: str) -> Catalogue:
    """The data sets of a TOML text. Raises OptionError for what is none, unknown keys included."""
    try:
        tables = tomllib.loads(text)
        return {name: msgspec.convert({**table, "name": name}, Dataset) for name, table in tables.items()}
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, TypeError) as error:
        expected = "TOML" if isinstance(error, tomllib.TOMLDecodeError) else "one table per data set"
        raise OptionError(where=where, expected=expected, found=str(error)) from None


def find(name: str, catalogue: Catalogue) -> Dataset:
    """The data set of that name. Raises OptionError where there is none."""
    dataset = catalogue.get(name.casefold())
    if dataset is None:
        raise OptionError(unknown("data set", name, list(catalogue), "dsteval list datasets"))
    return dataset
