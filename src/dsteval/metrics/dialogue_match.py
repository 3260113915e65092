"""Dialogue match: the share of dialogues that are right from the first turn to the last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsteval.metrics.base import Array, Counts, Metric, per_dialogue, ratio
from dsteval.outcomes.table import Outcomes

__all__ = ["DialogueMatch"]


@dataclass(frozen=True, repr=False)
class _DialogueMatch(Metric):
    """Share of dialogues at all turns of which the predicted state equals the reference state.

    Formula: |{d : B_t = P_t for all t of d}| / dialogues. Unit: fraction, 0..1, higher is better. NaN without
    dialogues. In a slice only the turns that count are looked at, and dialogues without such a turn are left out.

    Differs from: ``JGA(turns=last)``, which forgives what was repaired before the end.

    >>> import dsteval
    >>> ref = {"a": [{}, {"hotel-area": "north"}], "b": [{}]}
    >>> pred = {"a": [{}, {"hotel-area": "south"}], "b": [{}]}
    >>> dsteval.evaluate(ref, pred, metrics=["DialogueMatch"])["DialogueMatch"].value
    0.5

    Reference: dsteval's own name for a figure that papers give as "dialogue-level" or "all turns right".
    """

    name = "DialogueMatch"
    about = "share of dialogues that are right at every turn"
    undefined_reason = "there is no dialogue"

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Single instances belong to no dialogue."""
        if not outcomes.has_dialogues:
            return "the data is single instances, no dialogues"
        return super().unavailable_reason(outcomes)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: 1 for a dialogue with a turn that counts, 1 where all of these are exact."""
        turns, right = per_dialogue(outcomes, outcomes.exact | True, outcomes.exact).T
        return np.stack([turns > 0, (turns > 0) & (right == turns)], axis=1).astype(np.int64)

    def value(self, sums: Array) -> Array:
        """Dialogues right throughout / dialogues."""
        return ratio(sums[..., 1], sums[..., 0])


DialogueMatch = _DialogueMatch()
