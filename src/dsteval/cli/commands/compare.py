"""``dsteval compare``: systems side by side, what is added to that, and runs or references instead of systems."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

from dsteval.analysis.baselines import BASELINES
from dsteval.analysis.comparison import Comparison, compare
from dsteval.analysis.differences import TESTS, Difference
from dsteval.analysis.lambda_curve import over_lambda
from dsteval.analysis.rankings import discriminative_power, over_protocols, over_resamples
from dsteval.analysis.reference_change import two_references
from dsteval.analysis.sample_size import plan
from dsteval.analysis.seed_runs import repeated
from dsteval.cli import options as shared
from dsteval.cli.command import Command, option
from dsteval.cli.messages import failure, note
from dsteval.cli.output_files import append, emit, form_of, to_file
from dsteval.cli.path_checks import check_places, typed
from dsteval.cli.systems import check_predictions, named, open_reference, open_saved, systems
from dsteval.cli.values import FILE, Text
from dsteval.errors import OptionError, require, unknown
from dsteval.metrics import parse
from dsteval.pipeline.inputs import system_name
from dsteval.readers import Source
from dsteval.render import rankings as tables_of
from dsteval.render.comparison import comparison_tables
from dsteval.render.summary import summary
from dsteval.render.table import Table
from dsteval.results.numbers import interval, number
from dsteval.results.result import SCHEMA, Result
from dsteval.results.saved import is_saved, load
from dsteval.stats.intervals import Intervals

# What only the comparison of systems has a use for, and neither runs nor two references.
_BESIDE = [
    "against",
    "fail_below",
    "summary",
    "baselines",
    "over",
    "power",
    "discriminate",
    "difference",
    "test",
    "common",
    "pairs",
]

_Options: TypeAlias = dict[str, Any]

_COMPARISON = "Comparison"
_FAIL_BELOW = "Exit with 1 if the CI of a difference reaches below POINTS percentage points; needs --against."
_OVER = "Rank systems across lambdas, protocols or resamples; may be repeated."
_comparison_option = partial(option, group=_COMPARISON)
_comparison_flag = partial(_comparison_option, is_flag=True)
_SUMMARY = "Append verdict, tables and the ten worst regressions to FILE as Markdown; needs --against."


@click.command(
    "compare",
    cls=Command,
    examples=[
        ("Compare two systems", "dsteval compare old.json new.json --ref multiwoz-2.4/test"),
        (
            "Fail if JGA may be over 1 point lower than that of a saved result",
            "dsteval compare new.json --ref r.json --against old.json --fail-below JGA=-1",
        ),
    ],
)
@shared.files_argument()
@shared.file_options(several=True)
@shared.protocol_option
@shared.metric_option
@shared.coverage_options
@option("--against", metavar="SAVED", type=FILE, help="Compare each FILE with this saved result only.")
@shared.output_options
@_comparison_option("--fail-below", multiple=True, metavar="METRIC=POINTS", help=_FAIL_BELOW)
@_comparison_option("--summary", metavar="FILE", type=FILE, help=_SUMMARY)
@shared.choice(
    "--test", of=TESTS, default="bootstrap", help="Paired significance test.", show_default=True, group=_COMPARISON
)
@_comparison_option(
    "--pairs",
    default="all",
    show_default=True,
    metavar="WHICH",
    type=Text(lambda: ["all", "best"]),
    help="Pairs to compare: all, best (each with the best system) or NAME (each with system NAME).",
)
@_comparison_flag("--common", help="Compare on the dialogues that all systems have.")
@_comparison_flag("--baselines", help="Add baselines: empty states, and the state of the previous turn.")
@_comparison_flag("--runs", help="FILEs are runs (seeds) of one system: print mean, deviation and agreement.")
@shared.choice("--over", of=["lambda", "protocols", "resamples"], multiple=True, help=_OVER, group=_COMPARISON)
@_comparison_flag("--discriminate", help="Share of system pairs that each metric separates significantly.")
@_comparison_flag("--power", help="Number of dialogues needed to detect the observed differences.")
@_comparison_option(
    "--difference", type=float, metavar="POINTS", help="Difference to detect, in percentage points; needs --power."
)
@shared.interval_options
def command(
    files: tuple[str, ...], ref: tuple[str, ...], ref_field: tuple[str, ...], runs: bool, **options: Any
) -> None:
    """Compare systems on the same dialogues: scores, differences with CIs, and paired significance tests.

    FILE holds predictions, or a result saved with `score -o PATH.json`. NAME=PATH names a system. Systems must
    cover the same dialogues, unless --common is given. One FILE with two --ref (or two --ref-field) shows how
    scores change from one reference to the other.
    """
    check_places("out", "summary")
    beside = {name: options.pop(name) for name in _BESIDE}
    arguments = shared.arguments_of(options)
    if len(ref) > 1 or len(ref_field) > 1:
        _check_idle("two references", *_BESIDE, "runs")
        sides, fields = _two_references(files, ref, ref_field)
        name, path = shared.open_named(files[0])
        change = two_references(shared.open_shown(path), sides, ref_fields=fields, name=name, **arguments)
        most = None if form_of() in ("csv", "json") else 20
        emit(tables_of.reference_tables(change, most), {"schema": SCHEMA, "references": change.to_dict()})
        return
    reference, arguments["ref_field"] = next(iter(ref), None), next(iter(ref_field), None)
    if runs:
        _check_idle("--runs", *_BESIDE)
        repeats = repeated(systems(files, reference, {**arguments, "ci": None}), arguments["metrics"])
        emit(tables_of.repeats_tables(repeats), {"schema": SCHEMA, "runs": repeats.to_dict()})
        return
    _systems(files, reference, arguments, beside)


def _systems(files: Sequence[str], ref: str | None, arguments: _Options, beside: _Options) -> None:
    """Compare the systems; ``beside`` are the options that belong to this alone."""
    if beside["common"] and "protocols" in beside["over"]:
        raise OptionError("does not go with --common", where="--over protocols", remedy="Drop one of them.")
    require(beside["summary"] is None or beside["against"], "--summary", "--against SAVED", "none")
    limits = _limits(beside["fail_below"], beside["against"], Intervals.of_settings(arguments).level)
    if beside["common"] and arguments["missing"] == "error":
        arguments = {**arguments, "missing": "skip"}
    results = systems(files, ref, {**arguments, "ci": None})
    source, own = _baseline_reference(files, ref, arguments) if beside["baselines"] else (None, arguments)
    against = [] if beside["against"] is None else _saved(beside["against"], results)
    baselines = tuple(BASELINES) if beside["baselines"] else ()
    only = {name: beside[name] for name in ("common", "test", "pairs")}
    comparison = compare(results, source, against=against, baselines=baselines, **only, **own)
    below = _below(comparison, limits)
    if beside["summary"] is not None:
        told = summary(comparison, limits, below, results, not arguments["metrics"])
        append("--summary", beside["summary"], told.encode("utf-8", "backslashreplace"))
    for remark in comparison.notes:
        note(remark)
    tables = comparison_tables(comparison, not arguments["metrics"], form_of() in ("csv", "json"))
    document = comparison.to_dict(to_file())
    for key, more, value in _added(comparison.systems, files, ref, arguments, beside):
        tables += more
        document[key] = value
    remarks = dict.fromkeys(remark for one in comparison.systems for remark in one.notes)
    emit(tables, document, remarks=remarks, compact=True)
    for line in below:
        failure(line)
    if below:
        click.get_current_context().exit(1)


def _check_idle(instead: str, *names: str) -> None:
    """Raise OptionError for options that would do nothing: a check that is dropped in silence always passes."""
    if idle := typed(*names):
        raise OptionError(f"no effect with {instead}", where=", ".join(idle), remedy=f"Drop {_them(idle)}.")


def _them(options: Sequence[str]) -> str:
    return "it" if len(options) == 1 else "them"


def _two_references(
    files: Sequence[str], refs: Sequence[str], fields: Sequence[str]
) -> tuple[dict[str, Source | None], dict[str, str] | None]:
    """Two references by their labels, two of ``--ref`` or one file's ``--ref-field``, and the fields by these.

    Raises OptionError for another number of systems or references.
    """
    if len(files) != 1 or (len(refs), len(fields)) not in ((2, 0), (2, 1), (2, 2), (1, 2), (0, 2)):
        expected = "one FILE and two references: --ref A --ref B, or --ref-field A --ref-field B of one file"
        found = f"{len(files)} FILE and {', '.join((*refs, *fields))}"
        raise OptionError(where="--ref, --ref-field", expected=expected, found=found)
    pairs = [shared.open_named(ref) for ref in refs]
    labels = [name or path for name, path in pairs] if len(refs) == 2 else list(fields)
    require(labels[0] != labels[1], "--ref", "two references", f"{labels[0]!r} twice")
    opened: list[Source | None] = [shared.open_shown(path) for _, path in pairs]
    sides = opened if len(opened) == 2 else (opened or [None]) * 2
    own = fields if len(fields) == 2 else [*fields] * 2
    return dict(zip(labels, sides, strict=True)), dict(zip(labels, own, strict=True)) if fields else None


def _baseline_reference(
    files: Sequence[str], ref: str | None, arguments: _Options
) -> tuple[Source | None, _Options]:
    """The reference of which baselines are made: --ref, or the first FILE that has one inside."""
    if ref is not None:
        return shared.open_shown(ref), arguments
    opened = (shared.open_shown(shared.open_named(file)[1]) for file in files if file != "-")
    first = next((source for source in opened if not is_saved(source)), None)
    return first, {**arguments, "ref_format": arguments["format"]}


def _saved(path: str, results: Sequence[Result]) -> list[Result]:
    """The systems of a saved result; one that has a FILE's name is told apart by its file's."""
    source = open_saved(path, "--against")
    taken = {one.name for one in results}
    names = ((one, f"{one.name} in {source.name}" if one.name in taken else one.name) for one in load(source))
    return [replace(one, name=name) for one, name in names]


def _limits(texts: Sequence[str], against: str | None, level: float | None) -> dict[str, float]:
    """Metric -> points. Raises OptionError for what is not METRIC=POINTS, or cannot be told."""
    limits = {}
    for text in texts:
        where = f"--fail-below {text}"
        if against is None:
            raise OptionError("needs --against and a saved result to compare with", where=where)
        if level is None:
            raise OptionError("needs confidence intervals", where=where, remedy="Drop --no-ci.")
        metric, _, points = text.rpartition("=")
        limit = shared.as_number(points)
        require(metric and math.isfinite(limit), where, "METRIC=POINTS, like JGA=-1.0", repr(points))
        parsed = parse(metric)
        require(not parsed.lower_is_better, where, "a metric where higher is better", parsed.name)
        limits[str(parsed)] = limit
    return limits


def _below(comparison: Comparison, limits: dict[str, float]) -> list[str]:
    """What is to be said of each difference whose lower bound is below its limit, or unknown."""
    known = list(dict.fromkeys(one.metric for one in comparison.differences))
    if missing := [metric for metric in limits if metric not in known]:
        raise OptionError(unknown("metric in --fail-below", missing[0], known))
    return [
        _failure(one, limits[one.metric])
        for one in comparison.differences
        if one.metric in limits and not (one.low is not None and one.scale * one.low >= limits[one.metric])
    ]


def _failure(one: Difference, limit: float) -> str:
    head = f"--fail-below {one.metric}={limit:g}: {one.a} against {one.b}"
    ends = interval(one.low, one.high, one.scale, sign=True, to=" to ")
    if one.difference is None or ends is None:
        return f"{head}: the difference has no confidence interval ({one.note})"
    points = f"{number(one.difference, one.scale, sign=True)}" + (" percentage points" if one.scale == 100 else "")
    return f"{head}: {points}, and the confidence interval {ends} reaches below {limit:g}"


def _added(
    results: Sequence[Result], files: Sequence[str], ref: str | None, arguments: _Options, beside: _Options
) -> Iterator[tuple[str, list[Table], Any]]:
    """What was asked for beside the comparison: its key in the JSON, its tables, and what the JSON has of it."""
    metrics, intervals = arguments["metrics"], Intervals.of_settings(arguments)
    if "lambda" in beside["over"]:
        by_lambda = over_lambda(results)
        yield "over_lambda", tables_of.lambda_tables(by_lambda), by_lambda.to_dict()
    if "protocols" in beside["over"]:
        sources = {name or system_name(Path(path).name): shared.open_shown(path) for name, path in named(files)}
        for source in sources.values():
            check_predictions(source, "--over protocols")
        settings: Any = {key: value for key, value in arguments.items() if key not in ("metrics", "protocol")}
        reference = open_reference(ref)
        found = [over_protocols(reference, sources, metric, **settings) for metric in metrics or ["JGA"]]
        tables = [table for one in found for table in tables_of.protocol_tables(one)]
        yield "over_protocols", tables, [one.to_dict() for one in found]
    if "resamples" in beside["over"]:
        by_resample = over_resamples(results, metrics, intervals)
        yield "over_resamples", tables_of.resample_tables(by_resample), by_resample.to_dict()
    if beside["discriminate"]:
        separated = discriminative_power(results, metrics, intervals)
        yield "discrimination", tables_of.discrimination_tables(separated), separated.to_dict()
    points = beside["difference"]
    if beside["power"]:
        scales = {text: metric.scale for text, metric in results[0].metrics.items()}
        asked = None if points is None else {text: points / scale for text, scale in scales.items()}
        planned = plan(results, metrics, intervals, asked)
        yield "plan", tables_of.plan_tables(planned), planned.to_dict()
    if points is not None and not beside["power"]:
        raise OptionError("needs --power", where="--difference")
