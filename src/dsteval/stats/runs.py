"""Several runs of one system on the same dialogues: how much they differ."""

import math
from typing import NamedTuple

import numpy as np

from dsteval.outcomes.table import Array
from dsteval.stats.agreement import fleiss


class RunSpread(NamedTuple):
    """Mean and sample standard deviation of a metric over runs; ``dropped`` runs were undefined."""

    mean: float
    deviation: float
    runs: int
    dropped: int


class RunAgreement(NamedTuple):
    """How runs agree on which turns are right; shares of turns, NaN without turns.

    ``pairs`` [runs, runs]: turns that two runs both have right or both wrong. ``mean`` of all pairs and ``kappa``
    are NaN for one run; ``kappa`` also where every run has every turn right, or every turn wrong.
    """

    pairs: Array
    mean: float
    kappa: float
    right_in_all: float
    right_in_any: float


def spread(values: Array) -> RunSpread:
    """Mean and standard deviation (n - 1) of values [runs]; NaN where too few runs are defined.

    >>> spread(np.array([0.5, 0.6, np.nan]))
    RunSpread(mean=0.55, deviation=0.07071067811865474, runs=2, dropped=1)
    """
    defined = values[~np.isnan(values)]
    runs = len(defined)
    mean = math.fsum(defined) / runs if runs else math.nan
    deviation = float(np.std(defined, ddof=1)) if runs > 1 else math.nan
    return RunSpread(mean, deviation, runs, len(values) - runs)


def agreement(right: Array) -> RunAgreement:
    """Agreement of runs from which turns are right, booleans [runs, turns].

    >>> found = agreement(np.array([[True, True, False, False], [True, False, False, False]]))
    >>> found.mean, round(found.kappa, 4), found.right_in_all, found.right_in_any
    (0.75, 0.4667, 0.25, 0.5)
    """
    runs, turns = right.shape
    if not turns:
        return RunAgreement(np.full((runs, runs), math.nan), *[math.nan] * 4)
    marks = right.astype(float)  # so that BLAS multiplies; exact below 2^53 turns
    pairs = (marks @ marks.T + (1 - marks) @ (1 - marks).T) / turns
    mean = float(pairs[np.triu_indices(runs, 1)].mean()) if runs > 1 else math.nan
    in_all, in_any = right.all(axis=0).mean(), right.any(axis=0).mean()
    return RunAgreement(pairs, mean, fleiss(right.T), float(in_all), float(in_any))
