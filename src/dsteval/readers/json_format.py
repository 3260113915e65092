"""JSON formats as data: they differ in where dialogues, turns and states lie, and under which keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dsteval.dialogue import Dialogue, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, Sign, Sureness, fields, numbered, turn_number
from dsteval.readers.source import Source

State: TypeAlias = Callable[[Flattener, Any, str, int], Items]
"""How a state is written: from its JSON, with the dialogue and the turn for messages, to its items."""

ABSENT = object()
"""What ``lookup`` finds where nothing is; null is something."""


@dataclass(frozen=True, kw_only=True)
class JsonFormat(Reader):
    """A format of JSON. Keys may be paths, ``predictions.state``, or begin a key of any ending, ``pred_bs*``.

    Attributes:
        kind: ``object``, of dialogues by id, or ``list``, of turns that name their dialogue; ``also`` is the form
            of the other kind, if the tool writes both.
        layout: what a dialogue of an object is: an ``object`` of turns by number, a ``list``, or ``either``.
        turns: the field of a dialogue that holds its turns; without one it is the dialogue itself.
        id: the field of a listed turn that names its dialogue.
        number: the field with a turn's number; without one, its key or its position is it.
        ref, pred: the fields with the states of the two sides; ``state`` that of a format with one side.
        update: the field with what the tracker changed at the turn.
        system, user: the fields with what was said.
        written: how a state is written: ``Flattener.items``, an object of slots, or ``Flattener.glued``, a list.
        needed: what every turn must have; without it the states.
        expected: how a message calls a turn that has all of it.
        ordered: whether the tool's script walks the turns in the order of the file.
        sign: the words for what the format is recognised by: a turn that has all ``marks`` (without any, what it
            needs), in a dialogue of which no turn has one of the keys ``unlike``. ``sureness`` says how sure.
    """

    name: str
    about: str
    sides: str = "both"
    sign: str
    expected: str
    kind: Literal["object", "list"] = "object"
    also: JsonFormat | None = None
    layout: Literal["object", "list", "either"] = "object"
    turns: str = ""
    id: str = ""
    number: str = ""
    ref: str = ""
    pred: str = ""
    state: str = ""
    update: str = ""
    system: str = ""
    user: str = ""
    written: State = Flattener.items
    needed: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    unlike: frozenset[str] = frozenset()
    sureness: Sureness = Sureness.SPECIFIC
    ordered: bool = False

    def sniff(self, source: Source) -> Sign | None:
        """A turn that has all marks."""
        if self.also is not None and source.kind != self.kind:
            return self.also.sniff(source)
        record = source.first_record if source.kind == self.kind else None
        turns = [turn for turn in self.sample(record) if isinstance(turn, dict)]
        place = (self.id, self.number) if self.kind == "list" else ()
        marks = self.marks or (*place, *self.fields_needed)
        fits = any(_has(turn, marks) for turn in turns) and all(map(self.unlike.isdisjoint, turns))
        return Sign(self.sign, self.sureness) if fits else None

    def sample(self, record: Any) -> list[Any]:
        """The turns of the record that a source is recognised by."""
        if self.kind == "list":
            return [record]
        if self.turns:
            record = record.get(self.turns) if isinstance(record, dict) else None
        if isinstance(record, dict) and self.layout != "list":
            return list(record.values())
        return record if isinstance(record, list) and self.layout != "object" else []

    @property
    def fields_needed(self) -> tuple[str, ...]:
        """The fields that every turn has."""
        return self.needed or tuple(filter(None, (self.ref, self.pred, self.state)))

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, their turns in order."""
        if self.also is not None and source.kind == self.also.kind:
            return self.also.read(source, side, options)
        turns = Grouped(source.name)
        for name, number, record in self.records(source, turns):
            turns.add(name, self.turn(record, name, number, side, turns))
        keyed = bool(self.number) or self.layout != "list"
        return turns.dialogues(options.updated(side if self.state else "pred"), keyed=keyed, nested=self.ordered)

    def records(self, source: Source, turns: Grouped) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Dialogue, number and fields of every turn; one that lacks something is a problem."""
        if self.kind == "list":
            for line, chunk in source.records():
                where = f"{source.name}, {line}"
                record = fields(chunk.value, where)
                name, label = self.place(record) if _has(record, self.fields_needed, where) else (None, None)
                if place := turns.place(line, name, label, chunk.value, self.expected):
                    yield *place, record
        else:
            for name, chunk in source.dialogues():
                turns.turns.setdefault(name, [])
                yield from self.dialogue(name, chunk.value, turns)

    def place(self, record: dict[str, Any]) -> tuple[Any, Any]:
        """The dialogue and the number that a listed turn names."""
        return record.get(self.id), record.get(self.number)

    def dialogue(self, name: str, value: Any, turns: Grouped) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """The turns of one member of an object."""
        if self.turns:
            inner = turns.fields(value, name).get(self.turns)
            if inner is None:
                turns.note(name, None, f'an object with "{self.turns}"', value)
                return
            value = inner
        listed = self.layout == "list" or (self.layout == "either" and isinstance(value, list))
        if listed and not isinstance(value, list):
            turns.note(name, None, "a list of turns", value)
            return
        for position, turn in enumerate(value) if listed else numbered(value, name, turns.problems):
            where = turns.where(name, position)
            record = fields(turn, where)
            number = turn_number(record.get(self.number)) if listed and self.number else position
            if number is not None and _has(record, self.fields_needed, where):
                yield name, number, record
            else:
                turns.note(name, position, self.expected, turn)
                turns.total += 1

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn out of its fields."""
        turn = Turn(number)
        sides = (("ref", self.ref), ("pred", self.pred), (side, self.state), ("pred_update", self.update))
        for target, path in sides:
            if path and (value := lookup(record, path)) is not ABSENT:
                setattr(turn, target, self.written(flattener, value, name, number))
        for target, path in (("system", self.system), ("user", self.user)):
            if path:
                setattr(turn, target, flattener.utterance(record.get(path), name, number))
        return turn


def lookup(record: dict[str, Any], path: str, where: str = "") -> Any:
    """What lies at a path, such as ``predictions.state`` or ``pred_bs*``; ABSENT where nothing does.

    Raises ReadError where an object on the way names a field twice.
    """
    if path in record:
        return record[path]
    *outer, key = path.split(".")
    for step in outer:
        record = fields(record.get(step), where)
    if key.endswith("*"):
        key = next((name for name in record if name.startswith(key[:-1])), "")
    return record.get(key, ABSENT)


def _has(record: dict[str, Any], paths: tuple[str, ...], where: str = "") -> bool:
    return all(lookup(record, path, where) is not ABSENT for path in paths)
