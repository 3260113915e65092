"""Ratings: coefficients against scipy, krippendorff and statsmodels, tables of ratings, lambda and plans."""

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.errors import OptionError, ReadError
from dsteval.outcomes.table import Array
from dsteval.rating.agreement import agree
from dsteval.rating.ratings import Rating, Ratings, combined, parse_scale, read, table, written
from dsteval.stats.agreement import (
    COEFFICIENTS,
    LEVELS,
    alpha,
    cohen,
    fleiss,
    kendall,
    pearson,
    pointbiserial,
    spearman,
    steiger,
    williams,
)
from dsteval.stats.intervals import Intervals

# Imported by name: neither has types.
scipy_stats: Any = importlib.import_module("scipy.stats")
inter_rater: Any = importlib.import_module("statsmodels.stats.inter_rater")

RANDOM = np.random.default_rng(8)


def matrix(values: Sequence[Sequence[float]]) -> Ratings:
    array = np.array(values, dtype=float)
    return Ratings(tuple(f"d{i}" for i in range(len(array))), tuple(f"r{j}" for j in range(array.shape[1])), array)


def with_holes(values: int, items: int = 40, raters: int = 6) -> Array:
    found = RANDOM.integers(0, values, (items, raters)).astype(float)
    found[RANDOM.random(found.shape) < 0.3] = np.nan
    return found


# Coefficients -------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=3, max_size=40))
def test_coefficients_are_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert all(math.isnan(COEFFICIENTS[name](x, y, None)) for name in ("pearson", "spearman", "kendall"))
        return
    assert pearson(x, y) == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(scipy_stats.kendalltau(x, y).statistic, abs=1e-9)
    binary = (y > y.min()).astype(float)
    assert pointbiserial(x, binary) == pytest.approx(scipy_stats.pointbiserialr(binary, x).statistic, abs=1e-9)


def test_a_weight_is_a_pair_so_many_times() -> None:
    x, y = RANDOM.integers(0, 5, (2, 30)).astype(float)
    weight = RANDOM.integers(0, 4, 30)
    binary = (y > 2).astype(float)
    for name, coefficient in COEFFICIENTS.items():
        other = binary if name == "pointbiserial" else y
        repeated = coefficient(np.repeat(x, weight), np.repeat(other, weight), None)
        assert coefficient(x, other, weight.astype(float)) == pytest.approx(repeated, abs=1e-12)


def test_a_constant_side_is_undefined() -> None:
    flat, other = np.full(5, 0.1), np.arange(5.0)
    assert math.isnan(pearson(flat, other))
    assert math.isnan(kendall(other, flat))
    assert math.isnan(pointbiserial(other, other))
    assert math.isnan(pearson(other, other, np.zeros(5)))


@pytest.mark.parametrize("n", [4, 5, 10, 11, 100, 1001])
def test_williams_is_a_students_t(n: int) -> None:
    t, p = williams(0.5, 0.3, 0.6, n)
    assert p == pytest.approx(2 * scipy_stats.t.sf(abs(t), n - 3), abs=1e-12)
    assert williams(0.3, 0.5, 0.6, n) == pytest.approx((-t, p))


def test_dependent_correlations_by_the_book() -> None:
    # The example with 103 units that is often quoted: both statistics are -0.89.
    assert steiger(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.89, abs=0.005)
    assert williams(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.89, abs=0.005)
    # Written out anew, with numpy's determinant.
    r = np.array([[1, 0.1, 0.4], [0.1, 1, 0.5], [0.4, 0.5, 1]])
    below = 2 * 102 / 100 * np.linalg.det(r) + 0.45**2 * 0.9**3
    assert williams(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.1 * math.sqrt(102 * 1.1 / below))


def test_dependent_correlations_that_cannot_be() -> None:
    assert math.isnan(williams(0.9, -0.9, 0.9, 50).p)
    assert math.isnan(williams(0.5, 0.3, 0.6, 3).p)
    assert math.isnan(steiger(0.5, 0.5, 1.0, 50).p)
    assert math.isnan(steiger(1.0, 0.5, 0.5, 50).p)


def correlated(root: Array, size: int) -> Array:
    """The correlations in a sample of normal variables with a given root."""
    return np.asarray(np.corrcoef(root @ RANDOM.normal(size=(3, size))))


def test_williams_keeps_its_level() -> None:
    root = np.linalg.cholesky(np.array([[1, 0.8, 0.35], [0.8, 1, 0.35], [0.35, 0.35, 1]]))
    wrong = 0
    for _ in range(1000):
        r = correlated(root, 60)
        wrong += williams(r[0, 2], r[1, 2], r[0, 1], 60).p < 0.05
    assert 25 <= wrong <= 78


# Agreement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("values", [2, 5])
def test_alpha_is_the_krippendorff_packages(level: Any, values: int) -> None:
    ratings = with_holes(values)
    expected = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level)
    assert alpha(ratings, level) == pytest.approx(expected, abs=1e-12)


def test_kappas_are_statsmodels() -> None:
    ratings = RANDOM.integers(0, 3, (50, 4)).astype(float)
    times = np.stack([(ratings == value).sum(axis=1) for value in range(3)], axis=1)
    assert fleiss(ratings) == pytest.approx(inter_rater.fleiss_kappa(times), abs=1e-12)
    both = np.zeros((3, 3))
    np.add.at(both, (ratings[:, 0].astype(int), ratings[:, 1].astype(int)), 1)
    assert cohen(ratings[:, 0], ratings[:, 1]) == pytest.approx(inter_rater.cohens_kappa(both).kappa, abs=1e-12)


def test_agreement_in_full() -> None:
    found = agree(matrix([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, np.nan]]), intervals=Intervals(resamples=200))
    assert [one.item for one in found.disputed] == ["d3", "d0"]
    assert found.disputed[1].ratings == {"0": 1, "1": 2}
    assert found.low is not None and found.alpha is not None and found.high is not None
    assert found.low <= found.alpha <= found.high
    assert (found.ratings, found.fleiss_items, found.pairs) == (11, 3, 3)
    assert found.raters[2].bias == pytest.approx(-1 / 3)
    assert found.raters[0].bias == pytest.approx((0.5 + 0 + 0 + 1) / 4)


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([[1.0], [0.0]], "one rater"),
        ([[1, 1], [1, 1]], "all ratings are equal"),
        ([[1, np.nan], [np.nan, 0]], "no item has two ratings"),
    ],
)
def test_agreement_undefined_is_said(values: list[list[float]], note: str) -> None:
    found = agree(matrix(values))
    assert (found.alpha, found.fleiss, found.cohen, found.low) == (None, None, None, None)
    assert note in found.notes[0]


def test_many_distinct_ratings_have_no_interval() -> None:
    found = agree(matrix(RANDOM.random((30, 2)).tolist()), "interval", Intervals(resamples=100))
    assert found.alpha is not None
    assert found.low is None
    assert "distinct ratings" in found.notes[-1]
    with pytest.raises(OptionError, match="nominal"):
        agree(matrix([[1, 0]]), "nominla")


# Tables of ratings --------------------------------------------------------------------------------------------


def test_files_of_ratings(tmp_path: Path) -> None:
    ratings = [Rating("a.json", "anna", 1, "0..1", "fine, thanks"), Rating("b", "ben", 0.5)]
    for name in ("r.csv", "r.jsonl"):
        (tmp_path / name).write_bytes(written(ratings, name))
        assert read(str(tmp_path / name)) == (ratings, [])
    spread = '\N{BYTE ORDER MARK}item;turns;rating\r\na;"x\ny";1,5\r\nb;;\r\n'
    (tmp_path / "s.csv").write_text(spread, encoding="utf-8", newline="")
    found, missing = read(str(tmp_path / "s.csv"), "anna")
    assert found == [Rating("a", "anna", 1.5)]
    assert [(one.item, one.rater) for one in missing] == [("b", "anna")]
    (tmp_path / "u.csv").write_text('item,rating,"turns; as read"\na,1,"b;c"\n', encoding="utf-8")
    assert read(str(tmp_path / "u.csv"), "anna")[0] == [Rating("a", "anna", 1.0)]
    (tmp_path / "t.jsonl").write_text('{"item": "a", "rater": "x", "rating": true}\n', encoding="utf-8")
    assert read(str(tmp_path / "t.jsonl"))[0] == [Rating("a", "x", 1.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,rating\na,7\n", r"rating from 0..1, found '7' \(1 of 1 rows\)"),
        ("item,rating,scale\na,1,0..5\nb,1,5\n", "line 3: expected a scale LOW..HIGH, found '5'"),
        ("item,rating\na,good\n", "expected a number"),
        ("item,rating\na,nan\n", "expected a number"),
        ("item,rating\n,1\n", "found no item"),
        ("item,score\na,1\n", "expected a header with item and rating, each column once, found item, score"),
        ("item,rating\n", "expected rows with a rating, found none"),
        ('{"item": "a"', "invalid JSON: Expecting"),
    ],
)
def test_files_that_are_no_ratings(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text(text, encoding="utf-8")
    with pytest.raises(ReadError, match=message):
        read(str(tmp_path / "r"), "anna", parse_scale("0..1"))


def test_a_rater_must_be_known(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,1\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"found no rater.*NAME=PATH"):
        read(str(tmp_path / "r.csv"))


def test_one_rating_each() -> None:
    once = [Rating("a", "x", 1), Rating("A.json", "x", 1)]
    assert combined(once) == ([once[0]], 1)
    with pytest.raises(ReadError, match="rater 'x': expected one rating per item and rater, found 1 and 0"):
        combined([*once, Rating("a", "x", 0)])
    with pytest.raises(ReadError, match=r"expected one scale, found 0\.\.1, 1\.\.5"):
        combined([Rating("a", "x", 1, "0..1"), Rating("a", "y", 1, "1..5")])
    with pytest.raises(ReadError, match=r"unknown ones \(b\) \(1 of 2 items\)"):
        table([Rating("a", "x", 1), Rating("b", "x", 1)]).of(["a", "c"])


@pytest.mark.parametrize("text", ["1", "1..", "5..1", "a..b", "1..inf", "nan..2"])
def test_scales_that_are_none(text: str) -> None:
    with pytest.raises(OptionError, match=r"LOW\.\.HIGH"):
        parse_scale(text)


def test_the_order_of_ratings_moves_no_interval() -> None:
    random = np.random.default_rng(2)
    said = [Rating(f"d{item}", rater, int(random.integers(2))) for item in range(12) for rater in ("b", "a", "c")]
    tables = [table(said), table(said[::-1])]
    assert tables[0].items == tables[1].items and tables[0].raters == ("a", "b", "c")
    assert agree(tables[0]) == agree(tables[1])
