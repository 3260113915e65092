"""Results as columns, for pandas, polars, pyarrow and whatever else takes a dictionary of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from dsteval.results import html

_SHOWN = 20


class Columns(dict[str, list[Any]]):
    """Columns by name, lists of equal length: ``pandas.DataFrame(frame)``, ``polars.DataFrame(frame)`` and
    ``pyarrow.table(frame)`` take it as it is, and dsteval needs none of them.

    >>> frame = Columns.of(["slot", "errors"], [("hotel-area", 2), ("taxi-leaveat", 1)])
    >>> frame
    Columns(2 rows: slot, errors)
    >>> frame["errors"], next(frame.rows())
    ([2, 1], {'slot': 'hotel-area', 'errors': 2})
    """

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Columns:
        """The frame of rows, each with a value for every column."""
        names, listed = list(columns), list(map(tuple, rows))
        return cls({name: [row[place] for row in listed] for place, name in enumerate(names)})

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dictionary."""
        for values in zip(*self.values(), strict=True):
            yield dict(zip(self, values, strict=True))

    def __repr__(self) -> str:
        names = ", ".join(self)
        return f"Columns({self.n_rows} rows: {names if len(names) <= 200 else names[:197] + '...'})"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        rows = [list(map(html.cell, row.values())) for row in islice(self.rows(), _SHOWN)]
        more = self.n_rows - len(rows)
        return html.table(list(self), rows, notes=[f"{more} more rows"] if more else [])
