"""Metrics of which less is better, or that are not in per cent, beside others."""

import numpy as np
import pytest

import dsteval
from dsteval.analysis.rankings import discriminative_power, over_protocols, over_resamples
from dsteval.analysis.reference_change import two_references
from dsteval.analysis.sample_size import plan
from dsteval.analysis.seed_runs import repeated
from dsteval.errors import OptionError
from dsteval.rating.correlation import correlate
from dsteval.rating.ratings import Ratings
from dsteval.render import rankings as tables
from dsteval.render.table import Table, to_md
from dsteval.results.result import Result
from dsteval.stats.intervals import Intervals

RIGHT, WRONG = {"hotel-area": "north"}, {"hotel-area": "south"}
REF = {f"d{number}": [RIGHT] * 4 for number in range(20)}
QUICK = {name: [WRONG, RIGHT, RIGHT, RIGHT] for name in REF}
"""One error in each dialogue, gone at the next turn."""
SLOW = {name: [WRONG] * 4 if int(name[1:]) % 4 else QUICK[name] for name in REF}
"""One error in each dialogue, in most of them never repaired."""
METRICS = ("ErrorLifetime", "OriginErrors", "JGA")


def results(metrics: tuple[str, ...] = METRICS) -> list[Result]:
    systems = {"quick": QUICK, "slow": SLOW}
    return [
        dsteval.evaluate(REF, one, metrics=metrics, name=name, protocol="exact") for name, one in systems.items()
    ]


def printed(found: list[Table]) -> str:
    return "\n".join(map(to_md, found))


def test_the_shorter_lifetime_leads_over_resamples() -> None:
    lifetime, origins, jga = over_resamples(results()).metrics
    assert lifetime.values == (1, 3.25)
    assert lifetime.best == jga.best == (1, 0)
    assert origins.best == (0.5, 0.5)


def test_the_shorter_lifetime_leads_under_protocols() -> None:
    found = over_protocols(REF, {"quick": QUICK, "slow": SLOW}, "ErrorLifetime", ["exact"])
    assert found.protocols[0].ranks == (1, 2) and found.firsts == (1, 0)


def test_turns_are_not_shown_times_100() -> None:
    scored = results(("ErrorLifetime", "JGA"))
    told = "in %; ErrorLifetime in turns"
    assert "| ErrorLifetime | slow | 3.25 |" in printed(tables.resample_tables(over_resamples(scored)))
    assert told in printed(tables.resample_tables(over_resamples(scored)))
    assert "| quick | slow | -2.25 |" in printed(tables.discrimination_tables(discriminative_power(scored)))
    planned = printed(tables.plan_tables(plan(scored, difference={"ErrorLifetime": 1, "JGA": 0.01})))
    assert "| ErrorLifetime | quick | slow | -2.25 | 1.33 | 1.00 | 14 |" in planned
    assert "| JGA | quick | slow | +56.25 |" in planned and "percentage points; ErrorLifetime in turns" in planned
    runs = printed(tables.repeats_tables(repeated(scored)))
    assert "| ErrorLifetime | 2.12 |" in runs and told in runs
    refs = two_references(SLOW, {"ref": REF, "quick": QUICK}, metrics=["ErrorLifetime"])
    assert "| ErrorLifetime | 3.25 | 3.00 | -0.25 |" in printed(tables.reference_tables(refs))


def test_a_difference_that_no_share_can_have_is_refused() -> None:
    with pytest.raises(OptionError, match="at most 100 percentage points for JGA, found 500"):
        plan(results(("JGA",)), difference=5)
    assert plan(results(("ErrorLifetime",)), difference=5).pairs[0].needed == 2
    with pytest.raises(OptionError, match="a difference that is large enough to detect, found 1e-300"):
        plan(results(("JGA",)), difference=1e-300)


def test_agreement_with_people_has_no_direction() -> None:
    """Every turn has a value of its own, so that OriginErrors is 1 - JGA: both agree with people equally well."""
    random = np.random.default_rng(1)
    ref = {name: [{"hotel-area": f"place {turn}"} for turn in range(4)] for name in REF}
    pred = {name: [WRONG if random.random() < 0.3 else state for state in own] for name, own in ref.items()}
    scored = dsteval.evaluate(ref, pred, metrics=["JGA", "OriginErrors"], ci=None)
    jga, origins = (np.array(list(scored.per_dialogue(text).values())) for text in ("JGA", "OriginErrors"))
    assert jga.tolist() == (1 - origins).tolist() and jga.std() > 0
    said = jga[:, None] + random.normal(0, 0.2, (20, 3))
    found = correlate(scored, Ratings(scored.dialogues, ("a", "b", "c"), said), intervals=Intervals(resamples=200))
    up, down = (one.value for one in found.metrics)
    assert up is not None and up > 0 and down == pytest.approx(-up)
    assert [found.pairs[0].difference, found.pairs[0].low, found.pairs[0].high] == pytest.approx([0, 0, 0])
    assert found.pairs[0].between == pytest.approx(1)


def test_bca_reaches_references_and_rankings() -> None:
    ref = {f"d{number}": [RIGHT] * number for number in range(1, 21)}
    one, other = ({name: [WRONG] * (len(own) // part) for name, own in ref.items()} for part in (3, 2))
    one, other = (
        {name: start[name] + own[len(start[name]) :] for name, own in ref.items()} for start in (one, other)
    )
    kinds = {}
    for method in ("percentile", "bca"):
        change = two_references(ref, {"one": one, "other": other}, metrics=["JGA"], interval=method).metrics[0]
        scored = [
            dsteval.evaluate(ref, pred, metrics=["JGA"], name=name) for name, pred in (("a", one), ("b", other))
        ]
        pair = discriminative_power(scored, intervals=Intervals(method=method)).metrics[0].pairs[0]
        between = dsteval.compare({"a": one, "b": other}, ref=ref, metrics=["JGA"], interval=method)[
            "JGA", "a", "b"
        ]
        assert (pair.low, pair.high, pair.p) == (between.low, between.high, between.p)
        kinds[method] = [(change.low, change.high), (pair.low, pair.high)]
    assert all(plain != moved for plain, moved in zip(kinds["percentile"], kinds["bca"], strict=True))
