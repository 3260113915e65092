"""Runs of one system: held against statsmodels and plain counting."""

import importlib
import math
import statistics
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.stats.agreement import fleiss
from dsteval.stats.runs import agreement, spread

marks = st.integers(2, 5).flatmap(
    lambda runs: st.lists(st.lists(st.booleans(), min_size=runs, max_size=runs), min_size=1, max_size=25).map(
        lambda turns: np.array(turns).T
    )
)


@given(marks)
def test_agreement_is_plain_counting(right: Any) -> None:
    found = agreement(right)
    turns = list(zip(*right.tolist(), strict=True))
    for one, other in combinations(range(len(right)), 2):
        share = sum(turn[one] == turn[other] for turn in turns) / len(turns)
        assert found.pairs[one, other] == found.pairs[other, one] == pytest.approx(share)
    assert np.diag(found.pairs).tolist() == [1.0] * len(right)
    assert found.right_in_all == pytest.approx(sum(map(all, turns)) / len(turns))
    assert found.right_in_any == pytest.approx(sum(map(any, turns)) / len(turns))
    pairs = [found.pairs[pair] for pair in combinations(range(len(right)), 2)]
    assert found.mean == pytest.approx(statistics.fmean(pairs))


@given(marks)
def test_kappa_as_statsmodels(right: Any) -> None:
    raters = importlib.import_module("statsmodels.stats.inter_rater")
    found = fleiss(right.T)
    times = right.sum(axis=0)
    if 0 < times.sum() < right.size:
        assert found == pytest.approx(
            raters.fleiss_kappa(np.stack([times, len(right) - times], axis=1)), abs=1e-12
        )
    else:
        assert math.isnan(found)


def test_equal_runs_agree_fully() -> None:
    found = agreement(np.array([[True, False, True]] * 4))
    assert found.mean == found.kappa == 1 and found.right_in_all == found.right_in_any == pytest.approx(2 / 3)


def test_one_run_and_no_turn() -> None:
    one = agreement(np.array([[True, False]]))
    assert one.pairs.tolist() == [[1.0]] and math.isnan(one.mean) and math.isnan(one.kappa)
    assert one.right_in_all == one.right_in_any == 0.5
    none = agreement(np.zeros((3, 0), dtype=bool))
    assert all(map(math.isnan, none[1:])) and np.isnan(none.pairs).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_spread_as_the_standard_library(values: list[float]) -> None:
    found = spread(np.array(values))
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.deviation == pytest.approx(statistics.stdev(values), abs=1e-12)
    assert (found.runs, found.dropped) == (len(values), 0)


def test_spread_of_too_few() -> None:
    one = spread(np.array([0.5, math.nan]))
    assert one.mean == 0.5 and math.isnan(one.deviation) and (one.runs, one.dropped) == (1, 1)
    assert math.isnan(spread(np.array([])).mean)
