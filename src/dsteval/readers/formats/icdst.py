"""IC-DST's running log and its test files: a list, one object a turn; both sides, or the reference alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, one_sided, turn_number
from dsteval.readers.source import Source

__all__ = ["ICDST", "completion_items"]

_OPERATORS = (" = ", " LIKE ", " < ", " > ", " >= ", " <= ")


class _Icdst(Reader):
    """Reads ``ID``, ``turn_id``, ``dialog``, ``slot_values`` as the reference and ``pred`` as the prediction.

    A file without ``pred`` has one side. What the tracker changed at a turn is ``pred_delta_slot_values``, as
    RefPyDST writes it, or else what ``completion`` says, in its own spelling: IC-DST repairs that for ``pred``.
    """

    name = "icdst"
    about = "IC-DST running log: [{ID, turn_id, slot_values, pred, completion, ...}, ...]; without pred one side"
    sides = "both or one"

    def sniff(self, source: Source) -> str:
        """Objects with ID, turn_id and slot_values."""
        record = source.first_record
        fits = source.kind == "list" and isinstance(record, dict)
        fits = fits and {"ID", "turn_id", "slot_values"} <= record.keys()
        return "objects with 'ID', 'turn_id' and 'slot_values'" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(Flattener(source.name))
        both: bool | None = None
        for line, chunk in source.records():
            found = fields(chunk.value, f"{source.name}, {line}")
            number = turn_number(found.get("turn_id")) if "slot_values" in found else None
            expected = "an object with ID, turn_id and slot_values"
            name = turns.place(line, found.get("ID"), number, chunk.value, expected)
            if name is None or number is None:
                continue
            both = "pred" in found if both is None else both
            if both != ("pred" in found):
                expected = "pred at every turn, or at none"
                turns.flattener.problems.add(name, number, expected=expected, found="it at some")
            turns.add(name, _turn(found, name, number, side, turns.flattener))
        return turns.dialogues(options.updated("pred" if both else side))


def _turn(found: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
    dialog = fields(found.get("dialog"), f"{flattener.problems.source}, dialogue {name!r}, turn {number}")
    said = [dialog.get(key) for key in ("sys", "usr")]
    system, user = (
        flattener.utterance(texts[-1] if isinstance(texts, list) and texts else None, name, number)
        for texts in said
    )
    ref = flattener.items(found["slot_values"], name, number)
    if "pred" not in found:
        return one_sided(side, number, ref, system, user)
    pred = flattener.items(found["pred"], name, number)
    return Turn(number, ref, pred, system, user, pred_update=_update(found, name, number, flattener))


def _update(found: dict[str, Any], name: str, number: int, flattener: Flattener) -> Items | None:
    if "pred_delta_slot_values" in found:
        return flattener.items(found["pred_delta_slot_values"], name, number)
    completion = flattener.utterance(found.get("completion"), name, number)
    if completion is None:
        return None
    return [] if found.get("not_valid") else completion_items(completion)


def completion_items(completion: str) -> Items:
    """The slots that the SQL of a completion sets, in the way IC-DST takes it apart; none where that fails.

    The text continues ``SELECT * FROM``. A value is cut at its last hyphen, and a clause without an operator
    leaves odd slots, both as there.

    >>> completion_items(" hotel WHERE book_day = friday AND name LIKE 'rose garden'")
    [('hotel-book day', 'friday'), ('hotel-name', 'rose garden')]
    >>> completion_items(" hotel AS h, train AS t WHERE h.area = north AND t.day = [DELETE]")
    [('hotel-area', 'north'), ('train-day', '[DELETE]')]
    """
    if completion == "  WHERE ":
        return []
    text = " * FROM" + completion
    words = text.split()
    try:
        tables = {words[at + 1].replace(",", ""): words[at - 1] for at, word in enumerate(words) if word == "AS"}
        table = "" if "AS" in text else words[words.index("FROM") + 1] + "-"
    except (IndexError, ValueError):
        return []
    clause = _clause(text).replace("_", " ").replace("'", "").replace("WHERE ", "")
    for operator in _OPERATORS:
        clause = clause.replace(operator, "-")
    found: dict[str, str] = {}
    for piece in clause.split(" AND "):
        for short, long in tables.items():
            piece = piece.replace(f"{short}.", f"{long}-")
        slot, _, value = (table + piece).rpartition("-")
        found[slot] = value
    return list(found.items())


def _clause(text: str) -> str:
    """The statement's last part: from WHERE on, or without one what FROM names."""
    at = text.find("WHERE")
    return text[at:] if at >= 0 else text.partition("FROM")[2].strip()


ICDST = _Icdst()
