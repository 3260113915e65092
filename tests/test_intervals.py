"""Intervals on scores: how they are asked for, what they are made of, and what is said where there is none."""

import json
from typing import Any

import numpy as np
import pytest

import dsteval
from commandline import refusal, run
from dsteval import metrics
from dsteval.stats.bootstrap import draws

REF = {f"d{n}": [{"hotel-area": "north"}] * (1 + n % 3) for n in range(30)}
PRED = {
    name: [{"hotel-area": "north" if int(name[1:]) % 4 else "south"}] * len(states) for name, states in REF.items()
}


def test_an_interval_is_the_quantiles_of_drawn_values() -> None:
    found = dsteval.evaluate(REF, PRED, metrics=["JGA"], resamples=200, seed=3)
    drawn = sorted(REF)  # dialogues are drawn in the order of their ids
    assert drawn != list(REF)
    turns = np.array([len(REF[name]) for name in drawn])
    right = np.array([len(REF[name]) if int(name[1:]) % 4 else 0 for name in drawn])
    weights = np.concatenate(list(draws(30, 200, 3)))
    values = (weights @ right) / (weights @ turns)
    score = found["JGA"]
    assert (score.low, score.high) == tuple(np.quantile(values, [0.025, 0.975]))
    assert score.error == pytest.approx(values.std(ddof=1), rel=1e-12)
    assert "|ci:boot200-dialogue|seed:3|v:" in score.signature


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_every_metric_has_one(method: Any) -> None:
    names = [f"{name}@0.5" if metrics.find(name).number_about else name for name in metrics.names()]
    found = dsteval.evaluate(REF, PRED, metrics=names, interval=method, by=["domain", "turn"])
    for score in (*found.scores, *(score for one in found.slices for score in one.scores)):
        if score.value is None:
            assert score.low is score.high is score.error is None
        else:
            assert score.low is not None and score.high is not None and score.error is not None, score
            assert score.low <= score.high
        assert ("ci:bca1000-dialogue" in score.signature) == (method == "bca")


def test_level_and_none() -> None:
    wide, narrow = (dsteval.evaluate(REF, PRED, metrics=["JGA"], ci=level)["JGA"] for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]
    assert "|level:0.99|" in wide.signature
    none = dsteval.evaluate(REF, PRED, metrics=["JGA"], ci=None)["JGA"]
    assert none.low is none.high is none.error is None
    assert "ci:" not in none.signature and "seed:" not in none.signature


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_order_of_dialogues_moves_no_interval_and_seeds_are_kept(method: Any) -> None:
    first, again = (dsteval.evaluate(REF, PRED, interval=method)["FGA@0.5"] for _ in range(2))
    assert first == again
    turned = dict(reversed(PRED.items()))
    assert dsteval.evaluate(REF, turned, interval=method)["FGA@0.5"] == first
    pairs = [
        dsteval.compare({"a": one, "b": REF}, ref=REF, metrics=["FGA@0.5"], interval=method)["FGA@0.5", "a", "b"]
        for one in (PRED, turned)
    ]
    assert pairs[0] == pairs[1]
    by_turn = [dsteval.evaluate(REF, one, interval=method, by=["length", "turn"]) for one in (PRED, turned)]
    assert {one.key: one.scores for one in by_turn[0].slices} == {one.key: one.scores for one in by_turn[1].slices}
    assert dsteval.evaluate(REF, PRED, seed=1)["FGA@0.5"].low != first.low


def test_one_dialogue_has_no_interval() -> None:
    ref = {"d": [{"hotel-area": "north"}]}
    score = dsteval.evaluate(ref, ref, metrics=["JGA"])["JGA"]
    assert score.low is None
    assert score.no_interval == "an interval needs at least 2 dialogues, found 1"
    assert score.to_dict()["no_interval"] == score.no_interval
    text = run("score", "-", "--metric", "JGA", stdin=b'{"d": {"0": {"gt": {}, "pr": {}}}}').out
    assert "an interval needs at least 2 dialogues, found 1" in text


def test_draws_in_which_a_metric_is_undefined_are_counted() -> None:
    ref: dict[str, list[dict[str, str]]] = {"a": [{"hotel-area": "north"}], "b": [{}], "c": [{}]}
    score = dsteval.evaluate(ref, ref, metrics=["AGA"])["AGA"]
    assert 200 < score.dropped < 400  # (2 / 3) ** 3 of 1000
    assert (score.low, score.high) == (1.0, 1.0)
    assert (
        f"{score.dropped} resamples undefined and left out"
        in run(
            "score",
            "-",
            "--metric",
            "AGA",
            stdin=json.dumps({n: {"0": {"gt": s[0], "pr": s[0]}} for n, s in ref.items()}).encode(),
        ).out
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--resamples", "99"], "--resamples: expected an integer from 100 to 1000000, found 99"),
        (["--ci", "95"], "--ci: expected a level between 0 and 1, such as 0.95, found 95"),
        (["--interval", "bcaa"], "Did you mean 'bca'?"),
        (["--seed", "-1"], "--seed: expected an integer from 0 to 2^64 - 1, found -1"),
    ],
)
def test_refusals(more: list[str], said: str) -> None:
    assert said in refusal(run("score", "-", *more, stdin=b'{"d": {"0": {"gt": {}, "pr": {}}}}'))
