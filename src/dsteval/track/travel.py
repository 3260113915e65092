"""The baseline's rules for places to leave from and go to, and for references to another domain."""

from __future__ import annotations

import re

from dsteval.track.lexicon import Slot
from dsteval.track.scene import Scene

__all__ = ["places", "refer"]

_FROM = re.compile(r"\b(?:from|leav\w*|depart\w*|out of|pick\w* (?:me |us )?up (?:at|from)|starting (?:at|in)|come from)(?: (?:the|my|in|from|at|is|will be))* $")
_TO = re.compile(r"\b(?:to|destination|into|towards?|arriv\w* (?:in|at)|for|going|reach|visit|get to|and)(?: (?:the|my|is|in|at|will be))* $")


def places(scene: Scene) -> None:
    """Set places to leave from and to go to."""
    for mention in scene.mentions:
        slots = [(slot, value) for slot, value in mention.readings if slot.kind == "place" and slot.role]
        if not slots or not scene.is_free(mention.start, mention.end):
            continue
        domains = list(dict.fromkeys(slot.domain for slot, _ in slots))
        others = list(dict.fromkeys(slot.domain for slot, _ in mention.readings if slot.kind != "place"))
        domain = scene.domain_at(mention.start, domains + others)
        if domain not in domains:
            continue
        before = scene.said.before(mention.start, 32)
        role = "from" if _FROM.search(before) else "to" if _TO.search(before) else ""
        here = {slot.role: (slot, value) for slot, value in slots if slot.domain == domain}
        if not role:
            asked = [slot.role for slot in scene.asked if slot.domain == domain and slot.role in here]
            missing = [one for one in ("to", "from") if one in here and here[one][0].name not in scene.state]
            if len(asked) >= 1:
                role = asked[0]
            elif missing:
                role = missing[0]
        if role in here:
            slot, value = here[role]
            scene.put(slot, value)
            scene.taken.append((mention.start, mention.end))


def _named(scene: Scene, domain: str) -> str:
    for slot in scene.lexicon.of(domain):
        if slot.kind == "name":
            return scene.new.get(slot.name) or scene.state.get(slot.name) or scene.memory.offered.get(domain, "")
    return ""


def refer(scene: Scene) -> None:
    """Resolve "from the hotel", "between the two places" and "the same day"."""
    _rides(scene)
    _same(scene)
    _near(scene)


def _rides(scene: Scene) -> None:
    text = scene.said.text
    riding = [s for s in scene.lexicon.slots.values() if s.kind == "place" and s.role and s.domain == scene.memory.active]
    if not riding or not any(s.values for s in riding) and not any(s.domain == "taxi" for s in riding):
        return
    if riding[0].domain != "taxi":
        return
    by_role = {s.role: s for s in riding}
    if re.search(r"\b(?:two|both|those|the|these)(?: two)? (?:places|locations|place|destinations)\b|\bcommute\b|both places|between (?:the two|them|both|those)", text):
        _between(scene, by_role)
    if "arrive" in text or "time" in text:
        _in_time(scene)
    for start, domain, _ in scene.marks:
        name = _named(scene, domain)
        if not name or domain == riding[0].domain:
            continue
        before = scene.said.before(start, 34)
        role = "from" if _FROM.search(before) else "to" if re.search(r"\b(?:to|and|at|for|reach|into)(?: (?:the|my|this|that|get to))* $", before) else ""
        if not role:
            asked = [s.role for s in scene.asked if s in riding]
            role = asked[0] if asked else ""
        if role in by_role and by_role[role].name not in scene.new:
            scene.put(by_role[role], name)


_NEAR = re.compile(r"\b(?:near(?:by)?|close to|(?:in|around) (?:that|the same) area|next to|close by|same area)\b(?P<what>(?: \w+){0,3})")
_SAME = re.compile(r"\bsame (?P<what>[a-z]+(?: [a-z]+)?(?: [a-z]+)?)")


def _same(scene: Scene) -> None:
    for match in _SAME.finditer(scene.said.text):
        what = match["what"]
        target = scene.memory.active
        for slot in scene.lexicon.of(target):
            if not _about(slot, what):
                continue
            others = [s for d in reversed(scene.memory.order) if d != target for s in scene.lexicon.of(d) if s.kind == slot.kind and s.role == slot.role and (s.kind != "choice" or s.words == slot.words) and s.name in scene.state]
            if others:
                scene.put(slot, scene.state[others[0].name])


def _near(scene: Scene) -> None:
    match = _NEAR.search(scene.said.text)
    target = scene.memory.active
    slot = next((s for s in scene.lexicon.of(target) if "area" in s.words and s.values), None)
    if not match or slot is None or slot.name in scene.new:
        return
    for domain in reversed(scene.memory.order):
        area = next((s for s in scene.lexicon.of(domain) if "area" in s.words and s.name in scene.state), None)
        if domain != target and area:
            scene.put(slot, scene.state[area.name])
            return


def _about(slot: Slot, what: str) -> bool:
    if slot.role == "people":
        return bool(re.search(r"\b(?:group|people|party|number|amount)\b", what))
    if slot.kind == "date":
        return "day" in what or "date" in what
    if "area" in slot.words:
        return bool(re.search(r"\b(?:area|part|side|location)\b", what))
    if "price" in " ".join(slot.words):
        return "price" in what
    return False


def _between(scene: Scene, by_role: dict[str, Slot]) -> None:
    known = [domain for domain in scene.memory.order if domain != scene.memory.active and _named(scene, domain)]
    if len(known) < 2 or len(by_role) < 2:
        return
    start, end = known[-2:]
    if end == "attraction" or start == "restaurant":
        start, end = end, start
    leave = re.search(r"\b(?:leave|leaving|from|depart) (?:the |my )?(\w+(?: \w+)?)", scene.said.text)
    if leave:
        for word in (leave[1], leave[1].split()[0]):
            domain = scene.lexicon.domains.get(word, "")
            if domain == end:
                start, end = end, start
                break
    arrive = re.search(r"\b(?:arrive at|get to|be at|to|at) (?:the |my )?(\w+)", scene.said.text)
    if arrive and scene.lexicon.domains.get(arrive[1], "") == start:
        start, end = end, start
    scene.put(by_role["from"], _named(scene, start))
    scene.put(by_role["to"], _named(scene, end))


def _in_time(scene: Scene) -> None:
    if re.search(r"\b(?:booked time|booking time|reservation time|reservation|in time|on time|the booking|the time of my)\b", scene.said.text):
        time = next((scene.state[s.name] for s in scene.lexicon.slots.values() if s.kind == "time" and not s.role and s.name in scene.state), "")
        target = next((s for s in scene.lexicon.of(scene.memory.active) if s.role == "arrive"), None)
        if time and target and target.name not in scene.state:
            scene.put(target, time)
