"""SimpleTOD's output: by dialogue, a list of beliefs a turn, each a list of 'domain slot value'; both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, fields, shown
from dsteval.readers.json_pairs import decode
from dsteval.readers.source import Source

__all__ = ["SIMPLETOD"]

_REF, _PRED, _USER = "target_turn_belief", "generated_turn_belief", "target_user"


class _Simpletod(Reader):
    """Reads {dialogue: {"target_turn_belief": [[...], ...], "generated_turn_belief": [...], "target_user"}}.

    The position of a turn is its number. A text that is no 'domain slot value' stays, as a slot of that name
    with an empty value: SimpleTOD's own scorer trips over such texts, and its figures depend on where they are.
    """

    name = "simpletod"
    about = (
        "SimpleTOD output: {dialogue: {target_turn_belief, generated_turn_belief}}, lists of 'domain slot value'"
    )
    sides = "both"

    def sniff(self, source: Source) -> str:
        """Dialogues with target_turn_belief and generated_turn_belief."""
        record = source.first_record
        fits = source.kind == "object" and isinstance(record, dict) and {_REF, _PRED} <= record.keys()
        return f"dialogues with {_REF} and {_PRED}" if fits else ""

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, in the order of the file."""
        turns = Grouped(Flattener(source.name))
        for name, raw in source.members():
            _read_dialogue(name, decode(raw, f"{source.name}, dialogue {name!r}").value, turns)
        return turns.dialogues(options.updated(), keyed=False)


def _read_dialogue(name: str, value: Any, turns: Grouped) -> None:
    problems = turns.flattener.problems
    turns.turns.setdefault(name, [])
    found = fields(value, f"{problems.source}, dialogue {name!r}")
    if not all(isinstance(found.get(key), list) for key in (_REF, _PRED)):
        problems.add(name, None, expected=f"an object with {_REF} and {_PRED}, two lists", found=shown(value))
        return
    texts = found.get(_USER)
    said = [None] * len(found[_REF]) if texts is None else texts if isinstance(texts, list) else []
    lengths = [len(one) for one in (found[_REF], found[_PRED], said)]
    if len(set(lengths)) > 1:
        expected = f"{_REF}, {_PRED} and, if any, {_USER} of one length"
        problems.add(name, None, expected=expected, found=" and ".join(map(str, lengths)))
        turns.total += max(lengths)
        return
    for number, (*states, text) in enumerate(zip(found[_REF], found[_PRED], said, strict=True)):
        ref, pred = (_items(state, name, number, turns.flattener) for state in states)
        turns.add(name, Turn(number, ref, pred, user=turns.flattener.utterance(text, name, number)))


def _items(texts: Any, name: str, number: int, flattener: Flattener) -> Items:
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
        return list(map(_item, texts))
    flattener.problems.add(name, number, expected="a list of texts 'domain slot value'", found=shown(texts))
    return []


def _item(text: str) -> Item:
    """One text as slot and value; a booking slot has two words.

    >>> _item("hotel area the north"), _item("hotel book day friday")
    (('hotel-area', 'the north'), ('hotel-book day', 'friday'))
    >>> _item("<|endoftext|>"), _item("hotel book day")
    (('<|endoftext|>', ''), ('hotel book day', ''))
    """
    words = text.split(maxsplit=2)
    if words[1:2] == ["book"]:
        words = text.split(maxsplit=3)
        words[1:3] = [" ".join(words[1:3])]
    return (f"{words[0]}-{words[1]}", words[2]) if len(words) == 3 else (text, "")


SIMPLETOD = _Simpletod()
