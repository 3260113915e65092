"""Several runs of one system on the same dialogues: how much they differ."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dsteval.metrics.base import Array

__all__ = ["Agreement", "Spread", "agreement", "fleiss_kappa", "spread"]


class Spread(NamedTuple):
    """Mean and sample standard deviation of a metric over runs; ``dropped`` runs were undefined."""

    mean: float
    deviation: float
    runs: int
    dropped: int


class Agreement(NamedTuple):
    """How runs agree on which turns are right; shares of turns, NaN without turns.

    ``pairs`` [runs, runs]: turns that two runs both have right or both wrong. ``mean`` of all pairs and ``kappa``
    are NaN for one run; ``kappa`` also where every run has every turn right, or every turn wrong.
    """

    pairs: Array
    mean: float
    kappa: float
    right_in_all: float
    right_in_any: float


def spread(values: Array) -> Spread:
    """Mean and standard deviation (n - 1) of values [runs]; NaN where too few runs are defined.

    >>> spread(np.array([0.5, 0.6, np.nan]))
    Spread(mean=0.55, deviation=0.07071067811865474, runs=2, dropped=1)
    """
    defined = values[~np.isnan(values)]
    runs = len(defined)
    mean = math.fsum(defined) / runs if runs else math.nan
    deviation = float(np.std(defined, ddof=1)) if runs > 1 else math.nan
    return Spread(mean, deviation, runs, len(values) - runs)


def agreement(right: Array) -> Agreement:
    """Agreement of runs from which turns are right, booleans [runs, turns].

    >>> found = agreement(np.array([[True, True, False, False], [True, False, False, False]]))
    >>> found.mean, round(found.kappa, 4), found.right_in_all, found.right_in_any
    (0.75, 0.4667, 0.25, 0.5)
    """
    runs, turns = right.shape
    if not turns:
        return Agreement(np.full((runs, runs), math.nan), math.nan, math.nan, math.nan, math.nan)
    marks = right.astype(float)  # so that BLAS multiplies; exact below 2^53 turns
    pairs = (marks @ marks.T + (1 - marks) @ (1 - marks).T) / turns
    mean = float(pairs[np.triu_indices(runs, 1)].mean()) if runs > 1 else math.nan
    in_all, in_any = right.all(axis=0).mean(), right.any(axis=0).mean()
    return Agreement(pairs, mean, fleiss_kappa(right), float(in_all), float(in_any))


def fleiss_kappa(right: Array) -> float:
    """Agreement beyond chance of runs (raters) on turns (subjects) that are right or wrong.

    Formula: (P - E) / (1 - E), P the mean share of pairs of runs that agree on a turn, E = q^2 + (1 - q)^2 with q
    the share of all marks that are right. NaN for one run, without turns, or where E = 1.

    Reference: Fleiss, Measuring nominal scale agreement among many raters, 1971.
    """
    runs, turns = right.shape
    times = right.sum(axis=0, dtype=np.int64)
    marked, marks = int(times.sum()), runs * turns
    if runs < 2 or marked in (0, marks):
        return math.nan
    agreeing = int((times * (times - 1) + (runs - times) * (runs - times - 1)).sum())
    observed = agreeing / (turns * runs * (runs - 1))
    chance = (marked / marks) ** 2 + (1 - marked / marks) ** 2
    kappa: float = (observed - chance) / (1 - chance)
    return kappa
