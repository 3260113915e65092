"""The engine against the oracle: every metric, every parameter, every protocol, on random corpora."""

import itertools
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dsteval
import naive
import naive_more
from dsteval import metrics
from dsteval.align.coverage import Coverage
from dsteval.align.fingerprint import Fingerprint
from dsteval.metrics import Metric
from dsteval.metrics.fga import INFINITE, TYPE1, distances
from dsteval.outcomes.table import Outcomes
from dsteval.protocols import model as protocol
from dsteval.results.partition import Partition, count
from dsteval.results.result import Result, Score
from dsteval.values.slots import MULTIWOZ, domain_of
from dsteval.values.tools.convlab import squeeze
from dsteval.values.tools.fix_label import fix_label
from forms import fga_json, jsonl, outcomes_of, sides, slots_of, without_null
from strategies import (
    MULTIWOZ_SLOTS,
    Update,
    WrittenCorpus,
    corpora,
    literal_corpora,
    long_corpora,
    trippy_corpora,
    updates,
)
from twins import LAMBDAS, every_metric, figures

VARIANTS = ("official", "paper", "strict", "trippy", "hidst")
TRADE_FAMILY = ("trade", "t5dst", "somdst")


def normalise(slot: str, value: str) -> str:
    """What ``normalised`` does, as far as the values of our strategies go."""
    times = {"5pm": "17:00", "9:15": "09:15", "24:10": "00:10"}
    spellings = {"center": "centre", "guesthouse": "guest house"}
    value = spellings.get(value, value)
    return times.get(value, value) if slot.endswith(("leaveat", "time")) else value


NORMALISERS = {**dict.fromkeys(TRADE_FAMILY, fix_label), "convlab-t5": squeeze}
"""What single values become is tested elsewhere."""


def prepared(corpus: WrittenCorpus, name: str) -> naive.Corpus:
    return naive.prepare(without_null(corpus), name, NORMALISERS.get(name, normalise))


def labelled(corpus: WrittenCorpus, name: str) -> naive.Corpus:
    """As prepared, with the slots written "none"."""
    left_out = naive.PROTOCOLS[name]["left_out"]
    raw = {
        d: turns for d, turns in without_null(corpus).items() if d.lower().removesuffix(".json") not in left_out
    }
    return naive_more.with_none(raw, prepared(corpus, name))


def n_slots_of(corpus: naive.Corpus, name: str) -> int:
    seen = slots_of(corpus)
    return naive.PROTOCOLS[name]["n_slots"] or (30 if seen <= set(MULTIWOZ_SLOTS) else len(seen))


def assert_score(
    found: Score,
    metric: Metric,
    corpus: naive.Corpus,
    name: str,
    n_slots: int,
    with_none: naive.Corpus | None = None,
) -> None:
    value, count, total = figures(metric, corpus, name, n_slots, with_none)
    assert (found.count, found.total) == (count, total), metric
    if math.isnan(value):
        assert found.value is None, metric
        assert found.why
    else:
        assert found.value is not None, metric
        assert abs(found.value - value) <= 1e-12, metric


def assert_naive(result: Result, corpus: naive.Corpus, name: str, with_none: naive.Corpus | None = None) -> None:
    n_slots = n_slots_of(corpus, name)
    for text in result.metrics:
        assert_score(result[text], metrics.parse(text), corpus, name, n_slots, with_none)


def partition_of(outcomes: Outcomes, metric: metrics.Metric) -> Partition:
    return Partition(
        tuple(outcomes.dialogues),
        tuple(np.diff(outcomes.offsets).tolist()),
        *count([metric], outcomes),
        Coverage(),
        Fingerprint(),
    )


def assert_every_metric(corpus: WrittenCorpus, number: float, *names: str) -> None:
    wanted = [*every_metric([number])]
    for name in names:
        # A name that means another metric takes none of its own parameters.
        means = naive.PROTOCOLS[name]["means"]
        asked = [metric for metric in wanted if not (metric.given and metric.name in means)]
        result = dsteval.evaluate(*sides(corpus), metrics=asked, protocol=name)
        assert_naive(result, prepared(corpus, name), name, labelled(corpus, name))
        # The first has met all pairs of parameters; to the others each parameter alone is news enough.
        wanted = [metric for metric in wanted if len(metric.given) < 2]


@given(corpora(), st.sampled_from(LAMBDAS))
def test_every_metric_where_values_are_folded(corpus: WrittenCorpus, number: float) -> None:
    assert_every_metric(corpus, number, "exact", "normalised")


@given(literal_corpora(), st.sampled_from(LAMBDAS))
def test_every_metric_where_texts_are_literal(corpus: WrittenCorpus, number: float) -> None:
    assert_every_metric(corpus, number, "fga-official", "fga-paper", "gca")


@given(literal_corpora(), st.sampled_from(LAMBDAS), st.sampled_from(TRADE_FAMILY))
def test_every_metric_in_the_family_of_trade(corpus: WrittenCorpus, number: float, name: str) -> None:
    assert_every_metric(corpus, number, name)


@given(literal_corpora(), st.sampled_from(LAMBDAS), st.sampled_from(["convlab-t5", "simpletod-v1", "card-recipe"]))
def test_every_metric_under_other_settings(corpus: WrittenCorpus, number: float, name: str) -> None:
    assert_every_metric(corpus, number, name)


@given(corpora())
def test_the_card_is_exact(corpus: WrittenCorpus) -> None:
    wanted = [metric for metric in every_metric([0.5]) if not metric.given]
    result = dsteval.evaluate(*sides(corpus), metrics=wanted, protocol="card")
    assert_naive(result, prepared(corpus, "card"), "card")
    assert naive.PROTOCOLS["card"] == naive.PROTOCOLS["exact"]


@given(st.one_of(trippy_corpora(), literal_corpora()), st.sampled_from(LAMBDAS))
def test_every_metric_under_fga_trippy(corpus: WrittenCorpus, number: float) -> None:
    assert_every_metric(corpus, number, "fga-trippy")


def test_the_oracle_knows_every_protocol_tested_here() -> None:
    assert naive.PROTOCOLS.keys() <= {*protocol.names()}
    assert len(naive.PROTOCOLS) == 13


def test_a_bar_in_a_literal_text_separates_nothing() -> None:
    # Glued and cut, "north|rose-garden" of slot hotel-area is the slot "hotel-area-north|rose", not hotel-area.
    corpus: WrittenCorpus = {"d": [({"hotel-area": "north|rose-garden"}, {"hotel-area": "north"})]}
    result = dsteval.evaluate(*sides(corpus), metrics=["SlotAccuracy"], protocol="fga-official")
    assert_naive(result, prepared(corpus, "fga-official"), "fga-official")
    assert (result["SlotAccuracy"].count, result["SlotAccuracy"].total) == (28, 30)


@given(long_corpora())
def test_large_distances(corpus: WrittenCorpus) -> None:
    wanted = [dsteval.FGA(variant=variant) @ 0.01 for variant in VARIANTS]
    wanted += [dsteval.TurnMatch(variant=variant) for variant in VARIANTS]
    result = dsteval.evaluate(*sides(corpus), metrics=wanted, protocol="fga-official")
    assert_naive(result, prepared(corpus, "fga-official"), "fga-official")


def test_trippy_takes_a_weight_that_rounds_to_one_for_an_exact_turn() -> None:
    corpus: WrittenCorpus = {"d": [({"hotel-area": "north"}, {})] * 100}
    outcomes = outcomes_of(corpus, "fga-trippy", every_metric([]))
    type_1 = [t for t, x in enumerate(distances(outcomes, "trippy")) if x == TYPE1]
    assert type_1 == [0, 39, 78]
    wanted = [m for m in every_metric() if m.name in ("FGA", "TurnMatch")]
    result = dsteval.evaluate(*sides(corpus), metrics=wanted, protocol="fga-trippy")
    assert_naive(result, prepared(corpus, "fga-trippy"), "fga-trippy")


@given(st.one_of(literal_corpora(), long_corpora()))
def test_error_distances(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus, "fga-official", every_metric([]))
    for variant in VARIANTS:
        expected: list[int] = []
        for dialogue in prepared(corpus, "fga-official"):
            for x in naive.error_distances(dialogue, variant):
                expected.append(0 if x is None else TYPE1 if x == 0 else INFINITE if math.isinf(x) else int(x))
        assert distances(outcomes, variant).tolist() == expected, variant


@given(corpora())
def test_every_official_type_1_is_a_strict_type_1(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus, "exact", every_metric([]))
    official, strict = (distances(outcomes, variant) == TYPE1 for variant in ("official", "strict"))
    assert (strict | ~official).all()


@given(st.one_of(corpora(), long_corpora()))
def test_lambda_0_is_jga_and_infinity_is_turn_match(corpus: WrittenCorpus) -> None:
    averages, pairs = ("turn", "dialogue"), []
    for average, variant in itertools.product(averages, VARIANTS):
        fga, match = (metric(average=average, variant=variant) for metric in (dsteval.FGA, dsteval.TurnMatch))
        pairs += [(fga @ 0, dsteval.JGA(average=average)), (fga @ math.inf, match)]
    result = dsteval.evaluate(*sides(corpus), metrics=[*dict.fromkeys(itertools.chain.from_iterable(pairs))])
    for fga, end in pairs:
        assert result[fga].value == result[end].value, fga


def scores(result: Result) -> list[tuple[str, float | None, int | None, int | None, str]]:
    return [(s.metric, s.value, s.count, s.total, s.signature) for s in result.scores]


def assert_same_from_every_form(corpus: WrittenCorpus, name: str, place: Any) -> None:
    wanted = [metric for metric in every_metric([0.5]) if not metric.given]

    def scored(ref: Any, pred: Any) -> Result:
        return dsteval.evaluate(ref, pred, metrics=wanted, protocol=name)

    ref, pred = sides(corpus)
    expected = scores(scored(ref, pred))
    files: Mapping[str, str] = {
        "both.json": json.dumps(fga_json(corpus, falling=name not in ("fga-official", "gca"))),
        "both.jsonl": "".join(json.dumps(line) + "\n" for line in reversed(jsonl(corpus))),
        "ref.json": json.dumps({d: {str(t): state for t, state in enumerate(s)} for d, s in ref.items()}),
        "pred.json": json.dumps(pred, indent=1),
    }
    for file, text in files.items():
        (place / file).write_text(text, encoding="utf-8")
    assert scores(scored(None, place / "both.json")) == expected
    assert scores(scored(None, place / "both.jsonl")) == expected
    assert scores(scored(place / "ref.json", str(place / "pred.json"))) == expected
    assert scores(scored(None, jsonl(corpus))) == expected


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder for the files of one example after the other."""
    return tmp_path_factory.mktemp("forms")


@given(corpus=corpora())
# A dialogue of one turn is one line of JSON, and looks like an object of dialogues at first.
@example(corpus={"MUL0001.json": [({"hotel-area": "north"}, {})]})
def test_same_result_from_every_form(place: Any, corpus: WrittenCorpus) -> None:
    assert_same_from_every_form(corpus, "exact", place)


@given(corpus=literal_corpora())
def test_same_result_from_every_form_literally(place: Any, corpus: WrittenCorpus) -> None:
    assert_same_from_every_form(corpus, "fga-official", place)


@given(st.lists(st.tuples(updates(), updates()), min_size=1, max_size=3))
def test_updates_are_accumulated(dialogues: list[tuple[list[Update], list[Update]]]) -> None:
    corpus: WrittenCorpus = {}
    changed = {}
    for number, (truth, changes) in enumerate(dialogues):
        length = min(len(truth), len(changes))
        states = zip(naive.accumulate(truth[:length]), naive.accumulate(changes[:length]), strict=True)
        corpus[f"d{number}"] = [({**b}, {**p}) for b, p in states]
        changed[f"d{number}"] = changes[:length]
    ref, _ = sides(corpus)
    result = dsteval.evaluate(ref, changed, metrics=[*every_metric([0.5])], updates=True)
    assert_naive(result, prepared(corpus, "exact"), "exact", labelled(corpus, "exact"))
    lines = [
        {"dialogue_id": name, "turn_id": t, "ref": ref[name][t], "update": change}
        for name, turns in changed.items()
        for t, change in enumerate(turns)
    ]
    from_lines = dsteval.evaluate(None, lines, metrics=[*every_metric([0.5])])
    assert [s.value for s in from_lines.scores] == [s.value for s in result.scores]


@given(corpora())
def test_slice_is_the_metric_on_restricted_states(corpus: WrittenCorpus) -> None:
    assert_slices(corpus, "exact")


@given(literal_corpora())
def test_slice_of_literal_texts(corpus: WrittenCorpus) -> None:
    assert_slices(corpus, "fga-official")


def assert_slices(corpus: WrittenCorpus, name: str) -> None:
    """Every slice by slot or domain, of all turns, is the metric on states cut down to it."""
    whole = prepared(corpus, name)
    typed = [metric for metric in every_metric([0.5]) if len(metric.given) < 2]
    ref, pred = sides(corpus)
    result = dsteval.evaluate(ref, pred, metrics=typed, protocol=name, by=["slot", "domain"], slots=30, ci=None)
    keys: dict[str, Callable[[str], str]] = {"slot": str, "domain": domain_of}
    slot_list = MULTIWOZ if slots_of(whole) <= set(MULTIWOZ) else sorted(slots_of(whole))
    parts = [part for part in result.slices if part.convention == "all"]
    assert {part.key for part in parts if part.by == "slot"} == slots_of(whole)
    for part in parts:
        key_of = keys[part.by]

        def keep(slot: str, key_of: Callable[[str], str] = key_of, key: str = part.key) -> bool:
            return key_of(slot) == key

        cut, cut_labelled = naive.restrict(whole, keep), naive.restrict(labelled(corpus, name), keep)
        n_slots = sum(map(keep, slot_list)) or 30
        for metric, score in zip(typed, part.scores, strict=True):
            assert_score(score, metric, cut, name, n_slots, cut_labelled)


def marks(corpus: naive.Corpus, ids: list[str]) -> dict[str, dict[int, list[int]]]:
    """Right/wrong marks as TripPy's file holds them."""
    slots = protocol.load("fga-trippy").scope.bits
    return {
        name: {t: [int(s not in naive.wrong_slots(*turn)) for s in slots] for t, turn in enumerate(dialogue)}
        for name, dialogue in zip(ids, corpus, strict=True)
    }


@given(corpus=trippy_corpora())
def test_marks_score_as_the_states_behind_them(corpus: WrittenCorpus) -> None:
    # The dialogue that is left out needs marks too; any will do.
    settings = {**naive.PROTOCOLS["fga-trippy"], "left_out": []}
    bits = marks(naive.prepare(without_null(corpus), settings), list(corpus))
    ref, _ = sides(corpus)
    wanted = [*every_metric([0.0, 0.5, math.inf])]
    told = [m for m in wanted if m.name in ("JGA", "SlotAccuracy", "TurnMatch", "FGA", "AGA", "DialogueMatch")]
    told = [m for m in told if dict(m.given).get("variant", "trippy") == "trippy"]
    told = [m for m in told if not {("split", "last"), ("over", "union"), ("wrong", "twice")} & {*m.given}]
    alone = dsteval.evaluate(None, bits, metrics=wanted, protocol="fga-trippy")
    with_ref = dsteval.evaluate(ref, bits, metrics=wanted, protocol="fga-trippy")
    expected = prepared(corpus, "fga-trippy")
    for metric in told:
        assert_score(with_ref[metric], metric, expected, "fga-trippy", 30)
        if metric.name == "AGA":
            assert alone[metric].value is None
            assert "--ref" in alone[metric].why
        else:
            assert_score(alone[metric], metric, expected, "fga-trippy", 30)
    for untold in set(wanted) - set(told):
        assert with_ref[untold].value is None, untold
        assert "marks" in with_ref[untold].why
