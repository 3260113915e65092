"""``dsteval rate``: what people say of conversations, from drawing them to how metrics agree with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dsteval import readers
from dsteval.cli.commands.rate_checks import check_folds, check_into, check_planned, check_split, check_worst
from dsteval.cli.commands.rate_files import check_target, hand_out
from dsteval.cli.options import (
    OneOf,
    coverage_options,
    form_option,
    input_options,
    open_named,
    open_shown,
    say,
    slot_list,
)
from dsteval.cli.output_files import emit, replaced
from dsteval.cli.path_checks import check_places
from dsteval.cli.systems import check_predictions, opened, systems
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, ReadError, first_few
from dsteval.pipeline.inputs import check_names, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.rating import charts
from dsteval.rating.agreement import LEVELS, agree
from dsteval.rating.correlation import correlate
from dsteval.rating.pairs import AGAINST
from dsteval.rating.planning import Crowd, plan_lambda, plan_metrics
from dsteval.rating.ratings import Rating, combined, parse_scale, read, table, written
from dsteval.rating.sampling import STRATA, draw, key_text, pool, read_key
from dsteval.readers.jsonl_writer import lines
from dsteval.render.rating import (
    agreement_tables,
    correlation_tables,
    lambda_plan_tables,
    metric_plan_tables,
)
from dsteval.results.result import SCHEMA, Result
from dsteval.stats.agreement import COEFFICIENTS
from dsteval.stats.intervals import Intervals

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])
_SEED = click.option("--seed", type=int, default=12345, metavar="N", help="Seed of the draws.")


@click.group("rate")
def command() -> None:
    """Ratings by people: draw conversations, hand them out, take ratings in, and compare metrics with them."""


@command.command("sample", short_help="Draw conversations to be rated.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@input_options
@coverage_options
@click.option("--size", type=int, default=100, metavar="N", help="How many dialogues.", show_default=True)
@_SEED
@click.option(
    "--by", "strata", multiple=True, type=OneOf("--by", STRATA), help="Draw from each stratum its share."
)
@click.option("--blind", is_flag=True, help="Mix all systems' conversations under names that tell nothing.")
@click.option("--key", metavar="PATH", help="Where the key goes: which item is which system's dialogue.")
@click.option("-o", "--out", required=True, metavar="PATH", help="Where the conversations go, as JSON Lines.")
def _sample(
    files: tuple[str, ...],
    ref: str | None,
    protocol: str,
    size: int,
    seed: int,
    strata: tuple[str, ...],
    blind: bool,
    key: str | None,
    slots: str | None,
    out: str,
    **options: Any,
) -> None:
    """Draw dialogues, the same for every FILE, with both states and utterances.

    Each system's conversations become items; --blind shuffles them and keeps what they are in the --key alone.
    """
    if blind and key is None:
        raise OptionError(where="--blind", expected="--key, where the names are kept", found="none")
    check_places("out", "key")
    settings: Settings = {"slots": slot_list(slots), **options}  # type: ignore[typeddict-item]
    reference = opened(ref, settings.get("ref_format"))
    pools = []
    for name, path in map(open_named, files):
        source = open_shown(path)
        check_predictions(source, "rate sample")
        say(source, settings.get("format"))
        run = Run.of(protocol, **settings)
        pools.append(pool(name or system_name(Path(path).name), source, reference, run))
    names = [one.system for one in pools]
    check_names(names, "FILE")
    _check_seed(seed)
    drawn = draw(pools, size, seed, strata, blind)
    _write("--out", out, b"".join(lines(drawn.dialogues)))
    if key is not None:
        _write("--key", key, key_text(drawn.items))
    for stratum, (at_hand, number) in drawn.strata.items():
        if strata:
            click.echo(f"{stratum}: {number} of {at_hand}", err=True)
    click.echo(f"{out}: {len(drawn.items)} items, {size} dialogues of {', '.join(names)}", err=True)


@command.command("export", short_help="Write conversations for raters: text files, or a CSV.")
@click.argument("items", metavar="ITEMS")
@click.argument("target", metavar="OUT")
@click.option("--format", metavar="NAME", help="Format of ITEMS, instead of detecting it.")
@click.option("--rater", default="", metavar="NAME", help="Who is to rate, written into every row of a CSV.")
def _export(items: str, target: str, format: str | None, rater: str) -> None:
    """Write the conversations of ITEMS to OUT.

    A name that ends in .csv gets a row for each conversation with an empty rating; any other becomes a folder with
    one text file each, in the form of the FGA paper's study.
    """
    check_target(target)
    dialogues = _dialogues(items, format)
    hand_out(dialogues, target, rater)
    click.echo(f"{target}: {len(dialogues)} conversations written", err=True)


@command.command("import", short_help="Take ratings in; the same ones twice change nothing.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--into", required=True, metavar="PATH", help="Where ratings are kept: .jsonl, or .csv.")
@click.option("--items", metavar="ITEMS", help="The conversations: ratings of others are refused.")
@click.option("--scale", metavar="LOW..HIGH", help="What ratings may be, such as 0..1; others are refused.")
@click.option("--allow-missing", is_flag=True, help="Take a file in though rows of it have no rating.")
def _import(files: tuple[str, ...], into: str, items: str | None, scale: str | None, allow_missing: bool) -> None:
    """Add the ratings of each FILE, a filled CSV or JSON Lines, to those kept.

    NAME=PATH names the rater where rows do not. All is taken in, or nothing.
    """
    check_into(into)
    kept = read(into)[0] if Path(into).exists() else []
    before = len(kept)
    all_of_them, again = combined([*kept, *_read(files, scale, allow_missing)])
    if items is not None:
        table(all_of_them).of([one.id for one in _dialogues(items, None)])
    if len(all_of_them) > before:
        _write("--into", into, written(all_of_them, into))
    added = len(all_of_them) - before
    click.echo(f"{into}: {added} ratings added, {again} there already, {len(all_of_them)} in all", err=True)


def _draw_options(command: F) -> F:
    option = click.option
    for one in reversed(
        [
            option("--ci", type=float, default=0.95, metavar="LEVEL", help="Level of the intervals."),
            option("--no-ci", is_flag=True, help="No intervals."),
            option("--resamples", type=int, default=1000, metavar="N", help="How often is drawn anew."),
            _SEED,
            option("--scale", metavar="LOW..HIGH", help="What ratings may be; others are refused."),
            option("--allow-missing", is_flag=True, help="Go on though rows have no rating."),
        ]
    ):
        command = one(command)
    return command


@command.command("agree", short_help="How far raters agree.")
@click.argument("files", nargs=-1, required=True, metavar="RATINGS...")
@click.option("--level", type=OneOf("--level", list(LEVELS)), default="nominal", help="What ratings are.")
@click.option("--worst", type=int, default=10, metavar="N", help="How many disputed items are listed.")
@_draw_options
@form_option
def _agree(
    files: tuple[str, ...],
    level: str,
    worst: int,
    scale: str | None,
    allow_missing: bool,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Krippendorff's alpha, Fleiss' and Cohen's kappa, each rater's bias, and the items that divide raters."""
    check_places("out")
    check_worst(worst)
    ratings = table(_read(files, scale, allow_missing))
    found = agree(ratings, level, _intervals(options), worst)
    emit(agreement_tables(found), {"schema": SCHEMA, "agreement": found.to_dict()}, form, out, remarks=found.notes)


@command.command("correlate", short_help="How far metrics agree with raters.")
@click.argument("file", metavar="FILE")
@input_options
@coverage_options
@click.option("--ratings", "rated", multiple=True, required=True, metavar="PATH", help="Ratings; may be repeated.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="M", help="A metric; JGA and FGA@0.5 if none is named."
)
@click.option(
    "--coefficient", type=OneOf("--coefficient", list(COEFFICIENTS)), default="pearson", help="Which correlation."
)
@click.option("--against", type=OneOf("--against", AGAINST), default="mean", help="The mean rating, or each.")
@click.option("--key", metavar="PATH", help="The key of a sample: items of one dialogue are drawn together.")
@click.option("--fit", is_flag=True, help="Find the lambda of FGA that agrees best.")
@click.option("--folds", type=int, default=10, metavar="K", help="Folds of the cross-validation of lambda.")
@click.option("--chart", metavar="PATH", help="With --fit: the curve as .svg or .png (needs the extra charts).")
@_draw_options
@form_option
def _correlate(
    file: str,
    ref: str | None,
    protocol: str,
    rated: tuple[str, ...],
    metrics: tuple[str, ...],
    coefficient: str,
    against: str,
    key: str | None,
    fit: bool,
    folds: int,
    chart: str | None,
    scale: str | None,
    allow_missing: bool,
    slots: str | None,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Correlate metrics of the conversations in FILE with their ratings; items are dialogues of FILE."""
    check_places("out", "chart")
    check_folds(folds, fit)
    if chart is not None:
        if not fit:
            raise OptionError(where="--chart", expected="--fit, whose curve it shows", found="none")
        charts.check(chart)
    intervals = _intervals(options)
    result = _scored(file, ref, protocol, metrics or ("JGA", "FGA@0.5"), slots, options)
    found = correlate(
        result,
        table(_read(rated, scale, allow_missing)),
        coefficient=coefficient,
        against=against,
        intervals=intervals,
        dialogues=None if key is None else read_key(key),
        fit=fit,
        folds=folds,
    )
    check_split(folds, found.best_lambda)
    if chart is not None and found.best_lambda is not None:
        charts.save(found.best_lambda, chart)
    document = {"schema": SCHEMA, "correlations": found.to_dict()}
    emit(correlation_tables(found), document, form, out, remarks=found.notes)


@command.command("plan", short_help="How many conversations and raters a study needs.")
@click.argument("file", required=False, metavar="[FILE]")
@input_options
@coverage_options
@click.option("--r1", type=float, metavar="R", help="One metric's correlation with the mean rating.")
@click.option("--r2", type=float, metavar="R", help="The other's.")
@click.option("--r12", type=float, metavar="R", help="That of the two metrics.")
@click.option("--raters", multiple=True, type=int, metavar="N", help="Raters a conversation; may be repeated.")
@click.option("--agreement", type=float, metavar="A", help="Correlation of two raters, such as alpha.")
@click.option("--alpha", type=float, default=0.05, metavar="P", help="Level of the test.")
@click.option("--target-power", type=float, default=0.8, metavar="P", help="Share of studies that shall tell.")
@click.option("--true-lambda", type=float, metavar="L", help="Find this lambda on conversations like FILE's.")
@click.option("--factor", type=float, default=4.0, metavar="F", help="How narrow: high / low.")
@click.option("--share", type=float, default=0.5, metavar="P", help="Share of satisfied ratings.")
@click.option("--slope", type=float, default=0.5, metavar="X", help="Satisfaction gained with FGA from 0 to 1.")
@click.option("--noise", type=float, default=0.2, metavar="X", help="What else moves it, a deviation.")
@click.option("--bias", type=float, default=0.1, metavar="X", help="How raters differ, a deviation.")
@click.option("--repetitions", type=int, default=1000, metavar="N", help="Simulated studies.")
@_SEED
@form_option
def _plan(
    file: str | None,
    ref: str | None,
    protocol: str,
    slots: str | None,
    raters: tuple[int, ...],
    true_lambda: float | None,
    factor: float,
    repetitions: int,
    seed: int,
    form: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """How many conversations tell two metrics apart (--r1 --r2 --r12), or find a lambda (FILE --true-lambda)."""
    _check_seed(seed)
    check_places("out")
    if repetitions < 100:
        raise OptionError(where="--repetitions", expected="100 or more", found=str(repetitions))
    given = [options.pop(name) for name in ("r1", "r2", "r12")]
    names = ("agreement", "alpha", "target_power", "share", "slope", "noise", "bias")
    agreement, alpha, power, *crowd = (options.pop(name) for name in names)
    numbers = raters or (11,)
    check_planned(file, true_lambda, given)
    if file is not None and true_lambda is not None:
        result = _scored(file, ref, protocol, ("FGA@0.5",), slots, options)
        if "FGA@0.5" not in result.counts:
            raise OptionError(where=file, expected="FGA of its conversations", found=result["FGA@0.5"].why)
        metric, counts = result.metrics["FGA@0.5"], result.counts["FGA@0.5"]
        found = plan_lambda(
            *(metric, counts, true_lambda),
            raters=numbers,
            factor=factor,
            crowd=Crowd(*crowd),
            repetitions=repetitions,
            seed=seed,
        )
        emit(lambda_plan_tables(found), {"schema": SCHEMA, "lambda_plan": found.to_dict()}, form, out)
    else:
        first, *others = numbers
        plan = plan_metrics(
            *given,
            raters=first,
            agreement=agreement,
            others=others,
            alpha=alpha,
            power=power,
            repetitions=repetitions,
            seed=seed,
        )
        emit(metric_plan_tables(plan), {"schema": SCHEMA, "metric_plan": plan.to_dict()}, form, out)


def _scored(
    file: str, ref: str | None, protocol: str, metrics: Sequence[str], slots: str | None, options: dict[str, Any]
) -> Result:
    """The one system of a FILE. Raises OptionError for a saved result of several."""
    own = {"protocol": protocol, "metrics": metrics, "slots": slot_list(slots), "ci": None}
    found = systems([file], ref, {**options, **own})
    if len(found) != 1:
        raise OptionError(where=file, expected="one system", found=", ".join(one.name for one in found))
    return found[0]


def _intervals(options: dict[str, Any]) -> Intervals:
    """The intervals asked for, taken out of a command's options."""
    level, none, resamples, seed = (options.pop(name) for name in ("ci", "no_ci", "resamples", "seed"))
    return Intervals(None if none else level, resamples, seed)


def _check_seed(seed: int) -> None:
    Intervals(level=None, seed=seed)


def _dialogues(path: str, format: str | None) -> list[Dialogue]:
    source = open_shown(path)
    say(source, format)
    return list(readers.read(source, "pred", format))


def _read(files: Sequence[str], scale: str | None, allow_missing: bool) -> list[Rating]:
    """The ratings of all files. Raises ReadError for rows without a rating, unless they are allowed."""
    limits = None if scale is None else parse_scale(scale)
    found: list[Rating] = []
    for name, path in map(open_named, files):
        ratings, missing = read(path, name or "", limits)
        if missing:
            told = f"{len(missing)} of {len(missing) + len(ratings)} rows"
            items = first_few(dict.fromkeys(one.item for one in missing))
            if not allow_missing:
                remedy = "Fill them, or leave them out with --allow-missing."
                raise ReadError(
                    where=path, expected="a rating", found="none", extent=f"{told}; {items}", remedy=remedy
                )
            click.echo(f"{path}: {told} without a rating left out ({items})", err=True)
        found += ratings
    return found


def _write(option: str, path: str, data: bytes) -> None:
    with replaced(path, option) as file:
        file.write(data)
