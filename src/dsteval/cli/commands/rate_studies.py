"""What ``dsteval rate`` finds out: how raters agree, how metrics agree with them, and what a study needs."""

from collections.abc import Sequence
from typing import Any

import click
from click import option

from dsteval.cli import options as shared
from dsteval.cli.output_files import emit
from dsteval.cli.path_checks import check_places, typed
from dsteval.cli.systems import systems
from dsteval.errors import ReadError, first_few, require
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

_ratings_options = shared.together(
    option("--ci", type=float, default=0.95, metavar="LEVEL", help="Level of the intervals."),
    option("--no-ci", is_flag=True, help="No intervals."),
    option("--resamples", type=int, default=1000, metavar="N", help="Number of bootstrap resamples."),
    shared.seed_option,
    option("--scale", metavar="LOW..HIGH", help="What ratings may be; others are refused."),
    option("--allow-missing", is_flag=True, help="Go on though rows have no rating."),
)


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
                extent, remedy = f"{extent}; {items}", "Fill them, or leave them out with --allow-missing."
                raise ReadError(where=path, expected="a rating", found="none", extent=extent, remedy=remedy)
            click.echo(f"{path}: {extent} without a rating left out ({items})", err=True)
    return ratings


@click.command("agree", short_help="How far raters agree.")
@click.argument("files", nargs=-1, required=True, metavar="RATINGS...")
@shared.choice("--level", of=LEVELS, default="nominal", help="What ratings are.")
@option("--worst", type=int, default=10, metavar="N", help="How many disputed items are listed.")
@_ratings_options
@shared.form_option
def agree_command(files: tuple[str, ...], level: str, worst: int, **options: Any) -> None:
    """Krippendorff's alpha, Fleiss' and Cohen's kappa, each rater's bias, and the items that divide raters."""
    check_places("out")
    require(worst >= 0, "--worst", "0 or more", worst)
    ratings = table(read_ratings(files, **_taken(options, "scale", "allow_missing")))
    found = agree(ratings, level, _intervals(options), worst)
    emit(agreement_tables(found), {"schema": SCHEMA, "agreement": found.to_dict()}, remarks=found.notes)


@click.command("correlate", short_help="How far metrics agree with raters.")
@click.argument("file", metavar="FILE")
@shared.scoring_options
@option("--ratings", "rated", multiple=True, required=True, metavar="PATH", help="Ratings; may be repeated.")
@option("--metric", "metrics", multiple=True, metavar="M", help="A metric; JGA and FGA@0.5 if none is named.")
@shared.choice("--coefficient", of=COEFFICIENTS, default="pearson", help="Which correlation.")
@shared.choice("--against", of=AGAINST, default="mean", help="The mean rating, or each.")
@option("--key", metavar="PATH", help="The key of a sample: items of one dialogue are drawn together.")
@option("--fit", is_flag=True, help="Find the lambda of FGA that agrees best.")
@option("--folds", type=int, default=10, metavar="K", help="Folds of the cross-validation of lambda.")
@option("--chart", metavar="PATH", help="With --fit: the curve as .svg or .png (needs the extra charts).")
@_ratings_options
@shared.form_option
def correlate_command(
    file: str, rated: tuple[str, ...], key: str | None, fit: bool, folds: int, chart: str | None, **options: Any
) -> None:
    """Correlate metrics of the conversations in FILE with their ratings; items are dialogues of FILE."""
    check_places("out", "chart")
    require(folds >= 2, "--folds", "2 or more", folds)
    require(fit or not typed("folds"), "--folds", "--fit, whose lambda is cross-validated", "none")
    if chart is not None:
        require(fit, "--chart", "--fit, whose curve it shows", "none")
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
        expected = f"at most {most}, the conversations there are"
        require(most >= folds or not typed("folds"), "--folds", expected, folds)  # the default is for all that go
        if chart is not None:
            charts.save(best, chart)
    emit(correlation_tables(found), {"schema": SCHEMA, "correlations": found.to_dict()}, remarks=found.notes)


@click.command("plan", short_help="How many conversations and raters a study needs.")
@click.argument("file", required=False, metavar="[FILE]")
@shared.scoring_options
@option("--r1", type=float, metavar="R", help="One metric's correlation with the mean rating.")
@option("--r2", type=float, metavar="R", help="The other's.")
@option("--r12", type=float, metavar="R", help="That of the two metrics.")
@option("--raters", multiple=True, type=int, metavar="N", help="Raters a conversation; may be repeated.")
@option("--agreement", type=float, metavar="A", help="Correlation of two raters, such as alpha.")
@option("--alpha", type=float, default=0.05, metavar="P", help="Level of the test.")
@option("--target-power", "power", type=float, default=0.8, metavar="P", help="Share of studies that shall tell.")
@option("--true-lambda", type=float, metavar="L", help="Find this lambda on conversations like FILE's.")
@option("--factor", type=float, default=4.0, metavar="F", help="How narrow: high / low.")
@option("--share", type=float, default=0.5, metavar="P", help="Share of satisfied ratings.")
@option("--slope", type=float, default=0.5, metavar="X", help="Satisfaction gained with FGA from 0 to 1.")
@option("--noise", type=float, default=0.2, metavar="X", help="What else moves it, a deviation.")
@option("--bias", type=float, default=0.1, metavar="X", help="How raters differ, a deviation.")
@option("--repetitions", type=int, default=1000, metavar="N", help="Simulated studies.")
@shared.seed_option
@shared.form_option
def plan_command(file: str | None, true_lambda: float | None, factor: float, **options: Any) -> None:
    """How many conversations tell two metrics apart (--r1 --r2 --r12), or find a lambda (FILE --true-lambda)."""
    Intervals(level=None, seed=options["seed"])  # refuses a seed that no draw takes
    check_places("out")
    require(100 <= options["repetitions"] <= 10**6, "--repetitions", "100 to 1000000", options["repetitions"])
    correlations, simulation = _taken(options, "r1", "r2", "r12"), _taken(options, "repetitions", "seed")
    test = _taken(options, "agreement", "alpha", "power")
    crowd = Crowd(**_taken(options, "share", "slope", "noise", "bias"))
    raters = options.pop("raters") or (11,)
    one, other = ([value is not None for value in study] for study in ((file, true_lambda), correlations.values()))
    either = (all(one) and not any(other)) or (all(other) and not any(one))
    found = "something of both" if any(one) and any(other) else "not all of either"
    require(either, "rate plan", "--r1, --r2 and --r12, or a FILE with --true-lambda", found)
    if file is not None and true_lambda is not None:
        result = _scored(file, metrics=["FGA@0.5"], **options)
        require("FGA@0.5" in result.counts, file, "FGA of its conversations", result["FGA@0.5"].why)
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
