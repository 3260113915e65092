"""The baseline's rules for what the user says to the system: answers, "any", offers taken up."""

from __future__ import annotations

import re

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.patterns import NUMBER, normal, number
from dsteval.track.baseline.scene import Scene, domain_words_in
from dsteval.track.baseline.vocabulary import phrases_of

__all__ = ["accept_names", "accept_values", "answer", "any_value", "ask", "drop"]

DONTCARE = "dontcare"
_ASKS = re.compile(r"\?|" + phrases_of("asks"))
_ANY = re.compile(phrases_of("any"))
_PREFERENCE = re.compile(r"\b(?:particular|specific|preference|certain|preferred|in mind|prefer|matter)\b")
_NONE = re.compile(
    r"^(?:no(?: i)? ?(?:,|\.|but|dont|do not|i dont|i do not|$)|not really|nope|i (?:dont|do not) [.])"
)
_TAKEN = re.compile(phrases_of("taken"))
_REFUSED = re.compile(phrases_of("refused"))
_OTHER = re.compile(
    r"\b(?:another (?:one|hotel|restaurant|place|attraction)|something else|different (?:one|place))\b"
)
_BARE = re.compile(rf"^(?:{phrases_of('bare')} )*(?P<n>{NUMBER})(?: please| only| thanks?)?(?: [.,!?]| and\b|$)")
_COUNTED = frozenset({"people", "stay"})


def ask(scene: Scene) -> None:
    """Find the slots that the system asks for, in the domain that its sentence speaks of."""
    for _, sentence in scene.heard.sentences():
        if not _ASKS.search(sentence):
            continue
        _, domain = next(domain_words_in(sentence.split(), scene.lexicon), (0, scene.active))
        for slot in scene.lexicon.of[domain]:
            if slot.pattern and slot not in scene.asked and slot.pattern.search(sentence):
                scene.asked.append(slot)


def any_value(scene: Scene) -> None:
    """Set "do not care" where the user says so, of the slots named beside it or the one asked for."""
    kinds = ("choice", "flag", "number", "time")
    for _, sentence in scene.said.sentences():
        if not _ANY.search(sentence):
            continue
        named = [
            slot for slot in scene.lexicon.of[scene.active]
            if slot.kind in kinds and slot.name not in scene.new and slot.pattern and slot.pattern.search(sentence)
        ]  # fmt: skip
        asked = [slot for slot in scene.asked if slot.kind != "name" and not scene.held(slot)]
        for slot in named[:2] or asked[:1]:
            _no_matter(scene, slot)
    if not scene.new and _NONE.search(scene.said.text) and _PREFERENCE.search(scene.heard.text):
        for slot in scene.asked[:1]:
            if slot.kind in ("choice", "flag") and slot.name not in scene.state:
                _no_matter(scene, slot)


def _no_matter(scene: Scene, slot: Slot) -> None:
    # Whoever gives one time leaves the other open; that is no wish.
    if slot.kind == "time" and any(
        other.kind == "time" and scene.held(other) for other in scene.lexicon.of[slot.domain]
    ):
        return
    if slot.kind != "date" and slot.role not in _COUNTED:
        scene.put(slot, DONTCARE)


def answer(scene: Scene) -> None:
    """Take a bare number, "yes" or "no" as the answer to what the system asked."""
    text = scene.said.text
    bare = _BARE.match(text)
    for slot in scene.asked:
        if slot.name in scene.new:
            continue
        if slot.kind == "number" and bare:
            scene.put(slot, number(bare["n"]))
            bare = None
        elif (
            slot.kind == "flag"
            and len(scene.asked) == 1
            and (said := re.match(r"(?:yes|yeah|sure|no|nope)\b", text))
        ):
            scene.put(slot, slot.truth(said.group() not in ("no", "nope")))


def accept_names(scene: Scene) -> None:
    """Take the one listed name that the system offers, unless the user refuses or speaks of another matter."""
    names: dict[str, dict[str, Slot]] = {}
    for mention in scene.shown:
        for slot, value in mention.readings:
            if slot.kind == "name":
                names.setdefault(slot.domain, {})[value] = slot
    refused = _REFUSED.search(scene.said.text[:60]) or not _TAKEN.search(scene.said.text)
    for domain, offers in names.items():
        value, slot = next(iter(offers.items()))
        scene.memory.offered[domain] = value
        elsewhere = any(mark[1] != domain and not mark[2] for mark in scene.marks)
        known = slot.name in scene.new or normal(scene.held(slot)) == normal(value)
        if len(offers) == 1 and not refused and not elsewhere and not known:
            scene.put(slot, value)


def accept_values(scene: Scene) -> None:
    """Take the one value of a closed slot that the system offers where the user agrees: schemas without names."""
    if not scene.lexicon.opened or not _TAKEN.search(scene.said.text) or _REFUSED.search(scene.said.text[:60]):
        return
    shown: dict[str, dict[str, Slot]] = {}
    for mention in scene.shown:
        for slot, value in mention.readings:
            if slot.kind == "choice" and slot.domain == scene.before:
                shown.setdefault(slot.name, {})[value] = slot
    for offers in shown.values():
        value, slot = next(iter(offers.items()))
        if len(offers) == 1 and not scene.held(slot):
            scene.put(slot, value)


def drop(scene: Scene) -> None:
    """Forget the name of a thing where the user asks for another one."""
    if _OTHER.search(scene.said.text):
        for slot in scene.lexicon.of[scene.active]:
            if slot.kind == "name" and slot.name not in scene.new:
                scene.state.pop(slot.name, None)
