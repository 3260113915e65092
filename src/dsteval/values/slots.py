"""Slot names: the spellings that mean one slot, and MultiWOZ's list of thirty."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

__all__ = ["MULTIWOZ", "SPELLINGS", "bare", "canonical", "domain_of"]

# The 30 slots of five domains that MultiWOZ trackers are scored on, in the spelling of TRADE's files.
MULTIWOZ: frozenset[str] = frozenset(
    f"{domain}-{slot}"
    for domain, slots in {
        "attraction": "area name type",
        "hotel": "area book_day book_people book_stay internet name parking pricerange stars type",
        "restaurant": "area book_day book_people book_time food name pricerange",
        "taxi": "arriveby departure destination leaveat",
        "train": "arriveby book_people day departure destination leaveat",
    }.items()
    for slot in (name.replace("book_", "book ") for name in slots.split())
)

_DOMAINS = frozenset({"attraction", "bus", "hospital", "hotel", "police", "restaurant", "taxi", "train"})

# Squeezed spelling (no blanks, no underscores) -> the slot, in whichever of MultiWOZ's domains.
_ANYWHERE = {
    "arrive": "arriveby",
    "arriveby": "arriveby",
    "leave": "leaveat",
    "leaveat": "leaveat",
    "leaveatorafter": "leaveat",
    "price": "pricerange",
    "pricerange": "pricerange",
    "bookday": "book day",
    "bookpeople": "book people",
    "bookstay": "book stay",
    "booktime": "book time",
}

# Bare names that mean a booking in these domains only: train-day is no booking slot, train-people is one.
_BOOKING = {
    ("hotel", "day"): "book day",
    ("hotel", "people"): "book people",
    ("hotel", "stay"): "book stay",
    ("hotel", "accommodationtype"): "type",
    ("restaurant", "day"): "book day",
    ("restaurant", "people"): "book people",
    ("restaurant", "time"): "book time",
    ("train", "people"): "book people",
}

_SPLIT = re.compile(r"^\[?(\w+?)\]?\s*(?:->|--|-|\s)\s*(.+)$")


@cache
def canonical(name: str) -> str:
    """The one spelling of a slot name: ``hotel-bookDay``, ``hotel day`` and ``hotel-book_day`` are one slot.

    Only names of MultiWOZ's domains are rewritten; of any other name case and runs of white space are
    evened out. The spellings are those met in the trackers' own files.

    >>> canonical("Hotel-BookDay"), canonical("hotel book day"), canonical("[hotel]->day")
    ('hotel-book day', 'hotel-book day', 'hotel-book day')
    >>> canonical("train-day"), canonical("train-leave at"), canonical("Flights_4-Seats")
    ('train-day', 'train-leaveat', 'flights_4-seats')
    """
    folded = " ".join(name.casefold().split())
    found = _SPLIT.match(folded)
    if not found or found[1] not in _DOMAINS:
        return folded
    domain, slot = found[1], found[2]
    squeezed = slot.replace(" ", "").replace("_", "")
    known = _BOOKING.get((domain, squeezed)) or _ANYWHERE.get(squeezed)
    return f"{domain}-{known or slot}"


def domain_of(slot: str) -> str:
    """The domain, or service, of a slot: what stands before the first hyphen, or ``""`` where there is none.

    >>> domain_of("hotel-book day"), domain_of("food")
    ('hotel', '')
    """
    return slot.partition("-")[0] if "-" in slot else ""


def bare(slot: str) -> str:
    """A slot's canonical name without its domain: scripts that look at names so do not tell domains apart.

    >>> bare("hotel-bookDay"), bare("train-day"), bare("area")
    ('book day', 'day', 'area')
    """
    name = canonical(slot)
    return name.partition("-")[2] or name


def _of_mwzeval(name: str) -> str:
    from dsteval.values.tools.mwzeval import spelling

    return spelling(name)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "canonical": canonical,
    "as-written": str,
    "mwzeval": _of_mwzeval,
}
"""What ``states.slots`` of a protocol may name."""
