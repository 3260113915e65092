"""Scores, turns and errors as frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from dsteval.errors import OptionError
from dsteval.metrics import Metric, parse
from dsteval.metrics.fga import distances, turn_types, weights
from dsteval.outcomes.error_records import ErrorRecord
from dsteval.outcomes.table import Outcomes
from dsteval.results.columns import Columns

_TURN = ("dialogue", "turn", "right", "type", "weight", "wrong_slots")
_SCORE = ("value", "low", "high", "error", "count", "total", "signature", "why")


def score_frame(name: str, protocol: str, scores: Iterable[Any], slices: Iterable[Any]) -> Columns:
    """The frame that ``Result.to_frame`` describes."""
    parts = [(None, None, None, scores), *((one.by, one.key, one.convention, one.scores) for one in slices)]
    rows = [
        (name, protocol, score.metric, *part, *(getattr(score, field) for field in _SCORE))
        for *part, own in parts
        for score in own
    ]
    return Columns.of(["system", "protocol", "metric", "by", "key", "convention", *_SCORE], rows)


def kept_errors(errors: Sequence[ErrorRecord] | None, name: str) -> Sequence[ErrorRecord]:
    """The errors of a result. Raises OptionError where it has none, since they were not asked for."""
    if errors is None:
        found, remedy = "one without", "Evaluate with errors=True."
        raise OptionError(where=name, expected="a result with its errors", found=found, remedy=remedy)
    return errors


def error_frame(errors: Sequence[ErrorRecord] | None, name: str) -> Columns:
    """The frame that ``Result.error_frame`` describes."""
    columns = [one.name for one in fields(ErrorRecord)]
    return Columns.of(
        columns, ([getattr(error, column) for column in columns] for error in kept_errors(errors, name))
    )


def turn_frame(outcomes: Outcomes | None, name: str, metric: str | Metric = "FGA@0.5") -> Columns:
    """The frame that ``Result.turns`` describes. Raises OptionError where outcomes were not kept."""
    if outcomes is None:
        raise OptionError(
            where=name,
            expected="a result with its outcomes",
            found="only counts",
            remedy="Evaluate the predictions with outcomes=True; a saved result does not keep turns.",
        )
    fga = parse(metric) if isinstance(metric, str) else metric
    if fga.name != "FGA":
        raise OptionError(where="turns", expected="an FGA metric, whose weights are listed", found=str(fga))
    types: Sequence[str | None] = [None] * len(outcomes)
    given: Sequence[float | None] = [None] * len(outcomes)
    if not fga.unavailable_reason(outcomes):
        distance = distances(outcomes, fga.get("variant"))
        types, given = turn_types(distance), weights(distance, fga.number or 0.0).tolist()
    wrong: list[list[str]] = [[] for _ in range(len(outcomes))]
    for unit, slot in zip(outcomes.wrong_unit.tolist(), outcomes.wrong_slot.tolist(), strict=True):
        wrong[unit].append(outcomes.slots[slot])
    ids = [outcomes.dialogues[place] for place in outcomes.dialogue_of.tolist()]
    columns = (ids, outcomes.turn.tolist(), outcomes.exact.tolist(), types, given, wrong)
    return Columns(dict(zip(_TURN, map(list, columns), strict=True)))
