"""Which system is better depends: on lambda, on the protocol, on the dialogues drawn, on the metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from dsteval import readers
from dsteval.analysis.differences import bootstrapped, told
from dsteval.analysis.lambda_curve import LambdaRanking, over_lambda
from dsteval.dialogue import written_states
from dsteval.errors import DstevalError, OptionError, ProtocolError, first_few, unknown
from dsteval.metrics import Metric, parse
from dsteval.metrics.base import Array
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input, keep_dialogues, open_again, read_predictions, read_references
from dsteval.pipeline.run import Settings
from dsteval.protocols import model as protocols
from dsteval.readers import Source
from dsteval.results.aligned import AlignedCounts, check_same_dialogues, rows
from dsteval.results.result import Result, or_none
from dsteval.stats import paired, ranking
from dsteval.stats.bootstrap import TOLERANCE, too_few
from dsteval.stats.intervals import Intervals
from dsteval.values.slots import canonical

__all__ = [
    "Discrimination",
    "LambdaRanking",
    "Pair",
    "ProtocolRanking",
    "ResampleRanking",
    "Separation",
    "Standing",
    "UnderProtocol",
    "discriminative_power",
    "over_lambda",
    "over_protocols",
    "over_resamples",
]

BASE = "exact"
"""The protocol whose order the others' are held against."""


@dataclass(frozen=True)
class UnderProtocol:
    """One protocol: value and rank of every system (1 is best; equal values share a rank).

    ``tau`` is Kendall's tau-b to the order under ``exact``, None where either order is one tie; ``swapped`` lists
    the pairs of which the other one is ahead.
    """

    protocol: str
    values: tuple[float, ...]
    ranks: tuple[int, ...]
    tau: float | None
    swapped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ProtocolRanking:
    """What ``over_protocols`` returns; ``firsts`` counts the protocols that each system leads, ties shared.

    ``base`` is the protocol that the others are held against: ``exact``, or the first that applies.
    ``not_applicable`` tells why the others do not.
    """

    metric: str
    systems: tuple[str, ...]
    base: str
    protocols: tuple[UnderProtocol, ...]
    firsts: tuple[float, ...]
    not_applicable: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The ranking as JSON has it."""
        return asdict(self)


def over_protocols(
    ref: Input | None,
    systems: Mapping[str, Input],
    metric: str | Metric = "JGA",
    protocols: Sequence[str] | None = None,
    *,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[Settings],
) -> ProtocolRanking:
    """Rank systems under every protocol that applies to all of them, or those in ``protocols``.

    A metric is what each protocol means by it. ``progress`` is called with each protocol's name; the other
    options are those of ``evaluate``. A protocol does not apply where the systems cover different dialogues under
    it. Raises the DstevalError of the first protocol where none applies, OptionError for fewer than two systems.
    """
    if len(systems) < 2:
        raise OptionError(where="systems", expected="2 or more", found=str(len(systems)))
    reference = None if ref is None else open_again(ref, "reference")
    sources = {name: open_again(one, name) for name, one in systems.items()}
    slots = _reference_slots(reference, sources, options)
    quiet = options | Settings(ci=None, changes=False)
    values: dict[str, tuple[float, ...]] = {}
    reasons: dict[str, str] = {}
    first: DstevalError | None = None
    for one in _chosen(protocols):
        if progress is not None:
            progress(one)
        try:
            found = [
                _scored(one, reference, source, metric, slots, name, quiet) for name, source in sources.items()
            ]
            check_same_dialogues(found)
            values[one] = tuple(own for result in found if (own := result.scores[0].value) is not None)
        except DstevalError as error:
            first, reasons[one] = first or error, error.command_line
    if first is not None and not values:
        raise first
    base = next(iter(values))
    lower = (parse(metric) if isinstance(metric, str) else metric).lower_is_better
    entries = tuple(_entry(one, found, values[base], tuple(systems), lower) for one, found in values.items())
    shares = [[(rank == 1) / entry.ranks.count(1) for rank in entry.ranks] for entry in entries]
    firsts = tuple(math.fsum(share) for share in zip(*shares, strict=True))
    return ProtocolRanking(str(metric), tuple(systems), base, entries, firsts, reasons)


def _chosen(wanted: Sequence[str] | None) -> list[str]:
    known = protocols.names()
    for one in wanted or ():
        if one not in known and not one.endswith(".toml"):
            raise OptionError(unknown("protocol", one, known, "dsteval list protocols"))
    return list(dict.fromkeys((BASE, *(known if wanted is None else wanted))))


def _reference_slots(reference: Source | None, sources: Mapping[str, Source], options: Settings) -> frozenset[str]:
    """The slots of the reference; files are read here, once for all protocols."""
    field = options.get("ref_field")
    own = readers.Options(options.get("updates", False), field if reference is None else None)
    held = []
    for source in sources.values():
        keep_dialogues(source, options.get("format"), own)
        held.append(read_predictions(source, options.get("format"), own))
    if reference is not None:
        held = [read_references(reference, options.get("ref_format"), readers.Options(False, field))]
    return frozenset(
        canonical(slot)
        for dialogues in held
        for dialogue in dialogues
        for items in written_states(dialogue, "ref")
        for slot, _ in items
    )


def _scored(
    name: str,
    reference: Source | None,
    source: Source,
    metric: str | Metric,
    slots: frozenset[str],
    system: str,
    options: Settings,
) -> Result:
    """One system's result, which has a value; raises where the protocol does not apply."""
    result = evaluate(reference, source, metrics=[metric], protocol=name, name=system, **options)
    found = result.scores[0]
    if found.value is None:
        raise ProtocolError(where=f"protocol {name}, {system}", found=f"no {metric}: {found.why}")
    only = protocols.load(name).states.only
    odd = sorted(slots - set(map(canonical, only))) if only else []
    if odd:
        raise ProtocolError(
            where=f"protocol {name}",
            expected=f"a reference of its {len(only)} slots, the only ones it looks at",
            found=f"{len(odd)} others of {len(slots)} ({first_few(odd)})",
        )
    return result


def _entry(
    protocol: str,
    values: tuple[float, ...],
    base: tuple[float, ...],
    systems: tuple[str, ...],
    lower_is_better: bool,
) -> UnderProtocol:
    better = -1 if lower_is_better else 1
    ranks = tuple(1 + sum(_order(other, own) == better for other in values) for own in values)
    pairs = list(combinations(range(len(systems)), 2))
    here, there = ([_order(side[a], side[b]) for a, b in pairs] for side in (values, base))
    swapped = tuple(
        (systems[a], systems[b]) for (a, b), one, other in zip(pairs, here, there, strict=True) if one * other < 0
    )
    untied = sum(map(abs, here)) * sum(map(abs, there))
    agreeing = sum(one * other for one, other in zip(here, there, strict=True))
    return UnderProtocol(protocol, values, ranks, agreeing / math.sqrt(untied) if untied else None, swapped)


def _order(a: float, b: float) -> int:
    return 0 if abs(a - b) <= TOLERANCE else 1 if a > b else -1


@dataclass(frozen=True)
class Standing:
    """How the systems stand by one metric over resamples.

    ``best`` is the share of resamples that each system leads, ``ranks`` those in which it takes each rank, the
    first rank first; ties are shared. None with the reason in ``note``. ``dropped`` resamples are undefined.
    """

    metric: str
    values: tuple[float, ...]
    best: tuple[float, ...] | None
    ranks: tuple[tuple[float, ...], ...] | None
    dropped: int = 0
    note: str = ""


@dataclass(frozen=True)
class ResampleRanking:
    """What ``over_resamples`` returns."""

    systems: tuple[str, ...]
    dialogues: int
    resamples: int
    seed: int
    metrics: tuple[Standing, ...]

    def to_dict(self) -> dict[str, Any]:
        """The ranking as JSON has it."""
        return asdict(self)


def over_resamples(
    results: Sequence[Result],
    metrics: Sequence[str | Metric] | None = None,
    intervals: Intervals | None = None,
) -> ResampleRanking:
    """How often each system takes each rank, were other dialogues drawn; all metrics over the same draws.

    Raises as ``rows.rows`` does for results that cannot stand side by side.
    """
    intervals = intervals or Intervals()
    lined = rows(results, metrics)
    drawn = lined.resampled(intervals)
    standings = tuple(_standing(lined, text, drawn[text]) for text in lined.metrics)
    return ResampleRanking(lined.systems, lined.dialogues, intervals.resamples, intervals.seed, standings)


def _standing(lined: AlignedCounts, text: str, drawn: Sequence[Array | None]) -> Standing:
    points = tuple(lined.points(text))
    held = [one for one in drawn if one is not None]
    if len(held) < len(drawn):
        undefined = [name for name, point in zip(lined.systems, points, strict=True) if math.isnan(point)]
        why = f"undefined for {', '.join(undefined)}" if undefined else too_few(lined.dialogues)
        return Standing(text, points, None, None, note=why)
    values = _stacked(held)
    found = ranking.wins(-values if lined.metrics[text].lower_is_better else values)
    if not found.resamples_used:
        return Standing(text, points, None, None, found.dropped, "undefined in every resample")
    ranks = tuple(tuple(map(float, own)) for own in found.ranks)
    return Standing(text, points, tuple(map(float, found.best)), ranks, found.dropped)


def _stacked(values: Sequence[Array]) -> Array:
    """Values [systems, resamples], those that differ by rounding made equal."""
    stacked: Array = np.round(np.stack(values), 12)
    return stacked


@dataclass(frozen=True)
class Pair:
    """Two systems by one metric: a - b with its interval, p of the paired bootstrap, and p adjusted by Holm.

    None where it is undefined. ``note`` says how many resamples were left out, and why an interval is of another
    kind.
    """

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    note: str = ""


@dataclass(frozen=True)
class Separation:
    """How many of the pairs that have a p one metric tells apart, plainly and after Holm; shares None without."""

    metric: str
    pairs: tuple[Pair, ...]
    compared: int
    separated: int
    share: float | None
    separated_holm: int
    share_holm: float | None


@dataclass(frozen=True)
class Discrimination:
    """What ``discriminative_power`` returns; ``note`` says why nothing could be told apart."""

    systems: tuple[str, ...]
    dialogues: int
    turns: int
    alpha: float
    resamples: int
    seed: int
    metrics: tuple[Separation, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The separations as JSON has them."""
        return asdict(self)


def discriminative_power(
    results: Sequence[Result],
    metrics: Sequence[str | Metric] | None = None,
    intervals: Intervals | None = None,
    alpha: float = 0.05,
) -> Discrimination:
    """The share of pairs of systems that each metric separates at ``alpha``, by the paired bootstrap.

    All metrics over the same draws. Plain p values count single tests; after Holm, all pairs of one metric are
    one family. A p is never below 2 / (1 + resamples): many pairs under Holm ask for more resamples. Raises as
    ``rows.rows`` does, and OptionError for an alpha outside 0..1.

    Reference: Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.
    """
    if not 0 < alpha < 1:
        raise OptionError(where="alpha", expected="a share between 0 and 1", found=str(alpha))
    intervals = intervals or Intervals()
    lined = rows(results, metrics)
    drawn = lined.resampled(intervals)
    leveled = intervals if intervals.level is not None else replace(intervals, level=1 - alpha)
    found = tuple(_separation(lined, text, drawn[text], leveled, alpha) for text in lined.metrics)
    return Discrimination(
        lined.systems,
        lined.dialogues,
        lined.turns,
        alpha,
        intervals.resamples,
        intervals.seed,
        found,
        too_few(lined.dialogues),
    )


def _separation(
    lined: AlignedCounts, text: str, drawn: Sequence[Array | None], intervals: Intervals, alpha: float
) -> Separation:
    points, counts = lined.points(text), lined.counts[text]
    tests = []
    for a, b in combinations(range(len(points)), 2):
        own, values = (counts[a], counts[b]), (drawn[a], drawn[b])
        if own[0] is None or own[1] is None or values[0] is None or values[1] is None:
            tests.append((a, b, "", (points[a] - points[b], math.nan, math.nan, math.nan)))
        else:
            found = bootstrapped(lined.metrics[text], (own[0], own[1]), (values[0], values[1]), intervals)
            numbers = (found.difference, *found.interval[:2], found.p)
            tests.append((a, b, told(found.interval), numbers))
    plain = [test[-1][-1] for test in tests]
    adjusted = paired.holm(plain)
    pairs = []
    for (a, b, note, numbers), holm in zip(tests, adjusted, strict=True):
        difference, low, high, p = map(or_none, numbers)
        pairs.append(Pair(lined.systems[a], lined.systems[b], difference, low, high, p, or_none(holm), note))
    share, after = (ranking.discriminative_power(values, alpha) for values in (plain, adjusted))
    return Separation(
        text,
        tuple(pairs),
        share.pairs,
        share.separated,
        or_none(share.share),
        after.separated,
        or_none(after.share),
    )
