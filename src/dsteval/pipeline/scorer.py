"""Scores dialogues as they come: in training loops, services, dashboards."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack
from uuid import uuid4

from dsteval.align.pairing import all_differ
from dsteval.dialogue import Dialogue, Turn, is_doubled
from dsteval.errors import AlignmentError, require
from dsteval.metrics import Metric
from dsteval.pipeline.evaluation import result_of
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan, ScannedPart
from dsteval.protocols.model import Protocol
from dsteval.readers.base import Flattener
from dsteval.results.result import Result
from dsteval.stats.intervals import NO_INTERVALS

_MANY_TURNS = 1 << 13

State = Mapping[str, Any]
"""What a dialogue state is here: {slot: value}, or {domain: {slot: value}}."""


class Scorer:
    """Accumulates dialogues or turns, and scores all of them at any time, as ``evaluate`` would.

    ``metrics``, ``protocol``, ``by`` and the options are as for ``evaluate``. Dialogues are counted
    and freed, except those added turn by turn, which may continue. A scorer can be pickled; those of several
    processes, which have different dialogues, can be merged.

    >>> scorer = Scorer(metrics=["JGA"])
    >>> scorer.update([{"hotel-area": "north"}], [{"hotel-area": "north"}], dialogue="d1")
    >>> scorer.update({"hotel-area": "north"}, {"hotel-area": "south"}, dialogue="d2")
    >>> scorer.compute()
    {'JGA': 0.5}
    """

    def __init__(
        self,
        metrics: Sequence[str | Metric] | None = None,
        protocol: str | Protocol = "exact",
        by: Sequence[str] = (),
        **options: Unpack[Settings],
    ) -> None:
        self._run = Run.of(protocol, **options)
        self._metrics, self._by = self._run.resolved(metrics), self._run.slices(by)
        where = f"Scorer, protocol {self._run.protocol.name}"
        require(not self._run.by_frame, where, "a protocol that scores whole turns", "service frames")
        for name in ("changes", "errors"):
            require(
                not options.get(name), f"Scorer, {name}", "evaluate, which sees all dialogues at once", "Scorer"
            )
        self._parts: list[ScannedPart] = []
        self._whole: list[Dialogue] = []
        self._waiting = 0  # turns of whole dialogues that are not counted yet
        self._open: dict[str, Dialogue] = {}

    def __len__(self) -> int:
        """How many dialogues were taken in."""
        return sum(len(part.hashes) for part in self._parts) + len(self._whole) + len(self._open)

    def update(
        self, ref: State | Sequence[State], pred: State | Sequence[State], *, dialogue: str | None = None
    ) -> None:
        """Take in a dialogue, as lists of a state per turn, or the next turn of a dialogue, as two states.

        ``dialogue`` is its id. A whole dialogue may go without, but its intervals are then others in each run; a
        turn may not. Raises OptionError for sides of different lengths, and ReadError for values that are none.
        """
        if isinstance(ref, Mapping) and isinstance(pred, Mapping):
            expected = "the id of the dialogue that a turn belongs to"
            require(dialogue is not None, "Scorer.update(dialogue=...)", expected, "none")
            known = self._open.get(str(dialogue)) or self._new(str(dialogue))
            self._add(known, [ref], [pred])
            self._open[known.id] = known
            return
        expected, found = "two states, or two lists of states", f"{type(ref).__name__} and {type(pred).__name__}"
        require(isinstance(ref, list | tuple) and isinstance(pred, list | tuple), "Scorer.update", expected, found)
        lengths = f"{len(ref)} and {len(pred)}"
        require(len(ref) == len(pred) > 0, "Scorer.update", "one state per turn on both sides", lengths)
        whole = self._new(f"unnamed {uuid4().hex}" if dialogue is None else dialogue)
        self._add(whole, ref, pred)  # type: ignore[arg-type]  # no mappings by now
        self._whole.append(whole)
        self._waiting += len(whole.turns)
        if self._waiting > _MANY_TURNS:
            self._count()

    def _new(self, name: str) -> Dialogue:
        return Dialogue(name, [], updates=("pred",) if self._run.options.get("updates") else ())

    @staticmethod
    def _add(dialogue: Dialogue, ref: Sequence[State], pred: Sequence[State]) -> None:
        """Add turns to a dialogue, if nothing is wrong with them."""
        flattener = Flattener("Scorer")
        turns = [
            Turn(number, flattener.items(b, dialogue.id, number), flattener.items(p, dialogue.id, number))
            for number, (b, p) in enumerate(zip(ref, pred, strict=True), len(dialogue.turns))
        ]
        flattener.problems.check(len(turns))
        dialogue.turns += turns
        dialogue.doubles |= any(is_doubled(turn.ref) or is_doubled(turn.pred) for turn in turns)

    def _scan(self, dialogues: Sequence[Dialogue]) -> Scan:
        return Scan(self._run, None, dialogues, self._metrics, self._by, source="Scorer", keep=False)

    def _part(self, dialogues: Sequence[Dialogue]) -> ScannedPart:
        scan = self._scan(dialogues)
        for _ in scan.compared():
            pass
        return scan.part()

    def _count(self) -> None:
        """Count the whole dialogues that wait, and let them go."""
        if self._whole:
            self._parts.append(self._part(self._whole))
            self._whole, self._waiting = [], 0

    def result(self) -> Result:
        """The scores of all dialogues, with intervals. Raises AlignmentError where there is none, or one twice."""
        self._count()
        parts = [*self._parts, *([self._part(list(self._open.values()))] if self._open else [])]
        require(parts, "Scorer", "at least one turn to score", "none", AlignmentError)
        scan = self._scan([])
        _check_once(scan.absorb(parts))
        return result_of(scan, "Scorer")

    def compute(self) -> dict[str, float]:
        """The score of each metric, by its text as it was asked for; NaN where it is undefined."""
        if not len(self):
            return dict.fromkeys(self._metrics, math.nan)
        run, self._run = self._run, replace(self._run, intervals=NO_INTERVALS)
        try:
            scores = self.result().scores
        finally:
            self._run = run
        return {score.metric: math.nan if score.value is None else score.value for score in scores}

    def merge(self, other: Scorer) -> None:
        """Take in all that another took in, whose settings are the same and whose dialogues are others.

        Raises OptionError where settings differ, and AlignmentError where both have one dialogue.
        """
        self._take([self.state_dict(), other.state_dict()])

    def state_dict(self) -> dict[str, Any]:
        """All that was taken in, which can be pickled; ``load`` takes it."""
        self._count()
        dialogues = [Dialogue(one.id, [*one.turns], one.doubles, one.updates) for one in self._open.values()]
        return {"settings": self._settings, "parts": [*self._parts], "open": dialogues}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take in what ``state_dict`` gave, in the place of what there is.

        Raises OptionError where it is of a scorer with other settings.
        """
        self._take([state])

    @property
    def _settings(self) -> tuple[object, ...]:
        metrics = tuple(f"{text}={metric}" for text, metric in self._metrics.items())
        return (self._run.protocol.label, self._run.protocol.hash, metrics, tuple(self._by), self._run.given_slots)

    def _take(self, states: Sequence[Mapping[str, Any]]) -> None:
        for state in states:
            require(state["settings"] == self._settings, "Scorer", "a scorer with the same settings", "others")
        parts = [part for state in states for part in state["parts"]]
        dialogues = {dialogue.id: dialogue for state in states for dialogue in state["open"]}
        hashes = b"".join(part.hashes.tobytes() for part in parts)
        once = all_differ(array("Q", hashes)) and len(dialogues) == sum(len(state["open"]) for state in states)
        _check_once(once)
        self._parts, self._open = parts, dialogues
        self._whole, self._waiting = [], 0


def _check_once(once: bool) -> None:
    require(once, "Scorer", "each dialogue once", "one that was added twice", AlignmentError)
