"""What an evaluation returns: scores with what was counted, coverage, and their JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from dsteval.align.fingerprint import Fingerprint
from dsteval.align.pairing import Coverage
from dsteval.errors import MetricError, unknown
from dsteval.metrics import Counts, Metric, parse
from dsteval.outcomes.error_records import ErrorRecord
from dsteval.outcomes.table import Outcomes
from dsteval.prepare.states import Change
from dsteval.results import html
from dsteval.stats.bootstrap import Interval

__all__ = ["SCHEMA", "Result", "Score", "SliceScores", "document", "to_json"]

SCHEMA = 1
"""The version of the JSON."""

COLUMNS = 2
"""The version of the columns that metrics keep per dialogue: 2 since |S| is no part of them."""


@dataclass(frozen=True)
class Score:
    """One number.

    ``value`` is a fraction, or None where it is undefined; then ``why`` says why. ``count`` and ``total`` are
    the two integers of a ratio of counts; of a mean ``count`` is None and ``total`` the units averaged. ``low``,
    ``high`` and the standard ``error`` are None without an interval; then ``no_interval`` says why, if one was
    asked for. ``dropped`` counts resamples in which the metric is undefined. ``signature`` names every setting
    that can move the number.
    """

    metric: str
    value: float | None
    count: int | None
    total: int | None
    signature: str
    low: float | None = None
    high: float | None = None
    error: float | None = None
    dropped: int = 0
    no_interval: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The score as it stands in the JSON."""
        entry: dict[str, Any] = {
            "metric": self.metric,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "error": self.error,
            "count": self.count,
            "total": self.total,
            "signature": self.signature,
        }
        for name in ("dropped", "no_interval"):
            if getattr(self, name):
                entry[name] = getattr(self, name)
        return entry | {"why": self.why} if self.value is None else entry


@dataclass(frozen=True)
class SliceScores:
    """The scores of one slice: of what, which, by which convention its turns count, and how many they are."""

    by: str
    key: str
    convention: str
    turns: int
    scores: tuple[Score, ...]

    def to_dict(self) -> dict[str, Any]:
        """The slice as it stands in the JSON."""
        return {
            "by": self.by,
            "key": self.key,
            "convention": self.convention,
            "turns": self.turns,
            "scores": [score.to_dict() for score in self.scores],
        }


@dataclass(frozen=True, eq=False)
class Result:
    """The scores of one system under one protocol; ``result["JGA"]`` is one of them.

    ``notes`` are sentences that a reader of the numbers should know; ``changes`` are the values that the
    protocol rewrote, ``errors`` every error, where these were asked for. ``counts`` is what each metric counted
    per dialogue, in the order of ``dialogues``, ``turns_per_dialogue`` their turns; ``outcomes`` is the
    table behind them, None where the result was saved and loaded. ``reference_hash`` is the hash of the labels,
    ``protocol_hash`` that of the protocol.
    """

    name: str
    source: str
    protocol: str
    coverage: Coverage
    scores: tuple[Score, ...]
    dialogues: tuple[str, ...]
    turns_per_dialogue: tuple[int, ...]
    n_slots: int
    reference_hash: Fingerprint
    protocol_hash: str
    outcomes: Outcomes | None = None
    counts: dict[str, Counts] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    slices: tuple[SliceScores, ...] = ()
    changes: tuple[Change, ...] | None = None
    errors: tuple[ErrorRecord, ...] | None = None

    def __getitem__(self, metric: str | Metric) -> Score:
        """The score of a metric, by its text or itself. Raises MetricError for one that was not asked for."""
        text = str(parse(metric) if isinstance(metric, str) else metric)
        for score in self.scores:
            if score.metric == text:
                return score
        known = [score.metric for score in self.scores]
        raise MetricError(unknown("score", text, known))

    def per_dialogue(self, metric: str | Metric) -> dict[str, float]:
        """The metric of each dialogue on its own, NaN where it is undefined there.

        Raises MetricError for a metric that was not asked for or that these outcomes do not give.
        """
        score = self[metric]
        if score.metric not in self.counts:
            raise MetricError(where=score.metric, found=f"no value: {score.why}")
        values = self.metrics[score.metric].value(self.counts[score.metric])
        return dict(zip(self.dialogues, map(float, values), strict=True))

    def to_dict(self, keep: bool = False) -> dict[str, Any]:
        """The whole JSON document, with this result as its only system; ``keep`` as for ``document``."""
        return document([self], keep)

    def system(self, keep: bool = False) -> dict[str, Any]:
        """This result's entry under ``systems``, with the counts per dialogue if they are to be kept."""
        entry: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "protocol": self.protocol,
            "coverage": self.coverage.to_dict(),
            "scores": [score.to_dict() for score in self.scores],
            "slices": [one.to_dict() for one in self.slices],
            "notes": list(self.notes),
        }
        if self.changes is not None:
            entry["changes"] = [change._asdict() for change in self.changes]
        if keep:
            entry["per_dialogue"] = self._per_dialogue()
        return entry

    def _per_dialogue(self) -> dict[str, Any]:
        """What is needed to count anew: each kind of counts once, rows without the zeros at their right."""
        by_key = {count_text(self.metrics[text]): counts for text, counts in self.counts.items()}
        return {
            "dialogues": list(self.dialogues),
            "turns": list(self.turns_per_dialogue),
            "slots": self.n_slots,
            "columns": COLUMNS,
            "settings": self.protocol_hash,
            "reference": [self.reference_hash.total, self.reference_hash.dialogues],
            "metrics": {text: str(metric) for text, metric in self.metrics.items()},
            "counts": {key: list(map(_trimmed, counts.tolist())) for key, counts in by_key.items()},
        }

    def _repr_html_(self) -> str:
        """The scores as a table, for notebooks."""
        rows = [[html.cell(score.metric), *map(html.cell, self._pieces(score))] for score in self.scores]
        title = f"{self.name}: {self.coverage.scored_turns} turns, protocol {self.protocol}"
        signature = self.scores[0].signature.partition("|")[2] if self.scores else ""
        table = html.table(["metric", "value", "interval", "counted"], rows, title)
        return html.page(table, notes=["per cent, but for what counts turns", *self.notes, signature])

    def __str__(self) -> str:
        width = max((len(score.metric) for score in self.scores), default=0)
        head = f"{self.name}  {self.coverage.scored_turns} turns, protocol {self.protocol}"
        return "\n".join(
            [head, *(f"  {score.metric:<{width}}  {self._shown(score)}" for score in self.scores), *self.notes]
        )

    def _shown(self, score: Score) -> str:
        """A score with its interval and what was counted, in per cent where the metric is."""
        if score.value is None:
            return f"undefined: {score.why}"
        value, between, counted = self._pieces(score)
        return "  ".join(filter(None, (f"{value:>6}", between, counted)))

    def _pieces(self, score: Score) -> tuple[str, str, str]:
        """Value, interval and what was counted, as texts; the reason in the place of the last if undefined."""
        if score.value is None:
            return "undefined", "", score.why
        scale = self.metrics[score.metric].scale
        counted = f"{score.total}" if score.count is None else f"{score.count} / {score.total}"
        between = ""
        if score.low is not None and score.high is not None:
            between = f"{scale * score.low:.2f} .. {scale * score.high:.2f}"
        return f"{scale * score.value:.2f}", between, counted


def score(metric: Metric, text: str, sums: Any, signature: str, interval: Interval | None = None) -> Score:
    """The score of summed columns, with its interval if there is one."""
    value = float(metric.value(sums))
    count, total = metric.ratio(sums)
    if math.isnan(value):
        return Score(text, None, count, total, signature, why=metric.undefined_reason)
    found = Score(text, value, count, total, signature)
    if interval is None:
        return found
    if math.isnan(interval.low):
        return replace(found, no_interval=interval.note, dropped=interval.dropped)
    low, high, error, _, dropped, note = interval
    return replace(found, low=low, high=high, error=error, dropped=dropped, no_interval=note)


def count_text(metric: Metric) -> str:
    """The text under which a metric's counts are kept: without its number, if any number counts the same."""
    plain = replace(metric, number=None)
    return str(plain if plain.count_key == metric.count_key else metric)


def _trimmed(row: list[float]) -> list[float]:
    while row and row[-1] == 0:
        row.pop()
    return row


def document(results: Iterable[Result], keep: bool = False) -> dict[str, Any]:
    """The JSON document of several systems; ``keep`` puts the counts per dialogue in, for ``saved.load``."""
    return {"schema": SCHEMA, "systems": [result.system(keep) for result in results], "comparisons": []}


def or_none(number: float) -> float | None:
    """What is undefined: NaN inside, None outside."""
    return None if math.isnan(number) else number


def finite(value: Any) -> Any:
    """A value as JSON can have it: infinity is the text ``inf``."""
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def to_json(value: Any, indent: int = 2) -> str:
    """Strict JSON, indented: a number that is not finite becomes null, never NaN."""
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode() + "\n"
