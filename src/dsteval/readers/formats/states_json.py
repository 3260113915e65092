"""Plain states: {dialogue: [state, ...]} or {dialogue: {turn: state}}, flat or nested by domain; one side."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.readers.base import Flattener, Options, Reader, Sign, Sureness, by_number, one_sided, turn_number
from dsteval.readers.source import Source

# Keys of turns in other tools' files: an object that has one of them is not a state.
_FOREIGN_WORDS = (
    "response state active_domains bspn bspn_gen log goal turns turn_belief pred_belief pred_bs_ptr gt pr pred "
    "generated_turn_belief dialogue_state speaker metadata frames text utterance"
)
_FOREIGN = frozenset(_FOREIGN_WORDS.split())


class _StatesJson(Reader):
    """Reads one side. A list numbers its turns by position, an object by its keys."""

    name = "dsteval-json"
    about = "states: {dialogue: [state, ...]} or {dialogue: {turn: state}}, flat or nested by domain"
    sides = "one"

    def sniff(self, source: Source) -> Sign | None:
        """Dialogues that are lists of states, or objects of states under numbers."""
        record: Any = source.first_record if source.kind == "object" else None
        values = record if isinstance(record, list) else record.values() if isinstance(record, dict) else ()
        objects = [value for value in values if isinstance(value, dict)]
        if not objects or any(_FOREIGN & value.keys() for value in objects):
            return None
        if isinstance(record, list):
            return Sign("dialogues that are lists of states", Sureness.GENERIC)
        keyed = any(turn_number(label) is not None for label, value in record.items() if isinstance(value, dict))
        return Sign("dialogues that are objects of states by turn", Sureness.GENERIC) if keyed else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """Each dialogue of the object."""
        flattener = Flattener(source.name)
        for name, (value, doubled) in source.dialogues():
            turns = flattener.counted(_turns(name, value, side, flattener))
            yield Dialogue(name, turns, doubled, options.updated(side), keyed=isinstance(value, dict))
        flattener.problems.check(flattener.total)


def _turns(name: str, value: Any, side: Side, flattener: Flattener) -> list[Turn]:
    problems = flattener.problems
    turns: list[Turn] = []
    if not isinstance(value, dict | list | tuple):
        flattener.note(name, None, "a list of states, or states by turn", value)
        return turns
    for label, state in value.items() if isinstance(value, dict) else enumerate(value):
        number = turn_number(label)
        if number is None:
            problems.add(name, None, expected="turns keyed by number", found=f"the key {label!r}")
        else:
            turns.append(one_sided(side, number, flattener.items(state, name, number)))
    return by_number(name, turns, problems)


STATES_JSON = _StatesJson()
