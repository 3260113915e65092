"""Compares the prepared states of each dialogue, turn by turn, and fills Outcomes."""

from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from typing import TypeAlias

import numpy as np

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.outcomes.extra_columns import EXTRA_COLUMNS, DialogueStates, Right
from dsteval.outcomes.table import (
    ABSENT,
    CARRIED,
    EXACT,
    FIRST,
    IN_PRED_BEFORE,
    IN_REF_BEFORE,
    PRED_IS_PREVIOUS_REF,
    PRED_SAME,
    REF_SAME,
    RIGHT_BEFORE,
    UNIT,
    UNKNOWN,
    Outcomes,
)
from dsteval.prepare.states import Prepared, State
from dsteval.values.matchers import Matcher, PreparedValue, matches, same_ref

Wrong: TypeAlias = dict[str, tuple[PreparedValue | None, PreparedValue | None]]
Row: TypeAlias = tuple[int, ...]
Stayed: TypeAlias = Callable[[str, PreparedValue | None, PreparedValue | None], bool]

_PATTERN, _FLAGS = UNIT.index("pattern"), UNIT.index("flags")
_STAYED = REF_SAME | PRED_SAME


class Comparer:
    """Compares dialogues one after the other; ``outcomes`` is the table of all of them.

    ``keep`` limits the comparison to some slots: the outcome is that of states cut down to them. ``matcher`` tells
    when a value is right, equality if there is none; ``extra`` names what is counted per turn in addition.
    ``first_seen`` tells by slot in which dialogue and turn it stands first, ``seen`` the slots of each side.
    """

    def __init__(
        self,
        keep: Callable[[str], bool] | None = None,
        matcher: Matcher | None = None,
        extra: Sequence[str] = (),
    ) -> None:
        self.keep = keep
        # Equality is asked more often than all else: it goes without a matcher's memory.
        self.right: Right = matcher.right if matcher else lambda slot, ref, pred: matches(ref, pred)
        self._same: Stayed = matcher.same if matcher else lambda slot, before, now: same_ref(before, now)
        self._same_pred: Stayed = matcher.same_pred if matcher else lambda slot, before, now: before == now
        self._score = matcher.score if matcher is not None and matcher.graded else None
        # Equal states need no look where every value is right against itself.
        self._reflexive = matcher is None or matcher.reflexive
        self._swaps_new = matcher is not None and matcher.swaps_new
        self._extra_columns = {name: EXTRA_COLUMNS[name] for name in extra}
        self._extra: dict[str, list[tuple[float, ...]]] = {name: [] for name in extra}
        self.has_values = self.has_ref = self.has_dialogues = True
        self.first_seen: dict[str, tuple[str, int]] = {}
        self.seen: dict[Side, set[str]] = {"ref": set(), "pred": set()}
        self._dialogues: list[str] = []
        self._offsets = array("q", [0])
        self._slots: dict[str, int] = {}
        self._values: dict[PreparedValue, int] = {}
        self._patterns: dict[frozenset[str], int] = {frozenset(): 0}
        self._units = array("i")
        self._wrong_rows = array("i")
        self._wrong_scores = array("d")
        self._wrong_previous = array("b")

    def add(self, dialogue: Dialogue, prepared: Prepared) -> None:
        """Compare one dialogue's states, a state per turn on both sides."""
        ref, pred = map(self._cut, prepared) if self.keep else prepared
        for name, columns in self._extra_columns.items():
            self._extra[name] += columns.rows(DialogueStates(dialogue, Prepared(ref, pred), self.right, self.keep))
        unit = self._offsets[-1]
        b0: State = {}
        p0: State = {}
        wrong: Wrong = {}
        was: list[int] = []
        row: Row = ()
        for turn, b, p in zip(dialogue.turns, ref, pred, strict=True):
            if row and b is b0 and p is p0:
                row = _repeated(row, turn)
                was = [_repeated_was(values) for values in wrong.values()]
            else:
                before, wrong = wrong, ({} if self._reflexive and b == p else self._wrong(b, p))
                was = self._was(before, wrong, b0, p0) if wrong else []
                row = self._row(turn, (b0, b), (p0, p), wrong, was, not row)
                self._see(b, "ref", dialogue, turn)
                self._see(p, "pred", dialogue, turn)
            self._units.extend(row)
            self._wrong_previous.extend(was)
            for slot, (r, q) in wrong.items():
                self._wrong_rows.extend((unit, self._slots[slot], self._value(r), self._value(q)))
                score = self._score(slot, r, q) if self._score and r is not None and q is not None else 0.0
                self._wrong_scores.append(score)
            unit += 1
            b0, p0 = b, p
        self._close(dialogue, unit)

    def add_correctness(self, dialogue: Dialogue, slots: Sequence[str], ref: list[State]) -> None:
        """Take in one dialogue of right/wrong marks; ``ref`` may be empty, then AGA is unknown."""
        self.has_values, self.has_ref = False, bool(ref)
        unit = self._offsets[-1]
        kept = [self.keep is None or self.keep(name) for name in slots]
        names = list(compress(slots, kept))
        ref = [{slot: value for slot, value in state.items() if slot in names} for state in ref]
        for name in names:
            self._slots.setdefault(name, len(self._slots))
        for turn, state in zip(dialogue.turns, ref or [{}] * len(dialogue.turns), strict=True):
            bits = compress(turn.correctness or (), kept)
            wrong = [slot for slot, bit in zip(names, bits, strict=True) if not bit]
            flags = EXACT * (not wrong) | FIRST * (unit == self._offsets[-1])
            known = len(state)
            right = known - sum(slot in state for slot in wrong)
            pattern = self._pattern(wrong)
            self._units.extend((turn.number, -1, known, 0, right, len(wrong), 0, 0, 0, 0, pattern, flags))
            self._see(state, "ref", dialogue, turn)
            for slot in wrong:
                self._wrong_rows.extend((unit, self._slots[slot], UNKNOWN, UNKNOWN))
                self._wrong_previous.append(UNKNOWN)
                self._wrong_scores.append(0.0)
            unit += 1
        self._close(dialogue, unit)

    def add_empty(self, dialogue: Dialogue) -> None:
        """Take in a dialogue of which no slot is kept: every turn is exact, with nothing on either side."""
        nothing: list[State] = [{}] * len(dialogue.turns)
        self.add(dialogue, Prepared(nothing, nothing))

    def outcomes(self) -> Outcomes:
        """The table of all dialogues added so far."""
        units = np.frombuffer(self._units, dtype=np.int32).reshape(-1, len(UNIT))
        wrong_rows = np.frombuffer(self._wrong_rows, dtype=np.int32).reshape(-1, 4)
        return Outcomes(
            dialogues=self._dialogues,
            offsets=np.array(self._offsets, dtype=np.int64),
            units={name: units[:, column] for column, name in enumerate(UNIT)},
            wrong_rows=wrong_rows,
            wrong_score=np.array(self._wrong_scores),
            wrong_previous=np.frombuffer(self._wrong_previous, dtype=np.int8),
            slots=tuple(self._slots),
            values=tuple(self._values),
            has_values=self.has_values,
            has_ref=self.has_ref,
            has_dialogues=self.has_dialogues,
            graded=self._score is not None,
            extra={
                name: np.array(rows).reshape(-1, EXTRA_COLUMNS[name].width) for name, rows in self._extra.items()
            },
        )

    def _row(
        self,
        turn: Turn,
        ref: tuple[State, State],
        pred: tuple[State, State],
        wrong: Wrong,
        was: list[int],
        first: bool,
    ) -> Row:
        (b0, b), (p0, p) = ref, pred
        same, same_pred = self._same, self._same_pred
        new_ref = [s for s, v in b.items() if (o := b0.get(s)) is not v and not same(s, o, v)]
        new_pred = [s for s, v in p.items() if (o := p0.get(s)) is not v and not same_pred(s, o, v)]
        right_pred = [s for s in new_pred if s not in wrong]
        if self._swaps_new and wrong:
            right_pred = [s for s in new_pred if s in b and self.right(s, p[s], b[s])]
        flags = FIRST if first else 0
        if not wrong:
            flags |= EXACT
        elif all(bits & (_STAYED | RIGHT_BEFORE) == _STAYED for bits in was):
            flags |= CARRIED
        if len(b0) == len(p) and not (p != b0 and self._wrong(b0, p)):
            flags |= PRED_IS_PREVIOUS_REF
        return (
            turn.number,
            -1,
            len(b),
            len(p),
            len(b) - sum(r is not None for r, _ in wrong.values()),
            len(wrong),
            len(new_ref),
            sum(s not in wrong for s in new_ref) if wrong else len(new_ref),
            len(new_pred),
            len(right_pred),
            self._pattern(wrong) if wrong else 0,
            flags,
        )

    def _wrong(self, b: State, p: State) -> Wrong:
        """The slots that are not on both sides with a matching value, each with (ref, pred)."""
        wrong: Wrong = {}
        right, reflexive = self.right, self._reflexive
        for slot, value in b.items():
            guess = p.get(slot)
            if guess is None or not ((reflexive and guess is value) or right(slot, value, guess)):
                wrong[slot] = (value, guess)
        for slot, guess in p.items():
            if slot not in b:
                wrong[slot] = (None, guess)
        return wrong

    def _was(self, before: Wrong, wrong: Wrong, b0: State, p0: State) -> list[int]:
        """What each wrong slot was at the turn before, where ``before`` were wrong and b0 and p0 the states."""
        previous = []
        for slot, values in wrong.items():
            ref, pred = values
            if (earlier := before.get(slot)) is not None and earlier[0] is ref and earlier[1] is pred:
                previous.append(_repeated_was(values))
                continue
            old, guess = b0.get(slot), p0.get(slot)
            bits = 0
            if old is ref or self._same(slot, old, ref):
                bits |= REF_SAME
            if guess is pred or self._same_pred(slot, guess, pred):
                bits |= PRED_SAME
            if old is not None:
                bits |= IN_REF_BEFORE
            if guess is not None:
                bits |= IN_PRED_BEFORE
                if old is not None and slot not in before:
                    bits |= RIGHT_BEFORE
            previous.append(bits)
        return previous

    def _cut(self, states: list[State]) -> list[State]:
        """States limited to the slots that are kept; a state that did not change stays the same object."""
        assert self.keep is not None
        cut: list[State] = []
        before: State | None = None
        for state in states:
            cut.append(cut[-1] if state is before else {s: v for s, v in state.items() if self.keep(s)})
            before = state
        return cut

    def _see(self, state: State, side: Side, dialogue: Dialogue, turn: Turn) -> None:
        """Take in the slots that are new on a side."""
        seen = self.seen[side]
        if not state.keys() <= seen:
            for slot in state:
                self.first_seen.setdefault(slot, (dialogue.id, turn.number))
                self._slots.setdefault(slot, len(self._slots))
            seen.update(state)

    def _pattern(self, wrong: Wrong | list[str]) -> int:
        return self._patterns.setdefault(frozenset(wrong), len(self._patterns))

    def _value(self, value: PreparedValue | None) -> int:
        return ABSENT if value is None else self._values.setdefault(value, len(self._values))

    def _close(self, dialogue: Dialogue, unit: int) -> None:
        """End the dialogue."""
        if dialogue.alone:
            self.has_dialogues = False
        self._dialogues.append(dialogue.id)
        self._offsets.append(unit)


def _repeated(row: Row, turn: Turn) -> Row:
    """The row of a turn at which neither side moved: the one before, with nothing new."""
    exact = row[_FLAGS] & EXACT
    # Where nothing moved, the reference of the turn before is this turn's, and an error is an inherited one.
    flags = exact | (PRED_IS_PREVIOUS_REF if exact else CARRIED)
    return (turn.number, *row[1:6], 0, 0, 0, 0, row[_PATTERN], flags)


def _repeated_was(values: tuple[PreparedValue | None, PreparedValue | None]) -> int:
    """What a wrong slot was at the turn before where neither side moved: wrong, with the same values."""
    ref, pred = values
    return _STAYED | (0 if ref is None else IN_REF_BEFORE) | (0 if pred is None else IN_PRED_BEFORE)
