"""Predictions that cost nothing, made from the reference: what a system must beat."""

from collections.abc import Iterable, Iterator

import msgspec

from dsteval.dialogue import Dialogue, Frame, Items, Side, Turn

BASELINES = {"nothing": "(nothing)", "before": "(turn before)"}
"""The baselines by name: every state empty; the reference state of the previous turn."""


def baseline(kind: str, references: Iterable[Dialogue]) -> Iterator[Dialogue]:
    """The predictions of a baseline for every dialogue of the reference.

    A frame of "before" has the last state of its service, empty where there is none yet. A reference of updates
    gives updates: shifted by a turn they make the states of the turn before.

    >>> turns = [Turn(0, ref=[("hotel-area", "east")]), Turn(1, ref=[])]
    >>> [turn.pred for turn in next(baseline("before", [Dialogue("x", turns)])).turns]
    [[], [('hotel-area', 'east')]]
    """
    for dialogue in references:
        before: Items = []
        last: dict[str, Items] = {}
        turns = []
        for turn in dialogue.turns:
            made = Turn(turn.number, pred=before)
            if turn.ref_frames is not None:
                states: dict[str, Items] = {frame.service: [] for frame in turn.ref_frames} | last
                made = Turn(turn.number, pred_frames=[Frame(*state) for state in states.items()])
            turns.append(made)
            if kind == "before":
                before = turn.ref or []
                last |= {frame.service: frame.items for frame in turn.ref_frames or ()}
        updates: tuple[Side, ...] = ("pred",) if "ref" in dialogue.updates else ()
        yield msgspec.structs.replace(dialogue, turns=turns, updates=updates, forced=False)
