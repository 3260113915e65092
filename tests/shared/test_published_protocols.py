"""Figures that scorers printed, or that their rules give for the SOM-DST dialogues, by protocol and setting."""

import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval import readers
from dsteval.readers import Source
from shared.figures import domain_scores, fga_names, per_cent

pytestmark = pytest.mark.shared

NO_NORM = "states.normalise=[]"
KEPT = "states.dontcare=keep"
FNCTOD_KEPT = "prepare.steps=['fnctod']"

# One file of predictions, 751 turns: protocol, settings, metric, per cent.
SOMDST = [
    ("exact", [], "JGA", 49.93),
    ("exact", [], "JGA(average=dialogue)", 50.63),
    ("exact", [], "JGA(turns=last)", 24.0),
    ("exact", [], "DialogueMatch", 16.0),
    ("exact", [], "UpdateAccuracy", 79.76),
    ("exact", ["states.dontcare=drop-pred"], "JGA", 48.60),
    ("exact", ["states.dontcare=drop-ref"], "JGA", 49.40),
    ("exact", ["states.visible=listed"], "JGA", 60.19),  # all of the reference right, false positives ignored
    ("exact", ["states.visible=domains"], "JGA", 50.47),
    ("exact", ["scope.slots=30"], "SlotAccuracy", 97.29),
    ("exact", ["scope.slots=31"], "SlotAccuracy", 97.38),
    ("exact", ["scope.slots=35"], "SlotAccuracy", 97.68),
    ("exact", ["scope.slots=37"], "SlotAccuracy", 97.80),
    ("exact", ["scope.slots=31"], "SlotAccuracy(wrong=twice)", 96.91),  # DAMD
    ("trade", [], "JGA", 49.93),
    ("trade", [], "SlotAccuracy", 97.29),
    ("t5dst", [], "SlotAccuracy", 97.68),
    ("somdst", [], "JGA", 49.93),
    ("somdst", [], "JGA(turns=last)", 24.0),
    ("mwzeval", [], "JGA", 50.07),
    ("mwzeval", [KEPT], "JGA", 50.60),
    ("mwzeval", [NO_NORM], "JGA", 49.93),
    ("mwzeval", [NO_NORM, KEPT], "JGA", 50.47),
    ("convlab-unified", [], "JGA", 50.47),
    ("convlab-unified", ["states.visible=all"], "JGA", 49.93),
    ("convlab-t5", [], "JGA", 49.93),
    ("simpletod-v1", [], "JGA", 52.73),
    ("simpletod", [], "JGA", 49.93),
    ("simpletod", ["prepare.steps=['simpletod', 'simpletod-clean']"], "JGA", 49.93),
    ("fnctod", [], "JGA", 48.60),
    ("fnctod", [FNCTOD_KEPT], "JGA", 49.93),
    ("card", [], "JGA", 49.93),
    ("card", [], "SlotRecall", 89.64),
    ("card-recipe", [], "JGA", 13.58),
    ("card-recipe", [], "SlotRecall", 89.64),
]


@pytest.fixture(scope="module")
def somdst(shared: Path) -> list[dsteval.Dialogue]:
    return [*readers.read(Source.open(shared / "data/fga/somdst_100_dialogues"), "pred")]


@pytest.mark.parametrize(("name", "settings", "metric", "expected"), SOMDST)
def test_one_prediction_by_many_rules(
    somdst: list[dsteval.Dialogue], name: str, settings: list[str], metric: str, expected: float
) -> None:
    result = dsteval.evaluate(None, somdst, metrics=[metric], protocol=name, settings=settings)
    assert result.coverage.scored_turns == 751
    assert per_cent(result, metric) == expected


def test_one_prediction_by_listed_variants(shared: Path, somdst: list[dsteval.Dialogue]) -> None:
    variants = shared / "data/fga/trippy_label_variants.json"
    result = dsteval.evaluate(None, somdst, metrics=["JGA"], protocol="trippy", variants=variants)
    assert per_cent(result, "JGA") == 50.07


SOMDST_DOMAINS = {"taxi": 60.87, "hotel": 57.03, "train": 70.10, "restaurant": 63.72, "attraction": 57.64}
BY_DOMAIN = [
    (
        "somdst",
        [],
        "active",
        {"taxi": 60.87, "hotel": 57.03, "train": 70.10, "restaurant": 63.72, "attraction": 57.64},
    ),
    ("fnctod", [], "dialogue", {"hotel": 60.24}),
    ("fnctod", [FNCTOD_KEPT], "dialogue", {"hotel": 64.53}),
]


@pytest.mark.parametrize(("name", "settings", "convention", "expected"), BY_DOMAIN)
def test_one_prediction_by_domain(
    somdst: list[dsteval.Dialogue], name: str, settings: list[str], convention: str, expected: dict[str, float]
) -> None:
    result = dsteval.evaluate(None, somdst, metrics=["JGA"], protocol=name, settings=settings, by=["domain"])
    found = {domain: domain_scores(result, domain)[convention] for domain in expected}
    assert {domain: round(100 * (value or 0), 2) for domain, value in found.items()} == expected


@pytest.mark.parametrize(
    ("file", "name", "settings", "turns", "expected"),
    [
        ("trade/trade_mwz20_test.json", "trade", [], 7368, 47.00),
        ("trade/trade_mwz20_test.json", "trade", ["states.absent_pred=['none']"], 7368, 49.78),
        ("t5dst/T5_result.json", "t5dst", [], 3359, 24.89),
    ],
)
def test_own_output_of_trackers(
    shared: Path, file: str, name: str, settings: list[str], turns: int, expected: float
) -> None:
    result = dsteval.evaluate(None, shared / "data" / file, metrics=["JGA"], protocol=name, settings=settings)
    assert result.coverage.scored_turns == turns
    assert per_cent(result, "JGA") == expected


GCA = {"JGA": "JGA", "SA": "SlotAccuracy", "AGA": "AGA", "IAGA": "IAGA", "RSA": "RSA", "GCA": "GCA"}
GCA |= {f"FGA_{number}": name for number, name in zip(("0.25", "0.5", "0.75", "1.0"), fga_names(), strict=True)}
N_GCA_FILES = 13


def test_ten_numbers_of_every_gca_file(shared: Path) -> None:
    folder = shared / "data/gca/predictions"
    files = sorted(folder.rglob("*.json"))
    assert len(files) == N_GCA_FILES
    for file in files:
        expected = json.loads((shared / "data/gca/expected" / file.relative_to(folder)).read_bytes())
        result = dsteval.evaluate(None, file, protocol="gca")
        assert {key: per_cent(result, metric) for key, metric in GCA.items()} == {k: expected[k] for k in GCA}, (
            file
        )


@pytest.fixture(scope="module")
def multiwoz21(shared: Path) -> list[dsteval.Dialogue]:
    """MultiWOZ 2.1 test, read once: the file is large."""
    return [*readers.read(Source.open(shared / "data/multiwoz21/test.json.zip"), "ref")]


@pytest.mark.parametrize(
    ("block", "settings"),
    [("systems", []), ("gold_left_raw", [NO_NORM, 'states.normalise_pred=["mwzeval"]'])],
)
@pytest.mark.parametrize("system", ["augpt", "damd", "labes", "pptod"])
def test_mwzeval(
    shared: Path, multiwoz21: list[dsteval.Dialogue], system: str, block: str, settings: list[str]
) -> None:
    expected: dict[str, Any] = json.loads((shared / "data/mwzeval/expected.json").read_bytes())[block][system]
    pred = shared / f"data/mwzeval/{system}.json.gz"
    result = dsteval.evaluate(multiwoz21, pred, protocol="mwzeval", settings=settings, missing="skip")
    covered = result.coverage
    assert (covered.scored_dialogues, covered.scored_turns) == (expected["dialogues"], expected["turns"])
    assert covered.left_out == expected["dropped_length_mismatch"]
    found = {
        "joint_accuracy": 100 * (result["JGA"].value or 0),
        "slot_f1": 100 * (result["SlotF1"].value or 0),
        "slot_precision": result["SlotPrecision"].value,
        "slot_recall": result["SlotRecall"].value,
    }
    assert found == pytest.approx({key: expected[key] for key in found}, abs=1e-6)


@pytest.mark.parametrize(
    ("system", "expected"), [("augpt", 56.25), ("damd", 30.05), ("labes", 50.85), ("pptod", 47.07)]
)
def test_mwzeval_2023(shared: Path, multiwoz21: list[dsteval.Dialogue], system: str, expected: float) -> None:
    pred = shared / f"data/mwzeval/{system}.json.gz"
    result = dsteval.evaluate(multiwoz21, pred, metrics=["JGA"], protocol="mwzeval-2023", missing="skip")
    assert per_cent(result, "JGA") == expected


def test_mwzeval_with_a_turn_too_many_in_every_dialogue(shared: Path) -> None:
    ref, pred = shared / "data/audit/reference.jsonl.gz", shared / "data/audit/systems/mintl.json.gz"
    result = dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="mwzeval")
    assert (result.coverage.scored_turns, per_cent(result, "JGA")) == (3712, 46.47)
    assert result.notes[0].startswith(
        "500 predicted turns after the reference's last ignored (first: pmul1420 turn "
    )


@pytest.mark.parametrize("team", ["teamA01", "teamA02", "teamA05"])
def test_eight_numbers_of_dstc10(shared: Path, team: str) -> None:
    folder = shared / "data/dstc10"
    official = json.loads((folder / f"{team}_entry0.scores.json").read_bytes())
    slot = official["slot"]
    kinds = {"Slot": slot["value_prediction"], "None": slot["none_prediction"]}
    names = {"Precision": "prec", "Recall": "rec", "F1": "f1"}
    expected = {f"{kind}{name}": kinds[kind][short] for kind in kinds for name, short in names.items()}
    expected |= {"JGA": official["joint_goal_accuracy"], "SlotAccuracy": slot["accuracy"]}
    result = dsteval.evaluate(folder / "test_labels.json.gz", folder / f"{team}_entry0.json.gz", protocol="dstc10")
    assert {score.metric: score.value for score in result.scores} == pytest.approx(expected, abs=1e-9, rel=0)
