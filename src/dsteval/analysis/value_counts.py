"""Values as written: how often each stands in the states of a side, where first, and where two sides differ."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from dsteval.dialogue import Dialogue, Item, Items, Side, whole_states, written_states
from dsteval.values.oddities import has_mark
from dsteval.values.similarity import folded
from dsteval.values.slots import canonical

_UNSET = frozenset({"", "none", "not mentioned"})
_SIGNS = re.compile(r"[|<>]")  # between alternatives

Texts: TypeAlias = frozenset[str]
"""The texts of a value, alternatives apart; empty where the slot is not set."""

Unlike: TypeAlias = tuple[str, Texts, Texts]
"""A slot, and what reference and prediction have there."""


@dataclass(frozen=True)
class ValueExample:
    """A place where a fact is seen: the first of ``count`` values, or pairs of values, that are written alike.

    ``values`` are the texts as written: those of one value, or the spellings of one side, or what the reference
    and the prediction have, None for a slot that is not set.
    """

    dialogue: str
    turn: int
    slot: str
    values: tuple[str | None, ...]
    count: int


@dataclass
class Group:
    """Values that have something in common: how many there are by slot, in which states, and examples."""

    slots: Counter[str] = field(default_factory=Counter)
    turns: set[int] = field(default_factory=set)
    examples: list[ValueExample] = field(default_factory=list)

    def __add__(self, other: Group) -> Group:
        return Group(self.slots + other.slots, self.turns | other.turns, self.examples + other.examples)

    @property
    def count(self) -> int:
        """How many values these are; a slot that has one at five turns counts five."""
        return self.slots.total()


def texts_of(item: Item) -> tuple[str, ...]:
    """The texts of an item as written."""
    return (item[1],) if isinstance(item[1], str) else item[1] or ()


@lru_cache(maxsize=1 << 16)
def reading(item: Item) -> tuple[str, Texts]:
    """The slot of an item as written, and its texts."""
    parts = [part for text in texts_of(item) for part in ([text] if has_mark(text) else _SIGNS.split(text))]
    parts = parts if len(parts) == 1 else [part.strip() for part in parts]
    return canonical(item[0]), frozenset(part for part in parts if folded(part) not in _UNSET)


class Occurrences:
    """One side as written. Items are told apart as they are written, slots by their canonical spelling.

    A slot is not set where it is null, '', none or not mentioned.
    """

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self.name = "reference" if side == "ref" else "predictions"
        self.places: list[tuple[str, int]] = []
        self.states: list[Items] = []
        self.counts: Counter[Item] = Counter()
        self.first: dict[Item, int] = {}

    def add(self, dialogue: Dialogue) -> None:
        """Take in the states of a dialogue, if it has this side."""
        written = written_states(dialogue, self.side)
        if self.side in dialogue.updates:
            written = whole_states(written, canonical)
        for turn, items in zip(dialogue.turns if written else (), written, strict=True):
            for item in set(items).difference(self.first):
                self.first[item] = len(self.states)
            self.counts.update(items)
            self.states.append(items)
            self.places.append((dialogue.id, turn.number))

    def state(self, items: Items) -> dict[str, Texts]:
        """The texts of every slot that is listed; where one stands twice, what is set wins."""
        pairs = list(map(reading, items))
        state = dict(pairs)
        return state if len(state) == len(pairs) else dict(sorted(pairs, key=lambda pair: bool(pair[1])))

    def where(self, holds: Callable[[str, Texts], bool] = lambda slot, texts: True) -> list[Item]:
        """The items that are set and for whose slot and texts that holds."""
        return [item for item in self.counts for slot, texts in [reading(item)] if texts and holds(slot, texts)]

    def group(self, items: Iterable[Item], examples: Iterable[ValueExample] | None = None) -> Group:
        """Items wherever they stand; without ``examples`` each of them is one."""
        chosen, slots = set(items), Counter[str]()
        for item in chosen:
            slots[canonical(item[0])] += self.counts[item]
        turns = {n for n, state in enumerate(self.states) if not chosen.isdisjoint(state)}
        if examples is None:
            examples = (self.example(item, texts_of(item), self.counts[item]) for item in chosen)
        return Group(slots, turns, list(examples))

    def example(self, item: Item, values: Iterable[str], count: int) -> ValueExample:
        """An example at the first place of an item."""
        return ValueExample(*self.places[self.first[item]], canonical(item[0]), tuple(values), count)

    def total(self) -> int:
        """How many values all states have together."""
        return sum(map(self.counts.__getitem__, self.where()))


class UnlikeValues:
    """The slots whose texts differ between two sides, each with the numbers of the states where they do.

    The two sides have the same turns. A slot that is not set is the same as one that is not there.
    """

    def __init__(self, ref: Occurrences, pred: Occurrences) -> None:
        self.ref, self.pred = ref, pred
        self.at: defaultdict[Unlike, list[int]] = defaultdict(list)
        nothing: Texts = frozenset()
        for number, (ref_items, pred_items) in enumerate(zip(ref.states, pred.states, strict=True)):
            refs, preds = ref.state(ref_items), pred.state(pred_items)
            for slot in (refs.keys() | preds.keys()) if refs != preds else ():
                r, p = refs.get(slot, nothing), preds.get(slot, nothing)
                if r != p:
                    self.at[slot, r, p].append(number)

    def where(self, holds: Callable[[str, Texts, Texts], bool]) -> list[Unlike]:
        """Those for whose slot and texts that holds."""
        return [unlike for unlike in self.at if holds(*unlike)]

    def group(self, chosen: Iterable[Unlike]) -> Group:
        """Differences wherever they stand, each an example."""
        group = Group()
        for slot, ref, pred in chosen:
            numbers = self.at[slot, ref, pred]
            group.slots[slot] += len(numbers)
            group.turns.update(numbers)
            values = tuple("|".join(sorted(texts)) if texts else None for texts in (ref, pred))
            group.examples.append(ValueExample(*self.ref.places[numbers[0]], slot, values, len(numbers)))
        return group
