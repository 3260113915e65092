"""Compares frames, one service at one user turn, and counts what comes of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import nan, prod
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import Dialogue, Frame
from dsteval.outcomes.frames import Framer, Unit
from dsteval.outcomes.table import ABSENT, EXACT, FIRST, FRAME, UNIT, UNKNOWN, Outcomes
from dsteval.outcomes.turns import SeenSlot, Take
from dsteval.prepare.vocabulary import Prepared, Vocabulary
from dsteval.values.matchers import Matcher

# What a predicted frame means that tells no intent, as one does that is not there and counts as empty.
_NO_INTENT = "NONE"
_MOST = 1 << 16  # pairs of states that are kept


class Compared(NamedTuple):
    """What came of two states: counts of the table's units, goals, and per wrong slot its numbers and score."""

    counts: tuple[int, ...]
    goals: tuple[float, ...]
    wrong: list[tuple[tuple[int, ...], float]]


class FrameComparer:
    """Compares dialogues frame by frame, and hands their outcomes, one unit a frame, to ``take``."""

    def __init__(self, vocabulary: Vocabulary, matcher: Matcher, take: Take, framer: Framer) -> None:
        self._vocabulary, self._rule, self._take, self._framer = vocabulary, matcher, take, framer
        self._services: dict[str, int] = {}
        self._told = [False, False]
        self._waiting: list[tuple[Dialogue, Prepared]] = []
        self._dialogues: list[str] = []
        self._ends, self._lengths = [0], list[int]()
        self._units: list[tuple[int, ...]] = []
        self._wrong: list[tuple[int, ...]] = []
        self._wrong_scores: list[float] = []
        self._scores: list[tuple[float, ...]] = []
        self._seen: dict[str, SeenSlot] = {}
        self._compared: dict[object, Compared] = {}

    def add(self, dialogue: Dialogue, prepared: Prepared) -> None:
        """Compare one dialogue's frames."""
        if self._framer.waits:
            self._framer.see(prepared)
            self._waiting.append((dialogue, prepared))
        else:
            self._add(dialogue, self._framer.units(dialogue, prepared))

    def close(self) -> None:
        """Compare what waited; all outcomes are handed over then, since whether intents are told is known."""
        for dialogue, prepared in self._waiting:
            self._add(dialogue, self._framer.units(dialogue, prepared))
        self._take(self._outcomes(), self._seen)

    def _add(self, dialogue: Dialogue, units: list[Unit]) -> None:
        start = self._ends[-1]
        for number, unit in enumerate(units, start):
            self._unit(dialogue, unit, number, FIRST * (number == start))
        self._lengths.append(len(dialogue.turns))
        self._dialogues.append(dialogue.id)
        self._ends.append(start + len(units))

    def _unit(self, dialogue: Dialogue, unit: Unit, number: int, flags: int) -> None:
        """Take in one frame; most are as they were at another turn."""
        key = unit.service, tuple(unit.ref.items()), tuple(unit.pred.items())
        compared = self._compared.get(key)
        if compared is None:
            if len(self._compared) >= _MOST:
                self._compared.clear()
            compared = self._compared[key] = self._compare(dialogue, unit)
        for values, score in compared.wrong:
            self._wrong.append((number, *values))
            self._wrong_scores.append(score)
        service = self._services.setdefault(unit.service, len(self._services))
        exact = 0 if compared.wrong else EXACT
        self._units.append((unit.turn.number, service, *compared.counts, flags | exact))
        self._scores.append((*compared.goals, *self._beside(unit.frames)))

    def _compare(self, dialogue: Dialogue, unit: Unit) -> Compared:
        """What comes of the two states of a frame."""
        b, p = unit.ref, unit.pred
        both = {**b, **p}
        for slot in both:
            first, in_ref, in_pred = self._seen.get(slot, SeenSlot((dialogue.id, unit.turn.number), False, False))
            self._seen[slot] = SeenSlot(first, in_ref or slot in b, in_pred or slot in p)
        scores = {s: self._rule.score(s, b[s], p[s]) if s in b and s in p else 0.0 for s in both}
        wrong: list[tuple[tuple[int, ...], float]] = []
        for slot, score in scores.items():
            if score < 1:
                numbers = (
                    self._vocabulary.number(slot, side[slot]) if slot in side else ABSENT for side in (b, p)
                )
                wrong.append(((self._vocabulary.slot(slot), *numbers), score))
        counts = (len(b), len(p), sum(scores[slot] >= 1 for slot in b), len(wrong), 0, 0, 0, 0)
        return Compared(counts, tuple(self._goals(unit, scores)), wrong)

    def _goals(self, unit: Unit, scores: dict[str, float]) -> Iterator[float]:
        """Products over the schema's slots, then means over the reference's: all, categorical, and the others."""
        categorical = self._rule.categorical
        kinds = [[*scores], [s for s in scores if s in categorical], [s for s in scores if s not in categorical]]
        for slots, known in zip(kinds, (any(unit.kinds), *unit.kinds), strict=True):
            yield prod(scores[slot] for slot in slots) if known else nan
        for slots in kinds:
            own = [scores[slot] for slot in slots if slot in unit.ref]
            yield sum(own) / len(own) if own else nan

    def _beside(self, frames: tuple[Frame, Frame] | None) -> tuple[float, float]:
        """Whether the intent is right, and the F1 of the requested slots; NaN where the reference tells none."""
        if frames is None:
            return nan, nan
        ref, pred = frames
        self._told = [self._told[0] or pred.intent is not None, self._told[1] or pred.requested is not None]
        guess = _NO_INTENT if pred.intent is None else pred.intent
        intent = nan if ref.intent is None else float(ref.intent == guess)
        return intent, nan if ref.requested is None else requested_f1(ref.requested, pred.requested or [])

    def _outcomes(self) -> Outcomes:
        """The table of all frames added so far."""
        scores = np.array(self._scores, dtype=float).reshape(-1, len(FRAME))
        # A tracker that never tells an intent has none that is wrong.
        scores[:, [FRAME.index(name) for name, told in zip(FRAME[-2:], self._told, strict=True) if not told]] = nan
        units = np.array(self._units, dtype=np.int32).reshape(-1, len(UNIT))
        return Outcomes(
            dialogues=self._dialogues,
            offsets=np.array(self._ends, dtype=np.int64),
            units={name: units[:, column] for column, name in enumerate(UNIT)},
            wrong_rows=np.array(self._wrong, dtype=np.int32).reshape(-1, 4),
            wrong_score=np.array(self._wrong_scores),
            wrong_previous=np.full(len(self._wrong), UNKNOWN, dtype=np.int8),
            slots=self._vocabulary.slots,
            values=self._vocabulary.values,
            unit="frame",
            graded=self._rule.graded,
            services=tuple(self._services),
            extra={"frames": scores},
            lengths=np.array(self._lengths, dtype=np.int64),
        )


def requested_f1(ref: list[str], pred: list[str]) -> float:
    """F1 of two multisets: precision is 1 where nothing is predicted, recall where nothing is asked for.

    >>> requested_f1([], []), requested_f1(["a", "b"], ["a"]), requested_f1([], ["a"])
    (1.0, 0.6666666666666666, 0.0)
    """
    both = (Counter(ref) & Counter(pred)).total()
    precision = both / len(pred) if pred else 1.0
    recall = both / len(ref) if ref else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
