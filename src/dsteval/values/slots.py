"""Slot names: the spellings that mean one slot, and MultiWOZ's list of thirty."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from dsteval.values.tables import table

_NAMES = table("multiwoz")

MULTIWOZ: frozenset[str] = frozenset(f"{domain}-{slot}" for domain, own in _NAMES["slots"].items() for slot in own)
"""The 30 slots of five domains that MultiWOZ trackers are scored on, in the spelling of TRADE's files."""

MULTIWOZ_DOMAINS: frozenset[str] = frozenset(_NAMES["booking"])
"""All domains of MultiWOZ, those included that trackers are not scored on."""

_SPLIT = re.compile(r"^\[?(\w+?)\]?\s*(?:->|--|-|\s)\s*(.+)$")


@cache
def canonical(name: str) -> str:
    """The one spelling of a slot name: ``hotel-bookDay``, ``hotel day`` and ``hotel-book_day`` are one slot.

    Only names of MultiWOZ's domains are rewritten; of any other name case, runs of white space and the Unicode
    form (NFC) are evened out. The spellings are those met in the trackers' own files.

    >>> canonical("Hotel-BookDay"), canonical("hotel book day"), canonical("[hotel]->day")
    ('hotel-book day', 'hotel-book day', 'hotel-book day')
    >>> canonical("train-day"), canonical("train-leave at"), canonical("Flights_4-Seats")
    ('train-day', 'train-leaveat', 'flights_4-seats')
    """
    folded = " ".join(unicodedata.normalize("NFC", name.casefold()).split())
    match = _SPLIT.match(folded)
    if not match or match[1] not in _NAMES["booking"]:
        return folded
    domain, slot = match[1], match[2]
    squeezed = slot.replace(" ", "").replace("_", "")
    known = _NAMES["booking"][domain].get(squeezed) or _NAMES["anywhere"].get(squeezed)
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


SPELLINGS: dict[str, Callable[[str], str]] = {"canonical": canonical, "as-written": str, "mwzeval": _of_mwzeval}
"""What ``states.slots`` of a protocol may name."""
