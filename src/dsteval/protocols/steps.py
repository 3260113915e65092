"""Named steps on whole dialogues before they are prepared: what some scorers do to lists, turns or both sides.

A step takes the states of both sides as written, a list of items per turn, and gives new ones. Most of them copy
a bug that depends on the order of a list, or look at the reference while they rewrite the prediction.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from dsteval.dialogue import Choice, Dialogue, Item, Items
from dsteval.errors import ProtocolError
from dsteval.values.normalise import is_deletion
from dsteval.values.slots import canonical
from dsteval.values.tools import fnctod, simpletod, trade_data, trippy
from dsteval.values.user_tables import UserTables


class Sides(NamedTuple):
    """The states of both sides as written, turn by turn."""

    ref: list[Items]
    pred: list[Items]


class Step(NamedTuple):
    """A step: the function, whether it may change the reference, and which dialogues it leaves out."""

    apply: Callable[[Dialogue, Sides, UserTables], Sides]
    of_ref: bool = False
    leaves_out: Callable[[Dialogue], bool] = lambda dialogue: False


def _overwritten(before: Items, update: Items, deletes: bool = False) -> Items:
    """A state after an update; two spellings are one slot, since a reference may have its own."""
    state = {canonical(slot): (slot, value) for slot, value in before}
    for slot, value in update:
        key = canonical(slot)
        if deletes and is_deletion(value) and value != "none":
            state.pop(key, None)
        else:
            state[key] = (slot, value)
    return list(state.values())


def _never_delete(dialogue: Dialogue, sides: Sides, given: UserTables) -> Sides:
    """Accumulate what each turn predicts by overwriting: a slot once predicted never goes away.

    The tracker's own update is taken where the file tells it, else what the predicted state says.
    """
    pairs = zip(dialogue.turns, sides.pred, strict=True)
    updates = (items if turn.pred_update is None else turn.pred_update for turn, items in pairs)
    _, *states = accumulate(updates, _overwritten, initial=Items())
    return Sides(sides.ref, states)


def _on_reference(dialogue: Dialogue, sides: Sides, given: UserTables) -> Sides:
    """Put each turn's update on the reference of the turn before, as a teacher-forced run does."""
    states: list[Items] = []
    for turn, before in zip(dialogue.turns, [[], *sides.ref[:-1]], strict=True):
        if turn.pred_update is None:
            expected = "the tracker's changes at each turn, to apply to the reference"
            remedy = "They are in a running log of IC-DST, or a file with pred_update."
            raise ProtocolError(where=f"turn {turn.number}", expected=expected, found="only states", remedy=remedy)
        # The script corrects what the tracker wrote, and takes the first alternative of what the reference has.
        states.append(_overwritten(list(map(_first_alternative, before)), turn.pred_update, deletes=True))
    return Sides(sides.ref, states)


def _first_alternative(item: Item) -> Item:
    slot, value = item
    first = value[0] if isinstance(value, tuple) and value else value
    return slot, first.split("|")[0] if isinstance(first, str) else first


def _trippy_classes(dialogue: Dialogue, sides: Sides, given: UserTables) -> Sides:
    """Walk TripPy's classes: carry, copy, refer, and values from the system's offers rewritten towards gold.

    A file without classes is left as it is: its states are what the tracker said.
    """
    if all(turn.choices is None for turn in dialogue.turns):
        return sides
    variants, classes = trippy.tokenise_variants(given.variants), given.classes
    running: dict[str, str] = {}
    states: list[Items] = []
    for turn, ref, pred in zip(dialogue.turns, *sides, strict=True):
        if turn.choices is None:
            states.append(pred)
            continue
        gold = {slot: trippy.tokenise(value) for slot, value in ref if isinstance(value, str)}
        for choice in turn.choices:
            kind = _class(choice, classes, turn.number)
            value = _chosen(choice, kind, gold.get(choice.slot, "none"), variants, turn.number)
            if value is not None:
                running[choice.slot] = value
        states.append([(choice.slot, running.get(choice.slot, "none")) for choice in turn.choices])
    return Sides(sides.ref, states)


_CLASSES = ("none", "dontcare", "copy_value", "true", "false", "refer", "inform")
"""The classes that TripPy's metric script knows."""

_STOPS = "The original script stops here too; other protocols use the value as written."


def _class(choice: Choice, classes: Sequence[str], turn: int) -> str:
    """The name of a class, which TripPy's files give by its position in the configuration's ``class_types``."""
    kind, remedy = choice.kind, "Give the configuration with which the tracker was run."
    if kind.isdecimal() and int(kind) < len(classes):
        kind, remedy = classes[int(kind)], _STOPS
    if kind in _CLASSES:
        return kind
    expected = f"one of TripPy's classes ({', '.join(_CLASSES)})"
    if kind.isdecimal() and classes:
        expected = f"one of the classes that --variants lists as class_types ({', '.join(classes)})"
    elif kind.isdecimal():
        expected = "class_types, the tracker's classes in order, in the file given with --variants"
    where = f"turn {turn}, slot {choice.slot!r}"
    raise ProtocolError(where=where, expected=expected, found=f"class {kind}", remedy=remedy)


def _chosen(choice: Choice, kind: str, gold: str, variants: dict[str, list[str]], turn: int) -> str | None:
    """The value that a class gives its slot, or None where the slot keeps what it had."""
    if kind == "none":
        return None
    if kind in ("dontcare", "true", "false"):
        return kind
    if kind == "copy_value":
        return choice.value
    marked = choice.value.startswith(trippy.MARK)
    if kind == "inform" and not marked:
        where, found = f"turn {turn}, slot {choice.slot!r}", repr(choice.value)
        expected = f"a value marked {trippy.MARK} under the class inform"
        raise ProtocolError(where=where, expected=expected, found=found, remedy=_STOPS)
    value = trippy.tokenise(choice.value.removeprefix(trippy.MARK))
    if value == "none":
        return None
    # What is rewritten may become "none" where the reference is that: a value like others then.
    return trippy.rewrite(gold, value, variants) if marked else value


def _as_text(item: Item, glue: str) -> str:
    """An item as the text that a scorer keeps lists of; glue stands between domain, slot and value."""
    slot, value = item
    slot = canonical(slot) if value else slot  # a slot name of two words would be cut, but for "book day"
    domain, hyphen, name = slot.partition("-")
    return glue.join(filter(None, (domain, name, str(value)))) if hyphen and value is not None else slot


def _as_item(text: str, glue: str) -> Item:
    domain, slot, value = [*text.split(glue, 2), "", ""][:3]
    if glue == " " and slot == "book":
        name, _, value = value.partition(" ")
        slot = f"book {name}"
    return f"{domain}-{slot}", value


_SECOND = re.compile(r"#\d+$")
"""What ``_apart`` adds to a slot name: the next step on lists must not see it."""


def _single(items: Items, turn: int, given: UserTables) -> Items:
    """The items that have a value. Raises ProtocolError for alternatives, which no list of texts holds."""
    single: Items = []
    for slot, value in items:
        texts = (value,) if isinstance(value, str) else value or ()
        if len(texts) > 1:
            where, found = f"turn {turn}, slot {slot!r}", f"a list of {len(texts)} values"
            expected = f"single strings, as protocol {given.protocol} needs"
            remedy = "Use a protocol that accepts alternatives, such as exact, or score only the first with "
            remedy += "--set states.alternatives=first."
            raise ProtocolError(where=where, expected=expected, found=found, remedy=remedy)
        single += [(_SECOND.sub("", slot), text) for text in texts]
    return single


def _apart(ref: Items, pred: Items) -> tuple[Items, Items]:
    """Both sides with one value a slot: scorers of text sets let a slot stand twice, with different values.

    The values that both sides have come first; a second value gets a slot name of its own, ``hotel-area#2``.
    """
    both = set(ref) & set(pred)

    def numbered(items: Items) -> Items:
        if len({slot for slot, _ in items}) == len(items):
            return items
        seen: Counter[str] = Counter()
        apart: Items = []
        for slot, value in sorted(dict.fromkeys(items), key=lambda item: (item not in both, str(item[1]))):
            seen[slot] += 1
            apart.append((slot if seen[slot] == 1 else f"{slot}#{seen[slot]}", value))
        return apart

    return numbered(ref), numbered(pred)


_ListRule: TypeAlias = Callable[[list[str], bool], list[str]]


def _texts(dialogue: Dialogue, sides: Sides, given: UserTables, glue: str, rule: _ListRule) -> Sides:
    """Apply a rule to each turn's list of texts, on the reference (False) and on the prediction (True)."""

    def changed(items: Items, turn: int, predicted: bool) -> Items:
        texts = [_as_text(item, glue) for item in _single(items, turn, given)]
        return [_as_item(text, glue) for text in rule(texts, predicted)]

    states = [
        _apart(changed(ref, turn.number, False), changed(pred, turn.number, True))
        for turn, ref, pred in zip(dialogue.turns, *sides, strict=True)
    ]
    return Sides(*([state[side] for state in states] for side in (0, 1)))


def _set_texts(
    dialogue: Dialogue, sides: Sides, given: UserTables, glue: str, rule: _ListRule, unset: tuple[str, ...]
) -> Sides:
    """Likewise, without the slots that a reference lists as not set: the scripts' own references list none.

    They go before values are cleaned, since what the cleaning turns into such a word stays, on both sides. An
    empty text is a value to the scripts: it leaves a prediction only where the reference has one as well.
    """
    written = [[item for item in items if item[1] not in unset] for items in sides.ref]
    refs, preds = _texts(dialogue, Sides(written, sides.pred), given, glue, rule)
    for number, items in enumerate(sides.ref):
        empty = {canonical(slot) for slot, value in items if value == ""}
        preds[number] = [item for item in preds[number] if item[1] != "" or canonical(item[0]) not in empty]
    return Sides(refs, preds)


def _pruned(texts: list[str], gone: Callable[[str], bool]) -> list[str]:
    return [text.replace(simpletod.END_OF_TEXT, "").strip() for text in simpletod.prune(texts, gone)]


def _without(texts: Iterable[str], *words: str) -> list[str]:
    return [text for text in texts if not any(word in text for word in words)]


def _simpletod(texts: list[str], predicted: bool) -> list[str]:
    """SimpleTOD's lists: a predicted "none" is removed while the list is walked, so the item after it escapes."""
    return _without(_pruned(texts, simpletod.is_none) if predicted else texts, "not mentioned")


def _simpletod_clean(texts: list[str], predicted: bool) -> list[str]:
    """SimpleTOD's optional "default cleaning" of both sides; what it turns into "none" stays."""
    return [*map(simpletod.clean_item, texts)]


def _fnctod(texts: list[str], predicted: bool) -> list[str]:
    """FnCTOD's lists: removed while walked, then by words anywhere in the item, cleaned, and filtered again."""
    unset = ("not mentioned", "none", "not present")
    cleaned = []
    for text in _without(_pruned(texts, fnctod.is_none) if predicted else texts, *unset):
        slot, value = _as_item(text, "->")
        cleaned.append(_as_text((slot, fnctod.clean(slot, str(value), predicted)), "->"))
    return _without(cleaned, *unset)


def _fnctod_dontcare(dialogue: Dialogue, sides: Sides, given: UserTables) -> Sides:
    """FnCTOD at test time: a predicted "no preference", anywhere in an item, is dropped; gold keeps its own."""

    def kept(item: Item) -> list[str]:
        return _without([_as_text(item, "->")], "dontcare", "dont care", "do not care")

    return Sides(sides.ref, [[*filter(kept, items)] for items in sides.pred])


_CARELESS = frozenset({"dont care", "dontcare", "don't care", "do not care"})


def _trade_data(dialogue: Dialogue, sides: Sides, given: UserTables) -> Sides:
    """TRADE's create_data.py on a reference in MultiWOZ's own form; any other is left as it is."""

    def made(items: Items) -> Items:
        rewritten: Items = []
        for slot, value in items:
            unbooked = not slot.partition("-")[2].startswith("book ")
            if isinstance(value, str) and value and not (value == "not mentioned" and unbooked):
                careless = value in _CARELESS and unbooked
                rewritten.append((slot, "dontcare" if careless else trade_data.normalise(value)))
        return rewritten

    return sides if dialogue.after is None else Sides([*map(made, sides.ref)], sides.pred)


def _dropped_by_trade(dialogue: Dialogue) -> bool:
    if not dialogue.after:
        return False
    texts = [text for turn in dialogue.turns for text in (turn.system, turn.user)]
    # The first turn has no system utterance before it.
    said = [*filter(None, texts[:1]), *map(str, texts[1:]), *dialogue.after]
    return None not in texts and trade_data.drops(said)


STEPS: dict[str, Step] = {
    "trade-data": Step(_trade_data, True, _dropped_by_trade),
    "never-delete": Step(_never_delete),
    "on-reference": Step(_on_reference),
    "trippy-classes": Step(_trippy_classes),
    "simpletod": Step(partial(_set_texts, glue=" ", rule=_simpletod, unset=("", "none")), True),
    "simpletod-clean": Step(partial(_texts, glue=" ", rule=_simpletod_clean), True),
    "fnctod": Step(partial(_set_texts, glue="->", rule=_fnctod, unset=("",)), True),
    "fnctod-dontcare": Step(_fnctod_dontcare),
}
"""What ``prepare.steps`` of a protocol may list."""
