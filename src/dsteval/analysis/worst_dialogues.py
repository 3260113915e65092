"""The dialogues that a system does worst, to be looked at one by one."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from dsteval.errors import require
from dsteval.metrics import Metric, parse
from dsteval.outcomes.table import Outcomes
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input
from dsteval.pipeline.run import Settings
from dsteval.protocols.model import Protocol
from dsteval.results.result import SCHEMA


@dataclass(frozen=True)
class WorstDialogue:
    """One dialogue: its ``value``, its turns, those that are right, wrong slots, and the first wrong turn."""

    dialogue: str
    value: float
    turns: int
    right: int
    wrong_slots: int
    first_wrong: int | None


@dataclass(frozen=True)
class Worst:
    """The worst dialogues of one system, the worst first."""

    system: str
    protocol: str
    metric: str
    of: int
    dialogues: tuple[WorstDialogue, ...]

    def to_dict(self) -> dict[str, Any]:
        """The list as JSON has it."""
        return {"schema": SCHEMA, **asdict(self)}


def worst(
    ref: Input | None,
    pred: Input,
    count: int,
    *,
    metric: str | Metric = "FGA@0.5",
    protocol: str | Protocol = "exact",
    name: str | None = None,
    **options: Unpack[Settings],
) -> Worst:
    """The ``count`` dialogues with the lowest value of a metric; of equals those with more wrong slots first.

    Dialogues in which the metric is undefined are left out. Raises OptionError for a count below 1, and as
    ``evaluate`` does.
    """
    require(count >= 1, "--worst", "at least 1", count)
    chosen = parse(metric)
    options["ci"] = None
    result = evaluate(ref, pred, metrics=[chosen], protocol=protocol, name=name, **options)
    outcomes = result.outcomes
    assert outcomes is not None, "a fresh result has its outcomes"
    values = result.per_dialogue(chosen).values()
    sign = -1 if chosen.lower_is_better else 1
    listed = [_dialogue(outcomes, number, value) for number, value in enumerate(values) if not math.isnan(value)]
    listed.sort(key=lambda one: (sign * one.value, -one.wrong_slots, one.dialogue))
    resolved = str(result.metrics[str(chosen)])
    return Worst(result.name, result.protocol, resolved, len(listed), tuple(listed[:count]))


def _dialogue(outcomes: Outcomes, number: int, value: float) -> WorstDialogue:
    turns = slice(*outcomes.offsets[number : number + 2])
    exact, wrong = outcomes.exact[turns].tolist(), int(outcomes.wrong[turns].sum())
    first = None if all(exact) else int(outcomes.turn[turns][exact.index(False)])
    return WorstDialogue(outcomes.dialogues[number], value, len(exact), sum(exact), wrong, first)
