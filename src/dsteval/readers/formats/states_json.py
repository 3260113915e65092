"""Plain states: {dialogue: [state, ...]} or {dialogue: {turn: state}}, flat or nested by domain; one side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, by_number, one_sided, shown, turn_number
from dsteval.readers.json_pairs import Pairs, decode
from dsteval.readers.source import Source

__all__ = ["STATES_JSON"]

# Keys of turns in other tools' files: an object that has one of them is not a state.
_FOREIGN = frozenset(
    [
        "response",
        "state",
        "active_domains",
        "bspn",
        "bspn_gen",
        "log",
        "goal",
        "turns",
        "turn_belief",
        "pred_belief",
        "pred_bs_ptr",
        "gt",
        "pr",
        "pred",
        "generated_turn_belief",
        "dialogue_state",
        "speaker",
        "metadata",
        "frames",
        "text",
        "utterance",
    ]
)


class _StatesJson(Reader):
    """Reads one side. A list numbers its turns by position, an object by its keys."""

    name = "dsteval-json"
    about = "states: {dialogue: [state, ...]} or {dialogue: {turn: state}}, flat or nested by domain"
    sides = "one"

    def sniff(self, source: Source) -> str:
        """Dialogues that are lists of states, or objects of states under numbers."""
        record = source.first_record
        if source.kind != "object":
            return ""
        if isinstance(record, list):
            states = any(map(_is_state, record)) and not any(map(_is_foreign, record))
            return "dialogues that are lists of states" if states else ""
        if not isinstance(record, dict) or any(map(_is_foreign, record.values())):
            return ""
        keyed = any(turn_number(label) is not None and _is_state(state) for label, state in record.items())
        return "dialogues that are objects of states by turn" if keyed else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        total = 0
        for name, raw in source.members():
            value, doubled = decode(raw, f"{source.name}, dialogue {name!r}")
            turns = _turns(name, value, side, flattener)
            total += len(turns)
            keyed = isinstance(value, dict | Pairs)
            yield Dialogue(name, turns, doubled, options.updated(side), keyed=keyed)
        flattener.problems.check(total)


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and not _FOREIGN & value.keys()


def _is_foreign(value: Any) -> bool:
    return isinstance(value, dict) and bool(_FOREIGN & value.keys())


def _turns(name: str, value: Any, side: Side, flattener: Flattener) -> list[Turn]:
    problems = flattener.problems
    states: list[tuple[Any, Any]] = []
    if isinstance(value, Pairs):
        states = list(value)
    elif isinstance(value, dict):
        states = list(value.items())
    elif isinstance(value, list | tuple):
        states = list(enumerate(value))
    else:
        problems.add(name, None, expected="a list of states, or states by turn", found=shown(value))
    turns: list[Turn] = []
    for label, state in states:
        number = turn_number(label)
        if number is None:
            problems.add(name, None, expected="turns keyed by number", found=f"the key {label!r}")
            continue
        turns.append(one_sided(side, number, flattener.items(state, name, number)))
    return by_number(name, turns, problems)


STATES_JSON = _StatesJson()
