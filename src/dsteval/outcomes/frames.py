"""Frames: one service at one user turn, the unit of the schema-guided scorer.

The reference tells which frames there are. A frame is compared as it stands, whatever the turns before said.
"""

from collections import Counter
from collections.abc import Iterator
from math import nan, prod
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import Dialogue, Frame, Side, Turn, slot_of
from dsteval.errors import AlignmentError, ProtocolError, first_few
from dsteval.outcomes.table import ABSENT, EXACT, FIRST, FRAME, UNIT, UNKNOWN, Outcomes
from dsteval.outcomes.turns import SeenSlot, Take
from dsteval.prepare.states import Preparer
from dsteval.prepare.vocabulary import Prepared, State, Vocabulary
from dsteval.protocols.model import Protocol
from dsteval.readers.source import Schema, schema_hash
from dsteval.values.matchers import Matcher
from dsteval.values.slots import MULTIWOZ, domain_of

_DOMAINS = tuple(sorted({domain_of(slot) for slot in MULTIWOZ}))
# What a predicted frame means that tells no intent, as one does that is not there and counts as empty.
_NO_INTENT = "NONE"


class Unit(NamedTuple):
    """One frame: its turn and service, both prepared states, and ``kinds``: whether its service has slots that are
    categorical, and that are not. ``frames`` hold intent and requested slots, where the sides have frames.
    """

    turn: Turn
    service: str
    ref: State
    pred: State
    kinds: tuple[bool, bool]
    frames: tuple[Frame, Frame] | None = None


class Framer:
    """Cuts dialogues into frames, and keeps account of what does not fit.

    ``services`` is the schema, empty where there is none; ``fill`` tells that a predicted frame which is not there
    counts as empty. ``check`` raises for what was collected, ``passed_over`` names what was passed over.
    """

    def __init__(self, protocol: Protocol, preparer: Preparer, services: Schema, fill: bool) -> None:
        self.protocol = protocol
        self.preparer = preparer
        self.source = preparer.problems.source
        scope = protocol.scope
        self.of_turns = scope.frames == "services"
        # Which domains there are is known when all dialogues have been seen.
        self.waits = scope.frames == "domains"
        self._fill = fill
        self._free = scope.schema == "none"
        self._schema = {
            service: {preparer.slot(slot): flag for slot, flag in slots.items()}
            for service, slots in ({} if self._free else services).items()
        }
        self.categorical = frozenset(s for slots in self._schema.values() for s, flag in slots.items() if flag)
        self._domains: dict[Side, dict[str, None]] = {"ref": {}, "pred": {}}
        self._total = 0
        self._missing: list[str] = []
        self._extra: list[str] = []
        self._slotless: list[str] = []
        self._bare: dict[str, None] = {}
        self._unlisted: dict[str, None] = {}
        self._unseen: dict[str, None] = {}

    @property
    def hash(self) -> str:
        """Six hexadecimal digits over the schema, ``none`` without one."""
        if self._free:
            return "none"
        return schema_hash(self._schema)

    @property
    def filled(self) -> bool:
        """Whether frames that were not predicted count as empty."""
        return bool(self._missing)

    def see(self, prepared: Prepared) -> None:
        """Note which domains a dialogue has, where frames are those of all domains."""
        for side, states in zip(self._domains, (prepared.ref, prepared.pred), strict=True):
            self._domains[side].update(dict.fromkeys(domain_of(slot) for state in states for slot in state))

    def units(self, dialogue: Dialogue, prepared: Prepared) -> list[Unit]:
        """The frames of one dialogue. Raises ProtocolError where it has none, or a schema is needed."""
        if self.of_turns:
            self._check_form(dialogue)
        if not self._schema and not self._free:
            raise ProtocolError(
                where=self.source,
                expected=f"a schema, from which protocol {self.protocol.name} takes the slots of each service and "
                "which of them are categorical",
                found="none beside the reference",
                remedy="Give it with --schema FILE; or use the slots that occur with --set scope.schema=none, "
                "none of them as categorical.",
            )
        frames = self._listed(dialogue) if self.of_turns else self._by_domain(dialogue, prepared)
        units = [self._fitted(unit) for unit in frames]
        self._total += len(units)
        self._slotless += [_place(dialogue, unit.turn, unit.service) for unit in units if not any(unit.kinds)]
        return units

    def _check_form(self, dialogue: Dialogue) -> None:
        """Raise ProtocolError where a side does not have the frames of its turns."""
        found = f"updates ({dialogue.updates[0]})" if dialogue.updates else ""
        for turn in dialogue.turns:
            if turn.ref_frames is None:
                found = found or "states of whole turns in the reference"
            elif turn.pred_frames is None and (turn.pred or not self._fill):
                found = found or "states of whole turns in the predictions"
        if found:
            raise ProtocolError(
                where=f"{self.source}, dialogue {dialogue.id!r}",
                expected=f"a frame for each service of a turn, as protocol {self.protocol.name} scores them",
                found=found,
                remedy="Use a protocol that scores whole turns, such as exact, or make a frame of each "
                "domain's slots with --set scope.frames=domains.",
            )

    def _listed(self, dialogue: Dialogue) -> Iterator[Unit]:
        """The frames that the reference lists."""
        for turn in dialogue.turns:
            guesses = {frame.service: frame for frame in turn.pred_frames or ()}
            for frame in turn.ref_frames or ():
                guess = guesses.pop(frame.service, None)
                if guess is None:
                    if turn.pred_frames is not None:
                        self._missing.append(_place(dialogue, turn, frame.service))
                    guess = Frame(frame.service, [])
                ref, pred = self._state(dialogue, turn, frame, "ref"), self._state(dialogue, turn, guess, "pred")
                yield Unit(turn, frame.service, ref, pred, (False, False), (frame, guess))
            self._extra += [_place(dialogue, turn, service) for service in guesses]

    def _state(self, dialogue: Dialogue, turn: Turn, frame: Frame, side: Side) -> State:
        """A frame's state as it is compared; a slot without any value is a problem of the file."""
        state: State = {}
        for item in frame.items:
            if not item[1] and item[1] != "":
                self.preparer.problems.add(
                    dialogue.id,
                    turn.number,
                    slot=slot_of(frame.service, item[0]),
                    expected=f"a value in every list ({side})",
                    found="an empty list or null",
                    remedy="Leave out slots without a value.",
                )
            pair = self.preparer.pair(side, (slot_of(frame.service, item[0]), item[1]))
            if pair is not None:
                state[pair[0]] = pair[1]
        return state

    def _by_domain(self, dialogue: Dialogue, prepared: Prepared) -> Iterator[Unit]:
        """A frame for each domain: all of them, or those with a slot in the reference at that turn."""
        for turn, ref, pred in zip(dialogue.turns, prepared.ref, prepared.pred, strict=True):
            sides = _apart(ref), _apart(pred)
            domains = self.domains if self.waits else [*sides[0]]
            for domain in domains:
                yield Unit(turn, domain, sides[0].get(domain, {}), sides[1].get(domain, {}), (False, False))
            self._extra += [_place(dialogue, turn, name) for name in sides[1] if name not in domains]

    @property
    def domains(self) -> list[str]:
        """MultiWOZ's five, if the reference has none but these, and those seen in the data."""
        known = _DOMAINS if self._domains["ref"].keys() <= set(_DOMAINS) else ()
        return sorted({*known, *self._domains["ref"], *self._domains["pred"]})

    def _fitted(self, unit: Unit) -> Unit:
        """The frame with the predicted slots that the schema has; what it lacks of the reference is noted."""
        if self._free:
            return unit._replace(kinds=(False, True))
        slots = self._schema.get(unit.service, {})
        if unit.service not in self._schema and (unit.ref or self.of_turns):
            self._bare[unit.service] = None
        self._unlisted.update((slot, None) for slot in unit.ref if slots.get(slot) is None)
        pred = {slot: value for slot, value in unit.pred.items() if slot in slots}
        if len(pred) < len(unit.pred):
            self._unseen.update((slot, None) for slot in unit.pred if slot not in slots)
        return unit._replace(pred=pred, kinds=(True in slots.values(), False in slots.values()))

    def check(self) -> None:
        """Raise for services and slots that the schema lacks, and for frames that were not predicted."""
        for names, what in ((self._bare, "service"), (self._unlisted, "slot")):
            if names:
                raise ProtocolError(
                    where=self.source,
                    expected=f"a schema with every {what} of the reference"
                    + (", and whether it is categorical" if what == "slot" else ""),
                    found=f"{len(names)} missing ({first_few(names)})",
                    remedy="Give the schema of this data with --schema FILE.",
                )
        if self._missing and not self._fill:
            raise AlignmentError(
                where=self.source,
                expected="a predicted frame for each frame of the reference",
                found=f"{len(self._missing)} of {self._total} missing ({first_few(self._missing)})",
                remedy="Write a frame for every service that the reference has at a turn, or score missing "
                "ones as empty with --missing empty.",
            )

    def passed_over(self) -> dict[str, tuple[str, ...]]:
        """The names of what was passed over, by what it is and what was done with it."""
        return {
            "frame: without prediction scored as empty": tuple(self._missing),
            "predicted frame: of services that the reference does not have at that turn ignored": tuple(
                self._extra
            ),
            "predicted slot: not in the schema ignored": tuple(self._unseen),
            "frame: of services without slots left out of JGA": tuple(self._slotless),
        }


def _place(dialogue: Dialogue, turn: Turn, service: str) -> str:
    return f"{dialogue.id} turn {turn.number} {service}"


def _apart(state: State) -> dict[str, State]:
    """The states of each domain."""
    states: dict[str, State] = {}
    for slot, value in state.items():
        states.setdefault(domain_of(slot), {})[slot] = value
    return states


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
        """Take in one frame."""
        b, p = unit.ref, unit.pred
        both = {**b, **p}
        for slot in both:
            first, in_ref, in_pred = self._seen.get(slot, SeenSlot((dialogue.id, unit.turn.number), False, False))
            self._seen[slot] = SeenSlot(first, in_ref or slot in b, in_pred or slot in p)
        scores = {s: self._rule.score(s, b[s], p[s]) if s in b and s in p else 0.0 for s in both}
        wrong = [slot for slot, score in scores.items() if score < 1]
        number_of = self._vocabulary.number
        for slot in wrong:
            values = (number_of(slot, side[slot]) if slot in side else ABSENT for side in (b, p))
            self._wrong.append((number, self._vocabulary.slot(slot), *values))
            self._wrong_scores.append(scores[slot])
        service = self._services.setdefault(unit.service, len(self._services))
        counts = (len(b), len(p), sum(slot not in wrong for slot in b), len(wrong), 0, 0, 0, 0)
        self._units.append((unit.turn.number, service, *counts, flags | (0 if wrong else EXACT)))
        self._scores.append((*self._goals(unit, scores), *self._beside(unit.frames)))

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
