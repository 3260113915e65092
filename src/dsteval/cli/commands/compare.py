"""``dsteval compare``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from dsteval.analysis.baselines import BASELINES
from dsteval.analysis.comparison import Comparison, compare
from dsteval.analysis.differences import TESTS, Difference
from dsteval.cli.commands.compare_modes import added, beyond_options, runs, two_refs
from dsteval.cli.options import (
    OneOf,
    coverage_options,
    file_options,
    form_option,
    interval_options,
    interval_settings,
    open_named,
    open_shown,
    protocol_option,
    slot_list,
)
from dsteval.cli.output_files import emit, form_of
from dsteval.cli.path_checks import check_places, typed
from dsteval.cli.systems import systems
from dsteval.errors import OptionError, unknown
from dsteval.metrics import parse
from dsteval.pipeline.run import Settings
from dsteval.readers import Source
from dsteval.render.comparison import comparison_tables
from dsteval.results.result import Result
from dsteval.results.saved import is_saved, load
from dsteval.stats.intervals import Intervals

__all__ = ["command"]

# What only the comparison of systems has a use for, and neither runs nor two references.
_BESIDE = ["against", "fail_below", "baselines", "over", "power", "discriminate", "difference", "test", "common"]


@click.command("compare")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@partial(file_options, several=True)
@protocol_option
@coverage_options
@interval_options
@click.option("--metric", "metrics", multiple=True, metavar="M", help="A metric, like FGA@0.5; may be repeated.")
@click.option(
    "--test", type=OneOf("--test", TESTS), default="bootstrap", help="The paired test.", show_default=True
)
@click.option("--common", is_flag=True, help="Compare the dialogues that all systems have, and say so.")
@click.option("--baselines", is_flag=True, help="Rows for empty states and for the state of the turn before.")
@click.option("--against", metavar="SAVED", help="A saved result: each FILE is compared with it only.")
@click.option(
    "--fail-below",
    multiple=True,
    metavar="METRIC=POINTS",
    help="With --against: exit 1 where the difference may be below so many points; may be repeated.",
)
@beyond_options
@form_option
def command(
    files: tuple[str, ...],
    ref: tuple[str, ...],
    ref_field: tuple[str, ...],
    protocol: str,
    metrics: tuple[str, ...],
    test: str,
    common: bool,
    baselines: bool,
    against: str | None,
    fail_below: tuple[str, ...],
    slots: str | None,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Compare systems on the same dialogues: scores side by side, differences with intervals, paired tests.

    A FILE holds predictions, or results that `score -o PATH.json` saved. NAME=PATH names a system. Systems that
    cover different dialogues are refused, or compared on what they share with --common. One FILE with two of
    --ref (or of --ref-field) is compared with itself: what each slot makes of other labels.
    """
    check_places("out")
    wanted = {name: options.pop(name) for name in ("over", "discriminate", "power", "difference", "runs")}
    settings: Settings = {"slots": slot_list(slots), **interval_settings(options)}  # type: ignore[typeddict-item]
    everything = form_of(form, out) in ("csv", "json")
    if len(ref) > 1 or len(ref_field) > 1:
        _check_idle("two references", *_BESIDE, "runs")
        emit(*two_refs(files, ref, ref_field, protocol, metrics, settings, everything), form, out)
        return
    reference = ref[0] if ref else None
    settings["ref_field"] = ref_field[0] if ref_field else None
    if wanted["runs"]:
        _check_idle("--runs", *_BESIDE)
        emit(*runs(files, reference, protocol, metrics, settings), form, out)
        return
    limits = _limits(fail_below, against, Intervals.of_settings(settings).level)
    if common and settings.get("missing") == "error":
        settings["missing"] = "skip"
    results = systems(files, reference, protocol, metrics, (), {**settings, "ci": None})
    source, own = _reference(files, reference, settings) if baselines else (None, settings)
    comparison = compare(
        results,
        source,
        metrics=metrics or None,
        protocol=protocol,
        common=common,
        against=[] if against is None else _saved(against, results),
        baselines=tuple(BASELINES) if baselines else (),
        test=test,
        **own,
    )
    below = _below(comparison, limits)
    for note in comparison.notes:
        click.echo(note, err=True)
    tables = comparison_tables(comparison, not metrics, everything)
    more, document = added(comparison.systems, files, reference, metrics, settings, wanted)
    remarks = dict.fromkeys(note for one in comparison.systems for note in one.notes)
    whole = comparison.to_dict(out is not None) | document
    emit([*tables, *more], whole, form, out, remarks=remarks, compact=True)
    for line in below:
        click.echo(f"dsteval: {line}", err=True)
    if below:
        click.get_current_context().exit(1)


def _check_idle(instead: str, *names: str) -> None:
    """Raise OptionError for options that would do nothing: a check that is dropped in silence always passes."""
    if idle := typed(*names):
        expected = "a comparison of systems, which these options belong to"
        raise OptionError(where=", ".join(idle), expected=expected, found=instead, remedy="Leave them away.")


def _reference(files: Sequence[str], ref: str | None, settings: Settings) -> tuple[Source | None, Settings]:
    """The reference of which baselines are made: --ref, or the first FILE that has one inside."""
    if ref is not None:
        return open_shown(ref), settings
    paths = [open_named(file)[1] for file in files if file != "-"]
    found = next((source for path in paths if not is_saved(source := open_shown(path))), None)
    return found, {**settings, "ref_format": settings.get("format")}


def _saved(path: str, results: Sequence[Result]) -> list[Result]:
    """The systems of a saved result; one that has a FILE's name is told apart by its file's."""
    source = open_shown(path)
    if not is_saved(source):
        expected = "a result that score -o PATH.json wrote"
        raise OptionError(where=f"--against {source.name}", expected=expected, found="another file")
    taken = {one.name for one in results}
    return [
        replace(one, name=f"{one.name} in {source.name}") if one.name in taken else one for one in load(source)
    ]


def _limits(texts: Sequence[str], against: str | None, level: float | None) -> dict[str, float]:
    """Metric -> points. Raises OptionError for what is not METRIC=POINTS, or cannot be told."""
    if texts and against is None:
        expected = "--against with a saved result, from which a difference is taken"
        raise OptionError(where=f"--fail-below {texts[0]}", expected=expected, found="none")
    if texts and level is None:
        expected = "intervals, whose lower bound counts"
        raise OptionError(where=f"--fail-below {texts[0]}", expected=expected, found="--no-ci")
    limits = {}
    for text in texts:
        metric, _, points = text.rpartition("=")
        try:
            number = float(points) if metric else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            expected = "METRIC=POINTS, like JGA=-1.0"
            raise OptionError(where=f"--fail-below {text}", expected=expected, found=repr(points))
        parsed = parse(metric)
        if parsed.lower_is_better:
            expected = "a metric of which more is better"
            raise OptionError(where=f"--fail-below {text}", expected=expected, found=parsed.name)
        limits[str(parsed)] = number
    return limits


def _below(comparison: Comparison, limits: dict[str, float]) -> list[str]:
    """What is to be said of each difference whose lower bound is below its limit, or unknown."""
    known = list(dict.fromkeys(one.metric for one in comparison.differences))
    for metric in limits:
        if metric not in known:
            raise OptionError(unknown("metric in --fail-below", metric, known))
    return [
        _failure(one, limits[one.metric])
        for one in comparison.differences
        if one.metric in limits and not (one.low is not None and one.scale * one.low >= limits[one.metric])
    ]


def _failure(one: Difference, limit: float) -> str:
    head = f"--fail-below {one.metric}={limit:g}: {one.a} against {one.b}"
    if one.difference is None or one.low is None or one.high is None:
        return f"{head}: no interval of the difference, {one.note}"
    low, high, scale = one.low, one.high, one.scale
    points = f"{scale * one.difference:+.2f}" + (" points" if scale == 100 else "")
    return f"{head}: {points}, and the interval {scale * low:+.2f} to {scale * high:+.2f} reaches below {limit:g}"
