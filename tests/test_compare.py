"""``dsteval.compare``: numbers, pairing by id, what is refused, and what is said."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dsteval
from compare_samples import FEW, METRICS, REF, SYSTEMS, States, compared, lacking, noisy, results
from dsteval.analysis.comparison import Comparison, compare
from dsteval.errors import AlignmentError, DstevalError, MetricError, OptionError
from dsteval.metrics import total
from dsteval.readers import Source
from dsteval.results.result import Result
from dsteval.results.saved import load
from dsteval.stats.bootstrap import bca, jackknife, percentile, resampled
from dsteval.stats.paired import holm, mcnemar, paired_bootstrap, permutation


def test_by_hand() -> None:
    ref = {"x": [{"hotel-area": "north"}], "y": [{"hotel-area": "east"}] * 3, "z": [{"train-day": "monday"}] * 2}
    a = {"x": ref["x"], "y": ref["y"], "z": [{"train-day": "monday"}, {}]}
    b = {"x": [{}], "y": [{"hotel-area": "east"}, {}, {}], "z": ref["z"]}
    found = compare({"a": a, "b": b}, ref, metrics=["JGA", "SlotAccuracy"])
    jga, match = found["JGA", "a", "b"], found["DialogueMatch", "a", "b"]
    assert jga.difference == pytest.approx(5 / 6 - 3 / 6)
    assert match.difference == pytest.approx(2 / 3 - 1 / 3)
    assert match.p == mcnemar(2, 1) == 1.0  # x and y only in a, z only in b
    assert "2 only a, 1 only b" in match.note
    # Of the 27 draws of three dialogues the smallest difference is that of z three times: 3 of 6 against 6 of 6.
    assert jga.low is not None and jga.low >= -0.5
    assert found["SlotAccuracy", "a", "b"].difference == pytest.approx((1 - 1 / 180) - (1 - 3 / 180))
    turned = found["JGA", "b", "a"]
    assert (turned.difference, turned.low, turned.high) == (-jga.difference, -jga.high, -jga.low)  # type: ignore
    assert turned.p == jga.p


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_the_numbers_are_those_of_the_statistics(test: str, interval: Any) -> None:
    found = compared(test=test, interval=interval)
    held = results()
    for text in METRICS:
        metric = held["good"].metrics[text]
        counts = {name: one.counts[text] for name, one in held.items()}
        drawn = dict(zip(counts, resampled(list(counts.values()), len(REF), 200, 7), strict=True))
        p_values = []
        for a, b in [("good", "fair"), ("good", "poor"), ("fair", "poor")]:
            values = [metric.value(drawn[name]) for name in (a, b)]
            points = [float(metric.value(total(counts[name]))) for name in (a, b)]
            paired = paired_bootstrap(values[0], values[1], points[0], points[1], 0.95)
            between = paired.interval
            if interval == "bca":
                left = jackknife(counts[a], metric.value) - jackknife(counts[b], metric.value)
                between = bca(values[0] - values[1], paired.difference, left, 0.95)
            swapped = permutation(counts[a], counts[b], metric.value, 200, 7)
            p_values.append(paired.p if test == "bootstrap" else swapped.p)
            one = found[text, a, b]
            assert (one.difference, one.p, one.test) == (paired.difference, p_values[-1], f"paired-{test}")
            assert (one.low, one.high, one.error) == between[:3]
        for one, p in zip([one for one in found.differences if one.metric == text], holm(p_values), strict=True):
            assert one.p_holm == p
        for system in found.systems:
            own = percentile(metric.value(drawn[system.name]), 0.95)
            if interval == "percentile":
                assert (system[text].low, system[text].high) == (own.low, own.high)


def test_the_systems_scores_are_those_of_evaluate() -> None:
    found = compared()
    for name, alone in results(**FEW).items():
        system = next(one for one in found.systems if one.name == name)
        assert system.scores == alone.scores


def test_dialogues_are_paired_by_id() -> None:
    shuffled = {
        name: {f"{key.upper()}.json": pred[key] for key in random.Random(seed).sample(list(pred), len(pred))}
        for seed, (name, pred) in enumerate(SYSTEMS.items())
    }
    found, plain = compared(shuffled), compared()
    for one, other in zip(found.differences, plain.differences, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=1e-12)
    # The dialogues are sorted now, as they were: the draws are the same.
    assert found.differences == plain.differences
    assert [one.dialogues for one in found.systems[1:]] != [plain.systems[0].dialogues] * 2
    assert len({tuple(map(str.casefold, one.dialogues)) for one in found.systems}) == 1


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_the_order_of_systems_does_not_matter(test: str) -> None:
    other_order = {"poor": dict(reversed(SYSTEMS["poor"].items()))}
    systems = {**SYSTEMS, **other_order}
    plain, turned = compared(systems, test=test), compared(dict(reversed(systems.items())), test=test)
    assert len(plain.differences) == len(turned.differences) == 3 * (len(METRICS) + 1)
    for one in plain.differences:
        other = turned[one.metric, one.a, one.b]
        for key in ("difference", "low", "high", "p", "p_holm"):
            assert getattr(other, key) == pytest.approx(getattr(one, key), abs=1e-12), (one.metric, key)
    for text in METRICS:
        assert set(plain.best(text)) == set(turned.best(text)) and set(plain.behind(text)) == set(
            turned.behind(text)
        )


def test_saved_is_live(tmp_path: Path) -> None:
    held = results()
    paths = {}
    for name, one in held.items():
        paths[name] = tmp_path / f"{name}.json"
        paths[name].write_text(json.dumps(one.to_dict(keep=True)))
    live = compared()
    saved = compared([load(Source.open(path))[0] for path in paths.values()], ref=None)
    mixed = compared({"good": SYSTEMS["good"], "fair": paths["fair"], "poor": held["poor"]})
    assert live.differences == saved.differences == mixed.differences
    for one, other, third in zip(live.systems, saved.systems, mixed.systems, strict=True):
        assert one.scores == other.scores == third.scores
    again = tmp_path / "again.json"
    again.write_text(json.dumps(live.to_dict(keep=True)))
    assert compared(load(Source.open(again)), ref=None).differences == live.differences
    whole = compared({"all": again, "more": noisy(REF, 0.5, 9)})
    assert [one.name for one in whole.systems] == ["good", "fair", "poor", "more"]


def test_other_metrics_from_the_same_counts() -> None:
    found = compare(list(results().values()), metrics=["FGA@0.123"])
    assert [score.metric for score in found.systems[0].scores] == ["FGA@0.123"]
    assert {one.metric for one in found.differences} == {"FGA@0.123"}  # without JGA no McNemar
    with pytest.raises(MetricError, match="RSA"):
        compare(list(results().values()), metrics=["RSA"])


def test_identical_systems() -> None:
    found = compared({"a": SYSTEMS["fair"], "b": SYSTEMS["fair"]})
    for one in found.differences:
        assert (one.difference, one.low, one.high, one.error) == (0, 0, 0, 0), one
        assert one.p == one.p_holm == 1
        assert one.test == "mcnemar" or one.note == "identical in every dialogue"
    assert found.best("JGA") == ["a", "b"] and found.behind("JGA") == []


def test_one_dialogue_has_no_interval_and_no_test() -> None:
    one = {"d00": REF["d00"]}
    found = compared({"a": one, "b": {"d00": [{} for _ in one["d00"]]}}, one)
    for difference in found.differences:
        assert difference.difference is not None
        assert (difference.low, difference.high, difference.error, difference.p, difference.p_holm) == (None,) * 5
        assert difference.note == "intervals and tests need at least 2 dialogues, found 1"
    assert all(score.no_interval for system in found.systems for score in system.scores)
    assert "undefined" not in str(found) and json.dumps(found.to_dict())


def test_an_empty_system_is_scored_and_said() -> None:
    empty: States = {name: [{} for _ in turns] for name, turns in REF.items()}
    found = compared({"good": SYSTEMS["good"], "empty": empty})
    assert found["SlotF1", "good", "empty"].difference is not None
    assert any("every predicted state is empty" in note for note in found.systems[1].notes)
    assert found.behind("SlotF1") == ["empty"]


def test_a_metric_that_one_system_lacks() -> None:
    """Marks without values have no AGA where no reference is given."""
    held = list(results(metrics=["JGA", "AGA"]).values())
    held[1] = lacking(held[1], "AGA")
    found = compare(held)
    assert [one.name for one in found.systems if one["AGA"].value is None] == ["fair"]
    aga = {(one.a, one.b): one for one in found.differences if one.metric == "AGA"}
    assert aga["good", "fair"].note == "undefined for fair: no values"
    assert aga["good", "fair"].p is None is aga["good", "fair"].p_holm
    assert aga["good", "poor"].p == aga["good", "poor"].p_holm  # one pair is left
    assert found.best("AGA") == ["good"] and found.behind("AGA") == ["poor"]


def test_less_is_better_where_it_counts_errors() -> None:
    found = compared(metrics=["OriginErrors"])
    assert found.best("OriginErrors") == ["good"] and "poor" in found.behind("OriginErrors")
    one = found["OriginErrors", "good", "poor"]
    assert one.difference is not None and one.difference < 0
    assert (one.worse, one.turned().worse) == ("poor", "poor")


def test_a_metric_that_is_no_share_is_shown_as_it_is() -> None:
    found = compared(metrics=["ErrorLifetime"])
    one = found["ErrorLifetime", "good", "poor"]
    assert one.difference is not None
    assert f"good - poor  {one.difference:+.2f}" in str(found)


def test_resamples_without_a_value_are_said() -> None:
    ref: States = {"x": [{"hotel-area": "north"}], **{f"e{number}": [{}] for number in range(4)}}
    found = compare({"a": ref, "b": {**ref, "x": [{}]}}, ref, metrics=["AGA"])
    assert "resamples are undefined and left out" in found.differences[0].note


def test_turns_may_differ_where_each_file_has_its_reference() -> None:
    held = results()
    first, *rest = held["fair"].turns_per_dialogue
    partition = replace(held["fair"].partition, turns_per_dialogue=(first + 1, *rest))
    longer = replace(held["fair"], partition=partition)
    with pytest.raises(AlignmentError, match=r"different numbers of turns in 1 \(d00\)"):
        compare([held["good"], longer])


def refusals() -> dict[str, tuple[list[Result], str]]:
    held = results()
    good = held["good"]
    other_labels = {**REF, "d00": [{"hotel-area": "elsewhere"} for _ in REF["d00"]]}
    elsewhere = dsteval.evaluate(other_labels, SYSTEMS["fair"], metrics=METRICS, name="b")
    ruled = dsteval.evaluate(REF, SYSTEMS["fair"], metrics=METRICS, name="b", protocol="normalised")
    changed = dsteval.evaluate(REF, SYSTEMS["fair"], metrics=METRICS, name="b", settings=["states.dontcare=drop"])
    sized = dsteval.evaluate(REF, SYSTEMS["fair"], metrics=METRICS, name="b", slots=37)
    fewer = dsteval.evaluate(REF, SYSTEMS["fair"], metrics=["JGA", "RSA"], name="b")
    return {
        "reference": ([good, elsewhere], r"b beside good: expected the same reference, \w{6} of 20 dialogues"),
        "protocol": ([good, ruled], r"expected the same protocol, exact@2 \(\w+\), found normalised@2"),
        "settings": ([good, changed], r"found exact@2\[states.dontcare=drop\]"),
        "slots": (
            [good, sized],
            r"expected \|S\| = \d+, the slots that occur, or the same \|S\| for all, found 37 beside 30",
        ),
        "metrics": ([good, fewer], r"expected the same metrics, found AGA, .*RSA, .* in only one of them"),
        "one": ([good], r"expected at least two systems, found 1"),
        "none": ([], r"expected at least two systems, found 0"),
        "twice": ([good, good], r"found 'good' twice"),
    }


@pytest.mark.parametrize("kind", list(refusals()))
def test_refused(kind: str) -> None:
    held, message = refusals()[kind]
    with pytest.raises(DstevalError, match=message):
        compare(held)


def test_another_size_of_s_does_not_matter_where_it_is_not_counted() -> None:
    a, b = (dsteval.evaluate(REF, SYSTEMS["fair"], name=name, slots=size) for name, size in (("a", 30), ("b", 37)))
    assert compare([a, b], metrics=["JGA", "FGA@1"])["JGA", "a", "b"].difference == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "Unknown test 't-test'"),
        ({"baselines": ["everything"]}, "Unknown baseline 'everything'"),
        ({"metrics": "JGA"}, "expected a list of metrics"),
        ({"resamples": 99}, "resamples"),
        ({"ci": 95}, "ci"),
        ({"sed": 3}, "Unknown option 'sed'"),
        ({"metrics": []}, "expected at least one metric"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        compared(**options)
    with pytest.raises(OptionError, match=message):
        compare(list(results().values()), **{"metrics": METRICS, **options})


def test_without_intervals_there_are_still_tests() -> None:
    found, usual = compared(ci=None), compared()
    for one, other in zip(found.differences, usual.differences, strict=True):
        assert (one.low, one.high, one.error) == (None, None, None)
        assert (one.difference, one.p, one.p_holm) == (other.difference, other.p, other.p_holm)


def test_printing_and_looking_up() -> None:
    found = compared(metrics=["JGA"])
    lines = str(found).splitlines()
    assert len(lines) == 6 and lines[0].startswith("JGA  good - fair") and "after Holm" in lines[0]
    with pytest.raises(MetricError, match="No comparison of 'good' and 'best' by 'JGA'"):
        found["JGA", "good", "best"]
    assert dsteval.compare is compare and dsteval.Comparison is Comparison
    assert not any(math.isnan(one.p or 0) for one in found.differences)
    assert np.isfinite([one.difference for one in found.differences if one.difference is not None]).all()
