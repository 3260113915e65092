"""Granular change accuracy: how well the changes of each turn are predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsteval.metrics.base import Array, Counts, Metric, Parameter, per_dialogue
from dsteval.outcomes.table import Outcomes

__all__ = ["GCA"]

_WEIGHT = 10 / 11
NONE = Parameter(("absent", "value"), "whether a slot written as none is not there, or has a value like others")


@dataclass(frozen=True, repr=False)
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

    name = "GCA"
    about = "harmonic mean of four ratios over the changes of each turn: correct, wrong, over-predicted, missed"
    ratio_of_counts = False
    undefined_reason = "nothing changes on either side"
    parameters = {"none": NONE}

    @property
    def extra(self) -> str:  # type: ignore[override]
        """What is counted per turn."""
        return "gca" if self.get("none") == "absent" else "gca-none"

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Single instances have no turn before."""
        if not outcomes.has_dialogues:
            return "the data is single instances: without dialogues nothing changes"
        return super().unavailable_reason(outcomes)

    def count(self, outcomes: Outcomes) -> Counts:
        """Columns: changes counted, then correct, wrong, over-predicted and missed ones."""
        kinds = outcomes.extra[self.extra].astype(np.int64)
        return per_dialogue(outcomes, kinds.sum(axis=1), *kinds.T)

    def value(self, sums: Array) -> Array:
        """The weighted harmonic mean of the four ratios."""
        correct, wrong, over, missed = np.moveaxis(np.asarray(sums[..., 1:5], dtype=float), -1, 0)
        predicted, expected = correct + wrong + over, correct + wrong + missed
        weight = np.stack([_WEIGHT * predicted, _WEIGHT * expected])
        weight = np.concatenate([weight, (1 - _WEIGHT) * np.stack([predicted, expected])])
        hits = np.stack([correct, correct, correct + wrong, correct + wrong])
        # weight / ratio, where ratio = hits / (weight's own denominator)
        parts = np.divide(
            weight * np.stack([predicted, expected, predicted, expected]),
            hits,
            out=np.full_like(weight, np.inf),
            where=hits > 0,
        )
        mean = weight.sum(axis=0) / np.where(parts.sum(axis=0) > 0, parts.sum(axis=0), np.inf)
        result: Array = np.where(predicted + expected > 0, mean, np.nan)
        return result


GCA = _GCA()
