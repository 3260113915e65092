"""Scores paired with ratings, and bootstrap resamples of both: conversations and raters, two levels at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dsteval.errors import require_known
from dsteval.outcomes.table import Array
from dsteval.rating.ratings import Ratings
from dsteval.results.result import or_none
from dsteval.stats.bootstrap import draws, percentile
from dsteval.stats.intervals import Intervals

AGAINST = ("mean", "each")
"""A conversation against the mean of its ratings, or against each of them."""


class Resample(NamedTuple):
    """Rows of resamples [R, conversations]: weights, and the weighted sums of ratings and of their squares."""

    weight: Array
    first: Array
    second: Array


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """What a coefficient is made of: pair u is conversation ``row[u]`` with a ``rating``, ``weight`` times.

    ``values`` [conversations, raters] are the ratings themselves, ``group`` [conversations] tells which ones are
    drawn together.
    """

    against: str
    values: Array
    group: Array
    row: Array
    rating: Array
    weight: Array

    @property
    def groups(self) -> int:
        """How many there are to be drawn."""
        return int(self.group.max(initial=-1)) + 1

    def centred(self) -> RatedPairs:
        """The same with ratings that have a mean near 0, which no coefficient minds."""
        middle = float(np.nanmean(self.values))
        return replace(self, values=self.values - middle, rating=self.rating - middle)

    def without(self, left_out: Array) -> RatedPairs:
        """The same without some conversations [conversations]."""
        return replace(self, weight=np.where(left_out[self.row], 0.0, self.weight))


def paired(ratings: Ratings, against: str = "mean", group: Sequence[str] | None = None) -> RatedPairs:
    """The pairs of rated conversations; those with one name in ``group`` are drawn together.

    Raises OptionError for an unknown word.
    """
    require_known("value of --against", against, AGAINST)
    values = ratings.values
    each = np.arange(len(values))
    places = {name: number for number, name in enumerate(dict.fromkeys(group or ()))}
    groups = each if group is None else np.array([places[name] for name in group], dtype=int)
    if against == "mean":
        return RatedPairs(against, values, groups, each, np.nanmean(values, axis=1), np.ones(len(values)))
    distinct = np.unique(values[~np.isnan(values)])
    times = (values[:, :, None] == distinct).sum(axis=1)
    row, column = np.nonzero(times)
    return RatedPairs(against, values, groups, row, distinct[column], times[row, column].astype(float))


def resamples(pairs: RatedPairs, intervals: Intervals) -> Iterator[Resample]:
    """Resampled conversations and raters, in blocks of rows."""
    given = ~np.isnan(pairs.values)
    plain = np.where(given, pairs.values, 0.0)
    for drawn, raters in _draws(pairs, intervals):
        count = raters @ given.T
        weight = drawn[:, pairs.group] * (count > 0)
        total = raters @ plain.T
        if pairs.against == "mean":
            mean = total / np.maximum(count, 1)
            yield Resample(weight, weight * mean, weight * mean**2)
        else:
            yield Resample(weight * count, weight * total, weight * (raters @ (plain**2).T))


def unit_resamples(pairs: RatedPairs, intervals: Intervals) -> Iterator[tuple[Array, Array]]:
    """The ratings and weights of all pairs, resample by resample: the same draws as ``resamples``."""
    given = ~np.isnan(pairs.values)
    plain = np.where(given, pairs.values, 0.0)
    said = pairs.values[pairs.row] == pairs.rating[:, None]
    for drawn, raters in _draws(pairs, intervals):
        for conversations, times in zip(drawn, raters, strict=True):
            weight = conversations[pairs.group].astype(float)
            if pairs.against == "mean":
                count = given @ times
                yield (plain @ times) / np.maximum(count, 1), weight * (count > 0)
            else:
                yield pairs.rating, weight[pairs.row] * (said @ times)


def bounds(drawn: Array, intervals: Intervals) -> tuple[float | None, float | None, int]:
    """The interval of resampled values, None where there is none, and how many of them are undefined."""
    found = percentile(drawn, intervals.level or 0.95)  # without a level nothing was drawn
    return or_none(found.low), or_none(found.high), found.dropped


def _draws(pairs: RatedPairs, intervals: Intervals) -> Iterator[tuple[Array, Array]]:
    """How often each group and each rater is drawn [rows, groups], [rows, raters]; a single rater always once.

    Nothing where no intervals are asked for, or there is a single group.
    """
    if intervals.level is None or pairs.groups < 2:
        return
    raters, number = pairs.values.shape[1], intervals.resamples
    # A single rater is drawn once each time.
    drawn_raters = np.concatenate(list(draws(raters, number, (intervals.seed + 1) % 2**64))).astype(float)
    start = 0
    for block in draws(pairs.groups, number, intervals.seed):
        yield block, drawn_raters[start : start + len(block)]
        start += len(block)
