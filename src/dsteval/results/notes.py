"""What a reader of the numbers should know: what was left out, and the likeliest cause of odd numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dsteval.align.coverage import Coverage, Policy
from dsteval.dialogue import canonical_id
from dsteval.errors import first_few
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.prepare.states import value_text
from dsteval.protocols.model import Protocol
from dsteval.values.slots import MULTIWOZ

_ALMOST_ALL = 0.8
_ENOUGH = 4
_SAME_FILE = 100  # units, all of them exact


class SeenSlot(NamedTuple):
    """Where a slot stands first, if that is known, and which sides have it."""

    first: tuple[str, int] | None
    in_ref: bool
    in_pred: bool


class Mismatch(NamedTuple):
    """A slot with a value on both sides that do not match."""

    slot: str
    ref: str
    pred: str


@dataclass(frozen=True)
class NoteCounts:
    """What notes are made of; ``a + b`` is that of both parts of the data.

    ``numbers`` counts units: all (``units``), those of files with values (``valued``), those that are ``exact``,
    those after a predicted state (``followed``) and of these those where all of it is gone (``lost``); and slots
    over all units: ``right``, in ``ref``, in ``pred``, and wrong ones whose reference value says that they are not
    set (``unset``). ``passed_over`` are names by what was done with them (``Framer.passed_over``).
    """

    numbers: Counter[str]
    slots: Mapping[str, SeenSlot]
    mismatch: tuple[Mismatch, ...]
    passed_over: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, outcomes: Outcomes, comparer: Comparer, passed_over: Mapping[str, tuple[str, ...]]) -> NoteCounts:
        """The counts of one table and of the comparer that filled it."""
        before = np.roll(outcomes.pred, 1)
        # Pairs of the turn before that did not stay; in a file of updates nearly none ever does.
        lost = before - (outcomes.pred - outcomes.new_pred)
        followed = ~outcomes.first & (before > 0) & (outcomes.unit == "turn")
        unset = [number for number, value in enumerate(outcomes.values) if value in ("", "not mentioned")]
        every = np.ones(len(outcomes), dtype=np.int64)
        columns = {
            "units": every,
            "valued": every * outcomes.has_values,
            "exact": outcomes.exact,
            "followed": followed,
            "lost": followed & (lost == before),
            "right": outcomes.right,
            "ref": outcomes.ref,
            "pred": outcomes.pred,
            "unset": np.isin(outcomes.wrong_ref, unset),
        }
        numbers = Counter({name: int(column.sum(dtype=np.int64)) for name, column in columns.items()})
        (ref, pred), first = comparer.seen.values(), comparer.first_seen
        slots = {slot: SeenSlot(first.get(slot), slot in ref, slot in pred) for slot in outcomes.slots}
        return cls(numbers, slots, tuple(_mismatches(outcomes)), passed_over)

    def __add__(self, other: NoteCounts) -> NoteCounts:
        slots = dict(self.slots)
        for slot, seen in other.slots.items():
            own = slots.setdefault(slot, seen)
            slots[slot] = SeenSlot(own.first or seen.first, own.in_ref | seen.in_ref, own.in_pred | seen.in_pred)
        names = {**self.passed_over, **other.passed_over}
        return NoteCounts(
            self.numbers + other.numbers,
            slots,
            (self.mismatch + other.mismatch)[:1],
            {what: self.passed_over.get(what, ()) + other.passed_over.get(what, ()) for what in names},
        )


def _mismatches(outcomes: Outcomes) -> Iterator[Mismatch]:
    """The first wrong slot with a value on both sides, if there is one."""
    both = np.flatnonzero((outcomes.wrong_ref >= 0) & (outcomes.wrong_pred >= 0))[:1]
    for _, slot, ref, pred in outcomes.wrong_rows[both].tolist():
        yield Mismatch(outcomes.slots[slot], value_text(outcomes.values[ref]), value_text(outcomes.values[pred]))


def notes(
    counts: NoteCounts,
    coverage: Coverage,
    protocol: Protocol,
    policy: Policy,
    given_slots: Collection[str] | None,
    n_slots: int,
) -> Iterator[str]:
    """The sentences that stand below the numbers; ``given_slots`` is the list given as S, if one was."""
    yield from _coverage(coverage, protocol, policy)
    if protocol.scope.unit == "frame":
        yield f"{_many(counts.numbers['units'], 'frame')}, scored one by one"
        for what, names in counts.passed_over.items():
            kind, _, done = what.partition(": ")
            if names:
                yield f"{_many(len(names), kind)} {done} ({first_few(names)})"
    yield from _slots(counts, protocol, given_slots, n_slots)
    if counts.numbers["valued"]:
        yield from _hints(counts, protocol)


def _coverage(coverage: Coverage, protocol: Protocol, policy: Policy) -> Iterator[str]:
    reasons = {canonical_id(name): protocol.scope.leave_out_why or "as asked" for name in protocol.scope.leave_out}
    reasons |= dict.fromkeys(coverage.dropped, "as its tool does when it prepares the data")
    ruled_out = [name for name in coverage.left_out if canonical_id(name) in reasons]
    if ruled_out:
        reason = reasons[canonical_id(ruled_out[0])]
        yield f"left out under {protocol.name}: {first_few(ruled_out)} ({reason})"
    done = "scored as empty" if policy.missing == "empty" else "left out"
    missing = f"missing turns {done}" if policy.missing == "empty" else done
    for names, kind, what in (
        (coverage.missing, "dialogue", f"without prediction {done}"),
        (coverage.lengths, "dialogue", f"with another number of turns, {missing}"),
        (coverage.extra, "dialogue", "without reference ignored"),
        (coverage.ignored, "predicted turn", "after the reference's last ignored"),
    ):
        if names:
            yield f"{_many(len(names), kind)} {what} ({first_few(names)})"
    if coverage.differs:
        yield (
            f"{coverage.differs} of {coverage.scored_turns} turns have another reference inside the "
            "predictions' file; --ref was used"
        )


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _slots(
    counts: NoteCounts, protocol: Protocol, given_slots: Collection[str] | None, n_slots: int
) -> Iterator[str]:
    """Slots that are not in S, or, without a list, predicted slots that nothing explains."""
    if given_slots is not None:
        unexpected = [slot for slot in counts.slots if slot not in given_slots]
        what = "slots are not in the list given with --slots"
    elif protocol.scope.slots == "auto":
        in_ref = {slot for slot, seen in counts.slots.items() if seen.in_ref}
        unexpected = [slot for slot in counts.slots if slot not in in_ref and slot not in MULTIWOZ]
        unexpected = unexpected if in_ref and in_ref <= MULTIWOZ else []
        what = "predicted slots are none of MultiWOZ's 30 and never in the reference"
        what += f", so |S| = {n_slots}" if n_slots == len(counts.slots) else ""
    else:
        return
    if unexpected:
        names = ", ".join(map(repr, unexpected[:8])) + (", ..." if len(unexpected) > 8 else "")
        first = counts.slots[unexpected[0]].first
        place = f" (first: dialogue {first[0]!r}, turn {first[1]})" if first else ""
        yield f"{len(unexpected)} {what}: {names}{place}"


def _hints(counts: NoteCounts, protocol: Protocol) -> Iterator[str]:
    numbers = counts.numbers
    followed, lost, unset = (numbers[name] for name in ("followed", "lost", "unset"))
    if followed >= _ENOUGH and lost >= _ALMOST_ALL * followed:
        yield (
            f"at {lost} of {followed} turns the whole predicted state of the turn before is gone: "
            "if the file holds what each turn changed, add --updates"
        )
    if unset:
        # A reference that lists slots which are not set, under a protocol that takes every text for a value.
        yield (
            f"{unset} wrong slots are '' or 'not mentioned' in the reference, which this protocol takes "
            'for values: --set \'states.absent_ref=["", "not mentioned"]\' takes them for slots that are not set'
        )
    if not numbers["right"] and numbers["ref"]:
        yield from (f"no slot is right: {cause}" for cause in _nothing_right(counts))
    elif numbers["exact"] == numbers["units"] >= _SAME_FILE:
        yield f"every {protocol.scope.unit} is right: are reference and predictions the same file?"


def _nothing_right(counts: NoteCounts) -> Iterator[str]:
    ref, pred = ({slot for slot, seen in counts.slots.items() if seen[side]} for side in (1, 2))
    if not counts.numbers["pred"]:
        yield "every predicted state is empty"
    elif ref.isdisjoint(pred):
        yield (
            "the two sides have no slot name in common "
            f"(reference {', '.join(sorted(ref)[:3])}; predictions {', '.join(sorted(pred)[:3])})"
        )
    for mismatch in counts.mismatch if ref & pred else ():
        yield (
            f"values never match, for example {mismatch.slot}: "
            f"reference {mismatch.ref!r}, predicted {mismatch.pred!r}"
        )
