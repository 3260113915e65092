"""What precision, recall and F1 have in common: a ratio over the slots of one side, or of both taken together."""

from typing import ClassVar

import numpy as np

from dsteval.metrics.base import Parameter, RatioMetric
from dsteval.metrics.counting import Counts, per_dialogue
from dsteval.outcomes.table import Array, Outcomes

CREDIT = Parameter(
    ("whole", "partial"),
    "whether a partial match counts as wrong, or with its match score",
    no_count=("partial",),
)


class SidesMetric(RatioMetric):
    """Right slots over the slots of ``sides``, "ref" and "pred"; of both, the right ones count twice.

    With ``credit=partial`` the match scores of slots that are partly right are added to those that are right.
    """

    sides: ClassVar[tuple[str, ...]]
    parameters = {"credit": CREDIT}
    needs = ("values",)
    unit = ("turn", "frame")

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: slots of the sides, right slots for each side."""
        right: Array = outcomes.right
        if self.get("credit") == "partial":
            right = right + np.bincount(outcomes.wrong_unit, outcomes.wrong_score, minlength=len(outcomes))
        return per_dialogue(outcomes, _on(self.sides, outcomes), len(self.sides) * right)


class NoneMetric(RatioMetric):
    """Slots of S that are absent on both sides over those absent on ``sides``; of both, the former count twice."""

    sides: ClassVar[tuple[str, ...]]
    columns = 3
    columns_since = 2
    uses_n_slots = True
    needs = ("values",)
    bounds = (-float("inf"), float("inf"))

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns, for each side: turns, slots that are there, slots that are there on either side."""
        mentioned = outcomes.right + outcomes.wrong
        return per_dialogue(outcomes, len(self.sides), _on(self.sides, outcomes), len(self.sides) * mentioned)

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """What |S| at every turn leaves of either column."""
        assert self.n_slots is not None, "|S| comes by with_slots"
        slots = sums[..., 0] * self.n_slots
        return slots - sums[..., 2], slots - sums[..., 1]


def _on(sides: tuple[str, ...], outcomes: Outcomes) -> Array:
    return np.asarray(np.sum([outcomes.units[side] for side in sides], axis=0))
