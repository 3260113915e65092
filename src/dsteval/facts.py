"""What is odd about the values of a file, as written: nothing that is refused, but what can move a number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dsteval.dialogue import Dialogue, Item
from dsteval.occurrences import Differences, Example, Group, Occurrences, Texts, texts_of
from dsteval.values.alike import LEVELS, folded, key, level
from dsteval.values.slots import canonical, domain_of

__all__ = ["KINDS", "Fact", "facts"]

_KEPT = 20  # examples of a fact
_NAMED = 5  # slots in a sentence
_MOST = 0.9  # of the turns, for a file to be one that lists every slot

_WRITTEN_NONE = (
    "exact and normalised drop '', none and not mentioned, gca drops none alone, fga-official and fga-paper count "
    "each as a value (states.absent)"
)

KINDS: dict[str, str] = {
    "lists-every-slot": _WRITTEN_NONE,
    "none-in-ref": _WRITTEN_NONE,
    "none-in-pred": _WRITTEN_NONE,
    "outside-ontology": "exact looks at no ontology: such a value is right where both sides have it",
    "not-in-ontology": "what they hold was not looked up",
    "variant-spellings": "exact takes case and white space for one value, normalised also spellings and times; "
    "what differs by punctuation, blanks or 'the' is two values under both",
    "hyphens": "SlotAccuracy(split=last), which fga-official and gca take, cuts slot and value at the last hyphen, "
    "so that a wrong one can count twice; split=first does not",
    "sets": "exact takes a prediction for right if all of it is among the reference's values; "
    "states.alternatives=first takes the first; fga-official, fga-paper and gca compare texts as written and "
    "refuse lists",
    "dontcare": "exact and normalised take all spellings for one value; fga-official, fga-paper and gca, with "
    "states.dontcare=literal, compare them as written",
    "dontcare-or-none": "each is a wrong slot under exact; states.dontcare=drop makes them the same, drop-ref and "
    "drop-pred drop dontcare on one side",
    "never-predicted": "each is a wrong slot: look for another spelling of the slot among the predicted ones, or "
    "for a domain that the tracker was not made for",
}
"""The kinds of facts, and what protocols and options make of each."""


@dataclass(frozen=True)
class Fact:
    """One thing that was noticed about values.

    ``side`` is ref, pred or both. ``about`` is a sentence with the figures: ``values`` is the number of values
    that are concerned (a slot that has one at five turns counts five), ``turns`` the number of turns with one,
    ``slots`` the number of values by slot. ``examples`` are the most frequent ones; ``advice`` tells what
    protocols and options do.
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
    """The facts of dialogues with one side, or with both as they are paired; values that are clean have none.

    ``ontology`` maps canonical slots to values. Whatever the protocol, slots are compared in their canonical
    spelling and values as written; a slot is not set where it is null, '', none or not mentioned.

    >>> from dsteval.dialogue import Turn
    >>> ref, pred = [("hotel-area", "centre"), ("hotel-name", "a-b")], [("hotel-area", "center")]
    >>> [(fact.kind, fact.side, fact.values) for fact in facts([Dialogue("d", [Turn(0, ref, pred)])])]
    [('variant-spellings', 'both', 1), ('hyphens', 'both', 1), ('never-predicted', 'ref', 1)]
    """
    ref, pred = Occurrences("ref", "reference"), Occurrences("pred", "predictions")
    for dialogue in dialogues:
        ref.add(dialogue)
        pred.add(dialogue)
    sides = [held for held in (ref, pred) if held.states]
    if len(sides) == 1:
        sides[0].told = "states"
    wrong = Differences(ref, pred) if len(sides) == 2 else None
    known = {slot: _known(values) for slot, values in (ontology or {}).items()}
    found = [fact for held in sides for fact in _unset(held)]
    found += [fact for held in sides for fact in _outside(held, known) if known]
    found += [fact for held in sides for fact in _variants(held)]
    found += _between(wrong) if wrong else ()
    found += _hyphens(sides, wrong)
    found += [fact for held in sides for fact in _sets(held)]
    found += _dontcare(sides)
    found += [*_dontcare_or_unset(wrong), *_never(wrong)] if wrong else ()
    return found


def _fact(group: Group, kind: str, side: str, about: str) -> Iterator[Fact]:
    """The fact about a group, unless that is empty; its slots are told behind the sentence."""
    if not group:
        return
    slots = dict(sorted(group.slots.items(), key=lambda pair: (-pair[1], pair[0])))
    listed = [f"{slot} {count}" for slot, count in slots.items()]
    about += f": {', '.join(listed[:_NAMED])}" + (", ..." if listed[_NAMED:] else "")
    order = sorted(group.examples, key=lambda e: (-e.count, e.slot, str(e.values), e.dialogue, e.turn))
    yield Fact(kind, side, about, len(group.turns), group.count, slots, tuple(order[:_KEPT]), KINDS[kind])


def _of(held: Occurrences, group: Group) -> str:
    return f"{group.count} of {held.total()} values, at {len(group.turns)} of {len(held.states)} turns"


def _counted(words: Counter[str]) -> str:
    return ", ".join(f"{word!r} {count}" for word, count in words.most_common())


def _unset(held: Occurrences) -> Iterator[Fact]:
    """Words for "not set", where the slot could have been left out or in a file that lists every slot."""
    items = [item for item in held.counts if texts_of(item) and not held.read(item)[1]]
    group, words = held.group(items), Counter[str]()
    for item in items:
        words[folded(texts_of(item)[0])] += held.counts[item]
    total = f"{group.count} of {held.counts.total()} slots, at {len(group.turns)} of {len(held.states)} turns"
    if items and _lists_every_slot(held):
        group.examples.clear()
        about = f"{held.told}: lists every slot; {total}, are not set, written {_counted(words)}"
        yield from _fact(group, "lists-every-slot", held.side, about)
    else:
        about = f"{held.told}: {total}, are written {_counted(words)}, where others are left out"
        yield from _fact(group, f"none-in-{held.side}", held.side, about)


def _lists_every_slot(held: Occurrences) -> bool:
    """Whether nearly every state has all slots of each domain that it names."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    for item in held.counts:
        known[domain_of(canonical(item[0]))].add(canonical(item[0]))
    states = [{canonical(slot) for slot, _ in items} for items in held.states if items]
    whole = sum(len(slots) == sum(len(known[one]) for one in set(map(domain_of, slots))) for slots in states)
    return whole >= _MOST * len(states)


def _known(values: Iterable[str]) -> Texts:
    """Values of an ontology; of "cheap|moderate" the parts too."""
    return frozenset(folded(text) for value in values for text in (value, *value.split("|")))


def _outside(held: Occurrences, ontology: Mapping[str, Texts]) -> Iterator[Fact]:
    """Values, dontcare apart, that the ontology lacks for their slot, and slots that it lacks."""
    odd = [
        item
        for item in held.where(lambda slot, texts: slot in ontology)
        for slot, texts in [held.read(item)]
        if not set(map(folded, texts)) - {"dontcare"} <= ontology[slot]
        and folded("|".join(texts_of(item))) not in ontology[slot]
    ]
    group = held.group(odd)
    about = f"{held.told}: {_of(held, group)}, are not in the ontology"
    yield from _fact(group, "outside-ontology", held.side, about)
    group = held.group(held.where(lambda slot, texts: slot not in ontology))
    about = f"{held.told}: {_of(held, group)}, have slots that the ontology lacks"
    yield from _fact(group, "not-in-ontology", held.side, about)


def _variants(held: Occurrences) -> Iterator[Fact]:
    """Texts of one slot, on one side, that may be one value."""
    holders: defaultdict[tuple[str, str], dict[str, list[Item]]] = defaultdict(dict)
    for item in held.where():
        slot, texts = held.read(item)
        for text in texts:
            if folded(text) != "dontcare":
                holders[slot, key(slot, text) or text].setdefault(text, []).append(item)
    levels: Counter[int] = Counter()
    rare: list[Item] = []
    examples = []
    for (slot, _), by_text in holders.items():
        counts = {text: sum(map(held.counts.__getitem__, items)) for text, items in by_text.items()}
        usual, *others = sorted(counts, key=lambda text: (-counts[text], text))
        if others:
            levels[level(slot, frozenset(others), frozenset({usual}))] += 1
            rare += [item for text in others for item in by_text[text]]
            place = min(by_text[others[0]], key=held.first.__getitem__)
            examples.append(held.example(place, [usual, *others], sum(counts[text] for text in others)))
    group = held.group(rare, examples)
    told = f"{len(examples)} distinct values have several spellings, {_by_level(levels)}"
    about = f"{held.told}: {told}; {_of(held, group)}, have a rarer one"
    yield from _fact(group, "variant-spellings", held.side, about)


def _between(wrong: Differences) -> Iterator[Fact]:
    """Slots where the prediction may be the reference's value in another spelling."""

    def alike(slot: str, ref: Texts, pred: Texts) -> bool:
        if pred <= ref or "dontcare" in map(folded, pred):
            return False
        keys = {key(slot, text) for text in pred}
        return "" not in keys and keys <= {key(slot, text) for text in ref}

    chosen = wrong.where(alike)
    levels: Counter[int] = Counter()
    for slot, ref, pred in chosen:
        levels[level(slot, pred, ref)] += len(wrong.at[slot, ref, pred])
    group = wrong.group(chosen)
    about = f"predictions: {_of(wrong.pred, group)}, are the reference's in another spelling, {_by_level(levels)}"
    yield from _fact(group, "variant-spellings", "both", about)


def _by_level(levels: Counter[int]) -> str:
    return ", ".join(f"{levels[number]} {told}" for number, told in enumerate(LEVELS) if levels[number])


def _merged(sides: list[Occurrences], holds: Callable[[str, Texts], bool]) -> tuple[Group, str]:
    """The values of all sides for which that holds, and what the side of their fact is called."""
    group = Group()
    for held in sides:
        group += held.group(held.where(holds))
    return group, "both" if len(sides) == 2 else "".join(held.side for held in sides)


def _has_hyphen(slot: str, *values: Texts) -> bool:
    return any("-" in text for texts in values for text in texts)


def _hyphens(sides: list[Occurrences], wrong: Differences | None) -> Iterator[Fact]:
    """Values with a hyphen, and how many wrong slots have one on either side."""
    group, side = _merged(sides, _has_hyphen)
    counts = [(held, held.group(held.where(_has_hyphen)).count) for held in sides]
    told = ", ".join(f"{held.told} {count} of {held.total()}" for held, count in counts)
    about = f"values with a hyphen: {told}"
    if wrong is not None:
        every = wrong.where(_is_wrong)
        hit = wrong.group(found for found in every if _has_hyphen(*found)).count
        about += f"; {hit} of {wrong.group(every).count} wrong slots have one"
    yield from _fact(group, "hyphens", side, about)


def _is_wrong(slot: str, ref: Texts, pred: Texts) -> bool:
    """Whether exact takes the slot for wrong."""
    return not pred or not set(map(folded, pred)) <= set(map(folded, ref))


def _sets(held: Occurrences) -> Iterator[Fact]:
    """Values that are several: a list, or a text with signs between alternatives."""
    group = held.group(held.where(lambda slot, texts: len(texts) > 1))
    yield from _fact(group, "sets", held.side, f"{held.told}: {_of(held, group)}, are several")


def _is_dontcare(slot: str, texts: Texts) -> bool:
    return "dontcare" in map(folded, texts)


def _dontcare(sides: list[Occurrences]) -> Iterator[Fact]:
    """Spellings of dontcare, unless it is "dontcare" throughout."""
    told: list[str] = []
    spelt: set[str] = set()
    for held in sides:
        words: Counter[str] = Counter()
        for item in held.where(_is_dontcare):
            for text in held.read(item)[1]:
                if folded(text) == "dontcare":
                    words[text] += held.counts[item]
        spelt.update(words)
        told += [f"{held.told} {_counted(words)}"] if words else []
    if not spelt <= {"dontcare"}:
        group, side = _merged(sides, _is_dontcare)
        yield from _fact(group, "dontcare", side, f"spellings of dontcare: {'; '.join(told)}")


def _dontcare_or_unset(wrong: Differences) -> Iterator[Fact]:
    """Slots that are dontcare on one side and not set on the other."""
    missed = wrong.where(lambda slot, ref, pred: _is_dontcare(slot, ref) and not pred)
    spurious = wrong.where(lambda slot, ref, pred: _is_dontcare(slot, pred) and not ref)
    group = wrong.group([*missed, *spurious])
    about = (
        f"dontcare on one side and not set on the other, at {len(group.turns)} of {len(wrong.ref.states)} turns: "
        f"{wrong.group(missed).count} in the reference, {wrong.group(spurious).count} in the predictions"
    )
    yield from _fact(group, "dontcare-or-none", "both", about)


def _never(wrong: Differences) -> Iterator[Fact]:
    """Slots of the reference that no prediction ever has."""
    predicted = {wrong.pred.read(item)[0] for item in wrong.pred.where()}
    group = wrong.ref.group(wrong.ref.where(lambda slot, texts: slot not in predicted))
    about = f"reference: {_of(wrong.ref, group)}, have one of {len(group.slots)} slots that are never predicted"
    yield from _fact(group, "never-predicted", "ref", about)
