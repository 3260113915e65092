"""The form that every file is read into: dialogues of user turns, states as they were written.

Nothing here interprets. A state is the list of its items in file order; doubles, ``none`` and odd spellings
stay, because some published scorers count them. Protocols decide later what an item means.
"""

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import msgspec

from dsteval.values.normalise import is_deletion

Value: TypeAlias = str | tuple[str, ...] | None
"""A value as written: a text, several accepted texts, or null."""

Item: TypeAlias = tuple[str, Value]
"""One (slot, value) as written; the slot carries its domain, ``hotel-area``."""

Items: TypeAlias = list[Item]

Side: TypeAlias = Literal["ref", "pred"]


class Frame(msgspec.Struct):
    """What a turn says about one service (SGD, MultiWOZ 2.2): bare slot names, intent, requested slots."""

    service: str
    items: Items
    intent: str | None = None
    requested: list[str] | None = None


class Choice(msgspec.Struct):
    """What a tracker like TripPy chose for one slot at a turn: its class, or the number of that in the tracker's
    list of classes, and the running value as written.
    """

    slot: str
    kind: str
    value: str


class Turn(msgspec.Struct):
    """One user turn: the system utterance before it, the user's, and the state of either side.

    ``number`` is the turn's key as the file gives it. A side that the file lacks is None. ``ref_frames`` and
    ``pred_frames`` hold the states per service where the file has services; ``correctness`` the right/wrong marks
    of a file without values. Beside the predicted state, a file may also tell what the tracker changed at this
    turn (``pred_update``) and which class it chose for each slot (``choices``).
    """

    number: int
    ref: Items | None = None
    pred: Items | None = None
    system: str | None = None
    user: str | None = None
    ref_frames: list[Frame] | None = None
    pred_frames: list[Frame] | None = None
    correctness: list[int] | None = None
    pred_update: Items | None = None
    choices: list[Choice] | None = None


class Dialogue(msgspec.Struct):
    """A dialogue, its turns sorted by number.

    ``doubles`` is True where the file names a slot twice in one state. ``updates`` lists the sides that hold
    what each turn changed instead of whole states. ``gaps`` is True where the format leaves out turns, so that
    their numbers may skip; ``alone`` where the file gives single instances that belong to no dialogue.
    ``forced`` where the tracker was given the reference's state of the turn before (teacher forcing).
    ``keyed`` is True where the file numbers its turns, False where their position does; ``shuffled`` where their
    numbers do not rise in the file, which one script walks as it stands. ``after`` are the utterances that follow
    the last turn, which MultiWOZ's own data.json alone tells.
    """

    id: str
    turns: list[Turn]
    doubles: bool = False
    updates: tuple[Side, ...] = ()
    gaps: bool = False
    alone: bool = False
    keyed: bool = True
    forced: bool = False
    shuffled: bool = False
    after: tuple[str, ...] | None = None


def canonical_id(dialogue_id: str) -> str:
    """The spelling under which a dialogue is looked up: lower case, without the suffix ``.json``.

    >>> canonical_id("PMUL1234.json"), canonical_id("pmul1234"), canonical_id("SNGjson")
    ('pmul1234', 'pmul1234', 'sngjson')
    """
    return dialogue_id.strip().casefold().removesuffix(".json")


@lru_cache(maxsize=1 << 14)
def slot_of(service: str, slot: str) -> str:
    """A slot as 'service-slot'; MultiWOZ 2.2 writes it so already, in any case.

    >>> slot_of("Hotels_4", "stars"), slot_of("hotel", "hotel-stars")
    ('Hotels_4-stars', 'hotel-stars')
    """
    prefix = f"{service}-"
    return slot if slot.casefold().startswith(prefix.casefold()) else prefix + slot


def written_states(dialogue: Dialogue, side: Side) -> list[Items]:
    """The states of one side as written, or ``[]`` where the dialogue lacks it, if only at one turn.

    Frames become one state: their slots carry the service, and a service that a turn does not mention keeps
    its last frame.
    """
    states, frames = _both_forms(dialogue, side)
    if not _are_whole(states, frames):
        return []
    if frames.count(None) == len(frames):
        return states
    carried = []
    last: dict[str, Items] = {}
    for services, state in zip(frames, states, strict=True):
        if services is None and state is not None:  # a turn that was filled in
            carried.append(state)
            continue
        last = {} if side in dialogue.updates else last
        for frame in services or ():
            last[frame.service] = [(slot_of(frame.service, slot), value) for slot, value in frame.items]
        carried.append([item for items in last.values() for item in items])
    return carried


def has_states(dialogue: Dialogue, side: Side) -> bool:
    """Whether one side has a state, or frames, at every turn."""
    return bool(dialogue.turns) and _are_whole(*_both_forms(dialogue, side))


def _both_forms(dialogue: Dialogue, side: Side) -> tuple[list[Any], list[Any]]:
    states, frames = (list(map(of_turn, dialogue.turns)) for of_turn in _WRITTEN[side])
    return states, frames


def _are_whole(states: list[Any], frames: list[Any]) -> bool:
    if None not in states or None not in frames:
        return True
    return all(state is not None or frame is not None for state, frame in zip(states, frames, strict=True))


_WRITTEN: dict[Side, tuple[Callable[[Turn], Any], Callable[[Turn], Any]]] = {
    "ref": (attrgetter("ref"), attrgetter("ref_frames")),
    "pred": (attrgetter("pred"), attrgetter("pred_frames")),
}


def is_doubled(items: Items | None) -> bool:
    """Whether a state names a slot twice."""
    return items is not None and len(dict(items)) < len(items)


def whole_states(updates: list[Items], key_of: Callable[[str], str]) -> list[Items]:
    """States as written out of updates as written; spellings that ``key_of`` takes for one slot overwrite."""
    state: dict[str, Item] = {}
    states = []
    for items in updates:
        state = dict(state)
        for slot, value in items:
            state.pop(key_of(slot), None)
            if not is_deletion(value):
                state[key_of(slot)] = (slot, value)
        states.append(list(state.values()))
    return states
