"""One turn as the rules see it: what was said and heard, which domain it is about, what it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from dsteval.track.baseline.lexicon import Lexicon, Slot
from dsteval.track.baseline.patterns import Said, normal, stem
from dsteval.track.baseline.vocabulary import phrases_of

__all__ = ["Memory", "Mention", "Scene"]

_REFERRED = re.compile(phrases_of("referred") + " (?:(?:the|my|this|that|our|both|said|same) )+$")
_DIRECT = re.compile(r"\b(?:from|to|between|leaving|leave|as|near|and|departing) $")
_NEGATED = re.compile(phrases_of("negated") + "(?: (?:an?|the|in|any|in the|be))* $")
_STREET = re.compile(" " + phrases_of("street"))
_PLACE = re.compile(r" (?:to|that|is)\b")
_VERBS = frozenset({"eat", "dine", "stay", "eating", "dining", "fly", "watch", "listen", "pay", "swim"})
_RIDE = re.compile(r"\b(?:taxi|cab)\b")


@dataclass
class Memory:
    """What a dialogue leaves behind besides its state: the domain at hand, the last offers, domains in order."""

    active: str = ""
    offered: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Mention:
    """A value found in an utterance: where, its spelling, and the slots that may hold it."""

    start: int
    end: int
    spelled: str
    readings: list[tuple[Slot, str]]

    def are(self, *kinds: str) -> bool:
        """Whether all readings are of these kinds."""
        return all(slot.kind in kinds for slot, _ in self.readings)


class Scene:
    """A turn: utterances, context and the changes that the rules have found so far in ``new``.

    ``on`` are the groups of rules in use. ``before`` is the domain at hand before the turn, ``asked`` the slots
    that the system asks for, ``marks`` the places where the user names a domain: (place, domain, whether it is
    a mere reference).
    """

    def __init__(
        self, lexicon: Lexicon, state: dict[str, str], memory: Memory, texts: tuple[str, str], on: frozenset[str]
    ) -> None:
        self.lexicon, self.state, self.memory, self.on = lexicon, state, memory, on
        self.heard, self.said = map(Said, texts)
        self.before = memory.active
        self.new: dict[str, str] = {}
        self.asked: list[Slot] = []
        self.taken: list[tuple[int, int]] = []
        self.mentions = self._find(self.said)
        self.shown = self._find(self.heard)
        self.marks = self._marks()

    @property
    def active(self) -> str:
        """The domain at hand."""
        return self.memory.active

    def _find(self, said: Said) -> list[Mention]:
        """The values that a text names, the longest first at each place."""
        words = [stem(word) for word in said.words]
        if "spelling" in self.on:
            words = [self._mended(word) for word in words]
        found, at = [], 0
        while at < len(words):
            length = next(
                (
                    length
                    for length in range(min(self.lexicon.longest, len(words) - at), 0, -1)
                    if " ".join(words[at : at + length]) in self.lexicon.spellings
                ),
                0,
            )
            if length:
                last = at + length - 1
                spelled = " ".join(words[at : at + length])
                end = said.starts[last] + len(said.words[last])
                mention = Mention(said.starts[at], end, spelled, self.lexicon.spellings[spelled])
                if not _is_part(said.text, mention):
                    found.append(mention)
            at += length or 1
        return found

    def _mended(self, word: str) -> str:
        """A long word that no value has, as the one it is a slip of."""
        lexicon = self.lexicon
        if len(word) < 6 or word in lexicon.known or word in lexicon.domains:
            return word
        if word not in lexicon.mended:
            if len(lexicon.mended) > 50_000:
                lexicon.mended.clear()
            best = process.extractOne(word, lexicon.long_words, scorer=fuzz.ratio, score_cutoff=85)
            lexicon.mended[word] = best[0] if best and best[0][0] == word[0] else word
        return lexicon.mended[word]

    def _marks(self) -> list[tuple[int, str, bool]]:
        names = [m for m in self.mentions if any(slot.kind in ("name", "place") for slot, _ in m.readings)]
        inside = [(m.start, m.end) for m in names if " " in m.spelled]
        marks = [m for m in self._words() if not any(start <= m[0] < end for start, end in inside)]
        riding = self.active == "taxi" or bool(_RIDE.search(self.said.text))
        for mention in self.mentions:
            named = mention in names
            if not named and not mention.are("choice"):
                continue
            domains = {slot.domain for slot, _ in mention.readings if slot.kind != "place"}
            if len(domains) == 1 and all(mark[0] != mention.start for mark in marks):
                reference = self._refers(mention.start) or (named and riding)
                marks.append((mention.start, domains.pop(), reference))
        return sorted(marks)

    def _words(self) -> Iterator[tuple[int, str, bool]]:
        for at, start, domain in domain_words_in(self.said.words, self.said.starts, self.lexicon):
            yield start, domain, self.said.words[at] not in _VERBS and self._refers(start)

    def _refers(self, at: int) -> bool:
        before = self.said.text[max(0, at - 30) : at]
        return bool(_REFERRED.search(before) or _DIRECT.search(before))

    def put(self, slot: Slot, value: str) -> None:
        """Set a slot."""
        self.new[slot.name] = value

    def negated(self, start: int) -> bool:
        """Whether words like "not" or "instead of" stand right before the place."""
        return "changes" in self.on and bool(_NEGATED.search(self.said.text[max(0, start - 40) : start]))

    def domain_at(self, at: int, slots: list[Slot]) -> str:
        """Which domain, of those that the slots have, something at this place belongs to."""
        domains = list(dict.fromkeys(slot.domain for slot in slots))
        if len(domains) < 2:
            return "".join(domains)
        if "domains" not in self.on:
            return self.active if self.active in domains else domains[0]
        near = [mark for mark in self.marks if mark[1] in domains and not mark[2]]
        inside = self._inside(at, near)
        earlier = [mark for mark in inside if mark[0] <= at] or inside[:1] or [m for m in near if m[0] <= at]
        if earlier:
            return earlier[-1][1]
        asked = [slot.domain for slot in self.asked if slot.domain in domains]
        if asked:
            return asked[0]
        if self.active in domains:
            return self.active
        return near[0][1] if near else next((one for one in reversed(self.memory.order) if one in domains), "")

    def _inside(self, at: int, marks: list[tuple[int, str, bool]]) -> list[tuple[int, str, bool]]:
        """The marks in the sentence that the place is in."""
        for start, text in self.said.sentences():
            if start <= at < start + len(text):
                return [mark for mark in marks if start <= mark[0] < start + len(text)]
        return []

    def is_free(self, mention: Mention) -> bool:
        """Whether no rule has used this part of the utterance."""
        return all(mention.end <= low or mention.start >= high for low, high in self.taken)

    def take(self, mention: Mention) -> None:
        """Keep this part of the utterance from other rules."""
        self.taken.append((mention.start, mention.end))

    def held(self, slot: Slot) -> str:
        """The value of a slot, this turn's or the last; empty where it has none."""
        return self.new.get(slot.name) or self.state.get(slot.name, "")

    def same(self, slot: Slot, value: str) -> bool:
        """Whether the slot has this value already, in some spelling."""
        return normal(self.held(slot)) == normal(value)


def domain_words_in(words: list[str], starts: list[int], lexicon: Lexicon) -> Iterator[tuple[int, int, str]]:
    """Where words announce a domain: number of the word, its place, the domain."""
    at = 0
    while at < len(words):
        for length in (3, 2, 1):
            domain = lexicon.domains.get(" ".join(words[at : at + length]))
            if domain:
                yield at, starts[at], domain
                break
        at += length if domain else 1


def _is_part(text: str, mention: Mention) -> bool:
    """Whether a name is only part of an address, or of "the place to stay"."""
    if not mention.are("name", "place"):
        return False
    return bool(
        _STREET.match(text, mention.end) or (mention.spelled == "the place" and _PLACE.match(text, mention.end))
    )
