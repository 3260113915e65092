"""Ratings: coefficients against scipy, krippendorff and statsmodels, tables of ratings, lambda and plans."""

import math
from collections.abc import Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

import dsteval
from dsteval.errors import DstevalError, MetricError, OptionError, ReadError
from dsteval.intervals import Intervals
from dsteval.metrics.base import Array
from dsteval.rating import charts
from dsteval.rating.agreement import LEVELS, agree, alpha, cohen, fleiss
from dsteval.rating.coefficients import COEFFICIENTS, kendall, pearson, pointbiserial, spearman, steiger, williams
from dsteval.rating.correlation import correlate
from dsteval.rating.fitting import best, correlations, fit_lambda, lambdas, scores
from dsteval.rating.pairs import paired, resamples, unit_resamples
from dsteval.rating.planning import Crowd, plan_lambda, plan_metrics, simulated
from dsteval.rating.ratings import Rating, Ratings, combined, parse_scale, read, table, written
from dsteval.result import Result

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
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-9)
    binary = (y > y.min()).astype(float)
    assert pointbiserial(x, binary) == pytest.approx(scipy.stats.pointbiserialr(binary, x).statistic, abs=1e-9)


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
    assert p == pytest.approx(2 * scipy.stats.t.sf(abs(t), n - 3), abs=1e-12)
    assert williams(0.3, 0.5, 0.6, n) == pytest.approx((-t, p))


def test_dependent_correlations_by_the_book() -> None:
    # Steiger 1980 works this example: n = 103, r = 0.4 and 0.5, 0.1 between them; Z of his equation 14 is -0.89.
    assert steiger(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.89, abs=0.005)
    # Written out anew, with numpy's determinant.
    r = np.array([[1, 0.1, 0.4], [0.1, 1, 0.5], [0.4, 0.5, 1]])
    below = 2 * 102 / 100 * np.linalg.det(r) + 0.45**2 * 0.9**3
    assert williams(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.1 * math.sqrt(102 * 1.1 / below))


def test_dependent_correlations_that_cannot_be() -> None:
    assert math.isnan(williams(0.9, -0.9, 0.9, 50).p)
    assert math.isnan(williams(0.5, 0.3, 0.6, 3).p)
    assert math.isnan(steiger(0.5, 0.5, 1.0, 50).p)
    assert math.isnan(steiger(1.0, 0.5, 0.5, 50).p)


def test_williams_keeps_its_level() -> None:
    root = np.linalg.cholesky(np.array([[1, 0.8, 0.35], [0.8, 1, 0.35], [0.35, 0.35, 1]]))
    wrong = 0
    for _ in range(1000):
        r = np.corrcoef(root @ RANDOM.normal(size=(3, 60)))
        wrong += williams(r[0, 2], r[1, 2], r[0, 1], 60).p < 0.05
    assert 25 <= wrong <= 78


# Agreement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("values", [2, 5])
def test_alpha_is_the_krippendorff_packages(level: str, values: int) -> None:
    ratings = with_holes(values)
    expected = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level)
    assert alpha(ratings, level) == pytest.approx(expected, abs=1e-12)


def test_kappas_are_statsmodels() -> None:
    ratings = RANDOM.integers(0, 3, (50, 4)).astype(float)
    times = np.stack([(ratings == value).sum(axis=1) for value in range(3)], axis=1)
    assert fleiss(ratings) == pytest.approx(fleiss_kappa(times), abs=1e-12)
    both = np.zeros((3, 3))
    np.add.at(both, (ratings[:, 0].astype(int), ratings[:, 1].astype(int)), 1)
    assert cohen(ratings[:, 0], ratings[:, 1]) == pytest.approx(cohens_kappa(both).kappa, abs=1e-12)


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
    assert [tuple(one) for one in missing] == [("b", "anna")]
    (tmp_path / "t.jsonl").write_text('{"item": "a", "rater": "x", "rating": true}\n', encoding="utf-8")
    assert read(str(tmp_path / "t.jsonl"))[0] == [Rating("a", "x", 1.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,rating\na,7\n", r"rating from 0..1, found '7' \(1 of 1 rows\)"),
        ("item,rating,scale\na,1,0..5\nb,1,5\n", "on a scale LOW..HIGH"),
        ("item,rating\na,good\n", "expected a number"),
        ("item,rating\na,nan\n", "expected a number"),
        ("item,rating\n,1\n", "found no item"),
        ("item,score\na,1\n", "found no rating"),
        ("item,rating\n", "expected rows with a rating, found none"),
        ('{"item": "a"', "expected a JSON object"),
    ],
)
def test_files_that_are_no_ratings(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text(text, encoding="utf-8")
    with pytest.raises(ReadError, match=message):
        read(str(tmp_path / "r"), "anna", parse_scale("0..1"))


def test_a_rater_must_be_known(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,1\n", encoding="utf-8")
    with pytest.raises(ReadError, match="found no rater.*NAME=PATH"):
        read(str(tmp_path / "r.csv"))


def test_one_rating_each() -> None:
    once = [Rating("a", "x", 1), Rating("A.json", "x", 1)]
    assert combined(once) == ([once[0]], 1)
    with pytest.raises(ReadError, match="rater 'x': expected one rating, found 1 and 0"):
        combined([*once, Rating("a", "x", 0)])
    with pytest.raises(ReadError, match="expected one scale, found 0..1, 1..5"):
        combined([Rating("a", "x", 1, "0..1"), Rating("a", "y", 1, "1..5")])
    with pytest.raises(ReadError, match=r"unknown ones \(b\) \(1 of 2 items\)"):
        table([Rating("a", "x", 1), Rating("b", "x", 1)]).of(["a", "c"])


@pytest.mark.parametrize("text", ["1", "1..", "5..1", "a..b", "1..inf", "nan..2"])
def test_scales_that_are_none(text: str) -> None:
    with pytest.raises(OptionError, match="LOW..HIGH"):
        parse_scale(text)


# Metrics and people -------------------------------------------------------------------------------------------


def result(dialogues: int = 40, metrics: Sequence[str] = ("JGA", "FGA@0.5", "TurnMatch")) -> Result:
    """Made-up dialogues of eight turns with errors that stay for a while."""
    random = np.random.default_rng(5)
    ref, pred = {}, {}
    for number in range(dialogues):
        states: list[dict[str, str]] = []
        wrong: list[dict[str, str]] = []
        bad: set[str] = set()
        for turn in range(8):
            states.append({**(states[-1] if states else {}), f"hotel-s{turn}": "yes"})
            if random.random() < 0.2:
                bad.add(f"hotel-s{turn}")
            if random.random() < 0.15:
                bad.clear()
            wrong.append({slot: "no" if slot in bad else value for slot, value in states[-1].items()})
        ref[f"d{number}"], pred[f"d{number}"] = states, wrong
    return dsteval.evaluate(ref, pred, metrics=metrics, ci=None)


def raters_of(scored: Result, true: float = 0.5, raters: int = 5, crowd: Crowd | None = None) -> Ratings:
    own = scores(scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"], [true])[0]
    said = simulated(own, raters, crowd or Crowd(), np.random.default_rng(3))
    return Ratings(scored.dialogues, tuple(f"r{number}" for number in range(raters)), said)


@pytest.mark.parametrize("against", ["mean", "each"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_correlations_are_those_of_the_pairs(against: str, coefficient: str) -> None:
    scored = result()
    ratings = raters_of(scored)
    found = correlate(
        scored, ratings, coefficient=coefficient, against=against, intervals=Intervals(resamples=100)
    )
    x = np.array(list(scored.per_dialogue("JGA").values()))
    y = ratings.values.mean(axis=1)
    if against == "each":
        x, y = np.repeat(x, 5), ratings.values.ravel()
    oracle = {
        "pearson": scipy.stats.pearsonr,
        "spearman": scipy.stats.spearmanr,
        "kendall": scipy.stats.kendalltau,
    }
    one = found.metrics[0]
    assert one.value == pytest.approx(oracle[coefficient](x, y).statistic, abs=1e-9)
    assert one.low is not None and one.high is not None and one.low < one.high
    assert len(found.pairs) == 3
    assert (found.pairs[0].p is None) is (against == "each" or coefficient != "pearson")


def test_both_ways_of_drawing_are_one() -> None:
    scored = result(12)
    ratings = raters_of(scored)
    ratings.values[2, 1:] = np.nan
    curves = np.array([list(scored.per_dialogue(metric).values()) for metric in ("JGA", "FGA@0.5")])
    intervals = Intervals(resamples=150)
    for against in ("mean", "each"):
        pairs = paired(ratings, against)
        quick = np.concatenate([correlations(curves, *block) for block in resamples(pairs, intervals)])
        slow = [
            [pearson(curve[pairs.row], rating, weight) for curve in curves]
            for rating, weight in unit_resamples(pairs, intervals)
        ]
        assert quick == pytest.approx(np.array(slow), abs=1e-9, nan_ok=True)


def test_items_of_one_dialogue_are_drawn_together() -> None:
    pairs = paired(matrix([[1], [0], [1], [0]]), group=["a", "b", "a", "b"])
    for block in resamples(pairs, Intervals(resamples=100)):
        assert (block.weight[:, 0] == block.weight[:, 2]).all()
        assert (block.weight.sum(axis=1) == 4).all()


def test_the_best_lambda_is_found_without_noise() -> None:
    scored = result(60)
    metric, counts = scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"]
    for true in (0.0, 0.3, 1.7, math.inf):
        ratings = Ratings(scored.dialogues, ("people",), scores(metric, counts, [true]).T)
        fit = fit_lambda(metric, counts, paired(ratings), Intervals(resamples=100))
        assert fit.value == pytest.approx(true, abs=0.001)
        assert fit.r == pytest.approx(1)
        assert fit.held_out is not None and fit.held_out > 0.999
    assert (fit.low, fit.high, fit.at_infinity) == (math.inf, math.inf, 100)
    assert fit.to_dict()["value"] == "inf"


def test_ends_of_the_curve_are_jga_and_turn_match() -> None:
    scored = result()
    numbers = lambdas(10)
    curves = scores(scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"], numbers)
    assert (numbers[0], numbers[-1]) == (0, math.inf)
    assert curves[0].tolist() == list(scored.per_dialogue("JGA").values())
    assert curves[-1].tolist() == list(scored.per_dialogue("TurnMatch").values())
    pairs = paired(raters_of(scored)).centred()
    found = np.concatenate([best(curves, block) for block in resamples(pairs, Intervals(resamples=100))])
    assert set(found) <= set(range(11))


def test_what_is_undefined_is_said() -> None:
    scored = result(10)
    constant = Ratings(scored.dialogues, ("a", "b"), np.ones((10, 2)))
    found = correlate(scored, constant, intervals=Intervals(resamples=100))
    assert [one.value for one in found.metrics] == [None, None, None]
    assert "all ratings are equal" in found.notes[0]
    with pytest.raises(MetricError, match="undefined at every lambda"):
        correlate(scored, constant, fit=True)
    single = correlate(scored, raters_of(scored, raters=1), coefficient="pointbiserial", against="each")
    assert "one rater" in single.notes[0]
    told = correlate(scored, raters_of(scored), coefficient="pointbiserial")
    assert "--against each" in " ".join(told.notes)
    assert told.metrics[0].value is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficient": "persn"}, "pearson"),
        ({"against": "ech"}, "each"),
        ({"fit": True}, "FGA among the metrics"),
    ],
)
def test_correlate_refuses(options: dict[str, str], message: str) -> None:
    scored = result(6, ["JGA"])
    ratings = Ratings(scored.dialogues, ("a",), np.arange(6.0)[:, None])
    with pytest.raises(DstevalError, match=message):
        correlate(scored, ratings, **options)  # type: ignore[arg-type]


def test_unrated_dialogues_and_metrics_without_values() -> None:
    scored = result(10, ["JGA", "FGA@0.5", "GCA"])
    ratings = raters_of(result(10))
    part = Ratings(ratings.items[3:], ratings.raters, ratings.values[3:])
    found = correlate(scored, part, intervals=Intervals(level=None))
    assert found.conversations == 7
    assert found.notes[0].startswith("3 dialogues that nobody rated")
    assert found.metrics[0].low is None
    with pytest.raises(ReadError, match="unknown ones"):
        correlate(scored, Ratings(("other",), ("a",), np.ones((1, 1))))


# Plans and pictures -------------------------------------------------------------------------------------------


def test_a_plan_finds_the_power_that_simulation_gives() -> None:
    plan = plan_metrics(0.5, 0.3, 0.6, raters=5, agreement=0.4, others=[1, 50], repetitions=1000)
    five, one, fifty = plan.needs
    assert one.conversations is not None and five.conversations is not None and fifty.conversations is not None
    assert one.conversations > five.conversations > fifty.conversations
    assert one.r1 == pytest.approx(0.5 * math.sqrt(0.4 / (5 * 0.4 / 2.6)))
    root = np.linalg.cholesky(np.array([[1, 0.6, 0.5], [0.6, 1, 0.3], [0.5, 0.3, 1]]))
    told = 0
    for _ in range(600):
        r = np.corrcoef(root @ RANDOM.normal(size=(3, five.conversations)))
        told += williams(r[0, 2], r[1, 2], r[0, 1], five.conversations).p < 0.05
    assert told / 600 == pytest.approx(0.8, abs=0.06)
    assert plan_metrics(0.3, 0.30001, 0.1, repetitions=100).needs[0].conversations is None


@pytest.mark.parametrize(
    ("numbers", "options", "message"),
    [
        ((0.3, 0.3, 0.5), {}, "two different"),
        ((0.9, -0.9, 0.9), {}, "that can be together"),
        ((0.3, 0.4, 0.5), {"others": [3]}, "--agreement"),
        ((0.3, 0.4, 0.5), {"raters": 0}, "--raters"),
        ((0.3, 0.4, 0.5), {"power": 1}, "--power"),
    ],
)
def test_plans_that_cannot_be(numbers: tuple[float, float, float], options: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        plan_metrics(*numbers, **options)  # type: ignore[arg-type]


def test_more_conversations_find_lambda_better() -> None:
    scored = result(60)
    plan = plan_lambda(
        scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"], 0.5, raters=[5], factor=2, repetitions=100
    )
    assert plan.rows[-1].factor <= 2 < plan.rows[0].factor
    assert plan.needed == {5: plan.rows[-1].conversations}
    assert plan.to_dict()["needed"] == {"5": plan.rows[-1].conversations}
    for options in ({"true": 0.0}, {"true": 1.0, "factor": 1.0}):
        with pytest.raises(OptionError):
            plan_lambda(scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"], **options)


def test_charts_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(OptionError, match=r"pip install 'dsteval\[charts\]'"):
        charts.check("curve.svg")
    with pytest.raises(OptionError, match=r"\.svg or \.png"):
        charts.check("curve.pdf")


def test_the_picture_shows_the_curve() -> None:
    scored = result()
    metric, counts = scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"]
    fit = fit_lambda(metric, counts, paired(raters_of(scored)), Intervals(resamples=100))
    picture = charts.description(fit)
    values = picture["data"]["values"]
    assert [values[0]["at"], values[-1]["at"]] == [0, 1]
    assert values[0]["r"] == fit.r_zero
