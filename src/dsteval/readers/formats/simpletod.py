"""SimpleTOD's output: by dialogue, a list of beliefs a turn, each a list of 'domain slot value'; both sides."""

from collections.abc import Iterator
from typing import Any

from dsteval.dialogue import Item, Items
from dsteval.readers.base import Flattener, Grouped, are_texts
from dsteval.readers.json_format import JsonFormat


class _Simpletod(JsonFormat):
    """A dialogue is an object of lists, one for each field, of one length: the position of a turn is its number.

    A text that is no 'domain slot value' stays, as a slot of that name with an empty value: SimpleTOD's own scorer
    trips over such texts, and its figures depend on where they are.
    """

    def sample(self, record: Any) -> list[Any]:
        """The dialogue, which has the fields of its turns."""
        return [record]

    def dialogue(self, name: str, value: Any, turns: Grouped) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """The turns across the lists."""
        lists = turns.fields(value, name)
        refs, preds, texts = (lists.get(key) for key in (self.ref, self.pred, self.user))
        if not isinstance(refs, list) or not isinstance(preds, list):
            turns.note(name, None, f"an object with {self.ref} and {self.pred}, two lists", value)
            return
        texts = [None] * len(refs) if texts is None else texts if isinstance(texts, list) else []
        lengths = [len(refs), len(preds), len(texts)]
        if len(set(lengths)) > 1:
            expected = f"{self.ref}, {self.pred} and, if present, {self.user} of equal length"
            turns.problems.add(name, None, expected=expected, found=" and ".join(map(str, lengths)))
            turns.total += max(lengths)
            return
        for number, (ref, pred, text) in enumerate(zip(refs, preds, texts, strict=True)):
            yield name, number, {self.ref: ref, self.pred: pred, self.user: text}


def _items(flattener: Flattener, texts: Any, name: str, number: int) -> Items:
    if are_texts(texts):
        return list(map(_item, texts))
    flattener.note(name, number, "a list of strings 'domain slot value'", texts)
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


SIMPLETOD = _Simpletod(
    name="simpletod",
    about=(
        "SimpleTOD output: {dialogue: {target_turn_belief, generated_turn_belief}}, lists of 'domain slot value'"
    ),
    sign="dialogues with target_turn_belief and generated_turn_belief",
    expected="",
    layout="list",
    ref="target_turn_belief",
    pred="generated_turn_belief",
    user="target_user",
    written=_items,
)
