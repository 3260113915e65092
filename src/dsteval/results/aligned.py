"""Results on the same dialogues, their counts in one order of dialogues."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, OptionError, first_few
from dsteval.metrics import Counts, Metric, total
from dsteval.metrics.base import Array
from dsteval.results.result import Result
from dsteval.results.saved import recounted
from dsteval.stats.bootstrap import too_few
from dsteval.stats.intervals import NO_INTERVALS, Intervals, drawing_order

__all__ = [
    "AlignedCounts",
    "beside",
    "check_alike",
    "check_same_dialogues",
    "check_same_rows",
    "places",
    "rows",
    "signature_parts",
]


class AlignedCounts(NamedTuple):
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
) -> AlignedCounts:
    """The counts of ``metrics`` (default: those of the first result) in one order of dialogues.

    Raises AlignmentError for results on other dialogues, turns or references, or of another protocol,
    OptionError for fewer than ``fewest`` results or two of one name, MetricError for a metric that one of the
    results did not count. Without ``references`` these may differ.
    """
    _check_number(results, fewest)
    wanted = list(results[0].metrics) if metrics is None else metrics
    again = [recounted(one, wanted, NO_INTERVALS) for one in results]
    check_same_rows(again, fewest, references=references)
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
    return AlignedCounts(names, len(first.dialogues), sum(first.turns_per_dialogue), again[0].metrics, counts)


def places(results: Sequence[Result]) -> list[Array]:
    """For each result where the dialogues of the common order are.

    That is the order of the ids, as in the results' own intervals: the draws are the same, and it matters neither
    which result comes first nor how a file is sorted.
    """
    return [drawing_order(one.dialogues) for one in results]


def check_same_rows(results: Sequence[Result], fewest: int = 2, *, references: bool = True) -> None:
    """Raise as ``rows`` does; without ``references`` these may differ."""
    _check_number(results, fewest)
    twice = [name for name, times in Counter(one.name for one in results).items() if times > 1]
    if twice:
        raise OptionError(where="results", expected="a name for each", found=f"{twice[0]!r} twice")
    for one in results[1:]:
        check_alike(results[0], one, references)
    check_same_dialogues(results)


def check_same_dialogues(results: Sequence[Result]) -> None:
    """Raise AlignmentError for results on other dialogues, or other numbers of turns."""
    first = {
        canonical_id(name): turns
        for name, turns in zip(results[0].dialogues, results[0].turns_per_dialogue, strict=True)
    }
    for one in results[1:]:
        _same_dialogues(results[0].name, first, one)


def _check_number(results: Sequence[Result], fewest: int) -> None:
    if len(results) < fewest:
        raise OptionError(where="results", expected=f"{fewest} or more", found=str(len(results)))


def beside(first: Result, other: Result) -> str:
    """How messages name two results."""
    return f"{other.name} beside {first.name}"


def signature_parts(result: Result) -> dict[str, str]:
    """The parts of a signature without the metric, by their names."""
    rest = result.scores[0].signature.split("|")[1:]
    return {key: value for key, _, value in (part.partition(":") for part in rest)}


def check_alike(first: Result, other: Result, references: bool = True) -> None:
    """Raise AlignmentError where numbers of the two cannot be held side by side.

    Without ``references`` these may differ.
    """
    own, theirs = signature_parts(first), signature_parts(other)
    tables = [
        (name, own.get(name, "none"), theirs.get(name, "none")) for name in ("variants", "ontology", "schema")
    ]
    facts = [
        ("protocol", f"{first.protocol} ({first.protocol_hash})", f"{other.protocol} ({other.protocol_hash})"),
        *([("reference", _labels(first), _labels(other))] if references else []),
        *tables,
    ]
    if any(metric.uses_n_slots for metric in first.metrics.values()):
        facts.append(("|S|", str(first.n_slots), str(other.n_slots)))
    remedies = {
        "protocol": "Score both under one protocol, with --protocol and --set as they were.",
        "reference": "Score both against one file, with --ref.",
        "|S|": "Set it for both with --slots, or ask for metrics that do not count it.",
    }
    for what, expected, found in facts:
        if expected != found:
            raise AlignmentError(
                where=beside(first, other),
                expected=f"the same {what}, {expected}",
                found=found,
                remedy=remedies.get(what, "Give both the same table."),
            )


def _labels(result: Result) -> str:
    return (
        f"{result.reference_hash} of {result.reference_hash.dialogues} dialogues"
        if result.reference_hash.dialogues
        else "none"
    )


def _same_dialogues(name: str, first: dict[str, int], other: Result) -> None:
    own = {
        canonical_id(dialogue): turns
        for dialogue, turns in zip(other.dialogues, other.turns_per_dialogue, strict=True)
    }
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
