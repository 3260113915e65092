"""One system against two references, such as two versions of the labels: what each slot gains and loses."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from dsteval import readers
from dsteval.analysis.differences import bootstrapped, told
from dsteval.dialogue import canonical_id
from dsteval.errors import OptionError, ProtocolError
from dsteval.metrics import Metric
from dsteval.outcomes.table import Outcomes
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input, keep_dialogues, label_of, open_again, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.prepare.states import Prepared, State, value_text
from dsteval.protocols.model import Protocol, load
from dsteval.readers import Source
from dsteval.results.aligned import rows
from dsteval.results.result import Result, Score
from dsteval.stats.bootstrap import too_few

__all__ = ["Change", "Example", "ReferenceChange", "SlotChange", "two_references"]


@dataclass(frozen=True)
class Change:
    """One metric under both references, and the second minus the first with its paired interval and p.

    None where it is undefined, with the reason in ``note``.
    """

    metric: str
    a: Score
    b: Score
    difference: float | None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    p: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON has it."""
        return asdict(self) | {"a": self.a.to_dict(), "b": self.b.to_dict()}


@dataclass(frozen=True)
class Example:
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
    example: Example | None


@dataclass(frozen=True)
class ReferenceChange:
    """What ``two_references`` returns; ``references`` are their two names, ``slots`` largest change first.

    ``relabelled`` counts turns at which the references differ in any slot.
    """

    name: str
    protocol: str
    references: tuple[str, str]
    dialogues: int
    turns: int
    relabelled: int
    metrics: tuple[Change, ...]
    slots: tuple[SlotChange, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON has it."""
        return asdict(self) | {"metrics": [one.to_dict() for one in self.metrics]}


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
    if len(refs) != 2:
        raise OptionError(where="refs", expected="two references", found=str(len(refs)))
    odd = sorted(set(ref_fields or {}) - set(refs))
    if odd:
        raise OptionError(where="ref_fields", expected=f"one of {', '.join(refs)}", found=odd[0])
    source = open_again(pred, "predictions")
    chosen = load(protocol) if isinstance(protocol, str) else protocol
    sides: list[tuple[Result, dict[str, Prepared]]] = []
    for label, ref in refs.items():
        own = options | Settings(ref_field=(ref_fields or {}).get(label, options.get("ref_field")))
        sides.append(_side(source, None if ref is None else open_again(ref, label), chosen, metrics, label, own))
    (first, states_a), (second, states_b) = sides
    changes = _changes((first, second), Run.of(chosen, **options))
    relabelled, slots = _slots((first, second), (states_a, states_b))
    own_name = system_name(label_of(source)) if name is None else name
    a, b = refs
    notes = [f"{a}: {note}" for note in first.notes if note not in second.notes]
    notes += [f"{b}: {note}" for note in second.notes if note not in first.notes]
    notes += [note for note in first.notes if note in second.notes]
    return ReferenceChange(
        own_name,
        first.protocol,
        (a, b),
        len(first.dialogues),
        sum(first.turns_per_dialogue),
        relabelled,
        changes,
        slots,
        tuple(notes),
    )


def _side(
    source: Source,
    ref: Source | None,
    protocol: Protocol,
    metrics: Sequence[str | Metric] | None,
    label: str,
    options: Settings,
) -> tuple[Result, dict[str, Prepared]]:
    """The result against one reference, and the states of every dialogue as compared."""
    run = Run.of(protocol, **options)
    if run.protocol.scope.unit == "frame":
        raise ProtocolError(where=f"protocol {protocol.name}", expected="whole turns", found="service frames")
    field = options.get("ref_field") if ref is None else None
    keep_dialogues(source, options.get("format"), readers.Options(options.get("updates", False), field))
    result = evaluate(ref, source, metrics=metrics, protocol=protocol, name=label, **options)
    if result.outcomes is None or not result.outcomes.has_values:
        raise ProtocolError(where=label, expected="values", found="right/wrong marks, the same for any reference")
    return result, {canonical_id(dialogue.id): states for dialogue, states in Scan(run, ref, source).pairs()}


def _changes(results: tuple[Result, Result], run: Run) -> tuple[Change, ...]:
    lined = rows(results, references=False)
    drawn = lined.resampled(run.intervals)
    changes = []
    for text in lined.metrics:
        a, b = (one[text] for one in results)
        if a.value is None or b.value is None:
            changes.append(Change(text, a, b, None, note=a.why or b.why))
            continue
        one, other = drawn[text]
        level = run.intervals.level
        if one is None or other is None or level is None:
            note = too_few(lined.dialogues) if level is not None else ""
            changes.append(Change(text, a, b, b.value - a.value, note=note))
            continue
        counts = lined.counts[text]
        assert counts[0] is not None and counts[1] is not None  # else there were no draws
        found = bootstrapped(lined.metrics[text], (counts[1], counts[0]), (other, one), run.intervals)
        low, high, error, p = (None if math.isnan(number) else number for number in (*found.interval[:3], found.p))
        changes.append(Change(text, a, b, found.difference, low, high, error, p, told(found.interval)))
    return tuple(changes)


_Place = tuple[str, int]
_States = Mapping[str, Prepared]


def _slots(results: tuple[Result, Result], states: tuple[_States, _States]) -> tuple[int, tuple[SlotChange, ...]]:
    """Turns whose labels differ, and every slot that is wrong or labelled otherwise somewhere."""
    wrong = tuple(_wrong(_outcomes(one)) for one in results)
    relabelled, turns = _relabelled(states)
    order = {canonical_id(name): number for number, name in enumerate(results[0].dialogues)}
    found = []
    for slot in sorted({*wrong[0], *wrong[1], *relabelled}):
        a, b = (one.get(slot, frozenset()) for one in wrong)
        places = sorted(a ^ b, key=lambda place: (order[place[0]], place[1]))
        example = _example(slot, places, states, results[0])
        change = (len(b) - len(a)) / sum(results[0].turns_per_dialogue)
        found.append(SlotChange(slot, len(a), len(b), relabelled[slot], change, example))
    return turns, tuple(sorted(found, key=lambda one: (-abs(one.change), one.slot)))


def _outcomes(result: Result) -> Outcomes:
    assert result.outcomes is not None
    return result.outcomes


def _wrong(outcomes: Outcomes) -> dict[str, frozenset[_Place]]:
    """Slot -> the turns at which it is wrong, by dialogue and position."""
    dialogue_of = outcomes.dialogue_of.tolist()
    names = [canonical_id(name) for name in outcomes.dialogues]
    found: defaultdict[str, set[_Place]] = defaultdict(set)
    for unit, slot in zip(outcomes.wrong_unit.tolist(), outcomes.wrong_slot.tolist(), strict=True):
        dialogue = dialogue_of[unit]
        found[outcomes.slots[slot]].add((names[dialogue], unit - int(outcomes.offsets[dialogue])))
    return {slot: frozenset(places) for slot, places in found.items()}


def _relabelled(states: tuple[_States, _States]) -> tuple[Counter[str], int]:
    """How often the references differ in each slot, and in how many turns."""
    found: Counter[str] = Counter()
    turns = 0
    for key, one in states[0].items():
        for a, b in zip(one.ref, states[1][key].ref, strict=True):
            apart = {slot for slot in {**a, **b} if a.get(slot) != b.get(slot)}
            found.update(apart)
            turns += bool(apart)
    return found, turns


def _example(
    slot: str, places: Sequence[_Place], states: tuple[_States, _States], result: Result
) -> Example | None:
    """The values that occur most often at these turns, at the first of them."""
    texts: dict[_Place, tuple[str | None, str | None, str | None]] = {}
    for key, turn in places:
        one, other = (side[key] for side in states)
        texts[key, turn] = (_text(one.ref[turn], slot), _text(other.ref[turn], slot), _text(one.pred[turn], slot))
    if not texts:
        return None
    times = Counter(texts.values())
    values, turns = max(times.items(), key=lambda pair: pair[1])
    key, turn = next(place for place, own in texts.items() if own == values)
    outcomes = _outcomes(result)
    number = next(place for place, name in enumerate(result.dialogues) if canonical_id(name) == key)
    unit = int(outcomes.offsets[number]) + turn
    return Example(result.dialogues[number], int(outcomes.turn[unit]), *values, turns)


def _text(state: State, slot: str) -> str | None:
    return value_text(state[slot]) if slot in state else None
