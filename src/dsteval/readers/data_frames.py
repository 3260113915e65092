"""Lines of our JSONL out of a DataFrame or an Arrow table, whichever library made it; none is imported."""

from __future__ import annotations

from typing import Any

from dsteval.errors import ReadError
from dsteval.readers.json_pairs import decode

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
        if given is None or given != given:  # NaN, which is not equal to itself
            continue
        value = given
        if key in _SIDES and isinstance(value, str):
            value = decode(value.encode(), f"{where}, column {key!r}").value
        if key in _SIDES and not isinstance(value, dict):
            found = type(value).__name__
            raise ReadError(where=f"{where}, column {key!r}", expected="a dictionary or JSON text", found=found)
        record[key] = _without_nulls(value) if arrow and key in _SIDES else value
    return record


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
