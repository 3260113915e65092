"""One system against two references: scores, and what each slot gains and loses."""

from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval.analysis.reference_change import SlotExample, two_references
from dsteval.errors import AlignmentError, OptionError, ProtocolError
from dsteval.render.rankings import reference_tables
from dsteval.render.table import to_csv, to_md
from dsteval.results.result import to_json
from dsteval.stats.intervals import Intervals
from dsteval.stats.paired import paired_bootstrap

OLD = {
    "d": [{"hotel-name": "acorn"}, {"hotel-name": "acorn", "hotel-area": "north"}],
    "e": [{}, {"train-day": "monday"}],
}
NEW = {
    "e": [{"train-day": "monday"}, {"train-day": "monday"}],
    "D.json": [{"hotel-name": "the acorn"}, {"hotel-name": "the acorn", "hotel-area": "north"}],
}
PRED = {
    "d": [{"hotel-name": "the acorn"}, {"hotel-name": "the acorn", "hotel-area": "north"}],
    "e": [{}, {"train-day": "tuesday"}],
}


def test_by_hand() -> None:
    found = two_references(PRED, {"old": OLD, "new": NEW}, metrics=["JGA"])
    assert (found.references, found.dialogues, found.turns, found.relabelled) == (("old", "new"), 2, 4, 3)
    (jga,) = found.metrics
    a, b = found.scores["JGA"]
    assert (a.value, b.value, jga.difference) == (0.25, 0.5, 0.25)
    by_slot = {one.slot: one for one in found.slots}
    assert list(by_slot) == ["hotel-name", "train-day"]
    name = by_slot["hotel-name"]
    assert (name.wrong_a, name.wrong_b, name.relabelled, name.change) == (2, 0, 2, -0.5)
    assert name.example == SlotExample("d", 0, "acorn", "the acorn", "the acorn", 2)
    day = by_slot["train-day"]
    assert (day.wrong_a, day.wrong_b, day.relabelled, day.change) == (1, 2, 1, 0.25)
    assert day.example == SlotExample("e", 0, None, "monday", None, 1)


def test_intervals_are_paired() -> None:
    found = two_references(PRED, {"old": OLD, "new": NEW}, resamples=300, seed=4)
    run = Intervals(resamples=300, seed=4)
    # The second reference has its dialogues in another order; the predictions' order is that of both results.
    results = [dsteval.evaluate(ref, PRED, resamples=300, seed=4) for ref in (OLD, NEW)]
    for one in found.metrics:
        counts = [result.counts[one.metric] for result in results]
        sums = run.sums(counts)
        values = [result.metrics[one.metric].value(sums[id(c)]) for result, c in zip(results, counts, strict=True)]
        points = [result[one.metric].value or 0.0 for result in results]
        expected = paired_bootstrap(values[1], values[0], points[1], points[0], 0.95)
        assert (one.low, one.high, one.p) == (expected.interval.low, expected.interval.high, expected.p)
        assert found.scores[one.metric] == tuple(result[one.metric] for result in results)


def test_the_sum_of_changes_is_that_of_the_wrong_slots() -> None:
    found = two_references(PRED, {"old": OLD, "new": NEW}, metrics=["SlotAccuracy"])
    (accuracy,) = found.metrics
    assert accuracy.difference == pytest.approx(-sum(one.change for one in found.slots) / 30)


def test_turned_round() -> None:
    one = two_references(PRED, {"old": OLD, "new": NEW})
    other = two_references(PRED, {"new": NEW, "old": OLD})
    for ours, theirs in zip(one.metrics, other.metrics, strict=True):
        assert ours.difference == -(theirs.difference or 0)
    changes = {slot.slot: -slot.change for slot in other.slots}
    assert {slot.slot: slot.change for slot in one.slots} == changes


def test_the_same_reference_changes_nothing() -> None:
    found = two_references(PRED, {"a": OLD, "b": OLD})
    assert found.relabelled == 0
    assert all((one.difference, one.p) == (0, 1) for one in found.metrics)
    assert all((one.change, one.example) == (0, None) for one in found.slots)


def test_references_of_one_file(tmp_path: Path) -> None:
    place = tmp_path / "predictions.json"
    turns = [
        {
            "flag": f"{dialogue}-{turn}",
            "system": "",
            "user": "",
            "predict": PRED[dialogue][turn],
            "ground_truth": OLD[dialogue][turn],
            "ground_truth_m24": {**OLD[dialogue][turn], "hotel-stars": "4"},
        }
        for dialogue in OLD
        for turn in range(2)
    ]
    place.write_text(to_json(turns))
    fields = {"2.1": "ground_truth", "2.4": "ground_truth_m24"}
    inside = two_references(place, {"2.1": None, "2.4": None}, ref_fields=fields)
    outside = two_references(place, {"2.1": place, "2.4": place}, ref_fields=fields)
    assert inside.slots == outside.slots and inside.slots[0].slot == "hotel-stars"
    assert inside.metrics == outside.metrics
    assert inside.name == "predictions"


def test_without_intervals_and_with_one_dialogue() -> None:
    plain = two_references(PRED, {"old": OLD, "new": NEW}, metrics=["JGA"], ci=None).metrics[0]
    assert (plain.difference, plain.low, plain.p, plain.note) == (0.25, None, None, "")
    single = two_references({"d": PRED["d"]}, {"a": {"d": OLD["d"]}, "b": {"D": NEW["D.json"]}}, metrics=["JGA"])
    assert single.metrics[0].note == "an interval needs at least 2 dialogues, found 1"
    empty: Any = {"d": [{}], "e": [{}]}
    undefined = two_references(empty, {"a": empty, "b": empty}, metrics=["AGA"]).metrics[0]
    assert (undefined.difference, undefined.note) == (None, "no turn has a slot")


@pytest.mark.parametrize(
    ("refs", "options", "error", "told"),
    [
        ({"a": OLD}, {}, OptionError, "refs: expected two references, found 1"),
        (
            {"a": OLD, "b": OLD},
            {"ref_fields": {"c": "x"}},
            OptionError,
            "ref_fields: expected one of a, b, found c",
        ),
        ({"a": OLD, "b": {"d": OLD["d"]}}, {"extra": "ignore"}, AlignmentError, r"b beside a: .* has \(e\)"),
        ({"a": OLD, "b": {**OLD, "d": [{}]}}, {"missing": "skip"}, AlignmentError, r"b beside a: .* has \(d\)"),
        (
            {"a": OLD, "b": OLD},
            {"protocol": "sgd", "settings": ["scope.schema=none", "scope.frames=domains"]},
            ProtocolError,
            "protocol sgd: expected whole turns, found service frames",
        ),
        (
            {"a": iter([dsteval.Dialogue("d", [])]), "b": OLD},
            {},
            OptionError,
            "a: expected a file or a dictionary",
        ),
    ],
)
def test_refused(refs: Any, options: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        two_references(PRED, refs, **options)


def test_right_or_wrong_marks_know_no_values(tmp_path: Path) -> None:
    sample = next((Path(__file__).parent / "formats/trippy-bits").iterdir())
    with pytest.raises(ProtocolError, match="a: expected values, found right/wrong marks"):
        two_references(sample, {"a": None, "b": None}, protocol="fga-trippy")


def test_tables_and_json() -> None:
    found = two_references(PRED, {"old": OLD, "new": NEW}, metrics=["JGA", "AGA"], name="tracker")
    scores, slots = reference_tables(found)
    assert scores.title == "tracker"
    assert "| JGA | 25.00 | 50.00 | +25.00 |" in to_md(scores)
    assert "the references differ at 3 turns (75.00 %)" in scores.notes[0]
    assert "| hotel-name | 2 | 0 | 2 | -50.00 | d | 0 | acorn | the acorn | the acorn |" in to_md(slots)
    _, short = reference_tables(found, 1)
    assert len(short.rows) == 1 and "1 more slots; csv and json list all" in short.notes
    assert len(to_csv(short).splitlines()) == 3
    told = found.to_dict()
    assert told["metrics"][0]["a"]["value"] == 0.25 and told["slots"][0]["example"]["turns"] == 2
    assert "NaN" not in to_json(told)
