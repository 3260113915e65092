"""Lineage against its oracle, its definitions at the borders, and what cannot be followed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsteval
import naive
import naive_lineage
from dsteval import metrics
from dsteval.metrics.fga import TYPE1, distances
from dsteval.metrics.origin_errors import KIND
from dsteval.outcomes.lineage import ENDS, KINDS, LIVED, Lineage, lineage, unavailable_reason
from dsteval.outcomes.slices import nothing
from dsteval.outcomes.table import ABSENT, UNKNOWN, Outcomes
from dsteval.values.matchers import PreparedValue
from forms import outcomes_of, sides, without_null
from strategies import Written, WrittenCorpus, corpora, literal_corpora, long_corpora

Told = tuple[int, str, int, int, str, str, frozenset[str] | None, frozenset[str] | None]


def values(value: PreparedValue) -> frozenset[str]:
    return frozenset({value}) if isinstance(value, str) else frozenset(value)


def told(outcomes: Outcomes, found: Lineage) -> list[Told]:
    """Every error as the oracle has it."""
    errors: list[Told] = []
    for dialogue, slot, origin, lifetime, kind, end, ref, pred in zip(
        *(
            column.tolist()
            for column in (
                found.dialogue,
                found.slot,
                found.origin,
                found.lifetime,
                found.kind,
                found.end,
                found.ref,
                found.pred,
            )
        ),
        strict=True,
    ):
        turn = origin - int(outcomes.offsets[dialogue])
        sets = [None if number == ABSENT else values(outcomes.values[number]) for number in (ref, pred)]
        errors.append((dialogue, outcomes.slots[slot], turn, lifetime, KINDS[kind], ENDS[end], sets[0], sets[1]))
    return sorted(errors, key=lambda error: error[:3])


def normalise(slot: str, value: str) -> str:
    times = {"5pm": "17:00", "9:15": "09:15", "24:10": "00:10"}
    spellings = {"center": "centre", "guesthouse": "guest house"}
    value = spellings.get(value, value)
    return times.get(value, value) if slot.endswith(("leaveat", "time")) else value


def assert_naive(corpus: WrittenCorpus, name: str) -> None:
    outcomes = outcomes_of(corpus, name)
    found = lineage(outcomes)
    expected = naive_lineage.errors(naive.prepare(without_null(corpus), name, normalise))
    assert told(outcomes, found) == [(e[0], e.slot, *e[2:6], e.ref, e.pred) for e in expected]
    ends = [error.origin + error.lifetime for error in expected if error.end != "lived"]
    assert ends == [error.u for error in expected if error.u is not None]


@given(st.one_of(corpora(), long_corpora()), st.sampled_from(["exact", "normalised", "card"]))
def test_where_values_are_folded(corpus: WrittenCorpus, name: str) -> None:
    assert_naive(corpus, name)


@given(literal_corpora(), st.sampled_from(["fga-official", "fga-trippy", "simpletod-v1"]))
def test_where_texts_are_literal(corpus: WrittenCorpus, name: str) -> None:
    assert_naive(corpus, name)


@given(st.one_of(corpora(), long_corpora()))
def test_every_wrong_slot_belongs_to_one_error(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus)
    found = lineage(outcomes)
    members = [
        (slot, unit)
        for slot, first, last in zip(found.slot.tolist(), found.origin.tolist(), found.last.tolist(), strict=True)
        for unit in range(first, last + 1)
    ]
    wrong = zip(outcomes.wrong_slot.tolist(), outcomes.wrong_unit.tolist(), strict=True)
    assert sorted(members) == sorted(wrong)
    assert found.lifetime.sum() == outcomes.wrong.sum()
    last_turns = set((outcomes.offsets[1:] - 1).tolist())
    lived = found.end == LIVED
    assert {unit in last_turns for unit in found.last[lived].tolist()} <= {True}
    assert last_turns.isdisjoint(found.last[~lived].tolist())


@given(st.one_of(corpora(), long_corpora()))
def test_an_error_begins_where_variant_strict_has_a_new_one(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus)
    fresh = np.flatnonzero(distances(outcomes, "strict") == TYPE1)
    assert fresh.tolist() == np.unique(lineage(outcomes).origin).tolist()


# Each border of the definition: (ref, pred) of hotel-area turn by turn, None for absent; then what begins where.
A, B, C = "north", "south", "east"
BORDERS: dict[str, tuple[list[tuple[str | None, str | None]], list[tuple[int, int, str, str]]]] = {
    "missed at the first turn, and lived": ([(A, None), (A, None)], [(0, 2, "missed", "lived")]),
    "never right, then gone": (
        [(A, B), (A, None), (A, A)],
        [(0, 1, "wrong value", "changed"), (1, 1, "missed", "repaired")],
    ),
    "right and lost": ([(A, A), (A, None), (A, A)], [(1, 1, "dropped", "repaired")]),
    "lost while the user changed it": ([(A, A), (B, None)], [(1, 1, "missed", "lived")]),
    "dropped, then the user changed it": (
        [(A, A), (A, None), (B, None)],
        [(1, 1, "dropped", "changed"), (2, 1, "missed", "lived")],
    ),
    "changed and kept the old value": ([(A, A), (B, A), (B, B)], [(1, 1, "stale", "repaired")]),
    "changed under a value that was wrong before": (
        [(A, C), (B, C)],
        [(0, 1, "wrong value", "changed"), (1, 1, "stale", "lived")],
    ),
    "changed and predicted a third": ([(A, A), (B, C)], [(1, 1, "wrong value", "lived")]),
    "first given under a spurious value": (
        [(None, B), (A, B)],
        [(0, 1, "spurious", "changed"), (1, 1, "wrong value", "lived")],
    ),
    "right, then another value out of nowhere": ([(A, A), (A, B)], [(1, 1, "wrong value", "lived")]),
    "withdrawn and kept": ([(A, A), (None, A), (None, None)], [(1, 1, "kept", "repaired")]),
    "withdrawn, and a wrong value kept": (
        [(A, B), (None, B)],
        [(0, 1, "wrong value", "changed"), (1, 1, "kept", "lived")],
    ),
    "withdrawn while the prediction changed": ([(A, A), (None, B)], [(1, 1, "spurious", "lived")]),
    "withdrawn when it was missed": ([(A, None), (None, None)], [(0, 1, "missed", "repaired")]),
    "predicted after it was withdrawn": ([(A, A), (None, None), (None, A)], [(2, 1, "spurious", "lived")]),
    "wrong, right, wrong again": (
        [(A, B), (A, A), (A, B)],
        [(0, 1, "wrong value", "repaired"), (2, 1, "wrong value", "lived")],
    ),
    "an accepted value taken away": ([("north|south", B), (A, B)], [(1, 1, "wrong value", "lived")]),
    "an accepted value more, neither predicted": (
        [(A, C), ("north|south", C)],
        [(0, 2, "wrong value", "lived")],
    ),
    "an accepted value more, that is predicted": (
        [(A, B), ("north|south", B)],
        [(0, 1, "wrong value", "repaired")],
    ),
}


@pytest.mark.parametrize("name", BORDERS)
def test_borders(name: str) -> None:
    turns, expected = BORDERS[name]

    def state(value: str | None) -> Written:
        return {"hotel-area": value, "hotel-stars": "4"}

    corpus: WrittenCorpus = {"d": [(state(ref), state(pred)) for ref, pred in turns]}
    outcomes = outcomes_of(corpus)
    assert [error[2:6] for error in told(outcomes, lineage(outcomes))] == expected
    assert_naive(corpus, "exact")


def test_errors_do_not_cross_dialogues() -> None:
    turns: list[tuple[Written, Written]] = [({"hotel-area": "north"}, {})] * 2
    outcomes = outcomes_of({"a": turns, "b": turns})
    found = lineage(outcomes)
    assert (found.dialogue.tolist(), found.lifetime.tolist()) == ([0, 1], [2, 2])
    assert (found.end == LIVED).all()


def test_no_error_at_all() -> None:
    turns: list[tuple[Written, Written]] = [({"hotel-area": "north"}, {"hotel-area": "north"})]
    assert len(lineage(outcomes_of({"a": turns}))) == 0
    assert len(lineage(nothing([], outcomes_of({"a": turns}), []))) == 0


def test_marks_have_lineage_without_kinds() -> None:
    marks = [[1] * 30, [0] + [1] * 29, [0, 0] + [1] * 28, [1, 0] + [1] * 28]
    outcomes = dsteval.evaluate(None, {"d": dict(enumerate(marks))}, protocol="fga-trippy").outcomes
    assert outcomes is not None
    found = lineage(outcomes)
    assert unavailable_reason(outcomes) is None
    assert (found.origin.tolist(), found.last.tolist()) == ([1, 2], [2, 3])
    assert [ENDS[end] for end in found.end] == ["repaired", "lived"]
    for column in (found.kind, found.ref, found.pred):
        assert (column == UNKNOWN).all()


def test_what_has_no_lineage() -> None:
    outcomes = outcomes_of({"d": [({"hotel-area": "north"}, {})]})
    for changed, reason in (
        (replace(outcomes, unit="frame"), "service frame"),
        (replace(outcomes, has_dialogues=False), "single instances"),
        (replace(outcomes, graded=True), "partial scores"),
    ):
        assert reason in (unavailable_reason(changed) or "")
        with pytest.raises(ValueError, match=reason):
            lineage(changed)


NAMES = ["OriginErrors", "RepairRate", "ErrorLifetime"]


@given(corpora(), st.sampled_from(["any", *KIND.choices[1:]]))
def test_slices_by_turn_share_out_the_errors_that_begin(corpus: WrittenCorpus, kind: str) -> None:
    wanted = [f"{name}(kind={kind})" for name in NAMES]
    result = dsteval.evaluate(*sides(corpus), metrics=wanted, by=["turn"], ci=None)
    errors = naive_lineage.errors(naive.prepare(without_null(corpus), "exact"))
    for one in result.slices:
        here = [e for e in naive_lineage.of_kind(errors, kind) if e.origin == int(one.key)]
        repaired = sum(e.end == "repaired" for e in here)
        expected = [(len(here), one.turns), (repaired, len(here)), (sum(e.lifetime for e in here), len(here))]
        assert [(score.count, score.total) for score in one.scores] == expected


@pytest.mark.parametrize("name", NAMES)
def test_metrics_say_why_they_are_undefined(name: str) -> None:
    outcomes = outcomes_of({"d": [({"hotel-area": "north"}, {})]})
    metric = metrics.find(name)
    assert metric.unavailable_reason(outcomes) is None
    for changed, reason in (
        (replace(outcomes, unit="frame"), "service frame"),
        (replace(outcomes, has_dialogues=False), "single instances"),
        (replace(outcomes, graded=True), "partial scores"),
        (replace(outcomes, has_values=False), "marks"),
    ):
        assert reason in (metric.unavailable_reason(changed) or "")
