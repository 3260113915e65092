"""Errors counted by slot, kind and relation, with an example each: what a tracker gets wrong most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dsteval.outcomes.error_records import ErrorRecord
from dsteval.results.frames import kept_errors
from dsteval.results.result import SCHEMA, Result


@dataclass(frozen=True)
class ErrorGroup:
    """The errors of one slot that are of one kind and have one relation to the dialogue.

    ``errors`` began, ``turns`` is the sum of their lifetimes, ``repaired`` of them were put right. ``ref`` and
    ``pred`` are the values of most of them, ``dialogue`` and ``turn`` where the first such error began.
    """

    slot: str
    kind: str | None
    relation: str | None
    errors: int
    turns: int
    repaired: int
    dialogue: str
    turn: int
    ref: str | None
    pred: str | None


@dataclass(frozen=True)
class ErrorOverview:
    """The error groups of one system, those that stand at most turns first."""

    system: str
    protocol: str
    errors: int
    turns: int
    groups: tuple[ErrorGroup, ...]


def error_overview(result: Result) -> ErrorOverview:
    """The errors of a result by slot, kind and relation.

    Raises OptionError for a result that was made without ``errors=True``.

    >>> from dsteval import evaluate
    >>> ref = {"d": [{"hotel-area": "north"}] * 3}
    >>> result = evaluate(ref, {"d": [{}, {}, {"hotel-area": "north"}]}, errors=True)
    >>> group = error_overview(result).groups[0]
    >>> group.slot, group.kind, group.errors, group.turns, group.repaired
    ('hotel-area', 'missed', 1, 2, 1)
    """
    listed = kept_errors(result.errors, result.name)
    by_group: dict[tuple[str, str | None, str | None], list[ErrorRecord]] = {}
    for error in listed:
        by_group.setdefault((error.slot, error.kind, error.relation), []).append(error)
    groups = sorted(map(_group, by_group.values()), key=lambda group: (-group.turns, -group.errors, group.slot))
    turns = sum(group.turns for group in groups)
    return ErrorOverview(result.name, result.protocol, len(listed), turns, tuple(groups))


def _group(errors: Sequence[ErrorRecord]) -> ErrorGroup:
    values = Counter((error.ref, error.pred) for error in errors).most_common(1)[0][0]
    first = next(error for error in errors if (error.ref, error.pred) == values)
    repaired = sum(error.end == "repaired" for error in errors)
    lived = sum(error.lifetime for error in errors)
    return ErrorGroup(
        *(first.slot, first.kind, first.relation, len(errors), lived, repaired),
        *(first.dialogue, first.origin, *values),
    )


def document(overviews: Sequence[ErrorOverview]) -> dict[str, Any]:
    """The JSON document of several systems."""
    return {"schema": SCHEMA, "systems": [asdict(one) for one in overviews]}
