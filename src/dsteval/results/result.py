"""What an evaluation returns: scores with what was counted, coverage, and their JSON."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from dsteval.align.coverage import Coverage
from dsteval.align.fingerprint import Fingerprint
from dsteval.errors import MetricError, foreign, require, unknown
from dsteval.metrics import Counts, Metric, parse
from dsteval.outcomes.error_records import ErrorRecord
from dsteval.outcomes.table import Outcomes
from dsteval.prepare.states import Change
from dsteval.registry import is_ours
from dsteval.results import html
from dsteval.results.columns import Columns
from dsteval.results.frames import error_frame, score_frame, turn_frame
from dsteval.results.numbers import interval, number
from dsteval.results.partition import Partition
from dsteval.stats.bootstrap import Interval
from dsteval.stats.intervals import Intervals

SCHEMA = 1
"""The version of the JSON."""

COLUMNS = 2
"""The version of the columns that metrics keep per dialogue: 2 since |S| is no part of them. A metric whose
columns change raises it, and its own ``columns_since``."""


@dataclass(frozen=True)
class Score:
    """The value of one metric, with its interval and counts.

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
        names = ("metric", "value", "low", "high", "error", "count", "total", "signature")
        entry = {name: getattr(self, name) for name in names}
        entry |= {name: kept for name in ("dropped", "no_interval") if (kept := getattr(self, name))}
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
        return {**vars(self), "scores": [score.to_dict() for score in self.scores]}


@dataclass(frozen=True, eq=False)
class Result:
    """The scores of one system under one protocol; ``result["JGA"]`` is one of them.

    ``partition`` holds what was counted, and all ``scores`` come from it, by ``metrics`` (as resolved, by the text
    that was asked for), with ``intervals``. ``signature`` are the pieces of the scores' signatures without the
    metric, ``n_slots`` is |S|, ``protocol_hash`` the hash of the protocol's settings. ``notes`` are sentences
    about what was left out or looks odd; ``changes`` are the values that the protocol rewrote, ``errors`` every
    error, where these were asked for. ``outcomes`` is the table behind the counts, None where the result was
    saved and loaded.
    """

    name: str
    source: str
    protocol: str
    protocol_hash: str
    partition: Partition
    metrics: dict[str, Metric]
    n_slots: int
    signature: tuple[str, ...]
    intervals: Intervals
    notes: tuple[str, ...] = ()
    slices: tuple[SliceScores, ...] = ()
    changes: tuple[Change, ...] | None = None
    errors: tuple[ErrorRecord, ...] | None = None
    outcomes: Outcomes | None = None

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The score of every metric, in the order in which they were asked for."""
        return tuple(scored(self.partition, self.metrics, self.signature, self.intervals))

    @property
    def counts(self) -> dict[str, Counts]:
        """What each metric counted [dialogues, columns], by its text; undefined ones are not there."""
        return self.partition.counts_of(self.metrics)

    @property
    def dialogues(self) -> tuple[str, ...]:
        """The ids of the dialogues that were scored."""
        return self.partition.dialogues

    @property
    def turns_per_dialogue(self) -> tuple[int, ...]:
        """How many turns each of the dialogues has."""
        return self.partition.turns_per_dialogue

    @property
    def coverage(self) -> Coverage:
        """Which dialogues and turns of the reference were scored."""
        return self.partition.coverage

    @property
    def reference_hash(self) -> Fingerprint:
        """The hash of the labels."""
        return self.partition.reference_hash

    def __getitem__(self, metric: str | Metric) -> Score:
        """The score of a metric, by its text or itself. Raises MetricError for one that was not asked for."""
        text = str(parse(metric) if isinstance(metric, str) else metric)
        for score in self.scores:
            if score.metric == text:
                return score
        raise MetricError(unknown("score", text, list(self.metrics)))

    def per_dialogue(self, metric: str | Metric) -> dict[str, float]:
        """The metric of each dialogue on its own, NaN where it is undefined there.

        Raises MetricError for a metric that was not asked for or that these outcomes do not give.
        """
        score = self[metric]
        counts = self.counts.get(score.metric)
        if counts is None:
            raise MetricError(where=score.metric, found=f"undefined ({score.why})")
        values = self.metrics[score.metric].value(counts)
        return dict(zip(self.dialogues, map(float, values), strict=True))

    def to_frame(self) -> Columns:
        """The scores as fractions, a row each, those of slices below those of the whole.

        >>> from dsteval import evaluate
        >>> frame = evaluate({"d": [{"a-b": "c"}]}, {"d": [{}]}, metrics=["JGA", "SlotF1"]).to_frame()
        >>> frame["metric"], frame["value"]
        (['JGA', 'SlotF1'], [0.0, 0.0])
        """
        return score_frame(self.name, self.protocol, self.scores, self.slices)

    def turns(self, metric: str | Metric = "FGA@0.5") -> Columns:
        """What came of every turn, a row each; ``weight`` is what the FGA metric gives it, 0 to 1.

        ``right``: the whole state; ``type``: "exact", "type 1" (a new error) or "type 2" (inherited ones), None as
        is the weight where FGA is undefined. Raises OptionError without outcomes, or for another metric.

        >>> from dsteval import evaluate
        >>> next(evaluate({"d": [{"a-b": "c"}]}, {"d": [{}]}).turns().rows())
        {'dialogue': 'd', 'turn': 0, 'right': False, 'type': 'type 1', 'weight': 0.0, 'wrong_slots': ['a-b']}
        """
        return turn_frame(self.outcomes, self.name, metric)

    def error_frame(self) -> Columns:
        """Every error, a row each, with the fields of ErrorRecord. Raises OptionError without ``errors=True``."""
        return error_frame(self.errors, self.name)

    def __repr__(self) -> str:
        shown = ", ".join(f"{score.metric[:40]} {self._shown(score).split()[0]}" for score in self.scores[:3])
        return f"Result({self.name[:60]!r}, {self.protocol[:40]}, {len(self.scores)} scores: {shown})"

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
            "slices": [part.to_dict() for part in self.slices],
            "notes": list(self.notes),
        }
        if self.changes is not None:
            entry["changes"] = [change._asdict() for change in self.changes]
        if keep:
            entry["per_dialogue"] = self._per_dialogue()
            entry["checksum"] = checksum(entry)
        return entry

    def _per_dialogue(self) -> dict[str, Any]:
        """What is needed to count anew: each kind of counts once, rows without the zeros at their right."""
        by_key = {self.metrics[text].count_text: counts for text, counts in self.counts.items()}
        return {
            "dialogues": list(self.dialogues),
            "turns": list(self.turns_per_dialogue),
            "slots": self.n_slots,
            "slot_names": list(self.partition.slots),
            "columns": COLUMNS,
            "settings": self.protocol_hash,
            "reference": [self.reference_hash.total, self.reference_hash.dialogues],
            "metrics": {text: str(metric) for text, metric in self.metrics.items()},
            "counts": {key: list(map(_trimmed, counts.tolist())) for key, counts in by_key.items()},
            "widths": {key: counts.shape[1] for key, counts in by_key.items()},
        }

    def _repr_html_(self) -> str:
        """The scores as a table, for notebooks."""
        rows = [[html.cell(score.metric), *map(html.cell, self._pieces(score))] for score in self.scores]
        title = f"{self.name}: {self.coverage.scored_turns} turns, protocol {self.protocol}"
        signature = "|".join(self.signature) if self.scores else ""
        notes = ["in %; counts in turns", *self.notes, signature]
        return html.table(["metric", "value", "interval", "counted"], rows, title, notes)

    def __str__(self) -> str:
        width = max(map(len, self.metrics), default=0)
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
        return str(number(score.value, scale)), interval(score.low, score.high, scale) or "", counted


def checksum(entry: Mapping[str, Any]) -> str:
    """Twelve hexadecimal digits over all of a system's entry but these: what was edited by hand does not fit."""
    content = finite({key: value for key, value in entry.items() if key != "checksum"})
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()[:12]


def scored(
    partition: Partition, metrics: Mapping[str, Metric], signature: Sequence[str], intervals: Intervals
) -> Iterator[Score]:
    """The score of each metric from what was counted: summed, divided, with its interval."""
    sums = partition.sums_of(metrics)
    for text in sums:
        if not is_ours(metrics[text]):
            _check_foreign(metrics[text], sums[text])
    interval_of: dict[str, Interval | None] = dict.fromkeys(sums)
    if intervals.level is not None:
        counts = partition.counts_of(metrics)
        found = intervals.of(((metrics[text], counts[text]) for text in sums), partition.dialogues)
        interval_of = dict(zip(sums, found, strict=True))
    for text, metric in metrics.items():
        signed = "|".join([str(metric), *signature])
        if text in sums:
            yield _score(metric, text, sums[text], signed, interval_of[text])
        else:
            yield Score(text, None, None, None, signed, why=partition.unavailable[str(metric)])


def _check_foreign(metric: Metric, sums: Counts) -> None:
    """Raise MetricError where a metric of another package gives no number."""
    with foreign(f"metric {metric.name}"):
        value = np.asarray(metric.value(sums))
        metric.ratio(sums)
    number = value.ndim == 0 and value.dtype.kind in "iuf" and not np.isinf(value)
    require(
        number, f"metric {metric.name}", "one finite number, or NaN, as its value", str(value)[:60], MetricError
    )


def _score(metric: Metric, text: str, sums: Counts, signature: str, interval: Interval | None) -> Score:
    """The score of summed columns, with its interval if there is one."""
    value = float(metric.value(sums))
    count, number = metric.ratio(sums)
    if math.isnan(value):
        return Score(text, None, count, number, signature, why=metric.undefined_reason)
    score = Score(text, value, count, number, signature)
    if interval is None:
        return score
    if math.isnan(interval.low):
        return replace(score, no_interval=interval.note, dropped=interval.dropped)
    low, high, error, _, dropped, note = interval
    return replace(score, low=low, high=high, error=error, dropped=dropped, no_interval=note)


def signed(signature: Sequence[str], **pieces: object) -> tuple[str, ...]:
    """A signature's pieces with some of them changed, by their names.

    >>> signed(["proto:exact@1", "S:30", "v:1"], S=31)
    ('proto:exact@1', 'S:31', 'v:1')
    """
    names = [piece.partition(":")[0] for piece in signature]
    changed = {name: f"{name}:{value}" for name, value in pieces.items()}
    return tuple(changed.get(name, piece) for name, piece in zip(names, signature, strict=True))


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
    """A value as JSON can have it: infinity, at any depth, is the text ``inf``."""
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(finite, value))
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def to_json(value: Any, indent: int = 2) -> str:
    """Strict JSON, indented: a number that is not finite becomes null, never NaN."""
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode() + "\n"
