"""SimpleTOD's output: by dialogue, a list of beliefs a turn, each a list of 'domain slot value'; both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn
from dsteval.readers.base import Flattener, Grouped, Options, Reader, Sign, are_texts, fields, record_keys
from dsteval.readers.source import Source

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

    def sniff(self, source: Source) -> Sign | None:
        """Dialogues with target_turn_belief and generated_turn_belief."""
        fits = {_REF, _PRED} <= record_keys(source, "object")
        return Sign(f"dialogues with {_REF} and {_PRED}") if fits else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogues, in the order of the file."""
        turns = Grouped(source.name)
        for name, chunk in source.dialogues():
            _read_dialogue(name, chunk.value, turns)
        return turns.dialogues(options.updated(), keyed=False)


def _read_dialogue(name: str, value: Any, turns: Grouped) -> None:
    flattener = turns.flattener
    turns.turns.setdefault(name, [])
    beliefs = fields(value, flattener.where(name))
    refs, preds, texts = (beliefs.get(key) for key in (_REF, _PRED, _USER))
    if not isinstance(refs, list) or not isinstance(preds, list):
        flattener.note(name, None, f"an object with {_REF} and {_PRED}, two lists", value)
        return
    texts = [None] * len(refs) if texts is None else texts if isinstance(texts, list) else []
    lengths = [len(refs), len(preds), len(texts)]
    if len(set(lengths)) > 1:
        expected = f"{_REF}, {_PRED} and, if any, {_USER} of one length"
        flattener.problems.add(name, None, expected=expected, found=" and ".join(map(str, lengths)))
        turns.total += max(lengths)
        return
    for number, (*states, text) in enumerate(zip(refs, preds, texts, strict=True)):
        ref, pred = (_items(state, name, number, flattener) for state in states)
        turns.add(name, Turn(number, ref, pred, user=flattener.utterance(text, name, number)))


def _items(texts: Any, name: str, number: int, flattener: Flattener) -> Items:
    if are_texts(texts):
        return list(map(_item, texts))
    flattener.note(name, number, "a list of texts 'domain slot value'", texts)
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
