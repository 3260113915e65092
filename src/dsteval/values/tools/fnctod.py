"""FnCTOD's cleaning of values, which is not the same for both sides."""

import re
from functools import cache

from dsteval.values.slots import bare
from dsteval.values.tables import fitting, rewritten, table
from dsteval.values.tools.simpletod import END_OF_TEXT

_APART = re.compile(r"(\w)\s('s\s\w)")


@cache
def clean(slot: str, value: str, predicted: bool) -> str:
    """A value as FnCTOD's default cleaning rewrites it; it may become "none" or empty.

    Only predictions go through the table of spellings, since for the reference the script looks the slot's name
    up in it. Then come SimpleTOD's rules by the slot's bare name, and where none of them fits, a value that starts
    with "the" loses four characters, a word like "theatre" too. Names are evened out last, each entry of their
    list on what the ones before it left.

    >>> clean("hotel-area", "center", True), clean("hotel-area", "center", False)
    ('centre', 'center')
    >>> clean("attraction-type", "theatre", False), clean("hotel-name", "the golden house", False)
    ('tre', 'the golden house')

    Source: facebookresearch/FnCTOD src/multiwoz/utils/dst.py.
    """
    name = bare(slot)
    if predicted:
        spellings = table("fix_label")["general"] | table("fnctod")["general"]
        value = spellings.get(value, value)
    value = _APART.sub(r"\1\2", _fixed(name, value))
    value = rewritten(table("simpletod")["last"], name, value)
    for wrong, right in table("fnctod")["whole"]:
        if value == wrong:
            value = right
    return value


def _fixed(name: str, value: str) -> str:
    for rules in (table("simpletod"), table("fnctod")):
        result = fitting(rules["first"], name, value)
        if result is not None:
            return result
    if value.startswith("the"):
        return value[4:]
    return "none" if "[value_" in value else value


def is_none(item: str) -> bool:
    """Whether FnCTOD removes a predicted item "domain->slot->value": nothing, an end of text, or the value none.

    >>> is_none("[hotel]->area->none"), is_none("[hotel]->name->none such")
    (True, False)
    """
    return item in ("", " ", END_OF_TEXT) or item.rpartition("->")[2] == "none"
