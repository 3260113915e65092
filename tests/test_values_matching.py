"""Rules that compare two values: each test in its order, each known bug, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.values.tools import dstc10, hidst, mwzeval, trippy

VARIANTS = {"centre": ["center", "downtown"], "guest house": ["guest houses"], "free": ["no charge"]}

short = st.text(alphabet="ab c", max_size=8)


# MultiWOZ_Evaluation


@pytest.mark.parametrize(
    ("pred", "ref", "ratio"),
    [
        ("", "", 100),
        ("a", "", 0),
        ("", "a", 0),
        ("north", "northeast", 100),
        ("10", "1", 100),
        ("abc", "xyz", 0),
        ("abcd", "abce", 75),
        ("cambridge", "cambridgx", 89),
    ],
)
def test_partial_ratio(pred: str, ref: str, ratio: int) -> None:
    assert mwzeval.partial_ratio(ref, pred) == ratio
    assert mwzeval.matches(ref, pred) is (ratio > 95)


def test_partial_ratio_above_95_without_being_100() -> None:
    long = "abcdefghijklmnopqrstuvwxyz"
    assert mwzeval.partial_ratio(long[:-1] + "!", long) == 96
    assert mwzeval.matches(long[:-1] + "!", long)
    short = long[:20]
    assert mwzeval.partial_ratio(short[:-1] + "!", short) == 95
    assert not mwzeval.matches(short[:-1] + "!", short)


def test_partial_ratio_of_more_than_995_thousandths_is_100() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(300))
    assert mwzeval.partial_ratio(text[:-1] + "!", text) == 100


@pytest.mark.parametrize(
    ("pred", "ref", "ratio"),
    [
        ("lan hong house", "ian hong house", 93),
        ("whipple museum of the history of science", "whippple museum", 93),
    ],
)
def test_partial_ratio_takes_few_windows(pred: str, ref: str, ratio: int) -> None:
    fuzz = pytest.importorskip("rapidfuzz.fuzz")
    assert mwzeval.partial_ratio(ref, pred) == ratio < fuzz.partial_ratio(pred, ref)


@given(short, short)
def test_partial_ratio_by_its_bounds(pred: str, ref: str) -> None:
    ratio = mwzeval.partial_ratio(ref, pred)
    assert 0 <= ratio <= 100
    if pred == ref:
        assert ratio == 100
    # A text within the other mostly has 100 too, but only a few windows are looked at: "a " in "aa  " has 50.
    if len(pred) != len(ref):
        assert ratio == mwzeval.partial_ratio(pred, ref)


# Hi-DST


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("5pm", "17:00"),
        ("5 p.m.", "17:00"),
        ("11:59 pm", "23:59"),
        ("12:30 pm", "12:30"),
        ("12 am", "12:00 am"),
        ("at 1030", "at 10:30"),
        ("after 9 30.", "after 09:30."),
        ("10.30", "10:30"),
        ("10;30 or 11,45", "10:30 or 11:45"),
        ("10:30/", "10:30"),
        ("9 30", "09:30"),
        ("13:!5", "13:15"),
        ("by 9", "by 09:00"),
        ("until 9.", "until 09:00."),
        ("leave 9", "leave 9"),
        ("9:30", "09:30"),
        ("24:10", "00:10"),
        ("24:10 pm", "00:10"),
        ("x24:10", "x24:10"),
        ("quarter past", "quarter past"),
    ],
)
def test_time_clean_up(text: str, result: str) -> None:
    assert hidst.time_clean_up(text) == result


@pytest.mark.parametrize(
    ("slot", "ref", "pred", "right"),
    [
        ("hotel-area", "north", "north", True),
        ("hotel-area", "east", "northeast", True),
        ("hotel-stars", "10", "1", True),
        ("hotel-name", "acorn", "", True),
        ("hotel-area", "north", "south", False),
        ("hotel-type", "b and b", "bed and breakfast", True),
        ("hotel-name", "the a-b c", "ab c house", True),
        ("hotel-name", "rosa's", 'r"osas', True),
        ("hotel-name", "by the sea", "bysea", False),  # only a leading "the "
        # times
        ("restaurant-time", "5 pm", "17:00", True),
        ("restaurant-book time", "5 pm", "17 : 00", True),
        ("train-leave", "9 PM", "21:15", True),
        ("train-leaveat", "9 pm", "21:16", False),
        ("train-arrive", "9 pm", "20:45", True),
        ("taxi-arriveby", "9 : 05", "09:10", True),
        ("taxi-arriveby", "00:05", "24:10", True),
        ("taxi-arriveby", "23:55", "00:05", False),
        ("taxi-arriveby", "09:05", "24:60", False),
        ("taxi-arriveby", "by 09:05", "09:10", False),
        ("taxi-leaveat", "09:05", "noon", False),
        ("taxi-leaveat", "centre", "downtown", False),  # no variants of times
        ("hotel-book day", "9 pm", "21:15", False),
        # variants
        ("hotel-area", "centre", "downtown", True),
        ("hotel-area", "centre", "town", True),  # inside a variant
        ("hotel-area", "downtown", "centre", True),
        ("hotel-area", "the centre", "the downtown area", True),
        ("hotel-type", "guest houses x", "hotel", False),
        ("hotel-parking", "no charge", "free", True),
    ],
)
def test_hidst_matches(slot: str, ref: str, pred: str, right: bool) -> None:
    assert hidst.matches(slot, ref, pred, VARIANTS) is right


def test_hidst_hyphens_between_blanks() -> None:
    assert hidst.matches("hotel-area", "x", "y - z", {"x": ["y-z!"]})
    assert not hidst.matches("hotel-area", "x", "y - z", {"x": ["y - z!"]})


def test_hidst_is_not_transitive() -> None:
    assert hidst.matches("hotel-stars", "1", "10", {})
    assert hidst.matches("hotel-stars", "10", "0", {})
    assert not hidst.matches("hotel-stars", "1", "0", {})


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("north", "north", True),
        ("centre", "center", True),
        ("center", "centre", True),
        ("center", "downtown", False),
        ("east", "northeast", False),
    ],
)
def test_hidst_seen(before: str, now: str, same: bool) -> None:
    assert hidst.seen(before, now, VARIANTS) is same


@pytest.mark.parametrize("slot", ["restaurant-time", "restaurant-book time", "taxi-leave", "train-arriveBy"])
def test_hidst_unspaced_times(slot: str) -> None:
    assert hidst.unspaced_pred(slot, "5 o 'clock 's") == "5 o 'clock 's"
    assert hidst.unspaced_ref(slot, "5 o 'clock 's") == "5 o'clock's"


def test_hidst_unspaced_others() -> None:
    assert hidst.unspaced_pred("train-day", "x  's") == "x 's"


@given(st.sampled_from(["taxi-leaveat", "hotel-name"]), short, short)
def test_hidst_is_reflexive(slot: str, ref: str, pred: str) -> None:
    assert hidst.matches(slot, ref, ref, VARIANTS)
    assert hidst.matches(slot, ref + pred, pred, VARIANTS)


# TripPy


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("11:45", "11 : 45"),
        ("Rosa's", "Rosa ' s"),
        ("a., b_c", "a ., b_c"),
        ("  x  ", "x"),
        ("", ""),
        ("\u00a7\u00a7x", "\u00a7\u00a7 x"),
        ("ac orn \u0120gu est", "acorn guest"),
    ],
)
def test_trippy_tokenise(text: str, result: str) -> None:
    assert trippy.tokenise(text) == trippy.normalise("hotel-name", text) == result


@given(st.text(alphabet="ab ,.'-:"))
def test_trippy_tokenise_settles(text: str) -> None:
    once = trippy.tokenise(text)
    assert trippy.tokenise(once) == once


@pytest.mark.parametrize(
    ("pred", "ref", "result"),
    [
        ("north", "north", "north"),
        ("the acorn house", "acorn house", "acorn house"),
        ("acorn", "the acorn house", "the acorn house"),
        ("acorn house", "acorn guest house", "acorn house"),  # not in one stretch
        ("corn", "acorn", "corn"),  # tokens, not letters
        ("", "acorn", "acorn"),
        ("acorn", "", ""),
        ("centre", "downtown", "downtown"),  # the prediction's variants ...
        ("centre", "downtown area", "downtown area"),
        ("guest house", "houses", "houses"),
        ("downtown", "centre", "centre"),  # ... or the reference's
        ("the downtown", "centre", "centre"),
        ("houses", "guest house", "guest house"),
        ("free", "centre", "free"),
    ],
)
def test_trippy_rewrite(pred: str, ref: str, result: str) -> None:
    assert trippy.rewrite(ref, pred, VARIANTS) == result


def test_trippy_looks_at_the_reference_s_variants_only_where_the_prediction_has_none() -> None:
    assert trippy.rewrite("y", "x", {"y": ["x"]}) == "y"
    assert trippy.rewrite("y", "x", {"y": ["x"], "x": ["z"]}) == "x"


@pytest.mark.parametrize(
    ("ref", "pred", "right"),
    [
        ("centre", "centre", True),
        ("centre", "downtown", True),
        ("downtown", "centre", False),
        ("centre", "town", False),
        ("none", "none", True),
        ("north", "none", False),
    ],
)
def test_trippy_right(ref: str, pred: str, right: bool) -> None:
    assert trippy.right(ref, pred, VARIANTS) is right


@pytest.mark.parametrize("ref", ["none", "dontcare", "true", "false"])
def test_trippy_classes_have_no_variants(ref: str) -> None:
    assert not trippy.right(ref, "x", {ref: ["x"]})


def test_trippy_variants_are_tokenised() -> None:
    assert trippy.tokenise_variants({"10:30": ["10.30", "x"]}) == {"10 : 30": ["10 . 30", "x"]}


# DSTC10


@pytest.mark.parametrize(
    ("ref", "pred", "score"),
    [
        (["a"], ["A"], 1.0),
        (["a"], ["a", "a"], 1.0),
        (["a"], ["a", "b"], 2 / 3),
        (["a", "b"], ["a"], 2 / 3),
        (["1"], ["1", "one"], 4 / 3),
        (["1"], ["one", "One"], 4 / 3),
        (["1", "one"], ["1", "one"], 2.0),
        (["a"], ["b"], 0.0),
        (["a"], [], 0.0),
        ([], ["a"], 0.0),
        ([], [], 0.0),
    ],
)
def test_dstc10_list_score(ref: list[str], pred: list[str], score: float) -> None:
    assert dstc10.list_score(ref, pred) == pytest.approx(score)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1))
def test_dstc10_equal_sets_score_exactly_1(values: list[str]) -> None:
    assert dstc10.list_score(values, values[::-1]) == 1


def test_dstc10_slots() -> None:
    names = dstc10.slot_names()
    assert len(set(names)) == 19
    assert {"hotel-book rooms", "hotel-book people", "hotel-stars", "restaurant-food"} <= set(names)
    assert not [name for name in names if "semi" in name]
