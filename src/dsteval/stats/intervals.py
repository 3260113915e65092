"""How sure a number is: an interval for every score, by drawing dialogues again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import require_known, require_whole
from dsteval.metrics import Counts, Metric
from dsteval.outcomes.table import Array
from dsteval.stats.bootstrap import METHODS, Interval, check_level, check_resamples, interval, resampled, too_few


@dataclass(frozen=True)
class Intervals:
    """What intervals are made of: their ``level`` (None: there are none), how many ``resamples``, the ``seed``,
    and the ``method``, percentile or bca. Raises OptionError for values that make no sense.
    """

    level: float | None = 0.95
    resamples: int = 1000
    seed: int = 12345
    method: str = "percentile"

    def __post_init__(self) -> None:
        if self.level is not None:
            check_level(self.level)
        check_resamples(self.resamples)
        require_known("value of --interval", self.method, METHODS)
        require_whole("--seed", self.seed, range(2**64), "0 to 2^64 - 1")

    def signature(self) -> list[str]:
        """The settings as they stand in a score's signature."""
        if self.level is None:
            return []
        kind = "boot" if self.method == "percentile" else self.method
        level = [] if self.level == 0.95 else [f"level:{self.level:g}"]
        return [f"ci:{kind}{self.resamples}-dialogue", *level, f"seed:{self.seed}"]

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Intervals:
        """Those of a run's settings: ``ci``, ``resamples``, ``seed`` and ``interval``, as far as they are set."""
        names = {"ci": "level", "resamples": "resamples", "seed": "seed", "interval": "method"}
        return cls(**{name: settings[key] for key, name in names.items() if key in settings})

    @classmethod
    def signed(cls, pieces: Iterable[str]) -> Intervals:
        """The settings that stand in a signature."""
        known = dict(piece.split(":", 1) for piece in pieces if ":" in piece)
        made = re.fullmatch(r"(\w+?)(\d+)-dialogue", known.get("ci", ""))
        if made is None:
            return NO_INTERVALS
        method = "percentile" if made[1] == "boot" else made[1]
        return cls(float(known.get("level", 0.95)), int(made[2]), int(known.get("seed", cls.seed)), method)

    def of(self, counted: Iterable[tuple[Metric, Counts]], dialogues: Sequence[str]) -> list[Interval | None]:
        """The interval of each metric from its counts per dialogue, all over the same draws.

        ``dialogues`` are the ids: a file that holds them in another order has the same intervals. None where none
        is asked for.
        """
        pairs = list(counted)
        if self.level is None or not pairs:
            return [None] * len(pairs)
        if note := too_few(len(pairs[0][1])):
            return [Interval(note=note)] * len(pairs)
        level, method = self.level, self.method
        moved = in_drawing_order((counts for _, counts in pairs), dialogues)
        pairs = [(metric, moved[id(counts)]) for metric, counts in pairs]
        sums = self.sums([counts for _, counts in pairs])
        return [interval(counts, metric.value, sums[id(counts)], level, method) for metric, counts in pairs]

    def sums(self, counts: Sequence[Counts]) -> dict[int, Counts]:
        """Resampled sums by the id of the counts: metrics that share their counts are drawn once."""
        distinct = {id(one): one for one in counts}
        drawn = resampled(list(distinct.values()), len(next(iter(distinct.values()))), self.resamples, self.seed)
        return dict(zip(distinct, drawn, strict=True))


def drawing_order(dialogues: Sequence[str]) -> Array:
    """The places of the dialogues in the order in which draws number them: that of their ids.

    >>> drawing_order(["mul2", "MUL1.json", "mul3"]).tolist()
    [1, 0, 2]
    """
    keys = list(map(canonical_id, dialogues))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


def in_drawing_order(counts: Iterable[Counts], dialogues: Sequence[str]) -> dict[int, Counts]:
    """By the id of each counts its rows in that order; metrics that share their counts share them still."""
    order = drawing_order(dialogues)
    straight = np.array_equal(order, np.arange(len(order)))
    return {id(one): one if straight else one[order] for one in counts}


NO_INTERVALS = Intervals(level=None)
"""Numbers alone."""
