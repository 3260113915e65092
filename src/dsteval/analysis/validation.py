"""Checks a file without scoring it: what it holds, and that its reference is perfect against itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from dsteval import readers
from dsteval.analysis.value_checks import Fact, facts
from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import AlignmentError
from dsteval.pipeline.evaluation import Evaluation, Settings
from dsteval.pipeline.inputs import label_of
from dsteval.readers import Source
from dsteval.results.notes import notes

__all__ = ["Report", "validate"]


@dataclass(frozen=True)
class Report:
    """What a file holds.

    ``sides`` tells whether that is ref, pred, both, or right/wrong marks. ``slots`` and ``values`` count distinct
    slots, and distinct slots with their values, as the protocol compares them. ``self_check`` tells how the
    reference (of a file with predictions only, the prediction) did against itself: "perfect", or why that could
    not be checked, or which metrics are not 1 though every slot is right. ``notes`` tells what else was noticed,
    ``facts`` what was noticed about values.
    """

    name: str
    format: str
    sign: str
    protocol: str
    sides: str
    dialogues: int
    turns: int
    slots: int
    values: int
    self_check: str
    notes: tuple[str, ...]
    facts: tuple[Fact, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return asdict(self)


def validate(
    source: Source, ref: Source | None = None, protocol: str = "exact", **options: Unpack[Settings]
) -> Report:
    """Read a source whole, compare its states with themselves, and pair it with its reference if it has one.

    Raises the DstevalError that scoring would raise, and AlignmentError where slots of the reference are wrong
    against itself under the protocol. Values are looked up in the option ``ontology``, if it is given.
    """
    format = options.get("format")
    asked = None if format is None else readers.Detected(readers.find(format), "as asked for")
    found = asked or readers.detect(source)
    own = readers.Options(options.get("updates", False), options.get("ref_field") if ref is None else None)
    dialogues = list(readers.read(source, "pred", found.reader.name, own))
    sides = _sides(dialogues)
    held = len(dialogues), sum(len(dialogue.turns) for dialogue in dialogues)
    run = Evaluation(protocol, **options)
    run.know(ref, source)
    check, slots, values = "not possible: right/wrong marks have no values", 0, 0
    if "marks" not in sides:
        side: Side = "ref" if "ref" in sides else "pred"
        check = _check_self(run, [_mirrored(dialogue, side) for dialogue in dialogues], label_of(source))
        slots, values = run.preparer.distinct("ref")
    said: tuple[str, ...] = ()
    if ref is not None or "ref" in sides or "marks" in sides:
        run = Evaluation(protocol, **options)
        run.know(ref, source)
        dialogues, said = _paired(run, dialogues, ref, label_of(source))
    noticed = facts(dialogues, run.given.ontology if run.given.has("ontology") else None)
    return Report(
        label_of(source),
        found.reader.name,
        found.sign,
        run.protocol.label,
        " and ".join(sides),
        *held,
        slots,
        values,
        check,
        said,
        tuple(noticed),
    )


def _sides(dialogues: list[Dialogue]) -> list[str]:
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    held = {
        "ref": any(turn.ref is not None or turn.ref_frames is not None for turn in turns),
        "pred": any(turn.pred is not None or turn.pred_frames is not None for turn in turns),
        "marks": any(turn.correctness is not None for turn in turns),
    }
    return [name for name, present in held.items() if present]


def _mirrored(dialogue: Dialogue, side: Side) -> Dialogue:
    """The dialogue with one side's states on both."""
    turns = []
    for turn in dialogue.turns:
        items, frames = (turn.ref, turn.ref_frames) if side == "ref" else (turn.pred, turn.pred_frames)
        turns.append(Turn(turn.number, items, items, ref_frames=frames, pred_frames=frames))
    updates: tuple[Side, ...] = ("ref", "pred") if side in dialogue.updates else ()
    return Dialogue(dialogue.id, turns, dialogue.doubles, updates, dialogue.gaps, dialogue.alone)


def _check_self(run: Evaluation, dialogues: Iterable[Dialogue], name: str) -> str:
    """Score states against themselves: every metric that is defined must be 1, or every slot right."""
    metrics = run.metrics(None)
    comparer = run.comparer(metrics=metrics.values())
    for dialogue, prepared in run.pairs(dialogues, source=name):
        run.compare(comparer, dialogue, prepared)
    outcomes = run.scoped(comparer)
    scores, _ = run.scores(metrics, outcomes)
    imperfect = [score for score in scores if score.value is not None and score.value != 1]
    if not imperfect:
        return "perfect"
    listed = ", ".join(f"{score.metric} {score.value:.4f}" for score in imperfect)
    if not len(outcomes.wrong_unit):
        # Such as RSA where empty turns count 0: the rule of the metric, not the reference.
        return f"every slot right, but {listed}"
    unit, slot = (int(column[0]) for column in (outcomes.wrong_unit, outcomes.wrong_slot))
    dialogue_id = outcomes.dialogues[int(outcomes.dialogue_of[unit])]
    raise AlignmentError(
        where=name,
        expected=f"a reference that is perfect against itself under {run.protocol.label}",
        found=listed,
        extent=f"{len(imperfect)} of {len(scores)} metrics; first: dialogue {dialogue_id!r}, "
        f"turn {outcomes.turn[unit]}, slot {outcomes.slots[slot]!r}",
        remedy="The protocol treats the two sides differently.",
    )


def _paired(
    run: Evaluation, dialogues: Iterable[Dialogue], ref: Source | None, name: str
) -> tuple[list[Dialogue], tuple[str, ...]]:
    """The dialogues with both sides, and what scoring them would note; raises what scoring would raise."""
    comparer = run.comparer()
    paired = []
    for dialogue, prepared in run.pairs(dialogues, ref, name):
        run.compare(comparer, dialogue, prepared)
        paired.append(dialogue)
    return paired, tuple(notes(run, run.scoped(comparer), comparer))
