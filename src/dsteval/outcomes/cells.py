"""Compares a block of turns all at once: what came of each slot at each turn, as arrays [slots, turns]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dsteval.outcomes.blocks import Block
from dsteval.outcomes.table import (
    ABSENT,
    IN_PRED_BEFORE,
    IN_REF_BEFORE,
    PRED_SAME,
    REF_SAME,
    RIGHT_BEFORE,
    UNKNOWN,
    Array,
)
from dsteval.prepare.vocabulary import Vocabulary
from dsteval.values.matchers import Matcher, PreparedValue

_STAYED = REF_SAME | PRED_SAME


class Question:
    """What is asked of a slot and two of its values, by their numbers; each answer is kept.

    Single texts that differ are not asked about where the rule is ``literal``.
    """

    def __init__(
        self, vocabulary: Vocabulary, ask: Callable[[str, PreparedValue, PreparedValue], float], literal: bool
    ) -> None:
        self._vocabulary, self._ask, self._literal = vocabulary, ask, literal
        self._answers: dict[int, float] = {}

    def __call__(self, a: Array, b: Array, where: Array) -> tuple[Array, Array]:
        """The places of two tables, flat, at which ``where`` holds and something was asked, and the answers."""
        plain = np.frombuffer(self._vocabulary.plain, dtype=np.int8)
        if self._literal and plain.all():
            return np.empty(0, dtype=np.intp), np.empty(0)
        places = np.flatnonzero(where)
        one, other = a.ravel()[places], b.ravel()[places]
        if self._literal:
            asked = (plain[one] & plain[other]) == 0
            places, one, other = places[asked], one[asked], other[asked]
        keys, inverse = np.unique(one.astype(np.int64) << 32 | other, return_inverse=True)
        return places, np.array([self._answer(key) for key in keys.tolist()], dtype=float)[inverse.ravel()]

    def yes(self, a: Array, b: Array, where: Array) -> Array:
        """The places at which the answer is 1."""
        places, answers = self(a, b, where)
        chosen: Array = places[answers == 1]
        return chosen

    def _answer(self, key: int) -> float:
        answer = self._answers.get(key)
        if answer is None:
            one, other, values = key >> 32, key & 0xFFFFFFFF, self._vocabulary.values
            answer = self._answers[key] = self._ask(self._vocabulary.slot_name(one), values[one], values[other])
        return answer


class Rule:
    """When a value is right, and when it stayed, in numbers; by a protocol's matcher."""

    def __init__(self, vocabulary: Vocabulary, matcher: Matcher) -> None:
        self.matcher, literal = matcher, matcher.literal
        self._score = Question(vocabulary, matcher.score, literal)
        self._swapped = Question(vocabulary, lambda slot, ref, pred: matcher.score(slot, pred, ref), literal)
        self._same = Question(vocabulary, matcher.same, type(matcher).same is Matcher.same)
        asks = type(matcher).same_pred is not Matcher.same_pred
        self._same_pred = Question(vocabulary, matcher.same_pred, literal) if asks else None

    def scores(self, ref: Array, pred: Array) -> tuple[Array, Array]:
        """Whether each value is right, and how right, 0..1, if the rule is graded."""
        both = (ref > 0) & (pred > 0)
        right = (ref == pred) & both & self.matcher.reflexive
        places, answers = self._score(ref, pred, both & ~right)
        right.ravel()[places[answers == 1]] = True
        if not self.matcher.graded:
            return right, np.zeros(1)
        scores = right.astype(float)
        scores.ravel()[places] = answers
        return right, scores

    def differs(self, ref: Array, pred: Array) -> Array:
        """Whether one side has a slot alone, or they have values that do not match."""
        differs: Array = ref != pred
        differs.ravel()[self._score.yes(ref, pred, differs & (ref > 0) & (pred > 0))] = False
        return differs

    def right_swapped(self, ref: Array, pred: Array, where: Array) -> Array:
        """Whether, of some places, the value of the reference is right by that of the prediction."""
        right: Array = where & (ref == pred)
        right.ravel()[self._swapped.yes(ref, pred, where & ~right & (ref > 0))] = True
        return right

    def stayed_ref(self, before: Array, now: Array) -> Array:
        """Whether the reference's value is that of the turn before, or both have none."""
        return _stayed(self._same, before, now)

    def stayed_pred(self, before: Array, now: Array) -> Array:
        """Whether the predicted value is that of the turn before, or both have none."""
        return _stayed(self._same_pred, before, now)


def _stayed(same: Question | None, before: Array, now: Array) -> Array:
    stayed: Array = before == now
    if same is not None:
        stayed.ravel()[same.yes(before, now, ~stayed & (before > 0) & (now > 0))] = True
    return stayed


@dataclass
class Cells:
    """What came of each slot at each turn: masks [slots, turns], and rows for what is wrong.

    ``slots`` are numbers of the vocabulary, sorted. A slot is in ``ref``, in ``pred``, ``right`` (in both and
    matching) or ``wrong``; ``new_ref`` and ``new_pred`` since the turn before, of which ``new_pred_right`` are
    right; ``fresh`` where it is wrong and was not so, with the same values, at the turn before; ``moved`` where
    the prediction is not the reference of the turn before; ``turned`` where it became wrong, or ceased to be.
    Per wrong slot, ordered by turn and slot: ``wrong_unit``, ``wrong_row`` (its place in ``slots``),
    ``wrong_ref``, ``wrong_pred``, ``wrong_score`` and ``wrong_previous``, as Outcomes has them.
    """

    slots: Array
    ref: Array
    pred: Array
    right: Array
    wrong: Array
    new_ref: Array
    new_pred: Array
    new_pred_right: Array
    fresh: Array
    moved: Array
    turned: Array
    wrong_unit: Array
    wrong_row: Array
    wrong_ref: Array
    wrong_pred: Array
    wrong_score: Array
    wrong_previous: Array

    def wrong_rows(self, unit: Array, order: Array) -> dict[str, Array]:
        """What Outcomes has of each wrong slot, at other units and in another order."""
        names = ("ref", "pred", "score", "previous")
        rows = {"unit": unit, "slot": self.slots[self.wrong_row]}
        rows |= {name: getattr(self, f"wrong_{name}") for name in names}
        return {name: column[order] for name, column in rows.items()}


def _before(table: Array, first: Array) -> Array:
    """What stood at the turn before, 0 at the first of a dialogue."""
    before = np.zeros_like(table)
    before[:, 1:] = table[:, :-1]
    before[:, first] = 0
    return before


def compare(block: Block, rule: Rule, *, texts_only: bool = False) -> Cells:
    """Compare both sides of every turn of a block; with ``texts_only`` empty values are as good as none."""
    slots = block.slots()
    ref, pred = block.tables(slots, texts_only=texts_only)
    if block.marks is not None:
        return _marked(block, slots, ref > 0)
    first = block.first
    ref_before, pred_before = _before(ref, first), _before(pred, first)
    right, scores = rule.scores(ref, pred)
    in_ref, in_pred = ref > 0, pred > 0
    wrong = (in_ref | in_pred) & ~right
    wrong_before = _before(wrong, first)
    stayed_ref, stayed_pred = rule.stayed_ref(ref_before, ref), rule.stayed_pred(pred_before, pred)
    new_pred = in_pred & ~stayed_pred
    unit, row = np.nonzero(np.ascontiguousarray(wrong.T))
    at = row, unit
    both_before = (ref_before[at] > 0) & (pred_before[at] > 0)
    was = (
        REF_SAME * stayed_ref[at]
        | PRED_SAME * stayed_pred[at]
        | IN_REF_BEFORE * (ref_before[at] > 0)
        | IN_PRED_BEFORE * (pred_before[at] > 0)
        | RIGHT_BEFORE * (both_before & ~wrong_before[at])
    ).astype(np.int8)
    fresh = np.zeros_like(wrong)
    fresh[at] = (was & (_STAYED | RIGHT_BEFORE)) != _STAYED
    return Cells(
        slots=slots,
        ref=in_ref,
        pred=in_pred,
        right=right,
        wrong=wrong,
        new_ref=in_ref & ~stayed_ref,
        new_pred=new_pred,
        new_pred_right=rule.right_swapped(ref, pred, new_pred) if rule.matcher.swaps_new else new_pred & ~wrong,
        fresh=fresh,
        moved=rule.differs(ref_before, pred),
        turned=wrong != wrong_before,
        wrong_unit=unit,
        wrong_row=row,
        wrong_ref=np.where(in_ref[at], ref[at], ABSENT),
        wrong_pred=np.where(in_pred[at], pred[at], ABSENT),
        wrong_score=scores[at] if rule.matcher.graded else np.zeros(len(unit)),
        wrong_previous=was,
    )


def _marked(block: Block, slots: Array, ref: Array) -> Cells:
    """What right/wrong marks tell: which slots are wrong, and nothing of values."""
    wrong = block.marked_wrong(slots)
    unit, row = np.nonzero(np.ascontiguousarray(wrong.T))
    unknown, none = np.full(len(unit), UNKNOWN, dtype=np.int32), np.zeros_like(wrong)
    return Cells(
        slots=slots,
        ref=ref,
        pred=none,
        right=ref & ~wrong,
        wrong=wrong,
        new_ref=none,
        new_pred=none,
        new_pred_right=none,
        fresh=wrong,
        moved=~none,
        turned=wrong != _before(wrong, block.first),
        wrong_unit=unit,
        wrong_row=row,
        wrong_ref=unknown,
        wrong_pred=unknown,
        wrong_score=np.zeros(len(unit)),
        wrong_previous=unknown.astype(np.int8),
    )
