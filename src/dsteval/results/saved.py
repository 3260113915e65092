"""Saved results: the JSON that ``score -o`` writes, read back, put together, and counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from dsteval._version import __version__
from dsteval.align.fingerprint import Fingerprint
from dsteval.align.pairing import Coverage
from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, MetricError, OptionError, ProtocolError, ReadError, first_few
from dsteval.metrics import Counts, Metric, parse, total, under
from dsteval.protocols.model import load as load_protocol
from dsteval.protocols.model import names as protocol_names
from dsteval.readers import Source
from dsteval.results.result import COLUMNS, SCHEMA, Result, Score, count_text, score
from dsteval.stats.intervals import Intervals

__all__ = ["is_saved", "load", "merge", "recounted"]


class _Counted(msgspec.Struct):
    dialogues: list[str]
    turns: list[int]
    slots: int
    settings: str
    reference: list[int]
    metrics: dict[str, str]
    counts: dict[str, list[list[float]]]
    columns: int = 1


class _System(msgspec.Struct):
    name: str
    source: str
    protocol: str
    coverage: dict[str, Any]
    scores: list[dict[str, Any]]
    notes: list[str] = []
    per_dialogue: _Counted | None = None


class _Document(msgspec.Struct):
    schema: int
    systems: list[_System]


def is_saved(source: Source) -> bool:
    """Whether a file is a result that was saved, and no predictions."""
    return (
        source.kind == "object" and b'"systems"' in source.data[:4096] and {"schema", "systems"} <= set(source.top)
    )


def load(source: str | Path | Source) -> list[Result]:
    """The systems of a saved result, a path or an opened file.

    Raises ReadError for a file of another shape or without counts per dialogue, ProtocolError where a protocol has
    changed since in a way that moves numbers.
    """
    source = source if isinstance(source, Source) else Source.open(source)
    try:
        document = msgspec.json.decode(source.data, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReadError(
            where=source.name, expected="a result that score -o wrote", found=str(error).replace("`", "'")
        ) from None
    if document.schema != SCHEMA:
        raise ReadError(where=source.name, expected=f"schema {SCHEMA}", found=f"schema {document.schema}")
    if not document.systems:
        raise ReadError(where=source.name, expected="at least one system", found="none")
    return [_result(one, source.name) for one in document.systems]


def _result(system: _System, where: str) -> Result:
    held = system.per_dialogue
    if held is None:
        raise ReadError(
            where=f"{where}, system {system.name!r}",
            expected="counts per dialogue",
            found="none",
            remedy="score -o PATH.json keeps them; standard output does not.",
        )
    if held.columns != COLUMNS:
        raise ReadError(
            where=f"{where}, system {system.name!r}",
            expected=f"counts per dialogue with columns of version {COLUMNS}",
            found=f"version {held.columns}, which another version of dsteval wrote",
            remedy="Score the predictions again.",
        )
    metrics = {text: parse(resolved).with_slots(held.slots) for text, resolved in held.metrics.items()}
    fewest = {count_text(metric): metric.columns for metric in metrics.values()}
    counts = {key: _rectangle(rows, fewest.get(key, 0)) for key, rows in held.counts.items()}
    lengths = {len(held.dialogues), len(held.turns), *(len(one) for one in counts.values())}
    if len(lengths) != 1:
        raise ReadError(
            where=f"{where}, system {system.name!r}",
            expected="one row of counts a dialogue",
            found=f"{', '.join(map(str, sorted(lengths)))} rows",
        )
    _check_protocol(system.protocol, held.settings, where)
    defined = {one["metric"] for one in system.scores if not one.get("why")}
    lacking = [text for text, metric in metrics.items() if text in defined and count_text(metric) not in counts]
    if lacking:
        raise ReadError(where=where, expected="the counts of each metric", found=f"none of {first_few(lacking)}")
    return Result(
        system.name,
        system.source,
        system.protocol,
        Coverage(**system.coverage),
        tuple(msgspec.convert(one, Score, strict=False) for one in system.scores),
        tuple(held.dialogues),
        tuple(held.turns),
        held.slots,
        Fingerprint.of(*held.reference),
        held.settings,
        None,
        {text: counts[key] for text, metric in metrics.items() if (key := count_text(metric)) in counts},
        metrics,
        tuple(system.notes),
    )


def _rectangle(rows: list[list[float]], fewest: int) -> Counts:
    """Rows of counts, short ones filled with zeros to the longest or the fewest columns; integers if all are."""
    width = max(fewest, *map(len, rows))
    whole = all(isinstance(value, int) for row in rows for value in row)
    counts = np.zeros((len(rows), width), dtype=np.int64 if whole else float)
    for number, row in enumerate(rows):
        counts[number, : len(row)] = row
    return counts


def _check_protocol(label: str, settings: str, where: str) -> None:
    """Raise ProtocolError where today's protocol of that name counts otherwise than the saved one."""
    name, _, rest = label.partition("@")
    if "[" in rest or "#" in rest:
        return  # changed settings, or a protocol from elsewhere: the hash is all that can be compared
    today = load_protocol(name)
    if (today.label, today.hash) != (label, settings):
        raise ProtocolError(
            where=where,
            expected=f"a result of {today.label} ({today.hash}), as version {__version__} has it",
            found=f"{label} ({settings})",
            remedy="Score the predictions again.",
        )


def recounted(result: Result, metrics: Sequence[str | Metric] | None, intervals: Intervals) -> Result:
    """A saved result's scores from its counts: other intervals, other lambdas, without predictions.

    Raises MetricError for a metric whose counts it does not keep.
    """
    wanted: dict[str, Metric] = {}
    for one in result.metrics if metrics is None else metrics:
        metric = parse(one) if isinstance(one, str) else one.checked()
        wanted[str(metric)] = result.metrics.get(str(metric)) or _resolved(result, metric).with_slots(
            result.n_slots
        )
    by_text = {count_text(result.metrics[text]): counts for text, counts in result.counts.items()}
    old = {score.metric: score for score in result.scores}
    counts: dict[str, Counts] = {}
    for text, metric in wanted.items():
        key = count_text(metric)
        if key in by_text:
            counts[text] = by_text[key]
        elif text not in old:
            raise MetricError(
                where=f"{result.name}, metric {text!r}",
                expected=f"counts that the saved result keeps ({', '.join(by_text)})",
                found="none",
                remedy="Score the predictions again with that metric.",
            )
    found = intervals.of(((wanted[text], counts[text]) for text in counts), result.dialogues)
    known = dict(zip(counts, found, strict=True))
    rest = result.scores[0].signature.partition("|")[2]
    settings = [part for part in rest.split("|") if part.split(":")[0] not in ("ci", "seed", "level")]
    settings[-1:-1] = intervals.signature()
    scores = []
    for text, metric in wanted.items():
        signature = "|".join([str(metric), *settings])
        if text in counts:
            scores.append(score(metric, text, total(counts[text]), signature, known[text]))
        else:
            scores.append(replace(old[text], signature=signature))
    return replace(result, scores=tuple(scores), counts=counts, metrics=wanted)


def _resolved(result: Result, metric: Metric) -> Metric:
    """A metric under the result's protocol, as an evaluation resolves it.

    A protocol from elsewhere is not at hand: what its own metrics of that name have is taken.
    """
    name = result.protocol.partition("@")[0]
    if name in protocol_names():
        return under(metric, load_protocol(name))
    own = [known for known in result.metrics.values() if known.name == metric.name]
    return metric.resolve(dict(own[0].given) if own else {})


def merge(results: Sequence[Result], name: str | None = None) -> Result:
    """One result out of parts that hold different dialogues of one system, counted by one rule.

    The parts were scored against one reference, or each against its own part of it. Raises OptionError without
    parts, AlignmentError where a dialogue stands in two parts, or protocols, slots or metrics differ.
    """
    if not results:
        raise OptionError(where="merge", expected="at least one result", found="none")
    first = results[0]
    for one in results[1:]:
        _check_alike(first, one)
    names = [dialogue for one in results for dialogue in one.dialogues]
    twice = [dialogue for dialogue, count in Counter(map(canonical_id, names)).items() if count > 1]
    if twice:
        raise AlignmentError(
            where="merge",
            expected="each dialogue in one part",
            found=f"{len(twice)} of {len(set(names))} twice ({first_few(twice)})",
        )
    same = all(str(one.reference_hash) == str(first.reference_hash) for one in results)
    coverage = _covered([one.coverage for one in results], same)
    merged = replace(
        first,
        name=name or first.name,
        source=", ".join(dict.fromkeys(one.source for one in results)),
        coverage=coverage,
        dialogues=tuple(names),
        turns_per_dialogue=tuple(turns for one in results for turns in one.turns_per_dialogue),
        reference_hash=first.reference_hash if same else Fingerprint.sum(one.reference_hash for one in results),
        counts={text: _stacked([one.counts[text] for one in results]) for text in first.counts},
        notes=tuple(dict.fromkeys(note for one in results for note in one.notes)),
        outcomes=None,
        slices=(),
    )
    parts = {"turns": f"{coverage.scored_turns}/{coverage.ref_turns}", "ref": str(merged.reference_hash)}
    return replace(merged, scores=tuple(_moved(score, parts) for score in first.scores))


def _moved(score: Score, parts: dict[str, str]) -> Score:
    """A score whose signature has other turns and another reference; its value is to be counted anew."""
    pieces = [piece.partition(":") for piece in score.signature.split("|")]
    return replace(score, signature="|".join(f"{k}{c}{parts.get(k, v)}" for k, c, v in pieces))


def _check_alike(first: Result, other: Result) -> None:
    for what, ours, theirs in (
        ("protocol", f"{first.protocol} ({first.protocol_hash})", f"{other.protocol} ({other.protocol_hash})"),
        ("|S|", str(first.n_slots), str(other.n_slots)),
        ("metrics", ", ".join(first.counts), ", ".join(other.counts)),
    ):
        if ours != theirs:
            raise AlignmentError(
                where=f"{other.source} beside {first.source}", expected=f"the same {what}, {ours}", found=theirs
            )


def _covered(parts: Sequence[Coverage], same: bool) -> Coverage:
    """The coverage of all parts; of one reference, what another part covers is not missing."""
    whole = Coverage()
    for one in parts:
        whole.scored_dialogues += one.scored_dialogues
        whole.scored_turns += one.scored_turns
        whole.ref_dialogues = one.ref_dialogues if same else whole.ref_dialogues + one.ref_dialogues
        whole.ref_turns = one.ref_turns if same else whole.ref_turns + one.ref_turns
        whole.extra += one.extra
        whole.left_out += [name for name in one.left_out if name not in whole.left_out]
        whole.missing += [] if same else one.missing
    if same:
        missing = set(parts[0].missing).intersection(*(one.missing for one in parts[1:]))
        whole.missing = [name for name in parts[0].missing if name in missing]
    return whole


def _stacked(counts: Sequence[Counts]) -> Counts:
    """Rows of all parts, narrow ones filled with zeros at the right."""
    width = max(one.shape[1] for one in counts)
    return np.concatenate([np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in counts])
