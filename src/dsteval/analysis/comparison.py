"""Two systems or more on the same dialogues: how far apart they are, and whether that means anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import Any, TypeAlias, Unpack

from dsteval import readers
from dsteval.analysis.baselines import BASELINES, baseline
from dsteval.analysis.differences import SHOWN, TESTS, Difference, SharedDraws, differences
from dsteval.dialogue import Dialogue, canonical_id
from dsteval.errors import AlignmentError, MetricError, OptionError, first_few, require, require_known
from dsteval.metrics import Metric, parse
from dsteval.pipeline.evaluation import evaluate
from dsteval.pipeline.inputs import Input, check_names, open_input, read_references
from dsteval.pipeline.run import Settings
from dsteval.protocols.model import Protocol
from dsteval.readers import Source
from dsteval.results import html
from dsteval.results.aligned import beside, check_alike, turns_by_id
from dsteval.results.columns import Columns
from dsteval.results.numbers import interval, number, p_value
from dsteval.results.result import Result, document, signed
from dsteval.results.saved import is_saved, joint, load, recounted
from dsteval.stats.bootstrap import TOLERANCE
from dsteval.stats.intervals import NO_INTERVALS, Intervals

_Reference: TypeAlias = "Source | list[Dialogue]"

ALPHA = 0.05
"""A system is marked as worse than the best where its p, after Holm, is at most this."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems on the same dialogues, and their differences; ``comparison["JGA", "a", "b"]`` is one Difference.

    ``baselines`` are not part of ``differences``. ``notes`` name dialogues that were left out.
    """

    systems: tuple[Result, ...]
    differences: tuple[Difference, ...]
    baselines: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: tuple[str, str, str]) -> Difference:
        """Metric, a, b. Raises MetricError for what was not compared."""
        metric, a, b = key
        for one in self.differences:
            if (one.metric, {one.a, one.b}) == (metric, {a, b}):
                return one if one.a == a else one.turned()
        raise MetricError(f"No comparison of {a!r} and {b!r} by {metric!r}.")

    def best(self, metric: str) -> list[str]:
        """The systems with the best value, more than one where they tie."""
        sign = -1 if parse(metric).lower_is_better else 1
        values = {one.name: sign * value for one in self.systems if (value := one[metric].value) is not None}
        return [name for name, value in values.items() if value >= max(values.values()) - TOLERANCE]

    def behind(self, metric: str) -> list[str]:
        """The systems that are significantly worse than each of the best, at 5 % after Holm."""
        # Of DialogueMatch the last is McNemar's; the first is that of the test that was asked for.
        p = {frozenset((d.a, d.b)): d.p_holm for d in reversed(self.differences) if d.metric == metric}
        apart = {pair for pair, value in p.items() if value is not None and value <= ALPHA}
        best = self.best(metric)
        others = [one.name for one in self.systems if best and one.name not in best]
        return [name for name in others if all(frozenset((name, top)) in apart for top in best)]

    def to_frame(self) -> Columns:
        """The differences, a row each: metric, both systems, difference as a fraction, CI, p and p by Holm."""
        return Columns.of(SHOWN, ([getattr(one, name) for name in SHOWN] for one in self.differences))

    def __repr__(self) -> str:
        names = [one.name[:40] for one in self.systems]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"Comparison({', '.join(names[:10])}{more}: {len(self.differences)} differences)"

    def to_dict(self, keep: bool = False) -> dict[str, Any]:
        """The JSON document; ``keep`` puts the counts per dialogue in, so that it can be loaded again."""
        whole = document(self.systems, keep) | {"comparisons": [one.to_dict(*SHOWN) for one in self.differences]}
        return whole | ({"baselines": [one.system() for one in self.baselines]} if self.baselines else {})

    def _repr_html_(self) -> str:
        """The systems side by side, the best of each column bold, for notebooks."""
        best = {name: self.best(name) for name in self.systems[0].metrics}

        def cell(system: Result, name: str) -> str:
            value = number(system[name].value, parse(name).scale) or ""
            return html.cell(value, bold=system.name in best[name])

        rows = [[html.cell(one.name), *(cell(one, name) for name in best)] for one in self.systems]
        return html.table(["system", *best], rows, notes=[*self.notes, *str(self).splitlines()])

    def __str__(self) -> str:
        width = max((len(f"{d.metric}  {d.a} - {d.b}") for d in self.differences), default=0)
        return "\n".join([*self.notes, *(_line(one, width) for one in self.differences)])


def _line(one: Difference, width: int) -> str:
    head = f"{f'{one.metric}  {one.a} - {one.b}':<{width}}"
    if one.difference is None:
        return f"{head}  undefined: {one.note}"
    between = interval(one.low, one.high, one.scale, sign=True, to=", ")
    p = (
        f"  p {p_value(one.p, floor=one.floor)}, after Holm {p_value(one.p_holm)}"
        if one.p_holm is not None
        else ""
    )
    return f"{head}  {number(one.difference, one.scale, sign=True)}{f'  [{between}]' if between else ''}{p}"


def compare(
    systems: Mapping[str, Input | Result] | Sequence[Result],
    ref: Input | None = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    protocol: str | Protocol = "exact",
    common: bool = False,
    against: Sequence[Result] = (),
    baselines: Sequence[str] = (),
    test: str = "bootstrap",
    pairs: str = "all",
    **settings: Unpack[Settings],
) -> Comparison:
    """Compare systems on the same reference, dialogue by dialogue.

    ``systems`` are Results, or by name whatever ``evaluate`` takes, Results, and saved results. ``common`` leaves
    out dialogues that some systems lack, which are an error otherwise. ``against``: pairs are made with
    these, and only with these. ``baselines`` adds rows without tests, "nothing" and "before" (BASELINES); they
    need the reference. ``test`` is "bootstrap" or "permutation". ``pairs``: every two systems are compared
    ("all"), each with the best by the first metric ("best"), or each with the system of that name. Dialogues are
    paired by id; all metrics and systems are resampled over the same draws, and so are the differences, so that an
    interval of a difference is narrower than those of the two systems suggest.

    Where the smallest p of so many resamples, times the number of pairs, could not be significant, the tests use
    more resamples; a note says how many. |S| is one for all systems: that of the slots of all of them.

    Raises AlignmentError where the systems cannot be compared: other references, protocols, |S| (where a metric
    counts it and a list was given), tables or dialogues; OptionError for fewer than two systems, and as
    ``evaluate`` does.

    >>> ref = {"x": [{"hotel-area": "north"}], "y": [{"hotel-area": "east"}, {"hotel-area": "west"}]}
    >>> found = compare({"good": ref, "bad": {"x": [{}], "y": [{}, {}]}}, ref, metrics=["JGA"])
    >>> found["JGA", "good", "bad"].difference, found.best("JGA")
    (1.0, ['good'])
    """
    for option in sorted(settings):
        require_known("option", option, Settings.__annotations__)
    intervals = Intervals.of_settings(settings)
    require_known("test", test, TESTS)
    for kind in baselines:
        require_known("baseline", kind, BASELINES)
    opened = None if ref is None else open_input(ref, "reference")
    reference = opened if opened is None or isinstance(opened, Source) else list(opened)
    if isinstance(systems, Mapping):
        # Intervals are made later, for all at once; dialogues that a system lacks are none of the common ones.
        plain: Settings = {**settings, "ci": None}
        if common and plain.get("missing", "error") == "error":
            plain["missing"] = "skip"
        score = partial(evaluate, reference, metrics=metrics, protocol=protocol, **plain)
        first, results = _scored(systems, score)
        if reference is None and first is not None:
            reference, settings = first, {**settings, "ref_format": settings.get("format")}
    else:
        results = list(systems)
    results += against
    require(len(results) >= 2, "compare", "at least two systems", len(results))
    check_names([result.name for result in results], "compare")
    for result in results[1:]:
        check_alike(results[0], result, n_slots=False)
    results = _narrowed(results, metrics)
    sizes = {result.n_slots for result in results}
    if any(metric.uses_n_slots for metric in results[0].metrics.values()):
        results = joint(results)
    order, note = _order(results, common)
    parts = [_part(result, order, note) for result in results]
    texts = list(parts[0].metrics)
    made = [_baseline(kind, parts, reference, protocol, settings) for kind in dict.fromkeys(baselines)]
    again = [recounted(_part(one, order, note), texts, NO_INTERVALS) for one in made]
    rows = tuple(replace(one, notes=(), source="") for one in again)
    shared = SharedDraws.over(intervals, parts)
    done = tuple(recounted(part, texts, shared) for part in parts)
    chosen = _pairs(done, len(against), pairs, texts[0])
    notes = [note] if note else []
    if len(sizes) > 1 and len({result.n_slots for result in done}) == 1:
        notes.append(f"|S| = {done[0].n_slots} for all systems: all slots of the reference and the systems")
    if (enough := _draws_for(len(chosen))) > intervals.resamples:
        notes.append(f"tests use {enough} resamples, as needed for {len(chosen)} pairs; other intervals use fewer")
        shared = SharedDraws.over(replace(intervals, resamples=enough), parts)
    return Comparison(done, tuple(differences(chosen, shared, test)), rows, tuple(notes))


def _pairs(done: Sequence[Result], n_against: int, pairs: str, metric: str) -> list[tuple[Result, Result]]:
    """The pairs that are compared. Raises OptionError for a system that is not there."""
    fresh, saved = done[: len(done) - n_against], done[len(done) - n_against :]
    if saved:
        return list(product(fresh, saved))
    if pairs == "all":
        return list(combinations(done, 2))
    names = [one.name for one in done]
    if pairs == "best":
        pairs = (Comparison(tuple(done), ()).best(metric) or names)[0]
    require_known("system in --pairs", pairs, names)
    (one,) = (system for system in done if system.name == pairs)
    return [(one, other) for other in done if other is not one]


def _draws_for(n_pairs: int) -> int:
    """How many resamples so many pairs need: 0 where a thousand leave room below ALPHA, else for a tenth of it."""
    return 0 if 2 * n_pairs / 1001 <= ALPHA / 2 else math.ceil(20 * n_pairs / ALPHA)


def _scored(
    systems: Mapping[str, Input | Result], score: Callable[..., Result]
) -> tuple[Source | None, list[Result]]:
    """Every system's result, and the first file of predictions, which may hold the reference as well."""
    first: Source | None = None
    results: list[Result] = []
    for name, value in systems.items():
        source = value if isinstance(value, Result) else open_input(value, name)
        if isinstance(source, Result):
            results.append(replace(source, name=name))
        elif isinstance(source, Source) and is_saved(source):
            loaded = load(source)
            results += [replace(loaded[0], name=name)] if len(loaded) == 1 else loaded
        else:
            first = first or (source if isinstance(source, Source) else None)
            results.append(score(source, name=name))
    return first, results


def _narrowed(results: Sequence[Result], metrics: Sequence[str | Metric] | None) -> list[Result]:
    """The results with the metrics that are asked for, or those that all of them have."""
    require(not isinstance(metrics, str), "metrics", "a list of metrics", repr(metrics))
    texts = list(results[0].metrics) if metrics is None else [str(parse(metric)) for metric in metrics]
    for other in results[1:] if metrics is None else ():
        if unshared := set(texts).symmetric_difference(other.metrics):
            raise AlignmentError(
                where=beside(results[0], other),
                expected="the same metrics",
                found=f"{', '.join(sorted(unshared))} in only one of them",
                remedy="Choose metrics with --metric, or score one of them again.",
            )
    require(texts, "compare", "at least one metric", "none")
    return [recounted(one, texts, NO_INTERVALS) for one in results]


def _order(results: Sequence[Result], common: bool) -> tuple[list[str], str]:
    """The dialogues that all systems have, and what was left out for that.

    They stand in the order of their ids, in which dialogues are drawn.
    Raises AlignmentError where systems cover different dialogues and ``common`` is not asked for.
    """
    turns = [turns_by_id(result) for result in results]
    shared = {key for key, number in turns[0].items() if all(other.get(key) == number for other in turns)}
    written = {canonical_id(name): name for result in results for name in result.dialogues}
    apart = [name for key, name in written.items() if key not in shared]
    if apart and not common:
        listed = []
        for result, own in zip(results, turns, strict=True):
            if lacking := [name for key, name in written.items() if key not in own]:
                listed.append(f"{result.name} lacks {len(lacking)} ({first_few(lacking)})")
        if uneven := [name for key, name in written.items() if len({own[key] for own in turns if key in own}) > 1]:
            listed.append(f"different numbers of turns in {len(uneven)} ({first_few(uneven)})")
        raise AlignmentError(
            where="compare",
            found=f"the systems cover different dialogues: {'; '.join(listed)}",
            extent=f"{len(apart)} of {len(written)} dialogues",
            remedy="Compare only the dialogues that all systems have with --common.",
        )
    require(shared, "compare", "at least one dialogue that all systems have", "none", AlignmentError)
    coverage, scored = results[0].coverage, sum(turns[0][key] for key in shared)
    note = (
        f"COMMON DIALOGUES ONLY: {len(shared)} of {coverage.ref_dialogues} dialogues, {scored} of "
        f"{coverage.ref_turns} "
        f"turns; {len(apart)} dialogues that some systems lack are left out "
        f"({first_few(apart)})"
    )
    return sorted(shared), note if apart else ""


def _part(result: Result, order: Sequence[str], note: str) -> Result:
    """A result with these dialogues in this order; ``note`` tells that systems differed in what they cover."""
    place = {canonical_id(name): row for row, name in enumerate(result.dialogues)}
    rows = [place[key] for key in order]
    if not note and rows == list(place.values()):
        return result
    turns = sum(result.turns_per_dialogue[row] for row in rows)
    scored = set(rows)
    dropped = [name for row, name in enumerate(result.dialogues) if row not in scored]
    left_out = [*result.coverage.left_out, *dropped]
    coverage = replace(result.coverage, scored_dialogues=len(rows), scored_turns=turns, left_out=left_out)
    signature = signed(result.signature, turns=f"{turns}/{coverage.ref_turns}")
    partition, notes = result.partition.rows(rows, coverage), result.notes
    if note:
        signature = (*signature[:-1], f"common:{len(rows)}/{coverage.ref_dialogues}", signature[-1])
        notes = (note, *notes)
    part = replace(result, partition=partition, signature=signature, notes=notes, outcomes=None)
    return replace(part, slices=(), changes=None, errors=None) if dropped else part


def _baseline(
    kind: str, systems: Sequence[Result], ref: _Reference | None, protocol: str | Protocol, settings: Settings
) -> Result:
    """A baseline's result on the whole reference. Raises OptionError without a reference."""
    first = systems[0]
    if ref is None:
        raise OptionError(
            where="--baselines",
            expected="the reference, from which the baselines are made",
            found="only saved results, which hold counts but no states",
            remedy="Give it with --ref.",
        )
    of_predictions = {"format", "updates", "missing", "extra", "changes"}
    own: Settings = {key: value for key, value in settings.items() if key not in of_predictions}  # type: ignore[assignment]
    own["ci"] = None
    if own.get("slots") is None and len({system.n_slots for system in systems}) == 1:
        own["slots"] = first.n_slots  # what the systems predict may have widened it
    references = read_references(ref, own.get("ref_format"), readers.Options(False, own.get("ref_field")))
    predictions, name = baseline(kind, references), BASELINES[kind]
    result = evaluate(ref, predictions, metrics=list(first.metrics), protocol=protocol, name=name, **own)
    check_alike(first, result)
    return result
