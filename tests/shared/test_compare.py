"""Systems with real predictions in one table."""

import math
from pathlib import Path

import pytest

import dsteval
from commandline import refusal, run
from dsteval import readers
from dsteval.analysis.comparison import compare
from dsteval.errors import AlignmentError
from dsteval.readers import Source
from dsteval.results.result import Result
from dsteval.stats.intervals import Intervals
from shared.figures import per_cent

pytestmark = pytest.mark.shared

SYSTEMS = ("augpt", "damd", "labes", "pptod")


@pytest.fixture(scope="module")
def multiwoz21(shared: Path) -> list[dsteval.Dialogue]:
    return [*readers.read(Source.open(shared / "data/multiwoz21/test.json.zip"), "ref")]


@pytest.fixture(scope="module")
def results(shared: Path, multiwoz21: list[dsteval.Dialogue]) -> list[Result]:
    """Four end-to-end systems, each on the dialogues that it has."""
    return [
        dsteval.evaluate(
            multiwoz21, shared / f"data/mwzeval/{name}.json.gz", name=name, missing="skip", slots=30, ci=None
        )
        for name in SYSTEMS
    ]


def test_mwzeval_covers_different_dialogues(shared: Path, results: list[Result]) -> None:
    with pytest.raises(AlignmentError, match=r"damd lacks 1 .*labes lacks 56 .*pptod lacks 1 .*57 of 1000"):
        compare(results)
    files = [shared / f"data/mwzeval/{name}.json.gz" for name in SYSTEMS]
    said = refusal(run("compare", *files, "--ref", shared / "data/multiwoz21/test.json.zip"))
    assert "1 of 1000 reference dialogues have no prediction (MUL0789)" in said


def test_mwzeval_in_one_table(results: list[Result], multiwoz21: list[dsteval.Dialogue]) -> None:
    found = compare(results, multiwoz21, common=True, baselines=["nothing", "before"], slots=30)
    assert {one.coverage.scored_dialogues for one in (*found.systems, *found.baselines)} == {943}
    assert {one.coverage.scored_turns for one in (*found.systems, *found.baselines)} == {6751}
    assert [per_cent(one, "JGA") for one in found.systems] == [50.94, 26.62, 44.35, 39.16]
    assert [per_cent(one, "FGA@0.5") for one in found.systems] == [64.99, 45.70, 62.80, 57.31]
    assert [per_cent(one, "JGA") for one in found.baselines] == [1.45, 32.90]
    assert found.best("JGA") == found.best("FGA@1") == ["augpt"] and found.best("TurnMatch") == ["labes"]
    assert found.behind("JGA") == ["damd", "labes", "pptod"]
    assert found.behind("FGA@1") == ["damd", "pptod"]  # labes is 0.71 points behind, p 0.30
    match = found["DialogueMatch", "augpt", "labes"]
    assert match.note == "fully correct dialogues: 78 only augpt, 75 only labes" and match.p == pytest.approx(
        0.872, abs=5e-4
    )


def test_predicting_nothing_on_the_whole_test_set(
    shared: Path, results: list[Result], multiwoz21: list[dsteval.Dialogue]
) -> None:
    perfect = dsteval.evaluate(multiwoz21, shared / "data/multiwoz21/test.json.zip", name="ref", slots=30)
    found = compare([results[0], perfect], multiwoz21, baselines=["nothing", "before"])
    nothing, before = found.baselines
    assert per_cent(nothing, "SlotAccuracy") == 81.08
    assert (before["JGA"].count, before["JGA"].total) == (2458, 7372)
    assert found.systems[1]["JGA"].value == 1 and found.behind("JGA") == ["augpt"]


def test_llm_dst_eval(shared: Path) -> None:
    path = shared / "data/llm_dst_eval/original_first500.json.gz"
    one = dsteval.evaluate(None, path, name="plain")
    found = compare({"plain": one, "again": path}, baselines=["before"])
    assert all(difference.difference == 0 and difference.p == 1 for difference in found.differences)
    assert found.baselines[0]["JGA"].total == one["JGA"].total == 3712
    m24 = dsteval.evaluate(None, path, name="m24", ref_field="ground_truth_m24")
    with pytest.raises(AlignmentError, match="m24 beside plain: expected the same reference"):
        compare([one, m24])


def test_trippy_turns_are_not_independent(shared: Path) -> None:
    """The standard error of JGA is twice what independent turns would give."""
    path = shared / "data/fga/trippy_result.json"
    result = dsteval.evaluate(None, path, protocol="fga-trippy", metrics=["JGA"], resamples=10_000)
    jga = result["JGA"]
    assert jga.value is not None and jga.total is not None and jga.error is not None
    assert round(100 * math.sqrt(jga.value * (1 - jga.value) / jga.total), 2) == 0.58
    assert 100 * jga.error == pytest.approx(1.13, abs=0.05)
    pairs = [(result.metrics["JGA"], result.counts["JGA"])]
    by_dialogue = Intervals(resamples=10_000, method="bca").of(pairs, result.dialogues)[0]
    assert by_dialogue is not None and 100 * by_dialogue.error == pytest.approx(1.13, abs=0.05)


def test_trippy_beside_itself_lacks_what_marks_do_not_tell(shared: Path) -> None:
    path = shared / "data/fga/trippy_result.json"
    found = compare({"a": path, "b": path}, protocol="fga-trippy")
    aga = found["AGA", "a", "b"]
    assert aga.difference is None is aga.p and aga.note.startswith("undefined for a: ")
    assert found["FGA@0.5", "a", "b"].p == 1
