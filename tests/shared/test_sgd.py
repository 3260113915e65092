"""The protocols sgd and sgd-exact against the numbers of the original schema-guided scorer."""

import json
from pathlib import Path

import pytest

import dsteval
from dsteval import metrics

pytestmark = pytest.mark.shared

MODES = {
    "fuzzy": ("sgd", "frame"),
    "exact": ("sgd-exact", "frame"),
    "exact_across_turn": ("sgd-exact", "turn"),
    "fuzzy_across_turn": ("sgd", "turn"),
}


def named(across: str) -> dict[str, str]:
    """What the scorer calls each metric, and what it is called here."""
    kinds = {"goal": "all", "cat": "categorical", "noncat": "noncategorical"}
    return {
        **{f"joint_{kind}_accuracy": f"FrameJGA(across={across},slots={s})" for kind, s in kinds.items()},
        **{f"average_{kind}_accuracy": f"FrameAGA(slots={s})" for kind, s in kinds.items()},
        "active_intent_accuracy": "IntentAccuracy",
        "requested_slots_f1": "RequestedF1",
    }


@pytest.mark.parametrize("mode", MODES)
def test_every_number_of_the_original_scorer(shared: Path, mode: str) -> None:
    sgd = shared / "data/sgd"
    expected = json.loads((sgd / "expected.json").read_text("utf-8"))
    protocol, across = MODES[mode]
    names = {key: str(metrics.parse(text)) for key, text in named(across).items()}
    result = dsteval.evaluate(
        sgd / "dev",
        sgd / "generated_errors",
        protocol=protocol,
        metrics=[*names.values()],
        by=["service", "domain", "group"],
        train_schema=sgd / "train_schema.json",
    )
    assert result.outcomes is not None
    assert (len(result.outcomes), result.coverage.scored_turns) == (expected["frames"], expected["user_turns"])
    assert result.coverage.scored_dialogues == expected["dialogues"]
    groups = {"seen": "#SEEN_SERVICES", "unseen": "#UNSEEN_SERVICES"}
    found = {groups.get(one.key, one.key): one.scores for one in result.slices}
    assert {one.convention for one in result.slices} == {"frames"}
    found["#ALL_SERVICES"] = result.scores
    assert found.keys() == expected[mode].keys()
    for key, scores in found.items():
        values = {score.metric: score.value for score in scores}
        defined = {name: values[text] for name, text in names.items() if values[text] is not None}
        assert len(values) == 8
        assert defined == pytest.approx(expected[mode][key], abs=1e-6, rel=0), key


def test_default_list_is_the_scorers_eight_numbers(shared: Path) -> None:
    sgd = shared / "data/sgd"
    result = dsteval.evaluate(sgd / "dev", sgd / "generated_errors", protocol="sgd")
    expected = json.loads((sgd / "expected.json").read_text("utf-8"))["fuzzy"]["#ALL_SERVICES"]
    assert sorted(score.value or 0 for score in result.scores) == pytest.approx(
        sorted(expected.values()), abs=1e-12
    )
    assert result["JGA"].value == pytest.approx(0.7696065855085508, abs=1e-12)


def test_the_reference_is_perfect_against_itself(shared: Path) -> None:
    result = dsteval.evaluate(shared / "data/sgd/dev", shared / "data/sgd/dev", protocol="sgd")
    assert [score.value for score in result.scores] == [1.0] * 8


@pytest.mark.parametrize(
    ("frames", "rule", "metric", "per_cent", "units"),
    [
        ("domains", "sgd-fuzzy", "FrameJGA(across=turn)", 53.23, 751),
        ("domains", "sgd-difflib", "FrameJGA(across=turn)", 53.18, 751),
        ("active", "sgd-fuzzy", "JGA", 65.83, 1166),
    ],
)
def test_frames_of_domains(shared: Path, frames: str, rule: str, metric: str, per_cent: float, units: int) -> None:
    sample = shared / "data/fga/somdst_100_dialogues"
    settings = [f"scope.frames={frames}", "scope.schema=none", f"match.rule={rule}"]
    result = dsteval.evaluate(None, sample, protocol="sgd", settings=settings, metrics=[metric])
    value = result[metric].value
    assert value is not None
    assert round(100 * value, 2) == per_cent
    assert result[metric].total == units


def test_a_text_instead_of_a_list_is_one_value(shared: Path) -> None:
    case = json.loads((shared / "cases/11-sgd-value-string-not-list.json").read_text("utf-8"))
    result = dsteval.evaluate(
        case["gold"],
        case["pred"],
        format=case["pred_format"],
        protocol="sgd-exact",
        settings=["scope.frames=active", "scope.schema=none"],
    )
    # All of it is one domain: a frame is a turn, and its scores are those of the turn.
    assert result["JGA"].value == pytest.approx(case["expect"]["jga"], abs=1e-12)
    assert result["AGA"].value == pytest.approx(case["expect"]["aga"], abs=1e-12)
