"""Rankings: over lambda, protocols and resamples, and which pairs each metric tells apart."""

import importlib
import math
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dsteval
from compare_samples import lacking
from dsteval.analysis.lambda_curve import LAMBDAS, over_lambda
from dsteval.analysis.rankings import discriminative_power, over_protocols, over_resamples
from dsteval.errors import AlignmentError, MetricError, OptionError
from dsteval.readers import Source
from dsteval.render.rankings import discrimination_tables, lambda_tables, protocol_tables, resample_tables
from dsteval.render.table import to_csv, to_md
from dsteval.results import saved
from dsteval.results.result import Result, document, to_json
from dsteval.stats.intervals import NO_INTERVALS, Intervals, drawing_order
from generated import corpus, sides

A, B, C = {"hotel-area": "north"}, {"hotel-area": "south"}, {"hotel-area": "north", "hotel-stars": "4"}
REF = {"d": [A, A, A, C], "e": [A, A]}
STEADY = {"d": [B, B, B, C], "e": [A, A]}
"""Wrong at once, and the error inherited twice."""
LATE = {"d": [A, A, B, C], "e": [B, A]}
"""Two errors of one turn each."""

VALUES = {"hotel-area": ["north", "south"], "hotel-stars": ["3", "4"], "train-day": ["monday", "tuesday"]}
METRICS = ["JGA", "FGA@0.5", "TurnMatch", "SlotF1"]


def scored(ref: Any, systems: dict[str, Any], metrics: Any = METRICS, **options: Any) -> list[Result]:
    return [
        dsteval.evaluate(ref, pred, metrics=metrics, name=name, ci=None, **options)
        for name, pred in systems.items()
    ]


def drawn(seed: int, systems: int = 3, dialogues: int = 12) -> list[Result]:
    """Trackers of different skill on one reference."""
    ref, pred = sides(corpus(Random(seed), VALUES, dialogues=dialogues))
    made = {}
    for number in range(systems):
        chance = Random(f"{seed} {number}")
        made[f"s{number}"] = {
            name: [state if chance.random() < 0.2 * number else guess for state, guess in zip(r, p, strict=True)]
            for (name, r), p in zip(ref.items(), pred.values(), strict=True)
        }
    return scored(ref, made)


def test_curves_by_hand() -> None:
    found = over_lambda(scored(REF, {"steady": STEADY, "late": LATE}), lambdas=[3])
    assert found.lambdas == (0, 0.25, 0.5, 0.75, 1, 2, 3, math.inf)
    # steady: 3 turns of 6 right, the others a new error, then at distance 1 and 2; late: 4 right, 2 new errors.
    one, other = found.curves
    for number, value in zip(found.lambdas, one, strict=True):
        x = math.exp(-number)
        assert value == pytest.approx((3 + (1 - x) + (1 - x**2)) / 6, abs=1e-15)
    assert other == pytest.approx((4 / 6,) * 8)
    # 3 + 2 - x - x^2 = 4 at x = (sqrt 5 - 1) / 2
    crossed = -math.log((math.sqrt(5) - 1) / 2)
    assert [one.points for one in found.crossings] == [pytest.approx((crossed,), abs=1e-12)]
    assert (found.at_zero, found.at_infinity) == (("late",), ("steady",))
    assert [(one.low, one.high, one.systems) for one in found.leaders] == [
        (0, pytest.approx(crossed), ("late",)),
        (pytest.approx(crossed), math.inf, ("steady",)),
    ]
    assert found.exact and not found.notes


@given(st.integers(0, 10**6))
def test_ends_are_jga_and_turn_match_and_curves_are_fga(seed: int) -> None:
    results = drawn(seed)
    found = over_lambda(results)
    for one, curve in zip(results, found.curves, strict=True):
        assert (curve[0], curve[-1]) == (one["JGA"].value, one["TurnMatch"].value)
        assert curve[2] == one["FGA@0.5"].value
    for end, metric in ((found.at_zero, "JGA"), (found.at_infinity, "TurnMatch")):
        best = max(one[metric].value or 0 for one in results)
        assert end == tuple(one.name for one in results if one[metric].value == best)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_crossings_on_a_fine_grid(seed: int) -> None:
    results = drawn(seed)
    grid = np.geomspace(1e-3, 20, 600).tolist()
    found = over_lambda(results, lambdas=grid)
    place = [found.lambdas.index(number) for number in grid]
    curves = {name: [curve[p] for p in place] for name, curve in zip(found.systems, found.curves, strict=True)}
    for one in found.crossings:
        apart = np.subtract(curves[one.a], curves[one.b])
        assert one.identical == bool((np.abs(apart) < 1e-13).all())
        for (low, before), (high, after) in pairwise(zip(grid, apart, strict=True)):
            inside = sum(low < point <= high for point in one.points)
            if min(abs(before), abs(after)) > 1e-12:
                assert inside % 2 == (before * after < 0)
    for lead in found.leaders:
        for number, *values in zip(grid, *curves.values(), strict=True):
            if lead.low + 1e-9 < number < lead.high - 1e-9:
                first = [values[found.systems.index(name)] for name in lead.systems]
                assert min(first) == pytest.approx(max(values), abs=1e-12)


def test_order_of_systems_does_not_matter() -> None:
    results = drawn(7)
    shuffled = [replace_order(one, number) for number, one in enumerate(results)]
    seen = []
    for order in permutations(shuffled):
        curve, ranks = over_lambda(order), over_resamples(order)
        told = discriminative_power(order)
        first = ranks.metrics[0]
        assert first.best is not None
        seen.append(
            (
                {(one.low, one.high, frozenset(one.systems)) for one in curve.leaders},
                {frozenset((one.a, one.b)): one.points for one in curve.crossings},
                dict(zip(ranks.systems, first.best, strict=True)),
                [
                    (one.metric, one.separated, {frozenset((p.a, p.b)): p.p for p in one.pairs})
                    for one in told.metrics
                ],
            )
        )
    assert all(one == seen[0] for one in seen)


def replace_order(result: Result, seed: int) -> Result:
    """The same result with its dialogues in another order."""
    order = Random(seed).sample(range(len(result.dialogues)), len(result.dialogues))
    moved = result.partition.rows(order, result.coverage)
    names = tuple(name.upper() + ".json" for name in moved.dialogues)
    return replace(result, partition=replace(moved, dialogues=names), outcomes=None)


def test_variants() -> None:
    texts = ["JGA", "FGA(variant=strict)@0.5", "FGA@1"]
    results = scored(REF, {"steady": STEADY, "late": LATE}, texts)
    assert over_lambda(results).variant == "official"
    strict = over_lambda(results, "strict")
    assert strict.curves[0][2] == results[0]["FGA(variant=strict)@0.5"].value
    paper = over_lambda(results, "paper")  # not counted, but the outcomes are at hand
    assert paper.curves[0][0] == results[0]["JGA"].value
    away = [replace(one, outcomes=None) for one in results]
    assert over_lambda(away, "strict").curves == strict.curves
    with pytest.raises(MetricError, match=r"steady: expected counts of FGA\(variant=paper\), found none"):
        over_lambda(away, "paper")
    with pytest.raises(MetricError, match="expected FGA among its metrics, found none"):
        over_lambda(scored(REF, {"a": STEADY, "b": LATE}, ["JGA"]))
    only = scored(REF, {"a": STEADY, "b": LATE}, ["FGA(variant=strict)@0.5"])
    assert over_lambda(only).variant == "strict"


def test_long_dialogues() -> None:
    ref = {"d": [A] * 200, "e": [A] * 200}
    steady = {"d": [B] * 160 + [A] * 40, "e": [A] * 200}
    late = {"d": [A, B] * 50 + [A] * 100, "e": [A] * 200}
    short = over_lambda(scored(ref, {"steady": steady, "late": late}))
    (crossed,) = short.crossings[0].points
    results = scored(
        ref, {"steady": steady, "late": late}, [f"FGA@{crossed * (1 - 1e-9)}", f"FGA@{crossed * (1 + 1e-9)}"]
    )
    before, after = ([one.scores[end].value or 0 for one in results] for end in (0, 1))
    assert before[0] < before[1] and after[0] > after[1]
    assert [one.systems for one in short.leaders] == [("late",), ("steady",)]
    same = over_lambda(scored(ref, {"steady": steady, "twin": steady}))
    assert same.crossings[0].identical and same.leaders[0].systems == ("steady", "twin")


def test_identical_systems() -> None:
    results = scored(REF, {"a": STEADY, "b": STEADY})
    curve = over_lambda(results)
    assert curve.crossings[0].identical and curve.at_zero == curve.at_infinity == ("a", "b")
    assert [one.systems for one in curve.leaders] == [("a", "b")]
    standing = over_resamples(results).metrics[0]
    assert standing.best == (0.5, 0.5)
    told = discriminative_power(results).metrics[0]
    assert (told.separated, told.compared, told.pairs[0].p, told.pairs[0].difference) == (0, 1, 1.0, 0.0)


def test_one_dialogue_is_too_few() -> None:
    results = scored({"d": REF["d"]}, {"a": {"d": STEADY["d"]}, "b": {"d": LATE["d"]}})
    standing = over_resamples(results).metrics[0]
    assert standing.best is None and standing.note == "an interval needs at least 2 dialogues, found 1"
    told = discriminative_power(results)
    assert told.note == standing.note
    assert (told.metrics[0].compared, told.metrics[0].share, told.metrics[0].pairs[0].p) == (0, None, None)


def test_shares_by_plain_counting() -> None:
    results = drawn(3)
    intervals = Intervals(resamples=200, seed=9)
    found = over_resamples(results, ["JGA"], intervals).metrics[0]
    counts = [one.counts["JGA"][drawing_order(one.dialogues)] for one in results]
    sums = intervals.sums(counts)
    values = np.stack([sums[id(one)][:, 1] for one in counts])
    best = np.zeros(3)
    for column in values.T:
        first = column == column.max()
        best += first / first.sum()
    assert found.best == pytest.approx(tuple(best / 200))
    assert found.ranks is not None
    assert [sum(row) for row in found.ranks] == pytest.approx([1, 1, 1])


def test_undefined_metrics() -> None:
    empty: Any = {"d": [{}, {}], "e": [{}]}
    results = scored(empty, {"a": empty, "b": empty}, ["JGA", "AGA"])
    ranks = over_resamples(results)
    assert ranks.metrics[1].note == "undefined in every resample"
    told = discriminative_power(results)
    assert (told.metrics[1].compared, told.metrics[1].share) == (0, None)
    assert "AGA: undefined in every resample" in to_md(resample_tables(ranks)[0])
    gone = [lacking(results[0], "AGA"), results[1]]
    assert over_resamples(gone).metrics[1].note == "undefined for a, b"


def test_discriminative_power_agrees_with_single_tests() -> None:
    results = drawn(11, systems=4, dialogues=30)
    found = discriminative_power(results, intervals=Intervals(resamples=500))
    for one in found.metrics:
        assert [(pair.a, pair.b) for pair in one.pairs] == list(combinations(found.systems, 2))
        assert one.separated == sum((pair.p or 1) <= 0.05 for pair in one.pairs)
        assert one.separated_holm == sum((pair.p_holm or 1) <= 0.05 for pair in one.pairs) <= one.separated
        for pair in one.pairs:
            a, b = (next(r for r in results if r.name == name)[one.metric].value for name in (pair.a, pair.b))
            assert a is not None and b is not None and pair.difference == pytest.approx(a - b)
            assert pair.p is not None and pair.low is not None and pair.high is not None
            if abs(pair.p - 0.05) > 0.02:
                assert (pair.p < 0.05) == (pair.low > 0 or pair.high < 0)
    jga = found.metrics[0]
    smallest = min(pair.p or 1 for pair in jga.pairs)
    at_it = discriminative_power(results, ["JGA"], Intervals(resamples=500), alpha=smallest).metrics[0]
    assert at_it.separated == sum(pair.p == smallest for pair in jga.pairs) and at_it.compared == 6


def test_saved_results_give_the_same(tmp_path: Path) -> None:
    results = drawn(5)
    place = tmp_path / "saved.json"
    place.write_text(to_json(document(results, keep=True)))
    kept = saved.load(Source.open(place))
    for ranking in (over_lambda, over_resamples, discriminative_power):
        assert ranking(results).to_dict() == ranking(kept).to_dict()


def test_protocols() -> None:
    ref = {"d": [{"hotel-type": "guest house"}, {"hotel-type": "guest house", "hotel-stars": "4"}]}
    literal = {"d": [{"hotel-type": "guest house"}, {}]}
    loose = {"d": [{"hotel-type": "guesthouse"}, {"hotel-type": "guesthouse", "hotel-stars": "4"}]}
    found = over_protocols(ref, {"literal": literal, "loose": loose})
    entries = {one.protocol: one for one in found.protocols}
    assert (entries["exact"].values, entries["exact"].ranks, entries["exact"].tau) == ((0.5, 0.0), (1, 2), 1.0)
    assert (entries["normalised"].ranks, entries["normalised"].tau) == ((2, 1), -1.0)
    assert entries["normalised"].swapped == (("literal", "loose"),) and not entries["exact"].swapped
    assert "--variants FILE" in found.not_applicable["trippy"]
    assert set(entries) | set(found.not_applicable) == set(dsteval.protocols.model.names())
    assert sum(found.firsts) == pytest.approx(len(entries))
    for name, entry in entries.items():
        for pred, value in zip((literal, loose), entry.values, strict=True):
            assert dsteval.evaluate(ref, pred, metrics=["JGA"], protocol=name)["JGA"].value == value
    few = over_protocols(ref, {"literal": literal, "loose": loose}, "SlotF1", ["normalised"])
    assert [one.protocol for one in few.protocols] == ["exact", "normalised"] and few.metric == "SlotF1"


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=2))
def test_tau_is_kendalls(values: list[list[int]]) -> None:
    from dsteval.analysis.rankings import _entry

    one, base = (tuple(value / 4 for value in side) for side in values)
    found = _entry("p", one, base, ("a", "b", "c", "d"), lower_is_better=False)
    expected = importlib.import_module("scipy.stats").kendalltau(one, base).statistic
    assert found.tau is None if math.isnan(expected) else found.tau == pytest.approx(expected)
    assert found.ranks == tuple(1 + sum(other > own for other in one) for own in one)
    lower = _entry("p", one, base, ("a", "b", "c", "d"), lower_is_better=True)
    assert lower.ranks == tuple(1 + sum(other < own for other in one) for own in one) and lower.tau == found.tau


def test_protocols_that_do_not_apply() -> None:
    ref = {"d": [{"hotel-area": ["north", "centre"]}]}
    one = over_protocols(ref, {"a": ref, "b": {"d": [{}]}}, protocols=["trade"])
    assert [entry.protocol for entry in one.protocols] == ["exact"]
    assert "found a list of 2 values" in one.not_applicable["trade"]
    with pytest.raises(AlignmentError, match="have no prediction"):
        over_protocols({**ref, "e": [{}]}, {"a": ref, "b": ref})
    with pytest.raises(AlignmentError, match="the same dialogues"):
        over_protocols({**ref, "e": [{}]}, {"a": {**ref, "e": [{}]}, "b": ref}, missing="skip")
    train = {"d": [{"train-day": "monday", "hotel-area": "north"}]}
    gone = over_protocols(train, {"a": train, "b": train}, protocols=["dstc10"])
    assert "1 others among 2 (train-day)" in gone.not_applicable["dstc10"]
    frames = ["scope.schema=none", "scope.frames=domains"]
    gone = over_protocols(train, {"a": train, "b": train}, "FrameJGA", ["sgd"], settings=frames)
    assert "service frames" in gone.not_applicable["exact"]
    assert gone.base == "sgd"


@pytest.mark.parametrize(
    ("systems", "options", "told"),
    [
        ({"a": REF}, {}, "systems: expected at least 2, found 1"),
        ({"a": REF, "b": REF}, {"protocols": ["exat"]}, "Did you mean 'exact'"),
        ({"a": REF, "b": iter([dsteval.Dialogue("d", [])])}, {}, "b: expected a file or a dictionary"),
    ],
)
def test_refused_rankings_over_protocols(systems: Any, options: Any, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        over_protocols(REF, systems, **options)


def test_what_cannot_stand_side_by_side() -> None:
    one, other = scored(REF, {"a": STEADY, "b": LATE})
    with pytest.raises(OptionError, match="expected at least 2, found 1"):
        over_lambda([one])
    with pytest.raises(OptionError, match="found 'a' twice"):
        over_resamples([one, one])
    with pytest.raises(
        AlignmentError, match=r"c beside a: expected the same protocol, exact@2 .*, found normalised"
    ):
        over_lambda([one, *scored(REF, {"c": LATE}, protocol="normalised")])
    with pytest.raises(AlignmentError, match="c beside a: expected the same reference"):
        over_lambda([one, *scored({**REF, "e": [A, B]}, {"c": LATE})])
    part = scored(REF, {"c": {"d": REF["d"]}}, missing="skip")
    with pytest.raises(AlignmentError, match=r"the same dialogues and turns, found 1 that only one has \(e\)"):
        discriminative_power([one, *part])
    shorter = replace(other, partition=replace(other.partition, turns_per_dialogue=(3, 2)))
    with pytest.raises(AlignmentError, match="found turns of d: 4 and 3"):
        over_resamples([one, shorter])
    with pytest.raises(MetricError, match="AGA"):
        over_resamples([one, other], ["AGA"])
    with pytest.raises(OptionError, match="alpha: expected a share between 0 and 1, found 5"):
        discriminative_power([one, other], alpha=5)
    wide = scored(REF, {"a": STEADY}, ["SlotAccuracy"], slots=30)
    wider = scored(REF, {"b": STEADY}, ["SlotAccuracy"], slots=31)
    with pytest.raises(AlignmentError, match=r"expected the same \|S\|, 30, found 31"):
        over_resamples([*wide, *wider])


def test_tables_and_json() -> None:
    results = scored(REF, {"steady": STEADY, "late": LATE})
    curve = over_lambda(results)
    text = to_md(lambda_tables(curve)[0])
    assert "| steady | 50.00 |" in text and "FGA@inf" in text
    assert curve.to_dict()["lambdas"][-1] == "inf" and curve.to_dict()["leaders"][-1]["high"] == "inf"
    assert len(LAMBDAS) == 7
    protocols = over_protocols(REF, {"steady": STEADY, "late": LATE})
    assert "50.00 (2)" in to_csv(protocol_tables(protocols)[0])
    told = discriminative_power(results)
    assert to_md(discrimination_tables(told)[0]).startswith("| metric | pairs | % | Holm | % (Holm) |")
    assert "| JGA | steady | late | -16.67 |" in to_md(discrimination_tables(told)[1])
    for one in (curve, protocols, told, over_resamples(results, intervals=NO_INTERVALS)):
        assert "NaN" not in to_json(one.to_dict()) and "null" not in to_json(one.to_dict())
