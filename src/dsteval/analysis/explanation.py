"""One dialogue turn by turn: both states, what is wrong and since when, and the weight FGA gives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from dsteval.dialogue import Dialogue, canonical_id
from dsteval.errors import AlignmentError, MetricError, ProtocolError, require, unknown
from dsteval.metrics import Metric, parse
from dsteval.metrics.fga import INFINITE, TYPE1, distances, turn_types, weights
from dsteval.outcomes.error_records import DialogueContext, errors_of
from dsteval.outcomes.table import Outcomes
from dsteval.pipeline.inputs import Input, label_of, open_input, read_predictions, read_references, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.prepare.states import value_text
from dsteval.prepare.vocabulary import Prepared
from dsteval.results import html
from dsteval.results.numbers import number
from dsteval.results.result import SCHEMA
from dsteval.values.matchers import same_ref


@dataclass(frozen=True)
class SlotLine:
    """One slot of a turn. ``kind`` is right, missed, spurious, wrong or, without values, marked wrong. ``new``
    tells whether the reference has the slot or the value only since this turn. A wrong slot belongs to an error:
    ``since`` is its first turn, ``until`` its last, ``error`` its kind there, ``relation`` what its value has to
    do with the dialogue (see ``lineage`` and ``relations``).
    """

    slot: str
    ref: str | None
    pred: str | None
    kind: str
    since: int | None = None
    new: bool = False
    until: int | None = None
    error: str | None = None
    relation: str | None = None


@dataclass(frozen=True)
class TurnLine:
    """One turn. ``outcome`` is exact, type 1 (a new error) or type 2 (an inherited one, ``error_turn`` tells
    from where, None under variant paper without one); ``weight`` is what FGA counts.
    """

    turn: int
    system: str | None
    user: str | None
    outcome: str
    weight: float
    error_turn: int | None
    slots: tuple[SlotLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """The turn as JSON has it."""
        return {**vars(self), "slots": tuple({**vars(slot)} for slot in self.slots)}


@dataclass(frozen=True)
class Explanation:
    """A dialogue of one system under one protocol; ``metric`` is the FGA that weighs the turns."""

    dialogue: str
    system: str
    protocol: str
    metric: str
    turns: tuple[TurnLine, ...]

    def __repr__(self) -> str:
        names = f"{self.dialogue[:60]!r}, {self.system[:60]!r}, {self.protocol[:40]}, {self.metric[:40]}"
        return f"Explanation({names}: {len(self.turns)} turns)"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON has it."""
        # Not by ``asdict``, which copies every value: a long dialogue has a million of them.
        return {"schema": SCHEMA, **vars(self), "turns": tuple(turn.to_dict() for turn in self.turns)}

    def turns_of(self, outcomes: Collection[str]) -> set[int]:
        """The numbers of the turns with one of some outcomes."""
        return {turn.turn for turn in self.turns if turn.outcome in outcomes}

    def at(self, numbers: Collection[int]) -> Explanation:
        """Some of the turns, by their numbers."""
        return replace(self, turns=tuple(turn for turn in self.turns if turn.turn in numbers))

    def _repr_html_(self) -> str:
        """The dialogue turn by turn, for notebooks."""
        rows = [row for turn in self.turns for row in _html_rows(turn)]
        title = f"{self.dialogue}: {self.system}, {self.protocol}, {self.metric}"
        columns = ["turn", "said", "outcome", "weight", "slot", "reference", "predicted", "error"]
        return html.table(columns, rows, title)


_COLORS = {"right": "gray", "missed": "firebrick", "spurious": "purple", "wrong": "darkorange"}


def _html_rows(turn: TurnLine) -> Iterator[list[str]]:
    """A row for each slot of a turn; what belongs to the turn stands in the first."""
    texts = {"system": turn.system, "user": turn.user}
    said = "<br>".join(html.cell(f"{who}: {text}") for who, text in texts.items() if text)
    weight = html.cell(number(turn.weight, digits=3))
    head = [html.cell(turn.turn, bold=True), said, html.cell(turn.outcome), weight]
    for slot in turn.slots:
        error = ", ".join(filter(None, (slot.error, slot.relation)))
        since = "" if slot.since in (None, turn.turn) else f" since turn {slot.since}"
        color = _COLORS.get(slot.kind, "firebrick")
        values = [html.cell(value, color=color) for value in (slot.slot, slot.ref, slot.pred)]
        yield [*head, *values, html.cell(f"{error}{since}")]
        head = [""] * 4
    if not turn.slots:
        yield [*head, *[""] * 4]


def explain(
    ref: Input | None,
    pred: Input,
    dialogue: str,
    *,
    metric: str | Metric = "FGA@0.5",
    protocol: str = "exact",
    name: str | None = None,
    **options: Unpack[Settings],
) -> Explanation:
    """Explain the score of one dialogue, turn by turn.

    ``ref``, ``pred`` and the options are as for ``evaluate``; the dialogue's id is matched ignoring case and
    .json. Raises a DstevalError for input that cannot be read, a dialogue that is not there, or a
    metric other than FGA.
    """
    run = Run.of(protocol, **options)
    expected = "a protocol that scores whole turns"
    unit, where = run.protocol.scope.unit, f"protocol {run.protocol.name}"
    require(unit == "turn", where, expected, "service frames", ProtocolError)
    chosen = parse(metric)
    expected, where = "FGA with a lambda, such as FGA@0.5", f"metric {str(chosen)!r}"
    require(chosen.name == "FGA", where, expected, chosen.name, MetricError)
    fga = run.resolved([chosen])[str(chosen)]
    source = open_input(pred, "predictions")
    label = label_of(source)
    reading = run.reading(pred=True, with_ref=ref is not None)
    predictions = _wanted(dialogue, read_predictions(source, options.get("format"), reading), label)
    references = None
    if ref is not None:
        reading = run.reading(pred=False)
        every = read_references(open_input(ref, "reference"), options.get("ref_format"), reading)
        references = _wanted(dialogue, every)
    scan = Scan(run, references, predictions, source=label)
    pairs = list(scan.compared())
    if not pairs:
        left_out = run.protocol.scope.leave_out_why or "left out"
        raise AlignmentError(where=f"dialogue {dialogue!r}", problem=f"this dialogue is not scored ({left_out})")
    turns = _turns(*pairs[0], scan.outcomes(), fga, run.protocol.scope.bits)
    return Explanation(pairs[0][0].id, name or system_name(label), run.protocol.label, str(fga), tuple(turns))


def _wanted(wanted: str, dialogues: Iterable[Dialogue], source: str = "") -> Iterator[Dialogue]:
    """The dialogue that is wanted. Raises AlignmentError where a ``source`` that is named does not have it."""
    seen = []
    for dialogue in dialogues:
        seen.append(dialogue.id)
        if canonical_id(dialogue.id) == canonical_id(wanted):
            yield dialogue
    if source and canonical_id(wanted) not in map(canonical_id, seen):
        text = unknown("dialogue", wanted, seen)
        if "Did you mean" not in text:
            text = f"no dialogue {wanted!r}; it has {len(seen)}, first: {', '.join(seen[:3])}"
        raise AlignmentError(where=source, found=text)


def _turns(
    dialogue: Dialogue, prepared: Prepared, outcomes: Outcomes, fga: Metric, bits: Sequence[str]
) -> Iterator[TurnLine]:
    if why := fga.unavailable_reason(outcomes):
        raise MetricError(where=str(fga), found=why)
    distance = distances(outcomes, fga.get("variant"))
    weight, types = weights(distance, fga.number or 0.0).tolist(), turn_types(distance)
    wrong = _errors(outcomes, DialogueContext.of(dialogue, prepared))
    for unit, turn in enumerate(dialogue.turns):
        x = int(distance[unit])
        error_turn = None if x in (0, INFINITE) else turn.number if x == TYPE1 else turn.number - x
        slots = _slots(prepared, unit, wrong[unit])
        if turn.correctness is not None:
            marked = (slot for slot in bits if slot in wrong[unit])
            slots = (SlotLine(slot, None, None, "marked wrong", **wrong[unit][slot]) for slot in marked)
        yield TurnLine(turn.number, turn.system, turn.user, types[unit], weight[unit], error_turn, tuple(slots))


def _errors(outcomes: Outcomes, context: DialogueContext) -> list[dict[str, dict[str, Any]]]:
    """Per turn: wrong slot -> what its line tells of the error that it belongs to."""
    numbers = outcomes.turn.tolist()
    places = {number: place for place, number in enumerate(numbers)}
    wrong: list[dict[str, dict[str, Any]]] = [{} for _ in numbers]
    for error in errors_of(outcomes, [context]):
        start = places[error.origin]
        end = start + error.lifetime
        line = {"since": error.origin, "until": numbers[end - 1], "error": error.kind, "relation": error.relation}
        for turn in wrong[start:end]:
            turn[error.slot] = line
    return wrong


def _slots(prepared: Prepared, unit: int, wrong: dict[str, dict[str, Any]]) -> Iterator[SlotLine]:
    ref, pred = prepared.ref[unit], prepared.pred[unit]
    before = prepared.ref[unit - 1] if unit else {}
    for slot in sorted({**ref, **pred}):
        b, p = ref.get(slot), pred.get(slot)
        kind = "right"
        if slot in wrong:
            kind = "missed" if p is None else "spurious" if b is None else "wrong"
        new = b is not None and not same_ref(before.get(slot), b)
        ref_text, pred_text = (None if value is None else value_text(value) for value in (b, p))
        yield SlotLine(slot, ref_text, pred_text, kind, new=new, **wrong.get(slot, {}))
