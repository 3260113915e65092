"""What metrics count and divide with: sums per dialogue, fractions kept in integers, quotients."""

import math
from typing import TypeAlias

import numpy as np

from dsteval.errors import MetricError
from dsteval.outcomes.table import Array, Outcomes

Counts: TypeAlias = Array
"""Additive columns [dialogues, columns]: integers wherever possible. Columns that one part of the data lacks
are zeros at the right end."""

MOST_CELLS = 1 << 29
"""How many counts a metric may keep of all dialogues: 4 GiB."""


def total(counts: Counts) -> Array:
    """The sum over dialogues; floats are added without rounding on the way, so that order does not matter."""
    if counts.dtype.kind == "f":
        return np.array([math.fsum(column) for column in counts.T])
    return np.asarray(counts.sum(axis=0, dtype=np.int64))


def ratio(numerator: Array, denominator: Array) -> Array:
    """A quotient, NaN where the denominator is 0."""
    denominator = np.asarray(denominator, dtype=float)
    out = np.full(np.broadcast_shapes(np.shape(numerator), denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def per_dialogue(outcomes: Outcomes, *columns: Array | int) -> Counts:
    """Sums of columns [U] over the turns of each dialogue that count: [D, len(columns)], integers if all are.

    The column 1 counts the turns.
    """
    chosen, dialogue, size = outcomes.counted, outcomes.dialogue_of, len(outcomes.dialogues)
    sums = np.stack([np.bincount(dialogue, column * chosen, minlength=size) for column in columns], axis=1)
    return sums if any(np.asarray(column).dtype.kind == "f" for column in columns) else sums.astype(np.int64)


def mean_counts(outcomes: Outcomes, scores: Array) -> Counts:
    """Per dialogue: the units whose score [U] is not NaN, and the sum of these scores [D, 2]."""
    known = ~np.isnan(scores)
    return per_dialogue(outcomes, known, np.where(known, scores, 0.0))


def per_denominator(outcomes: Outcomes, numerator: Array, denominator: Array) -> Counts:
    """Sums of numerators apart by denominator, for a mean of fractions kept in integers.

    Columns: turns with a denominator above 0, then the sums of numerators over 1, 2, 3, ...
    """
    chosen = (outcomes.counted != 0) & (denominator > 0)
    return per_column(outcomes, chosen, denominator, int(denominator.max(initial=1)) + 1, numerator[chosen])


def per_column(
    outcomes: Outcomes, chosen: Array, column: Array, width: int, weights: Array | None = None
) -> Counts:
    """Units that are chosen, then how many of them, or the sums of their weights, have each column above 0."""
    dialogue, size = outcomes.dialogue_of[chosen], len(outcomes.dialogues)
    if size * width > MOST_CELLS:
        longest = int(np.diff(outcomes.offsets).argmax())
        raise MetricError(
            where=f"dialogue {outcomes.dialogues[longest]!r}",
            expected=f"at most {MOST_CELLS} counts (dialogues times distances)",
            found=f"{size} times {width}",
            remedy="Score the longest dialogues separately.",
        )
    sums = np.bincount(dialogue * width + column[chosen], weights, minlength=size * width)
    counts = sums.astype(np.int64).reshape(size, width)
    counts[:, 0] = np.bincount(dialogue, minlength=size)
    return counts


def in_order(columns: Array) -> Array:
    """The sum of columns [..., columns], added one after the other.

    Zeros at the right change no digit of it, which numpy's own order of summation does not promise: what a
    dialogue scores must not depend on how wide its neighbours make the counts.
    """
    summed: Array = np.cumsum(columns, axis=-1)[..., -1] if columns.shape[-1] else columns.sum(axis=-1)
    return summed


def at_turns(outcomes: Outcomes, turns: str) -> Outcomes:
    """The outcomes with ``turns=last`` counted at the last turn of each dialogue only."""
    if turns == "all":
        return outcomes
    last = np.zeros(len(outcomes), dtype=bool)
    last[outcomes.offsets[1:][np.diff(outcomes.offsets) > 0] - 1] = True
    return outcomes.with_scope(outcomes.n_slots, last & (outcomes.counted != 0))
