"""Slices against the oracle on states cut down to them, by each convention; what adds up; lambdas of domains."""

import json
import math
import os
import re
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dsteval
import naive
import naive_more
import twins
from commandline import run
from dsteval import metrics
from dsteval.protocols import model as protocol
from dsteval.results.result import Score, SliceScores
from native import FORMATS, done, refusal, written

Corpus = dict[str, list[tuple[dict[str, str], dict[str, str]]]]
Mask = list[list[bool]]

thorough = os.environ.get("DSTEVAL_THOROUGH") == "1"
few = settings(max_examples=500 if thorough else 25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

MULTIWOZ = ["hotel-area", "hotel-name", "hotel-book day", "train-day", "taxi-leaveat", "restaurant-food"]
SERVICES = ["hotels_1-area", "hotels_2-area", "hotels_2-stars", "flights_4-seats", "spa-room", "food"]
INVENTORY = {"attraction": 3, "hotel": 10, "restaurant": 7, "taxi": 4, "train": 6}
METRICS = [
    "JGA",
    "JGA(average=dialogue)",
    "SlotAccuracy",
    "AGA",
    "AGA(over=union)",
    "SlotPrecision",
    "SlotRecall",
    "SlotF1",
    "TurnF1",
    "JGA(turns=last)",
    "JGA(average=dialogue,turns=last)",
    "SlotAccuracy(wrong=twice)",
    "SlotAccuracy(turns=last)",
    "TurnF1(turns=last)",
    "DialogueMatch",
    "GCA",
    "IAGA",
    "NoneF1",
    "NonePrecision",
    "NoneRecall",
    "RSA",
    "RSA(empty=one)",
    "UpdateAccuracy",
    *(f"TurnMatch(variant={variant})" for variant in ("official", "paper", "strict", "trippy", "hidst")),
    *(f"FGA(variant={variant})@0.5" for variant in ("official", "paper", "strict", "trippy", "hidst")),
    "FGA(average=dialogue)@0.5",
]
ADDING = [m for m in METRICS if not re.search("[dD]ialogue|strict|AGA", m)]


@st.composite
def corpora(draw: st.DrawFn, names: tuple[list[str], ...] = (MULTIWOZ, MULTIWOZ[:3], SERVICES)) -> Corpus:
    """A few dialogues of some domains; predictions follow the reference, with errors that stay for a while."""
    slots = draw(st.sampled_from(names))
    edits = st.dictionaries(st.sampled_from(slots), st.sampled_from(["a", "b", "", "c"]), max_size=2)
    corpus: Corpus = {}
    for name in draw(st.lists(st.sampled_from("wxyz"), min_size=1, max_size=4, unique=True)):
        ref: dict[str, str] = {}
        pred: dict[str, str] = {}
        turns = []
        for edit, slip, follows in draw(
            st.lists(st.tuples(edits, edits, st.integers(0, 3)), min_size=1, max_size=6)
        ):
            ref = {**ref, **edit}
            pred = {**pred, **(edit if follows else {}), **(slip if follows != 2 else {})}
            turns.append((ref, dict(ref) if follows == 3 else pred))
        corpus[name] = turns
    return corpus


def evaluated(corpus: Corpus, *by: str, metrics: list[str] = METRICS, **options: Any) -> dsteval.Result:
    ref = {name: [turn[0] for turn in turns] for name, turns in corpus.items()}
    pred = {name: [turn[1] for turn in turns] for name, turns in corpus.items()}
    return dsteval.evaluate(ref, pred, metrics=metrics, by=by, **options)


KEYS: dict[str, Callable[[str], str]] = {
    "domain": lambda slot: re.sub(r"(?<=.)_\d+$", "", slot.split("-")[0] if "-" in slot else ""),
    "service": lambda slot: slot.split("-")[0] if "-" in slot else "",
    "slot": str,
}


def counting(cut: naive.Corpus, convention: str) -> Mask:
    """Which turns count."""
    active = [[bool(ref) for ref, _ in dialogue] for dialogue in cut]
    if convention == "active":
        return active
    return [[convention == "all" or any(turns) for _ in turns] for turns in active]


def cut_to(whole: naive.Corpus, mask: Mask) -> naive.Corpus:
    """The turns that count."""
    return [[turn for turn, keep in zip(d, row, strict=True) if keep] for d, row in zip(whole, mask, strict=True)]


def figures(text: str, whole: naive.Corpus, mask: Mask, n_slots: int) -> tuple[float, int | None, int]:
    """Value, count and total of a metric over the turns that count; the turn before may be any."""
    metric = metrics.parse(text)
    if "turns=last" in text:
        mask = [[keep and t + 1 == len(row) for t, keep in enumerate(row)] for row in mask]
    if metric.name in ("FGA", "TurnMatch"):
        return weighed(metric, whole, mask)
    counting = [keep for row in mask for keep in row]
    if metric.name == "UpdateAccuracy":
        return naive_more.share([*compress(naive_more.update_matches(whole), counting)])
    if metric.name == "GCA":
        value, changes = naive_more.gca(compress(naive_more.gca_counts(whole), counting))
        return value, None, changes
    kept = [dialogue for dialogue in cut_to(whole, mask) if dialogue]
    return twins.figures(metric, kept, "exact", n_slots)


def weighed(metric: metrics.Metric, whole: naive.Corpus, mask: Mask) -> tuple[float, int | None, int]:
    """FGA and TurnMatch: the error turn may be one that does not count."""
    given = dict(metric.given)
    distances = [naive.error_distances(dialogue, given.get("variant", "official")) for dialogue in whole]
    number = math.inf if metric.number is None else metric.number
    weights = [
        [naive.weight(x, number) for x, keep in zip(d, row, strict=True) if keep]
        for d, row in zip(distances, mask, strict=True)
    ]
    value = naive.averaged(weights, given.get("average", "turn"))
    if given.get("average") == "dialogue":
        return value, None, sum(map(bool, weights))
    return value, round(sum(map(sum, weights))) if metric.name == "TurnMatch" else None, sum(map(len, weights))


def assert_scores(found: tuple[Score, ...], whole: naive.Corpus, mask: Mask, n_slots: int) -> None:
    for score in found:
        value, count, total = figures(score.metric, whole, mask, n_slots)
        assert (score.count, score.total) == (count, total), score
        if math.isnan(value):
            assert score.value is None, score
            assert score.why
        else:
            assert score.value == pytest.approx(value, abs=1e-12), score


@few
@given(corpora(), st.sampled_from([*KEYS]))
def test_slices_by_slots_are_the_metrics_on_restricted_states(corpus: Corpus, by: str) -> None:
    prepared = naive.prepare(corpus, "exact")  # type: ignore[arg-type]
    slots = {slot for dialogue in prepared for turn in dialogue for state in turn for slot in state}
    result = evaluated(corpus, by)
    key_of = KEYS[by]
    found = [(one.by, one.key, one.convention) for one in result.slices]
    assert found == [
        (by, key, convention)
        for key in sorted({key_of(slot) for slot in slots})
        for convention in ("active", "dialogue", "all")
    ]
    for one in result.slices:
        cut = naive.restrict(prepared, lambda slot, key=one.key: key_of(slot) == key)  # type: ignore[misc]
        mask = counting(cut, one.convention)
        assert one.turns == sum(map(sum, mask))
        n_slots = sum(key_of(slot) == one.key for slot in slots)
        if slots <= {*MULTIWOZ}:
            n_slots = 1 if by == "slot" else INVENTORY[one.key]
        assert_scores(one.scores, cut, mask, n_slots)


@few
@given(corpora(), st.sampled_from(["turn", "dialogue", "length"]))
def test_slices_by_turns_are_the_metrics_over_these_turns(corpus: Corpus, by: str) -> None:
    prepared = naive.prepare(corpus, "exact")  # type: ignore[arg-type]
    result = evaluated(corpus, by)
    names = list(corpus)
    keys = {
        "turn": [[str(t) for t in range(len(turns))] for turns in corpus.values()],
        "dialogue": [[name] * len(corpus[name]) for name in names],
        "length": [[str(len(turns))] * len(turns) for turns in corpus.values()],
    }[by]
    expected = names if by == "dialogue" else sorted({key for row in keys for key in row}, key=int)
    assert [one.key for one in result.slices] == expected
    for one in result.slices:
        mask = [[key == one.key for key in row] for row in keys]
        assert one.convention == "all"
        assert one.turns == sum(map(sum, mask))
        assert_scores(one.scores, prepared, mask, result.n_slots)


def parts(result: dsteval.Result, convention: str, metric: str) -> tuple[int, int]:
    chosen = [s for one in result.slices if one.convention == convention for s in one.scores if s.metric == metric]
    return sum(score.count or 0 for score in chosen), sum(score.total or 0 for score in chosen)


@few
@given(corpora(), st.sampled_from(["turn", "dialogue", "length"]))
def test_parts_add_up(corpus: Corpus, by: str) -> None:
    result = evaluated(corpus, by, metrics=ADDING)
    for score in result.scores:
        if score.count is not None:
            assert parts(result, "all", score.metric) == (score.count, score.total)
    weighed = {one.key: one.turns for one in result.slices}
    assert sum(weighed.values()) == result["JGA"].total
    for metric in ("FGA(variant=official)@0.5", "FGA(variant=paper)@0.5", "TurnF1"):
        values = [(s.value or 0) * one.turns for one in result.slices for s in one.scores if s.metric == metric]
        assert math.fsum(values) == pytest.approx((result[metric].value or 0) * (result[metric].total or 0))


@few
@given(corpora(), st.sampled_from([*KEYS]))
def test_pairs_of_slots_add_up(corpus: Corpus, by: str) -> None:
    result = evaluated(corpus, by, metrics=ADDING)
    for metric in ("SlotRecall", "SlotF1", "SlotPrecision"):
        assert parts(result, "all", metric) == (result[metric].count, result[metric].total)
    # A reference pair is in an active turn always, a spurious one need not be.
    assert parts(result, "active", "SlotRecall") == (result["SlotRecall"].count, result["SlotRecall"].total)


def test_an_error_before_the_domain_counts_is_inherited_from_outside() -> None:
    # The train is predicted before the reference has it: turn 0 does not count under "active", but is the error.
    pred = [{"train-day": "a", "train-people": "x"}] * 3
    corpus: Corpus = {"d": list(zip([{}, {"train-day": "a"}, {"train-day": "a"}], pred, strict=True))}
    result = evaluated(corpus, "domain", metrics=["JGA", "FGA@1", "TurnMatch"])
    by_convention = {one.convention: {s.metric: s for s in one.scores} for one in result.slices}
    active = by_convention["active"]
    assert (active["JGA"].count, active["JGA"].total, active["TurnMatch"].count) == (0, 2, 2)
    assert active["FGA@1"].value == pytest.approx((2 - math.exp(-1) - math.exp(-2)) / 2)
    assert by_convention["all"]["FGA@1"].value == pytest.approx((2 - math.exp(-1) - math.exp(-2)) / 3)


def test_a_domain_that_comes_late_has_the_turns_before_it() -> None:
    state = {"hotel-area": "north"}
    corpus: Corpus = {"a": [(state, state)], "b": [({"taxi-destination": "x"}, {"taxi-destination": "none"})]}
    result = evaluated(corpus, "domain", metrics=["GCA", "JGA"], protocol="gca")
    turns = {one.key: one.turns for one in result.slices if one.convention == "all"}
    assert turns == {"hotel": 2, "taxi": 2}


def test_services_are_grouped_into_domains() -> None:
    ran = done("score", FORMATS / "sgd/dev", "--ref", FORMATS / "sgd/dev", "--by", "domain", "--as", "json")
    slices = json.loads(ran.out)["systems"][0]["slices"]
    assert {one["key"] for one in slices} == {"flights", "hotels"}
    # The schema lists three slots of hotels and two of flights.
    accuracy = {
        (o["key"], o["convention"]): s for o in slices for s in o["scores"] if s["metric"] == "SlotAccuracy"
    }
    assert accuracy["hotels", "all"]["total"] == 4 * 3
    assert accuracy["flights", "active"]["total"] == 1 * 2
    ran = done("score", FORMATS / "sgd/dev", "--ref", FORMATS / "sgd/dev", "--by", "service", "--as", "json")
    assert {one["key"] for one in json.loads(ran.out)["systems"][0]["slices"]} == {"flights_9", "hotels_9"}


# Right/wrong marks -----------------------------------------------------------------------------------------------

BITS = protocol.load("fga-trippy").scope.bits
TOLD = ["JGA", "SlotAccuracy", "AGA", "TurnMatch", "FGA@0.5"]


def _filled(state: dict[str, str]) -> dict[str, str]:
    return {slot: value for slot, value in state.items() if value}


def plain(slices: tuple[SliceScores, ...]) -> dict[tuple[str, str], list[Any]]:
    return {(o.key, o.convention): [(s.metric, s.value, s.count, s.total) for s in o.scores] for o in slices}


@few
@given(corpora((MULTIWOZ,)), st.sampled_from(["domain", "slot"]))
def test_marks_have_the_slices_of_the_states_behind_them(corpus: Corpus, by: str) -> None:
    # There is a slot at least; and an empty value is one that is not there, whatever the protocol says of it.
    corpus = {n: [({**b, "hotel-area": "a"}, p) for b, p in turns] for n, turns in corpus.items()}
    corpus = {n: [(_filled(b), _filled(p)) for b, p in turns] for n, turns in corpus.items()}
    settings = {**naive.PROTOCOLS["fga-trippy"], "left_out": []}
    cut = naive.prepare(corpus, settings)  # type: ignore[arg-type]
    marks = {
        name: {t: [int(s not in naive.wrong_slots(*turn)) for s in BITS] for t, turn in enumerate(dialogue)}
        for name, dialogue in zip(corpus, cut, strict=True)
    }
    ref = {name: [turn[0] for turn in turns] for name, turns in corpus.items()}
    options: dict[str, Any] = {"metrics": TOLD, "by": [by], "protocol": "fga-trippy"}
    from_states = plain(evaluated(corpus, by, metrics=TOLD, protocol="fga-trippy").slices)
    from_marks = plain(dsteval.evaluate(ref, marks, **options).slices)
    assert {key: from_marks[key] for key in from_states} == from_states
    alone = plain(dsteval.evaluate(None, marks, **options).slices)
    assert {convention for _, convention in alone} == {"all"}
    assert {key for key, _ in alone} == (set(BITS) if by == "slot" else {*INVENTORY})
    for key, scores in alone.items():
        told = [score for score in from_marks[key] if score[0] != "AGA"]
        assert [score for score in scores if score[0] != "AGA"] == told


# Lambdas of domains ----------------------------------------------------------------------------------------------

DOMAINS: Corpus = {
    "d": [
        ({"train-day": "a"}, {"train-day": "b"}),
        ({"train-day": "a", "hotel-area": "x"}, {"train-day": "b", "hotel-area": "y"}),
        ({"train-day": "a", "hotel-area": "x"}, {"train-day": "b", "hotel-area": "y"}),
    ]
}


def lambdas(metrics: list[str], **own: float) -> dict[tuple[str, str], dict[str, float | None]]:
    result = evaluated(DOMAINS, metrics=metrics, domain_lambda=own)
    return {(o.key, o.convention): {s.metric: s.value for s in o.scores} for o in result.slices}


def test_a_domain_has_a_lambda_of_its_own() -> None:
    found = lambdas(["JGA", "FGA@0.5"], train=0)
    assert found["train", "active"] == {"JGA": 0, "FGA@0": 0}
    assert found["hotel", "active"] == {"JGA": 0, "FGA@0.5": pytest.approx((1 - math.exp(-0.5)) / 2)}
    found = lambdas(["JGA", "FGA@0.5"], train=math.inf, hotel=2.5)
    assert found["train", "active"]["FGA@inf"] == pytest.approx(2 / 3)
    assert found["hotel", "active"]["FGA@2.5"] == pytest.approx((1 - math.exp(-2.5)) / 2)


@pytest.mark.parametrize("typed", ["FGA(variant=strict)", "FGA(average=dialogue)", "FGA(variant=trippy)"])
def test_a_lambda_of_its_own_keeps_the_variant(typed: str) -> None:
    found = lambdas([f"{typed}@0.5"], train=1)
    assert found["train", "active"].keys() == {f"{typed}@1"}
    assert found["hotel", "active"].keys() == {f"{typed}@0.5"}


@pytest.fixture
def path(tmp_path: Path) -> str:
    lines = (
        json.dumps({"dialogue_id": "d", "turn_id": t, "ref": b, "pred": p})
        for t, (b, p) in enumerate(DOMAINS["d"])
    )
    return str(written(tmp_path / "both.jsonl", "\n".join(lines)))


def test_lambdas_on_the_command_line(path: str) -> None:
    ran = done("score", path, "--domain-lambda", "train=0", "--domain-lambda", "hotel=inf", "--as", "json")
    slices = json.loads(ran.out)["systems"][0]["slices"]
    told = {one["key"]: [s["metric"] for s in one["scores"] if "FGA" in s["metric"]] for one in slices}
    assert told == {"train": ["FGA@0"], "hotel": ["FGA@inf"]}
    signature = next(s["signature"] for one in slices for s in one["scores"] if s["metric"] == "FGA@0")
    assert signature.startswith("FGA(variant=official)@0|slice:domain=train:active|proto:exact@2|")
    text = done("score", path, "--domain-lambda", "train=0").out
    assert "By domain" in text
    assert "FGA@0 " in text.replace("\n", " ")


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("trian=1", ["Unknown domain in --domain-lambda 'trian'. Did you mean 'train'?"]),
        ("bus=1", ["Unknown domain in --domain-lambda 'bus'. Known: hotel, train."]),
        (
            "train=-1",
            ["--domain-lambda train=-1", "expected DOMAIN=L, where L is a number of at least 0", "found '-1'"],
        ),
        ("train=much", ["--domain-lambda train=much", "found 'much'"]),
        ("train=nan", ["found 'nan'"]),
        ("train=", ["found ''"]),
        ("train", ["--domain-lambda train:", "DOMAIN=L"]),
        ("=1", ["--domain-lambda =1", "DOMAIN=L"]),
    ],
)
def test_lambdas_that_are_refused(path: str, given: str, parts: list[str]) -> None:
    said = refusal("score", path, "--domain-lambda", given)
    for part in parts:
        assert part in said, said


def test_lambda_below_zero_in_python() -> None:
    with pytest.raises(
        dsteval.DstevalError,
        match="expected a number of at least 0, or inf \\(lambda, how fast a past error is forgiven\\)",
    ):
        lambdas(["JGA"], train=-1)


def test_by_what_is_not_known(path: str) -> None:
    assert refusal("score", path, "--by", "domian").startswith(
        "Unknown value of --by 'domian'. Did you mean 'domain'?"
    )
    assert run("score", path, "--by", "slot", "--by", "slot", "--by", "turn", "--as", "md").code == 0
    with pytest.raises(dsteval.DstevalError, match="Did you mean 'slot'"):
        evaluated(DOMAINS, "slots")
