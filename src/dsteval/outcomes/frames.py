"""Frames: one service at one user turn, the unit of the schema-guided scorer.

The reference tells which frames there are. A frame is compared as it stands, whatever the turns before said.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dsteval.dialogue import Dialogue, Frame, Side, Turn, slot_of
from dsteval.errors import AlignmentError, ProtocolError, first_few
from dsteval.prepare.states import Preparer
from dsteval.prepare.vocabulary import Prepared, State
from dsteval.protocols.model import Protocol
from dsteval.readers.schema import Schema, schema_hash
from dsteval.values.slots import MULTIWOZ, domain_of

_DOMAINS = tuple(sorted({domain_of(slot) for slot in MULTIWOZ}))


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
