"""What every reader is, and the steps that readers share: states, turn keys, doubles."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from operator import gt, lt
from typing import Any, NamedTuple, TypeGuard

from dsteval.dialogue import Dialogue, Frame, Items, Side, Turn, Value, is_doubled
from dsteval.errors import Problems, ReadError
from dsteval.readers.json_pairs import DoubledObject
from dsteval.readers.source import Source


@dataclass(frozen=True)
class Options:
    """What a user may say about a file: its predicted states are ``updates``; which field is the reference.

    With ``keep_going`` a line that cannot be read is left out with its dialogue, and listed in ``Source.broken``.
    """

    updates: bool = False
    ref_field: str | None = None
    keep_going: bool = False

    def updated(self, side: Side = "pred") -> tuple[Side, ...]:
        """The sides that hold updates, where the file's own side is ``side``."""
        return (side,) if self.updates and side == "pred" else ()


class Sureness(IntEnum):
    """How much a sign says: a shape that other tools' files may have as well, or one tool's own marks."""

    GENERIC = 1
    SPECIFIC = 2


class Sign(NamedTuple):
    """The sign by which a source is recognised, in words, and how sure it is."""

    text: str
    sureness: Sureness = Sureness.SPECIFIC


class Reader:
    """One format. ``sides`` is ``both`` where a file holds ref and pred together, else ``one``.

    ``ref_fields`` tells whether a file may hold several references, one of which ``--ref-field`` names;
    ``keeps_going`` whether it can leave out what is broken.
    """

    name: str
    about: str
    sides: str = "both"
    ref_fields: bool = False
    keeps_going: bool = False

    def sniff(self, source: Source) -> Sign | None:
        """The sign by which the source is recognised as this format, if there is one."""
        raise NotImplementedError

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues of one file; ``side`` says where a file with one side goes.

        Raises ReadError at the end for all that was wrong with values.
        """
        raise NotImplementedError


_TEXTS = frozenset({str})
_DIGITS = 9  # of a turn's number; more is a key of another kind


class Flattener:
    """Turns decoded states, flat or nested by domain, into items; collects values that are none."""

    def __init__(self, source: str) -> None:
        self.problems = Problems(source)
        self.total = 0  # turns, for messages

    def note(
        self, dialogue: str, turn: int | None, expected: str, value: object, slot: str = "", remedy: str = ""
    ) -> None:
        """Note that something else was expected than this value."""
        self.problems.add(dialogue, turn, slot=slot, expected=expected, found=shown(value), remedy=remedy)

    def note_line(self, line: str, expected: str, found: str) -> None:
        """Note that a line, which tells no dialogue, is not what was expected."""
        self.problems.add("", None, line=line, expected=expected, found=found)

    def counted(self, turns: Iterable[Turn]) -> list[Turn]:
        """The turns of a dialogue, added to the number of all."""
        listed = list(turns)
        self.total += len(listed)
        return listed

    def fields(self, value: Any, dialogue: str, turn: int | None = None) -> dict[str, Any]:
        """The fields of an object in a dialogue, or in one of its turns, as ``fields`` gives them."""
        if type(value) is dict:  # most are, and a place costs more than they do
            return value
        return fields(value, self.where(dialogue, turn))

    def where(self, dialogue: str, turn: int | None = None) -> str:
        """How messages call a dialogue, or one of its turns."""
        place = f"{self.problems.source}, dialogue {dialogue!r}"
        return place if turn is None else f"{place}, turn {turn}"

    def items(self, state: Any, dialogue: str, turn: int) -> Items:
        """The items of one state, in file order."""
        items: Items = []
        if type(state) is not dict and not isinstance(state, Mapping):
            self.note(dialogue, turn, "a state (an object of slots)", state)
            return items
        for key, value in state.items():
            kind = type(value)
            if type(key) is not str:
                self.note(dialogue, turn, "slot names that are strings", key)
            elif kind is str:
                items.append((key, value))
            elif kind is dict or isinstance(value, Mapping):
                if "-" in key and not all(isinstance(inner, str | None | list) for _, inner in value.items()):
                    self.note(
                        dialogue,
                        turn,
                        "a value that is a string or a list of strings",
                        value,
                        key,
                        "Write the value alone.",
                    )
                    continue
                for inner_key, inner in value.items():
                    slot = f"{key}-{inner_key}"
                    if not _is_booking(inner_key, inner):
                        text = inner if type(inner) is str else self.value(inner, dialogue, turn, slot)
                        items.append((slot, text))
            elif not _is_booking(key, value):
                items.append((key, self.value(value, dialogue, turn, key)))
        return items

    def utterance(self, value: Any, dialogue: str, turn: int) -> str | None:
        """What was said, or another text beside the states; null, or not there, is None."""
        if value is None or isinstance(value, str):
            return value
        self.note(dialogue, turn, "an utterance or intent that is a string", value)
        return None

    def glued(self, texts: Any, dialogue: str, turn: int) -> Items:
        """The items of texts 'domain-slot-value', cut at the first two hyphens: a value keeps its own."""
        items: Items = []
        if not isinstance(texts, list):
            self.note(dialogue, turn, "a list of 'domain-slot-value'", texts)
            return items
        for text in texts:
            pieces = text.split("-", 2) if isinstance(text, str) else []
            if len(pieces) == 3:
                items.append((f"{pieces[0]}-{pieces[1]}", pieces[2]))
            else:
                self.note(dialogue, turn, "strings 'domain-slot-value'", text)
        return items

    def value(self, value: Any, dialogue: str, turn: int, slot: str) -> Value:
        """One value: a text, a list of texts as a set of alternatives, null; an integer is read as its text."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, set | frozenset):
            value = sorted(value, key=str)
        if _is_integer(value):
            return str(value)
        # An empty list is kept as such: DSTC10's scorer tells it from a slot that is not there.
        if type(value) is list and _TEXTS.issuperset(map(type, value)):
            return tuple(value)
        if isinstance(value, list | tuple) and all(isinstance(part, str) or _is_integer(part) for part in value):
            return tuple(map(str, value))
        remedy = "Write it as a string." if isinstance(value, float | bool) else ""
        self.note(dialogue, turn, "a string or a list of strings", value, slot, remedy)
        return None

    def check_services(self, frames: list[Frame], dialogue: str, turn: int) -> None:
        """Note a service that has two frames at one turn."""
        twice = first_double([frame.service for frame in frames])
        if twice is not None:
            self.problems.add(dialogue, turn, expected="one frame per service", found=f"{shown(twice)} twice")


def _is_booking(slot: object, value: object) -> bool:
    """Whether it is MultiWOZ's list of what was booked, which is no slot."""
    named = isinstance(slot, str) and slot.rpartition("-")[2].casefold() == "booked"
    return named and isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _is_integer(value: object) -> TypeGuard[int]:
    # A number of a hundred digits is no value of a slot, and Python refuses to write out thousands.
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 330


def shown(value: object) -> str:
    """A value as JSON has it, cut short, for a message."""
    if isinstance(value, DoubledObject):
        value = dict(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested very deep, or an integer of thousands of digits
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else text[:57] + "..."


def turn_number(label: object) -> int | None:
    """The number of a turn's key, which may be a text of digits; None where it is no number.

    >>> turn_number("12"), turn_number(3), turn_number("first"), turn_number(True)
    (12, 3, None, None)
    """
    if isinstance(label, str) and label.strip().isdecimal() and len(label) < _DIGITS:
        return int(label)
    return label if _is_integer(label) and 0 <= label < 10**_DIGITS else None


def first_double(names: list[str]) -> str | None:
    """The first name that stands twice, if one does."""
    return next((name for name in names if names.count(name) > 1), None)


def are_texts(value: object) -> TypeGuard[list[str]]:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def fields(value: Any, where: str, *place: str) -> dict[str, Any]:
    """The fields of an object; of anything else none. Raises ReadError where one is named twice.

    ``place`` names fields that tell a dialogue and a turn, for the message.
    """
    if not isinstance(value, Mapping):
        return {}
    known = dict(value)
    twice = first_double([name for name, _ in value.items()]) if isinstance(value, DoubledObject) else None
    if twice is not None:
        named = [repr(known[name]) for name in place if name in known and name != twice]
        where = f"{where} (dialogue {', turn '.join(named)})" if named else where
        raise ReadError(where=where, expected="each field once", found=f"{shown(twice)} twice")
    return known


def first_object(source: Source, *kinds: str) -> dict[str, Any]:
    """The object that a source of one of the kinds is recognised by; empty where it is of another kind."""
    record = source.first_record if source.kind in kinds else None
    return record if isinstance(record, dict) else {}


def numbered(value: Any, dialogue: str, problems: Problems) -> Iterator[tuple[int, Any]]:
    """The turns of an object that is keyed by turn; what is none, or has another key, is a problem."""
    if not isinstance(value, Mapping):
        problems.add(dialogue, None, expected="an object of turns", found=shown(value))
        return
    for label, turn in value.items():
        number = turn_number(label)
        if number is None:
            problems.add(dialogue, None, expected="turns keyed by number", found=f"the key {shown(label)}")
        else:
            yield number, turn


def one_sided(side: Side, number: int, items: Items, system: str | None = None, user: str | None = None) -> Turn:
    """A turn of a file with one side."""
    turn = Turn(number, system=system, user=user)
    setattr(turn, side, items)
    return turn


def by_number(dialogue: str, turns: list[Turn], problems: Problems) -> list[Turn]:
    """Turns sorted by number; a number that stands twice is a problem."""
    numbers = [turn.number for turn in turns]
    if all(map(lt, numbers, numbers[1:])):
        return turns
    ordered = sorted(turns, key=lambda turn: turn.number)
    for number, following in pairwise(turn.number for turn in ordered):
        if number == following:
            problems.add(dialogue, number, expected="each turn once", found="it twice", remedy="Keep one of them.")
    return ordered


def falls(turns: list[Turn]) -> bool:
    """Whether a turn has a lower number than the one before it."""
    numbers = [turn.number for turn in turns]
    return any(map(gt, numbers, numbers[1:]))


class Grouped(Flattener):
    """Gathers turns that a file lists one by one, and gives the dialogues in the order of their first turn."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.turns: dict[str, list[Turn]] = {}
        self.doubled: set[str] = set()

    def add(self, dialogue: str, turn: Turn) -> None:
        """Take in one turn; a slot that one of its states names twice marks the dialogue."""
        self.total += 1
        self.turns.setdefault(dialogue, []).append(turn)
        frames = [*(turn.ref_frames or ()), *(turn.pred_frames or ())]
        if any(map(is_doubled, (turn.ref, turn.pred, *(frame.items for frame in frames)))):
            self.doubled.add(dialogue)

    def place(
        self, line: str, name: object, label: object, record: object, expected: str
    ) -> tuple[str, int] | None:
        """Dialogue and turn where a record has a name and a number; otherwise a problem is noted."""
        number = turn_number(label)
        name = str(name) if _is_integer(name) else name
        if isinstance(name, str) and name.strip() and number is not None:
            return name, number
        self.total += 1
        self.note_line(line, expected, shown(record))
        return None

    def check(self) -> None:
        """Raise ReadError for what was wrong, once all is read."""
        self.problems.check(self.total)

    def dialogues(
        self, updates: tuple[Side, ...] = (), gaps: bool = False, keyed: bool = True, nested: bool = False
    ) -> Iterator[Dialogue]:
        """The dialogues, once all problems have been checked; ``nested`` where an object of turns has an order."""
        ordered = {name: by_number(name, turns, self.problems) for name, turns in self.turns.items()}
        self.check()
        for name, turns in ordered.items():
            shuffled = nested and falls(self.turns[name])
            yield Dialogue(name, turns, name in self.doubled, updates, gaps, keyed=keyed, shuffled=shuffled)
