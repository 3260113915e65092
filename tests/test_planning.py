"""Plans: standard errors, dialogues needed, and the smallest difference that can be told."""

import math
from typing import Any

import numpy as np
import pytest

import dsteval
from dsteval.analysis.sample_size import plan
from dsteval.errors import OptionError
from dsteval.render.rankings import plan_tables
from dsteval.render.table import to_md
from dsteval.results.result import Result, to_json
from dsteval.stats.intervals import Intervals

A, B = {"hotel-area": "north"}, {"hotel-area": "south"}
REF = {name: [A, A] for name in "pqrs"}
FIRST = {"p": [A, A], "q": [A, B], "r": [A, A], "s": [B, B]}
SECOND = {"s": [B, B], "p": [A, B], "q": [A, B], "r": [B, B]}


def scored(systems: Any, ref: Any = REF, metrics: Any = ("JGA",)) -> list[Result]:
    return [dsteval.evaluate(ref, pred, metrics=metrics, name=name, ci=None) for name, pred in systems.items()]


def test_by_hand() -> None:
    found = plan(scored({"a": FIRST, "b": SECOND}), difference=0.1)
    # Dialogues of one length: each moves JGA by its own share.
    shares = {"a": [1, 0.5, 1, 0], "b": [0.5, 0.5, 0, 0]}
    for one in found.systems:
        assert one.sigma == pytest.approx(np.std(shares[one.system], ddof=1))
        assert one.value == np.mean(shares[one.system])
    (pair,) = found.pairs
    spread = float(np.std(np.subtract(shares["a"], shares["b"]), ddof=1))
    assert (pair.difference, pair.target) == (0.375, 0.1)
    assert pair.sigma == pytest.approx(spread)
    factor = 1.959964 + 0.841621
    assert pair.needed == math.ceil((factor * spread / 0.1) ** 2)
    assert pair.detectable == pytest.approx(factor * spread / 2, rel=1e-6)


def test_the_observed_difference_is_the_default() -> None:
    (pair,) = plan(scored({"a": FIRST, "b": SECOND})).pairs
    assert pair.target == 0.375
    assert pair.needed is not None and pair.sigma is not None and pair.detectable is not None
    # As many dialogues as are needed tell just that difference.
    assert pair.detectable * math.sqrt(4 / pair.needed) <= 0.375
    assert pair.detectable * math.sqrt(4 / (pair.needed - 1)) > 0.375


def test_order_of_systems_does_not_matter() -> None:
    one, other = plan(scored({"a": FIRST, "b": SECOND})), plan(scored({"b": SECOND, "a": FIRST}))
    assert (one.pairs[0].needed, one.pairs[0].detectable) == (other.pairs[0].needed, other.pairs[0].detectable)
    assert one.pairs[0].difference == -(other.pairs[0].difference or 0)
    assert {s.system: (s.sigma, s.error) for s in one.systems} == {
        s.system: (s.sigma, s.error) for s in other.systems
    }


def test_errors_are_those_of_the_intervals() -> None:
    (result,) = [dsteval.evaluate(REF, FIRST, metrics=["JGA", "SlotF1"], resamples=400, seed=3)]
    found = plan([result], intervals=Intervals(resamples=400, seed=3))
    assert [one.error for one in found.systems] == [score.error for score in result.scores]
    assert found.pairs == () and len(plan_tables(found)) == 1


def test_what_cannot_be_planned_is_told() -> None:
    same = plan(scored({"a": FIRST, "b": FIRST})).pairs[0]
    assert (same.difference, same.needed, same.detectable) == (0, None, None)
    assert same.note == "the difference is the same in every dialogue, so no sample size can be estimated"
    even = {"p": [A, B], "q": [A, A], "r": [A, A], "s": [B, B]}
    other = {"p": [A, A], "q": [A, B], "r": [A, A], "s": [B, B]}
    tied = plan(scored({"a": even, "b": other})).pairs[0]
    assert (tied.target, tied.needed) == (None, None) and tied.detectable is not None
    assert tied.note == "the systems do not differ; give the difference to detect"
    assert plan(scored({"a": even, "b": other}), difference=0.01).pairs[0].needed is not None
    single = plan(scored({"a": {"p": [A, A]}, "b": {"p": [A, B]}}, {"p": [A, A]}), difference=0.01)
    assert single.systems[0].note == single.pairs[0].note == "an interval needs at least 2 dialogues, found 1"
    assert single.systems[0].error is None and single.pairs[0].needed is None
    empty: Any = {"p": [{}], "q": [{}]}
    undefined = plan(scored({"a": empty, "b": empty}, empty, ["AGA"]))
    assert undefined.systems[0].note == undefined.pairs[0].note == "the metric is undefined"


@pytest.mark.parametrize("difference", [0, -0.01, math.inf, math.nan])
def test_refused(difference: float) -> None:
    with pytest.raises(OptionError, match="difference: expected a number above 0"):
        plan(scored({"a": FIRST, "b": SECOND}), difference=difference)
    with pytest.raises(OptionError, match="expected at least 1, found 0"):
        plan([])
    with pytest.raises(OptionError, match="power"):
        plan(scored({"a": FIRST, "b": SECOND}), power=1.5)


def test_tables_and_json() -> None:
    found = plan(scored({"a": FIRST, "b": SECOND}), difference=0.1)
    systems, pairs = plan_tables(found)
    assert "| JGA | a | 62.50 |" in to_md(systems)
    assert f"| JGA | a | b | +37.50 | 47.87 | 10.00 | {found.pairs[0].needed} | 67.06 |" in to_md(pairs)
    assert found.to_dict()["pairs"][0]["needed"] == 180
    assert "NaN" not in to_json(plan(scored({"a": FIRST, "b": FIRST})).to_dict())
