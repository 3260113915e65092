"""Which system is better depends: on lambda, on the protocol, on the dialogues drawn, on the metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations
from typing import Any, TypeAlias, Unpack

import numpy as np

from dsteval import readers
from dsteval.analysis.differences import Difference, difference_of, with_holm
from dsteval.analysis.every_protocol import check_only, chosen_protocols, reference_slots, under_each
from dsteval.errors import ProtocolError, require
from dsteval.metrics import Metric, parse
from dsteval.outcomes.table import Array
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input, keep_dialogues, open_again, read_references
from dsteval.pipeline.run import Settings
from dsteval.protocols.model import load
from dsteval.readers import Source
from dsteval.results.aligned import AlignedCounts, aligned_counts, check_same_dialogues
from dsteval.results.result import Result, or_none
from dsteval.stats.agreement import kendall
from dsteval.stats.bootstrap import TOLERANCE, too_few
from dsteval.stats.intervals import Intervals
from dsteval.stats.power import check_share
from dsteval.stats.ranking import wins


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
    require(len(systems) >= 2, "systems", "at least 2", len(systems))
    reference = None if ref is None else open_again(ref, "reference")
    sources = {name: open_again(system, name) for name, system in systems.items()}
    slots = _reference_slots(reference, sources, options)
    options |= Settings(ci=None, changes=False)

    def points(protocol: str) -> tuple[float, ...]:
        results, values = [], []
        for name, source in sources.items():
            result = evaluate(reference, source, metrics=[metric], protocol=protocol, name=name, **options)
            if (value := result.scores[0].value) is None:
                raise ProtocolError(
                    where=f"protocol {protocol}, {name}", problem=f"{metric} is undefined ({result.scores[0].why})"
                )
            check_only(protocol, load(protocol), slots)
            values.append(value)
            results.append(result)
        check_same_dialogues(results)
        return tuple(values)

    values, reasons = under_each(chosen_protocols(protocols), points, progress)
    base = next(iter(values))
    lower = parse(metric).lower_is_better
    entries = tuple(_entry(one, own, values[base], tuple(systems), lower) for one, own in values.items())
    shares = [[(rank == 1) / entry.ranks.count(1) for rank in entry.ranks] for entry in entries]
    firsts = tuple(math.fsum(share) for share in zip(*shares, strict=True))
    return ProtocolRanking(str(metric), tuple(systems), base, entries, firsts, reasons)


def _reference_slots(reference: Source | None, sources: Mapping[str, Source], options: Settings) -> set[str]:
    """The slots of the reference; files are read here, once for all protocols."""
    field = options.get("ref_field")
    own = readers.Options(options.get("updates", False), field if reference is None else None)
    files = [keep_dialogues(source, options.get("format"), own) for source in sources.values()]
    if reference is None:
        return reference_slots(chain.from_iterable(files))
    return reference_slots(read_references(reference, options.get("ref_format"), readers.Options(False, field)))


_Points: TypeAlias = tuple[float, ...]


def _entry(
    protocol: str, values: _Points, base: _Points, systems: Sequence[str], lower_is_better: bool
) -> UnderProtocol:
    better = -1 if lower_is_better else 1
    places = [[1 + sum(better * (b - a) > TOLERANCE for b in side) for a in side] for side in (values, base)]
    pairs = combinations(zip(systems, *places, strict=True), 2)
    swapped = tuple((a[0], b[0]) for a, b in pairs if (a[1] - b[1]) * (a[2] - b[2]) < 0)
    tau = or_none(kendall(*map(np.array, places)))
    return UnderProtocol(protocol, values, tuple(places[0]), tau, swapped)


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
    results: Sequence[Result], metrics: Sequence[str | Metric] | None = None, intervals: Intervals | None = None
) -> ResampleRanking:
    """How often each system takes each rank, were other dialogues drawn; all metrics over the same draws.

    Raises as ``aligned_counts`` does for results that cannot stand side by side.
    """
    intervals = intervals or Intervals()
    aligned = aligned_counts(results, metrics)
    standings = tuple(_standing(aligned, *drawn) for drawn in aligned.resampled(intervals).items())
    return ResampleRanking(aligned.systems, aligned.dialogues, intervals.resamples, intervals.seed, standings)


def _standing(aligned: AlignedCounts, text: str, drawn: Sequence[Array | None]) -> Standing:
    points = tuple(aligned.points(text))
    known = [one for one in drawn if one is not None]
    if len(known) < len(drawn):
        undefined = [name for name, point in zip(aligned.systems, points, strict=True) if math.isnan(point)]
        why = f"undefined for {', '.join(undefined)}" if undefined else too_few(aligned.dialogues)
        return Standing(text, points, None, None, note=why)
    values = np.round(np.stack(known), 12)  # those that differ by rounding are ties
    shares = wins(-values if aligned.metrics[text].lower_is_better else values)
    if not shares.resamples_used:
        return Standing(text, points, None, None, shares.dropped, "undefined in every resample")
    ranks = tuple(map(tuple, shares.ranks.tolist()))
    return Standing(text, points, tuple(shares.best.tolist()), ranks, shares.dropped)


@dataclass(frozen=True)
class Separation:
    """How many of the pairs that have a p one metric tells apart, plainly and after Holm; shares None without."""

    metric: str
    pairs: tuple[Difference, ...]
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
        metrics = [vars(one) | {"pairs": [pair.to_dict(*_PAIR) for pair in one.pairs]} for one in self.metrics]
        return vars(self) | {"metrics": metrics}


_PAIR = ("a", "b", "difference", "low", "high", "p", "p_holm", "note")


def discriminative_power(
    results: Sequence[Result],
    metrics: Sequence[str | Metric] | None = None,
    intervals: Intervals | None = None,
    alpha: float = 0.05,
) -> Discrimination:
    """The share of pairs of systems that each metric separates at ``alpha``, by the paired bootstrap.

    All metrics over the same draws. Plain p values count single tests; after Holm, all pairs of one metric are
    one family. A p is never below 2 / (1 + resamples): many pairs under Holm ask for more resamples. Raises as
    ``aligned_counts`` does, and OptionError for an alpha outside 0..1.

    Reference: Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.
    """
    check_share("alpha", alpha)
    intervals = intervals or Intervals()
    aligned = aligned_counts(results, metrics)
    drawn = aligned.resampled(intervals)
    if intervals.level is None:
        intervals = replace(intervals, level=1 - alpha)
    separations = tuple(_separation(aligned, *each, intervals, alpha) for each in drawn.items())
    draws = (intervals.resamples, intervals.seed)
    return Discrimination(*aligned[:3], alpha, *draws, separations, too_few(aligned.dialogues))


def _separation(
    aligned: AlignedCounts, text: str, drawn: Sequence[Array | None], intervals: Intervals, alpha: float
) -> Separation:
    systems = zip(aligned.systems, aligned.counts[text], drawn, strict=True)
    metric = aligned.metrics[text]
    pairs = tuple(with_holm([difference_of(text, metric, *two, intervals) for two in combinations(systems, 2)]))
    plain = [pair.p for pair in pairs if pair.p is not None]
    after = [pair.p_holm for pair in pairs if pair.p_holm is not None]
    separated, holm = (sum(p <= alpha for p in values) for values in (plain, after))
    share, share_holm = (number / len(plain) if plain else None for number in (separated, holm))
    return Separation(text, pairs, len(plain), separated, share, holm, share_holm)
