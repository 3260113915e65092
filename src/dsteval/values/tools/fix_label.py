"""The label corrections that TRADE, SOM-DST and T5DST share."""

from dsteval.values.slots import MULTIWOZ, canonical
from dsteval.values.tables import rewritten, table


def fix_label(slot: str, value: str) -> str:
    """A reference value as TRADE corrects it; only values of MultiWOZ's thirty slots are touched.

    Whole values are compared, in their case: first with a general table, then with rules of single slots, which
    see what the table made of the value. Where a value is noise it becomes "none"; TRADE and T5DST keep it so
    in the reference, where no prediction can meet it, while SOM-DST takes the slot out. Only the caller knows
    which of the two is meant.

    >>> fix_label("hotel-area", "center"), fix_label("hotel-area", "n"), fix_label("hotel-type", "center")
    ('centre', 'north', 'none')
    >>> fix_label("bus-day", "monda"), fix_label("hotel-book day", "monda")
    ('monda', 'monday')

    Source: jasonwu0731/trade-dst utils/fix_label.py.
    """
    name = canonical(slot)
    if name not in MULTIWOZ:
        return value
    rules = table("fix_label")
    value = rewritten(rules["first"], name, rules["general"].get(value, value))
    return rewritten(rules["last"], name, value)
