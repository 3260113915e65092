"""What holds for every metric, whichever it is: the tests go over the registry."""

import math
import pickle
import random
import re
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsteval
import twins
from dsteval import metrics
from dsteval.errors import MetricError, OptionError
from dsteval.metrics import Counts, Metric
from dsteval.outcomes.slices import nothing
from dsteval.outcomes.table import Outcomes
from forms import outcomes_of, sides
from strategies import Written, WrittenCorpus, corpora
from twins import TWINS, every_metric, turn_metrics

NAMES = metrics.names()
EVERY = [metric.with_slots(30) for metric in every_metric([0.5])]
FEWER = [metric for metric in EVERY if len(metric.given) < 2]
per_metric = pytest.mark.parametrize("metric", EVERY, ids=str)

MIXED: Written = {"hotel-stars": "4", "hotel-internet": "yes"}

# Late repairs, deletions, changed values, hyphens, alternatives, empty states, a dialogue of one turn, and errors
# of every kind, some repaired and some not.
CORPUS: WrittenCorpus = {
    "MUL0001.json": [
        ({}, {}),
        ({"hotel-area": "north"}, {"hotel-area": "south"}),
        ({"hotel-area": "north", "hotel-name": "rose-garden"}, {"hotel-area": "south", "hotel-name": "rose-hill"}),
        ({"hotel-area": "north", "hotel-name": "rose-garden"}, {"hotel-area": "north", "hotel-name": "rose-hill"}),
        ({"hotel-area": "north"}, {"hotel-area": "north", "hotel-name": "rose-hill"}),
        ({"hotel-area": "north"}, {"hotel-area": "north"}),
    ],
    "SNG0002.json": [({"taxi-leaveat": "05:15|5:15"}, {"taxi-leaveat": "5:15"})],
    "MUL0003.json": [
        ({"train-day": "monday"}, {}),
        ({"train-day": "monday"}, {"train-day": "none"}),
        ({"train-day": "monday", "taxi-leaveat": "05:15"}, {"taxi-leaveat": "05:15"}),
        ({"train-day": "tuesday", "taxi-leaveat": "05:15"}, {"train-day": "tuesday", "taxi-leaveat": "05:15"}),
        ({"train-day": "tuesday"}, {"train-day": "tuesday", "taxi-leaveat": "05:15"}),
    ],
    "PMUL0004.json": [
        (
            {**MIXED, "hotel-area": "north", "hotel-name": "hill", "train-day": "friday", "hotel-type": "hotel"},
            {**MIXED, "hotel-area": "north", "hotel-name": "hill", "train-day": "friday", "hotel-type": "hotel"}
            | {"hotel-stars": "1", "hotel-parking": "yes"},
        ),
        (
            {**MIXED, "hotel-area": "south", "hotel-name": "hill", "train-day": "friday", "hotel-type": "hotel"},
            {**MIXED, "hotel-area": "north", "hotel-name": "hill", "hotel-type": "hotel", "hotel-stars": "1"},
        ),
        (
            {**MIXED, "hotel-area": "south", "hotel-name": "dale", "train-day": "friday", "hotel-type": "hotel"}
            | {"taxi-destination": "dale"},
            {**MIXED, "hotel-area": "south", "hotel-name": "hill", "train-day": "friday", "hotel-type": "hotel"}
            | {"hotel-stars": "1", "hotel-parking": "yes"},
        ),
        *[
            (
                {**MIXED, "hotel-area": "south", "hotel-name": "dale", "train-day": "friday"}
                | {"taxi-destination": "dale"},
                {**MIXED, "hotel-area": "south", "hotel-name": "hill", "hotel-type": "hotel"}
                | {"hotel-stars": "1", "hotel-parking": "yes"},
            )
        ]
        * 2,
    ],
}


def table_of(corpus: WrittenCorpus) -> Outcomes:
    return outcomes_of(corpus, metrics=EVERY).with_scope(30)


def padded(columns: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    """Counts with zeros on the right, as parts of unequal width are added."""
    short = [(0, 0)] * (columns.ndim - 1)
    return np.pad(columns, [*short, (0, width - columns.shape[-1])])


def figures(result: dsteval.Result) -> list[tuple[str, float | None, int | None, int | None]]:
    return [(s.metric, s.value, s.count, s.total) for s in result.scores]


def test_every_metric_has_a_naive_twin_and_a_public_name() -> None:
    assert TWINS.keys() == set(turn_metrics())
    assert set(NAMES) <= set(dir(dsteval))
    for name in NAMES:
        metric = metrics.find(name)
        assert getattr(dsteval, name) is metric
        assert (metric.name, str(metric)) == (name, name)
        assert type(metric).__module__ == f"dsteval.metrics.{_stem(name)}"


class _Turns(Metric):
    """A metric of another package, whose value is the number of turns."""

    name = "Turns"
    about = "how many turns there are"

    def count(self, outcomes: Outcomes) -> Counts:
        return np.diff(outcomes.offsets)[:, None]

    def value(self, sums: Counts) -> Counts:
        return np.asarray(sums[..., 0], dtype=float)


TURNS = _Turns()


def test_metrics_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("Turns", f"{__name__}:TURNS", "dsteval.metrics")]
    points += [EntryPoint("Broken", "no.such.module:Broken", "dsteval.metrics")]
    monkeypatch.setattr(metrics.METRICS, "installed", {point.name: point for point in points})
    result = dsteval.evaluate(*sides(CORPUS), metrics=["JGA", "Turns"])
    assert (result["Turns"].value, result["Turns"].count, result["Turns"].total) == (17, None, 17)
    assert {"JGA", "Turns", "Broken"} <= set(dir(dsteval))
    assert vars(dsteval)["__getattr__"]("Turns") is TURNS
    vars(dsteval).pop("Turns")
    with pytest.raises(
        dsteval.DstevalError, match="metrics 'Broken': expected code that works, found ModuleNotFound"
    ):
        metrics.find("Broken")
    with pytest.raises(MetricError, match=r"Unknown metric 'Turn'. Did you mean 'Turns'"):
        metrics.find("Turn")


def _stem(name: str) -> str:
    """SlotAccuracy lives in slot_accuracy.py, RecipeJGA in recipe_jga.py."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


@given(corpora(), st.randoms(use_true_random=False))
def test_order_does_not_matter(corpus: WrittenCorpus, chance: random.Random) -> None:
    def shuffled(table: dict[Any, Any]) -> dict[Any, Any]:
        items = [*table.items()]
        chance.shuffle(items)
        return dict(items)

    def written(states: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
        keyed = {name: {str(t): shuffled(s) for t, s in enumerate(turns)} for name, turns in states.items()}
        return shuffled({name: shuffled(turns) for name, turns in keyed.items()})

    ref, pred = sides(corpus)
    expected = dsteval.evaluate(ref, pred, metrics=FEWER)
    found = dsteval.evaluate(written(ref), written(pred), metrics=FEWER)
    assert figures(found) == figures(expected)
    assert [s.signature for s in found.scores] == [s.signature for s in expected.scores]
    for metric in FEWER:
        own, expected_own = found.per_dialogue(metric), expected.per_dialogue(metric)
        assert own.keys() == expected_own.keys()
        assert all(own[name] == x or (math.isnan(x) and math.isnan(own[name])) for name, x in expected_own.items())


@given(corpora(), st.integers(0, 4))
def test_counts_of_parts_add_up_to_the_whole(corpus: WrittenCorpus, cut: int) -> None:
    items = [*corpus.items()]
    parts = [table_of(dict(part)) for part in (items[:cut], items[cut:]) if part]
    whole = table_of(corpus)
    for metric in EVERY:
        counts = metric.count(whole)
        pieces = [metric.count(part) for part in parts]
        width = max(piece.shape[1] for piece in pieces)
        assert counts.shape == (len(corpus), width)
        assert (np.concatenate([padded(piece, width) for piece in pieces]) == counts).all(), metric
        summed = np.sum([padded(metrics.total(piece), width) for piece in pieces], axis=0)
        # Integers add up exactly; a dialogue's own score is a float.
        tolerance = 1e-14 if counts.dtype.kind == "f" else 0.0
        assert np.allclose(summed, metrics.total(counts), rtol=tolerance, atol=0), metric


@given(corpora())
def test_values_are_within_bounds(corpus: WrittenCorpus) -> None:
    result = dsteval.evaluate(*sides(corpus), metrics=FEWER)
    for metric in FEWER:
        low, high = metric.bounds
        # No more slots can be wrong than were seen, and |S| is at least as many.
        low = low if {("split", "last"), ("wrong", "twice")} & {*metric.given} else max(low, 0.0)
        value = result[metric].value
        assert value is None or low <= value <= high, metric


@per_metric
def test_value_takes_leading_axes(metric: Metric) -> None:
    counts = metric.count(table_of(CORPUS))
    # Resamples of a bootstrap: draws of dialogues, summed.
    draws = np.array([[[1, 1, 1, 1], [2, 0, 1, 1]], [[0, 0, 3, 1], [0, 0, 0, 0]]])
    stacked = draws @ counts
    values = metric.value(stacked)
    assert values.shape == (2, 2)
    for place in np.ndindex(2, 2):
        one = metric.value(stacked[place])
        assert np.shape(one) == ()
        assert float(values[place]) == float(one) or place == (1, 1)
    assert math.isnan(values[1, 1]), "no dialogue was drawn"


@per_metric
def test_zeros_on_the_right_change_nothing(metric: Metric) -> None:
    counts = metric.count(table_of(CORPUS))
    for sums in (*counts, metrics.total(counts), metrics.total(counts) * 1001):
        assert len(sums) >= metric.columns
        for more in range(1, 40):
            assert np.array_equal(metric.value(padded(sums, len(sums) + more)), metric.value(sums), equal_nan=True)


def test_which_metrics_a_perfect_prediction_does_not_bring_to_the_best() -> None:
    assert {metric.name for metric in EVERY if not metric.perfect} == {"ErrorLifetime", "RecipeJGA", "RepairRate"}


def test_of_which_metrics_less_is_better() -> None:
    assert {metric.name for metric in EVERY if metric.lower_is_better} == {"ErrorLifetime", "OriginErrors"}


def perfect_corpus(metric: Metric) -> WrittenCorpus:
    """The corpus predicted as it is, for GCA without deletions, and without empty turns where these count 0."""
    perfect: WrittenCorpus = {
        name: [(ref, {slot: str(value).split("|")[-1] for slot, value in ref.items()}) for ref, _ in turns]
        for name, turns in CORPUS.items()
    }
    if metric.name == "GCA" or ("empty", "zero") in metric.given:
        perfect["MUL0001.json"] = perfect["MUL0001.json"][1:4]
        perfect["MUL0003.json"] = perfect["MUL0003.json"][:4]
        perfect["PMUL0004.json"] = perfect["PMUL0004.json"][:3]
    return perfect


@per_metric
def test_a_perfect_prediction_is_the_best(metric: Metric) -> None:
    score = dsteval.evaluate(*sides(perfect_corpus(metric)), metrics=[metric])[metric]
    imperfect = dsteval.evaluate(*sides(CORPUS), metrics=[metric])[metric].value
    assert metric.bounds[0] <= metric.best <= metric.bounds[1]
    assert imperfect is not None
    assert max(metric.bounds[0], 0) < imperfect < metric.bounds[1]
    if not metric.perfect:
        assert score.value is None or score.value < metric.best
        return
    assert score.value == metric.best
    assert score.count is None or score.count == metric.best * (score.total or 0)


@per_metric
def test_no_dialogue_is_nan(metric: Metric) -> None:
    like = outcomes_of({"d": [({}, {})]}, metrics=[metric])
    counts = metric.count(nothing([], like, sorted({metric.extra} - {""})).with_scope(30))
    assert math.isnan(metric.value(metrics.total(counts)))


@pytest.mark.parametrize(("ref", "pred"), [({}, {"hotel-area": "north"}), ({"hotel-area": "north"}, {}), ({}, {})])
def test_undefined_is_null_and_says_why(ref: Any, pred: Any) -> None:
    wanted = FEWER
    result = dsteval.evaluate({"d": [ref]}, {"d": [pred]}, metrics=wanted)
    entries = {entry["metric"]: entry for entry in result.to_dict()["systems"][0]["scores"]}
    for metric in wanted:
        score, entry = result[metric], entries[str(metric)]
        if math.isnan(twins.figures(metric, [[(ref, pred)]], "exact", 30)[0]):
            assert score.value is None
            assert score.why
            assert (entry["value"], entry["why"]) == (None, score.why)
            assert score.total == 0
            assert math.isnan(result.per_dialogue(metric)["d"])
            assert f"undefined: {score.why}" in str(result)
        else:
            assert score.value is not None, metric
            assert score.why == ""
            assert "why" not in entry


@per_metric
def test_text_parses_back(metric: Metric) -> None:
    assert metrics.parse(str(metric)) == metric
    assert str(metrics.parse(str(metric))) == str(metric) == repr(metric)
    assert hash(metrics.parse(str(metric))) == hash(metric)
    spaced = str(metric).replace("(", " ( ").replace("=", " = ").replace(",", " , ").replace("@", " @ ")
    assert metrics.parse(f" {spaced} ") == metric


@given(st.floats(min_value=0))
def test_the_number_in_a_text_is_exact(number: float) -> None:
    metric = dsteval.FGA @ number
    assert metrics.parse(str(metric)).number == number


def test_the_number_in_a_text_is_short() -> None:
    texts = {
        "FGA@1.0": "FGA@1",
        "FGA@0.50": "FGA@0.5",
        "FGA@5e-1": "FGA@0.5",
        "FGA@inf": "FGA@inf",
        "FGA@-0": "FGA@0",
    }
    assert {text: str(metrics.parse(text)) for text in texts} == texts


@per_metric
def test_pickles(metric: Metric) -> None:
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert str(again) == str(metric)
    outcomes = table_of(CORPUS)
    assert (again.count(outcomes) == metric.count(outcomes)).all()


def test_metrics_are_values() -> None:
    assert len({*EVERY}) == len(EVERY)
    assert metrics.parse("FGA@0.5") == dsteval.FGA @ 0.5
    assert dsteval.FGA(variant="strict") @ 0.5 == metrics.parse("FGA(variant=strict)@0.5")
    assert (dsteval.FGA @ 0.5)(variant="strict") == dsteval.FGA(variant="strict") @ 0.5
    both = dsteval.FGA(variant="strict", average="dialogue") @ 1
    assert both == dsteval.FGA(average="dialogue")(variant="strict") @ 1
    assert str(both) == "FGA(average=dialogue,variant=strict)@1"
    assert dsteval.FGA @ 0.5 != dsteval.FGA @ 0.25
    with pytest.raises(AttributeError):
        dsteval.FGA.number = 0.5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("JGAA", ["Unknown metric 'JGAA'", "Did you mean 'JGA'?", "dsteval list metrics"]),
        ("slotaccuracy", ["Did you mean 'SlotAccuracy'?"]),
        ("ZZZ", ["Unknown metric 'ZZZ'", "Known:", "TurnMatch"]),
        ("FGA(varaint=strict)@0.5", ["Unknown parameter of FGA 'varaint'", "Did you mean 'variant'?"]),
        ("FGA(variant=strikt)@0.5", ["Unknown value of FGA(variant=...) 'strikt'", "Did you mean 'strict'?"]),
        ("DialogueMatch(average=turn)", ["DialogueMatch takes no parameters", "average=turn"]),
        ("SlotF1(average=turn)", ["Unknown parameter of SlotF1 'average'"]),
        ("JGA@1", ["JGA takes no number", "@1"]),
        ("FGA", ["FGA", "needs a number", "lambda", "FGA@0.5"]),
        ("FGA(variant=strict)", ["FGA(variant=strict)@0.5"]),
        ("FGA@-1", ["FGA@-1", "at least 0", "found -1"]),
        ("FGA@-inf", ["at least 0", "found -inf"]),
        ("FGA@nan", ["at least 0", "found nan"]),
        ("FGA@half", ["expected a number or inf", "found 'half'"]),
        ("FGA@", ["expected Name, Name@number or Name(key=value,...)@number", "found 'FGA@'"]),
        ("FGA(variant)@1", ["Name(key=value,...)@number"]),
        ("FGA(variant=strict,variant=paper)@1", ["each parameter once", "'variant' twice"]),
        ("", ["Name@number", "found ''"]),
        ("JGA, SlotF1", ["found 'JGA, SlotF1'"]),
    ],
)
def test_a_wrong_text_is_refused(text: str, told: list[str]) -> None:
    with pytest.raises(MetricError) as refused:
        dsteval.evaluate(*sides(CORPUS), metrics=[text])
    for part in told:
        assert part in refused.value.command_line


@pytest.mark.parametrize("number", [-1, -1e-300, -math.inf, math.nan])
def test_a_lambda_below_0_is_refused(number: float) -> None:
    with pytest.raises(MetricError, match="at least 0"):
        dsteval.FGA @ number


def test_metrics_are_refused_in_python_as_in_text() -> None:
    with pytest.raises(MetricError, match="Did you mean 'variant'"):
        dsteval.FGA(varaint="strict")
    with pytest.raises(MetricError, match="Did you mean 'dialogue'"):
        dsteval.JGA(average="dialog")
    with pytest.raises(MetricError, match="takes no number"):
        dsteval.JGA @ 0.5
    with pytest.raises(MetricError, match="needs a number"):
        dsteval.evaluate(*sides(CORPUS), metrics=[dsteval.FGA])
    with pytest.raises(OptionError, match="expected a list of metrics, found 'JGA'"):
        dsteval.evaluate(*sides(CORPUS), metrics="JGA")
    result = dsteval.evaluate(*sides(CORPUS), metrics=["FGA@0.5"])
    with pytest.raises(MetricError, match=r"Unknown score 'FGA@0.6'. Did you mean 'FGA@0.5'"):
        result["FGA@0.6"]


@per_metric
def test_per_dialogue(metric: Metric) -> None:
    own = dsteval.evaluate(*sides(CORPUS), metrics=[metric]).per_dialogue(metric)
    assert [*own] == [*CORPUS]
    for name, value in own.items():
        alone = dsteval.evaluate(*sides({name: CORPUS[name]}), metrics=[metric])[metric].value
        assert math.isnan(value) if alone is None else value == alone
        assert alone is not None or not metric.perfect


@per_metric
def test_a_dialogue_scores_the_same_beside_longer_ones(metric: Metric) -> None:
    chance = random.Random(5)
    slots = [
        "hotel-area",
        "hotel-name",
        "hotel-stars",
        "train-day",
        "train-departure",
        "taxi-leaveat",
        "taxi-destination",
    ]
    corpus: WrittenCorpus = {}
    for number, length in enumerate([5, 12, 13, 40]):
        ref: Written = {}
        pred: Written = {}
        corpus[f"d{number}"] = turns = []
        for _ in range(length):
            slot = chance.choice(slots if number else slots[:3])
            ref = {**ref, slot: chance.choice("ab-")}
            pred = {**pred, slot: ref[slot] if chance.random() < 0.8 else "x-y"}
            turns.append((ref, pred))
    together = dsteval.evaluate(*sides(corpus), metrics=[metric]).per_dialogue(metric)
    alone = {
        name: dsteval.evaluate(*sides({name: corpus[name]}), metrics=[metric]).per_dialogue(metric)[name]
        for name in corpus
    }
    assert np.array_equal([*together.values()], [*alone.values()], equal_nan=True)


@per_metric
def test_average_over_dialogues_is_the_mean_of_their_own_scores(metric: Metric) -> None:
    if "average" not in metric.parameters:
        with pytest.raises(MetricError):
            metric(average="dialogue")
        return
    over_turns, over_dialogues = metric(average="turn"), metric(average="dialogue")
    result = dsteval.evaluate(*sides(CORPUS), metrics=[over_turns, over_dialogues])
    own = result.per_dialogue(over_turns)
    score = result[over_dialogues]
    assert score.value is not None
    assert abs(score.value - math.fsum(own.values()) / len(own)) <= 1e-15
    assert (score.count, score.total) == (None, len(CORPUS))
    # Of each dialogue's last turn alone, both averages are one.
    assert (score.value == result[over_turns].value) == (("turns", "last") in metric.given)
