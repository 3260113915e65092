"""Results on the same dialogues, their counts in one order of dialogues."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, OptionError, first_few, require
from dsteval.metrics import Counts, Metric, total
from dsteval.outcomes.table import Array
from dsteval.results.result import Result
from dsteval.results.saved import check_equal, recounted
from dsteval.stats.bootstrap import too_few
from dsteval.stats.intervals import NO_INTERVALS, Intervals, in_drawing_order

_TABLES = ("variants", "ontology", "schema")
_REMEDIES = {
    "protocol": "Score both with the same --protocol and --set.",
    "reference": "Score both against the same --ref.",
    "|S|": "Set it for both with --slots, or choose metrics that do not use it.",
    **dict.fromkeys(_TABLES, "Use the same table for both."),
}


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
        return [math.nan if counts is None else float(value(total(counts))) for counts in self.counts[metric]]

    def resampled(self, intervals: Intervals) -> dict[str, list[Array | None]]:
        """Each metric's values [resamples] of every system, all over the same draws.

        None where the metric is undefined, and everywhere where there are too few dialogues to draw.
        """
        defined = [one for counts in self.counts.values() for one in counts if one is not None]
        sums = {} if not defined or too_few(self.dialogues) else intervals.sums(defined)
        return {
            text: [self.metrics[text].value(sums[id(one)]) if id(one) in sums else None for one in counts]
            for text, counts in self.counts.items()
        }


def aligned_counts(
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
    require(len(results) >= fewest, "results", f"at least {fewest}", len(results))
    first = results[0]
    wanted = list(first.metrics) if metrics is None else metrics
    again = [recounted(result, wanted, NO_INTERVALS) for result in results]
    check_comparable(again, fewest, references=references)
    moved: dict[int, Counts] = {}  # the draws are those of the results' own intervals, whichever comes first
    for result in again:
        moved |= in_drawing_order(result.counts.values(), result.dialogues)
    # By the id of what a result counted; None has none.
    counts = {text: [moved.get(id(result.counts.get(text))) for result in again] for text in again[0].metrics}
    names = tuple(result.name for result in results)
    return AlignedCounts(names, len(first.dialogues), sum(first.turns_per_dialogue), again[0].metrics, counts)


def check_comparable(results: Sequence[Result], fewest: int = 2, *, references: bool = True) -> None:
    """Raise as ``aligned_counts`` does; without ``references`` these may differ."""
    require(len(results) >= fewest, "results", f"at least {fewest}", len(results))
    twice = [name for name, times in Counter(result.name for result in results).items() if times > 1]
    if twice:
        raise OptionError(where="results", expected="a different name for each", found=f"{twice[0]!r} twice")
    for result in results[1:]:
        check_alike(results[0], result, references)
    check_same_dialogues(results)


def turns_by_id(result: Result) -> dict[str, int]:
    """How many turns each dialogue has, by its canonical id."""
    return dict(zip(map(canonical_id, result.dialogues), result.turns_per_dialogue, strict=True))


def check_same_dialogues(results: Sequence[Result]) -> None:
    """Raise AlignmentError for results on other dialogues, or other numbers of turns."""
    first, *others = map(turns_by_id, results)
    for result, turns in zip(results[1:], others, strict=True):
        shared, apart = first.keys() & turns, first.keys() ^ turns.keys()
        uneven = [f"{key}: {first[key]} and {turns[key]}" for key in sorted(shared) if first[key] != turns[key]]
        found = f"turns of {first_few(uneven)}" if uneven else ""
        if apart:
            found = f"{len(apart)} that only one has ({first_few(sorted(apart))})"
        if found:
            raise AlignmentError(
                where=beside(results[0], result),
                expected="the same dialogues and turns",
                found=found,
                extent=f"{len(first)} and {len(turns)} dialogues",
                remedy="Score all of them on the same dialogues.",
            )


def beside(first: Result, other: Result) -> str:
    """How messages name two results."""
    return f"{other.name} beside {first.name}"


def check_alike(first: Result, other: Result, references: bool = True, n_slots: bool = True) -> None:
    """Raise AlignmentError where numbers of the two cannot be held side by side.

    Without ``references`` these may differ, without ``n_slots`` |S|.
    """
    ours = _what_moves_numbers(first)
    if not references:
        del ours["reference"]
    if not n_slots or not any(metric.uses_n_slots for metric in first.metrics.values()):
        del ours["|S|"]
    check_equal(beside(first, other), ours, _what_moves_numbers(other), _REMEDIES)


def _what_moves_numbers(result: Result) -> dict[str, str]:
    parts, labels = dict(piece.partition(":")[::2] for piece in result.signature), result.reference_hash
    return {
        "protocol": f"{result.protocol} ({result.protocol_hash})",
        "reference": f"{labels} of {labels.dialogues} dialogues" if labels.dialogues else "none",
        **{table: parts.get(table, "none") for table in _TABLES},
        "|S|": str(result.n_slots),
    }
