"""The notes below the numbers: what was left out, and the likeliest causes of odd numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

from dsteval.align.coverage import Coverage, Policy
from dsteval.dialogue import Item, Value, canonical_id
from dsteval.errors import first_few
from dsteval.outcomes.table import Array, Outcomes
from dsteval.outcomes.turns import SeenSlot
from dsteval.prepare.states import value_text
from dsteval.protocols.model import Protocol
from dsteval.values.matchers import PreparedValue, texts
from dsteval.values.oddities import oddity, visible
from dsteval.values.slots import MULTIWOZ, SPELLINGS

_ALMOST_ALL = 0.8
_MOST = 0.5
_ENOUGH = 4
_SAME_FILE = 100  # units, all of them exact


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
    set (``unset``); units with a reference state (``filled``) and those of them without a predicted one
    (``hollow``); wrong predicted values that are odd by their kind (``oddity``), or look like the reference's
    (``unicode``); values of the reference that were dropped though they may be values (``dropped``). ``examples``
    has the first of each of these. ``passed_over`` are names by what was done with them (``Framer.passed_over``).
    """

    numbers: Counter[str]
    slots: Mapping[str, SeenSlot]
    mismatch: tuple[Mismatch, ...]
    passed_over: Mapping[str, tuple[str, ...]]
    examples: Mapping[str, str]

    @classmethod
    def of(
        cls,
        outcomes: Outcomes,
        slots: Mapping[str, SeenSlot],
    ) -> NoteCounts:
        """The counts of one table, and the slots that it compares."""
        before = np.roll(outcomes.pred, 1)
        # Pairs of the turn before that did not stay; in a file of updates nearly none ever does.
        lost = before - (outcomes.pred - outcomes.new_pred)
        followed = ~outcomes.first & (before > 0) & (outcomes.unit == "turn")
        wrong_refs = np.unique(outcomes.wrong_ref).tolist()
        unset = [one for one in wrong_refs if one >= 0 and outcomes.values[one] in ("", "not mentioned")]
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
            "filled": outcomes.ref > 0,
            "hollow": (outcomes.ref > 0) & (outcomes.pred == 0),
        }
        numbers = Counter({name: int(column.sum(dtype=np.int64)) for name, column in columns.items()})
        examples: dict[str, str] = {}
        for kind, count, example in _odd(outcomes):
            numbers[kind] += count
            examples.setdefault(kind, example)
        return cls(numbers, slots, tuple(_mismatches(outcomes)), {}, examples)

    @classmethod
    def left_out(cls, passed_over: Mapping[str, tuple[str, ...]], dropped: Mapping[Item, int]) -> NoteCounts:
        """The counts of what is in no table: passed over, or ``dropped`` when states were prepared."""
        slot, value = next(iter(dropped), ("", ""))
        numbers = Counter({"dropped": sum(dropped.values())})
        return cls(numbers, {}, (), passed_over, {"dropped": f"{slot} {_written(value)!r}"})

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
            {**other.examples, **self.examples},
        )


def _written(value: Value) -> str:
    """A value as written, alternatives with a bar between them."""
    return value if isinstance(value, str) else "|".join(value or ())


def _odd(outcomes: Outcomes) -> Iterator[tuple[str, int, str]]:
    """Kinds of odd wrong values, how many there are, and one of them with its slot."""

    def slot_of(hit: Array) -> str:
        return outcomes.slots[int(outcomes.wrong_rows[np.flatnonzero(hit)[0], 1])]

    wrong = [np.unique(column).tolist() for column in (outcomes.wrong_ref, outcomes.wrong_pred)]
    value_of = {number: outcomes.values[number] for number in {*wrong[0], *wrong[1]} if number >= 0}
    for number in wrong[1]:
        kinds = filter(None, map(oddity, texts(value_of.get(number, ()))))
        if kind := next(kinds, None):
            hit = outcomes.wrong_pred == number
            yield kind, int(hit.sum()), f"{slot_of(hit)} {value_text(value_of[number])!r}"
    foreign = [number for number, value in value_of.items() if not all(map(str.isascii, texts(value)))]
    if not foreign:
        return
    both = (outcomes.wrong_ref >= 0) & (outcomes.wrong_pred >= 0)
    rows = outcomes.wrong_rows[
        both & (np.isin(outcomes.wrong_ref, foreign) | np.isin(outcomes.wrong_pred, foreign))
    ]
    for (slot, ref, pred), count in Counter(map(tuple, rows[:, 1:].tolist())).items():
        if _look(outcomes.values[ref]) & _look(outcomes.values[pred]):
            values = " and ".join(ascii(value_text(outcomes.values[one])) for one in (ref, pred))
            yield "unicode", count, f"{outcomes.slots[slot]} {values}"


def _look(value: PreparedValue) -> set[str]:
    return set(map(visible, texts(value)))


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
    schema: Collection[str] = (),
) -> Iterator[str]:
    """The sentences that stand below the numbers.

    ``given_slots`` is the list given as S, if one was, ``schema`` the slots of the data's schema.
    """
    yield from _coverage(coverage, protocol, policy)
    if protocol.scope.unit == "frame":
        yield f"{_many(counts.numbers['units'], 'frame')}, scored separately"
        for what, names in counts.passed_over.items():
            kind, _, done = what.partition(": ")
            if names:
                yield f"{_many(len(names), kind)} {done} ({first_few(names)})"
    yield from _slots(counts, protocol, given_slots, schema)
    if counts.numbers["valued"]:
        yield from _hints(counts, protocol)


def _coverage(coverage: Coverage, protocol: Protocol, policy: Policy) -> Iterator[str]:
    reasons = {
        canonical_id(name): protocol.scope.leave_out_why or "as requested" for name in protocol.scope.leave_out
    }
    reasons |= dict.fromkeys(coverage.dropped, "as its script does when preparing the data")
    ruled_out = [name for name in coverage.left_out if canonical_id(name) in reasons]
    if ruled_out:
        reason = reasons[canonical_id(ruled_out[0])]
        yield f"left out under {protocol.name}: {first_few(ruled_out)} ({reason})"
    done = "scored as empty" if policy.missing == "empty" else "left out"
    missing = f"missing turns {done}" if policy.missing == "empty" else done
    for names, kind, what in (
        (coverage.missing, "dialogue", f"without prediction {done}"),
        (coverage.lengths, "dialogue", f"with a different number of turns, {missing}"),
        (coverage.extra, "dialogue", "without reference ignored"),
        (coverage.ignored, "predicted turn", "after the reference's last ignored"),
        ([text.partition(": ")[0] for text in coverage.broken], "broken line", "left out with the whole dialogue"),
    ):
        if names:
            yield f"{_many(len(names), kind)} {what} ({first_few(names)})"
    if coverage.differs:
        yield (
            f"{coverage.differs} of {coverage.scored_turns} turns have a different reference in the "
            "predictions' file; --ref was used"
        )


def _counted(number: int, what: str) -> str:
    """A number before words in the plural, which become singular after 1."""
    if number == 1:
        for plural, singular in (("s are", " is"), ("s hold ", " holds ")):
            what = what.replace(plural, singular, 1)
    return f"{number} {what}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _slots(
    counts: NoteCounts,
    protocol: Protocol,
    given_slots: Collection[str] | None,
    schema: Collection[str],
) -> Iterator[str]:
    """Slots that are not in S, or, without a list, predicted slots that nothing explains."""
    if given_slots is not None:
        unexpected = [slot for slot in counts.slots if slot not in given_slots]
        what = "slots are not in the list given with --slots"
    elif in_ref := {slot for slot, seen in counts.slots.items() if seen.in_ref}:
        # Which slots there are beside those that the reference happens to have.
        known = schema or ({*map(SPELLINGS[protocol.states.slots], MULTIWOZ)} if in_ref & MULTIWOZ else ())
        unexpected = [slot for slot in counts.slots if slot not in in_ref and slot not in known]
        what = "predicted slots are never in the reference"
    else:
        return
    shared = any(seen.in_ref and seen.in_pred for seen in counts.slots.values())
    if unexpected and (shared or given_slots is not None):  # else no name of the two sides is the same
        names = ", ".join(map(repr, unexpected[:8])) + (", ..." if len(unexpected) > 8 else "")
        first = counts.slots[unexpected[0]].first
        place = f" (first: dialogue {first[0]!r}, turn {first[1]})" if first else ""
        yield f"{_counted(len(unexpected), what)}: {names}{place}"


def _hints(counts: NoteCounts, protocol: Protocol) -> Iterator[str]:
    numbers = counts.numbers
    followed, lost, unset = (numbers[name] for name in ("followed", "lost", "unset"))
    if followed >= _ENOUGH and lost >= _ALMOST_ALL * followed:
        yield (
            f"at {lost} of {followed} turns nothing of the previous predicted state is left: "
            "if the file holds only what each turn changed, add --updates"
        )
    if unset:
        # A reference that lists slots which are not set, under a protocol that takes every text for a value.
        yield (
            f"{unset} wrong slots are '' or 'not mentioned' in the reference, which this protocol scores "
            'as values: --set \'states.absent_ref=["", "not mentioned"]\' treats them as not set'
        )
    yield from _odd_values(counts, protocol)
    sides = [name for side, name in (("ref", "reference"), ("pred", "predictions")) if not numbers[side]]
    if "reference" in sides:
        verb = "has" if sides == ["reference"] else "and the predictions have"
        yield f"the reference {verb} no slots at any {protocol.scope.unit}: check that it was read correctly"
    elif not sides and numbers["hollow"] >= max(_ENOUGH, _MOST * numbers["filled"]):
        yield (
            f"{numbers['hollow']} of {numbers['filled']} predicted states are empty where the reference is not: "
            "check that they were read correctly"
        )
    if not numbers["right"] and numbers["ref"]:
        yield from (f"no slot is right: {cause}" for cause in _nothing_right(counts))
    elif numbers["exact"] == numbers["units"] >= _SAME_FILE and numbers["ref"]:
        yield f"every {protocol.scope.unit} is right: are reference and predictions the same file?"


def _odd_values(counts: NoteCounts, protocol: Protocol) -> Iterator[str]:
    """What is odd about single values, with an example of each."""
    absent = msgspec.json.encode([*protocol.states.absent, "null"]).decode()
    kept = msgspec.json.encode([word for word in protocol.states.absent if not word]).decode()
    likely = counts.numbers["dropped"] < counts.numbers["ref"]  # else the file lists every slot, set or not
    for kind, what, advice in (
        (
            "null",
            "predicted values are used as placeholders for no value",
            f"leave such slots out, or list the words with --set 'states.absent={absent}'",
        ),
        (
            "deletion",
            "predicted values are '[DELETE]'",
            "if the file holds only what each turn changed, add --updates",
        ),
        ("mark", "predicted values hold special tokens", "strip them before scoring"),
        (
            "unicode",
            "predicted values are wrong but look identical to the reference",
            "they differ in invisible characters or Unicode normalization",
        ),
        (
            "dropped",
            "reference values are treated as not set",
            f"if they are values, give the schema with --schema FILE, or use --set 'states.absent={kept}'",
        ),
    ):
        if (number := counts.numbers[kind]) and (kind != "dropped" or likely):
            yield f"{_counted(number, what)} (first: {counts.examples[kind]}): {advice}"


def _nothing_right(counts: NoteCounts) -> Iterator[str]:
    ref, pred = ({slot for slot, seen in counts.slots.items() if seen[side]} for side in (1, 2))
    if not counts.numbers["pred"]:
        yield "every predicted state is empty"
    elif ref.isdisjoint(pred):
        yield (
            "reference and predictions have no slot name in common "
            f"(reference {', '.join(sorted(ref)[:3])}; predictions {', '.join(sorted(pred)[:3])})"
        )
    for mismatch in counts.mismatch if ref & pred else ():
        yield (
            f"values never match, for example {mismatch.slot}: "
            f"reference {mismatch.ref!r}, predicted {mismatch.pred!r}"
        )
