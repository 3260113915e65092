"""What is odd about the values of a file, as written: nothing that is refused, but what can move a number."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dsteval.analysis.value_counts import Group, Occurrences, Texts, UnlikeValues, ValueExample, reading, texts_of
from dsteval.dialogue import Dialogue, Item
from dsteval.values.oddities import oddity
from dsteval.values.similarity import LEVELS, folded, key, level
from dsteval.values.slots import canonical, domain_of

_KEPT = 20  # examples of a fact
_NAMED = 5  # slots in a sentence
_MOST = 0.9  # of the slots that there could be, for a file to be one that lists every slot

_WRITTEN_NONE = (
    "exact and normalised drop '', none and not mentioned, mwzeval only in the reference, gca only none; "
    "fga-official and fga-paper score them as values (states.absent)"
)

KINDS: dict[str, str] = {
    "lists-every-slot": _WRITTEN_NONE,
    "none-in-ref": _WRITTEN_NONE,
    "none-in-pred": _WRITTEN_NONE,
    "odd-values": "exact scores each as a value: leave such slots out, or list the words in states.absent; add "
    "--updates if '[DELETE]' removes a slot from the state; strip special tokens",
    "outside-ontology": "exact uses no ontology, so such a value is right if both sides have it; "
    "icdst and dst-prompting drop names, places and foods that are not in it",
    "not-in-ontology": "these values were not checked",
    "variant-spellings": "exact ignores case and white space, normalised also unifies spellings and times; "
    "values that differ by punctuation, blanks or 'the' are different under both",
    "hyphens": "SlotAccuracy(split=last), as in trade, somdst, t5dst, icdst, gca and fga-official, splits slot "
    "and value at the last hyphen, so a wrong value can count twice; split=first avoids this",
    "sets": "exact accepts a prediction if all of it is among the reference's values; mwzeval uses the "
    "reference's first value (states.alternatives=first); trade, gca, fga-official and fga-paper compare texts as "
    "written and refuse lists",
    "dontcare": "exact and normalised treat all spellings as one value; trade, gca, fga-official and fga-paper "
    "compare them as written (states.dontcare=literal)",
    "dontcare-or-none": "each is a wrong slot under exact; simpletod-v1 drops dontcare on both sides "
    "(states.dontcare=drop), mwzeval only in the reference (drop-ref)",
    "never-predicted": "each is a wrong slot: check whether the predictions spell the slot differently, or "
    "whether the tracker does not cover its domain",
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
    examples: tuple[ValueExample, ...]
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
    ref, pred = Occurrences("ref"), Occurrences("pred")
    for dialogue in dialogues:
        ref.add(dialogue)
        pred.add(dialogue)
    sides = [side for side in (ref, pred) if side.states]
    if sides == [pred]:
        pred.name = "states"
    unlike = UnlikeValues(ref, pred) if len(sides) == 2 else None
    known = {slot: frozenset(map(folded, values)) for slot, values in (ontology or {}).items()}
    noticed = [fact for side in sides for fact in _unset(side)]
    noticed += [fact for side in sides for fact in _odd(side)]
    noticed += [fact for side in sides if known for fact in _outside(side, known)]
    noticed += [fact for side in sides for fact in _variants(side)]
    noticed += _between(unlike) if unlike else ()
    noticed += _hyphens(sides, unlike)
    noticed += [fact for side in sides for fact in _sets(side)]
    noticed += _dontcare(sides)
    noticed += [*_dontcare_or_unset(unlike), *_never(unlike)] if unlike else ()
    return noticed


def _fact(group: Group, kind: str, side: str, about: str) -> Iterator[Fact]:
    """The fact about a group, unless that is empty; its slots are told behind the sentence."""
    if not group.slots:
        return
    slots = dict(sorted(group.slots.items(), key=lambda pair: (-pair[1], pair[0])))
    listed = [f"{slot} {count}" for slot, count in slots.items()]
    about += f"; by slot: {', '.join(listed[:_NAMED])}" + (", ..." if listed[_NAMED:] else "")
    order = sorted(group.examples, key=lambda e: (-e.count, e.slot, str(e.values), e.dialogue, e.turn))
    yield Fact(kind, side, about, len(group.turns), group.count, slots, tuple(order[:_KEPT]), KINDS[kind])


def _fact_of(
    written: Occurrences, group: Group, kind: str, what: str, more: str = "", side: str = ""
) -> Iterator[Fact]:
    """The fact about values of one side, with their share."""
    about = f"{written.name}, {what}: {group.count} of {written.total()} values"
    about += f" at {len(group.turns)} of {len(written.states)} turns{more}"
    yield from _fact(group, kind, side or written.side, about)


def _counted(words: Counter[str]) -> str:
    return ", ".join(f"{word!r} {count}" for word, count in words.most_common())


def _unset(written: Occurrences) -> Iterator[Fact]:
    """Words for "not set", where the slot could have been left out or in a file that lists every slot."""
    items = [item for item in written.counts if texts_of(item) and not reading(item)[1]]
    group, words = written.group(items), Counter[str]()
    for item in items:
        words[folded(texts_of(item)[0])] += written.counts[item]
    turns = len(group.turns)
    total = f"{group.count} of {written.counts.total()} slots at {turns} of {len(written.states)} turns"
    if items and _lists_every_slot(written):
        kind, about = "lists-every-slot", f"{written.name}, lists every slot: {total} not set ({_counted(words)})"
        yield Fact(kind, written.side, about, turns, group.count, {}, (), KINDS[kind])
    else:
        about = f"{written.name}, slots written as not set instead of left out: {total} ({_counted(words)})"
        yield from _fact(group, f"none-in-{written.side}", written.side, about)


def _lists_every_slot(written: Occurrences) -> bool:
    """Whether nearly all slots are listed wherever a slot of their domain is; an empty state lacks a domain."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    domains = {slot: domain_of(canonical(slot)) for slot, _ in written.counts}
    for slot, domain in domains.items():
        known[domain].add(canonical(slot))
    named = Counter(domain for items in written.states for domain in {domains[slot] for slot, _ in items})
    cells = sum(count * len(known[domain]) for domain, count in named.items())
    cells += written.states.count([]) * max(map(len, known.values()))
    return written.counts.total() >= _MOST * cells


def _odd(written: Occurrences) -> Iterator[Fact]:
    """Words for no value that no protocol of ours drops, marks of deletion, special tokens of language models."""
    group = written.group(written.where(lambda slot, texts: any(map(oddity, texts))))
    return _fact_of(written, group, "odd-values", "placeholders for no value, '[DELETE]', or special tokens")


def _outside(written: Occurrences, ontology: Mapping[str, Texts]) -> Iterator[Fact]:
    """Values, dontcare apart, that the ontology lacks, as a whole and in part, and slots that it lacks."""
    outside = []
    for item in written.where(lambda slot, texts: slot in ontology):
        slot, texts = reading(item)
        parts, whole = set(map(folded, texts)) - {"dontcare"}, folded("|".join(texts_of(item)))
        if not parts <= ontology[slot] and whole not in ontology[slot]:
            outside.append(item)
    yield from _fact_of(written, written.group(outside), "outside-ontology", "not in the ontology")
    group = written.group(written.where(lambda slot, texts: slot not in ontology))
    yield from _fact_of(
        written, group, "not-in-ontology", f"slots that are not in the ontology ({len(group.slots)})"
    )


def _variants(written: Occurrences) -> Iterator[Fact]:
    """Texts of one slot, on one side, that may be one value. What stands side by side in a list is no oddity."""
    holders: defaultdict[tuple[str, str], dict[str, list[Item]]] = defaultdict(dict)
    for item in written.where(lambda slot, texts: len(texts) == 1 and not _is_dontcare(slot, texts)):
        slot, (text,) = reading(item)
        holders[slot, key(slot, text) or text].setdefault(text, []).append(item)
    levels: Counter[int] = Counter()
    rare: list[Item] = []
    examples = []
    for (slot, _), by_text in holders.items():
        counts = {text: sum(map(written.counts.__getitem__, items)) for text, items in by_text.items()}
        usual, *others = sorted(counts, key=lambda text: (-counts[text], text))
        if others:
            levels[level(slot, frozenset(others), frozenset({usual}))] += 1
            rare += [item for text in others for item in by_text[text]]
            place = min(by_text[others[0]], key=written.first.__getitem__)
            examples.append(written.example(place, [usual, *others], sum(counts[text] for text in others)))
    group = written.group(rare, examples)
    more = f" ({len(examples)} distinct: {_by_level(levels)})"
    yield from _fact_of(written, group, "variant-spellings", "rarer spellings of another value", more)


def _between(unlike: UnlikeValues) -> Iterator[Fact]:
    """Slots where the prediction may be the reference's value in another spelling."""

    def alike(slot: str, ref: Texts, pred: Texts) -> bool:
        if pred <= ref or _is_dontcare(slot, pred):
            return False
        return {key(slot, text) for text in pred} <= {key(slot, text) for text in ref} - {""}

    chosen = unlike.where(alike)
    levels: Counter[int] = Counter()
    for slot, ref, pred in chosen:
        levels[level(slot, pred, ref)] += len(unlike.at[slot, ref, pred])
    group = unlike.group(chosen)
    what, more = "other spellings of the reference's value", f" ({_by_level(levels)})"
    yield from _fact_of(unlike.pred, group, "variant-spellings", what, more, "both")


def _by_level(levels: Counter[int]) -> str:
    return ", ".join(f"{levels[number]} {name}" for number, name in enumerate(LEVELS) if levels[number])


def _has_hyphen(slot: str, *values: Texts) -> bool:
    return any("-" in text for texts in values for text in texts)


def _hyphens(sides: list[Occurrences], unlike: UnlikeValues | None) -> Iterator[Fact]:
    """Values with a hyphen, and how many wrong slots have one on either side."""
    groups = {written: written.group(written.where(_has_hyphen)) for written in sides}
    shares = [f"{written.name} {group.count} of {written.total()}" for written, group in groups.items()]
    about = f"values with a hyphen: {', '.join(shares)}"
    if unlike is not None:
        wrong = unlike.where(_is_wrong)
        hit = unlike.group(pair for pair in wrong if _has_hyphen(*pair)).count
        about += f"; {hit} of {unlike.group(wrong).count} wrong slots have one"
    yield from _fact(sum(groups.values(), Group()), "hyphens", _side_of(sides), about)


def _side_of(sides: list[Occurrences]) -> str:
    return "both" if len(sides) == 2 else "".join(written.side for written in sides)


def _is_wrong(slot: str, ref: Texts, pred: Texts) -> bool:
    """Whether exact takes the slot for unlike."""
    return not pred or not set(map(folded, pred)) <= set(map(folded, ref))


def _sets(written: Occurrences) -> Iterator[Fact]:
    """Values that are several: a list, or a text with signs between alternatives."""
    group = written.group(written.where(lambda slot, texts: len(texts) > 1))
    return _fact_of(written, group, "sets", "several values in one")


def _is_dontcare(slot: str, texts: Texts) -> bool:
    return "dontcare" in map(folded, texts)


def _dontcare(sides: list[Occurrences]) -> Iterator[Fact]:
    """Spellings of dontcare, unless it is "dontcare" throughout."""
    group, told, spelt = Group(), [], set[str]()
    for written in sides:
        items = written.where(_is_dontcare)
        words, first = Counter[str](), dict[str, Item]()
        for item in sorted(items, key=written.first.__getitem__):
            for text in sorted(reading(item)[1]):
                if folded(text) == "dontcare":
                    words[text] += written.counts[item]
                    first.setdefault(text, item)
        group += written.group(items, (written.example(item, [text], words[text]) for text, item in first.items()))
        spelt.update(words)
        told += [f"{written.name} {_counted(words)}"] if words else []
    if not spelt <= {"dontcare"}:
        yield from _fact(group, "dontcare", _side_of(sides), f"spellings of dontcare: {'; '.join(told)}")


def _dontcare_or_unset(unlike: UnlikeValues) -> Iterator[Fact]:
    """Slots that are dontcare on one side and not set on the other."""
    missed = unlike.where(lambda slot, ref, pred: _is_dontcare(slot, ref) and not pred)
    spurious = unlike.where(lambda slot, ref, pred: _is_dontcare(slot, pred) and not ref)
    group = unlike.group([*missed, *spurious])
    about = f"dontcare on one side and not set on the other: {unlike.group(missed).count} in the reference, "
    about += f"{unlike.group(spurious).count} in the predictions"
    about += f" at {len(group.turns)} of {len(unlike.ref.states)} turns"
    yield from _fact(group, "dontcare-or-none", "both", about)


def _never(unlike: UnlikeValues) -> Iterator[Fact]:
    """Slots of the reference that no prediction ever has."""
    predicted = {reading(item)[0] for item in unlike.pred.where()}
    group = unlike.ref.group(unlike.ref.where(lambda slot, texts: slot not in predicted))
    what = f"slots that are never predicted ({len(group.slots)})"
    yield from _fact_of(unlike.ref, group, "never-predicted", what)
