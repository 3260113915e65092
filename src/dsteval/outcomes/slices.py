"""Slices: the same metrics by domain, service, slot, turn, dialogue or length.

By domain, service or slot a slice is the metric on states cut down to those slots, error turn included. Three
conventions are in use for which turns then count, and each is a different number: ``active`` takes the turns
where the reference has one of the slots, ``dialogue`` all turns of dialogues whose reference has one at any
turn, ``all`` every turn.

Where the unit is the service frame, a slice is the frames of some services, or of some turns or dialogues: one
convention, ``frames``.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import Dialogue, Turn
from dsteval.errors import OptionError
from dsteval.outcomes.blocks import Block
from dsteval.outcomes.cells import Cells, Rule, compare
from dsteval.outcomes.extra_columns import DialogueStates, extra_columns
from dsteval.outcomes.table import EXACT, FIRST, PRED_IS_PREVIOUS_REF, SAME_WRONG, UNIT, Array, Outcomes
from dsteval.outcomes.turns import counted, outcomes_of
from dsteval.prepare.vocabulary import State
from dsteval.values.matchers import PreparedValue
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


BY_SLOT: dict[str, Callable[[str], str]] = {"domain": domain_of_service, "service": domain_of, "slot": str}
"""What gives the key of a slot, by what a slice cuts states down to."""

BY = (*BY_SLOT, "group", "turn", "dialogue", "length")
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
            expected="the schema of the training data" if frames else "a protocol that scores service frames",
            found="none" if frames else "one that scores whole turns",
            remedy="Give it with --train-schema FILE." if frames else "Use --protocol sgd.",
        )
    if frames and "slot" in by:
        expected = "service, domain, group, turn, dialogue or length for a protocol that scores service frames"
        raise OptionError(where="--by slot", expected=expected, found="slot")
    if frames and lambdas:
        raise OptionError(
            where="--domain-lambda", expected="a protocol that scores whole turns", found="service frames"
        )


class Part(NamedTuple):
    """What a block has of some slices under one convention; ``outcomes`` count for a row each.

    ``keys`` are the slices. Per row: ``key`` (a place in ``keys``), ``dialogue`` (its place in the block), ``row``
    (its place in ``outcomes``), and ``turns``, how many count.
    """

    convention: str
    keys: list[str]
    key: Array
    dialogue: Array
    row: Array
    turns: Array
    outcomes: Outcomes


class SlotSlicer:
    """Cuts the states of a block down to the slots of each key that the block has.

    A dialogue that has no slot of a key leaves no row: its turns are right, with nothing on either side.
    """

    def __init__(self, by: str, rule: Rule, extra: Sequence[str], *, texts_only: bool) -> None:
        self._key_of, self._rule, self._extra = BY_SLOT[by], rule, extra
        self._texts_only = texts_only

    def parts(
        self, outcomes: Outcomes, block: Block, cells: Cells, states: Sequence[DialogueStates]
    ) -> Iterator[Part]:
        """The slices of a block; those of the convention ``dialogue`` are among those of ``all``."""
        cells = compare(block, self._rule, texts_only=True) if self._texts_only else cells
        names = [self._key_of(block.vocabulary.slots[number]) for number in cells.slots.tolist()]
        keys = sorted(set(names))
        if not keys:
            return
        place_of = {key: place for place, key in enumerate(keys)}
        places = np.array([place_of[name] for name in names], dtype=np.intp)
        order = np.argsort(places, kind="stable")
        starts = np.searchsorted(places[order], np.arange(len(keys)))
        tables = counted(cells, block.first, lambda mask: np.add.reduceat(mask[order], starts, 0, np.int32))
        held = (tables["ref"] + tables["pred"] > 0) | (block.marks is not None)
        there = np.logical_or.reduceat(held, block.offsets[:-1], axis=1)
        key, dialogue = np.nonzero(there)
        lengths = np.diff(block.offsets)
        chosen = np.repeat(there, lengths, axis=1)
        units = {name: table[chosen] for name, table in tables.items()}
        units["turn"] = np.broadcast_to(block.turn, chosen.shape)[chosen]
        unit = (np.cumsum(chosen).reshape(chosen.shape) - 1)[places[cells.wrong_row], cells.wrong_unit]
        cut = outcomes_of(
            block,
            [block.dialogues[number] for number in dialogue.tolist()],
            np.append(0, np.cumsum(lengths[dialogue])),
            units,
            cells.wrong_rows(unit, np.argsort(unit, kind="stable")),
            outcomes.graded,
            extra_columns(self._extra, list(self._cut_states(states, keys, key, dialogue))),
        )
        rows = np.arange(len(key))
        yield Part("all", keys, key, dialogue, rows, lengths[dialogue], cut)
        if block.has_ref:
            active = cut.ref > 0
            turns = np.add.reduceat(active, cut.offsets[:-1], dtype=np.int64)
            yield Part("active", keys, key, dialogue, rows, turns, cut.with_scope(0, active))

    def _cut_states(
        self, states: Sequence[DialogueStates], keys: list[str], key: Array, dialogue: Array
    ) -> Iterator[DialogueStates]:
        """The states that the extra columns are counted of."""
        if states:
            for place, number in zip(key.tolist(), dialogue.tolist(), strict=True):
                yield states[number].limited(lambda slot, own=keys[place]: self._key_of(slot) == own)


def nothing(lengths: Sequence[int], like: Outcomes, extra: Sequence[str]) -> Outcomes:
    """Dialogues of these lengths without a slot on either side."""
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    size = int(offsets[-1])
    units = {name: np.zeros(size, dtype=np.int32) for name in UNIT}
    units["turn"] = (np.arange(size) - np.repeat(offsets[:-1], lengths)).astype(np.int32)
    units["service"] -= 1
    units["flags"] += EXACT | PRED_IS_PREVIOUS_REF | SAME_WRONG
    units["flags"][offsets[:-1]] |= FIRST
    turns = [Dialogue("", [Turn(number) for number in range(length)]) for length in lengths]
    empty: list[list[State]] = [[{}] * length for length in lengths]
    states = [DialogueStates(*one, matches_nothing) for one in zip(turns, empty, empty, strict=True)]
    return replace(
        like,
        dialogues=[""] * len(lengths),
        offsets=offsets,
        units=units,
        wrong_rows=np.zeros((0, 4), dtype=np.int32),
        wrong_score=np.zeros(0),
        wrong_previous=np.zeros(0, dtype=np.int8),
        extra=extra_columns(extra, states),
        scored=None,
    )


def matches_nothing(slot: str, ref: PreparedValue, pred: PreparedValue) -> bool:
    """What is right where there is no value."""
    return False


def service_parts(outcomes: Outcomes, key_of: Callable[[str], str]) -> Iterator[Part]:
    """The frames of some services each."""
    names = [key_of(service) for service in outcomes.services]
    for key in sorted(set(names)):
        yield _masked(outcomes, key, FRAMES, np.array([name == key for name in names])[outcomes.service])


def turn_parts(outcomes: Outcomes) -> Iterator[Part]:
    """The turns of each number."""
    for turn in np.unique(outcomes.turn).tolist():
        yield _masked(outcomes, str(turn), "all", outcomes.turn == turn)


def _masked(outcomes: Outcomes, key: str, convention: str, chosen: Array) -> Part:
    """The slice of some turns, of the dialogues that have one of them."""
    turns = np.bincount(outcomes.dialogue_of[chosen], minlength=len(outcomes.dialogues))
    rows = np.flatnonzero(turns)
    scoped = outcomes.with_scope(0, chosen)
    return Part(convention, [key], np.zeros(len(rows), dtype=np.intp), rows, rows, turns[rows], scoped)
