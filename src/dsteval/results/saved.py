"""Saved results: the JSON that ``score -o`` writes, read back, put together, and counted anew."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from dsteval._version import __version__
from dsteval.align.coverage import Coverage
from dsteval.align.fingerprint import Fingerprint
from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, MetricError, ProtocolError, ReadError, first_few, require
from dsteval.metrics import Counts, Metric, parse, total, under
from dsteval.metrics.counting import MOST_CELLS
from dsteval.protocols.model import load as load_protocol
from dsteval.protocols.model import names as protocol_names
from dsteval.readers import Source
from dsteval.results.partition import Partition
from dsteval.results.result import COLUMNS, SCHEMA, Result, Score, checksum, signed
from dsteval.stats.intervals import Intervals
from dsteval.values.slots import MULTIWOZ


class _Counted(msgspec.Struct):
    dialogues: list[str]
    turns: list[int]
    slots: int
    settings: str
    reference: tuple[int, int]
    metrics: dict[str, str]
    counts: dict[str, list[list[float]]]
    columns: int = 1
    widths: dict[str, int] = {}
    slot_names: list[str] = []


class _System(msgspec.Struct):
    name: str
    source: str
    protocol: str
    coverage: Coverage
    scores: list[Score]
    notes: list[str] = []
    per_dialogue: _Counted | None = None


class _Document(msgspec.Struct):
    schema: int
    systems: list[_System]


def is_saved(source: Source) -> bool:
    """Whether a file is a result that was saved, and no predictions."""
    return (
        source.kind == "object" and b'"systems"' in source.head[:4096] and {"schema", "systems"} <= set(source.top)
    )


def load(source: str | Path | Source) -> list[Result]:
    """The systems of a saved result, a path or an opened file.

    Raises ReadError for a file of another shape or without counts per dialogue, ProtocolError where a protocol has
    changed since in a way that moves numbers.
    """
    source = source if isinstance(source, Source) else Source.open(source)
    try:
        whole = msgspec.json.decode(source.data)
        document = msgspec.convert(whole, _Document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReadError(
            where=source.name, expected="a result that score -o wrote", found=str(error).replace("`", "'")
        ) from None
    if document.schema != SCHEMA:
        raise ReadError(where=source.name, expected=f"schema {SCHEMA}", found=f"schema {document.schema}")
    if not document.systems:
        raise ReadError(where=source.name, expected="at least one system", found="none")
    pairs = zip(document.systems, whole["systems"], strict=True)
    return [_result(system, source.name, entry) for system, entry in pairs]


def _result(system: _System, where: str, entry: Mapping[str, Any]) -> Result:
    kept = system.per_dialogue
    place = f"{where}, system {system.name!r}"
    if kept is None:
        raise ReadError(
            where=place,
            expected="counts per dialogue",
            found="none",
            remedy="score -o PATH.json saves them; standard output does not.",
        )
    metrics = {text: parse(resolved).with_slots(kept.slots) for text, resolved in kept.metrics.items()}
    changed = [text for text, metric in metrics.items() if metric.columns_since > kept.columns]
    if changed or kept.columns > COLUMNS:
        raise ReadError(
            where=place,
            expected=f"counts per dialogue in version {COLUMNS} of the columns",
            found=f"version {kept.columns}, which differs for {first_few(changed or metrics)}",
            remedy="Score the predictions again.",
        )
    if (told := entry.get("checksum")) != (right := checksum(entry)):
        raise ReadError(
            where=place,
            expected=f"what score -o wrote, with the checksum {right}",
            found="none" if told is None else str(told),
            remedy="The file was edited or comes from an older version. Score the predictions again.",
        )
    counts = {key: _rectangle(rows, kept.widths.get(key, 0), place) for key, rows in kept.counts.items()}
    lengths = {len(kept.dialogues), len(kept.turns), *map(len, counts.values())}
    if len(lengths) != 1:
        found = f"{', '.join(map(str, sorted(lengths)))} rows"
        raise ReadError(where=place, expected="one row of counts per dialogue", found=found)
    _check_protocol(system.protocol, kept.settings, where)
    uncounted = [text for text, metric in metrics.items() if metric.count_text not in counts]
    reasons = {score.metric: score.why for score in system.scores}
    if lacking := [text for text in uncounted if not reasons.get(text)]:
        raise ReadError(where=where, expected="the counts of each metric", found=f"none of {first_few(lacking)}")
    require(system.scores, place, "at least one score", "none", ReadError)
    signature = tuple(system.scores[0].signature.split("|")[1:])
    unavailable = {str(metrics[text]): reasons[text] for text in uncounted}
    fingerprint = Fingerprint.of(*kept.reference)
    partition = Partition(
        tuple(kept.dialogues),
        tuple(kept.turns),
        counts,
        unavailable,
        system.coverage,
        fingerprint,
        slots=tuple(kept.slot_names),
    )
    head = (system.name, system.source, system.protocol, kept.settings)
    intervals, notes = Intervals.signed(signature), tuple(system.notes)
    result = Result(*head, partition, metrics, kept.slots, signature, intervals, notes)
    _check_itself(result, system.scores, place)
    return result


def _check_itself(result: Result, scores: Sequence[Score], place: str) -> None:
    """Raise ReadError where a saved result contradicts itself."""
    coverage = result.coverage
    covered = f"{coverage.scored_dialogues} dialogues and {coverage.scored_turns} turns"
    held = f"{len(result.dialogues)} dialogues and {sum(result.turns_per_dialogue)} turns"
    require(covered == held, place, covered, held, ReadError)
    twice = [key for key, count in Counter(map(canonical_id, result.dialogues)).items() if count > 1]
    require(not twice, place, "each dialogue once", first_few(twice), ReadError)
    signed_size = next((piece for piece in result.signature if piece.startswith("S:")), "none")
    require(
        signed_size == f"S:{result.n_slots}",
        place,
        f"|S| as in the signature, {signed_size}",
        result.n_slots,
        ReadError,
    )
    for score in scores:
        counts = result.counts.get(score.metric)
        value = math.nan if counts is None else float(result.metrics[score.metric].value(total(counts)))
        alike = math.isnan(value) if score.value is None else math.isclose(value, score.value, abs_tol=1e-9)
        expected_value = f"{score.metric} = {value}, as computed from its counts"
        require(alike, place, expected_value, str(score.value), ReadError, "Score the predictions again.")


def _rectangle(rows: list[list[float]], width: int, place: str) -> Counts:
    """Rows of counts, short ones filled with zeros at the right."""
    longest = max(map(len, rows), default=0)
    require(longest <= width, place, f"rows of at most {width} counts", f"one of {longest}", ReadError)
    cells = len(rows) * width
    require(cells <= MOST_CELLS, place, f"at most {MOST_CELLS} counts per metric", cells, ReadError)
    padded = [row + [0] * (width - len(row)) for row in rows]
    return np.array(padded, dtype=float).reshape(len(rows), width)


def _check_protocol(label: str, settings: str, where: str) -> None:
    """Raise ProtocolError where today's protocol of that name counts otherwise than the saved one."""
    name, _, rest = label.partition("@")
    if "[" in rest or "#" in rest:
        return  # changed settings, or a protocol from elsewhere: the hash is all that can be compared
    today = load_protocol(name)
    if (today.label, today.hash) != (label, settings):
        raise ProtocolError(
            where=where,
            expected=f"a result of {today.label} ({today.hash}), as in version {__version__}",
            found=f"{label} ({settings})",
            remedy="Score the predictions again.",
        )


def recounted(result: Result, metrics: Sequence[str | Metric] | None, intervals: Intervals) -> Result:
    """A saved result's scores from its counts: other intervals, other lambdas, without predictions.

    Raises MetricError for a metric whose counts it does not keep.
    """
    counts, unavailable = result.partition.counts, result.partition.unavailable
    wanted: dict[str, Metric] = {}
    for asked in result.metrics if metrics is None else metrics:
        metric = parse(asked)
        text = str(metric)
        wanted[text] = metric = result.metrics.get(text) or _resolved(result, metric).with_slots(result.n_slots)
        if metric.count_text not in counts and str(metric) not in unavailable:
            raise MetricError(
                where=f"{result.name}, metric {text!r}",
                expected=f"one of the metrics that the saved result has counts for ({', '.join(counts)})",
                found="none",
                remedy="Score the predictions again with that metric.",
            )
    kept = (piece for piece in result.signature if not piece.startswith(("ci:", "seed:", "level:")))
    *settings, version = kept
    signature = (*settings, *intervals.signature(), version)
    return replace(result, metrics=wanted, intervals=intervals, signature=signature)


def _resolved(result: Result, metric: Metric) -> Metric:
    """A metric under the result's protocol, as an evaluation resolves it.

    A protocol from elsewhere is not at hand: what its own metrics of that name have is taken.
    """
    name = result.protocol.partition("@")[0]
    if name in protocol_names():
        return under(metric, load_protocol(name))
    given = {known.name: known.given for known in reversed(result.metrics.values())}
    return metric.resolve(dict(given.get(metric.name, ())))


def merge(results: Sequence[Result], name: str | None = None) -> Result:
    """One result out of parts that hold different dialogues of one system, counted by one rule.

    The parts were scored against one reference, or each against its own part of it. Raises OptionError without
    parts, AlignmentError where a dialogue stands in two parts, or protocols, slots or metrics differ.
    """
    require(results, "merge", "at least one result", "none")
    results = joint(results)
    first = results[0]
    for other in results[1:]:
        check_equal(f"{other.source} beside {first.source}", _rule(first), _rule(other), {})
    names = [dialogue for part in results for dialogue in part.dialogues]
    twice = [dialogue for dialogue, count in Counter(map(canonical_id, names)).items() if count > 1]
    if twice:
        raise AlignmentError(
            where="merge",
            expected="each dialogue in only one part",
            found=f"{len(twice)} of {len(set(names))} twice ({first_few(twice)})",
        )
    partition = Partition.sum([part.partition for part in results])
    coverage = partition.coverage
    turns = f"{coverage.scored_turns}/{coverage.ref_turns}"
    source = ", ".join(dict.fromkeys(part.source for part in results))
    head = (name or first.name, source, first.protocol, first.protocol_hash)
    signature = signed(_joint_signature(results), turns=turns, ref=partition.reference_hash)
    notes = tuple(_notes(results))
    return Result(*head, partition, first.metrics, first.n_slots, signature, first.intervals, notes)


_OF_SOME = ("input", "missing", "extra", "forced")
"""Pieces of a signature that the whole has where one of its parts has them."""


def _joint_signature(parts: Sequence[Result]) -> tuple[str, ...]:
    """The first part's signature with what holds for some parts only; AlignmentError where the parts disagree."""
    *settings, version = parts[0].signature
    more: dict[str, str] = {}
    ours = _pieces(parts[0])
    for part in parts:
        theirs = _pieces(part)
        for name in [*ours, *theirs]:
            known = ours.get(name) or more.get(name)
            if name in _OF_SOME and known is None:
                more[name] = theirs[name]
            elif (name in theirs and theirs[name] != known) or (name not in theirs and name not in _OF_SOME):
                raise AlignmentError(
                    where=f"{part.source} beside {parts[0].source}",
                    expected=f"the same settings, {known or 'none'} of {name}",
                    found=theirs.get(name, "none"),
                )
    return (*settings, *more.values(), version)


def _pieces(part: Result) -> dict[str, str]:
    """What a part was scored with; turns and labels are its own, and intervals are made anew."""
    pieces = {piece.partition(":")[0]: piece for piece in part.signature}
    return {name: piece for name, piece in pieces.items() if name not in ("turns", "ref", "ci", "seed", "level")}


def _notes(parts: Sequence[Result]) -> Iterator[str]:
    """The notes of all parts; one that holds for some of them says for which."""
    having: dict[str, list[str]] = {}
    for part in parts:
        for note in dict.fromkeys(part.notes):
            having.setdefault(note, []).append(part.source)
    for note, sources in having.items():
        yield note if len(sources) == len(parts) else f"{', '.join(dict.fromkeys(sources))}: {note}"


_Facts: TypeAlias = Mapping[str, str]


def joint(results: Sequence[Result]) -> list[Result]:
    """The results with one |S|, that of the slots of all of them, where each counts those of its own.

    Raises AlignmentError where they differ otherwise: by a list that was given, or one that is not known.
    """
    sizes = {result.n_slots for result in results}
    if len(sizes) == 1:
        return list(results)
    names = {slot for result in results for slot in result.partition.slots}
    for result in results:
        own = result.partition.slots
        if not own or result.n_slots not in (len(own), len(MULTIWOZ)):
            raise AlignmentError(
                where=f"{result.source}, system {result.name!r}",
                expected=f"|S| = {len(own)}, the slots that occur, or the same |S| for all",
                found=f"{result.n_slots} beside {', '.join(map(str, sorted(sizes - {result.n_slots})))}",
                remedy="Set it for all with --slots, or choose metrics that do not use it.",
            )
    n_slots = len(names | MULTIWOZ) if names <= MULTIWOZ else len(names)
    return [_with_slots(result, n_slots) for result in results]


def _with_slots(result: Result, n_slots: int) -> Result:
    metrics = {text: metric.with_slots(n_slots) for text, metric in result.metrics.items()}
    return replace(result, metrics=metrics, n_slots=n_slots, signature=signed(result.signature, S=n_slots))


def _rule(result: Result) -> _Facts:
    """What parts of one result have in common."""
    protocol = f"{result.protocol} ({result.protocol_hash})"
    return {"protocol": protocol, "|S|": str(result.n_slots), "metrics": ", ".join(result.counts)}


def check_equal(where: str, ours: _Facts, theirs: _Facts, remedies: _Facts) -> None:
    """Raise AlignmentError for the first of our facts, by what they are about, that is another of theirs."""
    for what, expected in ours.items():
        if (found := theirs[what]) != expected:
            raise AlignmentError(
                where=where, expected=f"the same {what}, {expected}", found=found, remedy=remedies.get(what, "")
            )
