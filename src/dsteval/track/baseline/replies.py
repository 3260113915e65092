"""The baseline's rules for what the user says to the system: answers, "any", offers taken up."""

from dsteval.track.baseline.lexicon import Slot
from dsteval.track.baseline.patterns import normal, number
from dsteval.track.baseline.scene import Scene, domain_words_in
from dsteval.track.baseline.vocabulary import says

DONTCARE = "dontcare"
_COUNTED = frozenset({"people", "stay"})


def ask(scene: Scene) -> None:
    """Find the slots that the system asks for, in the domain that its sentence speaks of."""
    for _, sentence in scene.heard.sentences():
        if not ("?" in sentence or says("asks").search(sentence)):
            continue
        _, domain = next(domain_words_in(sentence.split(), scene.lexicon), (0, scene.active))
        for slot in scene.lexicon.of[domain]:
            if slot not in scene.asked and slot.cues.search(sentence):
                scene.asked.append(slot)


def any_value(scene: Scene) -> None:
    """Set "do not care" where the user says so, of the slots named beside it or the one asked for."""
    kinds = ("choice", "flag", "number", "time")
    for _, sentence in scene.said.sentences():
        if not says("any").search(sentence):
            continue
        named = [
            slot
            for slot in scene.lexicon.of[scene.active]
            if slot.kind in kinds and slot.name not in scene.new and slot.cues.search(sentence)
        ]
        asked = [slot for slot in scene.asked if slot.kind != "name" and not scene.value_of(slot)]
        for slot in named[:2] or asked[:1]:
            _no_matter(scene, slot)
    if not scene.new and says("no_wish").search(scene.said.text) and says("preference").search(scene.heard.text):
        for slot in scene.asked[:1]:
            if slot.kind in ("choice", "flag") and slot.name not in scene.state:
                _no_matter(scene, slot)


def _no_matter(scene: Scene, slot: Slot) -> None:
    # Whoever gives one time leaves the other open; that is no wish.
    times = [other for other in scene.lexicon.of[slot.domain] if other.kind == "time" and scene.value_of(other)]
    if not (slot.kind == "time" and times) and slot.kind != "date" and slot.role not in _COUNTED:
        scene.new[slot.name] = DONTCARE


def answer(scene: Scene) -> None:
    """Take a bare number, "yes" or "no" as the answer to what the system asked."""
    bare, said = says("bare_number").match(scene.said.text), says("yes_or_no").match(scene.said.text)
    for slot in scene.asked:
        if slot.name in scene.new:
            continue
        if slot.kind == "number" and bare:
            scene.new[slot.name] = number(bare["n"])
            bare = None
        elif slot.kind == "flag" and len(scene.asked) == 1 and said:
            scene.new[slot.name] = slot.truth(not said["no"])


def _offers(scene: Scene, kind: str, key: str) -> list[tuple[str, Slot, bool]]:
    """What the system offers of each key: the first value, its slot, and whether it is the only one."""
    offers: dict[str, dict[str, Slot]] = {}
    for mention in scene.shown:
        for slot, value in mention.readings:
            if slot.kind == kind:
                offers.setdefault(getattr(slot, key), {})[value] = slot
    return [(*next(iter(values.items())), len(values) == 1) for values in offers.values()]


def accept_names(scene: Scene) -> None:
    """Take the one listed name that the system offers, unless the user refuses or speaks of another matter."""
    for value, slot, single in _offers(scene, "name", "domain"):
        scene.memory.offered[slot.domain] = value
        elsewhere = any(domain != slot.domain and not reference for _, domain, reference in scene.marks)
        known = slot.name in scene.new or normal(scene.value_of(slot)) == normal(value)
        if single and not elsewhere and not known and scene.accepts("taken", "refused", 60):
            scene.new[slot.name] = value


def accept_values(scene: Scene) -> None:
    """Take the one value of a closed slot that the system offers where the user agrees: schemas without names."""
    if scene.lexicon.opened and scene.accepts("taken", "refused", 60):
        for value, slot, single in _offers(scene, "choice", "name"):
            if single and slot.domain == scene.memory.active and not scene.value_of(slot):
                scene.new[slot.name] = value


def drop(scene: Scene) -> None:
    """Forget the name of a thing where the user asks for another one."""
    if says("other").search(scene.said.text):
        for slot in scene.lexicon.of[scene.active]:
            if slot.kind == "name" and slot.name not in scene.new:
                scene.state.pop(slot.name, None)
