"""Scores, turns and errors as frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dsteval.errors import OptionError
from dsteval.metrics import Metric, parse
from dsteval.metrics.fga import INFINITE, TYPE1, decay, distances
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


def error_frame(errors: Sequence[ErrorRecord] | None, name: str) -> Columns:
    """The frame that ``Result.error_frame`` describes."""
    if errors is None:
        found, remedy = "one without", "Evaluate with errors=True."
        raise OptionError(where=name, expected="a result with its errors", found=found, remedy=remedy)
    columns = [one.name for one in fields(ErrorRecord)]
    return Columns.of(columns, ([getattr(error, column) for column in columns] for error in errors))


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
    weights: Sequence[float | None] = [None] * len(outcomes)
    if not fga.unavailable_reason(outcomes):
        number = fga.number or 0.0
        distance = distances(outcomes, fga.get("variant"))
        types = np.where(distance == 0, "exact", np.where(distance == TYPE1, "type 1", "type 2")).tolist()
        inherited = np.where(distance == INFINITE, float(number > 0), decay(np.maximum(distance, 1), number))
        weights = np.where(distance == 0, 1.0, np.where(distance == TYPE1, 0.0, inherited)).tolist()
    wrong: list[list[str]] = [[] for _ in range(len(outcomes))]
    for unit, slot in zip(outcomes.wrong_unit.tolist(), outcomes.wrong_slot.tolist(), strict=True):
        wrong[unit].append(outcomes.slots[slot])
    ids = [outcomes.dialogues[place] for place in outcomes.dialogue_of.tolist()]
    columns = (ids, outcomes.turn.tolist(), outcomes.exact.tolist(), types, weights, wrong)
    return Columns(dict(zip(_TURN, map(list, columns), strict=True)))
