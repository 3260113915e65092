"""The baseline's rules for slots whose values no list holds: places, names, dates and times as they were said."""

import re
from collections.abc import Iterator

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.scene import Scene
from dsteval.track.baseline.vocabulary import WORDS, any_of, says

_WORD = r"(?!I\b)(?:Dr\. )?[A-Z][\w'\u2019&-]*(?:(?<=\b[A-Z])\.(?= [A-Z]))?"
_PHRASE = re.compile(rf"\b{_WORD}(?:(?: of| the| and| &| de| for| my| a| with)* {_WORD})*(?:, [A-Z]{{2}}\b)?")
_COMMON = frozenset(WORDS["openers"].split())
_LEADS = {role: re.compile(any_of(words) + "(?: the)? $", re.IGNORECASE) for role, words in WORDS["leads"].items()}
_WORDS = {"by": ("director", "directed", "artist"), "with": ("actors", "starring", "cast")}
_LATER = frozenset({"return", "dropoff", "end", "checkout"})


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
        roles = [role for role, lead in _LEADS.items() if lead.search(raw[:start][-20:])]
        known = phrase.casefold() in scene.lexicon.spellings or says("date").fullmatch(phrase)
        for slot in () if known else _slots_of(slots, roles)[:1] or asked[:1]:
            scene.new.setdefault(slot.name, phrase)


def _slots_of(slots: list[Slot], roles: list[str]) -> list[Slot]:
    for role in roles:
        words = {*_WORDS.get(role, ())}
        fitting = [slot for slot in slots if slot.role == role or words & {*slot.words}]
        if role == "named":
            fitting = [slot for slot in slots if slot.kind == "name"]
        elif role in ("in", "to", "from") and not fitting:
            places = [slot for slot in slots if slot.kind == "place"]
            fitting = [slot for slot in places if not slot.role] or places
        if fitting:
            return fitting
    return []


def answers(scene: Scene) -> None:
    """Take a short answer, less its first words, as the value of the open slot that was asked for."""
    _, asked = _open(scene, "place", "name", "open")
    if not asked or any(slot.name in scene.new for slot in asked):
        return
    said = says("tail").sub("", says("beginning").sub("", re.split(r"[.?!,]", scene.said.raw.strip())[0]).strip())
    if 0 < len(said.split()) <= 3 and said.casefold() not in _COMMON and not says("evasion").search(said):
        scene.new[asked[0].name] = said


def dates(scene: Scene) -> None:
    """Take dates as they were said: the later one of a journey after words like "return"."""
    slots, asked = _open(scene, "date")
    later = [slot for slot in slots if _LATER & {*slot.words}]
    for match in says("date").finditer(scene.said.raw) if slots else ():
        back = says("back").search(scene.said.raw[: match.start()])
        unknown = [slot for slot in asked if not scene.value_of(slot)]
        fitting = (later if back else []) or unknown or [slot for slot in slots if slot not in later]
        for slot in fitting[:1]:
            scene.new.setdefault(slot.name, match["value"] or match["bare"])


def spoken_times(scene: Scene) -> None:
    """Take times as they were said, or another one that the system offers and the user agrees to."""
    slots, asked = _open(scene, "time")
    if not slots:
        return
    if match := says("time").search(scene.said.raw):
        scene.new[(asked or slots)[0].name] = match.group().strip()
    elif slots[0].name in scene.state and "offers" in scene.on and scene.accepts("agreed", "turned_down"):
        offered = says("time").search(scene.heard.raw)
        if offered and says("offering").search(scene.heard.raw):
            scene.new[slots[0].name] = offered.group()


def amounts(scene: Scene) -> None:
    """Take an amount of money."""
    for slot in _open(scene, "open", "number")[0]:
        if "amount" in slot.words and (match := says("money").search(scene.said.raw)):
            scene.new[slot.name] = match.group()


def accept_names(scene: Scene) -> None:
    """Take the name that the system offers where the user repeats it or agrees."""
    slots = [slot for slot in scene.lexicon.of[scene.memory.active] if slot.open and slot.kind == "name"]
    name = next((slot for slot in slots if "recipient" not in slot.words), None)
    if name is None:
        return
    said = scene.said.raw.casefold()
    shown = [phrase for _, phrase in _candidates(scene.heard.raw)]
    repeated = [phrase for phrase in shown if len(phrase) > 3 and phrase.casefold() in said]
    if repeated and not {*repeated} & {*scene.state.values()}:
        scene.new[name.name] = max(repeated, key=len)
    elif (
        scene.accepts("agreed", "turned_down")
        and name.name not in scene.new
        and (offered := _offered(scene, name))
    ):
        scene.new[name.name] = offered


def _offered(scene: Scene, name: Slot) -> str:
    """The first name in what the system says that is no place, street, date or known value."""
    known = {value.casefold() for value in (scene.state | scene.new).values()}
    for start, phrase in _candidates(scene.heard.raw):
        before, rest = scene.heard.raw[:start], scene.heard.raw[start:]
        folded = phrase.casefold()
        if folded in known or folded in scene.lexicon.spellings or says("date").search(phrase):
            continue
        if says("has_address").match(rest) or re.search(r"\d $", before):
            continue
        if name.name in scene.state and not says("offering").search(before):
            continue
        begins = " " not in phrase and re.search(r"(?:^|[.?!:])\s*$", before)
        if not begins and (not says("elsewhere").search(before[-24:]) or says("booked_at").search(before[-24:])):
            return phrase
    return ""
