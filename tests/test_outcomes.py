"""The table of outcomes, and the explanation of one dialogue, against the oracle."""

import math

from hypothesis import given
from hypothesis import strategies as st

import naive
from dsteval.analysis.explanation import TurnLine, explain
from dsteval.dialogue import Side
from dsteval.outcomes.table import ABSENT, EXACT, FIRST, PRED_IS_PREVIOUS_REF, Outcomes
from dsteval.outcomes.turns import SeenSlot
from dsteval.pipeline.run import Run
from dsteval.pipeline.scan import Scan
from dsteval.readers import Source
from forms import outcomes_of, sides, without_null
from strategies import WrittenCorpus, corpora, long_corpora


def value_sets(outcomes: Outcomes, number: int) -> frozenset[str]:
    """A value as the oracle has it, however the table writes a set."""
    if number == ABSENT:
        return frozenset()
    value = outcomes.values[number]
    return frozenset(value.split("|") if isinstance(value, str) else value)


@given(corpora())
def test_each_wrong_slot_leaves_one_row(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus)
    found = [
        (unit, outcomes.slots[slot], value_sets(outcomes, ref), value_sets(outcomes, pred))
        for unit, slot, ref, pred in outcomes.wrong_rows.tolist()
    ]
    nothing: frozenset[str] = frozenset()
    turns = [turn for dialogue in naive.prepare(without_null(corpus), "exact") for turn in dialogue]
    expected = [
        (unit, slot, ref.get(slot, nothing), pred.get(slot, nothing))
        for unit, (ref, pred) in enumerate(turns)
        for slot in naive.wrong_slots(ref, pred)
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)


@given(corpora())
def test_counts_of_each_turn(corpus: WrittenCorpus) -> None:
    outcomes = outcomes_of(corpus)
    unit = 0
    for dialogue in naive.prepare(without_null(corpus), "exact"):
        before: naive.Turn = ({}, {})
        for t, (ref, pred) in enumerate(dialogue):
            new_ref = {s for s in ref if s not in before[0] or not before[0][s] & ref[s]}
            new_pred = {s for s in pred if before[1].get(s) != pred[s]}
            right = naive.right_slots(ref, pred)
            row = {
                "turn": t,
                "ref": len(ref),
                "pred": len(pred),
                "right": len(right),
                "wrong": len(naive.wrong_slots(ref, pred)),
                "new_ref": len(new_ref),
                "new_ref_right": len(new_ref & right),
                "new_pred": len(new_pred),
                "new_pred_right": len(new_pred & right),
            }
            assert {name: int(outcomes.units[name][unit]) for name in row} == row
            flags = int(outcomes.flags[unit])
            assert bool(flags & EXACT) == naive.exact(ref, pred)
            assert bool(flags & FIRST) == (t == 0)
            assert bool(flags & PRED_IS_PREVIOUS_REF) == naive.exact(before[0], pred)
            before = ref, pred
            unit += 1
    assert unit == len(outcomes)


@given(corpora())
def test_slots_are_seen_where_they_stand_first(corpus: WrittenCorpus) -> None:
    ref, pred = sides(corpus)
    scan = Scan(Run.of(), Source.of("reference", ref), Source.of("predictions", pred))
    assert sum(1 for _ in scan.compared()) == len(corpus)
    first: dict[str, tuple[str, int]] = {}
    seen: dict[Side, set[str]] = {"ref": set(), "pred": set()}
    for name, dialogue in zip(corpus, naive.prepare(without_null(corpus), "exact"), strict=True):
        for t, turn in enumerate(dialogue):
            for side, state in zip(seen, turn, strict=True):
                seen[side] |= state.keys()
                first = {**dict.fromkeys(state, (name, t)), **first}
    notes = scan.partition().note_counts
    assert notes is not None
    assert notes.slots == {
        slot: SeenSlot(first[slot], slot in seen["ref"], slot in seen["pred"]) for slot in first
    }


@given(st.one_of(corpora(), long_corpora()), st.sampled_from(["official", "paper", "strict", "trippy", "hidst"]))
def test_explanation_of_each_turn(corpus: WrittenCorpus, variant: str) -> None:
    ref, pred = sides(corpus)
    name = [*corpus][-1]
    dialogue = naive.prepare(without_null({name: corpus[name]}), "exact")[0]
    explained = explain(ref, pred, name, metric=f"FGA(variant={variant})@0.5").turns
    weights = naive.turn_weights(dialogue, 0.5, variant)
    # Hi-DST's script counts from turn 0 until there is an error.
    error_turn = 0 if variant == "hidst" else None
    for t, x in enumerate(naive.error_distances(dialogue, variant)):
        line = explained[t]
        assert abs(line.weight - weights[t]) <= 1e-12
        error_turn = t if x == 0 else error_turn
        outcome = "exact" if x is None else "type 1" if x == 0 else "type 2"
        assert (line.outcome, line.error_turn) == (outcome, None if x is None else error_turn)
        assert x is None or x == 0 or math.isinf(x) or line.error_turn == t - x
        assert_slots(line, dialogue, t)


def assert_slots(line: TurnLine, dialogue: naive.Dialogue, t: int) -> None:
    """What an explanation says of each slot: what is wrong, since when, and whether the user just said it."""
    ref, pred = dialogue[t]
    before = dialogue[t - 1] if t else ({}, {})
    assert [slot.slot for slot in line.slots] == sorted(ref.keys() | pred.keys())
    for slot in line.slots:
        b, p = ref.get(slot.slot), pred.get(slot.slot)
        kind = "missed" if p is None else "spurious" if b is None else "wrong"
        wrong = slot.slot in naive.wrong_slots(ref, pred)
        assert slot.kind == (kind if wrong else "right")
        assert slot.ref == (b and "|".join(sorted(b)))
        assert slot.pred == (p and "|".join(sorted(p)))
        old = before[0].get(slot.slot)
        assert slot.new == (b is not None and not (old and naive.same_ref(old, b))), "FGA's T"
        assert slot.since == (since(slot.slot, dialogue, t) if wrong else None)


def since(slot: str, dialogue: naive.Dialogue, t: int) -> int:
    """The turn from which on a slot has been wrong with the same ref and the same pred."""
    while t and slot in naive.wrong_slots(*dialogue[t - 1]):
        (old_ref, old_pred), (ref, pred) = dialogue[t - 1], dialogue[t]
        old, new = old_ref.get(slot), ref.get(slot)
        stayed = naive.same_ref(old, new) if old and new else old == new
        if not stayed or old_pred.get(slot) != pred.get(slot):
            break
        t -= 1
    return t


def test_a_list_of_accepted_values_that_grew_is_not_new() -> None:
    ref = {"d": [{"hotel-area": ["north"]}, {"hotel-area": ["north", "east"]}]}
    now = explain(ref, {"d": [{"hotel-area": "west"}] * 2}, "d", metric="FGA(variant=strict)@0.5").turns[1]
    assert (now.outcome, now.error_turn) == ("type 2", 0)
    assert not now.slots[0].new
    assert now.slots[0].since == 0
