"""Several runs of one system: means, deviations, and agreement turn by turn."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dsteval
from dsteval.analysis.seed_runs import repeated
from dsteval.errors import AlignmentError, OptionError
from dsteval.readers import Source
from dsteval.render.rankings import repeats_tables
from dsteval.render.table import to_md
from dsteval.results import saved
from dsteval.results.result import Result, document, to_json

A, B = {"hotel-area": "north"}, {"hotel-area": "south"}
REF = {"d": [A, A], "e": [A, A]}
RUNS = {
    "one": {"d": [A, A], "e": [A, B]},
    "two": {"e": [A, B], "d": [A, B]},
    "three": {"d": [A, B], "e": [B, A]},
}


def runs(made: Any = RUNS, ref: Any = REF, metrics: Any = ("JGA", "AGA"), **options: Any) -> list[Result]:
    return [
        dsteval.evaluate(ref, pred, metrics=metrics, name=name, ci=None, **options) for name, pred in made.items()
    ]


def test_by_hand() -> None:
    found = repeated(runs())
    assert (found.runs, found.dialogues, found.turns) == (("one", "two", "three"), 2, 4)
    one = found.metrics[0]
    assert (one.metric, one.values, one.mean, one.low, one.high) == ("JGA", (0.75, 0.5, 0.5), 7 / 12, 0.5, 0.75)
    assert one.deviation == pytest.approx(np.std([0.75, 0.5, 0.5], ddof=1))
    # Turns d0 d1 e0 e1: 1110, 1010, 1001 are right, though the second run's file begins with e.
    agreed = found.agreement
    assert agreed is not None
    assert agreed.pairs == ((1.0, 0.75, 0.25), (0.75, 1.0, 0.5), (0.25, 0.5, 1.0))
    assert agreed.mean == pytest.approx(0.5)
    assert (agreed.right_in_all, agreed.right_in_any) == (0.25, 1.0)
    # Of the 3 pairs 3, 1, 1, 1 agree at the four turns; 7 of 12 marks are right.
    chance = (7 / 12) ** 2 + (5 / 12) ** 2
    assert agreed.kappa == pytest.approx((6 / 12 - chance) / (1 - chance))


def test_order_of_runs_does_not_matter() -> None:
    one, other = repeated(runs()), repeated(runs()[::-1])
    assert one.metrics[0].mean == other.metrics[0].mean
    assert one.agreement is not None and other.agreement is not None
    assert one.agreement.pairs == tuple(row[::-1] for row in other.agreement.pairs[::-1])
    assert one.agreement.kappa == other.agreement.kappa


def test_a_saved_run_tells_no_turns(tmp_path: Path) -> None:
    place = tmp_path / "saved.json"
    place.write_text(to_json(document(runs(), keep=True)))
    live, kept = runs(), saved.load(Source.open(place))
    found = repeated([*live[:2], kept[2]])
    assert found.agreement is None and found.note.endswith("saved results hold only counts (three)")
    assert found.metrics == repeated(live).metrics
    assert found.note in to_md(repeats_tables(found)[0])


def test_all_right_has_no_kappa() -> None:
    found = repeated(runs({"one": REF, "two": REF}))
    assert found.agreement is not None
    assert (found.agreement.kappa, found.agreement.mean) == (None, 1.0)
    assert found.metrics[0].deviation == 0
    assert "| Fleiss' kappa | - |" in to_md(repeats_tables(found)[1])


def test_undefined_runs_are_dropped() -> None:
    empty: Any = {"d": [{}, {}], "e": [{}, {}]}
    found = repeated(runs({"one": empty, "two": empty}, empty))
    (jga, aga) = found.metrics
    assert (aga.values, aga.mean, aga.deviation, aga.low, aga.dropped) == ((None, None), None, None, None, 2)
    assert jga.mean == 1.0
    assert "AGA: 2 runs undefined and left out" in to_md(repeats_tables(found)[0])


def test_frames_are_the_unit_under_sgd() -> None:
    frames = ["scope.schema=none", "scope.frames=domains"]
    results = runs(metrics=["FrameJGA", "JGA"], protocol="sgd", settings=frames)
    found = repeated(results, ["FrameJGA"])
    assert found.agreement is not None and found.turns == 20  # five services at each turn
    assert found.agreement.right_in_all == 17 / 20


def test_refused() -> None:
    one, two, _ = runs()
    with pytest.raises(OptionError, match="expected at least 2, found 1"):
        repeated([one])
    with pytest.raises(AlignmentError, match=r"x beside one: .* found 1 that only one has \(e\)"):
        repeated([one, *runs({"x": {"d": [A, A]}}, missing="skip")])
    assert two.outcomes is not None
    moved = {**two.outcomes.units, "turn": two.outcomes.units["turn"] + 1}
    with pytest.raises(
        AlignmentError, match="expected the same turns, dialogue 'd', turn 0, found dialogue 'd', turn 1"
    ):
        repeated([one, replace(two, outcomes=replace(two.outcomes, units=moved))])


def test_tables_and_json() -> None:
    found = repeated(runs(), ["JGA"])
    head, shares, pairs = repeats_tables(found)
    assert "| JGA | 58.33 | 14.43 | 50.00 | 75.00 | 75.00 | 50.00 | 50.00 |" in to_md(head)
    assert "| right in all runs | 25.00 |" in to_md(shares)
    assert "| one | 100.00 | 75.00 | 25.00 |" in to_md(pairs)
    told = found.to_dict()
    assert told["metrics"][0]["deviation"] == pytest.approx(math.sqrt(1 / 48))
    assert "NaN" not in to_json(told)
