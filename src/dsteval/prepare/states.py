"""From states as written to states that are compared: what a protocol's ``[states]`` table asks for.

A prepared state maps each slot to its value: a text, or the frozenset of accepted (or guessed) texts. Slots
that are absent under the protocol are gone. Each distinct (slot, value) is prepared once, and has a number since.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dsteval.dialogue import Dialogue, Item, Items, Side, Value, whole_states, written_states
from dsteval.errors import Problems, ProtocolError
from dsteval.prepare.item_numbers import ItemNumbers
from dsteval.prepare.item_rules import ItemRules
from dsteval.prepare.vocabulary import Numbers, Prepared, State, Vocabulary
from dsteval.protocols.model import Protocol
from dsteval.protocols.steps import STEPS, Sides
from dsteval.readers import Encoded
from dsteval.readers.schema import Schema
from dsteval.values.matchers import PreparedValue, texts
from dsteval.values.normalise import is_deletion
from dsteval.values.slots import SPELLINGS, domain_of
from dsteval.values.user_tables import UserTables

SIDES: tuple[Side, Side] = ("ref", "pred")


def value_text(value: PreparedValue) -> str:
    """A prepared value as people read it: alternatives sorted, with a bar between them."""
    return value if isinstance(value, str) else "|".join(sorted(value))


class Change(NamedTuple):
    """One item that a protocol rewrites: as written, and as compared (``became`` None: it counts as absent).

    ``turns`` is the number of turns that hold it, ``dialogue`` and ``turn`` the first of them; ``by`` names the
    rules that did it.
    """

    side: Side
    slot: str
    value: str
    became_slot: str
    became: str | None
    turns: int
    dialogue: str
    turn: int
    by: str


class Preparer:
    """Prepares dialogues under one protocol.

    ``given`` holds the tables that the protocol needs. Raises ProtocolError for one that is not there, and for
    what the protocol cannot read. ``schema`` tells which values slots can have. Slots that one state holds twice
    with different values are collected in ``problems``, to be checked at the end. With ``record`` every item is
    counted, for ``changes``.
    """

    def __init__(
        self,
        protocol: Protocol,
        source: str = "",
        record: bool = False,
        given: UserTables | None = None,
        schema: Schema | None = None,
    ) -> None:
        self.protocol = protocol
        self.vocabulary = Vocabulary()
        self.given = given or UserTables(protocol.name)
        self.problems = Problems(source)
        self._seen: dict[tuple[Side, Item], tuple[int, str, int]] | None = {} if record else None
        self._by_steps: dict[tuple[Side, str, str, str | None], tuple[int, str, int]] = {}
        self.slot = SPELLINGS[protocol.states.slots]
        self._steps = protocol.prepare.steps
        possible = {} if schema is None else schema.possible
        self.rules: dict[Side, ItemRules] = {
            side: ItemRules(protocol, side, self.given, possible) for side in SIDES
        }
        self._numbers: dict[Side, ItemNumbers] = {
            side: ItemNumbers(rules, self.vocabulary) for side, rules in self.rules.items()
        }

    def dialogue(self, dialogue: Dialogue) -> Prepared:
        """The states of both sides; a side that is missing has none."""
        plain: Dialogue = dialogue
        written: Sequence[list[Items] | None] = (None, None)
        if self._steps and all((stages := self.stages(dialogue))[-1][1]):
            written = stages[-1][1]
            if self._seen is not None:
                self._count_steps(dialogue, stages[0][1], stages[-1][1])
            plain = Dialogue(dialogue.id, dialogue.turns, doubles=True)  # updates are states by now
        ref, pred = (self.side(plain, side, states) for side, states in zip(SIDES, written, strict=True))
        if self.protocol.states.visible != "all" and ref and pred:
            pred = self._visible(self._whole(dialogue, "ref"), pred)
        if self.protocol.states.lacking == "empty" and pred:
            pred = [self._filled(*states) for states in zip(ref, pred, strict=True)] if ref else pred
        return Prepared(self.vocabulary, ref, pred)

    def reference(self, dialogue: Dialogue) -> list[State]:
        """The reference as it is compared, of a dialogue that need not have a prediction."""
        return self.vocabulary.states(self._reference(dialogue))

    def _reference(self, dialogue: Dialogue) -> list[Numbers]:
        whole = self._whole(dialogue, "ref")
        if not whole or not self._steps:
            return self.side(dialogue, "ref")
        sides = Sides(whole, whole)
        for step in (STEPS[name] for name in self._steps):
            sides = step.apply(dialogue, sides, self.given) if step.of_ref else sides
        return self.side(Dialogue(dialogue.id, dialogue.turns, doubles=True), "ref", sides.ref)

    def stages(self, dialogue: Dialogue) -> list[tuple[str, Sides]]:
        """Both sides as written, under the name "", and after each of the protocol's steps."""
        whole = [self._whole(dialogue, side) for side in SIDES]
        stages = [("", Sides(*whole))]
        if not all(whole):
            return stages
        try:
            for name in self._steps:
                stages.append((name, STEPS[name].apply(dialogue, stages[-1][1], self.given)))
        except ProtocolError as error:
            raise self._placed(error, f"dialogue {dialogue.id!r}, {error.where}") from None
        return stages

    def _whole(self, dialogue: Dialogue, side: Side) -> list[Items]:
        """The states of one side as written, accumulated where the file holds updates."""
        written = written_states(dialogue, side)
        whole = whole_states(written, self.slot) if side in dialogue.updates else written
        if self._steps and self.protocol.states.alternatives == "first":
            whole = [list(map(_first, items)) for items in whole]
        return whole

    def _visible(self, listed: list[Items], pred: list[Numbers]) -> list[Numbers]:
        """Predicted states without the slots that the protocol does not look at: those far from the reference."""
        key = domain_of if self.protocol.states.visible == "domains" else str
        name = self.vocabulary.slot_name
        states: list[Numbers] = []
        for items, state in zip(listed, pred, strict=True):
            seen = {key(self.slot(slot)) for slot, _ in items}
            kept = [number for number in state if key(name(number)) in seen]
            states.append(state if len(kept) == len(state) else kept)
        return states

    def _filled(self, ref: Numbers, pred: Numbers) -> Numbers:
        """The prediction with the empty text in each slot that it lacks and that may be empty."""
        slot_of, values = self.vocabulary.slot_of, self.vocabulary.values
        there = {slot_of[number] for number in pred}
        lacking = [n for n in ref if slot_of[n] not in there and "" in texts(values[n])]
        return (
            pred + [self.vocabulary.number(self.vocabulary.slot_name(n), "") for n in lacking] if lacking else pred
        )

    def side(self, dialogue: Dialogue, side: Side, written: list[Items] | None = None) -> list[Numbers]:
        """The prepared states of one side, turn by turn; ``written`` are its states as written, steps done."""
        written = written_states(dialogue, side) if written is None else written
        if not written:
            return []
        if self._seen is not None:
            self._count(self._seen, dialogue, written, side)
        try:
            if side in dialogue.updates:
                return self._accumulate(dialogue, written, side)
            return self._states(dialogue, written, side)
        except ProtocolError as error:
            changes, known = side in dialogue.updates, self._numbers[side]

            def unknown(item: Item) -> bool:
                return item not in known and item not in known.dropped and not (changes and is_deletion(item[1]))

            pairs = zip(dialogue.turns, written, strict=True)
            # Items are prepared in order, and the one that is refused is the first that is not known.
            turn = next(turn.number for turn, items in pairs if any(map(unknown, items)))
            raise self._placed(error, f"dialogue {dialogue.id!r}, turn {turn}, {error.where}") from None

    def _placed(self, error: ProtocolError, place: str) -> ProtocolError:
        """The error with the source and the place in it."""
        where = f"{self.problems.source}, {place}" if self.problems.source else place
        return ProtocolError(where=where, expected=error.expected, found=error.found, remedy=error.remedy)

    def pair(self, side: Side, item: Item) -> tuple[str, PreparedValue] | None:
        """One item as it is compared, None where it counts as absent; prepared once."""
        number = self._numbers[side][item]
        return (self.vocabulary.slot_name(number), self.vocabulary.values[number]) if number else None

    @property
    def takes_items(self) -> bool:
        """Whether items alone tell what a state becomes, whatever stands at other turns or on the other side."""
        states = self.protocol.states
        plain = states.visible == "all" and states.lacking != "empty"
        return plain and not self._steps and self._seen is None

    def encoded(self, block: Encoded, side: Side) -> npt.NDArray[np.int32] | None:
        """The vocabulary's numbers of a block's items, as ``ItemNumbers.encoded`` gives them for a side."""
        return self._numbers[side].encoded(block, side)

    def dropped(self, side: Side) -> Counter[Item]:
        """Items that were taken for slots that are not set though they may have a value, and how often."""
        return self._numbers[side].dropped

    def slots(self) -> set[str]:
        """The slots that stand on either side as written, in the protocol's spelling."""
        items = (item for numbers in self._numbers.values() for item in (*numbers, *numbers.dropped))
        return {self.slot(slot) for slot, _ in items}

    def distinct(self, side: Side) -> tuple[int, int]:
        """How many slots, and how many slots with a value, were prepared on one side; absent ones left out."""
        numbers = set(filter(None, self._numbers[side].values()))
        return len(set(map(self.vocabulary.slot_name, numbers))), len(numbers)

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

    def _count_steps(self, dialogue: Dialogue, before: Sides, after: Sides) -> None:
        for side, old, new in zip(SIDES, before, after, strict=True):
            for turn, was, now in zip(dialogue.turns, old, new, strict=True):
                for slot, value in set(was) ^ set(now):
                    olds, news = dict(was), dict(now)
                    if (slot, value) in now and slot in olds:
                        continue  # told with what it was
                    text = _written_text(value) if slot in olds else "null"
                    became = _written_text(news[slot]) if slot in news else None
                    key = (side, slot, text, became)
                    count, name, number = self._by_steps.get(key, (0, dialogue.id, turn.number))
                    self._by_steps[key] = (count + 1, name, number)

    def changes(self) -> list[Change]:
        """Every item that was rewritten, the most frequent first; what was not recorded is not there."""
        changes = []
        for (side, (slot, value)), (count, dialogue, turn) in (self._seen or {}).items():
            pair = self.pair(side, (slot, value))
            became_slot, became = pair if pair is not None else (self.slot(slot), None)
            as_written = _written_text(value)
            text = None if became is None else value_text(became)
            if (slot, as_written) != (became_slot, text):
                by = ", ".join(self.rules[side].trace((slot, value)))
                changes.append(Change(side, slot, as_written, became_slot, text, count, dialogue, turn, by))
        by = ", ".join(f"step {name}" for name in self._steps)
        for (side, slot, was, text), (count, dialogue, turn) in self._by_steps.items():
            changes.append(Change(side, slot, was, slot, text, count, dialogue, turn, by))
        return sorted(changes, key=lambda change: (change.side != "ref", -change.turns, change.slot, change.value))

    def _states(self, dialogue: Dialogue, written: list[Items], side: Side) -> list[Numbers]:
        known = self._numbers[side]
        get, dropped, slot_of = known.__getitem__, known.dropped, self.vocabulary.slot_of
        states: list[Numbers] = []
        before: Items | None = None
        for turn, items in zip(dialogue.turns, written, strict=True):
            if items is before:
                states.append(states[-1])
                dropped.update(item for item in items if item in dropped) if dropped else None
                continue
            before = items
            state = list(filter(None, map(get, items)))
            if dialogue.doubles or len(set(map(slot_of.__getitem__, state))) < len(state):
                self._check_doubles(dialogue.id, turn.number, items, side)
                state = list({slot_of[number]: number for number in state}.values())
            states.append(state)
        return states

    def _accumulate(self, dialogue: Dialogue, written: list[Items], side: Side) -> list[Numbers]:
        """States from updates: a deletion takes a slot out, any other value overwrites."""
        states: list[Numbers] = []
        state: dict[str, int] = {}
        for turn, items in zip(dialogue.turns, written, strict=True):
            if len({self.slot(slot) for slot, _ in items}) < len(items):
                self._check_doubles(dialogue.id, turn.number, items, side)
                self._check_deletions(dialogue.id, turn.number, items)
            for slot, value in items:
                number = 0 if is_deletion(value) else self._numbers[side][slot, value]
                if number:
                    state[self.slot(slot)] = number
                else:
                    state.pop(self.slot(slot), None)
            states.append(list(state.values()) if items or not states else states[-1])
        return states

    def _check_deletions(self, dialogue: str, number: int, items: Items) -> None:
        """Note slots that one update both sets and deletes, in two spellings: the order of keys would decide."""
        first: dict[str, Item] = {}
        for slot, value in items:
            before = first.setdefault(self.slot(slot), (slot, value))
            if before[0] != slot and is_deletion(before[1]) != is_deletion(value):
                self.problems.add(
                    dialogue,
                    number,
                    slot=slot,
                    expected="one change per slot, whatever its spelling",
                    found=f"{before[0]!r}: {before[1]!r} and {slot!r}: {value!r}",
                    remedy="Keep the right one.",
                )

    def _check_doubles(self, dialogue: str, number: int, items: Items, side: Side) -> None:
        """Note slots that stand twice: one spelling with two values, or two spellings that both have one."""
        by_name: dict[str, tuple[PreparedValue | None, Value]] = {}
        by_slot: dict[str, tuple[PreparedValue | None, Value]] = {}
        for slot, value in items:
            pair = self.pair(side, (slot, value))
            entry = (pair and pair[1], value)
            seen = by_name.setdefault(slot, entry)
            if pair is not None and seen[0] == entry[0]:
                seen = by_slot.setdefault(pair[0], entry)
            if seen[0] != entry[0]:
                self.problems.add(
                    dialogue,
                    number,
                    slot=slot,
                    expected=f"one value per slot ({side})",
                    found=f"{seen[1]!r} and {value!r}",
                    remedy="Keep the right one.",
                )


def _written_text(value: Value) -> str:
    """A value as written, for people; the order of alternatives says nothing, so they are sorted."""
    return value if isinstance(value, str) else "|".join(sorted(set(value))) if value else "null"


def _first(item: Item) -> Item:
    """An item with the first of several values, for steps that read single texts."""
    slot, value = item
    return (slot, value[0]) if isinstance(value, tuple) and value else item
