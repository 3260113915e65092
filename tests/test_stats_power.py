"""Power: held against statsmodels, the bootstrap's error, and tries in which the difference is there."""

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.errors import OptionError
from dsteval.metrics.fga import FGA
from dsteval.metrics.jga import JGA
from dsteval.stats.bootstrap import interval, resampled
from dsteval.stats.power import detectable, influence, needed, sigma


def correlated(seed: int, dialogues: int) -> Any:
    random = np.random.default_rng(seed)
    turns = random.integers(5, 13, dialogues)
    return np.stack([turns, random.binomial(turns, random.beta(1, 1, dialogues))], axis=1)


def test_influences_sum_to_0_and_rise_with_the_dialogue_s_share() -> None:
    counts = correlated(1, 50)
    found = influence(counts, JGA.value)
    assert found.sum() == pytest.approx(0, abs=1e-9)
    linear = 50 * (counts[:, 1] - JGA.value(counts.sum(axis=0)) * counts[:, 0]) / counts[:, 0].sum()
    assert found == pytest.approx(linear, rel=0.05, abs=0.02)


def test_the_error_is_that_of_the_bootstrap() -> None:
    counts = correlated(2, 400)
    sums = resampled([counts], 400, 4000, 0)[0]
    assert sigma(influence(counts, JGA.value)) / 20 == pytest.approx(
        interval(counts, JGA.value, sums, 0.95).error, rel=0.05
    )
    histogram = np.concatenate(
        [counts, np.zeros((400, 1), dtype=int), (counts[:, :1] - counts[:, 1:]) // 2], axis=1
    )
    metric = FGA @ 0.5
    error = interval(histogram, metric.value, resampled([histogram], 400, 4000, 0)[0], 0.95).error
    assert sigma(influence(histogram, metric.value)) / 20 == pytest.approx(error, rel=0.05)


def test_influences_where_the_metric_is_undefined() -> None:
    assert np.isnan(influence(np.zeros((3, 2), dtype=int), JGA.value)).all()
    one = np.array([[5, 3], [0, 0], [0, 0]])
    assert np.isnan(influence(one, JGA.value)).tolist() == [True, False, False]
    assert sigma(influence(one, JGA.value)) == 0
    assert math.isnan(sigma(influence(one[:1], JGA.value)))


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.05, 0.95), (0.01, 0.9), (0.1, 0.9)])
@pytest.mark.parametrize("difference", [0.005, 0.02, 0.1])
def test_as_statsmodels(alpha: float, power: float, difference: float) -> None:
    model = importlib.import_module("statsmodels.stats.power").NormalIndPower()
    expected = model.solve_power(difference / 0.4, alpha=alpha, power=power, ratio=0)
    assert needed(0.4, difference, alpha, power) == pytest.approx(math.ceil(expected), rel=1e-3, abs=1)


@given(st.floats(0.01, 2), st.floats(0.001, 0.5))
def test_needed_and_detectable_agree(sigma: float, difference: float) -> None:
    dialogues = needed(sigma, difference)
    assert detectable(sigma, dialogues) <= difference * (1 + 1e-9) or dialogues == 2
    if dialogues > 2:
        assert detectable(sigma, dialogues - 1) > difference * (1 - 1e-9)


def test_so_many_dialogues_tell_the_difference_in_so_many_tries() -> None:
    random = np.random.default_rng(0)
    dialogues = needed(0.3, 0.03, power=0.8)
    samples = random.normal(0.03, 0.3, (4000, dialogues))
    told = np.abs(samples.mean(axis=1)) > 1.959964 * samples.std(axis=1, ddof=1) / math.sqrt(dialogues)
    assert told.mean() == pytest.approx(0.8, abs=0.02)


def test_equal_dialogues_need_no_more_than_two() -> None:
    assert needed(0.0, 0.01) == 2 and detectable(0.0, 2) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.3, 0.0), "difference: expected a number above 0, found 0.0"),
        ((0.3, -0.1), "difference: expected a number above 0, found -0.1"),
        ((0.3, math.nan), "difference: expected a number above 0, found nan"),
        ((0.3, 0.1, 95), "alpha: expected a share between 0 and 1, found 95"),
        ((0.3, 0.1, 0.05, 1.0), "power: expected a share between 0 and 1, found 1.0"),
        ((0.3, 0.1, 0.5, 0.2), "power: expected more than alpha / 2 = 0.25, found 0.2"),
    ],
)
def test_bad_options(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        needed(*arguments)


def test_bad_numbers() -> None:
    with pytest.raises(ValueError, match="sigma"):
        needed(math.nan, 0.1)
    with pytest.raises(OptionError, match="dialogues: expected at least 2, found 1"):
        detectable(0.3, 1)
