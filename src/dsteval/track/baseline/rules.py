"""The baseline's rules for what the user says outright: values, yes/no slots, numbers, times, days."""

import re

from rapidfuzz import fuzz, process

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.patterns import clock_times, number
from dsteval.track.baseline.scene import Mention, Scene
from dsteval.track.baseline.vocabulary import WORDS, any_of, phrases_of, says

_COUNTS = {role: re.compile(phrases_of("counted") + any_of(units)) for role, units in WORDS["units"].items()}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def values(scene: Scene) -> None:
    """Set the values of closed slots and the names that the user says."""
    for mention in scene.mentions:
        if mention.used or scene.negated(mention.start):
            continue
        readings = [(slot, value) for slot, value in mention.readings if _fits(scene, mention, slot)]
        domain = scene.domain_at(mention.start, [slot for slot, _ in readings])
        for slot, value in readings if not scene.lexicon.opened or domain == scene.active else ():
            if slot.domain == domain:
                scene.new[slot.name] = value
                mention.used = slot.kind == "name"
                break


def _fits(scene: Scene, mention: Mention, slot: Slot) -> bool:
    """Whether a word is meant as a value of this slot: "a hotel" is a topic more often than a hotel-type."""
    if slot.kind != "choice" or mention.spelled not in scene.lexicon.domains:
        return slot.kind != "place"
    if not mention.spelled.startswith(slot.domain):
        return not any(start == mention.start and reference for start, _, reference in scene.marks)
    before = scene.said.before(mention.start, 25)
    other = scene.state.get(slot.name, mention.spelled) != mention.spelled
    if other and "changes" in scene.on and re.search(r"\ban?(?: \w+){0,3} $", before):
        return True
    return slot in scene.asked or bool(says("types").search(f"{before}|{scene.said.after(mention.end, 20)}"))


def flags(scene: Scene) -> None:
    """Set the yes/no slots that the user speaks of."""
    for slot in scene.lexicon.kinds["flag"]:
        cue = slot.cues.search(scene.said.text)
        if cue is None:
            continue
        _, sentence = scene.said.sentence(cue.start())
        asks = "?" in sentence and says("question").search(sentence)  # rather than wishes
        if scene.lexicon.opened and (slot.domain != scene.active or asks):
            continue
        refused = says("declined").search(scene.said.before(cue.start(), 40)) and "changes" in scene.on
        scene.new[slot.name] = slot.truth(not refused)


def numbers(scene: Scene) -> None:
    """Set counted things: people, nights, stars."""
    text = scene.said.text
    for role, pattern in _COUNTS.items():
        slots = [slot for slot in scene.lexicon.slots.values() if slot.role == role]
        matches = [*pattern.finditer(text)]
        if role == "people":
            matches = [*matches, *says("group_of").finditer(text)] or [*says("for_people").finditer(text)]
        elif role == "stars":
            matches += says("rated").finditer(text)
        for match in matches:
            single = match["n"] in ("a", "an", "single")
            if (not single or says("one_thing").search(match.group())) and not scene.negated(match.start()):
                _count(scene, match.start(), slots, "one" if single else match["n"])
        if role == "people" and not matches and (alone := says("alone").search(text)):
            _count(scene, alone.start(), slots, "one")


def _count(scene: Scene, at: int, slots: list[Slot], said: str) -> None:
    value = number(said)
    for slot in _in_domain(scene, at, slots):
        passed_over = scene.lexicon.opened and slot.domain != scene.active
        if not passed_over and (slot.open or value in slot.values or not slot.values):
            scene.new[slot.name] = said if slot.open else slot.values.get(value, value)


def times(scene: Scene) -> None:
    """Set times: leaving, arriving, or the booking's."""
    slots = [slot for slot in scene.lexicon.kinds["time"] if not slot.open]
    for start, time in clock_times(scene.said.text) if slots else ():
        role = _time_role(scene.said.before(start, 60))
        chosen = _in_domain(scene, start, [slot for slot in slots if slot.role == role]) if role else []
        chosen = chosen or _in_domain(scene, start, slots)
        if len(chosen) > 1:
            asked = [slot for slot in chosen if slot in scene.asked]
            chosen = asked or [slot for slot in chosen if slot.role in ("", "leave")]
        for slot in chosen[:1]:
            scene.new[slot.name] = time


def _in_domain(scene: Scene, start: int, slots: list[Slot]) -> list[Slot]:
    domain = scene.domain_at(start, slots)
    return [slot for slot in slots if slot.domain == domain]


def _time_role(before: str) -> str:
    if says("leave_by").search(before):
        return "leave"
    leave, arrive = (max([m.end() for m in says(role).finditer(before)] or [-1]) for role in ("leave", "arrive"))
    return "" if leave == arrive else "leave" if leave > arrive else "arrive"


def days(scene: Scene) -> None:
    """Set days of the week."""
    slots = [slot for slot in scene.lexicon.kinds["date"] if not slot.open]
    pattern = says("like_a_weekday") if "spelling" in scene.on else says("weekday")
    for match in pattern.finditer(scene.said.text) if slots else ():
        day = process.extractOne(match.group().removesuffix("s"), _DAYS, scorer=fuzz.ratio, score_cutoff=80)
        if day and not scene.negated(match.start()):
            for slot in _in_domain(scene, match.start(), slots)[:1]:
                scene.new[slot.name] = day[0]
