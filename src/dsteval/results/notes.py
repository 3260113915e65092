"""What a reader of the numbers should know: what was left out, and the likeliest cause of odd numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol as Interface

import numpy as np

from dsteval.align.pairing import Aligner
from dsteval.dialogue import canonical_id
from dsteval.errors import first_few
from dsteval.outcomes.frames import Framer
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.prepare.states import value_text
from dsteval.protocols.model import Protocol
from dsteval.values.slots import MULTIWOZ

__all__ = ["notes"]

_ALMOST_ALL = 0.8
_ENOUGH = 4


class _Run(Interface):
    """What a note needs of an evaluation."""

    protocol: Protocol
    aligner: Aligner
    framer: Framer | None

    @property
    def listed(self) -> Sequence[str] | None:
        """The slots given as S, or None."""


def notes(run: _Run, outcomes: Outcomes, comparer: Comparer) -> Iterator[str]:
    """The sentences that stand below the numbers."""
    yield from _coverage(run)
    if run.framer is not None:
        yield from run.framer.notes()
    yield from _slots(run, outcomes, comparer)
    yield from _hints(outcomes)


def _coverage(run: _Run) -> Iterator[str]:
    coverage, policy, scope = run.aligner.coverage, run.aligner.policy, run.protocol.scope
    ruled_out = {canonical_id(name): scope.leave_out_why or "as asked" for name in scope.leave_out}
    ruled_out |= dict.fromkeys(run.aligner.dropped, "as its tool does when it prepares the data")
    ruled = [name for name in coverage.left_out if canonical_id(name) in ruled_out]
    if ruled:
        yield f"left out under {run.protocol.name}: {first_few(ruled)} ({ruled_out[canonical_id(ruled[0])]})"
    if coverage.missing:
        done = "scored as empty" if policy.missing == "empty" else "left out"
        yield f"{_count(coverage.missing)} without prediction {done} ({first_few(coverage.missing)})"
    if coverage.lengths:
        done = "missing turns scored as empty" if policy.missing == "empty" else "left out"
        yield f"{_count(coverage.lengths)} with another number of turns, {done} ({first_few(coverage.lengths)})"
    if coverage.extra:
        yield f"{_count(coverage.extra)} without reference ignored ({first_few(coverage.extra)})"
    if coverage.differs:
        yield (
            f"{coverage.differs} of {coverage.scored_turns} turns have another reference inside the "
            "predictions' file; --ref was used"
        )


def _count(dialogues: Sequence[str]) -> str:
    return f"{len(dialogues)} dialogue" + ("" if len(dialogues) == 1 else "s")


def _slots(run: _Run, outcomes: Outcomes, comparer: Comparer) -> Iterator[str]:
    """Slots that are not in S, or, without a list, predicted slots that nothing explains."""
    listed = run.listed
    if listed is not None:
        odd = [slot for slot in outcomes.slots if slot not in set(listed)]
        said = "slots are not in the list given with --slots"
    elif run.protocol.scope.slots == "auto":
        in_ref = {outcomes.slots[i] for i in set(outcomes.slot_id[outcomes.slot_ref > 0].tolist())}
        odd = [slot for slot in outcomes.slots if slot not in in_ref and slot not in MULTIWOZ]
        odd = odd if in_ref and in_ref <= MULTIWOZ else []
        said = "predicted slots are none of MultiWOZ's 30 and never in the reference"
        said += f", so |S| = {outcomes.n_slots}" if outcomes.n_slots == len(outcomes.slots) else ""
    else:
        return
    if odd:
        dialogue, turn = comparer.first_seen[odd[0]]
        names = ", ".join(repr(slot) for slot in odd[:8]) + (", ..." if len(odd) > 8 else "")
        yield f"{len(odd)} {said}: {names} (first: dialogue {dialogue!r}, turn {turn})"


def _hints(outcomes: Outcomes) -> Iterator[str]:
    if not outcomes.has_values or not len(outcomes):
        return
    inner = ~outcomes.first
    before = np.roll(outcomes.pred, 1)
    # Pairs of the turn before that did not stay; in a file of updates nearly none ever does.
    lost = before - (outcomes.pred - outcomes.new_pred)
    held = inner & (before > 0) & (outcomes.unit == "turn")
    vanished = held & (lost == before)
    if held.sum() >= _ENOUGH and vanished.sum() >= _ALMOST_ALL * held.sum():
        yield (
            f"at {vanished.sum()} of {held.sum()} turns the whole predicted state of the turn before is gone: "
            "if the file holds what each turn changed, add --updates"
        )
    yield from _unset(outcomes)
    if not outcomes.right.any() and outcomes.ref.any():
        yield from _nothing_right(outcomes)
    elif outcomes.exact.all() and len(outcomes) >= 100:
        yield f"every {outcomes.unit} is right: are reference and predictions the same file?"


def _unset(outcomes: Outcomes) -> Iterator[str]:
    """A reference that lists slots which are not set, under a protocol that takes every text for a value."""
    words = [number for number, value in enumerate(outcomes.values) if value in ("", "not mentioned")]
    counted = np.isin(outcomes.wrong_ref, words)
    if counted.any():
        yield (
            f"{counted.sum()} wrong slots are '' or 'not mentioned' in the reference, which this protocol takes "
            'for values: --set \'states.absent_ref=["", "not mentioned"]\' takes them for slots that are not set'
        )


def _nothing_right(outcomes: Outcomes) -> Iterator[str]:
    if not outcomes.pred.any():
        yield "no slot is right: every predicted state is empty"
        return
    slots = outcomes.slots
    ref = {slots[i] for i in outcomes.slot_id[outcomes.slot_ref > 0].tolist()}
    pred = {slots[i] for i in outcomes.slot_id[outcomes.slot_pred > 0].tolist()}
    if ref.isdisjoint(pred):
        yield (
            "no slot is right: the two sides have no slot name in common "
            f"(reference {', '.join(sorted(ref)[:3])}; predictions {', '.join(sorted(pred)[:3])})"
        )
        return
    both = (outcomes.wrong_ref >= 0) & (outcomes.wrong_pred >= 0)
    if both.any():
        slot, r, p = (column[both][0] for column in (outcomes.wrong_slot, outcomes.wrong_ref, outcomes.wrong_pred))
        values = outcomes.values
        yield (
            f"no slot is right: values never match, for example {slots[slot]}: "
            f"reference {value_text(values[r])!r}, predicted {value_text(values[p])!r}"
        )
