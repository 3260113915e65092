"""``evaluate``: file -> reader -> align -> prepare -> compare -> count -> value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from dsteval.metrics import Metric
from dsteval.outcomes.error_records import DialogueContext, errors_of
from dsteval.pipeline.inputs import Input, label_of, open_input, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.protocols.model import Protocol
from dsteval.results.result import Result


def evaluate(
    ref: Input | None,
    pred: Input,
    *,
    metrics: Sequence[str | Metric] | None = None,
    protocol: str | Protocol = "exact",
    by: Sequence[str] = (),
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
    outcomes: bool = True,
    **options: Unpack[Settings],
) -> Result:
    """Score predictions against a reference.

    ``ref`` and ``pred`` are paths, dictionaries {dialogue: [state, ...]} or {dialogue: {turn: state}}, or
    iterables of Dialogues or of lines of our JSONL; ``ref=None`` where ``pred`` holds both sides. ``metrics``
    default to the protocol's own list. ``by`` adds slices: domain, service, slot, turn, dialogue or length.
    ``progress`` is called with how many more dialogues are done. ``outcomes=False`` counts the outcomes of turns
    without keeping them, so that memory does not grow with turns; ``Result.outcomes`` is None then. The other
    options are those of Settings.

    Returns a Result; values are fractions. Raises a DstevalError that names the place for input that cannot
    be read or aligned, and for unknown names.

    >>> result = evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": "North"}]}, metrics=["JGA"])
    >>> result["JGA"].value, result["JGA"].count, result["JGA"].total
    (1.0, 1, 1)
    """
    run = Run.of(protocol, **options)
    resolved, slices = run.resolved(metrics), run.slices(by)
    predictions = open_input(pred, "predictions")
    references = None if ref is None else open_input(ref, "reference")
    keep = outcomes or bool(options.get("errors"))
    scan = Scan(run, references, predictions, resolved, slices, keep=keep)
    contexts: list[DialogueContext] = []
    if options.get("errors"):
        for dialogue, prepared in scan.compared():
            contexts.append(DialogueContext.of(dialogue, prepared))
            if progress is not None:
                progress(1)
    else:
        scan.finish(progress)
    partition, n_slots = scan.partition(), scan.n_slots
    table = scan.outcomes() if outcomes or options.get("errors") else None
    return Result(
        name=name or system_name(label_of(predictions)),
        source=scan.source,
        protocol=run.protocol.label,
        protocol_hash=run.protocol.hash,
        partition=partition,
        metrics={text: metric.with_slots(n_slots) for text, metric in resolved.items()},
        n_slots=n_slots,
        signature=scan.signature(partition, n_slots),
        intervals=run.intervals,
        notes=scan.notes(partition),
        slices=tuple(scan.slices(partition)),
        changes=tuple(scan.preparer.changes()) if options.get("changes") else None,
        errors=tuple(errors_of(table, contexts)) if table is not None and options.get("errors") else None,
        outcomes=table if outcomes else None,
    )
