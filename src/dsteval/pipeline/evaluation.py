"""``evaluate``: file -> reader -> align -> prepare -> compare -> count -> value."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Unpack

from dsteval.metrics import Metric
from dsteval.outcomes.error_records import DialogueContext, errors_of
from dsteval.pipeline.inputs import Input, label_of, open_input, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan, ScannedPart, Side
from dsteval.pipeline.workers import can_run, number_of_workers, run_all, shares_of, stop_without
from dsteval.protocols.model import Protocol
from dsteval.readers import Source, detect
from dsteval.readers.encoded import NotInBlocksError
from dsteval.readers.splitting import split
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
    workers: int | str = 1,
    **options: Unpack[Settings],
) -> Result:
    """Score predictions against a reference.

    ``ref`` and ``pred`` are paths, dictionaries {dialogue: [state, ...]} or {dialogue: {turn: state}}, or
    iterables of Dialogues or of lines of our JSONL; ``ref=None`` where ``pred`` holds both sides. ``metrics``
    default to the protocol's own list. ``by`` adds slices: domain, service, slot, turn, dialogue or length.
    ``progress`` is called with how many more dialogues are done. ``outcomes=False`` counts the outcomes of turns
    without keeping them, so that memory does not grow with turns; ``Result.outcomes`` is None then. Several
    ``workers`` (``auto``: as many as there are processors) may then count parts of a file that holds both sides.
    The other options are those of Settings.

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
    errors = bool(options.get("errors"))
    make = partial(Scan, run, references, metrics=resolved, by=slices, keep=outcomes or errors)
    number = number_of_workers(workers)
    scan = None
    contexts: list[DialogueContext] = []
    if errors:
        scan = make(pred=predictions)
        contexts = [DialogueContext.of(*pair) for pair in scan.compared(progress)]
    elif number > 1 and not (outcomes or ref is not None or run.by_frame) and isinstance(predictions, Source):
        scan = _in_parts(make, predictions, number, progress)
    scan = scan or _scanned(make, predictions, progress)
    result = result_of(scan, name or system_name(label_of(predictions)))
    if not errors and not outcomes:
        return result
    table = scan.outcomes()
    found = tuple(errors_of(table, contexts)) if errors else None
    return replace(result, errors=found, outcomes=table if outcomes else None)


def result_of(scan: Scan, name: str) -> Result:
    """The result of a scan that is through."""
    run, partition, n_slots = scan.run, scan.partition(), scan.n_slots
    return Result(
        name=name,
        source=scan.source,
        protocol=run.protocol.label,
        protocol_hash=run.protocol.hash,
        partition=partition,
        metrics={text: metric.with_slots(n_slots) for text, metric in scan.metrics.items()},
        n_slots=n_slots,
        signature=scan.signature(partition, n_slots),
        intervals=run.intervals,
        notes=scan.notes(partition),
        slices=tuple(scan.slices(partition)),
        changes=tuple(scan.preparer.changes()) if run.options.get("changes") else None,
    )


def _scanned(make: Callable[..., Scan], part: Side, progress: Callable[[int], None] | None) -> Scan:
    """A scan that is through, by blocks if that can be done."""
    for by_block in (True, False):
        scan = make(pred=part)
        with suppress(NotInBlocksError):
            for _ in scan.compared(progress, by_block=by_block):
                pass
            break
    return scan


def _in_parts(
    make: Callable[..., Scan], source: Source, number: int, progress: Callable[[int], None] | None
) -> Scan | None:
    """A scan of all parts of a source, a process for each; None where that fails, or something is wrong."""
    scan = make(pred=source)
    if not scan.run.options.get("format"):
        detect(source)
    parts = split(source, number)
    if len(parts) == 1 or not can_run:
        return None
    make = partial(make, schema_from=(source,))  # what lies beside the file, for its parts too
    waiting = None if source.heard is None else shares_of(parts, source.heard)
    came = run_all([partial(_part, make, part) for part in parts], number, waiting)
    found = [one for one in came if one is not None]
    if len(found) < len(parts) or not scan.absorb(found):
        return None
    if progress is not None:
        progress(sum(len(one.hashes) for one in found))
    return scan


def _part(make: Callable[..., Scan], part: Source) -> ScannedPart:
    return _scanned(make, part, stop_without(os.getppid())).part()
