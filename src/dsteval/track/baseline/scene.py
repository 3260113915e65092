"""One turn as the rules see it: what was said and heard, which domain it is about, what it changes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dsteval.track.baseline.lexicon import Lexicon, Slot
from dsteval.track.baseline.patterns import Said, stem
from dsteval.track.baseline.vocabulary import says

_VERBS = frozenset({"eat", "dine", "stay", "eating", "dining", "fly", "watch", "listen", "pay", "swim"})


@dataclass
class Memory:
    """What a dialogue leaves behind besides its state: the domain at hand, the last offers, domains in order."""

    active: str = ""
    offered: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Mention:
    """A value found in an utterance: where, its spelling, the slots ; ``used`` by a rule."""

    start: int
    end: int
    spelled: str
    readings: list[tuple[Slot, str]]
    used: bool = False

    @property
    def kinds(self) -> set[str]:
        """The kinds of the slots that may hold it."""
        return {slot.kind for slot, _ in self.readings}


class Scene:
    """A turn: utterances, context and the changes that the rules have found so far in ``new``.

    ``on`` are the groups of rules in use. ``active`` is the domain at hand, ``asked`` the slots that the system
    asks for, ``marks`` the places where the user names a domain: (place, domain, whether it is
    a mere reference).
    """

    def __init__(
        self, lexicon: Lexicon, state: dict[str, str], memory: Memory, texts: tuple[str, str], on: frozenset[str]
    ) -> None:
        self.lexicon, self.state, self.memory, self.on = lexicon, state, memory, on
        self.heard, self.said = map(Said, texts)
        self.active = memory.active
        self.new: dict[str, str] = {}
        self.asked: list[Slot] = []
        self.mentions, self.shown = [*self._find(self.said)], [*self._find(self.heard)]
        self.marks = self._marks()

    def _find(self, said: Said) -> Iterator[Mention]:
        """The values that a text names, the longest first at each place."""
        words = [stem(word) for word in said.words]
        if "spelling" in self.on:
            words = [self.lexicon.mended(word) for word in words]
        at = 0
        while at < len(words):
            for end in range(min(at + self.lexicon.longest, len(words)), at, -1):
                spelled = " ".join(words[at:end])
                if readings := self.lexicon.spellings.get(spelled):
                    after = said.starts[end - 1] + len(said.words[end - 1])
                    mention = Mention(said.starts[at], after, spelled, readings)
                    if not _is_part(said.text, mention):
                        yield mention
                    break
            at = end

    def _marks(self) -> list[tuple[int, str, bool]]:
        names = [mention for mention in self.mentions if mention.kinds & {"name", "place"}]
        inside = {at for name in names if " " in name.spelled for at in range(name.start, name.end)}
        marks: dict[int, tuple[str, bool]] = {}
        for number, domain in domain_words_in(self.said.words, self.lexicon):
            start = self.said.starts[number]
            if start not in inside:
                marks[start] = domain, self.said.words[number] not in _VERBS and self._refers(start)
        riding = self.active == "taxi" or bool(says("ride").search(self.said.text))
        for mention in self.mentions:
            domains = {slot.domain for slot, _ in mention.readings if slot.kind != "place"}
            if len(domains) == 1 and (mention in names or mention.kinds == {"choice"}):
                reference = self._refers(mention.start) or (mention in names and riding)
                marks.setdefault(mention.start, (domains.pop(), reference))
        return sorted((start, domain, reference) for start, (domain, reference) in marks.items())

    def _refers(self, at: int) -> bool:
        before = self.said.text[max(0, at - 30) : at]
        return bool(says("reference").search(before) or says("direct").search(before))

    def accepts(self, yes: str, no: str, reach: int | None = None) -> bool:
        """Whether the user says one thing and, in the first so many characters, not the other."""
        return bool(says(yes).search(self.said.text)) and not says(no).search(self.said.text[:reach])

    def negated(self, start: int) -> bool:
        """Whether words like "not" or "instead of" stand right before the place."""
        return "changes" in self.on and bool(says("negation").search(self.said.text[max(0, start - 40) : start]))

    def domain_at(self, at: int, slots: list[Slot]) -> str:
        """Which domain, of those that the slots have, something at this place belongs to."""
        domains = list(dict.fromkeys(slot.domain for slot in slots))
        if len(domains) < 2:
            return "".join(domains)
        if "domains" not in self.on:
            return self.active if self.active in domains else domains[0]
        near = [mark for mark in self.marks if mark[1] in domains and not mark[2]]
        start, sentence = self.said.sentence(at)
        inside = [mark for mark in near if start <= mark[0] < start + len(sentence)]
        before = [mark for mark in near if mark[0] <= at]
        if nearest := [mark for mark in inside if mark in before] or inside[:1] or before:
            return nearest[-1][1]
        known = [*(slot.domain for slot in self.asked), self.active]
        known += [domain for _, domain, _ in near[:1]] or self.memory.order[::-1]
        return next((domain for domain in known if domain in domains), "")

    def value_of(self, slot: Slot) -> str:
        """The value of a slot, this turn's or the last; empty where it has none."""
        return self.new.get(slot.name) or self.state.get(slot.name, "")


def domain_words_in(words: list[str], lexicon: Lexicon) -> Iterator[tuple[int, str]]:
    """The words that announce a domain: the number of the first of them, and the domain."""
    at = 0
    while at < len(words):
        for length in (3, 2, 1):
            if domain := lexicon.domains.get(" ".join(words[at : at + length])):
                yield at, domain
                break
        at += length


def _is_part(text: str, mention: Mention) -> bool:
    """Whether a name is only part of an address, or of "the place to stay"."""
    after = text[mention.end :]
    part = says("in_street").match(after) or (mention.spelled == "the place" and says("place_that").match(after))
    return mention.kinds <= {"name", "place"} and bool(part)
