"""Several runs of one system, from other seeds of training or sampling: how much they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, first_few
from dsteval.metrics import Metric
from dsteval.metrics.base import Array
from dsteval.outcomes.table import Outcomes
from dsteval.results.aligned import places, rows
from dsteval.results.result import Result, or_none
from dsteval.stats.runs import agreement, spread

__all__ = ["Agreed", "Repeated", "Repeats", "repeated"]


@dataclass(frozen=True)
class Repeated:
    """One metric over runs: its values, their mean, sample standard deviation, smallest and largest.

    None where a run has no value, or where there are too few; ``dropped`` runs are undefined.
    """

    metric: str
    values: tuple[float | None, ...]
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None
    dropped: int


@dataclass(frozen=True)
class Agreed:
    """How runs agree on which turns are right, in shares of turns.

    ``pairs`` [runs][runs]: turns that two runs have both right or both wrong, ``mean`` that of all pairs.
    ``kappa`` (Fleiss) is None where every run has every turn right, or every turn wrong.
    """

    pairs: tuple[tuple[float, ...], ...]
    mean: float
    kappa: float | None
    right_in_all: float
    right_in_any: float


@dataclass(frozen=True)
class Repeats:
    """What ``repeated`` returns; ``agreement`` is None where a run tells no turns, and ``note`` says which.

    Under protocols of service frames these stand in the place of turns.
    """

    runs: tuple[str, ...]
    dialogues: int
    turns: int
    metrics: tuple[Repeated, ...]
    agreement: Agreed | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The runs as JSON has them."""
        return asdict(self)


def repeated(results: Sequence[Result], metrics: Sequence[str | Metric] | None = None) -> Repeats:
    """Mean and standard deviation of each metric over runs, and how the runs agree turn by turn.

    The deviation (n - 1) is that between runs: it tells what another seed does, not what other dialogues would.
    Raises as ``rows.rows`` does for runs that are not of the same dialogues, turns, protocol and reference.

    >>> from dsteval import evaluate
    >>> ref, other = {"d": [{"a-x": "1"}] * 2}, {"d": [{"a-x": "1"}, {}]}
    >>> found = repeated([evaluate(ref, ref, name="one"), evaluate(ref, other, name="two")], ["JGA"])
    >>> found.metrics[0].mean, round(found.metrics[0].deviation, 4), found.agreement.right_in_all
    (0.75, 0.3536, 0.5)
    """
    lined = rows(results, metrics)
    found = tuple(_repeated(text, lined.points(text)) for text in lined.metrics)
    saved = [one.name for one in results if one.outcomes is None]
    agreed = None if saved else _agreed([_right(one, place) for one, place in _placed(results)])
    note = ""
    if saved:
        note = f"agreement needs predictions, and of a saved result only counts are left ({first_few(saved)})"
    return Repeats(lined.systems, lined.dialogues, lined.turns, found, agreed, note)


def _repeated(text: str, points: Sequence[float]) -> Repeated:
    values = np.array(points)
    found = spread(values)
    defined = values[~np.isnan(values)]
    low, high = (float(defined.min()), float(defined.max())) if len(defined) else (None, None)
    told = tuple(map(or_none, points))
    return Repeated(text, told, or_none(found.mean), or_none(found.deviation), low, high, found.dropped)


def _agreed(right: Sequence[Array]) -> Agreed:
    found = agreement(np.stack(right))
    pairs = tuple(tuple(map(float, row)) for row in found.pairs)
    return Agreed(pairs, found.mean, or_none(found.kappa), found.right_in_all, found.right_in_any)


def _placed(results: Sequence[Result]) -> list[tuple[Result, Array]]:
    """Each run with the places of its turns in the order that all share."""
    placed = []
    for one, place in zip(results, places(results), strict=True):
        starts = np.concatenate([[0], np.cumsum(one.turns_per_dialogue)])
        placed.append((one, np.concatenate([np.arange(starts[row], starts[row + 1]) for row in place])))
    first, own = placed[0]
    for one, units in placed[1:]:
        _check_units(first, own, one, units)
    return placed


def _check_units(first: Result, own: Array, other: Result, units: Array) -> None:
    """Raise AlignmentError where turns, or the services of their frames, are others."""
    ours, theirs = (_units(one, place) for one, place in ((first, own), (other, units)))
    apart = next((pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]), None)
    if apart is not None:
        raise AlignmentError(
            where=f"{other.name} beside {first.name}",
            expected=f"the same turns, {_told(apart[0])}",
            found=_told(apart[1]),
        )


_Unit = tuple[str, int, str]


def _units(result: Result, place: Array) -> list[_Unit]:
    outcomes = _outcomes(result)
    services = [outcomes.services[one] if one >= 0 else "" for one in outcomes.service[place].tolist()]
    names = [outcomes.dialogues[one] for one in outcomes.dialogue_of[place].tolist()]
    return list(zip(map(canonical_id, names), outcomes.turn[place].tolist(), services, strict=True))


def _told(unit: _Unit) -> str:
    dialogue, turn, service = unit
    return f"dialogue {dialogue!r}, turn {turn}" + (f", service {service!r}" if service else "")


def _outcomes(result: Result) -> Outcomes:
    assert result.outcomes is not None
    return result.outcomes


def _right(result: Result, place: Array) -> Array:
    """Which turns, or frames, the protocol's JGA counts as right, or else those that have no wrong slot."""
    outcomes = _outcomes(result)
    tally = result.metrics["JGA"].extra if "JGA" in result.metrics else ""
    right: Array = outcomes.extra[tally][:, 0] == 1 if tally in outcomes.extra else outcomes.exact
    return right[place]
