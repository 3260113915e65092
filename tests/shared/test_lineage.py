"""Lineage over real output: it sums to what SlotAccuracy counts, and reads the FGA paper's Figure 1."""

from collections import Counter
from pathlib import Path

import pytest

import dsteval
from dsteval.metrics.origin_errors import KIND

pytestmark = pytest.mark.shared

SOMDST = "data/fga/somdst_100_dialogues"
KINDS = KIND.choices[1:]


def test_every_wrong_slot_belongs_to_one_error(shared: Path) -> None:
    wanted = ["SlotAccuracy", "OriginErrors", "RepairRate", "ErrorLifetime"]
    wanted += [f"{name}(kind={kind})" for name in wanted[1:] for kind in KINDS]
    result = dsteval.evaluate(None, shared / SOMDST, metrics=wanted, errors=True, ci=None)
    errors = result.errors
    assert errors is not None
    accuracy = result["SlotAccuracy"]
    wrong = (accuracy.total or 0) - (accuracy.count or 0)
    assert wrong == sum(error.lifetime for error in errors) == result["ErrorLifetime"].count == 610
    assert len(errors) == result["OriginErrors"].count == 188
    kinds = Counter((error.kind or "").partition(" ")[0] for error in errors)
    assert kinds == {"missed": 87, "spurious": 59, "wrong": 21, "stale": 11, "kept": 8, "dropped": 2}
    for kind, count in kinds.items():
        assert result[f"OriginErrors(kind={kind})"].count == count
        assert result[f"RepairRate(kind={kind})"].total == count
    repaired = sum(error.end == "repaired" for error in errors)
    assert repaired == result["RepairRate"].count == 48
    assert sum(result[f"ErrorLifetime(kind={kind})"].count or 0 for kind in KINDS) == wrong


def test_the_papers_figure_1(shared: Path) -> None:
    result = dsteval.evaluate(None, shared / SOMDST, metrics=["JGA"], errors=True, ci=None)
    told = {
        (e.slot, e.kind, e.origin, e.end, e.end_turn, e.lifetime)
        for e in result.errors or ()
        if e.dialogue.startswith("PMUL2563")
    }
    assert told == {
        ("hotel-area", "missed", 2, "lived", None, 4),
        ("hotel-stars", "missed", 2, "lived", None, 4),
        ("attraction-name", "spurious", 4, "lived", None, 2),
    }
    church = next(e for e in result.errors or () if e.slot == "attraction-name" and e.dialogue == "PMUL2563.json")
    assert (church.pred, church.ref, church.relation) == ("all saints church", None, "offered")


@pytest.mark.parametrize("missing", ["damd", "labes"])
def test_end_to_end_systems(shared: Path, missing: str) -> None:
    result = dsteval.evaluate(
        shared / "data/multiwoz21/test.json.zip",
        shared / f"data/mwzeval/{missing}.json.gz",
        metrics=["SlotAccuracy", "ErrorLifetime"],
        missing="skip",
        ci=None,
    )
    accuracy = result["SlotAccuracy"]
    assert result["ErrorLifetime"].count == (accuracy.total or 0) - (accuracy.count or 0)
