"""Slices: the same metrics by domain, service, slot, turn, dialogue or length.

By domain, service or slot a slice is the metric on states cut down to those slots, error turn included. Three
conventions are in use for which turns then count, and each is a different number: ``active`` takes the turns
where the reference has one of the slots, ``dialogue`` all turns of dialogues whose reference has one at any
turn, ``all`` every turn.

Where the unit is the service frame, a slice is the frames of some services, or of some turns or dialogues: one
convention, ``frames``.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import Dialogue, Turn
from dsteval.errors import OptionError
from dsteval.outcomes.table import Array, Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.prepare.states import Prepared
from dsteval.values.slots import domain_of

CONVENTIONS = ("active", "dialogue", "all")
FRAMES = "frames"

_SERVICE = re.compile(r"(.+)_\d+")


def domain_of_service(slot: str) -> str:
    """The domain of a slot: its service without SGD's number.

    >>> domain_of_service("hotels_4-stars"), domain_of_service("hotel-stars")
    ('hotels', 'hotel')
    """
    return _unnumbered(domain_of(slot))


def _unnumbered(service: str) -> str:
    numbered = _SERVICE.fullmatch(service)
    return numbered[1] if numbered else service


_BY_SLOT: dict[str, Callable[[str], str]] = {"domain": domain_of_service, "service": domain_of, "slot": str}
BY = (*_BY_SLOT, "group", "turn", "dialogue", "length")
"""What ``--by`` takes."""


def service_key(by: str, trained: Collection[str]) -> Callable[[str], str] | None:
    """The key of a service in slices of frames; None where slices are not by service.

    ``trained`` are the services seen in training, whose group is ``seen``.
    """
    if by == "group":
        return lambda service: "seen" if service in trained else "unseen"
    keys: dict[str, Callable[[str], str]] = {"domain": _unnumbered, "service": str}
    return keys.get(by)


def check_unit(unit: str, by: Collection[str], trained: bool, lambdas: bool) -> None:
    """Raise OptionError for slices that the unit does not have."""
    frames = unit == "frame"
    if "group" in by and not (frames and trained):
        raise OptionError(
            where="--by group",
            expected="the schema of the training data" if frames else "a protocol that counts service frames",
            found="none" if frames else "one that counts turns",
            remedy="Give it with --train-schema FILE." if frames else "Take --protocol sgd.",
        )
    if frames and "slot" in by:
        expected = "service, domain, group, turn, dialogue or length where the unit is the service frame"
        raise OptionError(where="--by slot", expected=expected, found="slot, of which a frame has many")
    if frames and lambdas:
        raise OptionError(where="--domain-lambda", expected="a protocol that counts turns", found="service frames")


class Slice(NamedTuple):
    """One slice: what it is by, its key, the convention, and its outcomes with the turns that count.

    A slice of whole dialogues has their positions as ``rows`` instead: counts are per dialogue as they stand.
    """

    by: str
    key: str
    convention: str
    outcomes: Outcomes
    rows: Array | None = None

    @property
    def turns(self) -> int:
        """How many turns count."""
        if self.rows is not None:
            return int(np.diff(self.outcomes.offsets)[self.rows].sum())
        return int(self.outcomes.counted.sum())


class Slicer:
    """Compares every dialogue once more for each key that its states hold, cut down to that key's slots."""

    def __init__(
        self,
        by: str,
        make: Callable[[Callable[[str], bool]], Comparer],
        of_service: Callable[[str], str] | None = None,
        texts_only: bool = False,
    ) -> None:
        self.by = by
        self._make = make
        self._of_service = of_service
        self.key_of = None if of_service else _BY_SLOT.get(by)
        self.comparers: dict[str, Comparer] = {}
        self._passed: list[Dialogue] = []
        self._texts_only = texts_only and by == "domain"

    def add(self, dialogue: Dialogue, prepared: Prepared, bits: tuple[str, ...] = ()) -> None:
        """Take in one dialogue; ``bits`` are the slots of its right/wrong marks, if it holds those."""
        if self.key_of is None:
            return
        if self._texts_only:
            prepared = Prepared(*([{s: v for s, v in state.items() if v} for state in side] for side in prepared))
        marked = bool(dialogue.turns) and dialogue.turns[0].correctness is not None
        slots = set(bits) if marked else {slot for side in prepared for state in side for slot in state}
        keys = {self.key_of(slot) for slot in slots}
        for key in sorted(keys - self.comparers.keys()):
            self.comparers[key] = self._comparer(key)
        for key, comparer in self.comparers.items():
            if marked:
                comparer.add_correctness(dialogue, bits, prepared.ref)
            elif key in keys:
                comparer.add(dialogue, prepared)
            else:
                comparer.add_empty(dialogue)
        # What a later key needs of this dialogue is only that it has turns without it.
        self._passed.append(
            Dialogue(dialogue.id, [Turn(turn.number) for turn in dialogue.turns], alone=dialogue.alone)
        )

    def _comparer(self, key: str) -> Comparer:
        key_of = self.key_of
        assert key_of is not None
        comparer = self._make(lambda slot: key_of(slot) == key)
        for dialogue in self._passed:
            comparer.add_empty(dialogue)
        return comparer

    def slices(self, whole: Outcomes, inventory: list[str], own_slots: bool = True) -> Iterator[Slice]:
        """All slices, sorted by key; ``whole`` are the outcomes of everything, ``inventory`` the slots of S.

        ``own_slots`` tells whether the S of a slice are its own slots, or all.
        """
        if self.key_of is None:
            yield from self._by_turn(whole) if self._of_service is None else self._by_frame(whole)
            return
        for key, comparer in sorted(self.comparers.items()):
            outcomes = comparer.outcomes()
            own = sum(self.key_of(slot) == key for slot in inventory)
            n_slots = (own if own_slots else 0) or whole.n_slots
            for convention in CONVENTIONS if outcomes.has_ref else ("all",):
                yield Slice(self.by, key, convention, outcomes.with_scope(n_slots, _turns(outcomes, convention)))

    def _by_frame(self, whole: Outcomes) -> Iterator[Slice]:
        """The frames of some services each."""
        assert self._of_service is not None
        keys = [self._of_service(service) for service in whole.services]
        for key in sorted(set(keys)):
            chosen = np.array([one == key for one in keys])[whole.service]
            yield Slice(self.by, key, FRAMES, whole.with_scope(whole.n_slots, chosen))

    def _by_turn(self, whole: Outcomes) -> Iterator[Slice]:
        if self.by == "dialogue":
            for number, name in enumerate(whole.dialogues):
                yield Slice(self.by, name, "all", whole, np.array([number]))
        elif self.by == "length":
            lengths = np.diff(whole.offsets) if whole.lengths is None else whole.lengths
            for length in np.unique(lengths):
                yield Slice(self.by, str(length), "all", whole, np.flatnonzero(lengths == length))
        else:
            for turn in np.unique(whole.turn):
                yield Slice(self.by, str(turn), "all", whole.with_scope(whole.n_slots, whole.turn == turn))


def _turns(outcomes: Outcomes, convention: str) -> Array | None:
    if convention == "all":
        return None
    active: Array = outcomes.ref > 0
    if convention == "active":
        return active
    anywhere = np.bincount(outcomes.dialogue_of, weights=active, minlength=len(outcomes.dialogues)) > 0
    chosen: Array = anywhere[outcomes.dialogue_of]
    return chosen
