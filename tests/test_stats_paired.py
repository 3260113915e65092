"""Paired tests: held against scipy and statsmodels, and against systems that are equal."""

import importlib
import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.errors import OptionError
from dsteval.metrics.counting import total
from dsteval.metrics.fga import FGA
from dsteval.metrics.jga import JGA
from dsteval.stats import paired
from dsteval.stats.bootstrap import blocks, percentile, resampled
from dsteval.stats.paired import holm, mcnemar, padded, paired_bootstrap, permutation

Array = Any


def systems(seed: int, dialogues: int, better: float = 0.0) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    turns = random.integers(4, 10, dialogues)
    ease = random.beta(2, 2, dialogues)
    right = [random.binomial(turns, np.clip(ease + extra, 0, 1)) for extra in (better, 0.0)]
    return np.stack([turns, right[0]], axis=1), np.stack([turns, right[1]], axis=1)


@given(st.integers(0, 50), st.integers(2, 40), st.integers(0, 1000))
def test_a_system_against_itself(seed: int, dialogues: int, draw: int) -> None:
    counts, _ = systems(seed, dialogues)
    values = JGA.value(resampled([counts], dialogues, 100, draw)[0])
    point = float(JGA.value(total(counts)))
    found = paired_bootstrap(values, values, point, point, 0.95)
    assert found.difference == 0 and found.p == 1 and found.interval[:3] == (0, 0, 0)
    swapped = permutation(counts, counts, JGA.value, 100, draw)
    assert swapped.difference == 0 and swapped.p == 1


@given(st.integers(0, 50), st.integers(5, 60), st.floats(0, 0.5))
def test_exchanging_the_systems_turns_the_sign_only(seed: int, dialogues: int, better: float) -> None:
    a, b = systems(seed, dialogues, better)
    values_a, values_b = map(JGA.value, resampled([a, b], dialogues, 200, seed))
    point_a, point_b = (float(JGA.value(total(counts))) for counts in (a, b))
    one = paired_bootstrap(values_a, values_b, point_a, point_b, 0.9)
    other = paired_bootstrap(values_b, values_a, point_b, point_a, 0.9)
    assert one.p == other.p and one.difference == -other.difference
    assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-12)
    assert permutation(a, b, JGA.value, 200, 1).p == permutation(b, a, JGA.value, 200, 1).p


@pytest.mark.parametrize("seed", range(20))
def test_the_p_of_the_bootstrap_says_what_the_interval_says(seed: int) -> None:
    a, b = systems(seed, 150, 0.03)
    values_a, values_b = map(JGA.value, resampled([a, b], 150, 1000, seed))
    differences = values_a - values_b
    p = paired_bootstrap(values_a, values_b, 0.0, 0.0, 0.95).p
    for level in (1 - p + 0.01, 1 - p - 0.01):
        if 0 < level < 1:
            wide = percentile(differences, level)
            assert (wide.low <= 0 <= wide.high) == (level > 1 - p)


def test_a_p_is_never_0() -> None:
    a, b = systems(0, 200, 0.4)
    values_a, values_b = map(JGA.value, resampled([a, b], 200, 199, 0))
    assert paired_bootstrap(values_a, values_b, 0.9, 0.5, 0.95).p == 2 / 200
    assert permutation(a, b, JGA.value, 199, 0).p == 1 / 200


def test_undefined_resamples_are_dropped() -> None:
    values_a, values_b = np.array([0.5, math.nan, 0.7, 0.6]), np.array([0.4, 0.5, math.nan, 0.65])
    found = paired_bootstrap(values_a, values_b, 0.5, 0.4, 0.95)
    assert found.interval.dropped == 2 and found.interval.resamples_used == 2 and found.p == 1
    # A difference that only some draws have is no more certain than these draws are many.
    alone = np.where(np.arange(1000) % 3, -1.0, math.nan)
    assert paired_bootstrap(alone, np.zeros(1000), -1, 0, 0.95).p == 2 * 335 / 1001
    assert paired_bootstrap(np.full(1000, -1.0), np.zeros(1000), -1, 0, 0.95).p == 2 / 1001
    assert math.isnan(paired_bootstrap(values_a * math.nan, values_b, 0.5, 0.4, 0.95).p)
    assert math.isnan(paired_bootstrap(values_a, values_b, math.nan, 0.4, 0.95).p)


@pytest.mark.parametrize("seed", range(5))
def test_every_swap_as_scipy_takes_them(seed: int) -> None:
    stats = importlib.import_module("scipy.stats")
    a, b = systems(seed, 9, 0.2)
    turns = a[:, 0]
    found = permutation(a, b, JGA.value, 1000, 0)
    expected = stats.permutation_test(
        (a[:, 1], b[:, 1]),
        lambda one, other: one.sum() / turns.sum() - other.sum() / turns.sum(),
        permutation_type="samples",
        vectorized=False,
        n_resamples=math.inf,
    )
    assert found.exact and found.difference == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_random_swaps_come_near_to_all_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = systems(3, 16, 0.1)
    every = permutation(a, b, JGA.value, 2**16, 0)
    drawn = permutation(a, b, JGA.value, 10_000, 0)
    assert every.exact and every.resamples_used > 10_000
    assert not drawn.exact and drawn.resamples_used == 10_000
    assert drawn.p == pytest.approx(every.p, abs=4 * math.sqrt(0.25 / 10_000))
    monkeypatch.setattr(paired, "blocks", lambda rows, width: blocks(rows, width, 37 * width))
    assert permutation(a, b, JGA.value, 10_000, 0) == drawn
    assert permutation(a, b, JGA.value, 2**16, 0) == every


def test_only_dialogues_that_differ_are_swapped() -> None:
    a, _ = systems(0, 200)
    b = a.copy()
    b[:3, 1] = a[:3, 1] + 1
    found = permutation(a, b, JGA.value, 100, 0)
    assert found.exact and found.resamples_used == 8 and found.p == 0.25


def test_histograms_of_unequal_length_are_padded() -> None:
    a, b = np.array([[3, 1, 0, 2], [4, 2, 0, 1]]), np.array([[3, 1, 0, 1, 1], [4, 4, 0, 0, 0]])
    metric = FGA @ 0.5
    found = permutation(a, b, metric.value, 100, 0)
    assert found == permutation(padded(a, b)[0], b, metric.value, 100, 0)
    assert found.difference == pytest.approx(float(metric.value(total(a)) - metric.value(total(b))), abs=1e-15)


def test_swaps_without_a_value_are_dropped() -> None:
    a, b = np.array([[5, 1], [0, 0]]), np.array([[0, 0], [3, 2]])
    found = permutation(a, b, JGA.value, 100, 0)
    assert found.exact and found.resamples_used == 2 and found.dropped == 2 and found.p == 1
    assert math.isnan(permutation(a, a * 0, JGA.value, 100, 0).p)


def test_fewer_than_100_resamples_are_refused() -> None:
    a, b = systems(0, 5)
    with pytest.raises(OptionError, match="resamples: expected an integer from 100 to 1000000, found 99"):
        permutation(a, b, JGA.value, 99, 0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_as_statsmodels(p_values: list[float]) -> None:
    multitest = importlib.import_module("statsmodels.stats.multitest")
    with mock.patch("gc.collect"):  # it collects garbage each time, all that the suite has made
        expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(expected.tolist(), rel=1e-12)


def test_holm_passes_over_undefined_p_values() -> None:
    found = holm([0.02, math.nan, 0.01])
    assert found[0] == 0.02 and math.isnan(found[1]) and found[2] == 0.02
    assert holm([]) == []


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_as_scipy_and_statsmodels(only_a: int, only_b: int) -> None:
    stats = importlib.import_module("scipy.stats")
    tables = importlib.import_module("statsmodels.stats.contingency_tables")
    found = mcnemar(only_a, only_b)
    assert found == mcnemar(only_b, only_a)
    if only_a + only_b:
        assert found == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue, rel=1e-9)
        assert found == pytest.approx(tables.mcnemar([[7, only_a], [only_b, 3]], exact=True).pvalue, rel=1e-9)


def test_mcnemar_at_its_ends() -> None:
    assert mcnemar(0, 0) == 1 and mcnemar(5, 5) == 1
    assert mcnemar(0, 10) == 2 / 1024
    assert 0 < mcnemar(4900, 5100) < 0.05
    with pytest.raises(ValueError, match="expected counts of dialogues"):
        mcnemar(-1, 2)
