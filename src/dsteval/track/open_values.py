"""The baseline's rules for slots whose values no list holds: places, names, dates and times as they were said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dsteval.track.lexicon import Slot
from dsteval.track.patterns import NUMBER
from dsteval.track.scene import Scene

__all__ = ["accept_names", "answers", "dates", "phrases", "spoken_times"]

_MONTHS = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAYS = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_DATE = re.compile(
    rf"\b(?:(?P<bare>the \d{{1,2}}(?:st|nd|rd|th)(?! of))|(?:the )?(?P<value>day after tomorrow|tomorrow|(?:later )?today|(?:next|this|coming) (?:week )?{_DAYS}|"
    rf"{_DAYS} (?:next|this) week|\d{{1,2}}(?:st|nd|rd|th)(?: of (?:this month|next month|{_MONTHS}))?|"
    rf"{_MONTHS}(?: the)? \d{{1,2}}(?:st|nd|rd|th)?|later this week|next week|{_DAYS}))\b",
    re.IGNORECASE,
)
_PART = r"(?: in the (?:morning|afternoon|evening)| at night)"
_TIME = re.compile(
    rf"\b(?:(?:half|quarter) (?:past|to|after) {NUMBER}{_PART}?|\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b\.?|\d{{1,2}}:\d\d{_PART}?|"
    rf"{NUMBER} o['\"’]?clock{_PART}?|(?:morning|afternoon|evening) (?:at )?{NUMBER}(?: o['\"’]?clock|:\d\d)|"
    rf"{NUMBER}{_PART})",
    re.IGNORECASE,
)
_WORD = r"(?!I\b)(?:Dr\. )?[A-Z][\w'’&-]*(?:(?<=\b[A-Z])\.(?= [A-Z]))?"
_PHRASE = re.compile(rf"\b{_WORD}(?:(?: of| the| and| &| de| for| my| a| with)* {_WORD})*(?:, [A-Z]{{2}}\b)?")
_COMMON = frozenset(
    "i im ive ill id yes yeah no nope ok okay sure please what when where which who how can could would will do does did is are "
    "the a an and but that this it its thanks thank great good hi hello hey find get book my me we you your for in on at to "
    "also actually maybe perhaps any anything sounds perfect cool fine nice yep yup nah not make there are let lets im "
    "reserve search show look looking something just well so oh awesome wonderful right correct from with have has had "
    "if or need want like set add change play rent buy alright all some other another more as of here nothing "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december am pm give tell try go goodbye bye thats whats hes shes theres youre ill dont "
    "confirming confirm playing booking sorry congrats unfortunately how about then shall should was were has ah um ummm "
    "exactly ready anyway cheers aye one works read using".split()
)
_ROLE = (
    ("from", re.compile(r"\b(?:from|leaving|departing|out of|leave)(?: the)? $", re.IGNORECASE)),
    ("to", re.compile(r"\b(?:to|into|towards|for|visit|visiting|going)(?: the)? $", re.IGNORECASE)),
    ("by", re.compile(r"\b(?:by|directed by|from)(?: the)? $", re.IGNORECASE)),
    ("with", re.compile(r"\b(?:with|starring|stars|star|featuring|acted by)(?: the)? $", re.IGNORECASE)),
    ("in", re.compile(r"\b(?:in|at|near|around|over in|within)(?: the)? $", re.IGNORECASE)),
    ("named", re.compile(r"\b(?:called|named|try|about|of|titled|hear|play|watch|see|is)(?: the)? $", re.IGNORECASE)),
)
_WORDS = {"by": ("director", "directed", "artist"), "with": ("actors", "starring", "cast")}
_TAKES = re.compile(
    r"\b(?:yes|yeah|yep|yea|yup|sure|ok|okay|good|great|perfect|fine|nice|works|right|correct|cool|love|like|awesome|"
    r"reserve|book|buy|get|wonderful|excellent|interesting|lovely|confirm|please)\b"
)
_TURNS_DOWN = re.compile(r"\b(?:no|nope|nah|another|different|others?|else|instead|not|dont|alternatives?|any more)\b")
_CONFIRMS = re.compile(r"\b(?:confirm|confirming|is that (?:right|correct|okay)|to be clear|just to|you want|you would like|correct|right)\b")
_ELSEWHERE = re.compile(r"\b(?:in|at|on|from|to|by|with|starring|album) (?:the )?$", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:how about|what about|called|named|interested in|suggest|recommend|there is|there's|found|try|like|think of|confirm|does|would)\b",
    re.IGNORECASE,
)
_BOOKED = re.compile(r"\b(?:reservation|table|room|rooms|seats|tickets|people|visit|appointment) (?:at|with|to) (?:the )?$")


def _open(scene: Scene, kinds: tuple[str, ...]) -> list[Slot]:
    return [slot for slot in scene.lexicon.of(scene.memory.active) if slot.open and slot.kind in kinds]


def _candidates(text: str) -> Iterator[tuple[int, str]]:
    """Words with capitals in a row, without what a sentence merely starts with."""
    for match in _PHRASE.finditer(text):
        start, phrase = match.start(), match.group().rstrip(".-'’")
        words = phrase.split()
        while words and words[0].casefold().replace("'", "").replace("’", "") in _COMMON:
            start += len(words[0]) + 1
            words = words[1:]
        if words and not words[0][0].islower():
            yield start, " ".join(words)


def phrases(scene: Scene) -> None:
    """Take names and places that are written with capitals, by the word before them or by what was asked."""
    slots = _open(scene, ("place", "name", "open"))
    if not slots:
        return
    asked = [slot for slot in scene.asked if slot in slots]
    raw = scene.said.raw
    for start, phrase in _candidates(raw):
        if phrase.casefold() in scene.lexicon.spellings or _DATE.fullmatch(phrase):
            continue
        slot = _slot_of(slots, asked, [role for role, pattern in _ROLE if pattern.search(raw[:start][-20:])])
        if slot is not None and slot.name not in scene.new:
            scene.put(slot, phrase)


def _slot_of(slots: list[Slot], asked: list[Slot], roles: list[str]) -> Slot | None:
    for role in roles:
        for slot in slots:
            if slot.role == role or {*_WORDS.get(role, ())} & {*slot.words}:
                return slot
            if role == "named" and slot.kind == "name":
                return slot
        if role in ("in", "to", "from") and not any(slot.role == role for slot in slots):
            places = [slot for slot in slots if slot.kind == "place"]
            plain = [slot for slot in places if not slot.role] or places
            if plain:
                return plain[0]
    return asked[0] if asked else None


_LEAD = re.compile(
    r"^(?:(?:i|i'm|i'd|i'll|it's|its|it|is|am|would|like|want|need|prefer|to|the|a|an|some|something|maybe|how|about|"
    r"let's|lets|say|make|please|find|me|show|go|with|for|in|on|of|well|ok|okay|yes|sure|do|get|any|love|feel|mood|see|hear|"
    r"listen|watch|actually|looking|be|will|my|by|from|at|leaving|going|name|them|interested|i’d|i’m)[ ,]+)+",
    re.IGNORECASE,
)


def answers(scene: Scene) -> None:
    """Take a short answer, less its first words, as the value of the open slot that was asked for."""
    asked = [slot for slot in scene.asked if slot in _open(scene, ("place", "name", "open"))]
    if not asked or asked[0].name in scene.new or any(slot.name in scene.new for slot in asked):
        return
    first = re.split(r"[.?!,]", scene.said.raw.strip())[0]
    said = _LEAD.sub("", first)
    said = re.sub(r"\s+(?:please|movies?|films?|songs?|music|shows?|one|food|type|genre|ones)$", "", said.strip())
    if 0 < len(said.split()) <= 3 and said.casefold() not in _COMMON and not re.search(
        r"\b(?:yes|no|sure|not|thanks?|care|mind|matter|what|anything|else|that|there)\b", said, re.IGNORECASE
    ):  # fmt: skip
        scene.put(asked[0], said)


def dates(scene: Scene) -> None:
    """Take dates as they were said."""
    slots = [slot for slot in scene.lexicon.slots.values() if slot.kind == "date" and slot.open]
    domains = list(dict.fromkeys(slot.domain for slot in slots))
    for match in _DATE.finditer(scene.said.raw):
        domain = scene.memory.active if scene.memory.active in domains else ""
        own = [slot for slot in slots if slot.domain == domain]
        back = bool(re.search(r"\b(?:return\w*|back|until|till|through|drop\w*)\b[^.?!]{0,20}$", scene.said.raw[: match.start()], re.IGNORECASE))
        later = [slot for slot in own if {"return", "dropoff", "end", "checkout"} & {*slot.words}]
        sooner = [slot for slot in own if slot not in later]
        asked = [slot for slot in scene.asked if slot in own and slot.name not in scene.state]
        chosen = (later if back and later else [slot for slot in asked if slot.name not in scene.new] or sooner)[:1]
        for slot in chosen:
            if slot.name not in scene.new:
                scene.put(slot, match["value"] or match["bare"])


def _agrees(scene: Scene) -> bool:
    return bool(_TAKES.search(scene.said.text)) and not _TURNS_DOWN.search(scene.said.text)


def spoken_times(scene: Scene) -> None:
    """Take times as they were said."""
    own = [slot for slot in scene.lexicon.of(scene.memory.active) if slot.kind == "time" and slot.open]
    asked = [slot for slot in scene.asked if slot in own]
    match = _TIME.search(scene.said.raw)
    if match and own:
        scene.put((asked or own)[0], match.group().strip())
    elif own and own[0].name in scene.state and _agrees(scene) and _OFFERS.search(scene.heard.raw) and (
        offered := _TIME.search(scene.heard.raw)
    ):  # fmt: skip
        scene.put(own[0], offered.group())


def amounts(scene: Scene) -> None:
    """Take an amount of money."""
    for slot in scene.lexicon.of(scene.memory.active):
        if slot.open and "amount" in slot.words and (match := re.search(r"\$[\d,.]*\d|\b\d[\d,.]* dollars", scene.said.raw)):
            scene.put(slot, match.group())


def accept_names(scene: Scene) -> None:
    """Take the name that the system offers where the user agrees."""
    offered = scene.lexicon.of(scene.before)
    names = [slot for slot in offered if slot.open and slot.kind == "name" and "recipient" not in slot.words]
    if not names:
        return
    shown = [phrase for _, phrase in _candidates(scene.heard.raw)]
    repeated = [phrase for phrase in shown if len(phrase) > 3 and phrase.casefold() in scene.said.raw.casefold()]
    if repeated and not any(phrase in scene.state.values() for phrase in repeated):
        scene.put(names[0], max(repeated, key=len))
        return
    if not _agrees(scene) or any(slot.name in scene.new for slot in names):
        return
    known = {value.casefold() for value in (scene.state | scene.new).values()}
    for start, phrase in _candidates(scene.heard.raw):
        before = scene.heard.raw[:start]
        if phrase.casefold() in known | {*scene.lexicon.spellings} or _DATE.search(phrase):
            continue
        if re.match(r"[^.?!]{0,12}\b(?:street|road|avenue|ave|drive|way|boulevard|court|lane|blvd)\b", scene.heard.raw[start:], re.IGNORECASE) or re.search(r"\d $", before):
            continue
        if names[0].name in scene.state and not _OFFERS.search(before):
            continue
        if " " not in phrase and re.search(r"(?:^|[.?!:])\s*$", before):
            continue
        if _ELSEWHERE.search(before[-24:]) and not _BOOKED.search(before[-24:]):
            continue
        scene.put(names[0], phrase)
        return
