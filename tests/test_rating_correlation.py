"""Metrics against ratings: correlations, the best lambda, plans of studies, and the picture of the curve."""

import importlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dsteval
from dsteval.errors import DstevalError, MetricError, OptionError, ReadError
from dsteval.rating import charts
from dsteval.rating.correlation import correlate
from dsteval.rating.fitting import LambdaFit, best, correlations, fit_lambda, lambdas, scores
from dsteval.rating.pairs import paired, resamples, unit_resamples
from dsteval.rating.planning import Crowd, plan_lambda, plan_metrics, simulated
from dsteval.rating.ratings import Ratings
from dsteval.results.result import Result
from dsteval.stats.agreement import pearson, williams
from dsteval.stats.intervals import Intervals

# Imported by name: it has no types.
scipy_stats: Any = importlib.import_module("scipy.stats")

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
        "pearson": scipy_stats.pearsonr,
        "spearman": scipy_stats.spearmanr,
        "kendall": scipy_stats.kendalltau,
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
    ratings = Ratings(("1", "2", "3", "4"), ("x",), np.array([[1.0], [0], [1], [0]]))
    pairs = paired(ratings, group=["a", "b", "a", "b"])
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
    with pytest.raises(MetricError, match="undefined for every lambda"):
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


def test_one_curve_has_no_best_lambda() -> None:
    """Errors at the last turn only: nothing is inherited, and FGA is JGA at every lambda."""
    right, wrong = {"hotel-area": "north"}, {"hotel-area": "south"}
    ref = {f"d{number}": [right] * (2 + number % 3) for number in range(9)}
    pred = {name: [*own[1:], wrong if int(name[1:]) % 2 else right] for name, own in ref.items()}
    scored = dsteval.evaluate(ref, pred, metrics=["FGA@0.5"], ci=None)
    ratings = Ratings(scored.dialogues, ("a", "b"), np.arange(18.0).reshape(9, 2) % 5)
    with pytest.raises(MetricError, match="the same for every lambda"):
        correlate(scored, ratings, fit=True)


def test_conversations_without_turns_have_no_lambda() -> None:
    scored = result(6)
    counts = scored.counts["FGA@0.5"].copy()
    counts[2] = 0
    with pytest.raises(MetricError, match="conversations with turns, found 1 without"):
        fit_lambda(scored.metrics["FGA@0.5"], counts, paired(raters_of(scored)), Intervals(resamples=100))


def test_metrics_defined_in_other_conversations() -> None:
    scored = dsteval.evaluate(
        {f"d{n}": [{"a-b": "x"}] if n else [{}] for n in range(8)},
        {f"d{n}": [{"a-b": "x"}] if n % 3 else [{}] for n in range(8)},
        metrics=["JGA", "AGA"],
        ci=None,
    )
    ratings = Ratings(scored.dialogues, ("a",), np.arange(8.0)[:, None] % 4)
    found = correlate(scored, ratings, intervals=Intervals(resamples=100))
    assert [one.conversations for one in found.metrics] == [8, 7]
    assert found.pairs[0].low is None
    assert found.pairs[0].between == pytest.approx(1)
    assert "identical in every conversation" in found.pairs[0].why


def test_unrated_dialogues_and_metrics_without_values() -> None:
    scored = result(10, ["JGA", "FGA@0.5", "GCA"])
    ratings = raters_of(result(10))
    part = Ratings(ratings.items[3:], ratings.raters, ratings.values[3:])
    found = correlate(scored, part, intervals=Intervals(level=None))
    assert found.conversations == 7
    assert found.notes[0].startswith("3 dialogues without ratings")
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
    told, random = 0, np.random.default_rng(9)
    for _ in range(600):
        r: Any = np.corrcoef(root @ random.normal(size=(3, five.conversations)))
        told += williams(r[0, 2], r[1, 2], r[0, 1], five.conversations).p < 0.05
    assert told / 600 == pytest.approx(0.8, abs=0.06)
    assert plan_metrics(0.3, 0.30001, 0.1, repetitions=5).needs[0].conversations is None


@pytest.mark.parametrize(
    ("numbers", "options", "message"),
    [
        ((0.3, 0.3, 0.5), {}, "two different"),
        ((0.9, -0.9, 0.9), {}, "that can occur together"),
        ((0.3, 0.4, 0.5), {"others": [3]}, "^agreement"),
        ((0.3, 0.4, 0.5), {"raters": 0}, "^raters"),
        ((0.3, 0.4, 0.5), {"power": 1}, "^power"),
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
    for true, factor in ((0.0, 4.0), (1.0, 1.0)):
        with pytest.raises(OptionError):
            plan_lambda(scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"], true, factor=factor)


def test_charts_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(OptionError, match=r"pip install 'dsteval\[charts\]'"):
        charts.check("curve.svg")
    with pytest.raises(OptionError, match=r"\.svg or \.png"):
        charts.check("curve.pdf")


def fitted() -> LambdaFit:
    scored = result()
    metric, counts = scored.metrics["FGA@0.5"], scored.counts["FGA@0.5"]
    return fit_lambda(metric, counts, paired(raters_of(scored)), Intervals(resamples=100))


def test_the_picture_shows_the_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fitted()
    picture = charts.description(fit)
    values = picture["data"]["values"]
    assert [values[0]["at"], values[-1]["at"]] == [0, 1]
    assert values[0]["r"] == fit.r_zero
    # A stand-in for altair: what it is handed is the picture, the name and the form.
    saved: list[object] = []
    chart = SimpleNamespace(save=lambda *path, **form: saved.extend([*path, form]))

    def from_dict(given: object) -> SimpleNamespace:
        saved.append(given)
        return chart

    altair = SimpleNamespace(Chart=SimpleNamespace(from_dict=from_dict))
    monkeypatch.setitem(sys.modules, "altair", altair)
    monkeypatch.setitem(sys.modules, "vl_convert", SimpleNamespace())
    charts.save(fit, str(tmp_path / "curve.svg"))
    assert saved == [picture, str(tmp_path / "curve.svg"), {"format": "svg"}]
