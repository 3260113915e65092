"""Results on the same dialogues, their counts in one order of dialogues."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, OptionError, first_few
from dsteval.intervals import NO_INTERVALS, Intervals
from dsteval.metrics import Counts, Metric, total
from dsteval.metrics.base import Array
from dsteval.result import Result
from dsteval.saved import recounted
from dsteval.stats.bootstrap import too_few

__all__ = ["Rows", "check_same_rows", "places", "rows"]

_BY_SLOTS = frozenset({"SlotAccuracy", "NonePrecision", "NoneRecall", "NoneF1"})  # what |S| moves


class Rows(NamedTuple):
    """What several results counted, dialogue by dialogue in one order.

    ``metrics`` by their text; ``counts`` by the same text, one array [dialogues, columns] for each of ``systems``,
    None where the metric is undefined there.
    """

    systems: tuple[str, ...]
    dialogues: int
    turns: int
    metrics: dict[str, Metric]
    counts: dict[str, list[Counts | None]]

    def points(self, metric: str) -> list[float]:
        """The metric of every system, NaN where it is undefined."""
        value = self.metrics[metric].value
        return [math.nan if one is None else float(value(total(one))) for one in self.counts[metric]]

    def resampled(self, intervals: Intervals) -> dict[str, list[Array | None]]:
        """Each metric's values [resamples] of every system, all over the same draws.

        None where the metric is undefined, and everywhere where there are too few dialogues to draw.
        """
        nothing: dict[str, list[Array | None]] = {text: [None] * len(self.systems) for text in self.metrics}
        held = [one for each in self.counts.values() for one in each if one is not None]
        if not held or too_few(self.dialogues):
            return nothing
        sums = intervals.sums(held)
        return {
            text: [None if one is None else self.metrics[text].value(sums[id(one)]) for one in each]
            for text, each in self.counts.items()
        }


def rows(
    results: Sequence[Result],
    metrics: Sequence[str | Metric] | None = None,
    *,
    fewest: int = 2,
    references: bool = True,
) -> Rows:
    """The counts of ``metrics`` (default: those of the first result) in one order of dialogues.

    Raises AlignmentError for results on other dialogues, turns or references, or of another protocol,
    OptionError for fewer than ``fewest`` results or two of one name, MetricError for a metric that one of the
    results did not count. Without ``references`` these may differ.
    """
    check_same_rows(results, fewest, references=references)
    wanted = list(results[0].metrics) if metrics is None else metrics
    again = [recounted(one, wanted, NO_INTERVALS) for one in results]
    if _BY_SLOTS.intersection(metric.name for metric in again[0].metrics.values()):
        _same("|S|", [(one, str(one.n_slots)) for one in results], "Set it with slots=30 or the list of slots.")
    order = places(results)
    moved: dict[int, Counts] = {}  # metrics that share their counts share them still, and are drawn once
    for result, place in zip(again, order, strict=True):
        straight = np.array_equal(place, np.arange(len(place)))
        moved |= {id(one): one if straight else one[place] for one in result.counts.values()}
    counts: dict[str, list[Counts | None]] = {
        text: [moved[id(one.counts[text])] if text in one.counts else None for one in again]
        for text in again[0].metrics
    }
    first = results[0]
    names = tuple(one.name for one in results)
    return Rows(names, len(first.dialogues), sum(first.turns), again[0].metrics, counts)


def places(results: Sequence[Result]) -> list[Array]:
    """For each result where the dialogues of the common order are.

    That is the order of all, where it is one, so that draws are those of the results' own intervals; else the
    order of the ids, so that it does not matter which result comes first.
    """
    keys = [[canonical_id(name) for name in one.dialogues] for one in results]
    if all(one == keys[0] for one in keys):
        return [np.arange(len(keys[0]))] * len(results)
    return [np.array(sorted(range(len(one)), key=one.__getitem__)) for one in keys]


def check_same_rows(results: Sequence[Result], fewest: int = 2, *, references: bool = True) -> None:
    """Raise as ``rows`` does; without ``references`` these may differ."""
    if len(results) < fewest:
        raise OptionError(where="results", expected=f"{fewest} or more", found=str(len(results)))
    twice = [name for name, times in Counter(one.name for one in results).items() if times > 1]
    if twice:
        raise OptionError(where="results", expected="a name for each", found=f"{twice[0]!r} twice")
    _same("protocol", [(one, f"{one.protocol} ({one.settings})") for one in results])
    if references:
        _same("reference", [(one, str(one.reference)) for one in results])
    first = {canonical_id(name): turns for name, turns in zip(results[0].dialogues, results[0].turns, strict=True)}
    for one in results[1:]:
        _same_dialogues(results[0].name, first, one)


def _same(what: str, told: Sequence[tuple[Result, str]], remedy: str = "") -> None:
    first, expected = told[0]
    for one, found in told:
        if found != expected:
            raise AlignmentError(
                where=f"{one.name} beside {first.name}",
                expected=f"the same {what}, {expected}",
                found=found,
                remedy=remedy,
            )


def _same_dialogues(name: str, first: dict[str, int], other: Result) -> None:
    own = {canonical_id(dialogue): turns for dialogue, turns in zip(other.dialogues, other.turns, strict=True)}
    apart = sorted(first.keys() ^ own.keys())
    uneven = [
        f"{key}: {first[key]} and {own[key]}" for key in sorted(first.keys() & own) if first[key] != own[key]
    ]
    if not apart and not uneven:
        return
    found = f"{len(apart)} that only one has ({first_few(apart)})" if apart else f"turns of {first_few(uneven)}"
    raise AlignmentError(
        where=f"{other.name} beside {name}",
        expected="the same dialogues and turns",
        found=found,
        extent=f"{len(first)} and {len(own)} dialogues",
        remedy="Score all of them on what they have in common.",
    )
