"""How the baseline reads a text: one plain spelling, its sentences, numbers and times."""

import re
from collections.abc import Iterator
from functools import lru_cache

from dsteval.track.baseline.vocabulary import WORDS, says

_TOKENS = re.compile(r"\d{1,2}:\d\d|[^\W\d_]+(?:\d\w*)?|\d+|[.?!,;]")
_NUMBERS = {word: str(value) for value, word in enumerate(WORDS["numbers"].split())}


@lru_cache(maxsize=20000)
def normal(text: str) -> str:
    """The plain spelling that values and utterances are compared in.

    Lower case, words with a blank between them, no apostrophes or hyphens, marks that end a clause as words.

    >>> normal("I do n't want the Guest-House; 5pm B&B's")
    'i dont want the guest house ; 5 pm b and bs'
    """
    text = text.casefold().replace("\u2019", "'").replace("&", " and ")
    text = re.sub(r"\s*n't\b", "nt", text)
    text = re.sub(r"\s*'\s?(s|m|ll|re|ve|d)\b", r"\1", text).replace("'", "")
    return " ".join(_TOKENS.findall(text))


def stem(word: str) -> str:
    """A word without a final s, so that plurals and possessives are one with the word.

    >>> stem("museums"), stem("christs"), stem("gas")
    ('museum', 'christ', 'gas')
    """
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


def number(text: str) -> str:
    """The digits of a small number.

    >>> number("three"), number("7")
    ('3', '7')
    """
    return _NUMBERS.get(text, text)


def clock_times(text: str) -> Iterator[tuple[int, str]]:
    """Times in a plain text with their place, as HH:MM.

    >>> [time for _, time in clock_times("by 5 pm or 17:30 or quarter to 7 pm or noon")]
    ['17:00', '17:30', '18:45', '12:00']
    """
    for match in says("clock").finditer(text):
        yield match.start("four" if match["four"] else 0), _clock(match.groupdict())


def _clock(groups: dict[str, str | None]) -> str:
    if groups["noon"]:
        return "12:00" if groups["noon"] != "midnight" else "00:00"
    if groups["four"]:
        return f"{groups['four'][:2]}:{groups['four'][2:]}"
    hour = int(number(groups["h"] or groups["hh"] or groups["o"] or groups["c"] or "0"))
    minute = int(groups["m"] or 0)
    half = (groups["ap"] or groups["hap"] or groups["oap"] or "")[:1]
    if groups["half"]:
        away = {"half": 30, "quarter": 15}.get(groups["half"]) or int(groups["half"].split()[0])
        hour, minute = (hour, away) if groups["way"] in ("past", "after") else (hour - 1, (60 - away) % 60)
    late = half == "p" or (groups["part"] or groups["cpart"]) in ("afternoon", "evening", "night")
    if late and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"{max(hour, 0):02d}:{minute:02d}"


class Said:
    """An utterance in its plain spelling, with what is groups in it."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = normal(raw)
        self.words = self.text.split()
        self.starts = [match.start() for match in re.finditer(r"\S+", self.text)]

    def before(self, at: int, reach: int) -> str:
        """The part of the same sentence just before a place."""
        return re.split(r"[.?!;]", self.text[max(0, at - reach) : at])[-1]

    def after(self, at: int, reach: int) -> str:
        """The part of the same sentence just after a place."""
        return re.split(r"[.?!;]", self.text[at : at + reach])[0]

    def sentences(self) -> list[tuple[int, str]]:
        """The sentences with where they start, their closing mark included."""
        return [(match.start(), match.group()) for match in re.finditer(r"[^.?!;]+[.?!;]*", self.text)]

    def sentence(self, at: int) -> tuple[int, str]:
        """The sentence around a place, with where it starts; empty between sentences."""
        around = (sentence for sentence in self.sentences() if 0 <= at - sentence[0] < len(sentence[1]))
        return next(around, (at, ""))
