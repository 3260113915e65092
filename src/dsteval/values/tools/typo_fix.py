"""Corrections of IC-DST and DST-as-Prompting, and the latter's normalisation of answers."""

import re
import string
from collections.abc import Collection, Mapping

from dsteval.errors import ProtocolError
from dsteval.values.slots import canonical
from dsteval.values.tables import table

Ontology = Mapping[str, Collection[str]]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:an?|the)\b")


def typo_fix(slot: str, value: str, ontology: Ontology, version: str) -> str:
    """A value as IC-DST corrects it; the empty text means that the slot is dropped.

    Spellings are replaced, 9:00 becomes 09:00 in whatever slot; then names, places, foods and types of
    attractions must be in ``ontology`` (canonical slot name -> values), as they are or with a leading "the " or
    an ending like " hotel" taken off or put on: what is not found there is dropped, so that a tracker is not
    blamed for what it made up. ``version`` is the version of MultiWOZ whose spellings are meant, 2.1 or 2.4;
    any other adds none. A slot that needs the ontology and is not in it is a ProtocolError.

    >>> typo_fix("hotel-area", "center", {}, "2.4"), typo_fix("train-leaveat", "9:05", {}, "2.4")
    ('centre', '09:05')
    >>> names = {"hotel-name": ["the acorn guest house"]}
    >>> typo_fix("hotel-name", "acorn", names, ""), typo_fix("hotel-name", "ritz", names, "")
    ('the acorn guest house', '')

    Source: Yushi-Hu/IC-DST utils/typo_fix.py; chiahsuan156/DST-as-Prompting has the same file.
    """
    rules, name = table("typo_fix"), canonical(slot)
    value = value.replace(" s ", "s ")
    if value.endswith(" s"):
        value = value[:-2] + "s"
    for wrong, right in rules["inside"]:
        value = value.replace(wrong, right)
    for wrong, right in [*rules["whole"], *rules["only"].get(version, ())]:
        if value == wrong:
            value = right
    if ":" in value and len(value) < 5:
        value = "0" + value
    if name not in rules["entities"]:
        return value
    if name not in ontology:
        expected, found = "", "not in the ontology"
        remedy = "Names, places and foods are checked against the ontology: give that of this data set."
        raise ProtocolError(where=f"slot {name!r}", expected=expected, found=found, remedy=remedy)
    return _known(value, ontology[name])


def _known(value: str, candidates: Collection[str]) -> str:
    """The form of a name that is among the candidates, or the empty text."""
    if value in candidates:
        return value
    rules = table("typo_fix")
    for prefix in rules["prefixes"]:
        value = value.removeprefix(prefix)
    value = value.removesuffix(next(filter(value.endswith, rules["suffixes"]), ""))
    forms = (prefix + value + suffix for prefix in ["", *rules["prefixes"]] for suffix in ["", *rules["suffixes"]])
    return next((form for form in forms if form in candidates), "")


def squad(slot: str, value: str) -> str:
    """A value as DST-as-Prompting compares it: lower-case, no punctuation, no a, an, the; each part of "a|b".

    No blank takes the place of punctuation, so 10:30 becomes 1030.

    >>> squad("train-leaveat", "10:30"), squad("hotel-name", "The A-Z Hotel | an Inn")
    ('1030', 'az hotel|inn')

    Source: chiahsuan156/DST-as-Prompting utils/dialogue_utils.py.
    """
    parts = (_ARTICLE.sub(" ", part.lower().translate(_PUNCTUATION)) for part in value.split("|"))
    return "|".join(" ".join(part.split()) for part in parts)
