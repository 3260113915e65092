"""Commands of ``dsteval rate`` that analyse: agreement of raters, correlation with metrics, size of a study."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from dsteval.cli import options as shared
from dsteval.cli.command import COMMON, Command, option
from dsteval.cli.messages import note
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places, typed
from dsteval.cli.systems import systems
from dsteval.cli.values import FILE, METRIC
from dsteval.errors import OptionError, ReadError, first_few, require
from dsteval.rating import charts
from dsteval.rating.agreement import agree
from dsteval.rating.correlation import correlate
from dsteval.rating.pairs import AGAINST
from dsteval.rating.planning import Crowd, plan_lambda, plan_metrics
from dsteval.rating.ratings import Rating, parse_scale, read, table
from dsteval.rating.sampling import read_key
from dsteval.render.rating import agreement_tables, correlation_tables, lambda_plan_tables, metric_plan_tables
from dsteval.results.result import SCHEMA, Result
from dsteval.stats.agreement import COEFFICIENTS, LEVELS
from dsteval.stats.intervals import Intervals

_RATINGS, _SIMULATION, _TEST = (
    "Ratings",
    "Simulated raters (with --true-lambda)",
    "Test of two metrics (with --r1)",
)
_FIT = "Fit of lambda"

rating_options = shared.together(
    option("--scale", metavar="LOW..HIGH", group=_RATINGS, help="Range of valid ratings, such as 0..1."),
    option("--allow-missing", is_flag=True, group=_RATINGS, help="Skip rows without a rating."),
)
"""How ratings are read."""

_interval_options = shared.together(shared.level_options, shared.resamples_option, shared.seed_option)


def _taken(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some options, taken out of a command's: what is left is for the reading of FILE."""
    return {name: options.pop(name) for name in names}


def _intervals(options: dict[str, Any]) -> Intervals:
    return Intervals.of_settings(shared.arguments_of(_taken(options, "ci", "no_ci", "resamples", "seed")))


def read_ratings(files: Sequence[str], *, scale: str | None, allow_missing: bool) -> list[Rating]:
    """The ratings of all files. Raises ReadError for rows without a rating, unless they are allowed."""
    limits = None if scale is None else parse_scale(scale)
    ratings: list[Rating] = []
    for name, path in map(shared.open_named, files):
        rated, missing = read(path, name or "", limits)
        ratings += rated
        if missing:
            extent = f"{len(missing)} of {len(missing) + len(rated)} rows"
            items = first_few(dict.fromkeys(one.item for one in missing))
            if not allow_missing:
                extent, remedy = f"{extent}; {items}", "Fill them in, or skip them with --allow-missing."
                raise ReadError(where=path, expected="a rating", found="none", extent=extent, remedy=remedy)
            note(f"{path}: {extent} without a rating skipped ({items})")
    return ratings


@click.command(
    "agree",
    cls=Command,
    short_help="Measure how well raters agree.",
    examples=[
        ("Measure the agreement of a file of ratings", "dsteval rate agree ratings.csv"),
        ("Compare two raters on an ordinal scale", "dsteval rate agree anna=a.csv ben=b.csv --level ordinal"),
    ],
)
@shared.files_argument(metavar="RATINGS...")
@shared.choice(
    "--level", of=LEVELS, default="nominal", show_default=True, help="Level of measurement of the ratings."
)
@shared.number_option("--worst", default=10, about="Number of disputed items to list.", group=COMMON)
@rating_options
@_interval_options
@shared.output_options
def agree_command(files: tuple[str, ...], level: str, worst: int, **options: Any) -> None:
    """Measure how well raters agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, and the bias of each rater.

    The items with the most disagreement are listed. NAME=PATH names the rater of a file.
    """
    check_places("out")
    require(worst >= 0, "--worst", "0 or more", worst)
    ratings = table(read_ratings(files, **_taken(options, "scale", "allow_missing")))
    found = agree(ratings, level, _intervals(options), worst)
    emit(agreement_tables(found), {"schema": SCHEMA, "agreement": found.to_dict()}, remarks=found.notes)


@click.command(
    "correlate",
    cls=Command,
    short_help="Correlate metrics with human ratings.",
    examples=[
        ("Correlate JGA and FGA with ratings", "dsteval rate correlate s.jsonl --ratings ratings.csv"),
        ("Find the best lambda of FGA", "dsteval rate correlate s.jsonl --ratings ratings.csv --fit"),
    ],
)
@click.argument("file", metavar="FILE", type=FILE)
@option(
    "--ratings",
    "rated",
    multiple=True,
    required=True,
    metavar="PATH",
    type=FILE,
    help="File of ratings; may be repeated.",
)
@shared.scoring_options
@option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    type=METRIC,
    help="Metric; may be repeated. Default: JGA and FGA@0.5.",
)
@shared.choice(
    "--coefficient", of=COEFFICIENTS, default="pearson", show_default=True, help="Correlation coefficient."
)
@shared.choice(
    "--against",
    of=AGAINST,
    default="mean",
    show_default=True,
    group=_RATINGS,
    help="Correlate with the mean rating of a dialogue, or with each rating.",
)
@option(
    "--key",
    metavar="PATH",
    type=FILE,
    group=_RATINGS,
    help="Key of the sample, to resample the items of a dialogue together.",
)
@rating_options
@option("--fit", is_flag=True, group=_FIT, help="Find the lambda of FGA that correlates best.")
@shared.number_option("--folds", default=10, about="Number of cross-validation folds.", group=_FIT)
@option(
    "--chart",
    metavar="PATH",
    type=FILE,
    group=_FIT,
    help="Save the curve as .svg or .png; needs the extra charts.",
)
@_interval_options
@shared.output_options
def correlate_command(
    file: str, rated: tuple[str, ...], key: str | None, fit: bool, folds: int, chart: str | None, **options: Any
) -> None:
    """Correlate metrics with human ratings of the dialogues in FILE."""
    check_places("out", "chart")
    require(folds >= 2, "--folds", "2 or more", folds)
    if not fit and (idle := typed("folds", "chart")):
        raise OptionError("needs --fit", where=", ".join(idle))
    if chart is not None:
        charts.check(chart)
    intervals, coefficient = _intervals(options), _taken(options, "coefficient", "against")
    reading = _taken(options, "scale", "allow_missing")
    options["metrics"] = options["metrics"] or ("JGA", "FGA@0.5")
    result = _scored(file, **options)
    ratings = table(read_ratings(rated, **reading))
    fitting: dict[str, Any] = {"dialogues": None if key is None else read_key(key), "fit": fit, "folds": folds}
    found = correlate(result, ratings, **coefficient, intervals=intervals, **fitting)
    if (best := found.best_lambda) is not None:
        most = len(best.folds) or folds
        expected = f"at most {most}, the number of dialogues"
        require(most >= folds or not typed("folds"), "--folds", expected, folds)  # the default is for all that go
        if chart is not None:
            charts.save(best, chart)
    emit(correlation_tables(found), {"schema": SCHEMA, "correlations": found.to_dict()}, remarks=found.notes)


_share_option = partial(option, type=float, metavar="P", show_default=True)
_deviation_option = partial(_share_option, metavar="X", group=_SIMULATION)
_correlation_option = partial(option, type=float, metavar="R")


@click.command(
    "plan",
    cls=Command,
    short_help="Compute how many dialogues and raters a study needs.",
    examples=[
        ("Dialogues needed to tell two metrics apart", "dsteval rate plan --r1 0.55 --r2 0.48 --r12 0.8"),
        ("Dialogues needed to find a lambda", "dsteval rate plan pred.json --ref ref.json --true-lambda 0.5"),
    ],
)
@click.argument("file", required=False, metavar="[FILE]", type=FILE)
@_correlation_option("--r1", help="Correlation of the first metric with the mean rating.")
@_correlation_option("--r2", help="Correlation of the second metric with the mean rating.")
@_correlation_option("--r12", help="Correlation of the two metrics.")
@option("--true-lambda", type=float, metavar="L", help="Lambda to be found on dialogues like those of FILE.")
@option(
    "--raters", multiple=True, type=int, metavar="N", help="Raters per dialogue; may be repeated. Default: 11."
)
@shared.scoring_options
@option("--agreement", type=float, metavar="A", group=_TEST, help="Correlation of two raters, such as alpha.")
@_share_option("--alpha", default=0.05, group=_TEST, help="Significance level.")
@_share_option("--target-power", "power", default=0.8, group=_TEST, help="Power of the test.")
@_deviation_option("--factor", default=4.0, help="Width of the interval to reach, high / low.")
@_deviation_option("--share", default=0.5, help="Share of satisfied ratings.")
@_deviation_option("--slope", default=0.5, help="Increase of satisfaction from FGA 0 to FGA 1.")
@_deviation_option("--noise", default=0.2, help="Standard deviation between dialogues of equal FGA.")
@_deviation_option("--bias", default=0.1, help="Standard deviation between raters.")
@shared.number_option("--repetitions", default=1000, about="Number of simulated studies.", group=_SIMULATION)
@shared.number_option("--seed", default=12345, about="Random seed.", group=_SIMULATION)
@shared.output_options
def plan_command(file: str | None, true_lambda: float | None, factor: float, **options: Any) -> None:
    """Compute how many dialogues and raters a study needs.

    Give --r1, --r2 and --r12 to tell two metrics apart by their correlations with ratings, or FILE and
    --true-lambda to find the lambda of FGA. The number of raters is that per dialogue.
    """
    Intervals(level=None, seed=options["seed"])  # refuses a seed that no draw takes
    check_places("out")
    require(100 <= options["repetitions"] <= 10**6, "--repetitions", "100 to 1000000", options["repetitions"])
    correlations, simulation = _taken(options, "r1", "r2", "r12"), _taken(options, "repetitions", "seed")
    test = _taken(options, "agreement", "alpha", "power")
    crowd = Crowd(**_taken(options, "share", "slope", "noise", "bias"))
    raters = options.pop("raters") or (11,)
    one, other = ([value is not None for value in study] for study in ((file, true_lambda), correlations.values()))
    if not (all(one) and not any(other)) and not (all(other) and not any(one)):
        raise click.UsageError("Give --r1, --r2 and --r12, or FILE with --true-lambda.")
    if file is not None and true_lambda is not None:
        result = _scored(file, metrics=["FGA@0.5"], **options)
        require("FGA@0.5" in result.counts, file, "FGA of its dialogues", result["FGA@0.5"].why)
        fga = result.metrics["FGA@0.5"], result.counts["FGA@0.5"]
        lambda_plan = plan_lambda(*fga, true_lambda, raters=raters, factor=factor, crowd=crowd, **simulation)
        tables, document = lambda_plan_tables(lambda_plan), {"lambda_plan": lambda_plan.to_dict()}
    else:
        metric_plan = plan_metrics(**correlations, raters=raters[0], others=raters[1:], **test, **simulation)
        tables, document = metric_plan_tables(metric_plan), {"metric_plan": metric_plan.to_dict()}
    emit(tables, {"schema": SCHEMA, **document})


def _scored(file: str, ref: str | None, **options: Any) -> Result:
    """The one system of a FILE. Raises OptionError for a saved result of several."""
    found = systems([file], ref, {**shared.arguments_of(options), "ci": None})
    require(len(found) == 1, file, "one system", ", ".join(one.name for one in found))
    return found[0]
