"""Dialogue match: the share of dialogues that are right from the first turn to the last."""

import numpy as np

from dsteval.metrics.base import RatioMetric
from dsteval.metrics.counting import Counts, per_dialogue
from dsteval.outcomes.table import Outcomes


class _DialogueMatch(RatioMetric):
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

    about = "share of dialogues that are right at every turn"
    undefined_reason = "there is no dialogue"
    without_dialogues = "the data has single instances instead of dialogues"

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: 1 for a dialogue with a turn that counts, 1 where all of these are exact."""
        turns, right = per_dialogue(outcomes, 1, outcomes.exact).T
        return np.stack([turns > 0, (turns > 0) & (right == turns)], axis=1).astype(np.int64)


DialogueMatch = _DialogueMatch()
