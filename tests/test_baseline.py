"""The bundled tracker: each group of rules on small dialogues, any schema, any text."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.errors import DstevalError
from dsteval.track.baseline.lexicon import domain_words, lexicon_from_schema, lexicon_from_states
from dsteval.track.baseline.patterns import clock_times, normal
from dsteval.track.baseline.tracker import RULES, Baseline, states_of

State = dict[str, str]

ONTOLOGY = {
    "attraction-area": {"centre": 3, "north": 3, "south": 3},
    "attraction-name": {"painted mill museum": 20, "green door theatre": 20},
    "attraction-type": {"museum": 9, "theatre": 9, "swimming pool": 9},
    "hotel-area": {"centre": 3, "north": 3, "south": 3, "east": 3},
    "hotel-book day": {"friday": 2, "monday": 2, "tuesday": 2},
    "hotel-book people": {"1": 2, "2": 2, "3": 2, "5": 2},
    "hotel-book stay": {"1": 2, "2": 2, "3": 2, "5": 2},
    "hotel-internet": {"yes": 5, "no": 1},
    "hotel-name": {"lark house": 20, "the crown hotel": 20, "mossgate guest house": 9, "mossgate guesthouse": 2},
    "hotel-parking": {"yes": 5, "no": 1},
    "hotel-pricerange": {"cheap": 4, "moderate": 4, "expensive": 4},
    "hotel-stars": {"3": 2, "4": 2},
    "hotel-type": {"guesthouse": 8, "hotel": 3},
    "restaurant-area": {"centre": 3, "north": 3, "south": 3},
    "restaurant-book day": {"friday": 2, "monday": 2, "tuesday": 2},
    "restaurant-book people": {"1": 2, "2": 2, "3": 2, "5": 2},
    "restaurant-book time": {"18:30": 2, "12:00": 2},
    "restaurant-food": {"italian": 9, "north indian": 5, "indian": 9, "seafood": 4},
    "restaurant-name": {"copper spoon": 20, "villa rosa restaurant": 20},
    "restaurant-pricerange": {"cheap": 4, "moderate": 4, "expensive": 4},
    "taxi-arriveby": {"18:30": 2, "12:00": 2},
    "taxi-departure": {"lark house": 3, "copper spoon": 3, "painted mill museum": 3},
    "taxi-destination": {"lark house": 3, "copper spoon": 3, "painted mill museum": 3},
    "taxi-leaveat": {"18:30": 2, "12:00": 2},
    "train-arriveby": {"18:30": 2, "12:00": 2},
    "train-book people": {"1": 2, "2": 2, "3": 2},
    "train-day": {"friday": 2, "monday": 2, "tuesday": 2},
    "train-departure": {"cambridge": 5, "norwich": 5, "ely": 5},
    "train-destination": {"cambridge": 5, "norwich": 5, "ely": 5},
    "train-leaveat": {"18:30": 2, "12:00": 2},
}

SCHEMA: list[dict[str, Any]] = [
    {
        "service_name": "Clinics_1",
        "description": "Find a clinic",
        "intents": [
            {
                "required_slots": ["city", "visit_date"],
                "optional_slots": {"open_late": "dontcare", "visit_time": ""},
            },
            {"required_slots": ["number_of_people"], "optional_slots": {"clinic_name": "", "kind": ""}},
        ],
        "slots": [
            {"name": "city", "is_categorical": False, "possible_values": []},
            {"name": "visit_date", "is_categorical": False, "possible_values": []},
            {"name": "visit_time", "is_categorical": False, "possible_values": []},
            {"name": "clinic_name", "is_categorical": False, "possible_values": []},
            {"name": "kind", "is_categorical": True, "possible_values": ["Dental", "Eye Care"]},
            {"name": "open_late", "is_categorical": True, "possible_values": ["True", "False"]},
            {"name": "number_of_people", "is_categorical": True, "possible_values": ["1", "2", "3"]},
            {"name": "phone", "is_categorical": False, "possible_values": []},
        ],
    }
]


def told(*turns: tuple[str, str] | str, without: str = "", schema: list[dict[str, Any]] | None = None) -> State:
    """The state after the turns, (system, user) or user alone."""
    rules = {*RULES} - {without}
    tracker = Baseline(schema=schema, rules=rules) if schema else Baseline(train=ONTOLOGY, rules=rules)
    state: State = {}
    for turn in turns:
        state = tracker.update(*(("", turn) if isinstance(turn, str) else turn))
    return state


# Group, dialogue, what it yields; and without the group not.
DIALOGUES: list[tuple[str, list[tuple[str, str] | str], State]] = [
    ("values", ["a cheap hotel in the north"], {"hotel-area": "north", "hotel-pricerange": "cheap"}),
    ("values", ["north indian food please"], {"restaurant-food": "north indian"}),
    ("values", ["an upscale restaurant in the center"],
     {"restaurant-area": "centre", "restaurant-pricerange": "expensive"}),
    ("values", ["i like museums in the south"], {"attraction-area": "south", "attraction-type": "museum"}),
    ("values", ["a guest house with free wifi and parking"],
     {"hotel-internet": "yes", "hotel-parking": "yes", "hotel-type": "guesthouse"}),
    ("values", ["Is there anything about the Mossgate Guesthouse ?"], {"hotel-name": "mossgate guest house"}),
    ("values", ["i want to eat at Villa Rosa"], {"restaurant-name": "villa rosa restaurant"}),
    ("spelling", ["an expensve restaurant"], {"restaurant-pricerange": "expensive"}),
    ("numbers", ["a hotel room for two people, 3 nights"], {"hotel-book people": "2", "hotel-book stay": "3"}),
    ("numbers", ["a table for 5"], {"restaurant-book people": "5"}),
    ("numbers", ["a table, just for me"], {"restaurant-book people": "1"}),
    ("numbers", ["a 4 star hotel"], {"hotel-stars": "4"}),
    ("times", ["a train after quarter past 5 pm"], {"train-leaveat": "17:15"}),
    ("times", ["the train should arrive by 9:45"], {"train-arriveby": "09:45"}),
    ("times", ["a train that leaves on friday and arrives by 10:30"],
     {"train-arriveby": "10:30", "train-day": "friday"}),
    ("times", ["a table at 6:30 pm"], {"restaurant-book time": "18:30"}),
    ("days", ["a train on friday"], {"train-day": "friday"}),
    ("any", ["i need a hotel", ("What area do you want?", "it doesn't matter")], {"hotel-area": "dontcare"}),
    ("any", ["a hotel, any price range is fine"], {"hotel-pricerange": "dontcare"}),
    ("answers", ["i need a hotel room", ("For how many people?", "Just 3, please")], {"hotel-book people": "3"}),
    ("answers", ["i need a hotel", ("Do you need parking?", "yes")], {"hotel-parking": "yes"}),
    ("offers", ["a hotel", ("How about Lark House?", "yes, that sounds good")], {"hotel-name": "lark house"}),
    ("references", ["a hotel in the north", "and a restaurant in the same area as the hotel"],
     {"hotel-area": "north", "restaurant-area": "north"}),
    ("references", ["i am at lark house", "and the copper spoon", "a taxi from the hotel to the restaurant"],
     {"hotel-name": "lark house", "restaurant-name": "copper spoon", "taxi-departure": "lark house",
      "taxi-destination": "copper spoon"}),
    ("references", ["the hotel lark house", "the restaurant copper spoon", "a taxi between the two places"],
     {"hotel-name": "lark house", "restaurant-name": "copper spoon", "taxi-departure": "lark house",
      "taxi-destination": "copper spoon"}),
    ("changes", ["a moderate hotel, not a cheap one"], {"hotel-pricerange": "moderate"}),
    ("changes", ["a hotel, i don't need parking"], {"hotel-parking": "no"}),
    ("changes", ["the hotel lark house", "is there another hotel?"], {}),
    ("domains", ["i want a restaurant in the south and a hotel in the north"],
     {"hotel-area": "north", "restaurant-area": "south"}),
    ("travel", ["a train from norwich to cambridge"],
     {"train-departure": "norwich", "train-destination": "cambridge"}),
    ("travel", ["a taxi to copper spoon, leaving lark house"],
     {"taxi-departure": "lark house", "taxi-destination": "copper spoon"}),
]  # fmt: skip


@pytest.mark.parametrize(("group", "dialogue", "state"), DIALOGUES)
def test_what_each_group_of_rules_finds(group: str, dialogue: list[tuple[str, str] | str], state: State) -> None:
    assert told(*dialogue) == state
    assert told(*dialogue, without=group) != state


def test_offers_are_not_taken_when_turned_down_or_passed_over() -> None:
    offer = "How about Lark House?"
    assert told("a hotel", (offer, "no, another one")) == {}
    assert "hotel-name" not in told("a hotel", (offer, "great. i also need a train on friday"))
    assert "hotel-name" not in told("a hotel", ("I have Lark House and the Crown Hotel.", "great"))


def test_a_later_value_replaces_an_earlier_one() -> None:
    assert told("a cheap hotel", "actually make it an expensive hotel") == {"hotel-pricerange": "expensive"}


def test_streets_are_no_names() -> None:
    assert told("is that on copper spoon road ?") == {}


def test_open_slots_of_a_schema() -> None:
    found = told(
        "I need a clinic in San Lando on March 3rd.",
        ("At what time?", "Quarter past 5 in the evening, for 2 people, and it should be dental"),
        schema=SCHEMA,
    )
    assert found == {
        "Clinics_1-city": "San Lando",
        "Clinics_1-visit_date": "March 3rd",
        "Clinics_1-visit_time": "Quarter past 5 in the evening",
        "Clinics_1-number_of_people": "2",
        "Clinics_1-kind": "Dental",
    }


def test_offers_of_a_schema() -> None:
    found = told(("I found the clinic Harbour Practice.", "I need a clinic"), schema=SCHEMA)
    assert found == {}
    found = told("a clinic", ("How about Harbour Practice in Elmton?", "That sounds good"), schema=SCHEMA)
    assert found == {"Clinics_1-clinic_name": "Harbour Practice"}


def test_slots_that_no_intent_takes_are_never_filled() -> None:
    assert "Clinics_1-phone" not in lexicon_from_schema(SCHEMA).slots


def test_kinds_of_slots() -> None:
    slots = lexicon_from_schema(SCHEMA).slots.values()
    assert {slot.words[-2 if len(slot.words) > 1 else -1]: slot.kind for slot in slots} == {
        "city": "place",
        "date": "date",
        "time": "time",
        "name": "name",
        "kind": "choice",
        "late": "flag",
        "people": "number",
    }


def test_multiwoz_22_spellings_of_slots() -> None:
    schema = [
        {"service_name": "hotel", "slots": [
            {"name": "hotel-bookpeople", "is_categorical": True, "possible_values": ["1", "2"]},
            {"name": "hotel-bookday", "is_categorical": True, "possible_values": ["monday", "tuesday"]},
        ]}
    ]  # fmt: skip
    found = told("a hotel for 2 people on monday", schema=schema)
    assert found == {"hotel-bookpeople": "2", "hotel-bookday": "monday"}


def test_without_schema_and_training_it_knows_closed_values() -> None:
    tracker = Baseline()
    assert tracker.update("", "a train on friday for 3 people") == {
        "train-day": "friday",
        "train-book people": "3",
    }
    assert tracker.needs == "turn"


def test_training_states_and_a_file_of_them(tmp_path: Path) -> None:
    states = [{"hotel-area": "Old Harbour", "hotel-stars": "none"}, {"hotel-area": "mill hill"}]
    assert lexicon_from_states(states) == {"hotel-area": {"old harbour": 1, "mill hill": 1}}
    file = tmp_path / "train.json"
    file.write_text('{"a": [{"hotel-area": "old harbour"}, {"hotel-area": "mill hill"}]}')
    assert states_of(file) == [{"hotel-area": "old harbour"}, {"hotel-area": "mill hill"}]
    for train in (states, file, str(file)):
        assert Baseline(train=train).update("", "a hotel near the Old Harbour") == {"hotel-area": "old harbour"}


def test_unknown_domains_have_their_own_words() -> None:
    train = {"spaceport-area": {"ring": 3, "dome": 2}, "bakery-area": {"ring": 3, "dome": 2}}
    assert Baseline(train=train).update("", "a bakery in the dome") == {"bakery-area": "dome"}
    assert domain_words("Spaceports_2") == ("spaceports", "spaceport")


def test_reset_forgets() -> None:
    tracker = Baseline()
    tracker.update("", "a cheap hotel")
    tracker.reset("b")
    assert tracker.update("", "hello") == {}


def test_what_it_returns_is_a_copy() -> None:
    tracker = Baseline()
    tracker.update("", "a cheap hotel").clear()
    assert tracker.update("", "thanks") == {"hotel-pricerange": "cheap"}


@pytest.mark.parametrize("rules", [["value"], "values, speling"])
def test_unknown_groups_of_rules(rules: list[str] | str) -> None:
    with pytest.raises(DstevalError, match="Did you mean"):
        Baseline(rules=rules)


def test_rules_as_a_text() -> None:
    assert Baseline(rules="values, days").rules == {"values", "days"}


@pytest.mark.parametrize("schema", [[{"slots": []}], [{"service_name": "a", "slots": [{}]}], {"a": 1}])
def test_what_is_no_schema(schema: Any) -> None:
    with pytest.raises(DstevalError, match="schema"):
        Baseline(schema=schema)


WORDS = (
    "a the hotel taxi from to in not no yes 5 pm : half past 99 24:61 for people friday same area as between two "
    "places San Lando's Dr. E. I'm $ 3rd March ? . , any don't care copper spoon what about lark house"
)
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_never_raises_and_is_deterministic(turns: list[tuple[str, str]]) -> None:
    kinds: list[dict[str, Any]] = [{"train": ONTOLOGY}, {"schema": SCHEMA}, {}]
    for arguments in kinds:
        states = []
        for _ in range(2):
            tracker = Baseline(**arguments)
            states.append([tracker.update(*turn) for turn in turns])
        assert states[0] == states[1]
        slots = tracker.lexicon.slots
        assert all(slot in slots and value for state in states[0] for slot, value in state.items())


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.dictionaries(st.text(max_size=8), st.just(3), max_size=4))
)
def test_any_ontology_will_do(train: dict[str, dict[str, int]]) -> None:
    Baseline(train=train).update("which area?", "a hotel in the north for 2 people at 5 pm on friday")


@given(TEXTS)
def test_plain_spelling_is_stable(text: str) -> None:
    assert normal(normal(text)) == normal(text)
    assert all(len(time) == 5 for _, time in clock_times(normal(text)))
