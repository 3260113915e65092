"""Our JSON Lines, the canonical text form: one turn a line, one side or both."""

import re
from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Choice, Dialogue, Frame, Items, Side, Turn
from dsteval.errors import OptionError, ReadError
from dsteval.readers.base import Grouped, Options, Reader, Sign, Sureness, are_texts, fields, first_object
from dsteval.readers.encoded import Encoded, NotInBlocksError
from dsteval.readers.json_pairs import JsonChunk
from dsteval.readers.source import Source
from dsteval.readers.state_bytes import StateBytes
from dsteval.readers.usual_lines import usual_dialogues

_SIDES: tuple[Side, ...] = ("ref", "pred")
_NAMED = re.compile(rb'"dialogue_id"\s*:\s*"([^"\\]+)"')
_FLAGS = ("gaps", "alone", "forced")
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
    ``after`` are the utterances that follow a dialogue's last turn in MultiWOZ's data.json.
    """

    name = "dsteval-jsonl"
    about = "dsteval JSON Lines: one turn per line, dialogue_id, turn_id, and ref and pred, or state, or update"
    sides = "both or one"
    ref_fields = True
    keeps_going = True

    def sniff(self, source: Source) -> Sign | None:
        """Lines, or a list, of objects with dialogue_id, turn_id and a state."""
        keys = first_object(source, "lines", "list").keys()
        # An object with predictions is setSUMBT's.
        fits = {"dialogue_id", "turn_id"} <= keys and not keys.isdisjoint(_STATES) and "predictions" not in keys
        return Sign("objects with dialogue_id, turn_id and a state", Sureness.GENERIC) if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, in the order in which they first appear."""
        return _Lines(source, side, options).checked()

    def encoded(self, source: Source, options: Options) -> Iterator[Encoded | Dialogue]:
        """Blocks of dialogues, if lines are alike, have both sides, and stand in the order of their turns.

        Raises NotInBlocksError where that is not so all through a file.
        """
        states = StateBytes()
        block, begun = states.block(), False
        for dialogue in usual_dialogues(source.lines() if source.kind == "lines" else ()):
            if dialogue is not None:
                block.add(*dialogue)
                if not block.is_full:
                    continue
            if dialogue is None or not states.complete(block):
                if begun:
                    raise NotInBlocksError
                yield from self.read(source, "pred", options)
                return
            yield block
            block, begun = states.block(), True
        if len(block) and states.complete(block):
            yield block
        elif len(block) or not begun:
            if begun:
                raise NotInBlocksError
            yield from self.read(source, "pred", options)


class _Lines(Grouped):
    """The lines of one file as they are read."""

    def __init__(self, source: Source, side: Side, options: Options) -> None:
        super().__init__(source.name)
        self.source, self.options = source, options
        self.side: Side = side
        self.forms: dict[str, list[str]] = {}  # of the file's own side, turn by turn
        self.keys: set[str] = set()
        self.flagged: dict[str, set[str]] = {flag: set() for flag in _FLAGS}
        self.after: dict[str, tuple[str, ...]] = {}
        self.left_out: set[str] = set()
        self._last: str | None = None
        self._follows_broken = False

    def checked(self) -> Iterator[Dialogue]:
        """The dialogues, once all lines are read."""
        keep_going = self.options.keep_going
        for line, chunk in self.source.records(self._broken if keep_going else None):
            try:
                self._line(line, chunk)
            except ReadError as error:
                if not keep_going:
                    raise
                named = dict(chunk.value).get("dialogue_id")
                self._left_out_line(line, named if isinstance(named, str) else None, error)
        wanted = self.options.ref_field
        if wanted is not None and wanted not in self.keys:
            listed = ", ".join(sorted(self.keys - {"dialogue_id", "turn_id", "system", "user"}))
            where = f"{self.source.name}, --ref-field {wanted}"
            raise OptionError(where=where, expected="a field of the lines", found=listed)
        for name, forms in self.forms.items():
            if len(set(forms)) > 1:
                expected = "only states, only updates or only frames"
                found = f"a mixture ({' and '.join(dict.fromkeys(forms))})"
                self.problems.add(name, None, expected=expected, found=found)
        for dialogue in self.dialogues(self.options.updated(self.side)):
            if dialogue.id in self.left_out:
                continue
            if "update" in self.forms.get(dialogue.id, ()):
                dialogue.updates = (self.side,)
            for flag, names in self.flagged.items():
                setattr(dialogue, flag, dialogue.id in names)
            dialogue.after = self.after.get(dialogue.id)
            yield dialogue

    def check(self) -> None:
        """Raise ReadError for what was wrong, or leave out its dialogues, as the user asked."""
        if not self.options.keep_going:
            super().check()
        problems = self.problems
        self.source.broken = [f"{self.source.name}, {place}: {found}" for place, found in problems.places.items()]
        self.left_out |= problems.dialogues

    def _broken(self, line: str, data: bytes, error: ReadError) -> None:
        named = _NAMED.search(data)
        self._left_out_line(line, named and named[1].decode(errors="replace"), error)

    def _left_out_line(self, line: str, name: str | None, error: ReadError) -> None:
        """Note a line that cannot be read, and leave out the dialogue that it names."""
        self.total += 1
        self.note_line(line, error.expected, error.found)
        self._left_out(name)

    def _left_out(self, name: str | None) -> None:
        """Leave out a dialogue, or where it is not known those of the lines before and after."""
        self._follows_broken = name is None
        self.left_out.update(filter(None, (name or self._last,)))

    def _line(self, line: str, chunk: JsonChunk) -> None:
        record = fields(chunk.value, f"{self.source.name}, {line}", "dialogue_id", "turn_id")
        self.keys.update(record)
        expected = "an object with dialogue_id (a string) and turn_id (a number)"
        place = self.place(line, record.get("dialogue_id"), record.get("turn_id"), chunk.value, expected)
        if place is None:
            self._left_out(None)
            return
        if self._follows_broken:
            self._left_out(place[0])
        self._last = place[0]
        system, user = (self.utterance(record.get(key), *place) for key in ("system", "user"))
        turn = Turn(place[1], system=system, user=user)
        ref_field = self.options.ref_field or "ref"
        given: list[tuple[str, str]] = []  # how each state is written, and its side
        for key, side in ((ref_field, "ref"), ("pred", "pred"), ("state", self.side), ("update", self.side)):
            if key in record:
                setattr(turn, side, self.items(record[key], *place))
                given.append((key, side))
        for form, attribute, read in (("frames", "{}_frames", self._frames), ("items", "{}", self._listed)):
            for side, value in self._by_side(record.get(form), form, *place):
                setattr(turn, attribute.format(side), read(value, *place))
                given.append((form, side))
        if record.get("updates") is True:
            given = [("update", side) for _, side in given]
        self._check_given(given, *place)
        self._beside(turn, record, *place)
        self.add(place[0], turn)

    def _check_given(self, given: list[tuple[str, str]], name: str, number: int) -> None:
        """One form a side, and the same form all along a dialogue."""
        for side in _SIDES:
            forms = [key for key, target in given if target == side]
            if len(forms) > 1:
                expected = f"one state per side ({side})"
                self.problems.add(name, number, expected=expected, found=" and ".join(forms))
            elif forms and side == self.side:
                self.forms.setdefault(name, []).append(forms[0] if forms[0] in ("update", "frames") else "states")

    def _beside(self, turn: Turn, record: dict[str, Any], name: str, number: int) -> None:
        """What a line tells beside its states: marks, its dialogue's flags, what the tracker changed and chose."""
        if "bits" in record:
            turn.correctness = bits = record["bits"]
            if not isinstance(bits, list) or not all(type(bit) is int and bit in (0, 1) for bit in bits):
                self.note(name, number, "bits of 0 and 1", bits)
        for flag, names in self.flagged.items():
            if record.get(flag) is True:
                names.add(name)
        if are_texts(record.get("after")):
            self.after[name] = tuple(record["after"])
        elif "after" in record:
            self.note(name, number, "the utterances after the last turn as a list of strings", record["after"])
        if "pred_update" in record:
            read = self._listed if isinstance(record["pred_update"], list) else self.items
            turn.pred_update = read(record["pred_update"], name, number)
        if (chosen := record.get("choices")) is not None:
            listed = chosen if isinstance(chosen, list) else [None]
            choices = [self.fields(choice, name, number) for choice in listed]
            if all(isinstance(choice.get(key), str) for choice in choices for key in Choice.__struct_fields__):
                turn.choices = [Choice(choice["slot"], choice["kind"], choice["value"]) for choice in choices]
            else:
                self.note(name, number, "choices as a list of slot, kind and value, all of them strings", chosen)

    def _by_side(self, value: Any, form: str, name: str, number: int) -> list[tuple[str, list[Any]]]:
        """What a line lists for each side: a list for the file's one side, or an object of ref and pred."""
        if value is None:
            return []
        sides: list[tuple[str, Any]] = [(self.side, value)]
        if isinstance(value, dict):
            by_side = self.fields(value, name, number)
            sides = [(side, by_side[side]) for side in _SIDES if side in by_side]
        others = [listed for _, listed in sides if not isinstance(listed, list)]
        if sides and not others:
            return sides
        expected = f'{form} as a list, or as {{"ref": [...], "pred": [...]}}'
        self.note(name, number, expected, others[0] if others else value)
        return []

    def _frames(self, listed: list[Any], name: str, number: int) -> list[Frame]:
        frames = [frame for value in listed if (frame := self._frame(value, name, number))]
        self.check_services(frames, name, number)
        return frames

    def _frame(self, value: Any, name: str, number: int) -> Frame | None:
        frame = self.fields(value, name, number)
        if not isinstance(frame.get("service"), str) or frame.keys().isdisjoint({"state", "items"}):
            self.note(name, number, "frames with a service and a state", value)
            return None
        read, key = (self._listed, "items") if "items" in frame else (self.items, "state")
        items = read(frame[key], name, number)
        requested = frame.get("requested")
        if requested is not None and not are_texts(requested):
            self.note(name, number, "requested slots as a list of strings", requested)
        return Frame(frame["service"], items, self.utterance(frame.get("intent"), name, number), requested)

    def _listed(self, pairs: Any, name: str, number: int) -> Items:
        """Items written as [[slot, value], ...]."""
        items: Items = []
        for pair in pairs if isinstance(pairs, list) else [pairs]:
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str):
                items.append((pair[0], self.value(pair[1], name, number, pair[0])))
            else:
                self.note(name, number, "items that are [slot, value]", pair)
        return items


DSTEVAL_JSONL = _DstevalJsonl()
