"""One system against two references, such as two versions of the labels: what each slot gains and loses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

from dsteval.analysis.differences import Difference, difference_of
from dsteval.dialogue import canonical_id
from dsteval.errors import OptionError, ProtocolError, require
from dsteval.metrics import Metric
from dsteval.outcomes.table import Outcomes
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input, keep_dialogues, label_of, open_again, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.prepare.states import value_text
from dsteval.prepare.vocabulary import Prepared, State
from dsteval.protocols.model import Protocol, load
from dsteval.results.aligned import aligned_counts
from dsteval.results.result import Result, Score
from dsteval.stats.bootstrap import too_few
from dsteval.stats.intervals import Intervals


@dataclass(frozen=True)
class SlotExample:
    """The most frequent values at turns where a slot is wrong under one reference only, and where first.

    None where a side does not have the slot.
    """

    dialogue: str
    turn: int
    ref_a: str | None
    ref_b: str | None
    pred: str | None
    turns: int


@dataclass(frozen=True)
class SlotChange:
    """One slot: turns at which it is wrong under each reference, and at which the two references differ.

    ``change`` is the share of all turns by which the errors grow from the first reference to the second.
    """

    slot: str
    wrong_a: int
    wrong_b: int
    relabelled: int
    change: float
    example: SlotExample | None


@dataclass(frozen=True)
class ReferenceChange:
    """What ``two_references`` returns; ``references`` are their two names, ``slots`` largest change first.

    ``relabelled`` counts turns at which the references differ in any slot. ``metrics`` are the differences of each
    metric, the second reference's value minus the first's; ``scores`` has both by the metric's text.
    """

    name: str
    protocol: str
    references: tuple[str, str]
    dialogues: int
    turns: int
    relabelled: int
    metrics: tuple[Difference, ...]
    scores: dict[str, tuple[Score, Score]]
    slots: tuple[SlotChange, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON has it."""
        metrics = []
        for change in self.metrics:
            a, b = (score.to_dict() for score in self.scores[change.metric])
            numbers = change.to_dict("difference", "low", "high", "error", "p", "note")
            metrics.append({"metric": change.metric, "a": a, "b": b, **numbers})
        whole = asdict(self) | {"metrics": metrics}
        del whole["scores"]
        return whole


def two_references(
    pred: Input,
    refs: Mapping[str, Input | None],
    *,
    metrics: Sequence[str | Metric] | None = None,
    protocol: str | Protocol = "exact",
    ref_fields: Mapping[str, str] | None = None,
    name: str | None = None,
    **options: Unpack[Settings],
) -> ReferenceChange:
    """Score one system against two references of the same dialogues, and tell what each slot makes of it.

    ``refs`` names the two; None takes the one in the predictions' own file. ``ref_fields`` gives a reference a
    ``ref_field`` of its own, where one file holds several. Values are compared as the protocol prepares them. The
    other options are those of ``evaluate``.

    Raises OptionError for other than two references, AlignmentError where they do not have the same dialogues
    and turns, ProtocolError for protocols of service frames and for right/wrong marks, which know no values.
    """
    require(len(refs) == 2, "refs", "two references", len(refs))
    fields = ref_fields or {}
    if unknown := sorted(set(fields) - set(refs)):
        raise OptionError(where="ref_fields", expected=f"one of {', '.join(refs)}", found=unknown[0])
    source = open_again(pred, "predictions")
    chosen = load(protocol) if isinstance(protocol, str) else protocol
    sides = []
    for label, ref in refs.items():
        own = options | Settings(ref_field=fields.get(label, options.get("ref_field")))
        opened = None if ref is None else open_again(ref, label)
        run = Run.of(chosen, **own)
        require(not run.by_frame, f"protocol {chosen.name}", "whole turns", "service frames", ProtocolError)
        keep_dialogues(source, own.get("format"), run.reading(pred=True, with_ref=ref is not None))
        result = evaluate(opened, source, metrics=metrics, protocol=chosen, name=label, **own)
        if result.outcomes is None or not result.outcomes.has_values:
            found = "right/wrong marks, which do not depend on the reference"
            raise ProtocolError(where=label, expected="values", found=found)
        states = {canonical_id(dialogue.id): both for dialogue, both in Scan(run, opened, source).pairs()}
        sides.append((result, result.outcomes, states))
    (first, outcomes_a, states_a), (second, outcomes_b, states_b) = sides
    differences = _differences(first, second, Intervals.of_settings(options))
    pairs = [(states_a[key], states_b[key]) for key in map(canonical_id, first.dialogues)]
    relabelled, slots = _slots(outcomes_a, outcomes_b, pairs)
    a, b = refs
    notes = [f"{a}: {note}" for note in first.notes if note not in second.notes]
    notes += [f"{b}: {note}" for note in second.notes if note not in first.notes]
    notes += [note for note in first.notes if note in second.notes]
    name = system_name(label_of(source)) if name is None else name
    size = (len(first.dialogues), sum(first.turns_per_dialogue), relabelled)
    scores = {one.metric: (first[one.metric], second[one.metric]) for one in differences}
    return ReferenceChange(name, first.protocol, (a, b), *size, differences, scores, slots, tuple(notes))


def _differences(first: Result, second: Result, intervals: Intervals) -> tuple[Difference, ...]:
    """The second minus the first by every metric."""
    aligned = aligned_counts([first, second], references=False)
    changes = []
    drawn = aligned.resampled(intervals) if intervals.level is not None else {}
    few = too_few(aligned.dialogues) if drawn else ""
    for text, metric in aligned.metrics.items():
        why = first[text].why or second[text].why
        values = [None, None] if why else drawn.get(text, [None, None])
        a, b = zip(aligned.systems, aligned.counts[text], values, strict=True)
        change = difference_of(text, metric, b, a, intervals)
        changes.append(replace(change, note=why or few or change.note))
    return tuple(changes)


_Pairs = Sequence[tuple[Prepared, Prepared]]
_Places = set[tuple[int, int]]
"""Turns by the number of their dialogue, in the order of the first result, and their position in it."""


def _slots(first: Outcomes, second: Outcomes, pairs: _Pairs) -> tuple[int, tuple[SlotChange, ...]]:
    """Turns whose labels differ, and every slot that is wrong or labelled otherwise somewhere."""
    order = {canonical_id(name): number for number, name in enumerate(first.dialogues)}
    wrong_a, wrong_b = (_wrong(outcomes, order) for outcomes in (first, second))
    relabelled, turns = Counter[str](), 0
    for one, other in pairs:
        for a, b in zip(one.ref, other.ref, strict=True):
            apart = {slot for slot in {**a, **b} if a.get(slot) != b.get(slot)}
            relabelled.update(apart)
            turns += bool(apart)
    changes = []
    for slot in sorted({*wrong_a, *wrong_b, *relabelled}):
        here, there = wrong_a[slot], wrong_b[slot]
        change = (len(there) - len(here)) / len(first)
        example = _example(slot, sorted(here ^ there), pairs, first)
        changes.append(SlotChange(slot, len(here), len(there), relabelled[slot], change, example))
    return turns, tuple(sorted(changes, key=lambda one: (-abs(one.change), one.slot)))


def _wrong(outcomes: Outcomes, order: Mapping[str, int]) -> defaultdict[str, _Places]:
    """Slot -> the turns at which it is wrong."""
    numbers = [order[canonical_id(name)] for name in outcomes.dialogues]
    places: defaultdict[str, _Places] = defaultdict(set)
    for unit, slot in zip(outcomes.wrong_unit.tolist(), outcomes.wrong_slot.tolist(), strict=True):
        dialogue = int(outcomes.dialogue_of[unit])
        places[outcomes.slots[slot]].add((numbers[dialogue], unit - int(outcomes.offsets[dialogue])))
    return places


def _example(
    slot: str, places: Sequence[tuple[int, int]], pairs: _Pairs, outcomes: Outcomes
) -> SlotExample | None:
    """The values that occur most often at these turns, at the first of them."""
    if not places:
        return None

    def text(state: State) -> str | None:
        return value_text(state[slot]) if slot in state else None

    texts = []
    for number, turn in places:
        one, other = pairs[number]
        texts.append((text(one.ref[turn]), text(other.ref[turn]), text(one.pred[turn])))
    ((values, turns),) = Counter(texts).most_common(1)
    number, turn = places[texts.index(values)]
    unit = int(outcomes.offsets[number]) + turn
    return SlotExample(outcomes.dialogues[number], int(outcomes.turn[unit]), *values, turns)
