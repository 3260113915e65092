"""From states as written to states that are compared: what a protocol's ``[states]`` table asks for.

A prepared state maps each slot to its value: a text, or the frozenset of accepted (or guessed) texts. Slots
that are absent under the protocol are gone. Each distinct (slot, value) is prepared once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from dsteval.dialogue import Dialogue, Frame, Item, Items, Side, Value
from dsteval.errors import Problems, ProtocolError
from dsteval.protocol import Protocol
from dsteval.values.normalise import DONTCARE, NORMALISERS, is_deletion
from dsteval.values.slots import SPELLINGS

__all__ = ["Change", "Prepared", "PreparedValue", "Preparer", "State", "value_text"]

PreparedValue: TypeAlias = str | frozenset[str]
State: TypeAlias = dict[str, PreparedValue]

_SEPARATORS = {"ref": re.compile(r"[|<>]"), "pred": re.compile(r"\|")}


def value_text(value: PreparedValue) -> str:
    """A prepared value as people read it: alternatives sorted, with a bar between them."""
    return value if isinstance(value, str) else "|".join(sorted(value))


class Prepared(NamedTuple):
    """Both sides of one dialogue, a state per turn. A state that did not change is the same object."""

    ref: list[State]
    pred: list[State]


class _Pairs(dict[Item, tuple[str, PreparedValue] | None]):
    """Items as written -> (slot, value) as compared, or None where the slot counts as absent."""

    def __init__(self, make: Callable[[Item], tuple[str, PreparedValue] | None]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, item: Item) -> tuple[str, PreparedValue] | None:
        pair = self[item] = self.make(item)
        return pair


class Change(NamedTuple):
    """One item that a protocol rewrites: as written, and as compared (``became`` None: it counts as absent).

    ``turns`` is the number of turns that hold it, ``dialogue`` and ``turn`` the first of them.
    """

    side: Side
    slot: str
    value: str
    became_slot: str
    became: str | None
    turns: int
    dialogue: str
    turn: int


class Preparer:
    """Prepares dialogues under one protocol.

    Raises ProtocolError for what the protocol cannot read. Slots that one state holds twice with different
    values are collected in ``problems``, to be checked at the end. With ``record`` every item is counted, for
    ``changes``.
    """

    def __init__(self, protocol: Protocol, source: str = "", record: bool = False) -> None:
        self.protocol = protocol
        self.problems = Problems(source)
        self._seen: dict[tuple[Side, Item], tuple[int, str, int]] | None = {} if record else None
        self.slot = SPELLINGS[protocol.states.slots]
        self._normalisers = [NORMALISERS[name] for name in protocol.states.normalise]
        self._absent = frozenset(protocol.states.absent)
        self._pairs: dict[Side, _Pairs] = {
            "ref": _Pairs(lambda item: self.pair("ref", item)),
            "pred": _Pairs(lambda item: self.pair("pred", item)),
        }

    def dialogue(self, dialogue: Dialogue) -> Prepared:
        """The states of both sides; a side that is missing has none."""
        return Prepared(self.side(dialogue, "ref"), self.side(dialogue, "pred"))

    def side(self, dialogue: Dialogue, side: Side) -> list[State]:
        """The prepared states of one side, turn by turn."""
        written = written_states(dialogue, side)
        if not written:
            return []
        if self._seen is not None:
            self._count(self._seen, dialogue, written, side)
        try:
            if side in dialogue.updates:
                return self._accumulate(dialogue, written, side)
            return self._states(dialogue, written, side)
        except ProtocolError as error:
            pairs = zip(dialogue.turns, written, strict=True)
            turn = next(turn.number for turn, items in pairs if any(map(_is_set, items)))
            source = f"{self.problems.source}, " if self.problems.source else ""
            where = f"{source}dialogue {dialogue.id!r}, turn {turn}, {error.where}"
            raise ProtocolError(
                where=where, expected=error.expected, found=error.found, remedy=error.remedy
            ) from None

    def distinct(self, side: Side) -> tuple[int, int]:
        """How many slots, and how many slots with a value, were prepared on one side; absent ones left out."""
        pairs = {pair for pair in self._pairs[side].values() if pair is not None}
        return len({slot for slot, _ in pairs}), len(pairs)

    @staticmethod
    def _count(
        seen: dict[tuple[Side, Item], tuple[int, str, int]], dialogue: Dialogue, written: list[Items], side: Side
    ) -> None:
        for turn, items in zip(dialogue.turns, written, strict=True):
            for item in items:
                if side in dialogue.updates and is_deletion(item[1]):
                    continue
                count, name, number = seen.get((side, item), (0, dialogue.id, turn.number))
                seen[side, item] = (count + 1, name, number)

    def changes(self) -> list[Change]:
        """Every item that was rewritten, the most frequent first; what was not recorded is not there."""
        found = []
        for (side, (slot, value)), (count, dialogue, turn) in (self._seen or {}).items():
            pair = self._pairs[side][slot, value]
            became_slot, became = pair if pair is not None else (self.slot(slot), None)
            # The order of alternatives says nothing: they are shown sorted on both sides.
            as_written = value if isinstance(value, str) else "|".join(sorted(set(value))) if value else "null"
            text = None if became is None else value_text(became)
            if (slot, as_written) != (became_slot, text):
                found.append(Change(side, slot, as_written, became_slot, text, count, dialogue, turn))
        return sorted(found, key=lambda change: (change.side != "ref", -change.turns, change.slot, change.value))

    def _states(self, dialogue: Dialogue, written: list[Items], side: Side) -> list[State]:
        get = self._pairs[side].__getitem__
        states: list[State] = []
        before: Items | None = None
        for turn, items in zip(dialogue.turns, written, strict=True):
            if items is before:
                states.append(states[-1])
                continue
            before = items
            pairs = list(filter(None, map(get, items)))
            state = dict(pairs)
            if dialogue.doubles or len(state) != len(pairs):
                self._check_doubles(dialogue.id, turn.number, items, side)
            states.append(state)
        return states

    def _accumulate(self, dialogue: Dialogue, written: list[Items], side: Side) -> list[State]:
        """States from updates: a deletion takes a slot out, any other value overwrites."""
        states: list[State] = []
        state: State = {}
        for turn, items in zip(dialogue.turns, written, strict=True):
            if items:
                state = dict(state)
            if len({self.slot(slot) for slot, _ in items}) < len(items):
                self._check_doubles(dialogue.id, turn.number, items, side)
            for slot, value in items:
                pair = None if is_deletion(value) else self._pairs[side][slot, value]
                if pair is None:
                    state.pop(self.slot(slot), None)
                else:
                    state[pair[0]] = pair[1]
            states.append(state)
        return states

    def _check_doubles(self, dialogue: str, number: int, items: Items, side: Side) -> None:
        """Note slots that stand twice: one spelling with two values, or two spellings that both have one."""
        by_name: dict[str, tuple[PreparedValue | None, Value]] = {}
        by_slot: dict[str, tuple[PreparedValue | None, Value]] = {}
        for slot, value in items:
            pair = self._pairs[side][slot, value]
            entry = (pair and pair[1], value)
            seen = by_name.setdefault(slot, entry)
            if pair is not None and seen[0] == entry[0]:
                seen = by_slot.setdefault(pair[0], entry)
            if seen[0] != entry[0]:
                self.problems.add(
                    dialogue,
                    number,
                    slot=slot,
                    expected=f"one value a slot ({side})",
                    found=f"{seen[1]!r} and {value!r}",
                    remedy="Keep the right one.",
                )

    def pair(self, side: Side, item: Item) -> tuple[str, PreparedValue] | None:
        """One item as it is compared, or None where it counts as absent."""
        slot, value = self.slot(item[0]), item[1]
        states = self.protocol.states
        if value is None:
            return None
        if states.alternatives == "literal":
            if isinstance(value, tuple) and len(value) != 1:
                raise ProtocolError(
                    where=f"slot {item[0]!r}",
                    expected=f"single texts, which protocol {self.protocol.name} compares",
                    found=f"a list of {len(value)} values",
                    remedy="Take a protocol that reads alternatives, such as exact, or the first of them with "
                    "--set states.alternatives=first.",
                )
            parts = [value] if isinstance(value, str) else list(value)
        else:
            texts = (value,) if isinstance(value, str) else value
            parts = [part for text in texts for part in _SEPARATORS[side].split(text)]
            if states.alternatives == "first":
                parts = parts[:1]
        kept = {text for part in parts if (text := self._text(side, slot, part)) is not None}
        if not kept:
            return None
        return slot, next(iter(kept)) if len(kept) == 1 else frozenset(kept)

    def _text(self, side: Side, slot: str, text: str) -> str | None:
        """One text as it is compared, or None where it counts as absent."""
        for normalise in self._normalisers:
            text = normalise(slot, text)
        if text in self._absent:
            return None
        rule = self.protocol.states.dontcare
        if rule != "literal" and text in DONTCARE:
            return None if rule in ("drop", f"drop-{side}") else "dontcare"
        return text


def _is_set(item: Item) -> bool:
    return isinstance(item[1], tuple) and len(item[1]) != 1


def written_states(dialogue: Dialogue, side: Side) -> list[Items]:
    """The states of one side as written, or ``[]`` where the dialogue lacks it.

    Frames become one state: their slots carry the service, and a service that a turn does not mention keeps
    its last frame.
    """
    turns = dialogue.turns
    frames = [turn.ref_frames if side == "ref" else turn.pred_frames for turn in turns]
    states = [turn.ref if side == "ref" else turn.pred for turn in turns]
    if frames.count(None) < len(frames):
        return _carry(frames, states, side in dialogue.updates)
    return [] if None in states else states  # type: ignore[return-value]


def _carry(turns: list[list[Frame] | None], states: list[Items | None], updates: bool) -> list[Items]:
    """One state a turn out of its frames; a turn with a state and no frames, one that was filled in, has that."""
    carried = []
    last: dict[str, Items] = {}
    for frames, state in zip(turns, states, strict=True):
        if frames is None and state is not None:
            carried.append(state)
            continue
        if updates:
            last = {}
        for frame in frames or ():
            prefix = f"{frame.service}-"
            last[frame.service] = [
                (slot if slot.casefold().startswith(prefix.casefold()) else prefix + slot, value)
                for slot, value in frame.items
            ]
        carried.append([item for items in last.values() for item in items])
    return carried
