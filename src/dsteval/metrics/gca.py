"""Granular change accuracy: how well the changes of each turn are predicted."""

import numpy as np

from dsteval.metrics.base import Metric, Parameter
from dsteval.metrics.counting import Counts, per_dialogue
from dsteval.outcomes.table import Array, Outcomes

_WEIGHTS = np.array([10 / 11, 10 / 11, 1 - 10 / 11, 1 - 10 / 11])
NONE = Parameter(("absent", "value"), "whether none means that the slot is absent, or is a value")


class _GCA(Metric):
    """Weighted harmonic mean of four ratios over changes that are correct C, wrong W, over-predicted O, missed M.

    Formula: a slot once seen and gone counts as "none". For each slot that changed in the reference: not
    predicted is M (C if it became none), equal C, became none O, else W. For each slot that changed in the
    prediction: not in the reference O (C if none), equal and not yet C is C, none M, different and not yet W is
    W. Over the corpus P = C/(C+W+O), R = C/(C+W+M), p = (C+W)/(C+W+O), r = (C+W)/(C+W+M), and the harmonic mean
    of the four weighted by their denominators times 10/11 (P, R) and 1/11 (p, r); 0 where one of them is 0.
    Unit: fraction, 0..1, higher is better. NaN where nothing changes on either side.

    ``none=value`` takes a slot whose value is written "none" for a label like others, as the script does (the
    default under protocol gca, where no other metric does so).

    Differs from: a slot that both sides delete at one turn counts as C and as M. This is a slip of the script
    that its published figures contain, kept here.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["GCA"])["GCA"].value, 4)
    0.6

    Reference: Aksu and Chen, "Granular Change Accuracy", LREC-COLING 2024; its script src/gca.py.
    """

    about = "harmonic mean of four ratios over the changes of each turn: correct, wrong, over-predicted, missed"
    columns = 5
    undefined_reason = "nothing changes on either side"
    without_dialogues = "the data has single instances: without dialogues nothing changes"
    parameters = {"none": NONE}

    @property
    def extra(self) -> str:  # type: ignore[override]
        """What is counted per turn."""
        return "gca" if self.get("none") == "absent" else "gca-none"

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: changes counted, then correct, wrong, over-predicted and missed ones."""
        kinds = outcomes.extra[self.extra].astype(np.int64)
        return per_dialogue(outcomes, kinds.sum(axis=1), *kinds.T)

    def value(self, sums: Array) -> Array:
        """The weighted harmonic mean of the four ratios."""
        correct, wrong, over, missed = np.moveaxis(np.asarray(sums[..., 1:5], dtype=float), -1, 0)
        matched = correct + wrong
        divisors = np.stack([matched + over, matched + missed] * 2, axis=-1)
        hits = np.stack([correct, correct, matched, matched], axis=-1)
        weights = divisors * _WEIGHTS
        # weight / ratio, where ratio = hits / divisor
        parts = np.divide(weights * divisors, hits, out=np.full_like(weights, np.inf), where=hits > 0)
        changed = divisors.any(axis=-1)
        return np.where(changed, weights.sum(axis=-1) / parts.sum(axis=-1), np.nan)


GCA = _GCA()
