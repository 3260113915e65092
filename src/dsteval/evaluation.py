"""The pipeline: file -> reader -> align -> prepare -> compare -> count -> value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from dsteval import readers
from dsteval._version import __version__
from dsteval.align import Aligner
from dsteval.comparer import Comparer
from dsteval.dialogue import Dialogue, Side
from dsteval.errors import OptionError, ProtocolError
from dsteval.metrics import Metric, parse, total
from dsteval.outcomes import Outcomes
from dsteval.prepare import Prepared, Preparer
from dsteval.protocol import Protocol, load
from dsteval.readers import Source
from dsteval.result import Result, Score, score
from dsteval.values.slots import MULTIWOZ

__all__ = ["Evaluation", "Input", "evaluate", "label_of", "open_input", "system_name"]

Input: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any] | Source"
"""A path, ``{dialogue: states}``, or an iterable of Dialogues or of lines of our JSONL."""


def evaluate(
    ref: Input | None,
    pred: Input,
    *,
    metrics: Sequence[str | Metric] | None = None,
    protocol: str | Protocol = "exact",
    settings: Sequence[str] = (),
    updates: bool = False,
    format: str | None = None,
    ref_format: str | None = None,
    name: str | None = None,
    progress: Callable[[], None] | None = None,
) -> Result:
    """Score predictions against a reference.

    ``ref`` and ``pred`` are paths, dictionaries {dialogue: [state, ...]} or {dialogue: {turn: state}}, or
    iterables of Dialogues or of lines of our JSONL; ``ref=None`` where ``pred`` holds both sides. ``metrics``
    default to the protocol's own list; ``settings`` change single ones of its settings, as ``--set`` does.
    ``updates`` says that the predicted states are what each turn changed. ``progress`` is called once a
    dialogue.

    Returns a Result; values are fractions. Raises a DstevalError that names the place for input that cannot
    be read or aligned, and for unknown names.

    >>> result = evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": "North"}]}, metrics=["JGA"])
    >>> result["JGA"].value, result["JGA"].count, result["JGA"].total
    (1.0, 1, 1)
    """
    run = Evaluation(protocol, settings)
    resolved = run.metrics(metrics)
    pred_source = open_input(pred, "predictions")
    ref_source = None if ref is None else open_input(ref, "reference")
    comparer = Comparer()
    for dialogue, prepared in run.pairs(pred_source, ref_source, updates, format, ref_format):
        run.compare(comparer, dialogue, prepared)
        if progress is not None:
            progress()
    outcomes = run.scoped(comparer)
    return run.result(resolved, outcomes, name or system_name(label_of(pred_source)), comparer)


class Evaluation:
    """One run: a protocol and what it leaves to say about a pair of files.

    ``pairs`` yields each aligned dialogue with its prepared states; the aligner's coverage and fingerprint are
    complete once it is through.
    """

    def __init__(self, protocol: str | Protocol = "exact", settings: Sequence[str] = ()) -> None:
        chosen = load(protocol) if isinstance(protocol, str) else protocol
        self.protocol = chosen.with_settings(settings) if settings else chosen
        self.aligner = Aligner(self.protocol.scope, lambda dialogue: [])
        self.updates = False
        self.source = ""

    def metrics(self, wanted: Sequence[str | Metric] | None) -> dict[str, Metric]:
        """The metrics that are asked for by their text as typed, each resolved under the protocol."""
        if isinstance(wanted, str):
            raise OptionError(where="metrics", expected="a list of metrics", found=repr(wanted))
        texts = self.protocol.metrics.default if wanted is None else wanted
        parsed = [parse(metric) if isinstance(metric, str) else metric.checked() for metric in texts]
        parameters = self.protocol.metrics.parameters
        return {str(metric): metric.resolve(parameters.get(metric.name, {})) for metric in parsed}

    def pairs(
        self,
        pred: Source | Iterable[Dialogue],
        ref: Source | Iterable[Dialogue] | None = None,
        updates: bool = False,
        format: str | None = None,
        ref_format: str | None = None,
    ) -> Iterator[tuple[Dialogue, Prepared]]:
        """Each dialogue with both sides, aligned and prepared. Raises at the end for what had no partner."""
        self.source, self.updates = label_of(pred), updates
        preparer = Preparer(self.protocol, self.source)
        self.aligner = Aligner(self.protocol.scope, lambda dialogue: preparer.side(dialogue, "ref"), self.source)
        predictions = _dialogues(pred, "pred", format, updates)
        references = None if ref is None else _dialogues(ref, "ref", ref_format, False)
        for dialogue in self.aligner.pair(predictions, references):
            yield dialogue, preparer.dialogue(dialogue)
        preparer.problems.check(self.aligner.coverage.scored_turns)

    def compare(self, comparer: Comparer, dialogue: Dialogue, prepared: Prepared) -> None:
        """Compare one dialogue, by its states or by its right/wrong marks."""
        if dialogue.turns and dialogue.turns[0].bits is not None:
            slots = self.protocol.scope.bits
            self._check_bits(dialogue, slots)
            comparer.add_bits(dialogue, slots, prepared.ref)
        else:
            comparer.add(dialogue, prepared)

    def _check_bits(self, dialogue: Dialogue, slots: Sequence[str]) -> None:
        if not slots:
            raise ProtocolError(
                where=self.source,
                expected=f"values, which protocol {self.protocol.name} compares",
                found="right/wrong marks (TripPy's correctness bits)",
                remedy="Only --protocol fga-trippy scores them.",
            )
        found = len(dialogue.turns[0].bits or ())
        if found != len(slots):
            raise ProtocolError(
                where=f"{self.source}, dialogue {dialogue.id!r}",
                expected=f"{len(slots)} marks a turn, the slots of protocol {self.protocol.name}",
                found=str(found),
            )

    def scoped(self, comparer: Comparer) -> Outcomes:
        """The outcomes with |S|: the protocol's, or 30 if each slot is MultiWOZ's, or the slots seen."""
        outcomes = comparer.outcomes()
        fixed = self.protocol.scope.slots
        if fixed != "auto":
            return outcomes.with_scope(fixed)
        known = all(slot in MULTIWOZ for slot in outcomes.slots)
        return outcomes.with_scope(len(MULTIWOZ) if known else len(outcomes.slots))

    def result(self, metrics: Mapping[str, Metric], outcomes: Outcomes, name: str, comparer: Comparer) -> Result:
        """Count, sum and divide."""
        cached: dict[tuple[object, ...], Any] = {}
        counts, scores = {}, []
        for text, metric in metrics.items():
            signature = self.signature(metric, outcomes)
            why = metric.why_not(outcomes)
            if why is not None:
                scores.append(Score(text, None, None, None, signature, why=why))
                continue
            if metric.count_key not in cached:
                cached[metric.count_key] = metric.count(outcomes)
            counts[text] = cached[metric.count_key]
            scores.append(score(metric, text, total(counts[text]), signature))
        notes = tuple(self.notes(outcomes, comparer))
        coverage = self.aligner.coverage
        return Result(
            name,
            self.source,
            self.protocol.label,
            coverage,
            tuple(scores),
            outcomes,
            counts,
            dict(metrics),
            notes,
        )

    def signature(self, metric: Metric, outcomes: Outcomes) -> str:
        """Every setting that can move a number, the version last."""
        coverage = self.aligner.coverage
        parts = [
            str(metric),
            f"proto:{self.protocol.label}",
            f"turns:{coverage.scored_turns}/{coverage.ref_turns}",
            f"ref:{self.aligner.fingerprint}",
            self.protocol.signature(),
            f"S:{outcomes.n_slots}",
            *(["input:updates"] if self.updates else []),
            f"v:{__version__}",
        ]
        return "|".join(parts)

    def notes(self, outcomes: Outcomes, comparer: Comparer) -> Iterator[str]:
        """What a reader of the numbers should know: what was left out, and names that nothing explains."""
        coverage = self.aligner.coverage
        if coverage.left_out:
            listed = ", ".join(coverage.left_out)
            yield f"left out under {self.protocol.name}: {listed} ({self.protocol.scope.leave_out_why})"
        if coverage.differs:
            yield (
                f"{coverage.differs} of {coverage.scored_turns} turns have another reference inside the "
                "predictions' file; --ref was used"
            )
        if self.protocol.scope.slots == "auto":
            yield from _unexplained(outcomes, comparer)


def _unexplained(outcomes: Outcomes, comparer: Comparer) -> Iterator[str]:
    """Predicted slots that the reference never has, where the reference's are all MultiWOZ's."""
    in_ref = {outcomes.slots[i] for i in set(outcomes.slot_id[outcomes.slot_ref > 0].tolist())}
    odd = [slot for slot in outcomes.slots if slot not in in_ref and slot not in MULTIWOZ]
    if in_ref <= MULTIWOZ and odd:
        dialogue, turn, _ = comparer.first_seen[odd[0]]
        listed = ", ".join(repr(slot) for slot in odd[:5])
        yield (
            f"{len(odd)} predicted slots are none of MultiWOZ's 30 and never in the reference: {listed} "
            f"(first: dialogue {dialogue!r}, turn {turn})"
        )


def open_input(value: Input, name: str) -> Source | Iterable[Dialogue]:
    """A source for whatever ``evaluate`` takes."""
    if isinstance(value, Source):
        return value
    if isinstance(value, str | os.PathLike):
        return Source.open(Path(value) if str(value) != "-" else "-")
    if isinstance(value, Mapping):
        return Source.of(name, value)
    items = iter(value)
    first = next(items, None)
    if isinstance(first, Dialogue):
        return chain([first], items)
    return Source.of(name, [] if first is None else [first, *items])


def system_name(label: str) -> str:
    """A system's name where none is given: the file's, without the suffixes of formats and packers.

    >>> system_name("pred.json.gz"), system_name("my.model.v2.jsonl")
    ('pred', 'my.model.v2')
    """
    while (stem := label.rpartition("."))[2].casefold() in _SUFFIXES and stem[0]:
        label = stem[0]
    return label


_SUFFIXES = frozenset({"csv", "gz", "json", "jsonl", "tsv", "txt", "zip"})


def label_of(source: Source | Iterable[Dialogue]) -> str:
    """How messages and results call a source."""
    return source.name if isinstance(source, Source) else "predictions"


def _dialogues(
    source: Source | Iterable[Dialogue], side: Side, format: str | None, updates: bool
) -> Iterable[Dialogue]:
    return readers.read(source, side, format, updates) if isinstance(source, Source) else source
