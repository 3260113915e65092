"""Hi-DST's comparison of values, in the copy that the authors of FGA scored it with."""

import re
from collections.abc import Mapping, Sequence

from dsteval.values.slots import bare

Variants = Mapping[str, Sequence[str]]
"""Value -> its variants: the ``label_maps`` of a dataset configuration."""

TIME_SLOTS = frozenset({"time", "book time", "leave", "leaveat", "arrive", "arriveby"})
"""The scripts know time, leave and arrive, as their files write them; the others are ours for the same slots."""

_HALF = r"(a\.?m\.?|p\.?m\.?)"
_WORD = r"(^| )(at|from|by|until|after)"

_BEFORE_24H = [
    (re.compile(rf"(\d){_HALF}"), r"\1 \2"),  # 5pm: a blank between
    (re.compile(rf"(^| )(\d\d?) {_HALF}"), r"\1\2:00 \3"),  # 5 pm: minutes
    (re.compile(rf"{_WORD} ?(\d\d?) ?(\d\d)([^0-9]|$)"), r"\1\2 \3:\4\5"),  # at 10 30: a colon
    (re.compile(r"(^| )(\d\d)[;.,](\d\d)"), r"\1\2:\3"),  # 10.30
    (re.compile(r"(^| )(\d\d:\d\d)/"), r"\1\2"),  # 10:30/
    (re.compile(r"(^| )(\d) (\d\d)"), r"\1\2:\3"),  # 9 30
    (re.compile(r"(^| )(\d\d):!(\d)"), r"\1\2:1\3"),  # 10:!5, where ! was meant to be 1
    (re.compile(rf"{_WORD} ?(\d\d?)([;., ]|$)"), r"\1\2 \3:00\4"),  # by 9: minutes
    (re.compile(r"(^| )(\d:\d\d)"), r"\g<1>0\2"),  # 9:30
]
_AFTERNOON = re.compile(r"(\d\d)(:\d\d) ?p\.?m\.?")
_MIDNIGHT = re.compile(r"(^| )24:(\d\d)")
_CLOCK = re.compile(r"(2[0-3]|[01]?\d):([0-5]?\d)")
_NOISE = re.compile(r"^the |[ '\":-]")


def time_clean_up(text: str) -> str:
    """The times of day inside a text as HH:MM, by eleven replacements in a fixed order.

    Only the hours of pm are moved; the am of a time stays in the text.

    >>> time_clean_up("5pm"), time_clean_up("by 9"), time_clean_up("9:15 am"), time_clean_up("24:10")
    ('17:00', 'by 09:00', '09:15 am', '00:10')
    """
    for pattern, replacement in _BEFORE_24H:
        text = pattern.sub(replacement, text)
    text = _AFTERNOON.sub(lambda found: f"{int(found[1]) + 12 * (int(found[1]) < 12)}{found[2]}", text)
    return _MIDNIGHT.sub(r"\g<1>00:\2", text)


def unspaced_ref(slot: str, value: str) -> str:
    """A reference's value without the blank before each apostrophe."""
    return value.replace(" '", "'")


def unspaced_pred(slot: str, value: str) -> str:
    """A predicted value without the blank before each apostrophe, unless it is a time.

    >>> unspaced_pred("hotel-name", "rosa 's"), unspaced_pred("taxi-leaveat", "5 o 'clock")
    ("rosa's", "5 o 'clock")
    """
    return value if bare(slot) in TIME_SLOTS else unspaced_ref(slot, value)


def seen(before: str, now: str, variants: Variants) -> bool:
    """Whether a slot's value counts as unchanged: equal, or one is listed as a variant of the other.

    >>> seen("centre", "center", {"centre": ["center"]}), seen("center", "centre", {"centre": ["center"]})
    (True, True)
    """
    return before == now or now in variants.get(before, ()) or before in variants.get(now, ())


def matches(slot: str, ref: str, pred: str, variants: Variants) -> bool:
    """Whether a predicted value is right: nearly everything that looks like the reference is.

    One of these must hold: one text lies inside the other, as "1" does in "10" and the empty text in all; so it
    does once "b and b" is written out and a leading "the ", blanks, hyphens, quotes and colons are gone; for
    times, at most 15 minutes lie between them (23:55 and 00:05 are far apart); for other slots, a variant of one
    side lies inside the other side or around it. Equality of this kind is not transitive.

    The prediction's times are not cleaned up, except that 24: is read as 00:, and " : " in the reference as ":";
    Hi-DST's own repository has the function without these two.

    >>> matches("hotel-area", "east", "northeast", {}), matches("train-leaveat", "after 9:20", "09:05", {})
    (True, False)
    >>> matches("train-leaveat", "9 pm", "21:15", {}), matches("hotel-area", "north", "south", {})
    (True, False)

    Source: SuvodipDey/FGA compute_accuracy_hi-dst.py, SuvodipDey/Hi-DST compute_accuracy.py.
    """
    if _one_in_other(ref, pred) or _one_in_other(_squeezed(ref), _squeezed(pred)):
        return True
    if bare(slot) in TIME_SLOTS:
        return _near(time_clean_up(ref.lower()), pred.replace(" ", ""))
    ref, pred = ref.removeprefix("the "), pred.removeprefix("the ").replace(" - ", "-")
    sides = ((ref, pred), (pred, ref))
    return any(_one_in_other(other, variant) for one, other in sides for variant in variants.get(one, ()))


def _one_in_other(one: str, other: str) -> bool:
    return one in other or other in one


def _squeezed(text: str) -> str:
    return _NOISE.sub("", text.replace("b and b", "bed and breakfast"))


def _near(ref: str, pred: str) -> bool:
    if ref == pred:
        return True
    first, second = _CLOCK.fullmatch(ref.replace(" : ", ":")), _CLOCK.fullmatch(pred.replace("24:", "00:"))
    if not first or not second:
        return False
    return abs(60 * (int(first[1]) - int(second[1])) + int(first[2]) - int(second[2])) <= 15
