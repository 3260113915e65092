"""What every metric is: a frozen value with a text, a count per dialogue and a value of sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from dsteval.errors import MetricError, unknown
from dsteval.metrics.text import join
from dsteval.outcomes.table import Outcomes

__all__ = [
    "AVERAGE",
    "CREDIT",
    "TURNS",
    "WRONG_UNIT",
    "Array",
    "AveragedMetric",
    "Counts",
    "Metric",
    "Parameter",
    "absent_slots",
    "at_turns",
    "earned",
    "mean_of_fractions",
    "per_denominator",
    "per_dialogue",
    "ratio",
    "sum_of_fractions",
    "total",
]

Array: TypeAlias = npt.NDArray[Any]
Counts: TypeAlias = npt.NDArray[Any]
"""Additive columns [dialogues, columns]: integers wherever possible. Columns that one part of the data lacks
are zeros at the right end."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric: the values it takes, the first of them its default."""

    choices: tuple[str, ...]
    about: str


CREDIT = Parameter(
    ("whole", "partial"), "a slot is right or not, or counts its match score where the rule gives one in between"
)

WRONG_UNIT = {
    "turn": "the unit is the whole turn; only protocols that count service frames, such as sgd, have it",
    "frame": "the unit is the service frame, and it needs whole turns",
}
"""Why a metric of the other unit cannot be had, by the unit of the outcomes."""

TURNS = Parameter(("all", "last"), "every turn, or the last of each dialogue only")

AVERAGE = Parameter(
    ("turn", "dialogue"),
    "over all turns, or the mean over dialogues of each dialogue's own score",
)


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric with the parameters that were given; it compares, hashes and pickles as a value.

    ``count(outcomes)`` gives additive columns per dialogue, ``value(sums)`` the metric of summed columns (any
    leading axes). ``given`` holds the parameters that were typed, in the order of their names. ``extra`` names
    what it wants counted per turn; ``unit`` tells whether it is one of turns, of service frames, or of either;
    ``best`` is the best value there is, the lower one of ``bounds`` where lower is better; ``perfect`` is False
    where a perfect prediction does not score it. ``percent`` tells whether tables show a value in per cent.

    >>> from dsteval.metrics.jga import JGA
    >>> JGA(average="dialogue")
    JGA(average=dialogue)
    """

    given: tuple[tuple[str, str], ...] = field(default=())
    number: float | None = None

    name: ClassVar[str]
    about: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    number_about: ClassVar[str] = ""
    ratio_of_counts: ClassVar[bool] = True
    undefined_reason: ClassVar[str] = "there is no turn"
    needs: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[tuple[str, ...]] = ("turn",)
    extra: ClassVar[str] = ""
    best: ClassVar[float] = 1.0
    perfect: ClassVar[bool] = True
    percent: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __call__(self, **parameters: str) -> Metric:
        """The same metric with parameters set. Raises MetricError for one that it does not take."""
        for key, value in parameters.items():
            if key not in self.parameters:
                known = list(self.parameters)
                raise MetricError(
                    unknown(f"parameter of {self.name}", key, known)
                    if known
                    else f"{self.name} takes no parameters, found {key}={value}"
                )
            if value not in self.parameters[key].choices:
                choices = list(self.parameters[key].choices)
                raise MetricError(unknown(f"value of {self.name}({key}=...)", str(value), choices))
        return replace(self, given=tuple(sorted({**dict(self.given), **parameters}.items())))

    def __matmul__(self, number: float) -> Metric:
        """The same metric with its number set: ``FGA @ 0.5``. Raises MetricError where it takes none."""
        if not self.number_about:
            raise MetricError(f"{self.name} takes no number, found @{number}")
        if math.isnan(number) or number < 0:
            raise MetricError(
                where=f"{self.name}@{number}",
                expected=f"{self.number_about}, 0 or more (inf included)",
                found=str(number),
            )
        return replace(self, number=float(number))

    def __str__(self) -> str:
        return join(self.name, self.given, self.number)

    __repr__ = __str__

    def checked(self) -> Metric:
        """The metric itself. Raises MetricError where its number is missing."""
        if self.number_about and self.number is None:
            raise MetricError(
                where=f"metric {str(self)!r}",
                expected=f"a number, {self.number_about}",
                found="none",
                remedy=f"Write {self}@0.5.",
            )
        return self

    def resolve(self, defaults: Mapping[str, str]) -> Metric:
        """The metric under a protocol: its own parameters where none was typed."""
        own = {key: value for key, value in defaults.items() if key in self.parameters}
        return self(**{**own, **dict(self.given)})

    def get(self, parameter: str) -> str:
        """A parameter's value: as given, or its default."""
        return dict(self.given).get(parameter, self.parameters[parameter].choices[0])

    @property
    def lower_is_better(self) -> bool:
        """Whether the lower of two values is the better one."""
        return self.best == self.bounds[0]

    @property
    def scale(self) -> int:
        """What its values are shown times: 100 where that is per cent."""
        return 100 if self.percent else 1

    @property
    def count_key(self) -> tuple[object, ...]:
        """Metrics with one key share their counts: all lambdas of FGA read one histogram."""
        return (self.name, self.given)

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Why the metric cannot be had from these outcomes, or None."""
        if outcomes.unit not in self.unit:
            return WRONG_UNIT[outcomes.unit]
        if ("values" in self.needs or self.extra) and not outcomes.has_values:
            return "the file holds right/wrong marks and no values"
        if "ref" in self.needs and not outcomes.has_ref:
            return "the file holds no reference; give one with --ref"
        return None

    def count(self, outcomes: Outcomes) -> Counts:
        """Additive columns per dialogue [D, columns]."""
        raise NotImplementedError

    def value(self, sums: Array) -> Array:
        """The metric of summed columns [..., columns]; NaN where it is undefined."""
        raise NotImplementedError

    def ratio(self, sums: Array) -> tuple[int | None, int]:
        """Count and total for the JSON: the ratio's two integers, or None and the units averaged."""
        return (int(sums[..., 1]) if self.ratio_of_counts else None), int(sums[..., 0])


def total(counts: Counts) -> Array:
    """The sum over dialogues; floats are added without rounding on the way, so that order does not matter."""
    if counts.dtype.kind == "f":
        return np.array([math.fsum(column) for column in counts.T])
    summed: Array = counts.sum(axis=0, dtype=np.int64)
    return summed


def ratio(numerator: Array, denominator: Array) -> Array:
    """A quotient, NaN where the denominator is 0."""
    denominator = np.asarray(denominator, dtype=float)
    out = np.full(np.broadcast_shapes(np.shape(numerator), denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def per_dialogue(outcomes: Outcomes, *columns: Array) -> Counts:
    """Sums of columns [U] over the turns of each dialogue that count: [D, len(columns)], integers if all are."""
    chosen = outcomes.counted
    if any(column.dtype.kind == "f" for column in columns):
        dialogue, size = outcomes.dialogue_of, len(outcomes.dialogues)
        added = [np.bincount(dialogue, weights=column * chosen, minlength=size) for column in columns]
        return np.stack(added, axis=1)
    starts = outcomes.offsets
    sums = np.zeros((len(starts) - 1, len(columns)), dtype=np.int64)
    for number, column in enumerate(columns):
        running = np.concatenate([[0], np.cumsum(column * chosen, dtype=np.int64)])
        sums[:, number] = running[starts[1:]] - running[starts[:-1]]
    return sums


def per_denominator(outcomes: Outcomes, numerator: Array, denominator: Array) -> Counts:
    """Sums of numerators apart by denominator, for a mean of fractions kept in integers.

    Columns: turns with a denominator above 0, then the sum of numerators over 1, 2, 3, ...
    """
    chosen = (outcomes.counted != 0) & (denominator > 0)
    width = int(denominator.max(initial=0)) + 1
    cell = outcomes.dialogue_of[chosen] * width + denominator[chosen]
    size = len(outcomes.dialogues) * width
    sums = np.bincount(cell, weights=numerator[chosen], minlength=size).astype(np.int64).reshape(-1, width)
    sums[:, 0] = np.bincount(cell // width, minlength=len(outcomes.dialogues))
    return sums


def sum_of_fractions(numerators: Array) -> Array:
    """The sum of fractions, from numerators by denominator 1, 2, 3, ... [..., columns]."""
    total: Array = (numerators / np.arange(1, numerators.shape[-1] + 1)).sum(axis=-1)
    return total


def mean_of_fractions(sums: Array) -> Array:
    """The mean of fractions from columns of ``per_denominator``."""
    return ratio(sum_of_fractions(sums[..., 1:]), sums[..., 0])


def absent_slots(outcomes: Outcomes) -> tuple[Array, Array, Array]:
    """Slots of S that are absent on both sides, in ref, and in pred, each [U]."""
    mentioned = outcomes.right + outcomes.wrong
    size = np.int64(outcomes.n_slots)
    return size - mentioned, size - outcomes.ref, size - outcomes.pred


def earned(outcomes: Outcomes, credit: str) -> Array:
    """Right slots of a turn [U]; with ``credit=partial`` also the match scores of slots that are partly right."""
    if credit == "whole":
        return outcomes.right
    partial = np.bincount(outcomes.wrong_unit, weights=outcomes.wrong_score, minlength=len(outcomes))
    total: Array = outcomes.right + partial
    return total


def at_turns(outcomes: Outcomes, turns: str) -> Outcomes:
    """The outcomes with ``turns=last`` counted at the last turn of each dialogue only."""
    if turns == "all":
        return outcomes
    last = np.zeros(len(outcomes), dtype=bool)
    last[outcomes.offsets[1:][np.diff(outcomes.offsets) > 0] - 1] = True
    return outcomes.with_scope(outcomes.n_slots, last & (outcomes.counted != 0))


@dataclass(frozen=True, repr=False)
class AveragedMetric(Metric):
    """A metric over turns that can also be the mean of the dialogues' own scores.

    Subclasses give ``turn_count`` and ``turn_value``. With ``average=dialogue`` the columns are 1 and the
    dialogue's own score, a float.
    """

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """``count`` for the average over turns."""
        raise NotImplementedError

    def turn_value(self, sums: Array) -> Array:
        """``value`` for the average over turns."""
        raise NotImplementedError

    @property
    def count_key(self) -> tuple[object, ...]:
        """As for any metric; a dialogue's own score also depends on the number."""
        return (self.name, self.given, self.number if self.get("average") == "dialogue" else None)

    def count(self, outcomes: Outcomes) -> Counts:
        """Additive columns per dialogue [D, columns]."""
        counts = self.turn_count(outcomes)
        if self.get("average") == "turn":
            return counts
        own = self.turn_value(counts)
        defined = ~np.isnan(own)
        return np.stack([defined, np.where(defined, own, 0.0)], axis=1).astype(float)

    def value(self, sums: Array) -> Array:
        """The metric of summed columns [..., columns]; NaN where it is undefined."""
        if self.get("average") == "turn":
            return self.turn_value(sums)
        return ratio(sums[..., 1], sums[..., 0])

    def ratio(self, sums: Array) -> tuple[int | None, int]:
        """Count and total; with ``average=dialogue`` None and the number of dialogues."""
        if self.get("average") == "turn":
            return super().ratio(sums)
        return None, int(sums[..., 0])
