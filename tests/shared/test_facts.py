"""Facts about the values of real files, each counted again in another way."""

import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dsteval.analysis.validation import validate
from dsteval.analysis.value_checks import Fact
from dsteval.readers import Source

pytestmark = pytest.mark.shared

SIDES = ("ref", "pred", "both")
UNSET = ("", "not mentioned", "none")

TAXI = "data/gca/predictions/T5_fewshot_taxi/ratio_0.5_seed_557_prediction.json"
TRADE = "data/trade/trade_mwz20_test.json"
MULTIWOZ = "data/multiwoz21/test.json.zip"
LLM = "data/llm_dst_eval/original_first500.json.gz"


def noticed(place: Path, ref: Path | None = None, **options: Any) -> dict[str, Fact]:
    """The facts of a file by kind and side."""
    report = validate(Source.open(place), None if ref is None else Source.open(ref), **options)
    return {f"{fact.kind} {fact.side}": fact for fact in report.facts}


def figures(fact: Fact) -> tuple[int, int]:
    return fact.turns, fact.values


def belief(texts: list[str]) -> dict[str, str]:
    """The state in TRADE's texts; slots have no hyphen but the one behind the domain."""
    return {f"{domain}-{slot}": value for domain, slot, value in (text.split("-", 2) for text in texts)}


def test_trade(shared: Path) -> None:
    found = noticed(shared / TRADE)
    turns = json.loads((shared / TRADE).read_text())
    pairs = [(belief(turn["belief_state"]), belief(turn["pred_belief_state"])) for turn in turns]
    nones = [sum(value == "none" for value in pred.values()) for _, pred in pairs]
    assert figures(found["none-in-pred pred"]) == (sum(map(bool, nones)), sum(nones)) == (1046, 1218)
    assert "none-in-ref ref" not in found
    for pair in pairs:
        for state in pair:
            for slot in [slot for slot, value in state.items() if value == "none"]:
                del state[slot]
    missed = sum(value == "dontcare" and slot not in pred for ref, pred in pairs for slot, value in ref.items())
    spurious = sum(value == "dontcare" and slot not in ref for ref, pred in pairs for slot, value in pred.items())
    fact = found["dontcare-or-none both"]
    assert (missed, spurious) == (346, 62)
    assert fact.values == missed + spurious
    assert f": {missed} in the reference, {spurious} in the predictions" in fact.about
    belfry = sum(ref.get("hotel-name") == "cambridge belfry" for ref, _ in pairs)
    assert found["variant-spellings ref"].slots["hotel-name"] == belfry == 7
    assert set(found) == {"none-in-pred pred", "dontcare-or-none both", *(f"variant-spellings {s}" for s in SIDES)}


def test_t5dst_holds_none_in_its_reference(shared: Path) -> None:
    found = noticed(shared / TAXI)
    dialogues = json.loads((shared / TAXI).read_text())
    states = [turn["gt"] for dialogue in dialogues.values() for turn in dialogue.values()]
    nones = [json.dumps(state).count('"none"') for state in states]
    assert figures(found["none-in-ref ref"]) == (sum(map(bool, nones)), sum(nones)) == (32, 38)


def metadata(place: Path) -> Iterator[dict[str, str]]:
    """The texts of every state of a data.json, slots as paths."""
    with zipfile.ZipFile(place) as archive:
        for dialogue in json.loads(archive.read(archive.namelist()[0])).values():
            for entry in dialogue["log"][1::2]:
                yield {
                    f"{domain}/{part}/{slot}": value
                    for domain, parts in entry["metadata"].items()
                    for part in ("book", "semi")
                    for slot, value in parts[part].items()
                    if slot != "booked"
                }


def test_multiwoz_lists_every_slot(shared: Path) -> None:
    found = noticed(shared / MULTIWOZ)
    values = Counter(value for state in metadata(shared / MULTIWOZ) for value in state.values())
    unset = {word: values[word] for word in UNSET}
    assert unset["none"] == 363
    fact = found["lists-every-slot pred"]
    assert figures(fact) == (7372, sum(unset.values()))
    assert f"({', '.join(f'{word!r} {count}' for word, count in unset.items())})" in fact.about
    assert found["hyphens pred"].values == sum(count for value, count in values.items() if "-" in value) == 29


def test_star_lists_every_slot(shared: Path) -> None:
    place = shared / "data/multiwoz21/star_relabelled_tsv.zip"
    found = noticed(place / "test")
    with zipfile.ZipFile(place) as archive:
        name = next(name for name in archive.namelist() if name.rpartition("/")[2] == "test.tsv")
        head, *rows = archive.read(name).decode().splitlines()
    slots = [number for number, column in enumerate(head.split("\t")) if "-" in column]
    cells = Counter(row.split("\t")[number] for row in rows for number in slots)
    assert len(slots) == 30
    assert figures(found["lists-every-slot pred"]) == (len(rows), cells["none"]) == (7368, 179357)
    assert found["dontcare pred"].values == cells["do not care"] == 1146


def test_an_ontology_of_other_spellings(shared: Path) -> None:
    place = shared / "data/multiwoz21/star_relabelled_tsv.zip"
    with zipfile.ZipFile(place) as archive:
        ontology = json.loads(archive.read("mwz2.1/ontology-modified.json"))
    assert not [kind for kind in noticed(place / "test", ontology=ontology) if "ontology" in kind]
    fact = noticed(shared / MULTIWOZ, ontology=ontology)["outside-ontology pred"]
    states = list(metadata(shared / MULTIWOZ))
    for slot in ("type", "internet", "parking"):
        name = f"hotel-{slot}"
        held = Counter(state[f"hotel/semi/{slot}"] for state in states)
        odd = {value: count for value, count in held.items() if value not in {*ontology[name], *UNSET, "dontcare"}}
        assert fact.slots[name] == sum(odd.values())
    assert (fact.slots["hotel-type"], fact.slots["hotel-internet"]) == (1272, 1041)


def test_alternatives_and_dontcare_of_an_llm(shared: Path) -> None:
    found = noticed(shared / LLM, ref_field="ground_truth_m24")
    assert (found["sets ref"].values, found["hyphens both"].values) == (35, 1)
    assert "1 of 5587 wrong slots" in found["hyphens both"].about
    assert "sets ref" not in noticed(shared / LLM, ref_field="ground_truth")


def test_systems_that_are_paired_with_a_reference(shared: Path) -> None:
    found = noticed(shared / "data/mwzeval/damd.json.gz", shared / MULTIWOZ, missing="empty")
    assert "reference 'dontcare' 1169; predictions \"do n't care\" 214;" in found["dontcare both"].about
    assert found["variant-spellings both"].slots["hotel-type"] == 435
    assert figures(found["lists-every-slot ref"]) == (7372, 207402)


def test_clean_and_marked_files(shared: Path) -> None:
    assert set(noticed(shared / "data/fga/somdst_100_dialogues")) == {"dontcare-or-none both"}
    assert noticed(shared / "data/fga/trippy_result.json", protocol="fga-trippy") == {}


def test_every_fact_can_be_written(shared: Path) -> None:
    for place in sorted((shared / "data/gca/predictions").glob("*/*.json")):
        report = validate(Source.open(place))
        assert json.loads(msgspec.json.encode(report.to_dict())) == json.loads(json.dumps(report.to_dict()))
