"""Rankings: shares of wins by plain counting, crossings of FGA curves on a grid and by construction."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.metrics.fga import FGA
from dsteval.stats.ranking import crossings, curve, intervals_of_winner, wins

sums_of_histogram = st.tuples(
    st.integers(0, 30), st.integers(0, 60), st.integers(0, 4), st.lists(st.integers(0, 30), max_size=8)
).map(lambda parts: np.array([1 + sum(parts[:3]) + sum(parts[3]), *parts[1:3], *parts[3]]))


@given(sums_of_histogram, sums_of_histogram)
def test_crossings_on_a_fine_grid(a: Any, b: Any) -> None:
    found = crossings(a, b)
    grid = np.concatenate([np.linspace(1e-3, 3, 300), np.linspace(3.1, 30, 100)])
    difference = curve(a, grid) - curve(b, grid)
    sure = np.abs(difference) > 1e-9  # the sign of a float is known
    grid, signs = grid[sure], np.sign(difference[sure])
    for place in np.flatnonzero(signs[1:] != signs[:-1]):
        between = [point for point in found.points if grid[place] <= point <= grid[place + 1]]
        assert len(between) % 2 == 1
    assert curve(a, [0, *found.points])[1:] == pytest.approx(curve(b, [0, *found.points])[1:], abs=1e-12)
    assert found.points == tuple(sorted(found.points)) and crossings(b, a) == found
    assert not found.identical or np.abs(difference).max() < 1e-12


@given(sums_of_histogram, st.integers(2, 5))
def test_the_same_curve_is_identical(sums: Any, factor: int) -> None:
    assert crossings(sums, sums) == ((), True)
    assert crossings(sums, np.concatenate([sums * factor, [0, 0]])) == ((), True)
    assert intervals_of_winner([sums, sums * factor]) == [(0.0, math.inf, (0, 1))]


def test_a_crossing_that_is_known() -> None:
    # 40 + 20 (1 - x) = 30 + 40 (1 - x^2): 4 x^2 - 2 x - 1 = 0.
    a, b = np.array([100, 40, 0, 20]), np.array([100, 30, 0, 0, 40])
    x = (2 + math.sqrt(4 + 16)) / 8
    assert crossings(a, b).points == pytest.approx([-math.log(x)], abs=1e-12)
    assert curve(a, [-math.log(x)]) == pytest.approx(curve(b, [-math.log(x)]), abs=1e-12)


def test_crossings_near_0_and_far_out() -> None:
    # 5000 = 4999 + 5001 (1 - x) at x = 5000 / 5001.
    near = crossings(np.array([10000, 5000, 0, 0]), np.array([10000, 4999, 0, 5001]))
    assert near.points == pytest.approx([-math.log(5000 / 5001)], rel=1e-9)
    # One turn of two million tells the two apart at infinity: 10^6 - 1 = 10^6 (1 - x).
    far = crossings(np.array([2_000_000, 999_999, 0, 0]), np.array([2_000_000, 0, 0, 1_000_000]))
    assert far.points == pytest.approx([math.log(10**6)], rel=1e-9)
    # The first powers cancel: x^10 - 2 x^11.
    late = crossings(np.array([100, 39, *[0] * 11, 2]), np.array([100, 40, *[0] * 10, 1, 0]))
    assert late.points == pytest.approx([math.log(2)], rel=1e-9)


def test_curves_that_touch_do_not_cross() -> None:
    # 10 + 4 (1 - x) against 9 + 4 (1 - x^2): the difference is (1 - 2x)^2.
    a = np.array([20, 10, 0, 4, 0])
    b = np.array([20, 9, 0, 0, 4])
    difference = curve(a, [math.log(2)]) - curve(b, [math.log(2)])
    assert difference == pytest.approx([0], abs=1e-12)
    assert crossings(a, b) == ((), False)
    assert [lead.systems for lead in intervals_of_winner([a, b])] == [(0,)]


@given(st.lists(sums_of_histogram, min_size=1, max_size=4))
def test_the_winner_of_each_interval_has_the_highest_curve(sums: list[Any]) -> None:
    leads = intervals_of_winner(sums)
    assert leads[0].low == 0 and leads[-1].high == math.inf
    assert all(one.high == other.low for one, other in pairwise(leads))
    for lead in leads:
        inner = lead.low + 1 if math.isinf(lead.high) else (lead.low + lead.high) / 2
        values = [float((FGA @ inner).value(one)) for one in sums]
        assert lead.systems
        for place, value in enumerate(values):
            assert value <= max(values[first] for first in lead.systems) + 1e-12
            assert place not in lead.systems or value == pytest.approx(max(values), abs=1e-12)


def test_three_curves_through_one_point() -> None:
    through = [np.array([10, 5, 0, 0]), np.array([10, 4, 0, 2]), np.array([10, 3, 0, 4])]
    leads = intervals_of_winner(through)
    assert [lead.systems for lead in leads] == [(0,), (2,)]
    assert leads[0].high == pytest.approx(math.log(2), abs=1e-12)
    assert intervals_of_winner([]) == []


def test_a_curve_starts_at_jga_and_ends_at_turn_match() -> None:
    sums = np.array([[10, 4, 1, 2, 1], [10, 5, 0, 0, 0]])
    assert curve(sums, [0.0, math.inf]).tolist() == [[0.4, 0.8], [0.5, 0.5]]
    assert curve(sums, [0.5, 1.0, 2.0]).shape == (2, 3)


@pytest.mark.parametrize("sums", [[1.5, 1, 0], [0, 0, 0], [4, 2]])
def test_sums_that_are_no_histogram(sums: list[float]) -> None:
    with pytest.raises(ValueError, match="FGA histogram"):
        crossings(np.array(sums), np.array([4, 2, 0]))


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=20))
def test_wins_by_plain_counting(rows: list[list[int]]) -> None:
    found = wins(np.array(rows, dtype=float).T)
    best = [0.0] * 3
    for row in rows:
        for system in range(3):
            best[system] += (row[system] == max(row)) / row.count(max(row)) / len(rows)
    assert found.best == pytest.approx(best)
    assert found.ranks.sum(axis=0) == pytest.approx([1, 1, 1])
    assert found.ranks.sum(axis=1) == pytest.approx([1, 1, 1])
    assert (found.resamples_used, found.dropped) == (len(rows), 0)


def test_wins_drop_undefined_resamples() -> None:
    found = wins(np.array([[0.5, math.nan, 0.2], [0.4, 0.3, 0.6]]))
    assert found.best.tolist() == [0.5, 0.5] and (found.resamples_used, found.dropped) == (2, 1)
    assert np.isnan(wins(np.full((2, 3), math.nan)).best).all()
    assert wins(np.ones((1, 4))).ranks.tolist() == [[1.0]]
