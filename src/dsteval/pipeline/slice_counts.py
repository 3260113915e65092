"""What slices count, block after block, and the partition that each of them has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dsteval.metrics import Counts, Metric
from dsteval.outcomes.slices import BY_SLOT, CONVENTIONS, FRAMES, Part, nothing
from dsteval.outcomes.table import Array, Outcomes
from dsteval.results.partition import Partition, count, narrowed, stacked


class _Rows(NamedTuple):
    """What a block has of one slice: places of dialogues in the whole, their turns that count, and the counts."""

    dialogue: Array
    turns: Array
    counts: dict[str, Counts]


class Slice(NamedTuple):
    """One slice: its key and convention, how many turns count, and what they count."""

    key: str
    convention: str
    turns: int
    partition: Partition


class SliceCounts:
    """The slices by one thing, as ``--by`` calls it; ``extra`` names what is counted per turn in addition."""

    def __init__(self, by: str, metrics: Collection[Metric], extra: Sequence[str]) -> None:
        self.by = by
        self._metrics, self._extra = list(metrics), extra
        self._rows: dict[tuple[str, str], list[_Rows]] = {}
        self._unavailable: dict[str, str] = {}
        self._like: Outcomes | None = None

    @property
    def keys(self) -> list[str]:
        """The keys in order: turns by their numbers, all else by name."""
        keys = {key for key, _ in self._rows}
        return sorted(keys, key=int) if self.by == "turn" else sorted(keys)

    def add(self, part: Part, start: int) -> None:
        """Count what a block has of some slices; ``start`` is the place of its first dialogue."""
        counts, unavailable = count(self._metrics, part.outcomes)
        narrow = {text: narrowed(one) for text, one in counts.items()}
        self._unavailable |= unavailable
        self._like = part.outcomes
        bounds = np.searchsorted(part.key, np.arange(len(part.keys) + 1)).tolist()
        for key, low, high in zip(part.keys, bounds, bounds[1:], strict=False):
            row = part.row[low:high]
            rows = _Rows(
                part.dialogue[low:high] + start,
                part.turns[low:high],
                {text: one[row] for text, one in narrow.items()},
            )
            self._rows.setdefault((key, part.convention), []).append(rows)

    def absorb(self, other: SliceCounts, start: int) -> None:
        """Take in what another counted; ``start`` is the place of its first dialogue."""
        for key, rows in other._rows.items():
            moved = [one._replace(dialogue=one.dialogue + start) for one in rows]
            self._rows.setdefault(key, []).extend(moved)
        self._unavailable |= other._unavailable
        self._like = other._like or self._like

    def slices(self, whole: Partition) -> Iterator[Slice]:
        """All slices, by key; ``whole`` is the partition of everything."""
        if self.by not in BY_SLOT or (self._like is not None and self._like.unit == "frame"):
            for key in self.keys:
                for convention in ("all", FRAMES):
                    if rows := self._rows.get((key, convention)):
                        yield self._slice(key, convention, _joined(rows), whole)
            return
        lengths, length_of = np.unique(whole.turns_per_dialogue, return_inverse=True)
        background: dict[str, Counts] = {}
        if self._like is not None:
            background, _ = count(self._metrics, nothing(lengths.tolist(), self._like, self._extra))
        without = {text: narrowed(one)[length_of] for text, one in background.items()}
        for key in self.keys:
            every = _joined(self._rows[key, "all"])
            active = _joined(self._rows[key, "active"]) if (key, "active") in self._rows else None
            for convention in CONVENTIONS if active is not None else ("all",):
                if convention == "all":
                    yield self._slice(key, convention, every, whole, without)
                elif convention == "active" and active is not None:
                    yield self._slice(key, convention, active, whole)
                elif active is not None:
                    yield self._slice(key, convention, _chosen(every, active.turns > 0), whole)

    def _slice(
        self, key: str, convention: str, rows: _Rows, whole: Partition, without: dict[str, Counts] | None = None
    ) -> Slice:
        """One slice of these rows; other dialogues count what they do without a slot, or nothing."""
        size = len(whole.dialogues)
        counts = {}
        for text, own in rows.counts.items():
            rest = np.zeros((1, 1), dtype=own.dtype) if without is None else without[text]
            full = np.zeros((size, max(own.shape[1], rest.shape[1])), dtype=np.result_type(own, rest))
            full[:, : rest.shape[1]] = rest
            full[rows.dialogue] = 0
            full[rows.dialogue, : own.shape[1]] = own
            counts[text] = full
        turns = int(rows.turns.sum()) if without is None else whole.coverage.scored_turns
        partition = replace(whole, counts=counts, unavailable=self._unavailable)
        return Slice(key, convention, turns, partition)


def _joined(rows: Sequence[_Rows]) -> _Rows:
    """The rows of all blocks."""
    shared = set(rows[0].counts).intersection(*(one.counts for one in rows))
    return _Rows(
        np.concatenate([one.dialogue for one in rows]),
        np.concatenate([one.turns for one in rows]),
        {text: stacked([one.counts[text] for one in rows]) for text in rows[0].counts if text in shared},
    )


def _chosen(rows: _Rows, chosen: Array) -> _Rows:
    return _Rows(
        rows.dialogue[chosen], rows.turns[chosen], {text: one[chosen] for text, one in rows.counts.items()}
    )
