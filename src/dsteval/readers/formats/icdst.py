"""IC-DST's running log and its test files: a list, one object a turn; both sides, or the reference alone."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options
from dsteval.readers.json_format import JsonFormat
from dsteval.readers.source import Source

_OPERATORS = (" = ", " LIKE ", " < ", " > ", " >= ", " <= ")


class _Icdst(JsonFormat):
    """A file without ``pred`` has one side. What the tracker changed at a turn is ``pred_delta_slot_values``, as
    RefPyDST writes it, or else what ``completion`` says, in its own spelling: IC-DST repairs that for ``pred``.
    """

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        turns = Grouped(source.name)
        both: bool | None = None
        for name, number, record in self.records(source, turns):
            both = "pred" in record if both is None else both
            if both != ("pred" in record):
                turns.problems.add(
                    name, number, expected="pred at every turn, or at none", found="it only at some turns"
                )
            turns.add(name, self.turn(record, name, number, side, turns))
        return turns.dialogues(options.updated("pred" if both else side))

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn; of the two lists in ``dialog`` the last texts are the turn's."""
        dialog = flattener.fields(record.get("dialog"), name, number)
        turn = Turn(number)
        for target, key in (("system", "sys"), ("user", "usr")):
            texts = dialog.get(key)
            last = texts[-1] if isinstance(texts, list) and texts else None
            setattr(turn, target, flattener.utterance(last, name, number))
        both = "pred" in record
        setattr(turn, "ref" if both else side, flattener.items(record[self.ref], name, number))
        if both:
            turn.pred = flattener.items(record["pred"], name, number)
            if "pred_delta_slot_values" in record:
                turn.pred_update = flattener.items(record["pred_delta_slot_values"], name, number)
            elif (completion := flattener.utterance(record.get("completion"), name, number)) is not None:
                turn.pred_update = [] if record.get("not_valid") else completion_items(completion)
        return turn


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
    # The statement's last part: from WHERE on, or without one what FROM names.
    at = text.find("WHERE")
    clause = text[at:] if at >= 0 else text.partition("FROM")[2].strip()
    clause = clause.replace("_", " ").replace("'", "").replace("WHERE ", "")
    for operator in _OPERATORS:
        clause = clause.replace(operator, "-")
    items: dict[str, str] = {}
    for piece in clause.split(" AND "):
        for short, long in tables.items():
            piece = piece.replace(f"{short}.", f"{long}-")
        slot, _, value = (table + piece).rpartition("-")
        items[slot] = value
    return list(items.items())


ICDST = _Icdst(
    name="icdst",
    about="IC-DST running log: [{ID, turn_id, slot_values, pred, completion, ...}, ...]; one side if without pred",
    sides="both or one",
    kind="list",
    sign="objects with 'ID', 'turn_id' and 'slot_values'",
    expected="an object with ID, turn_id and slot_values",
    id="ID",
    number="turn_id",
    ref="slot_values",
)
