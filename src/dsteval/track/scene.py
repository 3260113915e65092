"""One turn as the rules see it: what was said and heard, which domain it is about, what it changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from dsteval.track.lexicon import Lexicon, Slot
from dsteval.track.patterns import Said, normal, stem

__all__ = ["Memory", "Mention", "Scene"]

# "to the hotel", "same area as the restaurant", "near the museum": another domain's thing, not a new topic.
_REFERRED = re.compile(
    r"\b(?:from|to|between|near|as|at|by|leave|leaving|of|and|for|with|in|close|like|depart|departing|around) "
    r"(?:(?:the|my|this|that|our|both|said|same) )+$"
)
_DIRECT = re.compile(r"\b(?:from|to|between|leaving|leave|as|near|and|departing) $")
_NEGATED = re.compile(
    r"\b(?:not|no|dont (?:want|need|like)(?: (?:it|to be|an?|any|the|in))*|instead of|other than|rather than|except|"
    r"isnt|arent|doesnt (?:need|have) to be|without|besides|nothing)(?: (?:an?|the|in|any|in the|be))* $"
)
_STREET = re.compile(r" (?:road|street|lane|way|avenue|parade|place(?! to\b)|terrace|rd|st|passage|hill)\b")
_VERBS = frozenset({"eat", "dine", "stay", "eating", "dining", "fly", "watch", "listen", "pay", "swim"})


@dataclass
class Memory:
    """What a dialogue leaves behind besides its state."""

    active: str = ""
    offered: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Mention:
    """A value found in the utterance: where, its spelling, and the slots that may hold it."""

    start: int
    end: int
    spelled: str
    readings: list[tuple[Slot, str]]


class Scene:
    """A turn: utterances, context and the changes that the rules have found so far."""

    def __init__(
        self, lexicon: Lexicon, state: dict[str, str], memory: Memory, heard: str, said: str, spelling: bool
    ) -> None:
        self.lexicon, self.state, self.memory = lexicon, state, memory
        self.heard, self.said = Said(heard), Said(said)
        self.before = memory.active
        self.new: dict[str, str] = {}
        self.mentions = self.find(self.said, spelling)
        self.shown = self.find(self.heard, spelling)
        self.marks = self._marks()
        self.asked: list[Slot] = []
        self.taken: list[tuple[int, int]] = []

    def find(self, said: Said, spelling: bool) -> list[Mention]:
        """The values that a text names, the longest first at each place; ``spelling`` mends single words."""
        table, found, at = self.lexicon.spellings, [], 0
        words = [stem(word) for word in said.words]
        if spelling:
            words = [self._mended(word) for word in words]
        while at < len(words):
            for length in range(min(self.lexicon.longest, len(words) - at), 0, -1):
                spelled = " ".join(words[at : at + length])
                if readings := table.get(spelled):
                    start = said.starts[at]
                    named = all(slot.kind in ("name", "place") for slot, _ in readings)
                    end = said.starts[at + length - 1] + len(said.words[at + length - 1])
                    if not (named and _STREET.match(said.text, end)) and not (
                        spelled == "the place" and said.text.startswith((" to", " that", " is"), end)):
                        found.append(Mention(start, end, spelled, readings))
                    at += length
                    break
            else:
                at += 1
        return found

    def _mended(self, word: str) -> str:
        if len(word) < 6 or word in self.lexicon.known or word in self.lexicon.domains:
            return word
        cache = self.lexicon.mended
        if word not in cache:
            best = process.extractOne(word, self.lexicon.rare, scorer=fuzz.ratio, score_cutoff=86)
            cache[word] = best[0] if best and best[0][0] == word[0] and len(cache) < 50_000 else word
        return cache.get(word, word)

    def _marks(self) -> list[tuple[int, str, bool]]:
        marks = []
        words, at = self.said.words, 0
        while at < len(words):
            for length in (3, 2, 1):
                domain = self.lexicon.domains.get(" ".join(words[at : at + length]))
                if domain:
                    before = self.said.text[: self.said.starts[at]]
                    reference = words[at] not in _VERBS and bool(_REFERRED.search(before[-30:]) or _DIRECT.search(before[-12:]))
                    marks.append((self.said.starts[at], domain, reference))
                    at += length
                    break
            else:
                at += 1
        names = [
            mention for mention in self.mentions if any(slot.kind in ("name", "place") for slot, _ in mention.readings)
        ]
        marks = [mark for mark in marks if not any(n.start <= mark[0] < n.end and " " in n.spelled for n in names)]
        typed = [m for m in self.mentions if all(slot.kind == "choice" for slot, _ in m.readings)]
        for mention in typed:
            domains = {slot.domain for slot, _ in mention.readings}
            if len(domains) == 1 and all(mark[0] != mention.start for mark in marks):
                marks.append((mention.start, *domains, bool(_REFERRED.search(self.said.text[: mention.start][-30:]))))
        for mention in names:
            domains = {slot.domain for slot, _ in mention.readings if slot.kind == "name"}
            if len(domains) == 1:
                before = self.said.text[: mention.start]
                reference = bool(_REFERRED.search(before[-30:]) or _DIRECT.search(before[-12:]))
                marks.append((mention.start, *domains, reference or self._rides()))
        return sorted(marks)

    def _rides(self) -> bool:
        return bool(re.search(r"\b(?:taxi|cab)\b", self.said.text)) or self.memory.active == "taxi"

    def put(self, slot: Slot, value: str) -> None:
        """Set a slot."""
        self.new[slot.name] = value

    def negated(self, start: int) -> bool:
        """Whether a word like "not" stands right before the place."""
        return bool(_NEGATED.search(self.said.text[max(0, start - 40) : start]))

    def domain_at(self, at: int, domains: list[str]) -> str:
        """Which of the domains something at this place belongs to: the nearest word that announces one."""
        if len(domains) == 1:
            return domains[0]
        near = [mark for mark in self.marks if mark[1] in domains and not mark[2]]
        for start, text in self.said.sentences():
            if start <= at < start + len(text):
                inside = [mark for mark in near if start <= mark[0] < start + len(text)]
                before = [mark for mark in inside if mark[0] <= at]
                if before:
                    return before[-1][1]
                if inside:
                    return inside[0][1]
        earlier = [mark for mark in near if mark[0] <= at]
        if earlier:
            return earlier[-1][1]
        asked = [slot.domain for slot in self.asked if slot.domain in domains]
        if asked:
            return asked[0]
        if self.memory.active in domains:
            return self.memory.active
        later = near[0][1] if near else ""
        return later or next((domain for domain in reversed(self.memory.order) if domain in domains), "")

    def is_free(self, start: int, end: int) -> bool:
        """Whether no rule has used this part of the utterance."""
        return all(end <= low or start >= high for low, high in self.taken)


def values_equal(one: str, other: str) -> bool:
    """Whether two values are one in the plain spelling."""
    return normal(one) == normal(other)
