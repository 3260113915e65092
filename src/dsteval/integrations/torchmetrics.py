"""A torchmetrics metric, which sums over batches, devices and processes; needs the extra ``torch``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import OptionError, require
from dsteval.metrics import Counts
from dsteval.metrics.base import Metric as CountedMetric
from dsteval.outcomes.table import Array
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scorer import Scorer, State
from dsteval.protocols.model import Protocol

try:
    import torch
    from torchmetrics import Metric
except ImportError as error:
    raise ImportError(f"{error}. Install torch and torchmetrics: pip install 'dsteval[torch]'") from error

_BITS, _LIMBS = 30, 4
"""A sum is an integer and 90 bits of fraction, in four integers: adding them rounds nothing, in any order."""

_PER_RUN = ("errors", "changes", "domain_lambda", "ci", "resamples", "seed", "interval")
"""Settings of ``evaluate`` that need more than sums, or change none of them."""


class DSTMetric(Metric):  # type: ignore[misc, unused-ignore]
    """Scores of dialogue state tracking as a ``torchmetrics.Metric``; ``compute`` gives what ``evaluate`` gives.

    ``metrics``, ``protocol`` and the settings are as for ``dsteval.evaluate``; keywords that are not settings of
    dsteval go to ``torchmetrics.Metric``. The state is one tensor of integers, [kinds of counts, width, 4], which
    is summed over processes, so that any split of the dialogues gives the same scores to the last digit. A
    dialogue must not be split: pass all its turns in one ``update``. A dialogue that comes twice counts twice,
    such as those that a ``DistributedSampler`` repeats to fill its last batch.

    ``width`` is how many columns a metric may count. FGA has one for each distance in turns, AGA one for each
    number of slots in the reference; others have few. A dialogue that needs more columns is refused.

    Raises OptionError for a setting that needs more than sums (intervals, errors), for a protocol that counts
    service frames, and for a metric that counts all slots (SlotAccuracy, NoneF1) unless ``slots`` gives their
    number or a list of them: the slots seen by one process are not known to the others.

    >>> metric = DSTMetric(metrics=["JGA", "FGA@0.5"])
    >>> metric.update(preds=[[{"hotel-area": "north"}, {}]], target=[[{"hotel-area": "north"}] * 2])
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'JGA': 0.5, 'FGA@0.5': 0.5}
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    def __init__(
        self,
        metrics: Sequence[str | CountedMetric] = ("JGA", "SlotF1"),
        protocol: str | Protocol = "exact",
        width: int = 256,
        **options: Any,
    ) -> None:
        settings = {name: options.pop(name) for name in Settings.__annotations__ if name in options}
        super().__init__(**options)
        for name in _PER_RUN:
            expected = "no setting that needs all dialogues at once, as evaluate has them"
            require(name not in settings, "DSTMetric", expected, name)
        require(width >= 1, "DSTMetric, width", "1 or more", width)
        self._arguments: dict[str, Any] = {"metrics": list(metrics), "protocol": protocol, "ci": None, **settings}
        Scorer(**self._arguments)  # wrong settings are refused here, and not in the first batch
        run = Run.of(protocol, **settings)
        self._left_out = set(map(canonical_id, run.protocol.scope.leave_out))
        self._counted = _with_slots(run.resolved(metrics), run)
        self._kinds = list(dict.fromkeys(metric.count_text for metric in self._counted.values()))
        # The name tells the settings: in a MetricCollection, metrics with equal states are taken for one another.
        described = [run.protocol.label, run.protocol.hash, self._kinds, sorted(settings.items(), key=str)]
        self._sums = f"sums_{hashlib.sha256(repr(described).encode()).hexdigest()[:12]}"
        empty = torch.zeros(len(self._kinds), width, _LIMBS, dtype=torch.int64)
        self.add_state(self._sums, default=empty, dist_reduce_fx="sum")

    def update(
        self,
        preds: Sequence[Sequence[State]],
        target: Sequence[Sequence[State]],
        dialogues: Sequence[str] | None = None,
    ) -> None:
        """Count a batch of whole dialogues, each a list with the state after each turn.

        ``preds`` are the predicted states and ``target`` those of the reference, in the order of arguments that
        torchmetrics has. ``dialogues`` are their ids, which only protocols that leave out some dialogues by name
        need. Raises OptionError for batches or dialogues of different lengths and for counts wider than
        ``width``, ReadError for values of a wrong type, AlignmentError for an id that stands twice in the batch.
        """
        names: Sequence[str | None] = [None] * len(target) if dialogues is None else dialogues
        lengths = f"{len(preds)} and {len(target)} with {len(names)} ids"
        alike = len(preds) == len(target) == len(names)
        require(alike, "DSTMetric.update", "as many dialogues in preds as in target", lengths)
        scorer = Scorer(**self._arguments)
        for ref, pred, name in zip(target, preds, names, strict=True):
            if name is None or canonical_id(name) not in self._left_out:
                scorer.update(ref, pred, dialogue=name)
        if not len(scorer):
            return
        found = scorer.result().partition.counts
        sums = getattr(self, self._sums)
        added = np.zeros(sums.shape, dtype=np.int64)
        for place, kind in enumerate(self._kinds):
            if kind in found:
                limbs = _limbs(found[kind])
                _check_width(kind, len(limbs), sums.shape[1])
                added[place, : len(limbs)] = limbs
        setattr(self, self._sums, sums + torch.from_numpy(added).to(sums.device))

    def compute(self) -> dict[str, Any]:
        """The score of each metric over all processes, by its text: scalar tensors, NaN where undefined.

        They are float64, or float32 on MPS, which has no float64.
        """
        totals = getattr(self, self._sums).cpu().numpy()
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        scores = {
            text: float(metric.value(_total(totals[self._kinds.index(metric.count_text)])))
            for text, metric in self._counted.items()
        }
        return {text: torch.tensor(score, dtype=dtype, device=self.device) for text, score in scores.items()}


def _with_slots(metrics: Mapping[str, CountedMetric], run: Run) -> dict[str, CountedMetric]:
    """The metrics with |S|. Raises OptionError for one that counts all slots where their number is open."""
    counting = [text for text, metric in metrics.items() if metric.uses_n_slots]
    if counting and run.options.get("slots") is None and run.protocol.scope.slots == "auto":
        raise OptionError(
            where=f"DSTMetric, {counting[0]}",
            expected="the number of slots, or a list of them, which is the same for all processes",
            found="none",
            remedy="Set it, for MultiWOZ: slots=30.",
        )
    size = run.n_slots(run.given_slots or [])
    return {text: metric.with_slots(size) for text, metric in metrics.items()}


def _check_width(kind: str, found: int, width: int) -> None:
    require(
        found <= width,
        f"DSTMetric, {kind}",
        f"at most {width} columns of counts",
        found,
        remedy=f"Set width={found} or more, the same in all processes.",
    )


def _limbs(counts: Counts) -> Array:
    """The sums over dialogues [columns, limbs]: whole numbers, then 30 bits of the fraction each."""
    sums = np.zeros((counts.shape[1], _LIMBS), dtype=np.int64)
    if counts.dtype.kind != "f":
        sums[:, 0] = counts.sum(axis=0, dtype=np.int64)
        return sums
    rest = counts.astype(np.float64)
    for limb in range(_LIMBS):
        whole = np.floor(rest)
        sums[:, limb] = whole.astype(np.int64).sum(axis=0)
        rest = (rest - whole) * (1 << _BITS)
    return sums


def _total(limbs: Array) -> Counts:
    """The sums [columns], rounded once: integers where all of them are whole."""
    if not limbs[:, 1:].any():
        whole: Array = limbs[:, 0]
        return whole
    shifts = [_BITS * place for place in reversed(range(_LIMBS))]
    exact = [sum(part << shift for part, shift in zip(row, shifts, strict=True)) for row in limbs.tolist()]
    return np.array([value / (1 << shifts[0]) for value in exact])
