"""How many dialogues a difference needs, and which difference the data can detect."""

import math
from statistics import NormalDist

import numpy as np

from dsteval.errors import OptionError, require
from dsteval.metrics.counting import Counts, total
from dsteval.outcomes.table import Array
from dsteval.stats.bootstrap import Value, jackknife


def influence(counts: Counts, value: Value) -> Array:
    """How much each dialogue moves a metric [dialogues]; subtract two systems' for that of a difference.

    Formula: (D - 1) (mean of the leave-one-out values - the value without the dialogue), D dialogues. The mean of
    all is 0, and their standard deviation over sqrt(D) is the metric's standard error. NaN where the metric is
    undefined without the dialogue.

    Reference: Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, chapter 3.
    """
    left = jackknife(counts, value)
    if np.isnan(value(total(counts))) or np.isnan(left).all():
        return np.full(len(counts), np.nan)
    return np.asarray((len(counts) - 1) * (np.nanmean(left) - left))


def sigma(influences: Array) -> float:
    """The standard error per dialogue: divided by sqrt(D), that of D such dialogues. NaN from fewer than two.

    >>> turns_right = np.array([[5, 1], [5, 4], [5, 3], [5, 0]])
    >>> share = lambda sums: sums[..., 1] / sums[..., 0]
    >>> round(sigma(influence(turns_right, share)), 6)  # dialogues of one length: that of their own shares
    0.365148
    """
    defined = influences[~np.isnan(influences)]
    return float(np.std(defined, ddof=1)) if len(defined) > 1 else math.nan


def needed(sigma: float, difference: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Dialogues with which a difference of this size is told at ``alpha``, two-sided, in ``power`` of all tries.

    Formula: ((z(1 - alpha/2) + z(power)) sigma / difference)^2, rounded up, at least 2; the normal approximation,
    with ``sigma`` that of the difference. Differences are fractions: 0.01 is one point. OptionError for a
    difference that is not above 0, and for alpha or power outside 0..1; ValueError for a sigma that is no number.

    >>> needed(0.35, 0.01)
    9615

    Reference: Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    factor = _factor(sigma, alpha, power)
    require(0 < difference < math.inf, "difference", "a number above 0", difference)
    try:
        return max(2, math.ceil((factor * sigma / difference) ** 2))
    except OverflowError:
        found = str(difference)
        raise OptionError(
            where="difference", expected="a difference that is large enough to detect", found=found
        ) from None


def detectable(sigma: float, dialogues: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest difference that so many dialogues tell: ``needed`` solved for the difference.

    >>> round(detectable(0.35, 9615), 4)
    0.01
    """
    factor = _factor(sigma, alpha, power)
    require(dialogues >= 2, "dialogues", "at least 2", dialogues)
    return factor * sigma / math.sqrt(dialogues)


def check_share(where: str, share: float) -> None:
    """Raise OptionError for a share that is not between 0 and 1."""
    require(0 < share < 1, where, "a share between 0 and 1", share)


def _factor(sigma: float, alpha: float, power: float) -> float:
    """How many standard errors away from 0 a difference must be."""
    check_share("alpha", alpha)
    check_share("power", power)
    if not 0 <= sigma < math.inf:
        raise ValueError(f"sigma: expected a number of at least 0, found {sigma}")
    require(power > alpha / 2, "power", f"more than alpha / 2 = {alpha / 2}", power)
    return NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
