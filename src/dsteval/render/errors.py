"""Every error of some systems as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from dsteval.outcomes.error_records import ErrorRecord
from dsteval.render.table import Table
from dsteval.results.result import Result

__all__ = ["errors_table"]


def errors_table(results: Sequence[Result]) -> Table:
    """One row an error, the system first; what is not known, or not there, is empty in CSV."""
    columns = ["system", *(field.name for field in fields(ErrorRecord))]
    rows = [[result.name, *error.to_dict().values()] for result in results for error in result.errors or ()]
    return Table(columns, rows)
