"""The baseline's rules for places to leave from and go to, and for references to another domain."""

import re

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.scene import Scene
from dsteval.track.baseline.vocabulary import WORDS, any_of, says

_SAME_AS = {part: re.compile(any_of(words)) for part, words in WORDS["same"].items()}


def places(scene: Scene) -> None:
    """Set the places to leave from and to go to, by the word before them, the question, or what is missing."""
    for mention in scene.mentions:
        slots = [(slot, value) for slot, value in mention.readings if slot.kind == "place" and slot.role]
        if not slots or mention.used:
            continue
        domain = scene.domain_at(mention.start, [slot for slot, _ in mention.readings])
        here = {slot.role: {slot.name: value} for slot, value in slots if slot.domain == domain}
        before = scene.said.before(mention.start, 32)
        role = "from" if says("from_place").search(before) else "to" if says("to_place").search(before) else ""
        if not role:
            asked = [slot.role for slot in scene.asked if slot.domain == domain and slot.role in here]
            missing = [end for end in ("to", "from") if end in here and not here[end].keys() & scene.state.keys()]
            role = (asked or missing or [""])[0]
        if role in here:
            scene.new |= here[role]
            mention.used = True


def refer(scene: Scene) -> None:
    """Resolve "from the hotel", "between the two places", "the same day" and "near the museum"."""
    ends = {slot.role: slot for slot in scene.lexicon.of[scene.active] if slot.kind == "place" and slot.role}
    if scene.active == "taxi" and ends:
        if says("both").search(scene.said.text):
            _between(scene, ends)
        _to_and_from(scene, ends)
        if says("in_time").search(scene.said.text):
            _in_time(scene)
    _copies(scene)


def _named(scene: Scene, domain: str) -> str:
    """The name of the thing of a domain that was chosen, or else was offered last."""
    for slot in scene.lexicon.of[domain]:
        if slot.kind == "name":
            return scene.value_of(slot) or scene.memory.offered.get(domain, "")
    return ""


def _between(scene: Scene, ends: dict[str, Slot]) -> None:
    known = [domain for domain in scene.memory.order if domain != scene.active and _named(scene, domain)]
    if len(known) < 2 or len(ends) < 2:
        return
    start, end = known[-2:]
    # One goes from the sights to bed, and to a table rather than from it, unless told otherwise.
    if end == "attraction" or start == "restaurant":
        start, end = end, start
    domains = scene.lexicon.domains
    leaves, reaches = says("leaves").search(scene.said.text), says("reaches").search(scene.said.text)
    left = leaves and (domains.get(f"{leaves[1]} {leaves[2]}") or domains.get(leaves[1]))
    if left == end or (reaches and domains.get(reaches[1]) == start):
        start, end = end, start
    scene.new[ends["from"].name] = _named(scene, start)
    scene.new[ends["to"].name] = _named(scene, end)


def _to_and_from(scene: Scene, ends: dict[str, Slot]) -> None:
    for start, domain, _ in scene.marks:
        name = _named(scene, domain) if domain != scene.active else ""
        before = scene.said.before(start, 34)
        role = "from" if says("from_place").search(before) else "to" if says("to_thing").search(before) else ""
        if not role:
            role = next((slot.role for slot in scene.asked if slot in ends.values()), "")
        if name and role in ends:
            scene.new.setdefault(ends[role].name, name)


def _in_time(scene: Scene) -> None:
    """A taxi to a reservation arrives at the reservation's time."""
    times = [scene.value_of(slot) for slot in scene.lexicon.kinds["time"] if not slot.role]
    booked = next(filter(None, times), "")
    arrivals = [slot for slot in scene.lexicon.of[scene.active] if slot.role == "arrive"]
    if booked and arrivals and arrivals[0].name not in scene.state:
        scene.new[arrivals[0].name] = booked


def _copies(scene: Scene) -> None:
    slots = scene.lexicon.of[scene.active]
    for match in says("same_thing").finditer(scene.said.text):
        for slot in slots:
            part = slot.kind if slot.kind == "date" else slot.role or slot.words[-1]
            if part in _SAME_AS and _SAME_AS[part].search(match["what"]):
                _copy(scene, slot)
    for slot in slots if says("near").search(scene.said.text) else ():
        if slot.words[-1] == "area" and slot.values and slot.name not in scene.new:
            _copy(scene, slot)


def _copy(scene: Scene, slot: Slot) -> None:
    """Take the value of the like slot of the domain that was spoken of last."""
    for domain in reversed(scene.memory.order):
        for other in scene.lexicon.of[domain] if domain != scene.active else ():
            alike = other.kind == slot.kind and other.role == slot.role
            if alike and (slot.kind != "choice" or other.words == slot.words) and other.name in scene.state:
                scene.new[slot.name] = scene.state[other.name]
                return
