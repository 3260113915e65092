"""Our JSON Lines, the canonical text form: one turn a line, one side or both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Choice, Dialogue, Frame, Items, Side, Turn
from dsteval.errors import OptionError
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, shown, turn_number
from dsteval.readers.json_pairs import JsonChunk, Pairs
from dsteval.readers.source import Source

__all__ = ["DSTEVAL_JSONL"]

_SIDES: tuple[Side, ...] = ("ref", "pred")
_STATES = ("ref", "pred", "state", "update", "frames", "items", "bits")


class _DstevalJsonl(Reader):
    """Reads lines ``{"dialogue_id", "turn_id", "system", "user", "ref", "pred"}`` in any order.

    ``state`` is the one side of a file with one side, ``update`` what the turn changed instead of it. ``frames``
    holds states per service, ``items`` the slots as written, ``[[slot, value], ...]``; of a file with two sides
    either is ``{"ref": [...], "pred": [...]}``. ``bits`` are right/wrong marks without values. ``gaps: true`` says
    that the dialogue's turn numbers may skip, ``alone: true`` that it is a single instance of no dialogue,
    ``forced: true`` that its predictions were made from the reference's states,
    ``updates: true`` that frames or items hold what the turn changed. ``pred_update`` is what the tracker says
    that it changed beside a whole ``pred``, ``choices`` the class and the value that it chose for each slot.
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
        fits = fits and "predictions" not in record  # setSUMBT's
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
        self.forms: dict[str, list[str]] = {}
        self.fields: set[str] = set()
        self.gaps: set[str] = set()
        self.alone: set[str] = set()
        self.forced: set[str] = set()

    def dialogues(self) -> Iterator[Dialogue]:
        for line, chunk in self.source.records():
            self._line(line, chunk)
        wanted = self.options.ref_field
        if wanted is not None and wanted not in self.fields:
            listed = ", ".join(sorted(self.fields - {"dialogue_id", "turn_id", "system", "user"}))
            where = f"{self.source.name}, --ref-field {wanted}"
            raise OptionError(where=where, expected="a field of the lines", found=listed)
        for name, forms in self.forms.items():
            if len(set(forms)) > 1:
                expected = "states or updates throughout, or frames throughout"
                self.problems.add(
                    name, None, expected=expected, found=f"some of both ({' and '.join(dict.fromkeys(forms))})"
                )
        for dialogue in self.turns.dialogues(self.options.updated(self.side)):
            if "update" in self.forms.get(dialogue.id, ()):
                dialogue.updates = (self.side,)
            dialogue.gaps, dialogue.alone = dialogue.id in self.gaps, dialogue.id in self.alone
            dialogue.forced = dialogue.id in self.forced
            yield dialogue

    def _line(self, line: str, chunk: JsonChunk) -> None:
        record = fields(chunk.value, f"{self.source.name}, {line}", "dialogue_id", "turn_id")
        self.fields.update(record)
        number = turn_number(record.get("turn_id"))
        expected = "an object with dialogue_id, a text, and turn_id, a number"
        name = self.turns.place(line, record.get("dialogue_id"), number, chunk.value, expected)
        if name is None or number is None:
            return
        system, user = (self.flattener.utterance(record.get(key), name, number) for key in ("system", "user"))
        turn = Turn(number, system=system, user=user)
        ref_field = self.options.ref_field or "ref"
        given: list[tuple[str, str]] = []
        for key, side in ((ref_field, "ref"), ("pred", "pred"), ("state", self.side), ("update", self.side)):
            if key in record:
                self._set(turn, side, self.flattener.items(record[key], name, number))
                given.append((key, side))
        changed = record.get("updates") is True
        given += self._frames(turn, record.get("frames"), name)
        given += self._items(turn, record.get("items"), name)
        self._check_given([("update", side) if changed else (key, side) for key, side in given], name, number)
        self._marks(turn, record, name)
        self._beside(turn, record, name)
        self.turns.add(name, turn)

    def _check_given(self, given: list[tuple[str, str]], name: str, number: int) -> None:
        """One form a side, and the same form all along a dialogue."""
        for side in ("ref", "pred"):
            forms = [key for key, target in given if target == side]
            if len(forms) > 1:
                expected = f"one state of a side ({side})"
                self.problems.add(name, number, expected=expected, found=" and ".join(forms))
            elif forms and side == self.side:
                kind = forms[0] if forms[0] in ("update", "frames") else "states"
                self.forms.setdefault(name, []).append(kind)

    def _marks(self, turn: Turn, record: dict[str, Any], name: str) -> None:
        """Right/wrong marks, and what a line says of its dialogue."""
        if "bits" in record:
            bits = record["bits"]
            if isinstance(bits, list) and all(type(bit) is int and bit in (0, 1) for bit in bits):
                turn.correctness = bits
            else:
                self.problems.add(name, turn.number, expected="bits of 0 and 1", found=shown(bits))
        for flag, names in (("gaps", self.gaps), ("alone", self.alone), ("forced", self.forced)):
            if record.get(flag) is True:
                names.add(name)

    def _beside(self, turn: Turn, record: dict[str, Any], name: str) -> None:
        """What a tracker tells beside its states."""
        if "pred_update" in record:
            update = record["pred_update"]
            listed = isinstance(update, list) and not isinstance(update, Pairs)
            turn.pred_update = (self._listed if listed else self.flattener.items)(update, name, turn.number)
        chosen = record.get("choices")
        if chosen is not None:
            where = f"{self.source.name}, dialogue {name!r}, turn {turn.number}"
            read = [fields(choice, where) for choice in chosen] if isinstance(chosen, list) else [{}]
            if all(isinstance(one.get(key), str) for one in read for key in Choice.__struct_fields__):
                turn.choices = [Choice(one["slot"], one["kind"], one["value"]) for one in read]
            else:
                expected = "choices as a list of slot, kind and value, all of them texts"
                self.problems.add(name, turn.number, expected=expected, found=shown(chosen))

    @staticmethod
    def _set(turn: Turn, side: Side | str, items: Items) -> None:
        if side == "ref":
            turn.ref = items
        else:
            turn.pred = items

    def _frames(self, turn: Turn, value: Any, name: str) -> Iterator[tuple[str, str]]:
        for side, frames in self._by_side(value, "frames", name, turn.number):
            read = [self._frame(frame, name, turn.number) for frame in frames]
            kept = [frame for frame in read if frame is not None]
            services = [frame.service for frame in kept]
            twice = next((service for service in services if services.count(service) > 1), None)
            if twice is not None:
                expected = "one frame a service"
                self.problems.add(name, turn.number, expected=expected, found=f"{shown(twice)} twice")
            if side == "ref":
                turn.ref_frames = kept
            else:
                turn.pred_frames = kept
            yield "frames", side

    def _by_side(self, value: Any, form: str, name: str, number: int) -> list[tuple[str, list[Any]]]:
        """What a line lists for each side: a list for the file's one side, or an object of ref and pred."""
        if value is None:
            return []
        sides = [(self.side, value)]
        if isinstance(value, dict | Pairs):
            found = fields(value, f"{self.source.name}, dialogue {name!r}, turn {number}")
            sides = [(side, found[side]) for side in _SIDES if side in found]
        if sides and all(isinstance(listed, list) and not isinstance(listed, Pairs) for _, listed in sides):
            return list(sides)
        expected = f'{form} as a list, or as {{"ref": [...], "pred": [...]}}'
        odd = next((listed for _, listed in sides if not isinstance(listed, list)), value)
        self.problems.add(name, number, expected=expected, found=shown(odd))
        return []

    def _frame(self, value: Any, name: str, number: int) -> Frame | None:
        found = fields(value, f"{self.source.name}, dialogue {name!r}, turn {number}")
        if not isinstance(found.get("service"), str) or not {"state", "items"} & found.keys():
            self.problems.add(name, number, expected="frames with a service and a state", found=shown(value))
            return None
        if "items" in found:
            items = self._listed(found["items"], name, number)
        else:
            items = self.flattener.items(found["state"], name, number)
        requested = found.get("requested")
        if requested is not None and not (
            isinstance(requested, list) and all(isinstance(r, str) for r in requested)
        ):
            self.problems.add(name, number, expected="requested slots as a list of texts", found=shown(requested))
            requested = None
        intent = self.flattener.utterance(found.get("intent"), name, number)
        return Frame(found["service"], items, intent, requested)

    def _items(self, turn: Turn, value: Any, name: str) -> Iterator[tuple[str, str]]:
        for side, pairs in self._by_side(value, "items", name, turn.number):
            self._set(turn, side, self._listed(pairs, name, turn.number))
            yield "items", side

    def _listed(self, pairs: Any, name: str, number: int) -> Items:
        """Items written as [[slot, value], ...]."""
        items: Items = []
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str):
                items.append((pair[0], self.flattener.value(pair[1], name, number, pair[0])))
            else:
                self.problems.add(name, number, expected="items that are [slot, value]", found=shown(pair))
        return items


DSTEVAL_JSONL = _DstevalJsonl()
