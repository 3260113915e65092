"""Frames of several systems as one file: CSV, JSON Lines, or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dsteval.errors import OptionError, encodable
from dsteval.results.columns import Columns

SUFFIXES = (".csv", ".jsonl", ".parquet")


def suffix_of(option: str, path: str) -> str:
    """The suffix that says what to write. Raises OptionError for another, or for Parquet without pyarrow."""
    suffix = Path(path).suffix.casefold()
    if suffix not in SUFFIXES:
        raise OptionError(
            where=f"{option} {path}", expected=f"a suffix of {', '.join(SUFFIXES)}", found=repr(suffix)
        )
    if suffix == ".parquet":
        _parquet(option, path)
    return suffix


def _parquet(option: str, path: str) -> tuple[Any, Any]:
    try:
        import pyarrow  # only Parquet asks for it
        import pyarrow.parquet
    except ImportError:
        raise OptionError(
            where=f"{option} {path}",
            expected="pyarrow, which writes Parquet",
            found="none",
            remedy="Or write .csv.",
        ) from None
    return pyarrow, pyarrow.parquet


def frame_bytes(frames: Mapping[str, Columns], option: str, path: str) -> bytes:
    """The frames of systems by their names, below each other, the system in the first column; in CSV a list is
    joined by blanks and semicolons.
    """
    rows = [{"system": system, **row} for system, frame in frames.items() for row in frame.rows()]
    columns = ["system", *next(iter(frames.values()))]
    suffix = suffix_of(option, path)
    if suffix == ".jsonl":
        return b"".join(msgspec.json.encode(_encodable(row)) + b"\n" for row in rows)
    if suffix == ".parquet":
        pyarrow, parquet = _parquet(option, path)
        out = io.BytesIO()
        parquet.write_table(pyarrow.table(dict(Columns.of(columns, (row.values() for row in rows)))), out)
        return out.getvalue()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    return {key: encodable(value) if isinstance(value, str) else value for key, value in row.items()}


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, list) else value
