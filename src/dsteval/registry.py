"""What other packages add: metrics, readers and protocols by entry points."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["installed"]


@cache
def installed(kind: str) -> dict[str, Any]:
    """Name -> entry point of the group ``dsteval.KIND`` (metrics, readers or protocols).

    Asked only for names that are not ours: looking through all installed packages takes a while.
    """
    from importlib.metadata import entry_points  # the import alone is a tenth of a short run

    return {point.name: point for point in entry_points(group=f"dsteval.{kind}")}
