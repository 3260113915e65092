"""The baseline's rules for values, numbers, times, days, answers, offers and "any"."""

from __future__ import annotations

import re

from dsteval.track.lexicon import Slot
from dsteval.track.patterns import NUMBER, clock_times, normal, number
from dsteval.track.scene import Mention, Scene

__all__ = ["accept_offers", "answer", "any_value", "ask", "days", "flags", "numbers", "times", "values"]

DONTCARE = "dontcare"
_ANY = re.compile(
    r"\b(?:(?:i )?(?:really )?(?:do ?nt|dont|do not|does not|doesnt|not) (?:really |actually )?(?:care|mind|matter|picky|"
    r"have (?:an?|any) (?:particular |specific |real |strong )?preference|have preference|have one in mind)|"
    r"no (?:particular |specific |real )?preference|"
    r"no preferences|any(?:thing|where|time)?(?: (?:is|will|would|area|price|part|of them|type|one|price range|day|"
    r"star|kind|location|food|cuisine))(?: (?:is|be|do|works?|fine|ok|okay))*|anywhere|anything|not particular|"
    r"surprise me|whichever|whatever|doesnt matter|not important|isnt important|either(?: one)?(?: is)? "
    r"(?:fine|ok|okay)|either|open to any|flexible|no matter|nt matter|"
    r"doesn t matter|open to|you (?:choose|pick|decide)|any will do|nothing specific|no specific|no (?:area|price|price range|type|"
    r"location|food|particular)\b(?: \w+)? preference|have an? (?:\w+ )?(?:area|price|type|location|food)? ?(?:preference|in mind)|"
    r"no price range|no particular)\b"
)
_PREFERENCE = re.compile(r"\b(?:particular|specific|preference|certain|preferred|in mind|prefer|matter)\b")
_NONE = re.compile(r"^(?:no(?: i)? ?(?:,|\.|but|dont|do not|i dont|i do not|$)|not really|nope|i (?:dont|do not) [.])")
_YES = re.compile(
    r"^(?:(?:oh|ok|okay|hi|hello|great|well|actually|um|and) [,.]? ?)*(?:yes|yeah|yep|yea|yup|sure|please|absolutely|"
    r"definitely|correct|of course|ok|okay|that|sounds|perfect|great|fine|go ahead|i would|lets|wonderful|awesome|good|"
    r"excellent|right|exactly|i do|works)\b"
)
_TAKEN = re.compile(
    r"\b(?:phone|address|postcode|post code|postal|fee|number|zip|info|information|book|reserve|reservation|table|"
    r"sounds?|good|great|perfect|fine|nice|lovely|works?|yes|sure|please|okay)\b"
)
_NO = re.compile(
    r"\b(?:no|nope|nah|another|different|anything else|other|others|else|instead|not interested|rather not|"
    r"dont (?:want|like))\b"
)
_UNITS = {
    "people": r"(?:people|persons?|guests?|adults?|of us|tickets?|seats?|travell?ers?|passengers?|diners|friends|"
    r"individuals|others|riders?|ppl|spots)",
    "stay": r"(?:nights?|days?)",
    "stars": r"stars?",
    "rooms": r"rooms?",
    "beds": r"(?:beds?|bedrooms?|bed rooms?)",
    "baths": r"(?:baths?|bathrooms?|bath rooms?)",
    "bags": r"(?:bags?|suitcases?|pieces of luggage|checked bags?)",
    "stops": r"(?:stops?|transfers?|layovers?)",
}
_MORE = r"(?:more |other |full |total |additional |checked |different |consecutive )?"
_COUNTS = {
    role: re.compile(rf"\b(?P<n>{NUMBER}|an?|single) {_MORE}{unit}\b") for role, unit in _UNITS.items()
}
_GROUP = re.compile(
    rf"\b(?:party of|group of|table for|book for|room for|it for|reservation for|tickets? for|seats? for|booked for|"
    rf"total of|there (?:will|ll) be|therell be|there are|one for|taxi for|there for|rooms for|reservations for|"
    rf"train for|for just|for only|booking for) (?:a total of |just |only |about )?"
    rf"(?P<n>{NUMBER})\b(?! ?(?:nights?|days?|stars?|am|pm|:|o ?clock|a m|p m|or|of them|rooms?|minutes|hours))"
)
_FOR = re.compile(rf"\bfor (?P<n>{NUMBER})(?: please)?(?= (?:[.,!?]|on|at|and|from|starting|with|in|leaving)|$)")
_ALONE = re.compile(
    r"\b(?:just (?:for )?(?:me|myself|one|1)|only (?:for )?(?:me|myself|one|1)|by myself|for myself|alone|solo|"
    r"its just me|(?:just|only) (?:the )?one person|one person|myself only|just one person)\b"
)
_RATED = re.compile(rf"\b(?:stars?|rating|rated|star rating)(?: (?:of|is|at|should be|as|an?|with))* (?P<n>{NUMBER})\b")


def ask(scene: Scene) -> None:
    """Find the slots that the system asks for, in the domain it speaks of."""
    for _, sentence in scene.heard.sentences():
        if "?" not in sentence and not re.search(
            r"\b(?:i need|let me know|prefer|preference|may i|please (?:tell|provide|specify)|do you|would you|could you"
            r"|what|how many|how long|which|need to know|if you)\b", sentence
        ):  # fmt: skip
            continue
        domain = _heard_domain(scene, sentence)
        for slot in scene.lexicon.of(domain):
            if any(re.search(rf"\b{re.escape(cue)}\b", sentence) for cue in slot.cues) and slot not in scene.asked:
                scene.asked.append(slot)


def _heard_domain(scene: Scene, sentence: str) -> str:
    words = sentence.split()
    for at in range(len(words)):
        for length in (3, 2, 1):
            domain = scene.lexicon.domains.get(" ".join(words[at : at + length]))
            if domain:
                return domain
    return scene.memory.active


def values(scene: Scene) -> None:
    """Set the values of closed slots and names that the user says."""
    for mention in scene.mentions:
        if not scene.is_free(mention.start, mention.end) or scene.negated(mention.start):
            continue
        readings = [
            (slot, value) for slot, value in mention.readings if slot.kind != "place" and _fits(scene, mention, slot)
        ]
        domain = scene.domain_at(mention.start, list(dict.fromkeys(slot.domain for slot, _ in readings)))
        if scene.lexicon.opened and domain != scene.memory.active:
            continue
        for slot, value in readings:
            if slot.domain == domain:
                scene.put(slot, value)
                if slot.kind == "name":
                    scene.taken.append((mention.start, mention.end))
                break


def _fits(scene: Scene, mention: Mention, slot: Slot) -> bool:
    # A domain's own word ("hotel" as hotel-type) is a value only where the type is in question.
    if scene.lexicon.domains.get(mention.spelled) == slot.domain and slot.kind == "choice":
        if mention.spelled.startswith(slot.domain):
            around = scene.said.before(mention.start, 25) + "|" + scene.said.after(mention.end, 20)
            if scene.state.get(slot.name, mention.spelled) != mention.spelled and re.search(r"\ban?(?: \w+){0,3} $", scene.said.before(mention.start)):
                return True
            return slot in scene.asked or bool(re.search(r"\b(?:type|be an?|kind)\b|guest ?house", around))
    if slot.kind == "choice" and mention.spelled in scene.lexicon.domains:
        return not any(start == mention.start and reference for start, _, reference in scene.marks)
    return True


def flags(scene: Scene) -> None:
    """Set the yes/no slots that the user speaks of."""
    for slot in scene.lexicon.slots.values():
        if slot.kind != "flag":
            continue
        cue = next((m for cue in slot.cues if (m := re.search(rf"\b{re.escape(cue)}\b", scene.said.text))), None)
        if cue is None or scene.lexicon.opened and (slot.domain != scene.memory.active or _asks(scene, cue.start())):
            continue
        before = scene.said.before(cue.start(), 40)
        yes, no = slot.values.get("yes", "True"), slot.values.get("no", "False")
        if re.search(r"\b(?:dont need|not need|no need|doesnt need|without|no|doesnt have to|dont want)\b[^,]*$", before):
            scene.put(slot, no)
        else:
            scene.put(slot, yes)


def _asks(scene: Scene, at: int) -> bool:
    """Whether the sentence at that place is a question about a thing rather than a wish."""
    for start, sentence in scene.said.sentences():
        if start <= at < start + len(sentence):
            return "?" in sentence and bool(re.search(r"\b(?:do|does|is|are|can i|what|how)\b", sentence))
    return False


def numbers(scene: Scene) -> None:
    """Set counted things: people, nights, stars."""
    text = scene.said.text
    for role, pattern in _COUNTS.items():
        slots = [slot for slot in scene.lexicon.slots.values() if slot.role == role]
        if not slots:
            continue
        matches = [*pattern.finditer(text)]
        if role == "people":
            matches += [*_GROUP.finditer(text)]
            matches = matches or [*_FOR.finditer(text)]
        if role == "stars":
            matches += [*_RATED.finditer(text)]
        for match in matches:
            value = number(match["n"])
            value = "1" if value in ("a", "an", "single") else value
            if slots[0].open and value != "1":
                value = match["n"]
            if match["n"] in ("a", "an", "single") and role not in ("stay", "people"):
                continue
            if scene.negated(match.start()):
                continue
            _count(scene, match.start(), slots, value)
        if role == "people" and not matches and (match := _ALONE.search(text)):
            _count(scene, match.start(), slots, "1")


def _count(scene: Scene, at: int, slots: list[Slot], value: str) -> None:
    domain = scene.domain_at(at, list(dict.fromkeys(slot.domain for slot in slots)))
    if scene.lexicon.opened and domain != scene.memory.active:
        return
    for slot in slots:
        if slot.domain == domain and (slot.open or value in slot.values or not slot.values):
            scene.put(slot, slot.values.get(value, value))


def times(scene: Scene) -> None:
    """Set times: leaving, arriving, or the booking's."""
    slots = [slot for slot in scene.lexicon.slots.values() if slot.kind == "time" and not slot.open]
    for start, end, time in clock_times(scene.said.text):
        role = _time_role(scene, start)
        fitting = [slot for slot in slots if slot.role == role] if role else slots
        domain = scene.domain_at(start, list(dict.fromkeys(slot.domain for slot in fitting)))
        chosen = [slot for slot in fitting if slot.domain == domain]
        if not chosen and role:
            domain = scene.domain_at(start, list(dict.fromkeys(slot.domain for slot in slots)))
            chosen = [slot for slot in slots if slot.domain == domain]
        if len(chosen) > 1:
            chosen = [slot for slot in chosen if slot in scene.asked] or [
                slot for slot in chosen if slot.role in ("", "leave")
            ]
        for slot in chosen[:1]:
            scene.put(slot, time)


def _time_role(scene: Scene, start: int) -> str:
    before = scene.said.before(start, 60)
    leave = [m.end() for m in re.finditer(r"\b(?:leav\w*|depart\w*|pick\w*|after|go at|out at|travel)\b", before)]
    arrive = [m.end() for m in re.finditer(r"\b(?:arriv\w*|get (?:me )?(?:there|in|to)|by|before|be there|reach)\b", before)]
    last = (max(leave, default=-1), max(arrive, default=-1))
    if re.search(r"\b(?:leav\w*|depart\w*) (?:(?!arriv|and |get |be )\w+ ){0,4}(?:by|before) $", before):
        return "leave"
    return "" if last == (-1, -1) else "leave" if last[0] > last[1] else "arrive"


_DAY = re.compile(r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|wedn?esday|thurday)\b")


def days(scene: Scene) -> None:
    """Set days of the week."""
    slots = [slot for slot in scene.lexicon.slots.values() if slot.kind == "date" and not slot.open]
    for match in _DAY.finditer(scene.said.text):
        if scene.negated(match.start()):
            continue
        domain = scene.domain_at(match.start(), list(dict.fromkeys(slot.domain for slot in slots)))
        for slot in slots:
            if slot.domain == domain:
                scene.put(slot, match.group().removesuffix("s"))
                break


def any_value(scene: Scene) -> None:
    """Set "do not care" where the user says so, of the slot named beside it or the ones asked for."""
    for start, sentence in scene.said.sentences():
        for match in _ANY.finditer(sentence):
            found = [
                slot for slot in scene.lexicon.of(scene.memory.active)
                if slot.kind in ("choice", "flag", "number", "time", "place") and slot.name not in scene.new
                and any(re.search(rf"\b{re.escape(cue)}\b", sentence) for cue in slot.cues[:9])
                and slot.role not in ("people", "stay")
            ]  # fmt: skip
            asked = [slot for slot in scene.asked if slot.kind != "name" and slot.role not in ("people", "stay") and slot.name not in scene.new and slot.name not in scene.state]
            for slot in found[:2] or asked[:1]:
                _no_matter(scene, slot)
    if _NONE.search(scene.said.text) and not scene.new and _PREFERENCE.search(scene.heard.text):
        for slot in scene.asked[:1]:
            if slot.kind in ("choice", "flag") and slot.name not in scene.state:
                _no_matter(scene, slot)


def _no_matter(scene: Scene, slot: Slot) -> None:
    # Whoever gives one time leaves the other open; that is no wish.
    if slot.kind == "time" and any(
        other.kind == "time" and other.name in scene.state | scene.new for other in scene.lexicon.of(slot.domain)
    ):
        return
    if slot.kind != "date" and slot.role not in ("people", "stay"):
        scene.put(slot, DONTCARE)


def answer(scene: Scene) -> None:
    """Take a bare number, "yes" or "no" as the answer to what the system asked."""
    text = scene.said.text
    for slot in scene.asked:
        if slot.name in scene.new:
            continue
        if slot.kind == "number" and (match := re.search(rf"^(?:\w+ ){{0,3}}?(?P<n>{NUMBER})\b(?! (?:or|:))", text)):
            if not any(value == number(match["n"]) for value in scene.new.values()):
                scene.put(slot, number(match["n"]))
        elif slot.kind == "flag" and re.match(r"(?:yes|yeah|sure|no|nope)\b", text):
            yes = text.startswith(("yes", "yeah", "sure"))
            scene.put(slot, slot.values.get("yes" if yes else "no", str(yes)))


def accept_offers(scene: Scene) -> None:
    """Take the one name that the system offers, unless the user turns it down."""
    names: dict[str, dict[str, str]] = {}
    for mention in scene.shown:
        for slot, value in mention.readings:
            if slot.kind == "name":
                names.setdefault(slot.domain, {})[value] = slot.name
    for domain, values in names.items():
        name, slot = [*values.items()][-1]
        scene.memory.offered[domain] = [*values][0]
        if len(values) > 1 or _NO.search(scene.said.text[:60]) or slot in scene.new:
            continue
        if any(mark[1] != domain and not mark[2] for mark in scene.marks) or not _TAKEN.search(scene.said.text):
            continue
        if slot in scene.state and normal(scene.state[slot]) == normal(name):
            continue
        scene.put(scene.lexicon.slots[slot], name)


def accept_values(scene: Scene) -> None:
    """Take a value of a closed slot that the system offers where the user agrees."""
    if not _TAKEN.search(scene.said.text) or _NO.search(scene.said.text[:60]):
        return
    shown: dict[str, dict[str, Slot]] = {}
    for mention in scene.shown:
        for slot, value in mention.readings:
            if slot.kind == "choice" and slot.domain == scene.before:
                shown.setdefault(slot.name, {})[value] = slot
    for name, values in shown.items():
        if len(values) == 1 and name not in scene.state and name not in scene.new:
            for value, slot in values.items():
                scene.put(slot, value)
