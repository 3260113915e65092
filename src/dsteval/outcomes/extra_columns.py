"""Counts per turn that only some metrics ask for, each from the prepared states of one dialogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from dsteval.dialogue import Dialogue, Side, written_states
from dsteval.outcomes.table import Array
from dsteval.prepare.vocabulary import State
from dsteval.values.matchers import PreparedValue, same_ref
from dsteval.values.slots import domain_of

Right: TypeAlias = Callable[[str, PreparedValue, PreparedValue], bool]
"""Whether a slot's predicted value is right by the protocol's rule."""


class DialogueStates(NamedTuple):
    """One dialogue to count: as written, as compared, when a value is right, and which slots count."""

    dialogue: Dialogue
    ref: list[State]
    pred: list[State]
    right: Right
    keep: Callable[[str], bool] | None = None

    def limited(self, keep: Callable[[str], bool]) -> DialogueStates:
        """The same with some of the slots only."""
        cut = [[{s: v for s, v in state.items() if keep(s)} for state in side] for side in (self.ref, self.pred)]
        return self._replace(ref=cut[0], pred=cut[1], keep=keep)


class ExtraColumns(NamedTuple):
    """``rows`` gives ``width`` columns for every turn."""

    width: int
    rows: Callable[[DialogueStates], Iterator[tuple[float, ...]]]


_GONE = "none"
_CORRECT, _WRONG, _OVER, _MISSED = range(4)


def _filled(states: list[State]) -> Iterator[dict[str, PreparedValue]]:
    """Each state, with the slots that were there once and are gone as "none"."""
    known: set[str] = set()
    for state in states:
        known |= state.keys()
        yield {slot: state.get(slot, _GONE) for slot in sorted(known)}


def _with_none(pair: DialogueStates) -> DialogueStates:
    """The states with slots whose value is written "none": labels like any other to the GCA script."""

    def filled(side: Side, states: list[State]) -> list[State]:
        written = written_states(pair.dialogue, side)
        # In an update "none" deletes, and a dialogue that a slice knows by its turns alone has nothing written.
        if side in pair.dialogue.updates or not written:
            return states
        kept = pair.keep or (lambda slot: True)
        nones = [{slot: _GONE for slot, value in items if value == _GONE and kept(slot)} for items in written]
        return [{**none, **state} for none, state in zip(nones, states, strict=True)]

    return pair._replace(ref=filled("ref", pair.ref), pred=filled("pred", pair.pred))


def _gca(pair: DialogueStates) -> Iterator[tuple[float, ...]]:
    """Changes of the turn that are correct, wrong, over-predicted and missed, as GCA counts them."""
    b0: dict[str, PreparedValue] = {}
    p0: dict[str, PreparedValue] = {}
    right = pair.right
    for b, p in zip(_filled(pair.ref), _filled(pair.pred), strict=True):
        equal = {slot for slot in b.keys() & p.keys() if b[slot] == p[slot] or right(slot, b[slot], p[slot])}
        new = [slot for slot in b if not same_ref(b0.get(slot), b[slot])]
        kinds = {slot: _of_ref(b[slot], p.get(slot), slot in equal) for slot in new}
        counted = list(kinds.values())
        for slot in (slot for slot in p if p0.get(slot) != p[slot]):
            kind = _of_pred(b.get(slot), p[slot], slot in equal, kinds.get(slot))
            counted += [] if kind is None else [kind]
        yield tuple(map(counted.count, range(4)))
        b0, p0 = b, p


def _of_ref(value: PreparedValue, guess: PreparedValue | None, equal: bool) -> int:
    """What becomes of a slot that changed in the reference."""
    if guess is None:
        return _CORRECT if value == _GONE else _MISSED
    if equal:
        return _CORRECT
    return _OVER if value == _GONE else _WRONG


def _of_pred(value: PreparedValue | None, guess: PreparedValue, equal: bool, counted: int | None) -> int | None:
    """What becomes of a slot that changed in the prediction; ``counted`` is what it was as one of the reference.

    A slot that both sides delete at one turn, correct already, falls through to "missed": the script's own
    bug, which its published digits contain.
    """
    if value is None:
        return _CORRECT if guess == _GONE else _OVER
    if equal and counted != _CORRECT:
        return _CORRECT
    if guess == _GONE:
        return _MISSED
    return _WRONG if not equal and counted != _WRONG else None


def _updates(pair: DialogueStates) -> Iterator[tuple[float, ...]]:
    """1 where what the turn adds or changes is the same on both sides; a slot that goes away is no update."""
    b0: State = {}
    p0: State = {}
    for b, p in zip(pair.ref, pair.pred, strict=True):
        ref = {slot: value for slot, value in b.items() if not same_ref(b0.get(slot), value)}
        pred = {slot: value for slot, value in p.items() if p0.get(slot) != value}
        same = ref.keys() == pred.keys() and all(pair.right(slot, ref[slot], pred[slot]) for slot in ref)
        yield (int(same),)
        b0, p0 = b, p


def _recipe(pair: DialogueStates) -> Iterator[tuple[float, ...]]:
    """1 where as many values are right as the reference has domains."""
    for b, p in zip(pair.ref, pair.pred, strict=True):
        domains = {domain_of(slot) for slot in b}
        hits = sum(slot in p and pair.right(slot, value, p[slot]) for slot, value in b.items())
        yield (int(hits == len(domains)),)


EXTRA_COLUMNS: dict[str, ExtraColumns] = {
    "gca": ExtraColumns(4, _gca),
    "gca-none": ExtraColumns(4, lambda pair: _gca(_with_none(pair))),
    "recipe": ExtraColumns(1, _recipe),
    "updates": ExtraColumns(1, _updates),
}
"""What a metric may ask for by ``extra``."""


def extra_columns(names: Sequence[str], dialogues: Sequence[DialogueStates]) -> dict[str, Array]:
    """What is counted per turn in addition, by name [turns, columns]."""
    columns = {}
    for name in names:
        width, rows = EXTRA_COLUMNS[name]
        columns[name] = np.array([row for dialogue in dialogues for row in rows(dialogue)]).reshape(-1, width)
    return columns
