"""The naive oracles of published rules on small cases worked out by hand."""

import math

import pytest

import naive_metrics as metrics
import naive_rules as rules
import naive_sgd
import naive_trade as trade
from naive_metrics import State


def test_trade_counts_a_hyphenated_wrong_value_twice() -> None:
    ref, pred = {"hotel-name": "a-b"}, {"hotel-name": "c"}
    assert trade.slot_accuracy(ref, pred, 30) == 28 / 30
    assert trade.slot_accuracy({"hotel-name": "b"}, pred, 30) == 29 / 30
    assert trade.turn_f1({}, {}) == 1
    assert trade.turn_f1({}, pred) == trade.turn_f1(ref, {}) == trade.turn_f1(ref, pred) == 0


def test_trade_cuts_domains_and_keeps_every_turn() -> None:
    corpus = [[({"hotel-area": "north"}, {"hotel-area": "south"}), ({"hotel-area": "north", "taxi-to": "x"}, {})]]
    assert trade.without_domain(corpus, "hotel")["Joint Acc"] == 0.5
    assert trade.only_domain(corpus, "taxi")["Joint Acc"] == 0.5
    assert trade.somdst_domain(corpus, "taxi")["Joint Acc"] == 0
    assert trade.somdst_final(corpus)["Joint Acc"] == 0


def test_sgd_multiplies_over_the_schema_and_averages_over_the_reference() -> None:
    slots = {"stars": True, "name": False, "area": False}
    ref = {"stars": ["3", "three"], "name": ["rosa's place"]}
    pred = {"stars": ["three"], "name": ["place rosas"], "unknown": ["x"]}
    found = naive_sgd.goal_scores(ref, pred, slots, naive_sgd.similarity)
    likeness = naive_sgd.similarity("rosa's place", "place rosas")
    assert likeness == round(2 * 11 / 23, 2)  # "place rosa s" and "place rosas" share 11 characters a side
    assert found["joint_goal_accuracy"] == found["joint_cat_accuracy"] == 0
    assert found["joint_noncat_accuracy"] == found["average_noncat_accuracy"] == likeness
    assert found["average_goal_accuracy"] == likeness / 2
    empty = naive_sgd.goal_scores({}, {}, {"area": False}, naive_sgd.equality)
    assert (empty["joint_cat_accuracy"], empty["joint_goal_accuracy"]) == (None, 1)
    assert naive_sgd.goal_scores({}, {}, {}, naive_sgd.equality)["joint_goal_accuracy"] is None


def test_sgd_requested_slots() -> None:
    assert naive_sgd.requested_f1([], []) == 1
    assert naive_sgd.requested_f1([], ["price"]) == naive_sgd.requested_f1(["price"], []) == 0
    assert naive_sgd.requested_f1(["price", "price"], ["price"]) == pytest.approx(2 / 3)


def test_rsa_and_iaga_divide_by_different_turns() -> None:
    corpus: metrics.Corpus = [[({}, {}), ({}, {"a-x": "1"}), ({"a-x": "1"}, {"a-x": "1", "a-y": "2"})]]
    assert [metrics.rsa(corpus, empty) for empty in (0, 1, None)] == [0.5 / 3, 1.5 / 3, 0.5 / 2]
    assert metrics.iaga(corpus) == 0.5
    corpus = [[({"a-x": "1"}, {"a-x": "1"})]]
    assert metrics.iaga(corpus) == metrics.rsa(corpus, 0) == 1


@pytest.mark.parametrize(
    ("turns", "counts"),
    [
        ([({"x": "1"}, {"x": "1"})], (1, 0, 0, 0)),
        ([({"x": "1"}, {"x": "2"})], (0, 1, 0, 0)),
        ([({"x": "1"}, {})], (0, 0, 0, 1)),
        ([({}, {"x": "1"})], (0, 0, 1, 0)),
        ([({"x": "none"}, {})], (1, 0, 0, 0)),  # a literal none need not be predicted
        ([({"x": "1"}, {"x": "1"})] * 2, (1, 0, 0, 0)),  # what stays is not judged again
        ([({"x": "1"}, {"x": "1"}), ({}, {})], (2, 0, 0, 1)),  # deleted on both sides: right, and missed
        ([({"x": "1"}, {"x": "1"}), ({}, {"x": "1"})], (1, 0, 1, 0)),
        ([({"x": "1"}, {"x": "1"}), ({"x": "1"}, {})], (1, 0, 0, 1)),
        ([({"x": "1"}, {"x": "1"}), ({"x": "2"}, {})], (1, 1, 0, 1)),  # wrong, and missed
    ],
)
def test_gca_judges_changes(turns: metrics.Dialogue, counts: tuple[int, ...]) -> None:
    assert tuple(metrics.gca_counts([turns]).values()) == counts


def test_gca_is_a_weighted_harmonic_mean() -> None:
    corpus: metrics.Corpus = [[({"x": "1", "y": "1", "z": "1"}, {"x": "1", "y": "2", "v": "3"})]]
    assert metrics.gca_counts(corpus) == {"correct": 1, "wrong": 1, "over": 1, "missed": 1}
    assert metrics.gca(corpus) == pytest.approx(1 / (10 / 11 * 3 + 1 / 11 * 1.5))
    assert metrics.gca([[({"x": "1"}, {"x": "2"})]]) == 0


def test_the_card_compares_values_with_domains() -> None:
    perfect: State = {"hotel-area": "north", "hotel-stars": "3"}
    assert metrics.card_joint([[(perfect, perfect)]]) == 0
    assert metrics.card_joint([[(perfect, {"hotel-area": "north"})]]) == 1
    assert metrics.card_joint([[({}, perfect)]]) == 1


def test_turn_level_accuracy_looks_at_what_is_new() -> None:
    corpus: metrics.Corpus = [
        [({"x": "1"}, {}), ({"x": "1", "y": "2"}, {"y": "2"}), ({"y": "2"}, {"y": "2"}), ({"y": "2"}, {"y": "3"})]
    ]
    assert metrics.turn_level_accuracy(corpus) == 2 / 4


def test_convlab_takes_any_alternative_and_misses_what_is_not_listed() -> None:
    ref = {"hotel-area": "North | east", "hotel-stars": "", "hotel-name": "a"}
    pred = {"hotel-area": "west|East", "hotel-stars": "4", "taxi-to": "x"}
    assert metrics.unified_turn(ref, pred) == (1, 1, 1)
    assert metrics.unified_turn(ref, {"hotel-name": "b"}) == (0, 1, 2)
    assert metrics.listed({"hotel-area": "x"}, ["hotel-area", "hotel-stars", "taxi-to"], False).keys() == {
        "hotel-area",
        "hotel-stars",
    }
    assert metrics.convlab_t5([[({"x": "A b", "y": " "}, {"x": "ab"})]])["accuracy"] == 1


def test_dstc10_lists() -> None:
    assert metrics.list_f1(["1", "b"], ["One", "c"]) == 0.5
    assert metrics.list_f1(["1"], ["One", "1"]) > 1  # two pairs for one value
    slots = ["hotel semi area", "hotel semi type"]
    empty_lists = {"hotel semi area": list[str]()}
    scores = metrics.dstc10([(empty_lists, empty_lists), ({}, {"elsewhere": ["x"]})], slots)
    assert (scores["joint_goal_accuracy"], scores["slot_accuracy"]) == (0.5, 0.75)
    assert (scores["value_precision"], scores["value_f1"], scores["none_f1"]) == (0, 0, 1)


def equal(_slot: str, ref: str, pred: str) -> bool:
    return ref == pred


def never(_new: str, _old: str) -> bool:
    return False


def test_hidst_asks_the_old_reference_of_the_new_prediction() -> None:
    turns: metrics.Dialogue = [
        ({"a": "1"}, {"a": "1"}),
        ({"a": "1", "b": "2"}, {"b": "2"}),
        ({"b": "2", "c": "3"}, {"c": "3"}),  # the reference lets go of a, and the prediction cannot
        ({"b": "2", "c": "3", "d": "4"}, {"d": "4"}),
    ]
    weights = metrics.hidst_weights(turns, 0.5, equal, never)
    assert weights == [1, 1, pytest.approx(1 - math.exp(-1)), pytest.approx(1 - math.exp(-1.5))]
    # Turn 0 was wrong, so turn 1 would be a late error; but its prediction is what turn 0 should have been.
    late: metrics.Dialogue = [({"a": "1", "b": "2"}, {"b": "2"}), ({"a": "1"}, {"a": "1"})]
    assert metrics.hidst_weights(late, 0.5, equal, never) == [0, 0]
    other: metrics.Dialogue = [({"a": "1", "b": "2", "c": "3"}, {"b": "2"}), ({"a": "1"}, {"a": "1"})]
    assert metrics.fga_hidst([other], 0.5, equal, never) == pytest.approx((1 - math.exp(-0.5)) / 2)


def test_simpletod_skips_the_item_after_a_removed_one() -> None:
    pred = {"hotel-area": "none", "hotel-stars": "none", "hotel-type": "hotel"}
    assert rules.simpletod_pred(rules.simpletod_items(pred)) == ["hotel stars none", "hotel type hotel"]
    corpus: rules.Corpus = [[({"hotel-type": "hotel"}, pred)]]
    assert rules.simpletod(corpus) == 0
    assert rules.simpletod(corpus, rules.UBAR) == 1
    care: rules.Corpus = [[({"hotel-area": "dontcare"}, {})]]
    assert (rules.simpletod(care), rules.simpletod(care, rules.SIMPLETOD_V1)) == (0, 1)


def test_simpletod_rewrites_slots_cut_at_book() -> None:
    def shown(slot: str, value: str) -> str:
        return f"<{slot}|{value}>"

    cut = {
        "hotel book day monday": "hotel book day <book day|monday>",
        "hotel area north": "hotel area <area|north>",
        "attraction name the book shop": "attraction name the <name the|book shop>",
    }
    assert {item: rules.simpletod_cleaned(item, shown) for item in cut} == cut


def test_simpletod_forgives_what_the_dialogue_comes_to() -> None:
    full = {"a-x": "1", "a-y": "2"}
    corpus: rules.Corpus = [[({"a-x": "1"}, full), (full, full)]]
    assert rules.simpletod(corpus) == 0.5
    assert rules.simpletod(corpus, forgiving=True) == 1
    assert rules.simpletod(corpus, forgiving=True, ignored=[(0, 0)]) == 0.5


def test_fnctod_drops_dontcare_from_the_prediction_only() -> None:
    state = {"hotel-area": "dontcare", "hotel-name": "nonesuch", "hotel-stars": "3"}
    turns = rules.fnctod_turns([[(state, state)]])
    assert turns == [({"[hotel]->area->dontcare", "[hotel]->stars->3"}, {"[hotel]->stars->3"})]
    assert rules.fnctod(turns) == {"jga": 0, "precision": 1, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert rules.fnctod(rules.fnctod_turns([[(state, state)]], dontcare=True))["jga"] == 1
    assert rules.fnctod_domain(turns, "taxi") == 1

    def to_none(_slot: str, value: str) -> str:
        return "none" if value == "3" else value

    assert rules.fnctod_turns([[(state, state)]], to_none)[0][0] == {"[hotel]->area->dontcare"}


def test_icdst_takes_the_prediction_for_the_alternative() -> None:
    corpus: rules.Corpus = [
        [
            ({"hotel-area": "north|east"}, {"hotel-area": "east|west"}),
            ({"hotel-area": "north|east", "hotel-stars": "3"}, {"hotel-area": "[DELETE]", "hotel-stars": "3"}),
        ]
    ]
    assert rules.icdst(corpus) == 0.5

    def refuses_deletion(_slot: str, value: str) -> str:
        return "" if value == "[DELETE]" else value

    assert rules.icdst(corpus, refuses_deletion) == 1
    assert rules.icdst_turns(corpus, refuses_deletion, gold_context=True)[1][1]["hotel-area"] == "north"


def test_prompting_compares_bare_answers() -> None:
    assert rules.answer("The 'Art' museum, 10:30|a b&b") == "art museum 1030|bb"
    corpus: rules.Corpus = [[({"x": "the a|b!"}, {"x": "B"}), ({"x": "c", "y": "the"}, {"x": "c"})]]
    assert rules.prompting(corpus) == rules.prompting_updates(corpus) == 1
    assert rules.prompting([[({"x": "a|b"}, {"x": "c|b"})]]) == 0

    def fix(slot: str, value: str) -> str:
        return "" if value == "unknown" else value

    assert (
        rules.prompting([[({"x": "unknown"}, {}), ({"x": "c"}, {"x": "c"}), ({"x": "c"}, {"x": "unknown"})]], fix)
        == 1
    )


def test_trippy_rewrites_what_was_informed_towards_the_reference() -> None:
    variants = {"centre": ["city centre", "middle"], "alex": ["alexander b and b"]}
    assert rules.tokenised("11:45") == "11 : 45"
    assert rules.informed("the lensfield hotel", "lensfield hotel", {}) == "the lensfield hotel"
    assert rules.informed("centre", "middle", variants) == "centre"
    assert rules.informed("alexander b and b", "alex", variants) == "alexander b and b"
    assert rules.informed("centre", "north", variants) == "north"
    assert rules.informed("middle", "centre", variants) == "middle"
    assert rules.trippy_right("centre", "middle", variants)
    assert not rules.trippy_right("middle", "centre", variants)
    assert rules.within("", "a") and not rules.within("a", "")


def test_trippy_carries_values_and_never_deletes() -> None:
    slots = ["a-name", "a-wifi"]
    turns: list[rules.TrippyTurn] = [
        ({"a-name": "big house"}, {"a-name": ("inform", "§§house")}),
        ({"a-name": "big house", "a-wifi": "true"}, {"a-wifi": ("true", ""), "a-name": ("refer", "none")}),
        ({"a-name": "house", "a-wifi": "true"}, {"a-name": ("refer", "§§none")}),
        ({"a-name": "house", "a-wifi": "true"}, {"a-name": ("copy_value", "house")}),
        ({"a-name": "house"}, {}),
    ]
    assert rules.trippy([turns], slots, {}) == 3 / 5
    with pytest.raises(ValueError, match="no mark"):
        rules.trippy([[({}, {"a-name": ("inform", "house")})]], slots, {})
