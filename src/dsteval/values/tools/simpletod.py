"""SimpleTOD's cleaning of states, which UBAR, PPTOD and FnCTOD took over, with its bugs.

Belief states are lists of items there, "domain slot value" in SimpleTOD, and two of the bugs can only be had on
such lists: what ``prune`` and ``clean_item`` do.
"""

from collections.abc import Callable
from functools import cache

from dsteval.values.slots import bare
from dsteval.values.tables import rewritten, table

END_OF_TEXT = "<|endoftext|>"


def clean(slot: str, value: str) -> str:
    """A value of either side as SimpleTOD's option of default cleaning rewrites it; it may become "none".

    The slot counts without its domain. The script also has TRADE's table of spellings, but looks the slot's name
    up in it, so that "center" stays.

    >>> clean("hotel-area", "cent"), clean("train-area", "ely"), clean("hotel-area", "center")
    ('centre', 'none', 'center')

    Source: salesforce/simpletod utils/dst.py.
    """
    return _clean(bare(slot), value)


def _clean(name: str, value: str) -> str:
    rules = table("simpletod")
    return rewritten(rules["last"], name, rewritten(rules["first"], name, value))


@cache
def clean_item(text: str) -> str:
    """An item "domain slot value" with its value cleaned.

    If "book" occurs anywhere in the item, two words are taken for the slot: right for "hotel book day monday",
    wrong for a value that holds "book", whose first word goes to the slot then. Runs of blanks become one blank.
    An item without a slot stops the script; here it comes back unchanged.

    >>> clean_item("hotel area cent"), clean_item("attraction area book moderate")
    ('hotel area centre', 'attraction area book none')
    """
    words = text.split()
    if len(words) < 2:
        return text
    first = 3 if "book" in text else 2
    name = " ".join(words[1:first])
    return f"{words[0]} {name} {_clean(name, ' '.join(words[first:]))}"


def is_none(item: str) -> bool:
    """Whether SimpleTOD removes a predicted item: nothing, an end of text, or "none" as its last word.

    >>> is_none("hotel area none"), is_none(" "), is_none("hotel area north")
    (True, True, False)
    """
    words = item.split()
    return not words or item == END_OF_TEXT or words[-1] == "none"


def prune(items: list[str], gone: Callable[[str], bool] = is_none) -> list[str]:
    """The predicted items that are left after those that ``gone`` is true of were removed while walking the list.

    What follows a removed item moves to its place and is not looked at, so of two such items in a row the second
    stays. FnCTOD does the same with its own ``is_none``.

    >>> prune(["hotel area none", "hotel stars none", "hotel type none", "hotel name ritz"])
    ['hotel stars none', 'hotel name ritz']
    """
    kept = list(items)
    position = 0
    while position < len(kept):
        if gone(kept[position]):
            del kept[position]
        position += 1
    return kept
