"""The value tables of other scorers, one TOML file each in the folder ``tables``, and how their rules are read."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

Rules = list[dict[str, Any]]


@cache
def table(name: str) -> dict[str, Any]:
    """A table by the name of its file, read once and then shared: callers must not change it.

    >>> table("dstc10")["digits"]["two"]
    '2'
    """
    with (Path(__file__).parent / "tables" / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def fitting(rules: Rules, slot: str, value: str) -> str | None:
    """What the first rule that fits makes of a value, or None where no rule fits.

    A rule fits by ``slot`` (the whole name), ``slot_holds`` (a part of it) and ``values`` (the whole value is
    one of them); it gives ``to``, or what its ``map`` says, which leaves other values as they are.

    >>> rules = [{"slot_holds": "day", "map": {"we": "wednesday"}}, {"slot": "stars", "values": ["?"], "to": ""}]
    >>> fitting(rules, "book day", "we"), fitting(rules, "day", "?"), fitting(rules, "stars", "4")
    ('wednesday', '?', None)
    """
    for rule in rules:
        of_slot = rule.get("slot", slot) == slot and rule.get("slot_holds", "") in slot
        if of_slot and value in rule.get("values", (value,)):
            return str(rule["to"] if "to" in rule else rule["map"].get(value, value))
    return None


def rewritten(rules: Rules, slot: str, value: str) -> str:
    """What the first rule that fits makes of a value; the value itself where no rule fits."""
    result = fitting(rules, slot, value)
    return value if result is None else result
