"""TRADE's preparation of MultiWOZ: how texts are rewritten, and which dialogues are left out."""

import re
from collections.abc import Sequence
from functools import cache

from dsteval.values.tables import table

LONGEST = 50
"""How many tokens an utterance may have."""

_DELETED = str.maketrans("", "", '"<>@()')
_INSIDE = [
    ("b&b", "bed and breakfast"),
    ("b and b", "bed and breakfast"),
    ("\u2018", "'"),
    ("\u2019", "'"),
    (";", ","),
    ("/", " and "),
    ("-", " "),
]
_DIGITS = frozenset("0123456789")
_SPLIT_NUMBER = re.compile(r"(?<!\S)(\d+) (?=\d+(?!\S))")  # words of digits side by side


@cache
def normalise(text: str) -> str:
    """An utterance or a value as TRADE's files hold it.

    Lower case; slashes become "and", hyphens blanks; marks and 's are words of their own, the apostrophe gone;
    contractions are written out, number words become digits and plurals like "hotels" two words; digits that
    stand side by side are joined, so that "1 7" is 17.

    >>> normalise("I'd like a Moderately-priced hotel, for two; it's at 10:30."), normalise("one seven")
    ('i would like a moderate -ly priced hotel , for 2 , it s at 10:30 .', '17')
    >>> normalise("Saint John's College"), normalise("B&B / guesthouse")
    ('saint john s college', 'bed and breakfast and guesthouse')

    Source: jasonwu0731/trade-dst create_data.py.
    """
    text = text.lower().strip()
    for wrong, right in _INSIDE:
        text = text.replace(wrong, right)
    text = text.translate(_DELETED)
    for mark in ("?", ".", ",", "!", "'s"):
        text = _apart(text, mark)
    text = text.removeprefix("'").removesuffix("'")
    text = re.sub(r"\s'", " ", re.sub(r"'\s", " ", text))
    for wrong, right in table("trade_data")["words"]:
        text = f" {text} ".replace(f" {wrong} ", f" {right} ")[1:-1]
    return _SPLIT_NUMBER.sub(r"\1", " ".join(text.split()))


def _apart(text: str, mark: str) -> str:
    """The text with blanks around a mark, except between two digits.

    As in the script, what stands before the first character is the last one.
    """
    at = text.find(mark)
    while at >= 0:
        if not (text[at - 1] in _DIGITS and text[at + 1 : at + 2] in _DIGITS):
            if text[at - 1] != " ":
                text = f"{text[:at]} {text[at:]}"
                at += 1
            if text[at + len(mark) : at + len(mark) + 1] not in ("", " "):
                text = f"{text[: at + 1]} {text[at + 1 :]}"  # so "'so" becomes "' so"
        at = text.find(mark, at + 1)
    return text


def drops(texts: Sequence[str]) -> bool:
    """Whether TRADE leaves a dialogue out, given all its utterances of both speakers.

    It does if their number is odd, or if one of them, normalised, has more than 50 tokens or a character outside
    ASCII. Of MultiWOZ 2.1's test dialogues that is PMUL1455 alone.

    >>> drops(["hi", "hello"]), drops(["hi"]), drops(["caf\u00e9", "hello"]), drops(["a " * 51, "hello"])
    (False, True, True, True)
    """
    if len(texts) % 2:
        return True
    normalised = map(normalise, texts)
    return any(not text.isascii() or len(text.split()) > LONGEST for text in normalised)
