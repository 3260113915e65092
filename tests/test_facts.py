"""Facts about values: each kind where it is there and where it is not, with figures counted by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import run
from dsteval.analysis.value_checks import KINDS, Fact, facts
from dsteval.analysis.value_counts import ValueExample
from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.protocols import model as protocol
from dsteval.values.similarity import key
from native import done, items, written

CLEAN = ["hotel-area=north", "hotel-area=north; hotel-stars=4"]


def told(
    ref: list[str] | None, pred: list[str] | None = None, updates: tuple[Side, ...] = (), **options: Any
) -> dict[str, Fact]:
    """The facts of one dialogue by kind and side; no kind stands twice for a side."""
    turns = [
        Turn(number, None if ref is None else items(ref[number]), None if pred is None else items(pred[number]))
        for number in range(len(ref or pred or ()))
    ]
    found = facts([Dialogue("d", turns, updates=updates)], **options)
    by_kind = {f"{fact.kind} {fact.side}": fact for fact in found}
    assert len(by_kind) == len(found)
    return by_kind


def figures(fact: Fact) -> tuple[int, int, dict[str, int]]:
    return fact.turns, fact.values, fact.slots


def test_clean_values_have_no_facts() -> None:
    assert told(CLEAN, CLEAN) == told(CLEAN) == told(None, CLEAN) == {}
    assert told(CLEAN, ["", "hotel-area=north; hotel-stars=5"]) == {}
    assert facts([]) == facts([Dialogue("d", [Turn(0, correctness=[1, 0])])]) == []
    # null says that a slot is not set, and every protocol reads it so.
    assert (
        facts([Dialogue("d", [Turn(0, [("hotel-area", None)], [("hotel-area", "x"), ("hotel-area", None)])])])
        == []
    )


def test_none_where_other_slots_are_left_out() -> None:
    ref = ["hotel-area=north; hotel-stars=None", "hotel-area=; hotel-name=x", "hotel-stars=not mentioned"]
    found = told(ref, ["hotel-area=north; hotel-stars=5", "hotel-name=x", "hotel-name=x"])
    assert list(found) == ["none-in-ref ref"]
    fact = found["none-in-ref ref"]
    assert figures(fact) == (3, 3, {"hotel-stars": 2, "hotel-area": 1})
    assert fact.about == (
        "reference, slots written as not set instead of left out: 3 of 5 slots at 3 of 3 turns "
        "('none' 1, '' 1, 'not mentioned' 1); by slot: hotel-stars 2, hotel-area 1"
    )
    assert fact.examples == (
        ValueExample("d", 1, "hotel-area", ("",), 1),
        ValueExample("d", 0, "hotel-stars", ("None",), 1),
        ValueExample("d", 2, "hotel-stars", ("not mentioned",), 1),
    )
    assert list(told(CLEAN, ["hotel-area=none", "hotel-area=north; hotel-stars=4"])) == ["none-in-pred pred"]


def test_a_file_that_lists_every_slot() -> None:
    whole = [
        f"hotel-area={area}; hotel-stars={stars}" for area, stars in [("none", "none"), ("x", ""), ("x", "4")]
    ]
    fact = told(None, whole)["lists-every-slot pred"]
    assert figures(fact) == (2, 3, {})
    assert fact.examples == ()
    assert fact.about == ("states, lists every slot: 3 of 6 slots at 2 of 3 turns not set ('none' 2, '' 1)")
    # The domains that a state does not name are no concern of it.
    assert list(told(None, [*whole, "taxi-leaveat=none; taxi-departure=x"])) == ["lists-every-slot pred"]
    assert list(told(None, [*whole, "taxi-leaveat=none", "taxi-departure=x"])) == ["none-in-pred pred"]


def test_values_outside_the_ontology() -> None:
    ontology = {"hotel-area": ["North", "cheap|moderate", "south"], "hotel-stars": ["4"]}
    ref = ["hotel-area=north|South; hotel-stars=5", "hotel-area=cheap|moderate; hotel-stars=dontcare"]
    pred = ["hotel-area=north|east; taxi-leaveat=5pm", "hotel-area= SOUTH ; hotel-stars=5"]
    found = told(ref, pred, ontology=ontology)
    assert figures(found["outside-ontology ref"]) == (1, 1, {"hotel-stars": 1})
    assert figures(found["outside-ontology pred"]) == (2, 2, {"hotel-area": 1, "hotel-stars": 1})
    assert found["outside-ontology ref"].examples == (ValueExample("d", 0, "hotel-stars", ("5",), 1),)
    assert figures(found["not-in-ontology pred"]) == (1, 1, {"taxi-leaveat": 1})
    assert (
        "slots that are not in the ontology (1): 1 of 4 values at 1 of 2 turns"
        in found["not-in-ontology pred"].about
    )
    assert "not-in-ontology ref" not in found
    for without in (told(ref, pred), told(CLEAN, CLEAN, ontology={"hotel-area": ["north"], "hotel-stars": ["4"]})):
        assert not [one for one in without if "ontology" in one]


def test_spellings_on_one_side() -> None:
    states = [
        "hotel-name=The A B; hotel-area=center",
        "hotel-name=ab; hotel-area=centre",
        "hotel-name=ab",
        "hotel-name=AB",
    ]
    fact = told(None, states)["variant-spellings pred"]
    assert figures(fact) == (3, 3, {"hotel-name": 2, "hotel-area": 1})
    assert (
        "3 of 6 values at 3 of 4 turns (2 distinct: 1 by spelling or form of time, 1 by punctuation" in fact.about
    )
    assert fact.examples == (
        ValueExample("d", 3, "hotel-name", ("ab", "AB", "The A B"), 2),
        ValueExample("d", 1, "hotel-area", ("center", "centre"), 1),
    )
    # Two slots, two values, and alternatives that stand side by side.
    assert told(None, ["hotel-name=ab; hotel-area=a b; taxi-leaveat=9:15; hotel-stars=9.15"]) == {}
    assert list(told(None, ["hotel-name=ab+a b"])) == ["sets pred"]
    assert told(None, ["hotel-stars=4.5", "hotel-stars=45", "hotel-stars=%", "hotel-stars=!"]) == {}


@pytest.mark.parametrize(
    ("slot", "one", "other"),
    [
        ("hotel-name", "Ritz", "ritz  "),
        ("hotel-name", "saint john's college", "saint john s college"),
        ("hotel-name", "alpha-milton", "alpha milton"),
        ("hotel-name", "the ritz", "ritz"),
        ("hotel-type", "guesthouse", "guest houses"),
        ("taxi-leaveat", "09:15", "after 9:15 am"),
    ],
)
def test_what_may_be_one_value(slot: str, one: str, other: str) -> None:
    assert key(slot, one) == key(slot, other) != key(slot, f"{one} 2")
    fact = told([f"{slot}={one}"], [f"{slot}={other}"])["variant-spellings both"]
    assert figures(fact) == (1, 1, {slot: 1})
    assert fact.examples == (ValueExample("d", 0, slot, (one, other), 1),)


def test_spellings_between_the_sides() -> None:
    ref = [
        "hotel-area=North",
        "hotel-area=centre",
        "hotel-area=the centre|x",
        "hotel-area=y|center",
        "hotel-area=a",
    ]
    pred = ["hotel-area=north", "hotel-area=center", "hotel-area=cen-tre", "hotel-area=center", "hotel-area=b"]
    fact = told(ref, pred)["variant-spellings both"]
    assert figures(fact) == (3, 3, {"hotel-area": 3})
    assert fact.about.startswith(
        "predictions, other spellings of the reference's value: 3 of 5 values at 3 of 5 turns (1 by case or white "
        "space, 1 by spelling or form of time, 1 by punctuation"
    )
    # A set is a spelling of the reference's value if all of it is.
    assert "variant-spellings both" not in told(["hotel-area=North"], ["hotel-area=north|b"])


def test_hyphens() -> None:
    ref = ["hotel-name=a-b; hotel-area=x-y; hotel-stars=4", "hotel-name=a-b"]
    found = told(ref, ["hotel-name=A-B; hotel-area=z; hotel-stars=5", "hotel-name=c; hotel-stars=5-6"])
    fact = found["hyphens both"]
    assert figures(fact) == (2, 5, {"hotel-name": 3, "hotel-area": 1, "hotel-stars": 1})
    # Wrong: area and stars at turn 0; name and stars at turn 1. A-B and a-b are equal under exact.
    assert fact.about.startswith("values with a hyphen: reference 3 of 4, predictions 2 of 5; 3 of 4 wrong slots")
    assert told(None, ["hotel-name=a-b"])["hyphens pred"].about == (
        "values with a hyphen: states 1 of 1; by slot: hotel-name 1"
    )
    assert "hyphens both" not in told(CLEAN, CLEAN)


def test_sets() -> None:
    found = told(
        ["hotel-area=north|south; hotel-name=x<y; hotel-stars=4>none"], ["hotel-area=b+c; hotel-name=x<y"]
    )
    assert figures(found["sets ref"]) == (1, 2, {"hotel-area": 1, "hotel-name": 1})
    assert figures(found["sets pred"]) == (1, 2, {"hotel-area": 1, "hotel-name": 1})
    assert found["sets pred"].examples[0] == ValueExample("d", 0, "hotel-area", ("b", "c"), 1)
    assert "several values in one: 2 of 2 values at 1 of 1 turns" in found["sets pred"].about
    assert figures(told(None, ["hotel-name=x<y"])["sets pred"]) == (1, 1, {"hotel-name": 1})
    assert told(None, ["hotel-name=x+"]) == {}


def test_spellings_of_dontcare() -> None:
    ref = ["hotel-area=dontcare; hotel-stars=Don't care", "hotel-area=dontcare"]
    fact = told(ref, ["hotel-area=do not care; hotel-stars=do not care", "hotel-area=dontcare"])["dontcare both"]
    assert figures(fact) == (2, 6, {"hotel-area": 4, "hotel-stars": 2})
    assert fact.about.startswith(
        "spellings of dontcare: reference 'dontcare' 2, \"Don't care\" 1; "
        "predictions 'do not care' 2, 'dontcare' 1; by slot"
    )
    assert fact.examples == (
        ValueExample("d", 0, "hotel-area", ("do not care",), 2),
        ValueExample("d", 0, "hotel-area", ("dontcare",), 2),
        ValueExample("d", 1, "hotel-area", ("dontcare",), 1),
        ValueExample("d", 0, "hotel-stars", ("Don't care",), 1),
    )
    assert told(["hotel-area=dontcare"], ["hotel-area=dontcare"]) == {}
    # Dontcare is never one of the variant spellings.
    assert list(told(["hotel-area=dontcare"], ["hotel-area=dont care"])) == ["dontcare both"]
    assert list(told(None, ["hotel-area=do n't care"])) == ["dontcare pred"]


def test_dontcare_against_not_set() -> None:
    ref = [
        "hotel-area=dontcare; hotel-stars=4",
        "hotel-area=dontcare; hotel-stars=4",
        "hotel-stars=none; hotel-area=x",
    ]
    pred = ["hotel-stars=4", "hotel-area=none; hotel-stars=dontcare", "hotel-stars=dontcare; hotel-area=x"]
    fact = told(ref, pred)["dontcare-or-none both"]
    assert figures(fact) == (3, 3, {"hotel-area": 2, "hotel-stars": 1})
    assert fact.about.startswith(
        "dontcare on one side and not set on the other: 2 in the reference, 1 in the predictions at 3 of 3 turns"
    )
    assert fact.examples == (
        ValueExample("d", 0, "hotel-area", ("dontcare", None), 2),
        ValueExample("d", 2, "hotel-stars", (None, "dontcare"), 1),
    )
    same = ["hotel-area=dontcare; hotel-stars=4"]
    assert told(same, ["hotel-area=x; hotel-stars=dontcare"]) == told(same, same) == {}


def test_slots_that_are_never_predicted() -> None:
    ref = ["hotel-area=north", "hotel-area=north; hotel-stars=4", "hotel-bookday=friday; hotel-stars=3"]
    fact = told(ref, ["hotel-area=south", "hotel-area=south", "hotel-area=south; hotel-stars=none"])
    never = fact["never-predicted ref"]
    assert figures(never) == (2, 3, {"hotel-stars": 2, "hotel-book day": 1})
    assert "slots that are never predicted (2): 3 of 5 values at 2 of 3 turns" in never.about
    # Another spelling of a slot is the same slot.
    assert told(["hotel-bookday=friday"], ["hotel-book day=friday"]) == {}


def test_updates_count_as_states() -> None:
    ref = ["hotel-area=dontcare", "hotel-area=dontcare", "hotel-stars=4"]
    found = told(ref, ["hotel-area=dontcare", "", "hotel-area=none; hotel-stars=4"], updates=("pred",))
    assert found == {}
    found = told(ref, ["hotel-area=a-b", "", "hotel-area=[DELETE]; hotel-stars=4"], updates=("pred",))
    assert figures(found["hyphens both"]) == (2, 2, {"hotel-area": 2})


def test_slot_that_stands_twice() -> None:
    # What is set wins over what is not, in whatever order.
    for state in ("hotel-area=dontcare; hotel-area=none", "hotel-area=none; hotel-area=dontcare"):
        assert "dontcare-or-none both" not in told([state], ["hotel-area=dontcare"])


def test_examples_are_the_most_frequent_and_limited() -> None:
    states = [f"hotel-name={number}-x" for number in [*range(30), 29]]
    fact = told(None, states)["hyphens pred"]
    assert fact.values == 31
    assert len(fact.examples) == 20
    assert fact.examples[0] == ValueExample("d", 29, "hotel-name", ("29-x",), 2)
    slots = "; ".join(f"hotel-s{number}=a-b" for number in range(7))
    assert told(None, [slots])["hyphens pred"].about.endswith("hotel-s3 1, hotel-s4 1, ...")


# What validate prints --------------------------------------------------------------------------------------------

STATES: dict[str, Any] = {"d": [{"hotel-area": "center", "hotel-name": "a-b"}, {"hotel-area": "centre"}]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return written(tmp_path / "states.json", json.dumps(STATES))


def test_json(place: Path) -> None:
    (file,) = json.loads(done("validate", place, "--as", "json").out)["files"]
    spelt, hyphens = file["facts"]
    assert spelt == {
        "kind": "variant-spellings",
        "side": "pred",
        "about": "states, rarer spellings of another value: 1 of 3 values at 1 of 2 turns (1 distinct: 1 by "
        "spelling or form of time); by slot: hotel-area 1",
        "turns": 1,
        "values": 1,
        "slots": {"hotel-area": 1},
        "examples": [
            {"dialogue": "d", "turn": 1, "slot": "hotel-area", "values": ["center", "centre"], "count": 1}
        ],
        "advice": KINDS["variant-spellings"],
    }
    assert hyphens["kind"] == "hyphens"


def test_text_and_the_other_forms(place: Path, tmp_path: Path) -> None:
    text = done("validate", place).out
    assert text.splitlines()[-5:][0] == "states.json: its values"
    assert "\n  variant-spellings  states, rarer spellings" in text
    assert "\n    dialogue 'd', turn 1: hotel-area 'center' / 'centre'\n" in text
    ran = done("validate", place, "--as", "csv")
    assert ran.out.count("\n") == 2
    assert "  hyphens  values with a hyphen" in ran.err
    for form in ("md", "latex"):
        assert "hyphens  values with a hyphen: states 1 of 3" in done("validate", place, "--as", form).out
    clean = written(tmp_path / "clean.json", json.dumps({"d": [{"hotel-area": "north"}]}))
    ran = done("validate", clean)
    assert "its values" not in ran.out
    assert json.loads(done("validate", clean, "--as", "json").out)["files"][0]["facts"] == []


def test_what_protocols_do_is_told_once_and_control_characters_are_escaped(tmp_path: Path) -> None:
    ref = written(tmp_path / "ref.json", json.dumps({"d\x1b": [{"hotel-name": "a b"}, {"hotel-name": "A B"}]}))
    pred = written(
        tmp_path / "pred.json", json.dumps({"d\x1b": [{"hotel-name": "a\x1bb"}, {"hotel-name": "a b"}]})
    )
    out = done("validate", pred, "--ref", ref).out
    assert out.count("\n  variant-spellings  ") == 3
    assert out.count(KINDS["variant-spellings"]) == 1
    assert "\x1b" not in out
    assert "dialogue 'd\\x1b', turn 1: hotel-name 'A B' / 'a b'" in out


def test_ontology(place: Path, tmp_path: Path) -> None:
    ontology = written(tmp_path / "ontology.json", json.dumps({"hotel-area": ["centre"]}))
    found = json.loads(done("validate", place, "--ontology", ontology, "--as", "json").out)["files"][0]["facts"]
    kinds = {fact["kind"]: fact["values"] for fact in found}
    assert (kinds["outside-ontology"], kinds["not-in-ontology"]) == (1, 1)
    assert run("validate", place, "--ontology", tmp_path / "nothing.json").code == 1


def test_the_facts_are_those_of_what_is_paired(tmp_path: Path) -> None:
    ref = written(
        tmp_path / "ref.json", json.dumps({"d": [{"hotel-area": "dontcare"}], "e": [{"hotel-stars": "4"}]})
    )
    pred = written(tmp_path / "pred.json", json.dumps({"d": [{}], "x": [{"hotel-name": "a-b"}]}))
    options: list[str | Path] = ["--ref", ref, "--missing", "empty", "--extra", "ignore", "--as", "json"]
    found = json.loads(done("validate", pred, *options).out)["files"][0]["facts"]
    assert [(fact["kind"], fact["values"]) for fact in found] == [("dontcare-or-none", 1), ("never-predicted", 2)]


# What the advice says --------------------------------------------------------------------------------------------


def test_protocols_do_what_the_advice_says() -> None:
    states = {name: protocol.load(name).states for name in protocol.names()}
    words = {"", "none", "not mentioned"}
    for name in ("exact", "normalised"):
        assert set(states[name].absent) == words
        assert (states[name].dontcare, states[name].alternatives) == ("keep", "any")
    assert (states["gca"].absent, states["mwzeval"].absent) == (("none",), ())
    assert set(states["mwzeval"].absent_ref) == words
    assert states["fga-official"].absent == states["fga-paper"].absent == ()
    for name in ("trade", "gca", "fga-official", "fga-paper"):
        assert (states[name].dontcare, states[name].alternatives) == ("literal", "literal")
    assert (states["simpletod-v1"].dontcare, states["mwzeval"].dontcare) == ("drop", "drop-ref")
    assert states["mwzeval"].alternatives == "first"
    for name in ("trade", "somdst", "t5dst", "icdst", "gca", "fga-official"):
        assert protocol.load(name).metrics.parameters["SlotAccuracy"]["split"] == "last"
    assert {name for name in states if "ontology" in protocol.load(name).needs} >= {"icdst", "dst-prompting"}
    hyphen: Any = [{"d": [{"hotel-name": value}]} for value in ("x-y", "z")]
    metrics = ["SlotAccuracy(split=last)", "SlotAccuracy(split=first)"]
    assert [score.count for score in dsteval.evaluate(*hyphen, metrics=metrics).scores] == [28, 29]


def test_every_kind_is_explained() -> None:
    page = (Path(__file__).parent.parent / "docs/output.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"`{kind}`" in page
    for name in (*Fact.__dataclass_fields__, *ValueExample.__dataclass_fields__):
        assert f"`{name}`" in page
