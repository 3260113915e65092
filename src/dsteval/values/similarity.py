"""Texts that may be one value: evened out step by step, so that one can tell how far apart two are."""

import re
from functools import cache, partial

from dsteval.values.normalise import DONTCARE, nfc, spelling, times
from dsteval.values.oddities import visible

LEVELS = ("by case or white space", "by spelling or form of time", "by punctuation, blanks or a leading 'the'")
"""What two texts that may be one value differ by: what exact evens out, what normalised does, and the rest."""


@cache
def folded(text: str) -> str:
    """The text as exact compares it: case, Unicode form and white space evened out, one spelling of dontcare.

    >>> folded(" Don't  Care"), folded("Two  Rooms")
    ('dontcare', 'two rooms')
    """
    text = " ".join(nfc("", text.casefold()).split())
    return "dontcare" if text in DONTCARE else text


@cache
def evened(slot: str, text: str) -> str:
    """The text as normalised compares it.

    >>> evened("train-leaveat", "9:15"), evened("hotel-area", "Center")
    ('09:15', 'centre')
    """
    return times(slot, spelling(slot, folded(text)))


@cache
def key(slot: str, text: str) -> str:
    """What is left of a text without a leading "the", punctuation and blanks; "" where that is nothing.

    Digits stay apart: 4.5 is not 45.

    >>> key("hotel-name", "The A-Z Guest House"), key("hotel-name", "az guesthouse")
    ('azguesthouse', 'azguesthouse')
    >>> key("hotel-stars", "4.5"), key("train-leaveat", "5.15pm")
    ('4.5', '17.15')
    """
    joined = ""
    for word in re.findall(r"[^\W_]+", evened(slot, visible(text)).removeprefix("the ")):
        joined += f".{word}" if joined[-1:].isdigit() and word[0].isdigit() else word
    return joined


def level(slot: str, some: frozenset[str], others: frozenset[str]) -> int:
    """How much must be evened out until each of some texts is among the others: a position in LEVELS."""
    if set(map(folded, some)) <= set(map(folded, others)):
        return 0
    even = partial(evened, slot)
    return 1 if set(map(even, some)) <= set(map(even, others)) else 2
