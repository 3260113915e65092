"""What is odd about the values of a file, as written: nothing is refused, but it can move a number."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TypeAlias

from dsteval.dialogue import Dialogue, Item, Items, Side
from dsteval.prepare import written_states
from dsteval.values.normalise import DONTCARE, is_deletion, spelling, times
from dsteval.values.slots import canonical, domain_of

__all__ = ["KINDS", "Example", "Fact", "facts"]

KEPT = 20  # examples of a fact
_NAMED = 5  # slots in a sentence
_MOST = 0.9  # of the turns, for a file to count as one that lists every slot
_NONE = frozenset({"", "none", "not mentioned"})

KINDS: dict[str, str] = {
    "none-in-ref": "exact and normalised drop '', none and not mentioned, gca drops none alone, fga-official and "
    "fga-paper count each as a value (states.absent)",
    "lists-every-slot": "exact and normalised drop these words; a protocol without states.absent, such as "
    "fga-official, counts each as a value",
    "outside-ontology": "exact looks at no ontology: such a value is right where both sides have it",
    "not-in-ontology": "their values were not looked up",
    "variant-spellings": "exact takes case and white space for one value, normalised also spellings and times; "
    "what differs by punctuation or 'the' is two values under both",
    "hyphens": "SlotAccuracy(split=last), which fga-official and gca take, cuts slot and value at the last hyphen, "
    "so that a wrong one can count twice; split=first does not",
    "sets": "exact takes a prediction for right if all of it is among the reference's values; "
    "states.alternatives=first takes the first; fga-official, fga-paper and gca compare a text as written and "
    "refuse a list",
    "dontcare": "exact and normalised take all spellings for one value; states.dontcare=literal, as fga-official, "
    "fga-paper and gca have it, compares them as written",
    "dontcare-or-none": "each is a wrong slot under exact; --set states.dontcare=drop makes dontcare and not set the "
    "same on both sides, drop-ref and drop-pred drop it on one",
    "never-predicted": "each is a wrong slot wherever the reference has it: look for another spelling of the slot "
    "among the predicted ones, or for a domain that the tracker was not made for",
}
"""The kinds of facts, each with what protocols and options make of it; ``none-in-pred`` is as ``none-in-ref``."""

Texts: TypeAlias = frozenset[str]
_State: TypeAlias = dict[str, Texts]
_Triple: TypeAlias = tuple[str, Texts | None, Texts | None]


@dataclass(frozen=True)
class Example:
    """A place where a fact is seen: the first of ``count`` values (or pairs of values) that are written alike.

    ``values`` are the texts as written: several where a slot has several or where they are compared with each
    other. Of two sides the reference's stands first, and None is a slot that a side lacks.
    """

    dialogue: str
    turn: int
    slot: str
    values: tuple[str | None, ...]
    count: int


@dataclass(frozen=True)
class Fact:
    """One thing noticed about values.

    ``side`` is ref, pred or both. ``about`` is a sentence with the figures: ``values`` is the number of values
    that are concerned (a slot that has one at five turns counts five), ``turns`` that of turns with one, ``slots``
    the values by slot. ``examples`` are the most frequent ones; ``advice`` is what protocols and options do.
    """

    kind: str
    side: str
    about: str
    turns: int
    values: int
    slots: dict[str, int]
    examples: tuple[Example, ...]
    advice: str


def facts(dialogues: Iterable[Dialogue], ontology: Mapping[str, Collection[str]] | None = None) -> list[Fact]:
    """The facts of dialogues with both sides, as they were paired, or with one; clean ones have none.

    ``ontology`` maps canonical slot names to values. Slot names are compared in their canonical spelling, values
    as written unless told otherwise, whatever the protocol: null and '', none, not mentioned are no values.

    >>> from dsteval.dialogue import Turn
    >>> said = [("hotel-area", "centre"), ("hotel-name", "a-b")]
    >>> odd = facts([Dialogue("d", [Turn(0, said, [("hotel-area", "center")])])])
    >>> [(fact.kind, fact.turns, fact.values) for fact in odd]
    [('variant-spellings', 1, 1), ('hyphens', 1, 1), ('never-predicted', 1, 1)]
    """
    held = {"ref": _Held("ref"), "pred": _Held("pred")}
    for dialogue in dialogues:
        for one in held.values():
            one.add(dialogue)
    sides = [one for one in held.values() if one.states]
    if len(sides) == 1:
        sides[0].told = "states"
    found = [fact for one in sides for fact in _none(one)]
    if ontology is not None:
        found += _ontology(sides, {slot: _known(values) for slot, values in ontology.items()})
    found += [fact for one in sides for fact in _variants(one)]
    wrong = _Wrong(held["ref"], held["pred"]) if len(sides) == 2 else None
    if wrong is not None:
        found += _between(wrong)
    found += _hyphens(sides, wrong)
    found += [fact for one in sides for fact in _sets(one)]
    found += _dontcare(sides)
    if wrong is not None:
        found += [*_dontcare_or_none(wrong), *_never(wrong)]
    return found


class _Held:
    """One side as written: its states in order, how often each item stands there, and at which state first."""

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self.told = "reference" if side == "ref" else "predictions"
        self.places: list[tuple[str, int]] = []
        self.states: list[Items] = []
        self.counts: Counter[Item] = Counter()
        self.first: dict[Item, int] = {}
        self._read: dict[Item, tuple[str, Texts]] = {}

    def add(self, dialogue: Dialogue) -> None:
        """Take in the states of a dialogue, updates as whole ones."""
        written = written_states(dialogue, self.side)
        if self.side in dialogue.updates:
            written = _whole(written)
        for turn, items in zip(dialogue.turns, written, strict=bool(written)):
            for item in set(items).difference(self.first):
                self.first[item] = len(self.states)
            self.counts.update(items)
            self.states.append(items)
            self.places.append((dialogue.id, turn.number))

    def read(self, item: Item) -> tuple[str, Texts]:
        """The canonical slot of an item, and its texts, alternatives apart; none where it is not set."""
        found = self._read.get(item)
        if found is None:
            # '<' and '>' stand between alternatives in references; in a prediction they are letters.
            signs = "[|]" if self.told == "predictions" else "[|<>]"
            parts = [part for text in _texts(item) for part in re.split(signs, text)]
            if len(parts) > 1:
                parts = [part.strip() for part in parts]
            texts = frozenset(part for part in parts if _fold(part) not in _NONE)
            found = self._read[item] = canonical(item[0]), texts
        return found

    def state(self, items: Items) -> _State:
        """The texts of every slot that is listed."""
        pairs = [self.read(item) for item in items]
        state = dict(pairs)
        # Where a slot stands twice, what is set wins.
        return state if len(state) == len(pairs) else dict(sorted(pairs, key=lambda pair: bool(pair[1])))

    def set(self) -> Iterator[tuple[Item, str, Texts, int]]:
        """Each item that is set, with its slot, its texts and how often it stands there."""
        for item, count in self.counts.items():
            slot, texts = self.read(item)
            if texts:
                yield item, slot, texts, count

    @property
    def values(self) -> int:
        """How many values there are in all states together."""
        return sum(count for *_, count in self.set())

    def turns(self, items: Collection[Item]) -> int:
        """How many turns hold one of these items."""
        flagged = set(items)
        return sum(not flagged.isdisjoint(state) for state in self.states)

    def example(self, item: Item, values: Iterable[str], count: int) -> Example:
        """An example at the first place of an item."""
        return Example(*self.places[self.first[item]], canonical(item[0]), tuple(values), count)

    def fact(self, kind: str, items: Collection[Item], about: Callable[[int, int, str], str]) -> Iterator[Fact]:
        """The fact that these items stand there, if there are any.

        ``about`` makes the sentence of their number, that of turns, and the slots.
        """
        if not items:
            return
        slots: Counter[str] = Counter()
        for item in items:
            slots[canonical(item[0])] += self.counts[item]
        turns = self.turns(items)
        examples = [self.example(item, _texts(item), self.counts[item]) for item in items]
        sentence = f"{self.told}: {about(slots.total(), turns, _listed(slots))}"
        yield Fact(
            kind, self.side, sentence, turns, slots.total(), _by_count(slots), _first(examples), _advice(kind)
        )


class _Wrong:
    """The slots whose texts differ between the two sides, each with the numbers of the turns."""

    def __init__(self, ref: _Held, pred: _Held) -> None:
        self.ref, self.pred = ref, pred
        self.turns: defaultdict[_Triple, list[int]] = defaultdict(list)
        for number, (ref_items, pred_items) in enumerate(zip(ref.states, pred.states, strict=True)):
            refs, preds = ref.state(ref_items), pred.state(pred_items)
            if refs == preds:
                continue
            for slot in refs.keys() | preds.keys():
                r, p = refs.get(slot), preds.get(slot)
                if (r or None) != (p or None):
                    self.turns[slot, r, p].append(number)

    def fact(self, kind: str, triples: Collection[_Triple], about: Callable[[int, int], str]) -> Iterator[Fact]:
        """The fact that these slots differ, if any do."""
        if not triples:
            return
        slots: Counter[str] = Counter()
        for triple in triples:
            slots[triple[0]] += len(self.turns[triple])
        turns = len(self.numbers(triples))
        examples = [
            Example(
                *self.ref.places[self.turns[triple][0]], slot, (_text(ref), _text(pred)), len(self.turns[triple])
            )
            for triple in triples
            for slot, ref, pred in [triple]
        ]
        sentence = about(slots.total(), turns) + f": {_listed(slots)}"
        yield Fact(kind, "both", sentence, turns, slots.total(), _by_count(slots), _first(examples), _advice(kind))

    def numbers(self, triples: Iterable[_Triple]) -> set[int]:
        """The turns of these slots."""
        return {number for triple in triples for number in self.turns[triple]}


def _none(held: _Held) -> Iterator[Fact]:
    """Words for "not set" where the slot could have been left out, or in a file that lists every slot."""
    items = [item for item in held.counts if item[1] is not None and not held.read(item)[1]]
    if not items:
        return
    words = Counter[str]()
    for item in items:
        words[" ".join(_texts(item)[:1]).strip().casefold()] += held.counts[item]
    written = ", ".join(f"{word!r} {count}" for word, count in words.most_common(_NAMED))
    if _lists_every_slot(held):
        about = f"{held.told}: lists every slot; those that are not set: {written}"
        turns = held.turns(items)
        yield Fact("lists-every-slot", held.side, about, turns, words.total(), {}, (), KINDS["lists-every-slot"])
        return
    total = held.counts.total()
    yield from held.fact(
        f"none-in-{held.side}",
        items,
        lambda n, turns, slots: (
            f"{n} of {total} slots, at {turns} of {len(held.states)} turns, are written "
            f"as not set ({written}) where others are simply left out: {slots}"
        ),
    )


def _lists_every_slot(held: _Held) -> bool:
    """Whether nearly every state has all slots of each domain that it names."""
    names = {item: canonical(item[0]) for item in held.counts}
    known: defaultdict[str, set[str]] = defaultdict(set)
    for slot in names.values():
        known[domain_of(slot)].add(slot)
    whole = 0
    states = [items for items in held.states if items]
    for items in states:
        slots = {names[item] for item in items}
        whole += len(slots) == sum(len(known[domain]) for domain in set(map(domain_of, slots)))
    return whole >= _MOST * len(states)


def _ontology(sides: list[_Held], ontology: Mapping[str, Collection[str]]) -> Iterator[Fact]:
    """Values, dontcare apart, that the ontology does not have for their slot, and slots that it lacks."""
    for held in sides:
        items = [
            item
            for item, slot, texts, _ in held.set()
            if slot in ontology
            and not {_same(text) for text in texts if _same(text) != "dontcare"}.issubset(ontology[slot])
            and _fold("|".join(_texts(item))) not in ontology[slot]
        ]
        about = partial(_of, held, "are not in the ontology")
        yield from held.fact("outside-ontology", items, about)
    for held in sides:
        lacking = [item for item, slot, *_ in held.set() if slot not in ontology]
        yield from held.fact("not-in-ontology", lacking, partial(_of, held, "have slots that the ontology lacks"))


def _known(values: Iterable[str]) -> set[str]:
    """Values of an ontology, folded; of "cheap|moderate" also the parts."""
    return {_fold(text) for value in values for text in (value, *value.split("|"))}


_LEVELS = ("by case or white space", "by spelling or form of time", "by punctuation or 'the'")


def _variants(held: _Held) -> Iterator[Fact]:
    """Values of one slot, on one side, that may be one value."""
    groups: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    holders: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item, slot, texts, count in held.set():
        for text in texts:
            if _same(text) != "dontcare" and (key := _key(slot, text)):
                groups[slot, key][text] += count
                holders[slot, text].append(item)
    levels: Counter[int] = Counter()
    slots: Counter[str] = Counter()
    rare: list[Item] = []
    examples = []
    for (slot, _), texts_of in groups.items():
        if len(texts_of) < 2:
            continue
        spelt = sorted(texts_of, key=lambda text: (-texts_of[text], text))
        levels[_level(slot, frozenset(spelt[1:]), frozenset(spelt[:1]))] += 1
        rarer = texts_of.total() - texts_of[spelt[0]]
        slots[slot] += rarer
        rare += [item for text in spelt[1:] for item in holders[slot, text]]
        examples.append(held.example(min(holders[slot, spelt[1]], key=held.first.__getitem__), spelt, rarer))
    if not examples:
        return
    turns = held.turns(rare)
    about = (
        f"{held.told}: {_of(held, 'are a rarer spelling', slots.total(), turns, _listed(slots))}; "
        f"{len(examples)} with several spellings, which differ {_by_level(levels)}"
    )
    kind = "variant-spellings"
    yield Fact(kind, held.side, about, turns, slots.total(), _by_count(slots), _first(examples), KINDS[kind])


def _between(wrong: _Wrong) -> Iterator[Fact]:
    """Slots whose two values may be one value that is spelt in two ways."""
    levels: Counter[int] = Counter()
    triples = []
    for triple, turns in wrong.turns.items():
        slot, ref, pred = triple
        # An accepted text that is predicted as it is written is no variant.
        if not ref or not pred or pred <= ref or any(_same(text) == "dontcare" for text in pred):
            continue
        keys = {_key(slot, text) for text in pred}
        if "" not in keys and keys <= {_key(slot, text) for text in ref}:
            levels[_level(slot, pred, ref)] += len(turns)
            triples.append(triple)
    yield from wrong.fact(
        "variant-spellings",
        triples,
        lambda n, turns: (
            f"between the sides: {n} predicted values, at {turns} of {len(wrong.ref.states)} turns, are "
            f"the reference's in another spelling, {_by_level(levels)}"
        ),
    )


def _by_level(levels: Counter[int]) -> str:
    return ", ".join(f"{levels[number]} {told}" for number, told in enumerate(_LEVELS) if levels[number])


def _level(slot: str, some: Texts, others: Texts) -> int:
    """How much must be evened out until each of some texts is among the others."""
    if set(map(_fold, some)) <= set(map(_fold, others)):
        return 0
    evened = partial(_evened, slot)
    return 1 if set(map(evened, some)) <= set(map(evened, others)) else 2


def _hyphens(sides: list[_Held], wrong: _Wrong | None) -> Iterator[Fact]:
    """Values with a hyphen, and how many wrong slots have one on either side."""
    slots: Counter[str] = Counter()
    examples, told = [], []
    turns: set[int] = set()
    for held in sides:
        items = {item for item, _, texts, _ in held.set() if any("-" in text for text in texts)}
        for item in items:
            slots[canonical(item[0])] += held.counts[item]
        examples += [held.example(item, _texts(item), held.counts[item]) for item in items]
        turns.update(n for n, state in enumerate(held.states) if not items.isdisjoint(state))
        told.append(f"{held.told} {sum(held.counts[item] for item in items)} of {held.values}")
    if not examples:
        return
    about = f"values with a hyphen: {', '.join(told)}"
    if wrong is not None:
        triples = [triple for triple in wrong.turns if not _right(*triple)]
        hit = sum(
            len(wrong.turns[t]) for t in triples if any("-" in text for side in t[1:] for text in side or ())
        )
        about += f"; they stand in {hit} of {sum(len(wrong.turns[t]) for t in triples)} wrong slots"
    side = "both" if len(sides) == 2 else sides[0].side
    about += f": {_listed(slots)}"
    count = slots.total()
    yield Fact("hyphens", side, about, len(turns), count, _by_count(slots), _first(examples), KINDS["hyphens"])


def _sets(held: _Held) -> Iterator[Fact]:
    """Values that are several: a list, or a text with signs between alternatives."""
    items = [item for item, _, texts, _ in held.set() if len(texts) > 1]
    yield from held.fact("sets", items, partial(_of, held, "are several"))


def _dontcare(sides: list[_Held]) -> Iterator[Fact]:
    """Spellings of dontcare, unless it is "dontcare" throughout."""
    slots: Counter[str] = Counter()
    spelt: set[str] = set()
    told, examples, turns = [], [], set[int]()
    for held in sides:
        items = {item for item, _, texts, _ in held.set() if any(_same(text) == "dontcare" for text in texts)}
        words: Counter[str] = Counter()
        best: dict[str, Item] = {}
        for item in items:
            slots[canonical(item[0])] += held.counts[item]
            for text in held.read(item)[1]:
                if _same(text) == "dontcare":
                    words[text] += held.counts[item]
                    best[text] = min(best.get(text, item), item, key=held.first.__getitem__)
        turns.update(n for n, state in enumerate(held.states) if not items.isdisjoint(state))
        examples += [held.example(best[text], [text], count) for text, count in words.items()]
        spelt.update(words)
        if words:
            told.append(f"{held.told} " + ", ".join(f"{text!r} {n}" for text, n in words.most_common()))
    if spelt <= {"dontcare"}:
        return
    side = "both" if len(sides) == 2 else sides[0].side
    about = f"spellings of dontcare: {'; '.join(told)}"
    count = slots.total()
    yield Fact("dontcare", side, about, len(turns), count, _by_count(slots), _first(examples), KINDS["dontcare"])


def _dontcare_or_none(wrong: _Wrong) -> Iterator[Fact]:
    """Slots that are dontcare on one side and not set on the other."""
    missed = [triple for triple in wrong.turns if _is_dontcare(triple[1]) and not triple[2]]
    spurious = [triple for triple in wrong.turns if _is_dontcare(triple[2]) and not triple[1]]
    lost, added = (sum(len(wrong.turns[triple]) for triple in triples) for triples in (missed, spurious))
    written = sum(len(wrong.turns[triple]) for triple in spurious if triple[1] is not None)
    aside = f", which writes it as not set at {written}" if written else ""
    yield from wrong.fact(
        "dontcare-or-none",
        [*missed, *spurious],
        lambda n, turns: (
            f"dontcare against not set: {n} slots at {turns} of {len(wrong.ref.states)} turns: {lost} "
            f"that the predictions lack, {added} that the reference lacks{aside}"
        ),
    )


def _never(wrong: _Wrong) -> Iterator[Fact]:
    """Slots of the reference that no prediction ever has."""
    predicted = {slot for _, slot, *_ in wrong.pred.set()}
    items = [item for item, slot, *_ in wrong.ref.set() if slot not in predicted]
    slots = {canonical(item[0]) for item in items}
    yield from wrong.ref.fact(
        "never-predicted",
        items,
        partial(_of, wrong.ref, f"have slots that are never predicted, {len(slots)} in number"),
    )


def _of(held: _Held, told: str, count: int, turns: int, slots: str) -> str:
    return f"{count} of {held.values} values, at {turns} of {len(held.states)} turns, {told}: {slots}"


def _advice(kind: str) -> str:
    return KINDS["none-in-ref" if kind == "none-in-pred" else kind]


def _listed(slots: Counter[str]) -> str:
    shown = list(_by_count(slots).items())
    return ", ".join(f"{slot} {count}" for slot, count in shown[:_NAMED]) + (", ..." if shown[_NAMED:] else "")


def _by_count(slots: Counter[str]) -> dict[str, int]:
    return dict(sorted(slots.items(), key=lambda pair: (-pair[1], pair[0])))


def _first(examples: Iterable[Example]) -> tuple[Example, ...]:
    """The most frequent ones; what has no other order goes by its text."""
    return tuple(sorted(examples, key=lambda e: (-e.count, e.slot, str(e.values), e.dialogue, e.turn))[:KEPT])
