"""What scoring a part of the data leaves: everything that adds up, so that parts sum to the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from dsteval.align.coverage import Coverage
from dsteval.align.fingerprint import Fingerprint
from dsteval.errors import MetricError, foreign, require
from dsteval.metrics import Counts, Metric, total
from dsteval.outcomes.table import Array, Outcomes
from dsteval.outcomes.turns import SeenSlot
from dsteval.registry import is_ours
from dsteval.results.notes import NoteCounts


@dataclass(frozen=True, eq=False)
class Partition:
    """The counts of some dialogues of one system, under one protocol; ``a + b`` are those of both.

    Per dialogue, in one order: ``dialogues`` (ids), ``turns_per_dialogue``, and ``counts`` by ``count_text``, each
    [dialogues, columns], in the narrowest integers that hold them. ``unavailable`` says by a metric's text why it
    cannot be had from these files. ``reference_hash`` is the hash of the labels, ``slots`` are those seen on
    either side. ``note_counts`` is what notes are made of, None for a result that was saved.
    """

    dialogues: tuple[str, ...]
    turns_per_dialogue: tuple[int, ...]
    counts: Mapping[str, Counts]
    unavailable: Mapping[str, str]
    coverage: Coverage
    reference_hash: Fingerprint
    note_counts: NoteCounts | None = None
    slots: tuple[str, ...] = ()

    def __add__(self, other: Partition) -> Partition:
        return Partition.sum([self, other])

    @classmethod
    def sum(cls, parts: Sequence[Partition]) -> Partition:
        """One partition out of at least one that hold different dialogues.

        They were scored against one reference, or each against its own part of it; the order of parts decides the
        order of dialogues and nothing else.
        """
        by_reference: dict[str, list[Partition]] = {}
        for number, part in enumerate(parts):
            own = str(part.reference_hash) if part.reference_hash.dialogues else f"none {number}"
            by_reference.setdefault(own, []).append(part)
        groups = list(by_reference.values())
        covered = [Coverage.sum([part.coverage for part in group], one_reference=True) for group in groups]
        hashes = [group[0].reference_hash for group in groups]
        notes = [part.note_counts for part in parts if part.note_counts is not None]
        shared = set(parts[0].counts).intersection(*(part.counts for part in parts))
        return cls(
            tuple(name for part in parts for name in part.dialogues),
            tuple(turns for part in parts for turns in part.turns_per_dialogue),
            {key: stacked([part.counts[key] for part in parts]) for key in parts[0].counts if key in shared},
            {text: reason for part in parts for text, reason in part.unavailable.items()},
            Coverage.sum(covered, one_reference=False) if len(covered) > 1 else covered[0],
            Fingerprint.sum(hashes) if len(hashes) > 1 else hashes[0],
            reduce(NoteCounts.__add__, notes) if len(notes) == len(parts) else None,
            tuple(dict.fromkeys(slot for part in parts for slot in part.slots)),
        )

    @cached_property
    def _wide(self) -> dict[int, Counts]:
        """The counts in numbers that can be subtracted and added, by the id of the counts as they are kept."""
        return {}

    def counts_of(self, metrics: Mapping[str, Metric]) -> dict[str, Counts]:
        """What each metric counted, by its text; undefined ones are not there."""
        found = {}
        for text, metric in metrics.items():
            if (kept := self.counts.get(metric.count_text)) is not None:
                if id(kept) not in self._wide:
                    wide = np.float64 if kept.dtype.kind == "f" else np.int64
                    self._wide[id(kept)] = kept.astype(wide, copy=False)
                found[text] = self._wide[id(kept)]
        return found

    def sums_of(self, metrics: Mapping[str, Metric]) -> dict[str, Counts]:
        """The sums of what each metric counted, by its text; undefined ones are not there."""
        keys = {text: metric.count_text for text, metric in metrics.items()}
        return {text: total(self.counts[key]) for text, key in keys.items() if key in self.counts}

    def rows(self, chosen: Sequence[int], coverage: Coverage) -> Partition:
        """Some of the dialogues, by their positions; arrays that were shared still are."""
        moved = {id(counts): counts[np.array(chosen, dtype=np.intp)] for counts in self.counts.values()}
        return replace(
            self,
            dialogues=tuple(self.dialogues[row] for row in chosen),
            turns_per_dialogue=tuple(self.turns_per_dialogue[row] for row in chosen),
            counts={key: moved[id(counts)] for key, counts in self.counts.items()},
            coverage=coverage,
            note_counts=None,
        )


def stacked(counts: Sequence[Counts]) -> Counts:
    """Rows of all parts, narrow ones filled with zeros at the right."""
    rows, width = sum(map(len, counts)), max(part.shape[1] for part in counts)
    stacked = np.zeros((rows, width), dtype=np.result_type(*counts))
    start = 0
    for part in counts:
        stacked[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return stacked


def narrowed(counts: Counts) -> Counts:
    """The same numbers in as few bytes as hold them all."""
    if counts.dtype.kind == "f":
        return counts
    low, high = counts.min(initial=0), counts.max(initial=0)
    return counts.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


class Tally:
    """Counts blocks of outcomes, one after the other; ``partition`` is what they add up to."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)
        self._dialogues: list[str] = []
        self._turns: list[Array] = []
        self._lengths: list[Array] = []
        self._counts: list[dict[str, Counts]] = []
        self._unavailable: dict[str, str] = {}
        self._notes = NoteCounts(Counter(), {}, (), {}, {})

    def add(self, outcomes: Outcomes, slots: Mapping[str, SeenSlot]) -> None:
        """Count one block, which has these slots."""
        counts, unavailable = count(self._metrics, outcomes)
        self._counts.append({key: narrowed(one) for key, one in counts.items()})
        self._unavailable |= unavailable
        self._dialogues += outcomes.dialogues
        turns = np.diff(outcomes.offsets).astype(np.int32)
        self._turns.append(turns)
        self._lengths.append(turns if outcomes.lengths is None else outcomes.lengths)
        self._notes += NoteCounts.of(outcomes, slots)

    def absorb(self, other: Tally) -> None:
        """Take in the blocks of another, after the own."""
        self._dialogues += other._dialogues
        self._turns += other._turns
        self._lengths += other._lengths
        self._counts += map(dict, other._counts)
        self._unavailable |= other._unavailable
        self._notes += other._notes

    @property
    def slots(self) -> list[str]:
        """The slots that were compared, in the order in which they stand first."""
        return list(self._notes.slots)

    @property
    def n_dialogues(self) -> int:
        """How many dialogues were counted so far."""
        return len(self._dialogues)

    @property
    def lengths(self) -> Array:
        """The user turns of each dialogue."""
        return np.concatenate(self._lengths)

    def partition(self, coverage: Coverage, reference_hash: Fingerprint, left_out: NoteCounts) -> Partition:
        """What all blocks add up to, of dialogues that were found so."""
        if len(self._counts) > 1:
            # One kind after the other, each block's let go: of millions of dialogues there is no room for both.
            shared = [key for key in self._counts[0] if all(key in one for one in self._counts)]
            self._counts = [{key: stacked([one.pop(key) for one in self._counts]) for key in shared}]
        return Partition(
            tuple(self._dialogues),
            tuple(np.concatenate(self._turns).tolist()),
            dict(self._counts[0]),
            self._unavailable,
            coverage,
            reference_hash,
            self._notes + left_out,
            tuple(self.slots),
        )


def count(metrics: Iterable[Metric], outcomes: Outcomes) -> tuple[dict[str, Counts], dict[str, str]]:
    """What each kind of metric counts per dialogue, by ``count_text``, and why others cannot be had."""
    counts: dict[str, Counts] = {}
    unavailable: dict[str, str] = {}
    for metric in metrics:
        with nullcontext() if is_ours(metric) else foreign(f"metric {metric.name}"):
            reason, key = metric.unavailable_reason(outcomes), metric.count_text
        if reason is not None:
            unavailable[str(metric)] = reason
        elif key not in counts:
            counts[key] = metric.count(outcomes) if is_ours(metric) else _foreign_counts(metric, outcomes)
    return counts, unavailable


def _foreign_counts(metric: Metric, outcomes: Outcomes) -> Counts:
    """What a metric of another package counts. Raises MetricError for what are no counts."""
    with foreign(f"metric {metric.name}"):
        found: object = metric.count(outcomes)
    shape = f"numbers [{len(outcomes.dialogues)}, 1 or more]"
    usual = isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype.kind in "iuf"
    require(usual, f"metric {metric.name}", f"counts as an array of {shape}", type(found).__name__, MetricError)
    assert isinstance(found, np.ndarray)
    fits = found.shape[0] == len(outcomes.dialogues) and found.shape[1] > 0
    require(fits, f"metric {metric.name}", f"counts as {shape}", list(found.shape), MetricError)
    require(np.isfinite(found).all(), f"metric {metric.name}", "finite counts", "NaN or infinity", MetricError)
    return found
