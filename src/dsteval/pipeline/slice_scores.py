"""The scores of slices, from what they count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dsteval.errors import OptionError, unknown
from dsteval.metrics import Metric
from dsteval.outcomes.slices import BY_SLOT
from dsteval.outcomes.table import Array
from dsteval.pipeline.run import Run
from dsteval.pipeline.slice_counts import Slice, SliceCounts
from dsteval.results.partition import Partition
from dsteval.results.result import SliceScores, scored, signed


@dataclass(frozen=True)
class SliceScorer:
    """Scores slices of a ``partition`` that has these ``metrics`` and this ``signature``.

    ``own_slots`` are the slots of S where a slice has an |S| of its own, ``n_slots`` is the |S| of all others.
    """

    run: Run
    metrics: Mapping[str, Metric]
    partition: Partition
    signature: Sequence[str]
    own_slots: Sequence[str]
    n_slots: int

    def scores(self, slices: Sequence[SliceCounts], lengths: Array) -> Iterator[SliceScores]:
        """The scores of every slice; ``lengths`` are the user turns of the dialogues.

        Raises OptionError where a domain that is not there has a lambda of its own.
        """
        run = self.run
        domains = {key for counts in slices if counts.by == "domain" for key in counts.keys}
        unseen = sorted(set(run.options.get("domain_lambda") or {}) - domains)
        if unseen:
            raise OptionError(unknown("domain in --domain-lambda", unseen[0], sorted(domains)))
        for counts in slices:
            key_of = BY_SLOT.get(counts.by)
            own = Counter(map(key_of, self.own_slots)) if key_of is not None else Counter[str]()
            for part in self._parts(counts, lengths):
                n_slots = own[part.key] or self.n_slots
                asked = run.at_domain_lambda(self.metrics, part.key) if counts.by == "domain" else self.metrics
                metrics = {text: metric.with_slots(n_slots) for text, metric in asked.items()}
                scores = scored(part.partition, metrics, self._signature(counts.by, part, n_slots), run.intervals)
                yield SliceScores(counts.by, part.key, part.convention, part.turns, tuple(scores))

    def _parts(self, counts: SliceCounts, lengths: Array) -> Iterator[Slice]:
        whole = self.partition
        if counts.by == "dialogue":
            for number, name in enumerate(whole.dialogues):
                own = whole.rows([number], whole.coverage)
                yield Slice(name, "all", own.turns_per_dialogue[0], own)
        elif counts.by == "length":
            for length in np.unique(lengths).tolist():
                own = whole.rows(np.flatnonzero(lengths == length).tolist(), whole.coverage)
                yield Slice(str(length), "all", sum(own.turns_per_dialogue), own)
        else:
            yield from counts.slices(whole)

    def _signature(self, by: str, part: Slice, n_slots: int) -> list[str]:
        """The pieces of the whole's signature with those that a slice has of its own."""
        pieces = [f"slice:{by}={part.key}:{part.convention}", *signed(self.signature, S=n_slots)]
        if by == "group":
            schema = next(number for number, piece in enumerate(pieces) if piece.startswith("schema:"))
            pieces.insert(schema + 1, self.run.train_signature)
        return pieces
