"""The baseline's rules for slots whose values no list holds: places, names, dates and times as they were said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.patterns import NUMBER
from dsteval.track.baseline.scene import Scene
from dsteval.track.baseline.vocabulary import WORDS, any_of, phrases_of, says

_MONTHS = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAYS = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_DATE = re.compile(
    rf"\b(?:(?P<bare>the \d{{1,2}}(?:st|nd|rd|th)(?! of))|"
    rf"(?:the )?(?P<value>day after tomorrow|tomorrow|(?:later )?today|(?:next|this|coming) (?:week )?{_DAYS}|"
    rf"{_DAYS} (?:next|this) week|\d{{1,2}}(?:st|nd|rd|th)(?: of (?:this month|next month|{_MONTHS}))?|"
    rf"{_MONTHS}(?: the)? \d{{1,2}}(?:st|nd|rd|th)?|later this week|next week|{_DAYS}))\b",
    re.IGNORECASE,
)
_PART = r"(?: in the (?:morning|afternoon|evening)| at night)"
_TIME = re.compile(
    rf"\b(?:(?:half|quarter) (?:past|to|after) {NUMBER}{_PART}?|\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b\.?|"
    rf"\d{{1,2}}:\d\d{_PART}?|{NUMBER} o['\"\u2019]?clock{_PART}?|{NUMBER}{_PART}|"
    rf"(?:morning|afternoon|evening) (?:at )?{NUMBER}(?: o['\"\u2019]?clock|:\d\d))",
    re.IGNORECASE,
)
_WORD = r"(?!I\b)(?:Dr\. )?[A-Z][\w'\u2019&-]*(?:(?<=\b[A-Z])\.(?= [A-Z]))?"
_PHRASE = re.compile(rf"\b{_WORD}(?:(?: of| the| and| &| de| for| my| a| with)* {_WORD})*(?:, [A-Z]{{2}}\b)?")
_COMMON = frozenset(WORDS["openers"].split())
_LEADS = {role: re.compile(any_of(words) + "(?: the)? $", re.IGNORECASE) for role, words in WORDS["leads"].items()}
_WORDS = {"by": ("director", "directed", "artist"), "with": ("actors", "starring", "cast")}
_LATER = frozenset({"return", "dropoff", "end", "checkout"})
_BACK = re.compile(r"\b(?:return\w*|back|until|till|through|drop\w*)\b[^.?!]{0,20}$", re.IGNORECASE)
_ADDRESS = re.compile("[^.?!]{0,12}" + phrases_of("address"), re.IGNORECASE)
_BEGINS = re.compile(rf"^(?:{phrases_of('begins')}[ ,]+)+", re.IGNORECASE)
_TAIL = re.compile(r"\s+(?:please|movies?|films?|songs?|music|shows?|one|food|type|genre|ones)$")
_MONEY = re.compile(r"\$[\d,.]*\d|\b\d[\d,.]* dollars")
_ELSEWHERE = re.compile(r"\b(?:in|at|on|from|to|by|with|starring|album) (?:the )?$", re.IGNORECASE)
_BOOKED = re.compile(phrases_of("booked") + " (?:at|with|to) (?:the )?$")


def _open(scene: Scene, *kinds: str) -> tuple[list[Slot], list[Slot]]:
    """The slots of these kinds, of the domain at hand, that no list limits; and those that the system asks for."""
    slots = [slot for slot in scene.lexicon.of[scene.active] if slot.open and slot.kind in kinds]
    return slots, [slot for slot in scene.asked if slot in slots]


def _candidates(text: str) -> Iterator[tuple[int, str]]:
    """Words with capitals in a row, without what a sentence merely starts with."""
    for match in _PHRASE.finditer(text):
        start, phrase = match.start(), match.group().rstrip(".-'\u2019")
        words = phrase.split()
        while words and words[0].casefold().replace("'", "").replace("\u2019", "") in _COMMON:
            start += len(words[0]) + 1
            words = words[1:]
        if words and not words[0][0].islower():
            yield start, " ".join(words)


def phrases(scene: Scene) -> None:
    """Take names and places that are written with capitals, by the word before them or by what was asked."""
    slots, asked = _open(scene, "place", "name", "open")
    raw = scene.said.raw
    for start, phrase in _candidates(raw) if slots else ():
        if phrase.casefold() in scene.lexicon.spellings or _DATE.fullmatch(phrase):
            continue
        slot = _slot_of(slots, asked, [role for role, lead in _LEADS.items() if lead.search(raw[:start][-20:])])
        if slot is not None:
            scene.new.setdefault(slot.name, phrase)


def _slot_of(slots: list[Slot], asked: list[Slot], roles: list[str]) -> Slot | None:
    for role in roles:
        words = {*_WORDS.get(role, ())}
        fitting = [slot for slot in slots if slot.role == role or words & {*slot.words}]
        if role == "named":
            fitting = [slot for slot in slots if slot.kind == "name"]
        elif role in ("in", "to", "from") and not fitting:
            places = [slot for slot in slots if slot.kind == "place"]
            fitting = [slot for slot in places if not slot.role] or places
        if fitting:
            return fitting[0]
    return asked[0] if asked else None


def answers(scene: Scene) -> None:
    """Take a short answer, less its first words, as the value of the open slot that was asked for."""
    _, asked = _open(scene, "place", "name", "open")
    if not asked or any(slot.name in scene.new for slot in asked):
        return
    said = _TAIL.sub("", _BEGINS.sub("", re.split(r"[.?!,]", scene.said.raw.strip())[0]).strip())
    if (
        0 < len(said.split()) <= 3
        and said.casefold() not in _COMMON
        and not says("no_answer", re.IGNORECASE).search(said)
    ):
        scene.new[asked[0].name] = said


def dates(scene: Scene) -> None:
    """Take dates as they were said: the later one of a journey after words like "return"."""
    slots, asked = _open(scene, "date")
    later = [slot for slot in slots if _LATER & {*slot.words}]
    for match in _DATE.finditer(scene.said.raw) if slots else ():
        fitting = later
        if not later or not _BACK.search(scene.said.raw[: match.start()]):
            unknown = [slot for slot in asked if not scene.value_of(slot)]
            fitting = unknown or [slot for slot in slots if slot not in later]
        for slot in fitting[:1]:
            scene.new.setdefault(slot.name, match["value"] or match["bare"])


def _agrees(scene: Scene) -> bool:
    return bool(says("agreed").search(scene.said.text)) and not says("turned_down").search(scene.said.text)


def spoken_times(scene: Scene) -> None:
    """Take times as they were said, or another one that the system offers and the user agrees to."""
    slots, asked = _open(scene, "time")
    if not slots:
        return
    if match := _TIME.search(scene.said.raw):
        scene.new[(asked or slots)[0].name] = match.group().strip()
    elif slots[0].name in scene.state and "offers" in scene.on and _agrees(scene):
        offered = _TIME.search(scene.heard.raw)
        if offered and says("offers", re.IGNORECASE).search(scene.heard.raw):
            scene.new[slots[0].name] = offered.group()


def amounts(scene: Scene) -> None:
    """Take an amount of money."""
    for slot in _open(scene, "open", "number")[0]:
        if "amount" in slot.words and (match := _MONEY.search(scene.said.raw)):
            scene.new[slot.name] = match.group()


def accept_names(scene: Scene) -> None:
    """Take the name that the system offers where the user repeats it or agrees."""
    slots = [slot for slot in scene.lexicon.of[scene.before] if slot.open and slot.kind == "name"]
    name = next((slot for slot in slots if "recipient" not in slot.words), None)
    if name is None:
        return
    said = scene.said.raw.casefold()
    shown = [phrase for _, phrase in _candidates(scene.heard.raw)]
    repeated = [phrase for phrase in shown if len(phrase) > 3 and phrase.casefold() in said]
    if repeated and not {*repeated} & {*scene.state.values()}:
        scene.new[name.name] = max(repeated, key=len)
    elif _agrees(scene) and name.name not in scene.new and (offered := _offered(scene, name)):
        scene.new[name.name] = offered


def _offered(scene: Scene, name: Slot) -> str:
    """The first name in what the system says that is no place, street, date or known value."""
    known = {value.casefold() for value in (scene.state | scene.new).values()}
    for start, phrase in _candidates(scene.heard.raw):
        before, rest = scene.heard.raw[:start], scene.heard.raw[start:]
        if phrase.casefold() in known or phrase.casefold() in scene.lexicon.spellings or _DATE.search(phrase):
            continue
        if _ADDRESS.match(rest) or re.search(r"\d $", before):
            continue
        if name.name in scene.state and not says("offers", re.IGNORECASE).search(before):
            continue
        begins = " " not in phrase and re.search(r"(?:^|[.?!:])\s*$", before)
        if not begins and (not _ELSEWHERE.search(before[-24:]) or _BOOKED.search(before[-24:])):
            return phrase
    return ""
