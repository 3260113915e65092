"""Intervals: held against scipy with the same resamples, and against what must hold for any counts."""

import dataclasses
import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.errors import OptionError
from dsteval.metrics.counting import total
from dsteval.metrics.fga import FGA
from dsteval.metrics.jga import JGA
from dsteval.stats.bootstrap import (
    Interval,
    bca,
    draws,
    interval,
    jackknife,
    percentile,
    product,
    resampled,
)

Array = Any

counts_of_turns = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), min_size=2, max_size=30).map(
    lambda rows: np.array([(turns, min(turns, right)) for turns, right in rows])
)


def rows(dialogues: int, resamples: int, seed: int, cells: int) -> Array:
    return np.concatenate(list(draws(dialogues, resamples, seed, cells)))


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 2**63), st.integers(1, 500))
def test_draws_do_not_depend_on_the_block(dialogues: int, resamples: int, seed: int, cells: int) -> None:
    whole = rows(dialogues, resamples, seed, 2**20)
    assert whole.shape == (resamples, dialogues)
    assert (whole.sum(axis=1) == dialogues).all() and whole.min() >= 0
    assert np.array_equal(whole, rows(dialogues, resamples, seed, cells))
    assert np.array_equal(whole, rows(dialogues, resamples + 7, seed, cells)[:resamples])


def test_blocks_are_bounded() -> None:
    assert max(block.size for block in draws(999, 2000, 0, 10_000)) <= 10_000
    assert next(draws(5000, 10, 0, 100)).shape == (1, 5000)


def test_draws_are_uniform_and_independent() -> None:
    stats = importlib.import_module("scipy.stats")
    drawn = rows(7, 20_000, 3, 2**18)
    assert stats.chisquare(drawn.sum(axis=0)).pvalue > 0.01
    times = np.bincount(drawn[:, 4], minlength=8)
    expected = stats.binom.pmf(np.arange(8), 7, 1 / 7) * 20_000
    assert np.abs(times - expected).max() < 4 * math.sqrt(20_000 / 4)
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 6, abs=0.03)


def test_the_numbers_of_a_seed_stay() -> None:
    assert rows(5, 3, 12345, 100).tolist() == SEED_12345


SEED_12345 = [[0, 2, 0, 3, 0], [0, 2, 0, 2, 1], [1, 1, 2, 1, 0]]


def test_no_dialogue_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="no dialogue"):
        next(draws(0, 100, 0))


@given(counts_of_turns, st.integers(0, 1000))
def test_resampled_sums_are_those_of_the_draws(counts: Array, seed: int) -> None:
    doubled, halves = resampled([2 * counts, counts / 2], len(counts), 100, seed)
    drawn = rows(len(counts), 100, seed, 2**18)
    assert doubled.dtype.kind == "i" and np.array_equal(doubled, 2 * drawn @ counts)
    assert np.array_equal(halves * 4, doubled)


def test_products_stay_exact_beyond_floats() -> None:
    counts = np.array([[2**53 + 1], [-3]])
    assert product(np.array([[1.0, 0.0], [1.0, 1.0]]), counts).tolist() == [[2**53 + 1], [2**53 - 2]]
    assert product(np.ones((2, 0)), np.zeros((0, 3), dtype=int)).tolist() == [[0, 0, 0], [0, 0, 0]]


@given(counts_of_turns, st.randoms(use_true_random=False))
def test_jackknife_leaves_one_out_in_any_order(counts: Array, random: Any) -> None:
    left = jackknife(counts, JGA.value)
    naive = [JGA.value(np.delete(counts, place, axis=0).sum(axis=0)) for place in range(len(counts))]
    assert left.tolist() == [float(value) for value in naive]
    order = random.sample(range(len(counts)), len(counts))
    assert jackknife(counts[order], JGA.value).tolist() == left[order].tolist()


def test_jackknife_of_a_histogram() -> None:
    histogram = np.array([[3, 1, 0, 1, 1], [2, 2, 0, 0, 0], [4, 0, 1, 1, 0]])
    metric = FGA @ 0.5
    for place, value in enumerate(jackknife(histogram, metric.value)):
        assert value == metric.value(total(np.delete(histogram, place, axis=0)))


@pytest.mark.parametrize("method", ["percentile", "BCa"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_as_scipy_with_the_same_resamples(method: str, level: float, seed: int) -> None:
    stats = importlib.import_module("scipy.stats")
    counts = np.random.default_rng(seed).gamma(0.7, size=(40, 1))
    values = resampled([counts], 40, 1000, seed)[0][:, 0] / 40
    if seed == 3:  # many ties with the mean itself
        values[:300] = counts.mean()
    first = stats.bootstrap((counts[:, 0],), np.mean, n_resamples=10, method=method, rng=np.random.default_rng(0))
    expected = stats.bootstrap(
        (counts[:, 0],),
        np.mean,
        n_resamples=0,
        bootstrap_result=dataclasses.replace(first, bootstrap_distribution=values),
        confidence_level=level,
        method=method,
    )
    if method == "percentile":
        found = percentile(values, level)
    else:
        found = bca(values, float(counts.mean()), jackknife(counts, lambda sums: sums[..., 0] / 39), level)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)
    assert found.error == pytest.approx(float(expected.standard_error), rel=1e-12)
    assert found[3:] == (1000, 0, "")


def test_undefined_resamples_are_dropped_and_counted() -> None:
    values = np.array([math.nan, 0.1, 0.2, math.nan, 0.3])
    assert percentile(values, 0.9) == percentile(values[[1, 2, 4]], 0.9)._replace(dropped=2)
    found = bca(values, 0.2, np.array([0.1, math.nan, 0.3]), 0.9)
    assert found.resamples_used == 3 and found.dropped == 2 and not found.note


@pytest.mark.parametrize("values", [[math.nan] * 5, [math.nan, 0.5]])
def test_without_defined_values_there_is_no_interval(values: list[float]) -> None:
    for found in (percentile(np.array(values), 0.95), bca(np.array(values), 0.5, np.array([0.5]), 0.95)):
        assert all(map(math.isnan, found[:3])) and found.note == "the metric is undefined in the resamples"
    assert bca(np.array([0.1, 0.2]), math.nan, np.array([0.5]), 0.95).note == "the metric is undefined"


def test_bca_of_equal_values_is_a_point() -> None:
    assert bca(np.full(100, 0.5), 0.5, np.full(9, 0.5), 0.95) == Interval(0.5, 0.5, 0.0, 100, 0)


def test_bca_falls_back_where_it_has_no_solution() -> None:
    values = np.linspace(0.1, 0.9, 101)
    plain = percentile(values, 0.95)
    outside = bca(values, 0.95, np.array([0.4, 0.5]), 0.95)
    assert outside[:5] == plain[:5] and "one side" in outside.note
    skewed = np.zeros(5000)
    skewed[0] = -1.0
    assert bca(values, 0.5, skewed, 0.95).note == ""  # a is at most about 1/6 times the skewness
    steep = bca(values, 0.8999, np.array([0.0, *[1.0] * 100]), 0.99999)
    assert steep[:5] == percentile(values, 0.99999)[:5] and "acceleration" in steep.note


def test_bca_without_a_defined_leave_one_out_is_corrected_for_bias_only() -> None:
    values = np.linspace(0, 1, 101)
    assert bca(values, 0.4, np.full(3, math.nan), 0.9) == bca(values, 0.4, np.full(3, 0.4), 0.9)


@given(counts_of_turns, st.sampled_from(["percentile", "bca"]))
def test_an_interval_lies_within_the_dialogues(counts: Array, method: str) -> None:
    sums = resampled([counts], len(counts), 200, 1)[0]
    found = interval(counts, JGA.value, sums, 0.95, method)
    shares = JGA.value(counts)
    assert shares.min() - 1e-12 <= found.low <= found.high <= shares.max() + 1e-12
    assert found.resamples_used == 200 and found.error >= 0


@pytest.mark.parametrize("dialogues", [0, 1])
def test_fewer_than_two_dialogues_have_no_interval(dialogues: int) -> None:
    counts = np.ones((dialogues, 2), dtype=int)
    found = interval(counts, JGA.value, np.ones((100, 2)), 0.95)
    assert math.isnan(found.low) and math.isnan(found.error) and not found.resamples_used
    assert found.note == f"an interval needs at least 2 dialogues, found {dialogues}"


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 95, math.nan])
def test_a_level_is_between_0_and_1(level: float) -> None:
    message = r"ci: expected a level between 0 and 1, such as 0.95, found"
    with pytest.raises(OptionError, match=message):
        percentile(np.ones(3), level)
    with pytest.raises(OptionError, match=message):
        bca(np.ones(3), 1.0, np.ones(3), level)


@pytest.mark.parametrize("resamples", [99, 0, -5])
def test_resamples_are_100_or_more(resamples: int) -> None:
    said = rf"resamples: expected an integer from 100 to 1000000, found {resamples}"
    with pytest.raises(OptionError, match=said):
        resampled([], 5, resamples, 0)
