"""One pass over predictions and their reference: aligned, prepared and compared, dialogue by dialogue."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dsteval.align.coverage import Coverage
from dsteval.align.fingerprint import Fingerprint
from dsteval.align.pairing import Aligner, all_differ
from dsteval.dialogue import Dialogue, Item, canonical_id
from dsteval.errors import AlignmentError, OptionError, ProtocolError, first_few, unknown
from dsteval.metrics import Metric
from dsteval.outcomes.blocks import Block
from dsteval.outcomes.cells import Cells
from dsteval.outcomes.extra_columns import DialogueStates
from dsteval.outcomes.frame_comparer import FrameComparer
from dsteval.outcomes.frames import Framer
from dsteval.outcomes.slices import BY_SLOT, SlotSlicer, service_key, service_parts, turn_parts
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer, SeenSlot
from dsteval.pipeline.inputs import encoded_predictions, label_of, read_predictions, read_references
from dsteval.pipeline.run import Run
from dsteval.pipeline.slice_counts import SliceCounts
from dsteval.pipeline.slice_scores import SliceScorer
from dsteval.prepare.states import SIDES, Preparer
from dsteval.prepare.vocabulary import Prepared
from dsteval.readers import Encoded, Source
from dsteval.readers.encoded import NotInBlocksError
from dsteval.results.notes import NoteCounts, notes
from dsteval.results.partition import Partition, Tally
from dsteval.results.result import Score, SliceScores, scored
from dsteval.stats.intervals import Intervals
from dsteval.values.matchers import MATCHERS
from dsteval.values.slots import MULTIWOZ

Side = Source | Iterable[Dialogue]


class ScannedPart(NamedTuple):
    """What a scan found in a part of the data.

    ``hashes`` are those of its dialogues, ``dropped`` are items that were left out though they may be values.
    ``said`` tells whether predictions were updates, and whether they came from the reference's states.
    """

    tally: Tally
    slices: Sequence[SliceCounts]
    coverage: Coverage
    fingerprint: Fingerprint
    hashes: array[int]
    dropped: Mapping[Item, int]
    said: tuple[bool, bool]


class Scan:
    """A run over one pair of inputs; what it found is complete once ``pairs`` or ``compared`` is through.

    ``ref`` is None where the predictions hold both sides; ``source`` names dialogues that come from a file.
    ``metrics`` tell what is counted, ``by`` what slices there are; ``keep`` the outcomes of every turn, or count
    them only. ``updated`` tells that a dialogue's predictions were updates, ``forced`` that they came from the
    reference's state of the turn before.
    """

    def __init__(
        self,
        run: Run,
        ref: Side | None,
        pred: Side,
        metrics: dict[str, Metric] | None = None,
        by: Sequence[str] = (),
        *,
        source: str | None = None,
        schema_from: Sequence[Side | None] = (),
        keep: bool = True,
    ) -> None:
        self.run, self.metrics = run, metrics or {}
        self.source = source or label_of(pred)
        protocol = run.protocol
        self._ref, self._pred = ref, pred
        self.updated = self.forced = False
        self._by_block = False
        self._progress: Callable[[int], None] = lambda number: None
        services = run.schema or next(
            (side.services for side in (*schema_from, ref, pred) if isinstance(side, Source) and side.services),
            run.schema,
        )
        self.preparer = Preparer(protocol, self.source, run.options.get("changes", False), run.tables, services)
        # Of its own: what a reference that is not used holds is neither a fault nor a change.
        unused = Preparer(protocol, given=run.tables, schema=services)
        ref_source = ref.name if isinstance(ref, Source) else "reference"
        self.aligner = Aligner(
            protocol.scope, unused.reference, self.source, ref_source, run.policy, protocol.leaves_out
        )
        self.matcher = MATCHERS[protocol.match.rule](run.tables)
        self._schema = [self.preparer.slot(name) for slots in services.values() for name in slots]
        self.framer: Framer | None = None
        if run.by_frame:
            self.framer = Framer(protocol, self.preparer, services, run.policy.missing == "empty")
            self.matcher.categorical = self.framer.categorical
        self._extra = sorted({metric.extra for metric in self.metrics.values()} - {""})
        self._tally = Tally(self.metrics.values())
        self._kept: list[Outcomes] | None = [] if keep else None
        self._slices = [SliceCounts(kind, self._slice_metrics(kind), self._extra) for kind in by]
        self.comparer = self._comparer()

    def _slice_metrics(self, by: str) -> Collection[Metric]:
        """What the slices by something count: under a lambda of its own a domain may count more than the whole."""
        lambdas = self.run.options.get("domain_lambda") or {} if by == "domain" else {}
        counted = [self.metrics, *(self.run.at_domain_lambda(self.metrics, domain) for domain in lambdas)]
        return {metric for metrics in counted for metric in metrics.values()}

    def _comparer(self) -> Comparer | FrameComparer:
        """What compares states under the protocol, counts what the metrics ask for, and the slices of it."""
        vocabulary, scope = self.preparer.vocabulary, self.run.protocol.scope
        if self.framer is not None:
            return FrameComparer(vocabulary, self.matcher, self._take, self.framer)
        turns = Comparer(vocabulary, self.matcher, self._take, self._extra, scope.bits)
        for counts in self._slices:
            if counts.by in BY_SLOT:
                texts_only = scope.domain_values == "texts" and counts.by == "domain"
                slicer = SlotSlicer(counts.by, turns.rule, self._extra, texts_only=texts_only)
                turns.also.append(partial(self._by_slot, counts, slicer))
        return turns

    def _by_slot(
        self,
        counts: SliceCounts,
        slicer: SlotSlicer,
        outcomes: Outcomes,
        block: Block,
        cells: Cells,
        states: Sequence[DialogueStates],
    ) -> None:
        for part in slicer.parts(outcomes, block, cells, states):
            counts.add(part, self._tally.n_dialogues - len(block.dialogues))

    def _take(self, outcomes: Outcomes, slots: Mapping[str, SeenSlot]) -> None:
        """Count one block of outcomes."""
        start = self._tally.n_dialogues
        self._tally.add(outcomes, slots)
        for counts in self._slices:
            key_of = service_key(counts.by, self.run.train_schema) if self.framer is not None else None
            parts = turn_parts(outcomes) if counts.by == "turn" else ()
            for part in parts if key_of is None else service_parts(outcomes, key_of):
                counts.add(part, start)
        if self._kept is not None:
            self._kept.append(outcomes)

    def pairs(self) -> Iterator[tuple[Dialogue, Prepared]]:
        """Each dialogue with both sides, aligned and prepared. Raises at the end for what had no partner."""
        run, references = self.run, None
        options = run.options
        own = run.reading(pred=True, with_ref=self._ref is not None)
        predictions = read_predictions(self._pred, options.get("format"), own)
        if self._by_block:
            predictions = self._left_over(encoded_predictions(self._pred, options.get("format"), own))
        if self._ref is not None:
            references = read_references(self._ref, options.get("ref_format"), run.reading(pred=False))
        for dialogue in self.aligner.pair(references, predictions):
            self.updated |= "pred" in dialogue.updates
            self.forced |= dialogue.forced
            yield dialogue, self.preparer.dialogue(dialogue)
        if isinstance(self._pred, Source):
            self.aligner.coverage.broken += (place for part in self._pred.parts for place in part.broken)
        self.preparer.problems.check(self.aligner.coverage.scored_turns)
        self._check_names()
        self._check_finished()

    def _check_finished(self) -> None:
        """Raise AlignmentError for the file of a tracker's run that is not over, unless what lacks is left out."""
        whole = self._pred.announced if isinstance(self._pred, Source) else None
        if whole is not None and (there := self.aligner.n_predicted) < whole and self.run.policy.missing != "skip":
            raise AlignmentError(
                where=self.source,
                expected=f"{whole} dialogues, as in the tracking run that writes this file",
                found=f"{there}",
                remedy="Run dsteval track with the same options to finish it, or leave out the missing ones with "
                "--missing skip.",
            )

    def _check_names(self) -> None:
        """Raise OptionError where a setting of this run names a slot or a dialogue that is not in the data."""
        protocol, coverage = self.run.protocol, self.aligner.coverage
        changed = {text.partition("=")[0] for text in protocol.changed}
        slots = self.preparer.slots() if "states.only" in changed else set()
        left_out = set(map(canonical_id, coverage.left_out))
        for setting, what, names, known in (
            (
                "states.only",
                "slot",
                map(self.preparer.slot, protocol.states.only),
                {*slots, *self._schema, *MULTIWOZ},
            ),
            ("scope.leave_out", "dialogue", map(canonical_id, protocol.scope.leave_out), left_out),
        ):
            absent = sorted(set(names) - known) if setting in changed else []
            if absent:
                near = slots if what == "slot" else map(canonical_id, self.aligner.ids)
                raise OptionError(unknown(f"{what} in {setting}", absent[0], sorted(near)))

    def compared(
        self, progress: Callable[[int], None] | None = None, *, by_block: bool = False
    ) -> Iterator[tuple[Dialogue, Prepared]]:
        """The same, each handed over to be compared by its states or its right/wrong marks before it comes.

        With ``by_block`` those do not come that can be compared in blocks. ``progress`` hears how many are done.
        Raises NotInBlocksError where a file cannot be read in blocks to its end.
        """
        states_only = self.framer is None and not self._extra and self.preparer.takes_items
        self._by_block = by_block and self._ref is None and states_only
        self._progress = progress or (lambda number: None)
        for dialogue, prepared in self.pairs():
            if dialogue.turns and dialogue.turns[0].correctness is not None:
                self._check_correctness(dialogue, self.run.protocol.scope.bits)
            self.comparer.add(dialogue, prepared)
            self._progress(1)
            yield dialogue, prepared
        self.comparer.close()
        if self.framer is not None:
            self.framer.check()

    def _left_over(self, parts: Iterable[Encoded | Dialogue]) -> Iterator[Dialogue]:
        """The dialogues that have to be looked at one by one; blocks of others are compared on the way."""
        left = set[str]()
        for part in parts:
            if isinstance(part, Dialogue):
                yield part
            elif self._take_block(part):
                self._progress(len(part.ids))
            else:
                keys = list(map(canonical_id, part.ids))
                if len(set(keys)) < len(keys) or not left.isdisjoint(keys):
                    raise NotInBlocksError  # lines of one dialogue may stand apart
                left.update(keys)
                yield from part.dialogues()

    def _take_block(self, block: Encoded) -> bool:
        """Compare a block of dialogues, if nothing in it takes a closer look."""
        if not len(block):
            return True
        if block.is_wide or block.has_doubles:
            return False
        ref, pred = (self.preparer.encoded(block, side) for side in SIDES)
        if ref is None or pred is None:
            return False
        ready = Block.of(self.preparer.vocabulary, block, (ref, pred))
        if ready.has_doubles or not self.aligner.accept(block):
            return False
        assert isinstance(self.comparer, Comparer)
        self.comparer.add_block(ready)
        return True

    def _check_correctness(self, dialogue: Dialogue, slots: Sequence[str]) -> None:
        if not slots:
            raise ProtocolError(
                where=self.source,
                expected=f"values, as protocol {self.run.protocol.name} needs",
                found="right/wrong marks (TripPy's correctness bits)",
                remedy="Only --protocol fga-trippy scores them.",
            )
        for turn in dialogue.turns:
            if len(turn.correctness or ()) != len(slots):
                raise ProtocolError(
                    where=f"{self.source}, dialogue {dialogue.id!r}, turn {turn.number}",
                    expected=f"{len(slots)} marks per turn, one per slot of protocol {self.run.protocol.name}",
                    found=str(len(turn.correctness or ())),
                )

    def part(self) -> ScannedPart:
        """What was found in a part of the data, once all of it is compared."""
        aligner, dropped = self.aligner, self.preparer.dropped("ref")
        found = aligner.coverage, aligner.fingerprint, aligner.hashes
        return ScannedPart(self._tally, self._slices, *found, dropped, (self.updated, self.forced))

    def absorb(self, parts: Sequence[ScannedPart]) -> bool:
        """Take in all parts of the data, in their order; False where one dialogue is in two of them."""
        if not all_differ(array("Q", b"".join(part.hashes.tobytes() for part in parts))):
            return False
        for part in parts:
            start = self._tally.n_dialogues
            for own, other in zip(self._slices, part.slices, strict=True):
                own.absorb(other, start)
            self._tally.absorb(part.tally)
            self.preparer.dropped("ref").update(part.dropped)
            self.updated |= part.said[0]
            self.forced |= part.said[1]
        self.aligner.absorb([(part.coverage, part.fingerprint, len(part.hashes)) for part in parts])
        self._check_finished()
        return True

    @property
    def n_slots(self) -> int:
        """|S|, once all is compared."""
        return self.run.n_slots(self.run.slot_list(self._tally.slots, self._schema))

    def outcomes(self) -> Outcomes:
        """The table of what was compared, with |S|; of a scan that keeps it."""
        assert self._kept is not None
        return Outcomes.joined(self._kept).with_scope(self.n_slots)

    def partition(self) -> Partition:
        """What adds up of the outcomes, and of how their dialogues were found."""
        passed_over = {} if self.framer is None else self.framer.passed_over()
        left_out = NoteCounts.left_out(passed_over, self.preparer.dropped("ref"))
        return self._tally.partition(self.aligner.coverage, self.aligner.fingerprint, left_out)

    def notes(self, partition: Partition) -> tuple[str, ...]:
        """The sentences that stand below the numbers."""
        assert partition.note_counts is not None
        run = self.run
        sentences = notes(
            partition.note_counts,
            partition.coverage,
            run.protocol,
            run.policy,
            run.given_slots,
            self._schema,
        )
        return (*self._passed_over(), *sentences)

    def _passed_over(self) -> Iterator[str]:
        """Which files of a folder or an archive were taken for no dialogues, because of their names."""
        for side in (self._ref, self._pred):
            if isinstance(side, Source) and side.skipped_files:
                names = first_few(side.skipped_files, 5)
                yield f"{side.name}: skipped files that do not look like dialogues by name: {names}"

    def signature(self, partition: Partition, n_slots: int) -> tuple[str, ...]:
        """The signature of a score without its metric, in pieces."""
        filled, schema = (False, "") if self.framer is None else (self.framer.filled, self.framer.hash)
        inputs = {"updates": self.updated, "forced": self.forced, "frames": filled}
        said = [name for name, holds in inputs.items() if holds]
        return self.run.signature(partition.coverage, partition.reference_hash, n_slots, schema, said)

    def slices(self, partition: Partition) -> Iterator[SliceScores]:
        """The scores of every slice; a domain with a lambda of its own has FGA at that lambda."""
        slot_list = self.run.slot_list(partition.slots, self._schema)
        signature = self.signature(partition, self.n_slots)
        own = self.framer is None and self.run.protocol.scope.domain_slots == "own"
        scorer = SliceScorer(self.run, self.metrics, partition, signature, slot_list if own else (), self.n_slots)
        return scorer.scores(self._slices, self._tally.lengths)

    def scores(self, partition: Partition, n_slots: int, intervals: Intervals) -> tuple[Score, ...]:
        """The score of every metric."""
        metrics = {text: metric.with_slots(n_slots) for text, metric in self.metrics.items()}
        return tuple(scored(partition, metrics, self.signature(partition, n_slots), intervals))
