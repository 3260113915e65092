"""Partitions: what scoring leaves adds up, and every score comes from it."""

from copy import deepcopy
from dataclasses import replace
from functools import reduce
from itertools import permutations
from pathlib import Path

import pytest

import dsteval
from compare_samples import METRICS, REF, SYSTEMS
from dsteval import Dialogue, Turn
from dsteval.pipeline.run import Run
from dsteval.pipeline.scan import Scan
from dsteval.readers import Source
from dsteval.results.partition import Partition
from dsteval.results.result import to_json

NAMES = list(REF)
CUTS = [NAMES[:3], NAMES[3:11], NAMES[11:]]


def part(names: list[str], **options: object) -> dsteval.Result:
    ref, pred = ({name: side[name] for name in names} for side in (REF, SYSTEMS["fair"]))
    return dsteval.evaluate(ref, pred, metrics=METRICS, name="fair", **options)  # type: ignore[arg-type]


def scanned(names: list[str]) -> tuple[Scan, Partition, int]:
    ref, pred = ({name: side[name] for name in names} for side in (REF, SYSTEMS["fair"]))
    run = Run.of()
    scan = Scan(run, Source.of("reference", ref), Source.of("predictions", pred), run.resolved(METRICS))
    for _ in scan.compared():
        pass
    return scan, scan.partition(), scan.n_slots


def test_parts_sum_to_the_whole_with_its_notes() -> None:
    scan, whole, _ = scanned(NAMES)
    parts = [scanned(names)[1] for names in CUTS]
    for order in permutations(parts):
        summed = reduce(Partition.__add__, order)
        assert summed.coverage.to_dict() == whole.coverage.to_dict()
        assert str(summed.reference_hash) == str(whole.reference_hash)
        assert scan.notes(summed) == scan.notes(whole)
        assert sorted(summed.dialogues) == NAMES
        rows = [summed.dialogues.index(name) for name in NAMES]
        for key, counts in whole.counts.items():
            width = counts.shape[1]
            assert (summed.counts[key][rows, :width] == counts).all()
            assert not summed.counts[key][:, width:].any()


def test_merge_counts_anew() -> None:
    whole, merged = part(NAMES), dsteval.merge([part(names) for names in CUTS])
    assert merged.scores == whole.scores  # values, intervals and signatures
    assert merged["JGA"].value != part(CUTS[0])["JGA"].value


def test_a_note_of_one_part_says_whose_it_is() -> None:
    ref = {"a": [{"hotel-area": "north"}], "b": [{"hotel-area": "north"}]}
    wrong = dsteval.evaluate({"a": ref["a"]}, {"a": [{}]}, metrics=["JGA"])
    right = dsteval.evaluate({"b": ref["b"]}, {"b": ref["b"]}, metrics=["JGA"])
    assert wrong.notes == ("no slot is right: every predicted state is empty",)
    assert dsteval.merge([right, wrong]).notes == (f"{wrong.source}: {wrong.notes[0]}",)
    other = dsteval.evaluate({"c": ref["b"]}, {"c": [{}]}, metrics=["JGA"])
    assert dsteval.merge([wrong, other]).notes == wrong.notes


def test_marks_without_a_reference_are_not_one_reference() -> None:
    parts = [
        dsteval.evaluate(
            None, [Dialogue(name, [Turn(t, correctness=[1] * 30) for t in range(turns)])], protocol="fga-trippy"
        )
        for name, turns in (("a", 2), ("b", 3))
    ]
    merged = dsteval.merge(parts)
    assert (merged.coverage.ref_turns, merged["JGA"].total) == (5, 5)


def test_inputs_stay_as_they_were() -> None:
    dialogues = [Dialogue("d", [Turn(2 * t, ref=[("hotel-area", "north")], pred=[]) for t in range(3)])]
    before = deepcopy(dialogues)
    assert dsteval.evaluate(None, dialogues, metrics=["JGA"]).outcomes is not None
    assert dialogues == before


@pytest.mark.parametrize("metric", METRICS)
def test_scores_are_those_of_the_counts(metric: str) -> None:
    result = part(NAMES)
    loaded = result.per_dialogue(metric)
    assert list(loaded) == NAMES
    alone = dsteval.evaluate({NAMES[0]: REF[NAMES[0]]}, {NAMES[0]: SYSTEMS["fair"][NAMES[0]]}, metrics=[metric])
    assert loaded[NAMES[0]] == pytest.approx(alone[metric].value, nan_ok=True, rel=1e-14)


def test_parts_with_more_counts_than_metrics_are_merged() -> None:
    more, less = part(CUTS[0]), part(CUTS[1])
    cut = replace(more, metrics={"JGA": more.metrics["JGA"]})
    small = dsteval.evaluate(
        *({name: side[name] for name in CUTS[1]} for side in (REF, SYSTEMS["fair"])), metrics=["JGA"]
    )
    both = dsteval.merge([cut, small]), dsteval.merge([small, cut])
    whole = dsteval.merge([more, less])["JGA"]
    assert [(one["JGA"].value, one["JGA"].total) for one in both] == [(whole.value, whole.total)] * 2


def test_a_saved_result_without_scores_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "empty.json"
    place.write_text(to_json(dsteval.evaluate(REF, REF, metrics=[]).to_dict(keep=True)))
    with pytest.raises(dsteval.DstevalError, match="expected at least one score, found none"):
        dsteval.load(place)
