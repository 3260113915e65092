"""Rules on whole texts and on lists of items: TRADE's preparation, SimpleTOD's and FnCTOD's lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsteval.values.tables import table
from dsteval.values.tools import fnctod, simpletod, trade_data

# TRADE's preparation


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("  HELLO there ", "hello there"),
        ("a b&b", "a bed and breakfast"),
        ("B and B", "bed and breakfast"),
        ("it\u2019s", "it s"),
        ("a;b", "a , b"),
        ("a/b", "a and b"),
        ("a-b", "a b"),
        ('"a" <b> @c (d)', "a b c d"),
        ("what?yes!", "what ? yes !"),
        ("10:30.", "10:30 ."),
        ("1.5 or 1,000", "1.5 or 1,000"),
        ("wait..", "wait ."),
        ("wait...", "wait . ."),  # two stops are one, once
        (".5 or 7", ".5 or 7"),  # the last character stands before the first
        (".5 or x", ". 5 or x"),
        ("john's house", "john s house"),
        ("john's", "john s"),
        ("'so", "so"),
        ("the 'old' inn", "the old inn"),
        ("queens' college", "queens college"),
        ("i don't", "i do not"),
        ("cheaper restaurants", "cheap -er restaurant -s"),
        ("anywhere", "any where"),
        ("one two", "12"),
        ("1 7 x 3 4", "17 x 34"),
        ("restaurant two two", "restaurant 2 two"),  # they share the blank between them
        ("", ""),
    ],
)
def test_trade_normalise(text: str, result: str) -> None:
    assert trade_data.normalise(text) == result


@pytest.mark.parametrize(("word", "result"), table("trade_data")["words"])
def test_trade_words(word: str, result: str) -> None:
    if word.endswith("'s"):  # those come apart before the words are looked up
        result = word.replace("'", " ")
    assert trade_data.normalise(f"x {word} x") == f"x {result} x"


@given(st.text(alphabet="ab1 .,?!'-/"))
def test_trade_normalise_leaves_single_blanks(text: str) -> None:
    result = trade_data.normalise(text)
    assert result == " ".join(result.split())


@pytest.mark.parametrize(
    ("texts", "dropped"),
    [
        ([], False),
        (["a"], True),
        (["a", "b", "c"], True),
        (["a " * 50, "b"], False),
        (["a", "b " * 51], True),
        (["a " * 49 + "b.", "c"], True),  # counted once the mark is apart
        (["1 " * 60, "b"], False),  # counted once the digits are joined
        (["it\u2019s", "b"], False),  # looked at once the quote is straight
        (["\u00a3 5", "b"], True),
    ],
)
def test_trade_drops(texts: list[str], dropped: bool) -> None:
    assert trade_data.drops(texts) is dropped


# SimpleTOD's and FnCTOD's items


def test_prune_skips_what_follows() -> None:
    items = ["hotel area none", "hotel stars none", "hotel name ritz", "", "<|endoftext|>", " "]
    assert simpletod.prune(items) == ["hotel stars none", "hotel name ritz", "<|endoftext|>"]
    assert len(items) == 6


def test_prune_for_fnctod() -> None:
    items = ["[hotel]->area->none", "[hotel]->stars->none", "[hotel]->name->the none", "<|endoftext|>", ""]
    kept = ["[hotel]->stars->none", "[hotel]->name->the none", ""]
    assert simpletod.prune(items, fnctod.is_none) == kept


@given(st.lists(st.sampled_from(["a none", "b none", "", "c x", "d y"])))
def test_prune_is_what_removing_while_walking_does(items: list[str]) -> None:
    walked = list(items)
    for item in walked:
        if simpletod.is_none(item):
            walked.remove(item)
    assert sorted(simpletod.prune(items)) == sorted(walked)


@pytest.mark.parametrize(
    ("item", "gone"),
    [
        ("", True),
        (" ", True),
        ("<|endoftext|>", True),
        ("hotel area none", True),
        ("hotel name none such", False),
        ("hotel area north <|endoftext|>", False),
    ],
)
def test_simpletod_is_none(item: str, gone: bool) -> None:
    assert simpletod.is_none(item) is gone


@pytest.mark.parametrize(
    ("item", "gone"),
    [
        ("", True),
        ("<|endoftext|>", True),
        ("[hotel]->area->none", True),
        ("[hotel]->area->", False),
        ("[hotel]->name->the none", False),
        ("none", True),
    ],
)
def test_fnctod_is_none(item: str, gone: bool) -> None:
    assert fnctod.is_none(item) is gone


@pytest.mark.parametrize(
    ("item", "result"),
    [
        ("hotel area cent", "hotel area centre"),
        ("hotel book day we", "hotel book day wednesday"),
        ("train  day  we", "train day wednesday"),
        ("hotel type bed and breakfast", "hotel type none"),
        ("restaurant area cent", "restaurant area centre"),
        ("attraction name the book shop", "attraction name the book shop"),
        ("attraction area book moderate", "attraction area book none"),  # its slot is "area book"
        ("attraction type science", "attraction type none"),
        ("attraction type science bookshop", "attraction type science bookshop"),
        ("booking type science", "booking type science "),  # its slot is "type science"
        ("hotel area", "hotel area "),
        ("hotel", "hotel"),
        ("", ""),
    ],
)
def test_simpletod_clean_item(item: str, result: str) -> None:
    assert simpletod.clean_item(item) == result
