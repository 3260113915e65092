"""Slot accuracy: the share of all slots that a turn gets right, absent ones included."""

from collections import defaultdict

import numpy as np

from dsteval.metrics.base import AVERAGE, TURNS, AveragedMetric, Parameter
from dsteval.metrics.counting import Counts, at_turns, per_dialogue
from dsteval.outcomes.table import ABSENT, Array, Outcomes
from dsteval.values.matchers import PreparedValue, texts

SPLIT = Parameter(
    ("first", "last"),
    "how the slot of a wrong prediction is found: by name, or by splitting 'slot-value' at the last hyphen "
    "as TRADE does",
    of_values=("last",),
)

WRONG = Parameter(
    ("once", "twice"),
    "whether a wrong value counts once, or twice (as missed and as spurious)",
    of_values=("twice",),
)


class _SlotAccuracy(AveragedMetric):
    r"""Share of the slot list S that a turn has right.

    Formula, Eq. 1 of the FGA paper: (|S| - |X| - |Y| + |P n Q|) / |S| with X = B_t \ P_t, Y = P_t \ B_t and P, Q
    their slots; that is 1 - wrong slots / |S|, averaged over turns. Unit: fraction, at most 1, higher is
    better; below 0 where a turn has more wrong slots than |S|. NaN without turns. It flatters: predicting
    nothing scores 0.81 on MultiWOZ 2.1.

    Differs from: ``split=last`` (TRADE, SOM-DST, T5DST, the FGA script) glues slot and value with a hyphen
    and cuts at the last one, so a wrong value that holds a hyphen counts twice. DAMD, MinTL and MTTOD count every
    wrong value twice (``wrong=twice``), over 31 slots. T5DST divides by all ontology keys instead of 30.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north", "hotel-stars": "4"}]}
    >>> pred = {"d": [{"hotel-area": "south"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["SlotAccuracy"])["SlotAccuracy"].value, 4)
    0.9333

    Reference: Wu et al., ACL 2019 (TRADE); Dey, Kummara and Desarkar, ACL 2022, Eq. 1.
    """

    about = "share of the slot list that is right, absent slots included (Eq. 1)"
    parameters = {"average": AVERAGE, "split": SPLIT, "turns": TURNS, "wrong": WRONG}
    uses_n_slots = True
    columns_since = 2
    bounds = (-float("inf"), 1.0)

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, slots that are wrong."""
        outcomes = at_turns(outcomes, self.get("turns"))
        wrong: Array = outcomes.wrong
        if self.get("wrong") == "twice":
            wrong = outcomes.ref + outcomes.pred - 2 * outcomes.right
        elif self.get("split") == "last":
            wrong = wrong + hyphen_surplus(outcomes)
        return per_dialogue(outcomes, 1, wrong)

    def terms(self, sums: Array) -> tuple[Array, Array]:
        """Right slots and turns x |S|; of dialogues, the sum of their shares of right slots, and dialogues."""
        assert self.n_slots is not None, "|S| comes by with_slots"
        units, wrong = sums[..., 0], sums[..., 1]
        if self.get("average") == "dialogue":
            return units - wrong / self.n_slots, units
        return units * self.n_slots - wrong, units * self.n_slots


def _cut(slot: str, value: PreparedValue) -> str:
    """The slot name that comes back from 'slot-value', cut at the last hyphen; alternatives stand as 'a|b'."""
    return f"{slot}-{'|'.join(sorted(texts(value)))}".rsplit("-", 1)[0]


def hyphen_surplus(outcomes: Outcomes) -> Array:
    """Slots that are counted wrong in addition, because a hyphen inside a value hid their name [U]."""
    surplus = np.zeros(len(outcomes), dtype=np.int64)
    sides = outcomes.wrong_ref, outcomes.wrong_pred
    values = [number for number in np.unique(np.concatenate(sides)).tolist() if number >= 0]
    hyphened = [number for number in values if any("-" in text for text in texts(outcomes.values[number]))]
    hit = outcomes.wrong_unit[np.isin(sides[0], hyphened) | np.isin(sides[1], hyphened)]
    rows = np.flatnonzero(np.isin(outcomes.wrong_unit, hit))
    by_unit: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for unit, slot, ref, pred in outcomes.wrong_rows[rows].tolist():
        by_unit[unit].append((slot, ref, pred))
    for unit, wrong in by_unit.items():
        missed = [(outcomes.slots[s], outcomes.values[r]) for s, r, _ in wrong if r != ABSENT]
        names = {_cut(*pair) for pair in missed}
        guessed = [(outcomes.slots[s], outcomes.values[p]) for s, _, p in wrong if p != ABSENT]
        extra = sum(_cut(*pair) not in names for pair in guessed)
        surplus[unit] = len(missed) + extra - len(wrong)
    return surplus


SlotAccuracy = _SlotAccuracy()
