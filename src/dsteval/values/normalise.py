"""Normalisers: functions ``(slot, value) -> value`` that a protocol lists by name, in order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from dsteval.values.tables import table

if TYPE_CHECKING:
    from dsteval.values.user_tables import UserTables

DONTCARE: frozenset[str] = frozenset(table("multiwoz")["dontcare"])
"""The spellings of "no preference", folded."""

DELETIONS: frozenset[str] = frozenset({"[delete]", "none"})
"""The words that take a slot out of the state in a file of updates; null does so too."""


def is_deletion(value: object) -> bool:
    """Whether a value in an update deletes its slot: null, "[DELETE]" or "none".

    >>> is_deletion("[DELETE]"), is_deletion(None), is_deletion("nonesuch")
    (True, True, False)
    """
    return value is None or (isinstance(value, str) and value.strip().casefold() in DELETIONS)


def casefold(slot: str, value: str) -> str:
    """Letter case does not count."""
    return value.casefold()


def whitespace(slot: str, value: str) -> str:
    """Runs of white space are one blank, none at the ends."""
    return " ".join(value.split())


def nfc(slot: str, value: str) -> str:
    """Letters that Unicode takes for equal are one: an accent may be part of its letter, or follow it (NFC)."""
    return value if value.isascii() else unicodedata.normalize("NFC", value)


def spelling(slot: str, value: str) -> str:
    """Whole values that are one word spelt in two ways: center and centre, guesthouse and guest house.

    >>> spelling("hotel-area", "center"), spelling("hotel-name", "arts center hotel")
    ('centre', 'arts center hotel')
    """
    return str(table("multiwoz")["values"].get(value, value))


_TIME = re.compile(
    r"""^(?:(?:at|by|after|before|around|about)\s)?   # a preposition that a span often takes along
        (\d{1,2})                                     # hour
        (?:\s?[:.]\s?(\d{2}))?                        # minutes
        \s?(a\.?m\.?|p\.?m\.?)?$                      # half of the day""",
    re.VERBOSE,
)
_TIME_SLOT = re.compile(r"(?:time|arrive ?by|leave ?at|arrive|leave)$")


def times(slot: str, value: str) -> str:
    """Times of day as HH:MM: 5pm is 17:00, 9:15 is 09:15, 24:10 is 00:10, 12:30 pm stays 12:30.

    Applies to slots of times only, and to values that are a time and nothing else; a bare number without
    minutes or am/pm is left alone.

    >>> times("restaurant-book time", "5pm"), times("train-leaveat", "9:15")
    ('17:00', '09:15')
    >>> times("taxi-leaveat", "24:10"), times("taxi-arriveby", "12:30 pm"), times("hotel-stars", "4")
    ('00:10', '12:30', '4')
    """
    if not _TIME_SLOT.search(slot):
        return value
    match = _TIME.match(value)
    if not match or not (match[2] or match[3]):
        return value
    hour, minute, half = int(match[1]), match[2] or "00", (match[3] or "")[:1]
    if hour > 24 or int(minute) > 59 or (half and not 1 <= hour <= 23):
        return value
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"{hour % 24:02}:{minute}"


Rewrite: TypeAlias = Callable[[str, str], str]


def _from(module: str, function: str) -> Callable[[UserTables], Any]:
    """A rule of a published scorer: in a module of its own, loaded only by the protocols that name it."""
    return lambda given: getattr(import_module(f"dsteval.values.tools.{module}"), function)


def _typo_fix(version: str) -> Callable[[UserTables], Rewrite]:
    """IC-DST's corrections with the spellings of a version of MultiWOZ, if one is named."""
    rule = _from("typo_fix", "typo_fix")
    return lambda given: partial(rule(given), ontology=given.ontology, version=version)


NORMALISERS: dict[str, Callable[[UserTables], Rewrite]] = {
    "casefold": lambda given: casefold,
    "nfc": lambda given: nfc,
    "whitespace": lambda given: whitespace,
    "spelling": lambda given: spelling,
    "times": lambda given: times,
    "fix-label": _from("fix_label", "fix_label"),
    "mwzeval": _from("mwzeval", "normalise"),
    "mwzeval-2023": _from("mwzeval", "normalise_2023"),
    "squeeze": _from("convlab", "squeeze"),
    "squad": _from("typo_fix", "squad"),
    "trippy-tokens": _from("trippy", "normalise"),
    "hidst-ref": _from("hidst", "unspaced_ref"),
    "hidst-pred": _from("hidst", "unspaced_pred"),
    "typo-fix": _typo_fix(""),
    "typo-fix-2.1": _typo_fix("2.1"),
    "typo-fix-2.4": _typo_fix("2.4"),
}
"""What ``states.normalise`` of a protocol may list: makers of functions (slot, value) -> value."""

NEEDS: dict[str, str] = dict.fromkeys(("typo-fix", "typo-fix-2.1", "typo-fix-2.4"), "ontology")
"""Normalisers that cannot do without a table, and which."""
