"""Lines of our JSONL out of a DataFrame or an Arrow table, whichever library made it; none is imported."""

from __future__ import annotations

import math
from typing import Any

from dsteval.errors import ReadError
from dsteval.readers.json_pairs import decode

_MISSING = ("NAType", "NaTType")  # pandas'
_SIDES = ("ref", "pred", "state", "update")


def records_of(value: Any, name: str) -> list[dict[str, Any]] | None:
    """The rows of a pandas or polars DataFrame, or of a pyarrow table; None for anything else.

    A side is a dictionary, or JSON as text; a missing one is left out, so that it is not an empty state. Arrow
    gives every dictionary of a column the same keys: those without a value are left out. Raises ReadError for a
    text that is not JSON.
    """
    arrow = True
    if hasattr(value, "to_dicts"):  # polars
        rows = value.to_dicts()
    elif hasattr(value, "to_pylist") and hasattr(value, "column_names"):  # pyarrow
        rows = value.to_pylist()
    elif hasattr(value, "to_dict") and hasattr(value, "columns") and hasattr(value, "iloc"):  # pandas
        rows, arrow = value.to_dict("records"), False
    else:
        return None
    return [_record(row, f"{name}, row {number}", arrow) for number, row in enumerate(rows, start=1)]


def _record(row: dict[str, Any], where: str, arrow: bool) -> dict[str, Any]:
    record = {}
    for key, given in row.items():
        if given is None or type(given).__name__ in _MISSING or (isinstance(given, float) and math.isnan(given)):
            continue
        value = given
        if key in _SIDES and isinstance(value, str):
            value = decode(value.encode(), f"{where}, column {key!r}").value
        if key in _SIDES and not isinstance(value, dict):
            found = type(value).__name__
            raise ReadError(where=f"{where}, column {key!r}", expected="a dictionary or JSON text", found=found)
        if key in _SIDES:
            record[key] = _plain(value, arrow)
        else:
            record[key] = value
    return record


def _plain(value: Any, arrow: bool) -> Any:
    """A state of Python's own objects: arrays of values as lists, without the nulls that Arrow fills in."""
    if isinstance(value, dict):
        return {key: _plain(inner, arrow) for key, inner in value.items() if not (arrow and inner is None)}
    return value.tolist() if hasattr(value, "tolist") else value
