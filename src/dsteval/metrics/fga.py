"""Flexible goal accuracy: a turn that only inherits an old error counts in part."""

import math

import numpy as np

from dsteval.metrics.base import AVERAGE, AveragedMetric, Parameter
from dsteval.metrics.counting import Counts, in_order, per_column
from dsteval.outcomes.table import CARRIED, PRED_IS_PREVIOUS_REF, SAME_WRONG, Array, Outcomes

VARIANT = Parameter(
    ("official", "paper", "strict", "trippy", "hidst"),
    "which wrong turns count as inheriting only: the authors' script, Algorithm 1 to the letter, ours, TripPy's, "
    "the authors' script for Hi-DST",
)

TYPE1, INFINITE = -1, -2
"""Distances of turns that are wrong by themselves, and of inherited errors without an error turn."""

# In the TripPy script a turn counts as exact when the float 1 - exp(-distance) equals 1; from 38 on it does.
_FLOAT_ONE = 38


class VariantMetric(AveragedMetric):
    """A metric that tells turns with an error of their own from those that only inherit one."""

    parameters = {"average": AVERAGE, "variant": VARIANT}

    def unavailable_reason(self, outcomes: Outcomes) -> str | None:
        """Right/wrong marks tell which slots are wrong, not what changed: only ``trippy`` reads them."""
        if reason := super().unavailable_reason(outcomes):
            return reason
        if not outcomes.has_dialogues:
            return "the data has single instances: without dialogues no error is inherited"
        variant = self.get("variant")
        if variant != "trippy" and not outcomes.has_values:
            return f"right/wrong marks cannot be scored with variant {variant}, only with variant trippy"
        if outcomes.graded:
            return "the matching rule gives partial scores, so turns are not simply right or wrong"
        return None


class _FGA(VariantMetric):
    r"""Mean weight of turns: 1 if exact, 0 for a new error, 1 - exp(-lambda x) for an inherited one.

    Formula: an exact turn weighs 1. A wrong turn of type 1 weighs 0 and becomes the error turn t_err. A wrong
    turn of type 2 weighs 1 - exp(-lambda (t - t_err)), t counted in user turns. ``variant`` tells the types:

    ``official``: type 1 if t is the first turn, or turn t-1 was exact, or a slot new in the reference is not
    right, or a slot new in the prediction is not right (T = B_t \ B_{t-1} not inside P_t, T' = P_t \ P_{t-1} not
    inside B_t).
    ``paper``: Algorithm 1, without the rule about turn t-1 and with t_err = -inf at the start, so that a
    dropped slot can score 1.
    ``strict``: type 2 only if each slot wrong now was wrong at t-1 with the same ref and the same pred.
    ``trippy``: type 2 only if turn t-1 was wrong and the set of wrong slots is that of the error turn.
    ``hidst``: as official, but its script compares B_{t-1} with P_t where it means P_{t-1} (one list, changed in
    place), so that an error after a right turn can be type 2, and counts from turn 0 until there is an error turn.
    It also looks for T' in B_t with reference and prediction swapped in its matcher.

    Unit: fraction, 0..1, higher is better. ``@0`` is JGA and ``@inf`` is TurnMatch, both exactly. NaN without
    turns. ``average=dialogue`` is the mean over dialogues (Algorithm 1 scores one conversation).

    Differs from: the paper prints 46.33 for its Figure 1 from weights rounded to 0.39; the value is 46.449.
    The script for TripPy takes a weight that rounds to 1 (38 turns or more after the error) for an exact turn,
    and so does ``trippy``.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north"}]}
    >>> pred = {"d": [{"hotel-area": "south"}, {"hotel-area": "south"}]}
    >>> round(dsteval.evaluate(ref, pred, metrics=["FGA@0.5"])["FGA@0.5"].value, 4)
    0.1967

    Reference: Dey, Kummara and Desarkar, "Towards Fair Evaluation of Dialogue State Tracking by Flexible
    Incorporation of Turn-level Performances", ACL 2022, and its script compute_accuracy_trade_somdst.py.
    """

    about = "mean weight of turns: exact 1, new error 0, inherited error 1 - exp(-lambda x), x turns after it"
    number_about = "lambda, how fast a past error is forgiven"
    ratio_of_counts = False

    def turn_count(self, outcomes: Outcomes) -> Counts:
        """Columns: turns, exact, inherited without an error turn, inherited at distance 1, 2, 3, ..."""
        return histogram(outcomes, self.get("variant"))

    def turn_terms(self, sums: Array) -> tuple[Array, Array]:
        """The histogram times the weights, and turns."""
        assert self.number is not None
        weight = np.concatenate([[1.0, float(self.number > 0)], decay(np.arange(1, sums.shape[-1]), self.number)])
        return in_order(sums[..., 1:] * weight[: sums.shape[-1] - 1]), sums[..., 0]


def decay(distance: Array, number: float) -> Array:
    """1 - exp(-lambda x) for distances of 1 and more, exact at lambda 0 and inf.

    >>> decay(np.array([1, 2]), 0.0), decay(np.array([1, 2]), math.inf)
    (array([0., 0.]), array([1., 1.]))
    """
    with np.errstate(over="ignore"):  # a lambda near the largest float: the weight is 1
        result: Array = -np.expm1(-number * distance)
    return result + 0.0


def weights(distance: Array, number: float) -> Array:
    """What FGA gives turns at some ``distances``: 1 if exact, 0 for a new error, else by ``decay``.

    >>> weights(np.array([0, TYPE1, 1, INFINITE]), math.inf)
    array([1., 0., 1., 1.])
    """
    inherited = np.where(distance == INFINITE, float(number > 0), decay(np.maximum(distance, 1), number))
    result: Array = np.where(distance == 0, 1.0, np.where(distance == TYPE1, 0.0, inherited))
    return result


def turn_types(distance: Array) -> list[str]:
    """What kind each turn is: "exact", "type 1" (a new error) or "type 2" (inherited ones)."""
    types: list[str] = np.where(distance == 0, "exact", np.where(distance == TYPE1, "type 1", "type 2")).tolist()
    return types


def distances(outcomes: Outcomes, variant: str) -> Array:
    """Turns since the error turn [U]: 0 for exact turns, TYPE1 for new errors, INFINITE where an error is
    inherited though there was none before (only variant ``paper``).
    """
    exact = outcomes.exact
    type1 = ~exact & _new_error(outcomes, variant)
    distance = _since(outcomes, exact, type1, variant == "hidst")
    if variant == "trippy" and distance.max(initial=0) >= _FLOAT_ONE:
        # A turn whose weight has rounded to 1 counts as exact, so that the wrong turn after it is type 1.
        step = np.diff(outcomes.turn, prepend=0)
        for unit in np.flatnonzero(distance > 0).tolist():
            before = distance[unit - 1]
            distance[unit] = TYPE1 if before >= _FLOAT_ONE else max(before, 0) + step[unit]
    return distance


def _new_error(outcomes: Outcomes, variant: str) -> Array:
    """Whether a wrong turn would be type 1 under a variant [U]; meaningless where the turn is exact."""
    changed: Array = (outcomes.new_ref_right < outcomes.new_ref) | (outcomes.new_pred_right < outcomes.new_pred)
    if variant == "strict":
        return np.asarray((outcomes.flags & CARRIED) == 0)
    if variant == "trippy":
        changed = (outcomes.flags & SAME_WRONG) == 0
    elif variant == "official":
        changed |= np.roll(outcomes.exact, 1)
    elif variant == "hidst":
        changed |= (outcomes.flags & PRED_IS_PREVIOUS_REF) != 0
    return outcomes.first | changed


def _since(outcomes: Outcomes, exact: Array, type1: Array, from_zero: bool = False) -> Array:
    """Turns since the last type 1; where there was none, INFINITE, or the turn's own number."""
    units = np.arange(len(outcomes))
    error = np.maximum.accumulate(np.where(type1, units, -1)) if len(units) else units
    start = outcomes.offsets[:-1][outcomes.dialogue_of]
    none = error < start
    turn = outcomes.turn.astype(np.int64)
    distance = np.where(none, turn if from_zero else INFINITE, turn - turn[error])
    return np.where(exact, 0, np.where(type1, TYPE1, distance))


def histogram(outcomes: Outcomes, variant: str) -> Counts:
    """Turns, exact, inherited without an error turn, inherited at distance 1, 2, 3, ... [D, columns]."""
    distance = distances(outcomes, variant)
    width = 3 + int(distance.max(initial=0))
    column = np.where(distance > 0, distance + 2, np.where(distance == 0, 1, np.where(distance == INFINITE, 2, 0)))
    return per_column(outcomes, outcomes.counted != 0, column, width)


def lambda_for(turns: float, factor: float) -> float:
    """The lambda under which a mistake is forgotten by ``factor`` within ``turns`` user turns.

    Formula: -ln(1 - factor) / turns, with turns > 0 and 0 <= factor < 1 (ValueError otherwise).

    >>> round(lambda_for(6, 0.95), 5)
    0.49929
    """
    if not turns > 0 or math.isinf(turns):
        raise ValueError(f"turns: expected a number above 0, found {turns}")
    if not 0 <= factor < 1:
        raise ValueError(f"factor: expected a share from 0 up to, not including, 1, found {factor}")
    return -math.log1p(-factor) / turns + 0.0


FGA = _FGA()
