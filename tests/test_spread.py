"""``spread``: one file under every protocol, and the rules that make the numbers differ."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.analysis.protocol_spread import ProtocolSpread, spread
from dsteval.errors import DstevalError
from dsteval.protocols import model as protocols

REF = {
    "d1": [
        {"hotel-area": "north"},
        {"hotel-area": "north", "hotel-stars": "dontcare"},
        {"hotel-area": "north", "hotel-stars": "dontcare", "hotel-name": "acorn guest house"},
    ],
    "d2": [{"train-day": "monday"}, {"train-day": "monday", "train-leaveat": "09:15"}],
}
PRED = {
    "d1": [
        {"hotel-area": "North"},
        {"hotel-area": "north"},
        {"hotel-area": "north", "hotel-stars": "dontcare", "hotel-name": "the acorn guest house"},
    ],
    "d2": [{"train-day": "monday", "hotel-area": "none"}, {"train-day": "monday", "train-leaveat": "9:15"}],
}
"""Each turn is right under some protocols only, each for a reason of its own."""

ONTOLOGY = {"hotel-name": ["acorn guest house"]}


def entries(found: ProtocolSpread) -> dict[str, Any]:
    return {entry.protocol.partition("@")[0]: entry for entry in found.entries}


def test_each_protocol_gives_what_score_gives() -> None:
    found = entries(spread(REF, PRED, ontology=ONTOLOGY))
    for name, entry in found.items():
        result = dsteval.evaluate(REF, PRED, metrics=["JGA"], protocol=name, ontology=ONTOLOGY)
        assert entry.jga.value == result["JGA"].value, name
        assert entry.jga.signature == result["JGA"].signature, name


def test_every_protocol_applies_or_says_why() -> None:
    found = spread(REF, PRED)
    applied = {entry.protocol.partition("@")[0] for entry in found.entries}
    assert applied | set(found.not_applicable) == set(protocols.names())
    assert applied.isdisjoint(found.not_applicable)
    for name in ("trippy", "hidst"):
        assert "--variants FILE" in found.not_applicable[name]
    for name in ("icdst", "dst-prompting"):
        assert "--ontology FILE" in found.not_applicable[name]
    assert "2 others among 5 (train-day, train-leaveat)" in found.not_applicable["dstc10"]


@pytest.mark.parametrize(
    ("name", "rules", "gained", "lost"),
    [
        ("normalised", {"normaliser times": 1}, 1, 0),
        ("simpletod-v1", {"states.dontcare=drop": 1, "normaliser casefold": 1}, 1, 1),
        (
            "mwzeval",
            {"normaliser casefold": 1, "normaliser mwzeval": 1, "states.absent": 1, "states.dontcare=drop-ref": 1},
            2,
            2,
        ),
        ("fga-official", {"normaliser casefold": 1, "states.absent": 1}, 0, 2),
        ("icdst", {"normaliser casefold": 1, "normaliser typo-fix-2.4": 2, "states.absent": 1}, 2, 2),
    ],
)
def test_the_rules_responsible(name: str, rules: dict[str, int], gained: int, lost: int) -> None:
    entry = entries(spread(REF, PRED, ontology=ONTOLOGY))[name]
    assert (entry.rules, entry.gained, entry.lost) == (rules, gained, lost)


def test_disagreements_name_slot_values_and_rule() -> None:
    found = spread(REF, PRED, only=["mwzeval"], between=("exact", "mwzeval"))
    by_turn = {(one.dialogue, one.turn, one.slot): one for one in found.disagreements}
    lost = by_turn["d1", 1, "hotel-stars"]
    assert (lost.ref, lost.pred, lost.right_under) == ("dontcare", None, "mwzeval")
    assert lost.compared == (("dontcare", None), (None, None))
    assert lost.rule == "states.dontcare=drop-ref"


def test_disagreements_hold_in_both_directions() -> None:
    there = spread(REF, PRED, between=("exact", "fnctod")).disagreements
    back = spread(REF, PRED, between=("fnctod", "exact")).disagreements
    assert [(d.dialogue, d.turn, d.slot, d.right_under, d.rule) for d in there] == [
        (d.dialogue, d.turn, d.slot, d.right_under, d.rule) for d in back
    ]
    assert [d.compared for d in there] == [d.compared[::-1] for d in back]


def test_a_step_is_named_alone() -> None:
    ref = {"d": [{"hotel-area": "north"}]}
    pred = {"d": [{"hotel-area": "north", "hotel-stars": "dontcare"}]}
    entry = entries(spread(ref, pred))["fnctod"]
    assert entry.rules == {"step fnctod-dontcare": 1}


@pytest.mark.parametrize("name", ["hidst", "mwzeval"])
def test_a_fuzzy_matcher_is_named_and_not_a_normaliser(name: str) -> None:
    ref, pred = {"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": "the north Side"}]}
    for pair in (("exact", name), (name, "exact")):
        found = spread(ref, pred, only=[name], between=pair, variants={"a": ["b"]})
        assert [one.rule for one in found.disagreements] == [f"match.rule={name}"]
        assert entries(found)[name].rules == {f"match.rule={name}": 1}


def test_a_normaliser_without_which_the_matcher_fails_stands_beside_it() -> None:
    ref, pred = {"d": [{"hotel-name": "acorn"}]}, {"d": [{"hotel-name": "the ACORN house"}]}
    found = spread(ref, pred, only=["mwzeval"], between=("fga-official", "mwzeval")).disagreements
    assert [one.rule for one in found] == ["normaliser mwzeval, match.rule=mwzeval"]


def test_another_metric_is_named() -> None:
    ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    entry = entries(spread(ref, ref))["card-recipe"]
    assert entry.rules == {"metrics.means JGA=RecipeJGA": 1}


def test_target_sorts_by_distance() -> None:
    found = spread(REF, PRED, target=0.6, ontology=ONTOLOGY)
    away = [abs((entry.jga.value or 0) - 0.6) for entry in found.entries]
    assert away == sorted(away)


def test_no_protocol_applies_is_the_first_refusal() -> None:
    with pytest.raises(DstevalError, match=r"predicted dialogues is in the reference"):
        spread({"a": [{}]}, {"b": [{}]})


def files(folder: Path) -> list[str]:
    paths = []
    for name, states in (("pred", PRED), ("ref", REF)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(states), encoding="utf-8")
        paths.append(str(path))
    return ["spread", paths[0], "--ref", paths[1]]


def test_command_in_all_forms(tmp_path: Path) -> None:
    arguments = [*files(tmp_path), "--between", "exact", "mwzeval", "--target", "60"]
    text = run(*arguments).out
    assert "to target" in text and "does not apply" in text and "states.dontcare=drop-ref" in text
    document = json.loads(run(*arguments, "--as", "json").out)
    assert document["target"] == 0.6 and document["between"]["protocols"] == ["exact", "mwzeval"]
    first = document["protocols"][0]
    assert first["scores"][0]["metric"] == "JGA" and set(first["rules"]) | {""}
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--as", "csv").out.split("\n\n")[0])))
    assert {row["protocol"] for row in rows} == {one["protocol"] for one in document["protocols"]}
    heads = {row["protocol"]: (row["won"], row["lost"]) for row in rows if row["won"]}
    counted = {one["protocol"]: (one["gained"], one["lost"]) for one in document["protocols"]}
    assert len(heads) > 5 and any(lost for _, lost in counted.values())
    assert heads == {name: tuple(map(str, counted[name])) for name in heads}
    assert "| exact@2" in run(*arguments, "--as", "md").out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--target", "152"], "expected a JGA in percent, 0 to 100, found 152"),
        (["--target", "0.48"], "found what may be a fraction. In percent it is --target 48."),
        (["--protocol", "exakt"], "Did you mean 'exact'?"),
        (["--between", "exact", "mwzevall"], "Did you mean 'mwzeval'?"),
        (["--between", "exact", "icdst"], "the protocol does not apply: protocol icdst: needs"),
    ],
)
def test_refusals(more: list[str], said: str, tmp_path: Path) -> None:
    assert said in refusal(run(*files(tmp_path), *more))


EXAMPLE = Path(dsteval.__file__).parent / "example"


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (
            "56.58",
            "2 of 6 protocols match 56.58 within 0.01: mwzeval@2, mwzeval-2023@1; they agree on this file; the",
        ),
        (
            "60.53",
            "1 of 6 protocols matches 60.53 within 0.01: normalised@2; the difference from exact: normaliser",
        ),
        ("48.68", "2 of 6 protocols match 48.68 within 0.01: exact@2, card@2"),
        ("50", "no protocol matches 50.00 within 0.01; the nearest is exact@2 with 48.68"),
    ],
)
def test_the_verdict_on_a_published_number(target: str, verdict: str) -> None:
    text = run("spread", EXAMPLE / "pointer.jsonl", "--ref", EXAMPLE / "reference.jsonl", "--target", target).out
    assert any(line.startswith(verdict) for line in text.splitlines())


def test_protocols_that_do_the_same_share_a_row(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text(
        '{"dialogue_id": "d", "turn_id": 0, "ref": {"hotel-area": "north"}, "pred": {"hotel-area": "x"}}\n'
    )
    text = run("spread", path, "--protocol", "normalised", "--protocol", "trade", "--protocol", "card").out
    assert any({"normalised@2,", "trade@2,"} <= set(line.split()) for line in text.splitlines())
