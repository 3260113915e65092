"""Protocols: what is bundled, what its hash is, what a run may change, and how that shows."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsteval
from dsteval.errors import OptionError, ProtocolError
from dsteval.protocols import model as protocol
from forms import sides
from generated import options
from strategies import LITERAL_VALUES, WrittenCorpus, literal_corpora

# A number can change: raise comparability, then update the hash.
PINNED = {
    "card@2": "89f76c1d31a1",
    "card-recipe@1": "7e24653c3aad",
    "convlab-t5@1": "151db9ac3f8a",
    "convlab-unified@1": "86d75eee152e",
    "dst-prompting@2": "a4d03d351a84",
    "dstc10@1": "c5ef0a4eee46",
    "exact@2": "89f76c1d31a1",
    "fga-official@2": "bcd9ec1a162f",
    "fga-paper@1": "6342210e921a",
    "fga-trippy@2": "2eac9cab8d2e",
    "fnctod@2": "0e4af3839dc0",
    "gca@2": "b84ce8d06324",
    "hidst@2": "c25de2077b13",
    "icdst@2": "1d0cee2a8b39",
    "mwzeval@2": "ec35d4bc7b35",
    "mwzeval-2023@1": "d627b368838b",
    "normalised@2": "8c3fe0b9b1a0",
    "sgd@2": "46f1c98378b0",
    "sgd-exact@2": "da6efbf1af12",
    "simpletod@1": "244c25dac751",
    "simpletod-v1@2": "eb961d6d2d11",
    "somdst@2": "125f68dd28ce",
    "t5dst@2": "74d971771606",
    "trade@2": "52799c8d6a8e",
    "trippy@2": "1f5d947d555d",
}

LITERAL_NAMES = ["fga-official", "fga-paper", "fga-trippy", "gca"]
REFUSE_LISTS = [name for name in protocol.names() if protocol.load(name).states.alternatives == "literal"]

TOML = """
name = "mine"
comparability = 3
title = "a test"
source = "nobody"
checked = []
[states]
slots = "as-written"
normalise = ["casefold"]
absent = []
dontcare = "keep"
alternatives = "any"
[match]
rule = "exact"
[scope]
unit = "turn"
slots = 7
[metrics]
default = ["JGA", "FGA@0.5"]
[metrics.parameters]
FGA = { variant = "paper" }
"""


def jga(ref: Any, pred: Any, name: str = "exact", *settings: str) -> float | None:
    """JGA of one state against another."""
    own = {**options(name), "settings": [*options(name)["settings"], *settings]}
    result = dsteval.evaluate({"d": [ref]}, {"d": [pred]}, metrics=["JGA"], protocol=name, **own)
    return result["JGA"].value


@pytest.mark.parametrize("label", sorted(PINNED))
def test_hash_is_pinned(label: str) -> None:
    loaded = protocol.load(label.partition("@")[0])
    assert {loaded.label: loaded.hash} == {label: PINNED[label]}, (
        "A number can change: raise comparability, then update the hash"
    )


@pytest.mark.parametrize("name", protocol.names())
def test_bundled_protocols_are_whole(name: str) -> None:
    loaded = protocol.load(name)
    assert loaded.name == name
    assert loaded.label in PINNED, "a new protocol, or a raised comparability: pin its hash"
    assert loaded.title
    assert loaded.source
    assert loaded.checked
    assert bool(loaded.scope.leave_out) == bool(loaded.scope.leave_out_why)
    ref = {"d": [{"hotel-area": "north"}]}
    result = dsteval.evaluate(ref, ref, protocol=name, **options(name))
    assert [score.metric for score in result.scores] == [*loaded.metrics.default]
    undefined = {None} if loaded.scope.unit == "frame" else set()  # there are no intents in plain states
    assert {1.0} <= {score.value for score in result.scores} <= {1.0} | undefined


def test_exact_comes_first() -> None:
    assert protocol.names()[0] == "exact"
    assert protocol.names()[1:] == sorted(protocol.names()[1:])


@pytest.mark.parametrize(
    "field", ["states.dontcare=drop", "states.absent=[]", "scope.slots=31", "states.normalise=[]"]
)
def test_hash_follows_the_settings(field: str) -> None:
    loaded = protocol.load("exact")
    assert loaded.with_settings([field]).hash != loaded.hash


def test_a_protocol_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML, encoding="utf-8")
    ref = {"d": [{"Hotel-Area": "North"}, {"Hotel-Area": "North", "hotel-area": "x"}]}
    pred = {"d": [{"Hotel-Area": "north"}, {"Hotel-Area": "north"}]}
    result = dsteval.evaluate(ref, pred, protocol=str(file))
    assert re.fullmatch(r"mine@3#[0-9a-f]{12}", result.protocol)  # not ours: its hash tells which it is
    assert [(s.metric, s.value) for s in result.scores] == [("JGA", 0.5), ("FGA@0.5", 0.5)]
    assert f"FGA(variant=paper)@0.5|proto:{result.protocol}|" in result["FGA@0.5"].signature
    assert "|S:7|" in result["JGA"].signature


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('dontcare = "keep"', 'dontcare = "keep"\ndontcares = "keep"', ["dontcares", "states"]),
        ('name = "mine"', 'name = "mine"\nparent = "exact"', ["parent"]),
        ('rule = "exact"', 'rule = "exact"\nfuzz = 95', ["fuzz", "match"]),
        ('unit = "turn"', 'unit = "turn"\nunits = "turn"', ["units", "scope"]),
        ('default = ["JGA", "FGA@0.5"]', "default = []\nextra = []", ["extra", "metrics"]),
        ('dontcare = "keep"', 'dontcare = "maybe"', ["maybe", "dontcare"]),
        ('dontcare = "keep"', "", ["dontcare"]),
        ("comparability = 3", 'comparability = "3"', ["comparability", "int"]),
        ("slots = 7", "slots = 0", ["|S|", "positive"]),
        ('normalise = ["casefold"]', 'normalise = ["casefolds"]', ["casefolds", "Did you mean 'casefold'"]),
        ('slots = "as-written"', 'slots = "aswritten"', ["aswritten", "Did you mean 'as-written'"]),
        ("comparability = 3", "comparability = ", ["expected TOML"]),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    file = tmp_path / "mine.toml"
    assert old in TOML
    file.write_text(TOML.replace(old, new), encoding="utf-8")
    with pytest.raises(ProtocolError) as refused:
        protocol.load(str(file))
    for part in ["mine.toml", *told]:
        assert part in refused.value.command_line


def test_unknown_protocols_are_refused() -> None:
    with pytest.raises(ProtocolError, match=r"Unknown protocol 'exakt'. Did you mean 'exact'\? See: dsteval list"):
        jga({}, {}, "exakt")
    with pytest.raises(ProtocolError, match=r"absent\.toml: expected a protocol's TOML file, found no such file"):
        jga({}, {}, "absent.toml")


def test_settings_change_one_run() -> None:
    ref, pred = {"hotel-area": "dontcare", "hotel-name": "lodge"}, {"hotel-name": "lodge"}
    assert jga(ref, pred) == 0
    assert jga(ref, pred, "exact", "states.dontcare=drop") == 1
    assert jga(ref, pred, "exact", "states.dontcare=drop-ref") == 1
    assert jga(ref, pred, "exact", "states.dontcare=drop-pred") == 0
    assert jga(pred, ref, "exact", "states.dontcare=drop-pred") == 1
    assert jga(pred, ref, "exact", "states.dontcare=drop-ref") == 0
    assert jga({"hotel-area": "east|west"}, {"hotel-area": "west"}) == 1
    assert jga({"hotel-area": "east|west"}, {"hotel-area": "west"}, "exact", "states.alternatives=first") == 0
    assert jga({"hotel-area": "east|west"}, {"hotel-area": "east"}, "exact", "states.alternatives=first") == 1
    assert jga({"hotel-area": ["east", "west"]}, {"hotel-area": "west"}, "exact", "states.alternatives=first") == 0
    assert jga({"hotel-area": "a|b"}, {"hotel-area": "a|b"}, "exact", "states.alternatives=literal") == 1
    assert jga({"hotel-area": "a|b"}, {"hotel-area": "b|a"}, "exact", "states.alternatives=literal") == 0
    assert jga({"hotel-area": "none"}, {}) == 1
    assert jga({"hotel-area": "none"}, {}, "exact", "states.absent=[]") == 0
    assert jga({"hotel-area": "?"}, {}, "exact", "states.absent=['?', '']") == 1
    assert jga({"hotel-area": "North"}, {"hotel-area": "north"}, "exact", "states.normalise=[]") == 0
    assert jga({"hotel-bookday": "1"}, {"hotel-day": "1"}, "exact", "states.slots=as-written") == 0
    assert jga({}, {}) == 1, "a setting must not outlive its run"


def test_dontcare_is_one_value_in_every_spelling() -> None:
    spellings = [
        "dontcare",
        "dont care",
        "Don't  care",
        "do n't care",
        "do nt care",
        "do not care",
        "does not care",
    ]
    for spelling in [*spellings, "DOESN'T CARE"]:
        assert jga({"hotel-area": spelling}, {"hotel-area": "dontcare"}) == 1
        assert jga({"hotel-area": spelling}, {}) == 0
        assert jga({"hotel-area": spelling}, {}, "exact", "states.dontcare=drop") == 1
    assert jga({"hotel-area": "dont care"}, {"hotel-area": "dontcare"}, "exact", "states.dontcare=literal") == 0


@pytest.mark.parametrize(
    ("slot", "ref", "pred", "same"),
    [
        ("hotel-area", "centre", "Center", True),
        ("hotel-type", "guest house", "guesthouse", True),
        ("hotel-name", "arts centre", "arts center", False),
        ("restaurant-book time", "17:00", "5pm", True),
        ("restaurant-book time", "17:00", "5 pm", True),
        ("train-leaveat", "09:15", "9:15", True),
        ("taxi-leaveat", "00:10", "24:10", True),
        ("taxi-arriveby", "12:30", "12:30 pm", True),
        ("taxi-arriveby", "00:30", "12:30 am", True),
        ("train-arriveby", "17:00", "05:00", False),
        ("hotel-book people", "10", "1", False),
        ("hotel-name", "17:00", "5pm", False),
        ("train-leaveat", "17:00", "5", False),
    ],
)
def test_normalised_knows_spellings_and_nothing_fuzzy(slot: str, ref: str, pred: str, same: bool) -> None:
    assert jga({slot: ref}, {slot: pred}, "normalised") == same
    assert jga({slot: pred}, {slot: ref}, "normalised") == same
    assert jga({slot: ref}, {slot: pred}) == 0
    assert jga({slot: ref}, {slot: ref}, "normalised") == 1


@pytest.mark.parametrize("rule", ["drop-ref", "drop-pred"])
def test_equal_texts_are_not_equal_where_one_side_drops_dontcare(rule: str) -> None:
    same = {"hotel-area": "dontcare", "hotel-name": "lodge"}
    assert jga(same, same) == 1
    assert jga(same, same, "exact", f"states.dontcare={rule}") == 0
    # The same states at the next turn, from the same object: no short cut may take them for right.
    turns = {"d": [same, same]}
    result = dsteval.evaluate(
        turns, turns, metrics=["JGA", "SlotF1", "FGA@inf"], settings=[f"states.dontcare={rule}"]
    )
    assert (result["JGA"].value, result["FGA@inf"].value) == (0.0, 0.5)
    assert (result["SlotF1"].count, result["SlotF1"].total) == (4, 6)


def test_settings_show_in_label_and_signature() -> None:
    loaded = protocol.load("exact").with_settings(["states.dontcare=drop", 'states.absent=["", "?"]'])
    assert loaded.label == 'exact@2[states.absent=["","?"],states.dontcare=drop]'
    assert loaded.signature() == "match:exact|absent:drop|dc:drop|multi:any"
    again = loaded.with_settings(["states.dontcare=keep", "scope.slots=31"])
    assert again.label == 'exact@2[scope.slots=31,states.absent=["","?"]]'
    assert protocol.load("exact").label == "exact@2"
    settings = ["states.absent=[]", "states.alternatives=first", "scope.slots=4"]
    result = dsteval.evaluate({"d": [{}]}, {"d": [{}]}, metrics=["JGA"], settings=settings)
    label = "exact@2[scope.slots=4,states.absent=[],states.alternatives=first]"
    assert result.protocol == label
    signature = result["JGA"].signature
    assert f"|proto:{label}|" in signature
    assert "|absent:keep|dc:keep|multi:first|S:4|" in signature
    assert re.search(r"\|v:[0-9.]+$", signature)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("states.dontcares=drop", ["Unknown setting 'states.dontcares'", "Did you mean 'states.dontcare'?"]),
        ("dontcare=drop", ["Unknown setting 'dontcare'", "states.dontcare"]),
        ("name=mine", ["Unknown setting 'name'"]),
        ("metrics.default=[]", ["Unknown setting 'metrics.default'"]),
        ("states.dontcare=ignore", ["--set states.dontcare=ignore", "states.dontcare"]),
        ("states.dontcare", ["--set states.dontcare", "expected table.key=value"]),
        ("states.absent=none", ["--set states.absent=none", "a list such as", "states.absent"]),
        ("states.absent=[1]", ["states.absent"]),
        ("states.normalise=['casefolds']", ["casefolds", "Did you mean 'casefold'?"]),
        ("states.slots=canonic", ["canonic", "Did you mean 'canonical'?"]),
        ("scope.slots=0", ["positive"]),
        ("scope.slots=thirty", ["scope.slots"]),
        ("match.rule=fuzzy", ["match.rule"]),
        ("", ["expected table.key=value"]),
    ],
)
def test_a_wrong_setting_is_refused(setting: str, told: list[str]) -> None:
    with pytest.raises(OptionError) as refused:
        jga({}, {}, "exact", "states.alternatives=first", setting)
    for part in told:
        assert part in refused.value.command_line


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [
        ("exact", "FGA@0.5", "FGA(variant=official)@0.5"),
        ("fga-paper", "FGA@0.5", "FGA(variant=paper)@0.5"),
        ("fga-trippy", "FGA@0.5", "FGA(variant=trippy)@0.5"),
        ("fga-paper", "TurnMatch", "TurnMatch(variant=paper)"),
        ("fga-trippy", "TurnMatch", "TurnMatch(variant=trippy)"),
        ("fga-official", "SlotAccuracy", "SlotAccuracy(split=last)"),
        ("gca", "SlotAccuracy", "SlotAccuracy(split=last)"),
        ("exact", "SlotAccuracy", "SlotAccuracy"),
        ("fga-paper", "FGA(variant=strict)@0.5", "FGA(variant=strict)@0.5"),
        ("fga-paper", "FGA(average=dialogue)@0.5", "FGA(average=dialogue,variant=paper)@0.5"),
        ("gca", "SlotAccuracy(split=first)", "SlotAccuracy(split=first)"),
        ("gca", "JGA", "JGA"),
        ("gca", "RSA", "RSA(empty=zero,split=last)"),
        ("gca", "GCA", "GCA(none=value)"),
        ("gca", "RSA(empty=skip)", "RSA(empty=skip,split=last)"),
        ("card-recipe", "JGA", "RecipeJGA"),
        ("convlab-t5", "TurnMatch", "TurnMatch(variant=official)"),
    ],
)
def test_a_name_means_the_protocols_own_and_a_typed_parameter_wins(name: str, typed: str, meant: str) -> None:
    # A dropped slot after an exact turn, then a hyphen inside a wrong value: all rules differ here.
    state = {"hotel-area": "north", "hotel-name": "rose-garden"}
    ref = {"d": [state] * 5}
    pred = {"d": [state, {"hotel-name": "rose-garden"}, {"hotel-name": "lodge"}, {}, {"hotel-area": "north"}]}
    result = dsteval.evaluate(ref, pred, metrics=[typed, meant], protocol=name)
    assert [score.metric for score in result.scores] == [typed, meant][: 2 if typed != meant else 1]
    assert result[typed].value == result[meant].value
    assert result[typed].signature.startswith(f"{meant}|proto:{name}@{protocol.load(name).comparability}|")
    family = [f"FGA(variant={variant})@0.5" for variant in ("official", "paper", "strict", "trippy")]
    values = [dsteval.evaluate(ref, pred, metrics=[m], protocol=name)[m].value for m in family]
    assert len({*values}) >= 3, "the corpus tells the variants apart"


def test_dialogues_left_out_are_named() -> None:
    ref = {"PMUL1455": [{}], "d": [{"hotel-area": "north"}]}
    pred: dict[str, Any] = {"pmul1455.json": [{"hotel-area": "north"}], "d": [{"hotel-area": "north"}]}
    left = dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="fga-trippy")
    assert (left["JGA"].count, left["JGA"].total) == (1, 1)
    assert left.coverage.left_out == ["pmul1455.json"]
    assert any("pmul1455.json" in note and "official test dialogue" in note for note in left.notes)
    assert "|turns:1/2|" in left["JGA"].signature
    kept = dsteval.evaluate(ref, pred, metrics=["JGA"], protocol="fga-official")
    assert (kept["JGA"].count, kept["JGA"].total) == (1, 2)


@pytest.mark.parametrize("name", [name for name in protocol.names() if name != "fga-trippy"])
def test_marks_without_values_are_refused_by_all_but_one(name: str) -> None:
    with pytest.raises(ProtocolError, match=r"values, as protocol .* found right/wrong marks .*fga-trippy"):
        dsteval.evaluate(None, {"d": {"0": [1] * 30}}, metrics=["JGA"], protocol=name, **options(name))


def test_marks_must_be_as_many_as_the_protocol_has_slots() -> None:
    with pytest.raises(ProtocolError, match=r"dialogue 'd', turn 0: expected 30 marks per turn.* found 29"):
        dsteval.evaluate(None, {"d": {"0": [1] * 29}}, metrics=["JGA"], protocol="fga-trippy")


@pytest.mark.parametrize("name", REFUSE_LISTS)
def test_a_list_is_refused_where_texts_are_compared(name: str) -> None:
    with pytest.raises(
        ProtocolError, match=r"dialogue 'd', turn 0, slot 'hotel-area': .*found a list of 2 values.*such as exact"
    ):
        jga({"hotel-area": ["east", "west"]}, {"hotel-area": "west"}, name)
    assert jga({"hotel-area": ["east"]}, {"hotel-area": "east"}, name) == 1


@pytest.mark.parametrize("name", LITERAL_NAMES)
def test_texts_are_compared_as_written(name: str) -> None:
    for ref, pred in [
        ("North", "north"),
        ("north ", "north"),
        ("dont care", "dontcare"),
        ("a|b", "a"),
        ("a|b", "b|a"),
    ]:
        assert jga({"hotel-area": ref}, {"hotel-area": pred}, name) == 0
        assert jga({"hotel-area": ref}, {"hotel-area": ref}, name) == 1


@given(literal_corpora())
def test_a_reference_against_itself_is_perfect(corpus: WrittenCorpus) -> None:
    # In a reference > and < also separate alternatives, in a prediction they do not.
    told = {value: str(value).replace(">", "|") for value in LITERAL_VALUES}
    ref = {d: [{s: told[str(v)] for s, v in b.items()} for b in states] for d, states in sides(corpus)[0].items()}
    for name in ["exact", "normalised", *LITERAL_NAMES]:
        result = dsteval.evaluate(ref, ref, protocol=name)
        # By the rules of GCA's script an empty turn is 0 for RSA, and a deletion is also missed.
        scores = [score for score in result.scores if score.metric not in ("RSA", "GCA")]
        assert {score.value for score in scores} <= {1.0, None}, name
        assert result["JGA"].value == 1.0


@given(st.sampled_from(["exact", "normalised"]), st.sampled_from(LITERAL_VALUES))
def test_guessing_everything_never_pays(name: str, value: str) -> None:
    guesses = "|".join(LITERAL_VALUES) + "|somewhere else"
    assert jga({"hotel-name": value}, {"hotel-name": guesses}, name) == 0
