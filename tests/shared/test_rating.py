"""The FGA paper's study of people, on its own conversations; the figures of docs/rating.md are measured here."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import dsteval
from dsteval import readers
from dsteval.cli import cli
from dsteval.outcomes.table import Array
from dsteval.rating.fitting import LambdaFit, best, fit_lambda, lambdas, scores
from dsteval.rating.pairs import paired, resamples
from dsteval.rating.planning import Crowd, plan_lambda, simulated
from dsteval.rating.ratings import Ratings
from dsteval.readers import Source
from dsteval.render.rating import lambda_plan_tables
from dsteval.render.table import Table, to_md
from dsteval.results.result import Result
from dsteval.stats.agreement import pearson, steiger, williams
from dsteval.stats.intervals import Intervals

pytestmark = pytest.mark.shared

PAGE = (Path(__file__).resolve().parents[2] / "docs/rating.md").read_text(encoding="utf-8")
FOLDER = "data/fga/somdst_100_dialogues"
TRUE, RATERS, CROWD = 0.5, 11, Crowd()


def assert_told(text: str) -> None:
    """The page says so, whatever its line breaks."""
    assert " ".join(text.split()) in " ".join(PAGE.split()), text


@cache
def somdst(shared: Path) -> Result:
    return dsteval.evaluate(None, shared / FOLDER, metrics=["JGA", "FGA@0.5"], protocol="fga-official", ci=None)


def per_dialogue(result: Result, metric: str) -> Array:
    return np.array(list(result.per_dialogue(metric).values()))


def test_round_trip_of_the_papers_files(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "texts"
    assert CliRunner().invoke(cli, ["rate", "export", str(shared / FOLDER), str(out)]).exit_code == 0
    names = sorted(path.name for path in (shared / FOLDER).iterdir())
    assert len(names) == 100
    assert sorted(path.name for path in out.iterdir()) == names
    for name in names:
        assert (out / name).read_bytes() == (shared / FOLDER / name).read_bytes()
    again = list(readers.read(Source.open(out), "pred"))
    assert again == list(readers.read(Source.open(shared / FOLDER), "pred"))


def test_the_papers_difference_is_no_evidence(shared: Path) -> None:
    result = somdst(shared)
    between = pearson(per_dialogue(result, "JGA"), per_dialogue(result, "FGA@0.5"))
    t, p = williams(0.37, 0.33, between, 100)
    z, p_steiger = steiger(0.37, 0.33, between, 100)
    assert between == pytest.approx(0.89, abs=0.001)
    assert p == pytest.approx(0.37, abs=0.005)
    assert f"| 0.33 | 0.37 | {between:.3f} | 100 | {t:.3f} | {p:.3f} | {z:.3f} | {p_steiger:.3f} |" in PAGE


def study(result: Result, conversations: int, seed: int) -> tuple[Array, Ratings]:
    """Conversations drawn from the 100, and what eleven simulated raters say of them."""
    random = np.random.default_rng(seed)
    counts = result.counts["FGA@0.5"]
    drawn = random.integers(0, len(counts), conversations)
    own = scores(result.metrics["FGA@0.5"], counts[drawn], [TRUE])[0]
    said = simulated(own, RATERS, CROWD, random)
    return drawn, Ratings(tuple(map(str, range(conversations))), tuple(map(str, range(RATERS))), said)


def width(low: float, high: float) -> float:
    return high / low if low else math.inf


@pytest.mark.slow
def test_intervals_of_lambda_hold_the_true_one(shared: Path) -> None:
    result = somdst(shared)
    fits: list[LambdaFit] = []
    for seed in range(100):
        drawn, ratings = study(result, 100, seed)
        counts = result.counts["FGA@0.5"][drawn]
        fits.append(fit_lambda(result.metrics["FGA@0.5"], counts, paired(ratings), Intervals(seed=seed), folds=2))
    ends = [(fit.low, fit.high) for fit in fits if fit.low is not None and fit.high is not None]
    held = sum(low <= TRUE <= high for low, high in ends)
    zero, infinite = sum(low == 0 for low, _ in ends), sum(high == math.inf for _, high in ends)
    r = np.mean([fit.r_half for fit in fits if fit.r_half is not None])
    assert held >= 90
    assert np.median([width(*one) for one in ends]) == math.inf
    told = f"""at an r of {r:.2f} in the mean with FGA@0.5. In 100 such studies - the 95 % interval held the true
    lambda in {held}; - it reached down to 0 in {zero} and up to infinity in {infinite},"""
    assert_told(told)


@pytest.mark.slow
def test_conversations_that_narrow_lambda_to_a_factor_of_four(shared: Path) -> None:
    result = somdst(shared)
    metric, counts, numbers = result.metrics["FGA@0.5"], result.counts["FGA@0.5"], lambdas()
    curves = scores(metric, counts, numbers)
    medians, held = {}, 0
    for conversations in (800, 1200, 1600, 2400):
        widths = []
        for seed in range(25):
            drawn, ratings = study(result, conversations, seed)
            pairs = paired(ratings).centred()
            found = [
                best(curves[:, drawn], block) for block in resamples(pairs, Intervals(resamples=400, seed=seed))
            ]
            low, high = np.quantile(np.concatenate(found), [0.025, 0.975], method="nearest").astype(int)
            widths.append(width(numbers[low], numbers[high]))
            held += bool(numbers[low] <= TRUE <= numbers[high])
        medians[conversations] = float(np.median(widths))
    assert medians[2400] < 4 < medians[800]
    assert held >= 90
    assert_told(", ".join(f"{value:.1f} with {size}" for size, value in medians.items()))
    assert_told(f"held the true lambda in {held} of these 100 studies")


def test_the_plan_of_the_page(shared: Path) -> None:
    result = somdst(shared)
    metric, counts = result.metrics["FGA@0.5"], result.counts["FGA@0.5"]
    plan = plan_lambda(metric, counts, TRUE, raters=(3, 11, 30), crowd=CROWD, repetitions=1000)
    (table,) = lambda_plan_tables(plan)
    text = to_md(Table(table.columns, table.rows, table.right)).strip()
    assert text in PAGE, f"\n{text}\n"
