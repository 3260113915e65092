"""Checks a file without scoring it: what it holds, and that its reference is perfect against itself."""

from dataclasses import asdict, dataclass
from typing import Any, Unpack

import msgspec

from dsteval import readers
from dsteval.analysis.value_checks import Fact, facts
from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import AlignmentError
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.readers import Source
from dsteval.results.numbers import number
from dsteval.stats.intervals import NO_INTERVALS


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
    asked = None if format is None else readers.Detected(readers.find(format), "as requested")
    detected = asked or readers.detect(source)
    own = readers.Options(options.get("updates", False), options.get("ref_field") if ref is None else None)
    dialogues = list(readers.read(source, "pred", detected.reader.name, own))
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    written = {name for turn in turns for name in Turn.__struct_fields__ if getattr(turn, name) is not None}
    sides = [side for side, fields in _FIELDS.items() if not written.isdisjoint(fields)]
    size = len(dialogues), len(turns)
    run = Run.of(protocol, **options)
    check, slots, values = "not possible: right/wrong marks have no values", 0, 0
    if "marks" not in sides:
        side: Side = "ref" if "ref" in sides else "pred"
        mirrored = [_mirrored(dialogue, side) for dialogue in dialogues]
        scan = Scan(run, None, mirrored, run.resolved(None), source=source.name, schema_from=(ref, source))
        check = _check_self(scan)
        slots, values = scan.preparer.distinct("ref")
    said: tuple[str, ...] = ()
    if ref is not None or "ref" in sides or "marks" in sides:
        scan = Scan(run, ref, dialogues, source=source.name, schema_from=(ref, source))
        dialogues = [dialogue for dialogue, _ in scan.compared()]
        said = scan.notes(scan.partition())
    noticed = facts(dialogues, run.tables.ontology if "ontology" in run.tables.hashes else None)
    head = (source.name, detected.reader.name, detected.sign, run.protocol.label, " and ".join(sides))
    return Report(*head, *size, slots, values, check, said, tuple(noticed))


_FIELDS = {"ref": ("ref", "ref_frames"), "pred": ("pred", "pred_frames"), "marks": ("correctness",)}


def _mirrored(dialogue: Dialogue, side: Side) -> Dialogue:
    """The dialogue with one side's states on both."""
    turns = []
    for turn in dialogue.turns:
        items, frames = (getattr(turn, name) for name in _FIELDS[side])
        turns.append(Turn(turn.number, items, items, ref_frames=frames, pred_frames=frames))
    updates: tuple[Side, ...] = ("ref", "pred") if side in dialogue.updates else ()
    return msgspec.structs.replace(dialogue, turns=turns, updates=updates)


def _check_self(scan: Scan) -> str:
    """Score states against themselves: every metric that is defined must be 1, or every slot right."""
    for _ in scan.compared():
        pass
    outcomes = scan.outcomes()
    scores = scan.scores(scan.partition(), scan.n_slots, NO_INTERVALS)
    imperfect = [score for score in scores if score.value is not None and score.value != 1]
    if not imperfect:
        return "perfect"
    listed = ", ".join(f"{score.metric} {number(score.value, digits=4)}" for score in imperfect)
    if not len(outcomes.wrong_unit):
        # Such as RSA where empty turns count 0: the rule of the metric, not the reference.
        return f"every slot is right, but {listed}"
    unit, slot = (int(column[0]) for column in (outcomes.wrong_unit, outcomes.wrong_slot))
    dialogue_id = outcomes.dialogues[int(outcomes.dialogue_of[unit])]
    raise AlignmentError(
        where=scan.source,
        expected=f"a perfect score of the reference against itself under {scan.run.protocol.label}",
        found=listed,
        extent=f"{len(imperfect)} of {len(scores)} metrics; first: dialogue {dialogue_id!r}, "
        f"turn {outcomes.turn[unit]}, slot {outcomes.slots[slot]!r}",
        remedy="The protocol treats reference and prediction differently.",
    )
