"""Rankings of real systems; every table that docs/rankings.md prints of them is measured here again.

A table that is not in the page fails with its text, ready to be pasted.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import dsteval
from dsteval import readers
from dsteval.analysis.lambda_curve import over_lambda
from dsteval.analysis.rankings import discriminative_power, over_protocols, over_resamples
from dsteval.analysis.reference_change import two_references
from dsteval.analysis.sample_size import plan
from dsteval.dialogue import Dialogue, Turn, canonical_id
from dsteval.pipeline.dialogue_files import write
from dsteval.readers import Source
from dsteval.render.rankings import lambda_tables, plan_tables, protocol_tables, reference_tables, resample_tables
from dsteval.render.table import Cell, Table, to_md
from dsteval.results.result import Result
from dsteval.stats.intervals import Intervals

pytestmark = pytest.mark.shared

PAGE = Path(__file__).resolve().parents[2] / "docs/rankings.md"
LLM = "llm_dst_eval/original_first500.json.gz"
FILES = {
    **{name: f"mwzeval/{name}.json.gz" for name in ("augpt", "damd", "labes", "pptod")},
    "trade": "trade/trade_mwz20_test.json",
    "llm": LLM,
    "t5dst": "t5dst/T5_result.json",
    "somdst": "fga/somdst_100_dialogues",
}
FOUR, SIX = list(FILES)[:4], list(FILES)[:6]
METRICS = ["JGA", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1", "TurnMatch", "SlotAccuracy", "AGA", "SlotF1"]

States = dict[str, list[dict[str, Any]]]


def assert_printed(*tables: Table) -> None:
    """The rows of each table stand in the page, one after the other."""
    page = PAGE.read_text(encoding="utf-8")
    for table in tables:
        text = to_md(replace(table, notes=[])).strip()
        assert text in page, f"\n{text}\n"


class Systems:
    """The reference and every system's states on the dialogues whose turns are as many as the reference's."""

    def __init__(self, data: Path) -> None:
        self.data = data
        test = list(readers.read(Source.open(data / "multiwoz21/test.json.zip"), "ref"))
        self.after = {canonical_id(one.id): one.after for one in test}
        self.ref: States = {canonical_id(one.id): [dict(turn.ref or []) for turn in one.turns] for one in test}
        self.predicted = cache(self._predicted)

    def _predicted(self, name: str) -> States:
        read = readers.read(Source.open(self.data / FILES[name]), "pred")
        states = {canonical_id(one.id): [dict(turn.pred or []) for turn in one.turns] for one in read}
        return {key: own for key, own in states.items() if len(own) == len(self.ref.get(key, []))}

    def common(self, names: Sequence[str]) -> tuple[States, dict[str, States]]:
        """The reference and the systems on the dialogues that all of them have."""
        keys = [key for key in self.ref if all(key in self.predicted(name) for name in names)]
        cut = {name: {key: self.predicted(name)[key] for key in keys} for name in names}
        return {key: self.ref[key] for key in keys}, cut

    def results(self, names: Sequence[str]) -> list[Result]:
        ref, systems = self.common(names)
        return scored(ref, systems)


def scored(ref: States, systems: dict[str, States]) -> list[Result]:
    return [
        dsteval.evaluate(ref, pred, metrics=METRICS, name=name, slots=30, ci=None)
        for name, pred in systems.items()
    ]


@pytest.fixture(scope="module")
def systems(shared: Path) -> Systems:
    return Systems(shared / "data")


@pytest.fixture(scope="module")
def four(systems: Systems) -> list[Result]:
    return systems.results(FOUR)


def test_over_lambda(four: list[Result], systems: Systems) -> None:
    found = over_lambda(four)
    assert (found.dialogues, found.turns) == (943, 6751)
    assert_printed(*lambda_tables(found)[:2])
    crossed = {(one.a, one.b): one.points for one in found.crossings if one.points}
    assert list(crossed) == [("augpt", "labes")]
    (point,) = crossed["augpt", "labes"]
    for shift, order in ((-1e-6, 1), (1e-6, -1)):
        near = over_lambda(four, lambdas=[point + shift])
        values = [curve[near.lambdas.index(point + shift)] for curve in near.curves]
        assert np.sign(values[FOUR.index("augpt")] - values[FOUR.index("labes")]) == order
    assert found.at_zero == ("augpt",) and found.at_infinity == ("labes",)
    strict = over_lambda(four, "strict")
    assert [round(one.points[0], 4) for one in strict.crossings if one.points] == [0.794]
    som = over_lambda(systems.results([*FOUR, "somdst"]))
    assert (som.dialogues, som.turns, som.at_zero, som.at_infinity) == (99, 749, ("augpt",), ("somdst",))
    assert {(one.a, one.b): round(one.points[0], 4) for one in som.crossings if one.points} == {
        ("augpt", "labes"): 1.1447,
        ("augpt", "somdst"): 0.3016,
    }


def test_ends_of_the_curves(four: list[Result]) -> None:
    found = over_lambda(four)
    for one, curve in zip(four, found.curves, strict=True):
        assert (curve[0], curve[-1]) == (one["JGA"].value, one["TurnMatch"].value)


def test_over_lambda_of_t5dst_with_little_and_with_much_training(shared: Path) -> None:
    folder = shared / "data/gca/predictions/T5_fewshot_taxi"
    results = [
        dsteval.evaluate(
            None,
            folder / f"ratio_{share}_seed_557_prediction.json",
            protocol="gca",
            name=share,
            ci=None,
            metrics=["JGA", "FGA@1", "TurnMatch"],
        )
        for share in ("0.01", "0.5")
    ]
    found = over_lambda(results)
    assert (found.turns, found.crossings[0].points, found.at_zero, found.at_infinity) == (
        1550,
        (),
        ("0.5",),
        ("0.5",),
    )


def test_over_protocols(systems: Systems, tmp_path: Path) -> None:
    states, predicted = systems.common(FOUR)
    test = [
        Dialogue(key, [Turn(t, [*state.items()]) for t, state in enumerate(turns)], after=systems.after[key])
        for key, turns in states.items()
    ]
    ref = tmp_path / "ref.jsonl"
    write(test, ref)
    wanted = ["normalised", "mwzeval", "simpletod-v1", "somdst", "trade"]
    found = over_protocols(ref, predicted, protocols=wanted)
    assert not found.not_applicable
    assert_printed(*protocol_tables(found))
    assert [one.swapped for one in found.protocols[-2:]] == [(("labes", "pptod"),)] * 2


def test_over_resamples(systems: Systems) -> None:
    assert_printed(*resample_tables(over_resamples(systems.results([*FOUR, "somdst"]), ["JGA", "FGA@0.5"])))


def test_planning(four: list[Result]) -> None:
    chosen = [one for one in four if one.name in ("augpt", "labes", "pptod")]
    assert_printed(*plan_tables(plan(chosen, ["JGA", "FGA@0.5"], difference=0.01)))


def test_two_labels(shared: Path) -> None:
    fields = {"2.1": "ground_truth", "2.4": "ground_truth_m24"}
    found = two_references(
        shared / "data" / LLM,
        {"2.1": None, "2.4": None},
        ref_fields=fields,
        slots=30,
        metrics=["JGA", "FGA@0.5", "SlotF1"],
    )
    assert (found.dialogues, found.turns, found.relabelled) == (500, 3712, 1377)
    assert_printed(*reference_tables(found, 8))
    name = next(one for one in found.slots if one.slot == "restaurant-name")
    assert (name.wrong_a, name.wrong_b, name.relabelled) == (525, 486, 211)
    assert max(found.slots, key=lambda one: one.relabelled) == name


def part(results: Sequence[Result], rows: Sequence[int]) -> list[Result]:
    """The results on some of their dialogues."""
    return [replace(one, partition=one.partition.rows(rows, one.coverage), outcomes=None) for one in results]


def damaged(states: States, chance: Random, rate: float, lasting: bool) -> States:
    """A close competitor: slots that are dropped, or get another value that the tracker says elsewhere.

    ``lasting`` damage hits a slot's value for the rest of the dialogue, the other kind one turn only.
    """
    said: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for turns in states.values():
        for state in turns:
            for slot, value in state.items():
                said[slot][value] = None
    values = {slot: list(own) for slot, own in said.items()}

    def fate(slot: str, value: str) -> str | None:
        if chance.random() >= rate:
            return value
        return None if chance.random() < 0.5 else values[slot][int(chance.random() * len(values[slot]))]

    made: States = {}
    for name, turns in states.items():
        fates: dict[tuple[str, str], str | None] = {}
        made[name] = []
        for state in turns:
            for item in state.items():
                if not lasting or item not in fates:
                    fates[item] = fate(*item)
            heard = {slot: fates[slot, value] for slot, value in state.items()}
            made[name].append({slot: value for slot, value in heard.items() if value is not None})
    return made


def separated(sets: Sequence[Sequence[Result]]) -> tuple[int, Counter[str], Counter[str]]:
    """Pairs in all, and those that each metric separates, plainly and after Holm."""
    pairs, plain, after = 0, Counter[str](), Counter[str]()
    for results in sets:
        found = discriminative_power(results, METRICS, Intervals(resamples=2000))
        pairs += found.metrics[0].compared
        for one in found.metrics:
            plain[one.metric] += one.separated
            after[one.metric] += one.separated_holm
    return pairs, plain, after


@pytest.fixture(scope="module")
def trials(systems: Systems) -> dict[str, list[list[Result]]]:
    """Sets of systems on one reference, each from other dialogues or other systems."""
    six = systems.results(SIX)
    chance = Random(1)
    drawn = [part(six, sorted(chance.sample(range(462), 100))) for _ in range(40)]
    trials = {
        "4 systems, 943 dialogues": [systems.results(FOUR)],
        "6 systems, 462 dialogues": [six],
        "6 systems, 40 times 100 dialogues": drawn,
        "8 systems, 23 dialogues": [systems.results(list(FILES))],
    }
    ref, predicted = systems.common(["augpt"])
    for kind, rates in (
        ("lasting", (0, 0.005, 0.01, 0.015, 0.02, 0.03)),
        ("passing", (0, 0.0005, 0.001, 0.0015, 0.002, 0.003)),
    ):
        trials[f"augpt damaged, {kind}, 1000 dialogues"] = [
            scored(
                ref,
                {
                    str(rate): damaged(predicted["augpt"], Random(f"{seed} {rate}"), rate, kind == "lasting")
                    for rate in rates
                },
            )
            for seed in range(3)
        ]
    return trials


@pytest.mark.slow
def test_discriminative_power(trials: dict[str, list[list[Result]]]) -> None:
    rows: list[list[Cell]] = []
    for name, sets in trials.items():
        pairs, plain, after = separated(sets)
        rows.append([name, pairs, *(f"{100 * plain[metric] / pairs:.2f}" for metric in METRICS)])
        rows.append(["after Holm", "", *(f"{100 * after[metric] / pairs:.2f}" for metric in METRICS)])
    columns = ["systems", "pairs", *METRICS]
    assert_printed(Table(columns, rows, frozenset(range(1, len(columns)))))
