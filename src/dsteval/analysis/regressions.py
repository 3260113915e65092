"""The dialogues in which a system became worse than an earlier one, those that move the score most first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dsteval.analysis.comparison import Comparison
from dsteval.dialogue import canonical_id
from dsteval.metrics import parse, total
from dsteval.outcomes.table import Outcomes
from dsteval.prepare.states import value_text
from dsteval.results.result import Result
from dsteval.stats.bootstrap import TOLERANCE
from dsteval.stats.paired import padded

_MOST_SLOTS = 5


@dataclass(frozen=True)
class Regression:
    """A dialogue of ``turns`` turns in which ``a`` is worse than ``b``: both values, and its share.

    ``change`` is how far the score of ``b`` over all dialogues moves when this one is exchanged for that of ``a``.
    ``first_wrong`` tells the first wrong turn of ``a`` with its slots; empty where only counts were saved.
    """

    a: str
    b: str
    dialogue: str
    turns: int
    value_a: float
    value_b: float
    change: float
    first_wrong: str = ""


@dataclass(frozen=True)
class Regressions:
    """The ``worst`` regressions by a metric, and how many dialogues of all pairs got worse and better.

    Values are shown times ``scale``.
    """

    metric: str
    scale: int
    of: int
    worse: int
    better: int
    worst: tuple[Regression, ...]


def regressions(comparison: Comparison, metric: str, scored: Sequence[Result] = (), most: int = 10) -> Regressions:
    """The dialogues that got worse by a metric, over all pairs; those that move the score most come first.

    ``scored`` are results that still have the outcomes of turns, by which wrong turns and slots are named.

    >>> from dsteval import compare
    >>> ref = {"x": [{"hotel-area": "north"}], "y": [{"hotel-area": "east"}, {"hotel-area": "west"}]}
    >>> found = regressions(compare({"new": {"x": [{}], "y": ref["y"]}, "old": ref}, ref, metrics=["JGA"]), "JGA")
    >>> [(one.dialogue, one.value_a, one.value_b, round(one.change, 3)) for one in found.worst]
    [('x', 0.0, 1.0, -0.333)]
    """
    by_name = {one.name: one for one in comparison.systems}
    outcomes = {one.name: one.outcomes for one in scored if one.outcomes is not None}
    pairs = dict.fromkeys((one.a, one.b) for one in comparison.differences if one.metric == metric)
    found: list[Regression] = []
    of = better = 0
    for a, b in pairs:
        worse, n_better = _of_pair(by_name[a], by_name[b], metric)
        found += worse
        of, better = of + len(by_name[a].dialogues), better + n_better
    parsed = parse(metric)
    sign = -1 if parsed.lower_is_better else 1
    ordered = sorted(found, key=lambda one: (sign * one.change, one.dialogue, one.a, one.b))[:most]
    worst = tuple(_with_turn(one, outcomes[one.a]) if one.a in outcomes else one for one in ordered)
    return Regressions(metric, parsed.scale, of, len(found), better, worst)


def _of_pair(a: Result, b: Result, text: str) -> tuple[list[Regression], int]:
    """What got worse from ``b`` to ``a``, and how many dialogues got better."""
    if text not in a.counts or text not in b.counts:
        return [], 0
    metric = a.metrics[text]
    counts_a, counts_b = padded(a.counts[text], b.counts[text])
    whole = total(counts_b)
    change = metric.value(whole - counts_b + counts_a) - metric.value(whole)
    sign = -1 if metric.lower_is_better else 1
    values_a, values_b = metric.value(counts_a), metric.value(counts_b)
    worse = [
        Regression(
            *(a.name, b.name, a.dialogues[row], a.turns_per_dialogue[row]),
            *(float(values_a[row]), float(values_b[row]), float(change[row])),
        )
        for row in np.flatnonzero(sign * change < -TOLERANCE).tolist()
    ]
    return worse, int((sign * change > TOLERANCE).sum())


def _with_turn(one: Regression, outcomes: Outcomes) -> Regression:
    """The same with the first wrong turn, if one is wrong."""
    names = [canonical_id(name) for name in outcomes.dialogues]
    start, end = outcomes.offsets[(at := names.index(canonical_id(one.dialogue))) : at + 2].tolist()
    wrong = np.flatnonzero(~outcomes.exact[start:end])
    if not len(wrong):
        return one
    unit = start + int(wrong[0])
    slots = list(_slots(outcomes, unit))
    more = f", {len(slots) - _MOST_SLOTS} more" if len(slots) > _MOST_SLOTS else ""
    told = f"turn {int(outcomes.turn[unit])}: {', '.join(slots[:_MOST_SLOTS])}{more}"
    return Regression(**{**vars(one), "first_wrong": told})


def _slots(outcomes: Outcomes, unit: int) -> Iterator[str]:
    """The wrong slots of a turn, with both values where they are known."""
    for _, slot, *values in outcomes.wrong_rows[outcomes.wrong_unit == unit].tolist():
        if min(values) < -1:  # right/wrong marks
            yield outcomes.slots[slot]
            continue
        ref, pred = ("(none)" if value < 0 else value_text(outcomes.values[value])[:60] for value in values)
        yield f"{outcomes.slots[slot]} {ref} -> {pred}"
