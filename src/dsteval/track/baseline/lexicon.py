"""What the baseline knows about slots: their kinds, and the words for their values."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz, process

from dsteval.dialogue import slot_of
from dsteval.track.baseline.patterns import normal, stem
from dsteval.track.baseline.vocabulary import WORDS, any_of
from dsteval.values.slots import canonical

_WORDS = re.compile(r"[A-Z]?[a-z]+|\d+")
_ABSENT = frozenset({"", "none", "not mentioned", "dontcare", "do not care", "dont care", "do n't care"})
_COUNTED, _ROLES, _SYNONYMS = WORDS["counted"], WORDS["roles"], WORDS["synonyms"]
_EMPTY = frozenset(WORDS["empty"].split())
_PLACES = {"departure", "destination", "origin", "city", "location", "pickup", "dropoff"}
_FLAGS = frozenset({"yes", "no", "true", "false", "free"})
_GENERAL = frozenset(WORDS["common"].split())
_INTENT = ("required_slots", "optional_slots")


@dataclass(slots=True)
class Slot:
    """A slot, what kind of thing it holds and in which role.

    ``kind`` is choice, flag, number, time, date, name, place or open; ``role`` tells from apart from to, leaving
    from arriving, and what a number counts. ``values`` lead from spellings to the value to predict; an ``open``
    slot takes texts that no list holds. ``cues`` finds the words that people speak of the slot with.
    """

    name: str
    domain: str
    kind: str
    role: str
    words: tuple[str, ...]
    open: bool
    cues: re.Pattern[str]
    values: dict[str, str] = field(default_factory=dict)

    def truth(self, holds: bool) -> str:
        """How the slot spells yes or no."""
        words = ("yes", "true") if holds else ("no", "false")
        return next((value for spelled, value in self.values.items() if spelled in words), words[0])


class Lexicon:
    """All slots, also by domain and kind; a table from spellings to (slot, value); the words of each domain.

    ``opened`` says that it comes from a schema, whose names and places are in no list. ``longest`` is how many
    words a spelling has at most.
    """

    def __init__(self, slots: Iterable[Slot], opened: bool = False) -> None:
        self.slots = {slot.name: slot for slot in slots}
        self.opened = opened
        self.of: defaultdict[str, list[Slot]] = defaultdict(list)
        self.kinds: defaultdict[str, list[Slot]] = defaultdict(list)
        self.domains: dict[str, str] = {}
        self.spellings: dict[str, list[tuple[Slot, str]]] = {}
        for slot in self.slots.values():
            self.of[slot.domain].append(slot)
            self.kinds[slot.kind].append(slot)
            for word in domain_words(slot.domain):
                self.domains.setdefault(normal(word), slot.domain)
            for spelled, value in slot.values.items() if slot.kind in ("choice", "name", "place") else ():
                readings = self.spellings.setdefault(" ".join(map(stem, spelled.split())), [])
                if all(known is not slot for known, _ in readings):
                    readings.append((slot, value))
        self.longest = max((spelled.count(" ") + 1 for spelled in self.spellings), default=1)
        self.words = frozenset(word for spelled in self.spellings for word in spelled.split())
        self._long_words = sorted(word for word in self.words if len(word) > 5)
        self.mended = lru_cache(maxsize=50_000)(self._mended)

    def _mended(self, word: str) -> str:
        """A long word that no value has, as the one it is a slip of."""
        if len(word) < 6 or word in self.words or word in self.domains:
            return word
        best = process.extractOne(word, self._long_words, scorer=fuzz.ratio, score_cutoff=85)
        return best[0] if best and best[0][0] == word[0] else word


def lexicon_from_states(states: Iterable[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """The values of every slot with how often the states hold them, absent words and "do not care" left out.

    >>> lexicon_from_states([{"hotel-area": "east"}, {"hotel-area": "east", "hotel-name": "none"}])
    {'hotel-area': Counter({'east': 2})}
    """
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for state in states:
        for slot, value in state.items():
            if isinstance(value, str) and value.casefold() not in _ABSENT and "|" not in value:
                values[canonical(slot)][value.casefold()] += 1
    return dict(values)


def lexicon_from_schema(schema: Sequence[Mapping[str, Any]]) -> Lexicon:
    """A lexicon of the services of a schema.json: possible values for categorical slots, the rest open.

    >>> slots = [{"name": "stars", "is_categorical": True, "possible_values": ["1", "2"]}, {"name": "city"}]
    >>> lexicon = lexicon_from_schema([{"service_name": "h", "slots": slots}])
    >>> [(slot.kind, slot.open) for slot in lexicon.slots.values()]
    [('number', False), ('place', True)]
    """
    slots = []
    for service in schema:
        intents = service.get("intents", [])
        used = {slot for intent in intents for part in _INTENT for slot in intent.get(part, ())}
        domain = service["service_name"]
        for entry in service.get("slots", []):
            if not used or entry["name"] in used:
                values = Counter(map(str, entry.get("possible_values", [])))
                opened = not (entry.get("is_categorical") and values)
                slots.append(_slot(slot_of(domain, entry["name"]), domain, values, opened))
    return Lexicon(slots, opened=True)


def lexicon_from_values(values: Mapping[str, Mapping[str, int]]) -> Lexicon:
    """A lexicon of slots 'domain-slot' with their values and counts: an ontology.

    Of spellings that mean one value the most frequent is the one to predict.
    """
    return Lexicon(
        _slot(name, name.partition("-")[0], Counter(counted), opened=False)
        for name, counted in _in_one_domain(values).items()
    )


def _in_one_domain(values: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """The values without names that belong to another domain: labels slip between hotels and restaurants."""
    most: Counter[str] = Counter()
    named = {slot for slot in values if slot.endswith("name")}
    for slot in named:
        for value, count in values[slot].items():
            most[_key(value)] = max(most[_key(value)], count)
    return {
        slot: {
            value: count for value, count in counted.items() if slot not in named or 3 * count > most[_key(value)]
        }
        for slot, counted in values.items()
    }


def _slot(name: str, domain: str, values: Counter[str], opened: bool) -> Slot:
    words = [word.casefold() for word in _WORDS.findall(canonical(name).partition("-")[2])]
    parts = tuple(dict.fromkeys((*words, "".join(words))))
    kind = _kind(parts, values)
    roles = _COUNTED if kind == "number" else _ROLES if kind in ("time", "place", "date") else {}
    role = next((role for role, names in roles.items() if {*parts} & {*names}), "")
    cues = {cue for part in parts for cue in WORDS["cues"].get(part, () if part in _EMPTY else (part,))}
    pattern = re.compile(any_of([*map(re.escape, sorted(cues))]) if cues else "(?!)")  # or nothing at all
    slot = Slot(name, domain, kind, role, parts, opened, pattern)
    if kind not in ("time", "date") or not opened:
        _spell(slot, values)
    return slot


def _kind(parts: Sequence[str], values: Counter[str]) -> str:
    plain = [value.casefold() for value in values]
    if plain and {*plain} <= _FLAGS:
        return "flag"
    if plain and sum(value.isdigit() for value in plain) > 0.7 * len(plain) and "year" not in parts:
        return "number"
    words, dated = {*parts}, "day" in parts or "date" in parts
    clocks = not plain or any(":" in value for value in plain)
    if {"time", *_ROLES["arrive"], *_ROLES["leave"]} & words and clocks and not dated:
        return "place" if {"station", "location", "city"} & words else "time"
    if dated or {*plain} >= {"monday", "tuesday"}:
        return "date"
    if any(words & {*units} for units in _COUNTED.values()):
        return "number"
    if "name" in parts or parts[-1] == "title":
        return "name"
    if words & _PLACES or ("area" in parts and not plain):
        return "place"
    return "choice" if plain else "open"


def _spell(slot: Slot, values: Counter[str]) -> None:
    """Fill ``slot.values``: every spelling, each leading to the most frequent spelling of the same value."""
    named = slot.kind in ("name", "place")
    total = sum(values.values())
    floor = (3 if named else total / 2000) if total > 500 else 0
    best = {_key(value): value for value, _ in reversed(values.most_common())} | _merged(values, named)
    for value, count in values.most_common():
        spelled = normal(value)
        if count < floor or not spelled or (slot.kind == "choice" and spelled in _FLAGS):
            continue
        if not named or _is_name(slot, spelled, count * 200 > total):
            for form in (*_forms(spelled), *map(normal, _SYNONYMS.get(value.casefold(), ()))):
                slot.values.setdefault(form, best[_key(value)])
    if named:
        _shorten(slot)


def _is_name(slot: Slot, spelled: str, frequent: bool) -> bool:
    """Whether a label is a name and no slip: of common words a name is made only where it is long and frequent."""
    words = spelled.split()
    if spelled == "the place" or (slot.kind == "place" and spelled == "cambridge"):
        return True
    if frequent and len(words) > 2 and spelled not in _SYNONYMS["guesthouse"]:
        return True
    return any(len(word) > 2 for word in words) and not {*words} <= _GENERAL


def _merged(values: Counter[str], named: bool) -> dict[str, str]:
    """Rare spellings of a name, each with the frequent name that it is a part or a slip of."""
    merged: dict[str, str] = {}
    ranked = values.most_common()
    for at, (rare, count) in enumerate(ranked):
        words = {*_key(rare, " ").split()}
        for value, more in ranked[:at]:
            if more < 4 * count:
                break
            part = named and words < {*_key(value, " ").split()} and not words <= _GENERAL
            if part or (len(value) > 6 and fuzz.ratio(_key(rare), _key(value)) > 89):
                merged.setdefault(_key(rare), merged.get(_key(value), value))
                break
    return merged


def _key(value: str, between: str = "") -> str:
    spelled = normal(value).removeprefix("the ").replace("b and b", "bed and breakfast")
    for ending in ("restaurant", "hotel"):
        if spelled.count(" ") > 1:
            spelled = spelled.removesuffix(f" {ending}")
    return between.join(map(stem, spelled.split()))


def _forms(spelled: str) -> Iterable[str]:
    yield spelled
    bare = spelled.removeprefix("the ")
    if bare not in _GENERAL:
        yield bare
    for written, other in WORDS["spelled_two_ways"]:
        if written in bare:
            yield bare.replace(written, other)


def _shorten(slot: Slot) -> None:
    """Add the names without their last words, where one name only is meant and the rest is not common."""
    taken: dict[str, set[str]] = defaultdict(set)
    users: dict[str, set[str]] = defaultdict(set)
    for spelled, value in slot.values.items():
        for word in spelled.split():
            users[word].add(value)
        for ending in WORDS["shortened"]:
            if spelled.endswith(f" {ending}"):
                taken[spelled.removesuffix(f" {ending}").removeprefix("the ")].add(value)
    for short, values in taken.items():
        common = {*short.split()} <= _GENERAL or (" " not in short and len(users[short]) > 1)
        if len(values) == 1 and len(short) > 4 and not common:
            slot.values.setdefault(short, *values)


def domain_words(domain: str) -> tuple[str, ...]:
    """The words that announce a domain: its own, and those that are known for such a domain.

    >>> domain_words("Hotels_4")[:2]
    ('hotels', 'hotel')
    """
    joined = "".join(re.findall(r"[A-Za-z]+", domain)).casefold()
    single = joined.removesuffix("s") if joined not in ("bus", "buses") else "bus"
    known = WORDS["domains"]
    return tuple(dict.fromkeys((joined, single, *known.get(single, ()), *known.get(joined, ()))))
