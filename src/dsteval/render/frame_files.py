"""Frames of several systems in one file: CSV, JSON Lines, or Parquet."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dsteval.errors import OptionError, encodable
from dsteval.render.table import Table, to_csv
from dsteval.results.columns import Columns

_SUFFIXES = (".csv", ".jsonl", ".parquet")


def suffix_of(option: str, path: str) -> str:
    """The suffix that says what to write. Raises OptionError for another, or for Parquet without pyarrow."""
    where, suffix = f"{option} {path}", Path(path).suffix.casefold()
    if suffix not in _SUFFIXES:
        raise OptionError(where=where, expected=f"a suffix of {', '.join(_SUFFIXES)}", found=repr(suffix))
    if suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401 - only Parquet asks for it
        except ImportError:
            expected, remedy = "pyarrow, which writes Parquet", "Install it: pip install pyarrow. Or write .csv."
            raise OptionError(where=where, expected=expected, found="none", remedy=remedy) from None
    return suffix


def stacked(frames: Mapping[str, Columns]) -> Columns:
    """The frames of systems below each other, the system in the first column."""
    columns = ["system", *next(iter(frames.values()))]
    return Columns.of(
        columns, ((name, *row) for name, frame in frames.items() for row in zip(*frame.values(), strict=True))
    )


def frame_bytes(frame: Columns, suffix: str) -> bytes:
    """A frame as the content of a file; in CSV lists are joined by semicolons."""
    if suffix == ".jsonl":
        return b"".join(msgspec.json.encode(_encodable(row)) + b"\n" for row in frame.rows())
    if suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        out = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(frame), out)
        return out.getvalue()
    rows = [list(map(_cell, row)) for row in zip(*frame.values(), strict=True)]
    return to_csv(Table(list(frame), rows)).encode("utf-8", "backslashreplace")


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    return {key: encodable(value) if isinstance(value, str) else value for key, value in row.items()}


def _cell(value: Any) -> Any:
    return "; ".join(value) if isinstance(value, list) else value
