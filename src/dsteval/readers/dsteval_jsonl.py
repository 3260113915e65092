"""Our JSON Lines, the canonical text form: one turn a line, one side or both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Frame, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, shown, turn_number
from dsteval.readers.json_text import JsonChunk, Pairs
from dsteval.readers.source import Source

__all__ = ["DSTEVAL_JSONL"]

_STATES = ("ref", "pred", "state", "update", "frames", "items", "bits")


class _DstevalJsonl(Reader):
    """Reads lines ``{"dialogue_id", "turn_id", "system", "user", "ref", "pred"}`` in any order.

    ``state`` is the one side of a file with one side, ``update`` what the turn changed instead of it. ``frames``
    holds states per service, ``items`` the slots as written, ``[[slot, value], ...]``; of a file with two sides
    either is ``{"ref": [...], "pred": [...]}``. ``bits`` are right/wrong marks without values. ``gaps: true`` says
    that the dialogue's turn numbers may skip, ``alone: true`` that it is a single instance of no dialogue.
    """

    name = "dsteval-jsonl"
    about = "our JSON Lines: one turn a line, dialogue_id, turn_id, and ref and pred, or state, or update"
    sides = "both or one"
    ref_fields = True

    def sniff(self, source: Source) -> str:
        """Lines, or a list, of objects with dialogue_id, turn_id and a state."""
        record = source.first_record
        if source.kind not in ("lines", "list") or not isinstance(record, dict):
            return ""
        fits = {"dialogue_id", "turn_id"} <= record.keys() and bool(record.keys() & set(_STATES))
        return "objects with dialogue_id, turn_id and a state" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, in the order in which they first appear."""
        return _Reading(source, side, options).dialogues()


class _Reading:
    def __init__(self, source: Source, side: Side, options: Options) -> None:
        self.source = source
        self.side: Side = side
        self.options = options
        self.flattener = Flattener(source.name)
        self.problems = self.flattener.problems
        self.turns = Grouped(self.flattener)
        self.updated: dict[str, list[bool]] = {}
        self.gaps: set[str] = set()
        self.alone: set[str] = set()

    def dialogues(self) -> Iterator[Dialogue]:
        for where, chunk in self.source.records():
            self._line(where, chunk)
        for name, updated in self.updated.items():
            if len(set(updated)) > 1:
                self.problems.add(name, None, expected="states or updates throughout", found="some of both")
        for dialogue in self.turns.dialogues(self.options.updated(self.side)):
            if any(self.updated.get(dialogue.id, ())):
                dialogue.updates = (self.side,)
            dialogue.gaps, dialogue.alone = dialogue.id in self.gaps, dialogue.id in self.alone
            yield dialogue

    def _line(self, where: str, chunk: JsonChunk) -> None:
        record = fields(chunk.value)
        number = turn_number(record.get("turn_id"))
        expected = "an object with dialogue_id, a text, and turn_id, a number"
        name = self.turns.place(where, record.get("dialogue_id"), number, chunk.value, expected)
        if name is None or number is None:
            return
        turn = Turn(number, system=_text(record.get("system")), user=_text(record.get("user")))
        ref_field = self.options.ref_field or "ref"
        for side, key in (("ref", ref_field), ("pred", "pred")):
            if key in record:
                self._set(turn, side, self.flattener.items(record[key], name, number))
        one = "update" if "update" in record else "state"
        if one in record:
            self.updated.setdefault(name, []).append(one == "update")
            self._set(turn, self.side, self.flattener.items(record[one], name, number))
        self._frames(turn, record.get("frames"), name)
        self._items(turn, record.get("items"), name)
        self._marks(turn, record, name)
        self.turns.add(name, turn)

    def _marks(self, turn: Turn, record: dict[str, Any], name: str) -> None:
        """Right/wrong marks, and what a line says of its dialogue."""
        if "bits" in record:
            bits = record["bits"]
            if isinstance(bits, list) and all(type(bit) is int and bit in (0, 1) for bit in bits):
                turn.bits = bits
            else:
                self.problems.add(name, turn.number, expected="bits of 0 and 1", found=shown(bits))
        for flag, names in (("gaps", self.gaps), ("alone", self.alone)):
            if record.get(flag) is True:
                names.add(name)

    @staticmethod
    def _set(turn: Turn, side: Side | str, items: Items) -> None:
        if side == "ref":
            turn.ref = items
        else:
            turn.pred = items

    def _frames(self, turn: Turn, value: Any, name: str) -> None:
        for side, frames in self._by_side(value):
            read = [self._frame(frame, name, turn.number) for frame in frames or ()]
            kept = [frame for frame in read if frame is not None]
            if side == "ref":
                turn.ref_frames = kept
            else:
                turn.pred_frames = kept

    def _by_side(self, value: Any) -> list[tuple[str, Any]]:
        if value is None:
            return []
        if isinstance(value, dict | Pairs):
            found = fields(value)
            return [(side, found[side]) for side in ("ref", "pred") if side in found]
        return [(self.side, value)]

    def _frame(self, value: Any, name: str, number: int) -> Frame | None:
        found = fields(value)
        if not isinstance(found.get("service"), str):
            self.problems.add(name, number, expected="frames with a service and a state", found=shown(value))
            return None
        if "items" in found:
            items = self._listed(found["items"], name, number)
        else:
            items = self.flattener.items(found.get("state", {}), name, number)
        return Frame(found["service"], items, _text(found.get("intent")), found.get("requested"))

    def _items(self, turn: Turn, value: Any, name: str) -> None:
        for side, pairs in self._by_side(value):
            self._set(turn, side, self._listed(pairs, name, turn.number))

    def _listed(self, pairs: Any, name: str, number: int) -> Items:
        """Items written as [[slot, value], ...]."""
        items: Items = []
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str):
                items.append((pair[0], self.flattener.value(pair[1], name, number, pair[0])))
            else:
                self.problems.add(name, number, expected="items that are [slot, value]", found=shown(pair))
        return items


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


DSTEVAL_JSONL = _DstevalJsonl()
