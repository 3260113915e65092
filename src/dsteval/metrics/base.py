"""What every metric is: a frozen value with a text, a count per dialogue and a value of sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from dsteval.errors import MetricError, require, unknown
from dsteval.metrics.counting import Counts, in_order, per_dialogue, ratio
from dsteval.metrics.text import join
from dsteval.outcomes.table import Array, Outcomes


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric: the values it takes, the first of them its default.

    ``of_values`` are those under which the metric needs values, ``no_count`` those under which it is no ratio of
    two counts.
    """

    choices: tuple[str, ...]
    about: str
    of_values: tuple[str, ...] = ()
    no_count: tuple[str, ...] = ()


WRONG_UNIT = {
    "turn": "the protocol scores whole turns; this metric needs service frames, as in sgd",
    "frame": "the protocol scores service frames; this metric needs whole turns",
}
"""Why a metric of the other unit cannot be had, by the unit of the outcomes."""

TURNS = Parameter(("all", "last"), "every turn, or only the last of each dialogue")

AVERAGE = Parameter(
    ("turn", "dialogue"),
    "over all turns, or the mean over dialogues of each dialogue's own score",
    no_count=("dialogue",),
)


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric with the parameters that were given; it compares, hashes and pickles as a value.

    Its ``name`` is that of its class, without an underscore before it, unless the class says another.

    ``count(outcomes)`` gives additive columns per dialogue, at least ``columns`` of them and the units averaged
    first; ``value(sums)`` is the metric of summed columns (any leading axes). ``given`` holds the parameters that
    were typed, in the order of their names. ``n_slots`` is |S|, which is known only when everything is counted:
    a metric that ``uses_n_slots`` has a value after ``with_slots``.

    ``columns_since`` is the version of saved results from which on its columns are what they are.

    ``extra`` names what it wants counted per turn; ``needs`` are "values" and "ref" where it cannot do without;
    ``without_dialogues`` says why single instances do not have it, if they do not; ``unit`` tells whether it is
    one of turns, of service frames, or of either. ``undefined_reason`` says why a value is NaN;
    ``ratio_of_counts`` is False where it is no ratio of two counts; ``best`` is the best value there is, the lower
    one of ``bounds`` where lower is better; ``perfect`` is False where a perfect prediction does not score it;
    ``percent`` tells whether tables show a value in per cent.

    >>> from dsteval.metrics.jga import JGA
    >>> JGA(average="dialogue")
    JGA(average=dialogue)
    """

    given: tuple[tuple[str, str], ...] = field(default=())
    number: float | None = None
    n_slots: int | None = field(default=None, compare=False)

    name: ClassVar[str]
    about: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    number_about: ClassVar[str] = ""
    columns: ClassVar[int] = 2
    columns_since: ClassVar[int] = 1
    ratio_of_counts: ClassVar[bool] = True
    undefined_reason: ClassVar[str] = "there is no turn"
    needs: ClassVar[tuple[str, ...]] = ()
    without_dialogues: ClassVar[str] = ""
    unit: ClassVar[tuple[str, ...]] = ("turn",)
    extra: ClassVar[str] = ""
    uses_n_slots: ClassVar[bool] = False
    best: ClassVar[float] = 1.0
    perfect: ClassVar[bool] = True
    percent: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__name__.removeprefix("_"))

    def __call__(self, **parameters: str) -> Metric:
        """The same metric with parameters set. Raises MetricError for one that it does not take."""
        for key, value in parameters.items():
            if not self.parameters:
                raise MetricError(f"{self.name} takes no parameters, but was given {key}={value}")
            if key not in self.parameters:
                raise MetricError(unknown(f"parameter of {self.name}", key, list(self.parameters)))
            choices = self.parameters[key].choices
            if value not in choices:
                raise MetricError(unknown(f"value of {self.name}({key}=...)", str(value), choices))
        return replace(self, given=tuple(sorted({**dict(self.given), **parameters}.items())))

    def __matmul__(self, number: float) -> Metric:
        """The same metric with its number set: ``FGA @ 0.5``. Raises MetricError where it takes none."""
        if not self.number_about:
            raise MetricError(f"{self.name} takes no number, but was given @{number}")
        expected = f"a number of at least 0, or inf ({self.number_about})"
        require(number >= 0, f"{self.name}@{number}", expected, number, MetricError)
        return replace(self, number=float(number))

    def __str__(self) -> str:
        return join(self.name, self.given, self.number)

    __repr__ = __str__

    def checked(self) -> Metric:
        """The metric itself. Raises MetricError where its number is missing."""
        if self.number_about and self.number is None:
            where, problem = f"metric {str(self)!r}", f"needs a number ({self.number_about})"
            raise MetricError(problem, where=where, remedy=f"For example {self}@0.5.")
        return self

    def resolve(self, defaults: Mapping[str, str]) -> Metric:
        """The metric under a protocol: its own parameters where none was typed; typed ones unless defaults."""
        own = {key: value for key, value in defaults.items() if key in self.parameters}
        typed = {k: v for k, v in self.given if k in own or v != self.parameters[k].choices[0]}
        return replace(self, given=())(**own | typed)

    def get(self, parameter: str) -> str:
        """A parameter's value: as given, or its default."""
        return dict(self.given).get(parameter, self.parameters[parameter].choices[0])

    def _chosen(self, which: Literal["of_values", "no_count"]) -> bool:
        """Whether a parameter has one of its values that are told apart so."""
        return any(self.get(key) in getattr(parameter, which) for key, parameter in self.parameters.items())

    def with_slots(self, n_slots: int) -> Metric:
        """The metric over a list of so many slots, |S|; itself where it does not use them."""
        return replace(self, n_slots=n_slots) if self.uses_n_slots else self

    @property
    def lower_is_better(self) -> bool:
        """Whether the lower of two values is the better one."""
        return self.best == self.bounds[0]

    @property
    def scale(self) -> int:
        """What its values are shown times: 100 where that is per cent."""
        return 100 if self.percent else 1

    @property
    def count_text(self) -> str:
        """The text under which its counts are kept, and shared: all lambdas of FGA read one histogram."""
        return str(replace(self, number=None))

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Why the metric cannot be had from these outcomes, or None."""
        if self.without_dialogues and not outcomes.has_dialogues:
            return self.without_dialogues
        if outcomes.unit not in self.unit:
            return WRONG_UNIT[outcomes.unit]
        if ("values" in self.needs or self.extra or self._chosen("of_values")) and not outcomes.has_values:
            return "the file has right/wrong marks instead of values"
        if "ref" in self.needs and not outcomes.has_ref:
            return "the file has no reference; give one with --ref"
        return None

    def count(self, outcomes: Outcomes) -> Counts:
        """Additive columns per dialogue [D, columns]."""
        raise NotImplementedError

    def value(self, sums: Array) -> Array:
        """The metric of summed columns [..., columns]; NaN where it is undefined."""
        raise NotImplementedError

    def ratio(self, sums: Array) -> tuple[int | None, int]:
        """Count and total for the JSON: the ratio's two integers, or None and the units averaged."""
        return None, int(sums[..., 0])


class RatioMetric(Metric):
    """A metric that is one quotient: ``count`` gives the columns of the denominator and of the numerator.

    A numerator made of several columns is put together by ``terms``.
    """

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """Numerator and denominator of summed columns [..., columns]."""
        return sums[..., 1], sums[..., 0]

    def value(self, sums: Array) -> Array:
        """Numerator / denominator; NaN where that is 0."""
        return ratio(*self.terms(sums))

    def ratio(self, sums: Array) -> tuple[int | None, int]:
        """Count and total for the JSON: the ratio's two integers, or None and the units averaged."""
        numerator, denominator = self.terms(sums)
        counted = self.ratio_of_counts and not self._chosen("no_count")
        return (int(numerator) if counted else None), int(denominator)


class FlagMetric(RatioMetric):
    """The share of turns whose ``extra`` is 1."""

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, those with the flag."""
        return per_dialogue(outcomes, 1, outcomes.extra[self.extra][:, 0] == 1)


class FractionsMetric(RatioMetric):
    """A mean of fractions, kept in integers: turns, then the sums of numerators over 1, 2, 3, ..."""

    ratio_of_counts = False

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """The sum of the fractions, and turns."""
        return in_order(sums[..., 1:] / np.arange(1, sums.shape[-1])), sums[..., 0]


class AveragedMetric(RatioMetric):
    """A ratio over turns that can also be the mean of the dialogues' own ratios.

    Subclasses give ``turn_count`` and ``turn_terms``. With ``average=dialogue`` the columns are 1 and the
    dialogue's own ratio, a float.
    """

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """``count`` for the average over turns."""
        raise NotImplementedError

    def turn_terms(self, sums: Array) -> tuple[Array, Array]:
        """``terms`` for the average over turns."""
        return sums[..., 1], sums[..., 0]

    @property
    def count_text(self) -> str:
        """As for any metric; a dialogue's own score also depends on the number."""
        return str(self) if self.get("average") == "dialogue" else super().count_text

    def count(self, outcomes: Outcomes) -> Counts:
        """Additive columns per dialogue [D, columns]."""
        counts = self.turn_count(outcomes)
        if self.get("average") == "turn":
            return counts
        scores = ratio(*self.turn_terms(counts))
        defined = ~np.isnan(scores)
        return np.stack([defined, np.where(defined, scores, 0.0)], axis=1).astype(float)

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """Numerator and denominator of summed columns [..., columns]."""
        return self.turn_terms(sums) if self.get("average") == "turn" else (sums[..., 1], sums[..., 0])
