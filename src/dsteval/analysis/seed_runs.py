"""Several runs of one system, from other seeds of training or sampling: how much they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import AlignmentError, first_few, require
from dsteval.metrics import Metric
from dsteval.outcomes.table import Array, Outcomes
from dsteval.results.aligned import aligned_counts, beside
from dsteval.results.result import Result, or_none
from dsteval.stats.intervals import drawing_order
from dsteval.stats.runs import agreement, spread


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
    Raises as ``aligned_counts`` does for runs that are not of the same dialogues, turns, protocol and reference.

    >>> from dsteval import evaluate
    >>> ref, other = {"d": [{"a-x": "1"}] * 2}, {"d": [{"a-x": "1"}, {}]}
    >>> found = repeated([evaluate(ref, ref, name="one"), evaluate(ref, other, name="two")], ["JGA"])
    >>> found.metrics[0].mean, round(found.metrics[0].deviation, 4), found.agreement.right_in_all
    (0.75, 0.3536, 0.5)
    """
    aligned = aligned_counts(results, metrics)
    values = tuple(_repeated(text, aligned.points(text)) for text in aligned.metrics)
    if saved := [result.name for result in results if result.outcomes is None]:
        note = f"agreement needs predictions; saved results hold only counts ({first_few(saved)})"
        return Repeats(*aligned[:3], values, None, note)
    return Repeats(*aligned[:3], values, _agreed(results))


def _repeated(text: str, points: Sequence[float]) -> Repeated:
    mean, deviation, _, dropped = spread(np.array(points))
    values = tuple(map(or_none, points))
    defined = [value for value in values if value is not None]
    low, high = min(defined, default=None), max(defined, default=None)
    return Repeated(text, values, or_none(mean), or_none(deviation), low, high, dropped)


def _agreed(results: Sequence[Result]) -> Agreed:
    right: list[Array] = []
    for result in results:
        # The places of the turns in the order that all runs share.
        starts = np.cumsum([0, *result.turns_per_dialogue])
        units = np.concatenate([np.arange(*starts[row : row + 2]) for row in drawing_order(result.dialogues)])
        assert result.outcomes is not None
        places = list(_places(result.outcomes, units))
        if not right:
            expected = places
        where = beside(results[0], result)
        for ours, theirs in zip(expected, places, strict=True):
            require(ours == theirs, where, f"the same turns, {ours}", theirs, AlignmentError)
        # What the protocol's JGA counts as right, or else what has no wrong slot.
        tally = result.metrics["JGA"].extra if "JGA" in result.metrics else ""
        extra = result.outcomes.extra
        right.append((extra[tally][:, 0] == 1 if tally in extra else result.outcomes.exact)[units])
    pairs, mean, kappa, in_all, in_any = agreement(np.stack(right))
    return Agreed(tuple(map(tuple, pairs.tolist())), mean, or_none(kappa), in_all, in_any)


def _places(outcomes: Outcomes, units: Array) -> Iterator[str]:
    """How messages call each unit: dialogue, turn and, of frames, service."""
    columns = (outcomes.dialogue_of, outcomes.turn, outcomes.service)
    for dialogue, turn, service in zip(*(column[units].tolist() for column in columns), strict=True):
        name = outcomes.services[service] if service >= 0 else ""
        place = f"dialogue {canonical_id(outcomes.dialogues[dialogue])!r}, turn {turn}"
        yield place + (f", service {name!r}" if name else "")
