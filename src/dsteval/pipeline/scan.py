"""One pass over predictions and their reference: aligned, prepared and compared, dialogue by dialogue."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dsteval.align.pairing import Aligner
from dsteval.dialogue import Dialogue, canonical_id
from dsteval.errors import AlignmentError, OptionError, ProtocolError, first_few, unknown
from dsteval.metrics import Metric
from dsteval.outcomes.frames import FrameComparer, Framer
from dsteval.outcomes.slices import Slice, Slicer, service_key
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.pipeline.inputs import label_of, read_predictions, read_references
from dsteval.pipeline.run import Run
from dsteval.prepare.states import Prepared, Preparer
from dsteval.readers import Source
from dsteval.results.notes import NoteCounts, notes
from dsteval.results.partition import Partition, count
from dsteval.results.result import Score, SliceScores, scored, signed
from dsteval.stats.intervals import Intervals
from dsteval.values.matchers import MATCHERS
from dsteval.values.slots import MULTIWOZ

Side = Source | Iterable[Dialogue]


class Scan:
    """A run over one pair of inputs; what it found is complete once ``pairs`` or ``compared`` is through.

    ``ref`` is None where the predictions hold both sides; ``source`` names dialogues that come from a file.
    ``metrics`` tell what is counted, ``by`` what slices there are. ``updated`` tells that a dialogue's predictions
    were updates, ``forced`` that they came from the reference's state of the turn before.
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
    ) -> None:
        self.run, self.metrics = run, metrics or {}
        self.source = source or label_of(pred)
        protocol = run.protocol
        self._ref, self._pred = ref, pred
        self.updated = self.forced = False
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
        self.comparer = self.new_comparer()
        trained = run.train_schema
        self._slicers = [
            Slicer(
                kind,
                self.new_comparer,
                service_key(kind, trained) if run.by_frame else None,
                protocol.scope.domain_values == "texts",
            )
            for kind in by
        ]

    def new_comparer(self, keep: Callable[[str], bool] | None = None) -> Comparer:
        """What compares states under the protocol and counts what the metrics ask for."""
        if self.framer is not None:
            return FrameComparer(self.matcher, self.framer)
        extra = sorted({metric.extra for metric in self.metrics.values()} - {""})
        return Comparer(keep, None if self.run.protocol.match.rule == "exact" else self.matcher, extra)

    def pairs(self) -> Iterator[tuple[Dialogue, Prepared]]:
        """Each dialogue with both sides, aligned and prepared. Raises at the end for what had no partner."""
        run, references = self.run, None
        options = run.options
        own = run.reading(pred=True, with_ref=self._ref is not None)
        predictions = read_predictions(self._pred, options.get("format"), own)
        if self._ref is not None:
            references = read_references(self._ref, options.get("ref_format"), run.reading(pred=False))
        for dialogue in self.aligner.pair(references, predictions):
            self.updated |= "pred" in dialogue.updates
            self.forced |= dialogue.forced
            yield dialogue, self.preparer.dialogue(dialogue)
        self.preparer.problems.check(self.aligner.coverage.scored_turns)
        self._check_names()
        self._check_finished()

    def _check_finished(self) -> None:
        """Raise AlignmentError for the file of a tracker's run that is not over, unless what lacks is left out."""
        whole = self._pred.announced if isinstance(self._pred, Source) else None
        if whole is not None and (there := self.aligner.n_predicted) < whole and self.run.policy.missing != "skip":
            raise AlignmentError(
                where=self.source,
                expected=f"the {whole} dialogues of the run that writes it",
                found=f"{there}",
                remedy="Run dsteval track with the same options to finish it, or leave out the others with "
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

    def compared(self) -> Iterator[tuple[Dialogue, Prepared]]:
        """The same, each compared by its states or by its right/wrong marks before it comes."""
        slots = self.run.protocol.scope.bits
        for dialogue, prepared in self.pairs():
            if dialogue.turns and dialogue.turns[0].correctness is not None:
                self._check_correctness(dialogue, slots)
                self.comparer.add_correctness(dialogue, slots, prepared.ref)
            else:
                self.comparer.add(dialogue, prepared)
            for slicer in self._slicers:
                slicer.add(dialogue, prepared, slots)
            yield dialogue, prepared

    def _check_correctness(self, dialogue: Dialogue, slots: Sequence[str]) -> None:
        if not slots:
            raise ProtocolError(
                where=self.source,
                expected=f"values, which protocol {self.run.protocol.name} compares",
                found="right/wrong marks (TripPy's correctness bits)",
                remedy="Only --protocol fga-trippy scores them.",
            )
        for turn in dialogue.turns:
            if len(turn.correctness or ()) != len(slots):
                raise ProtocolError(
                    where=f"{self.source}, dialogue {dialogue.id!r}, turn {turn.number}",
                    expected=f"{len(slots)} marks a turn, the slots of protocol {self.run.protocol.name}",
                    found=str(len(turn.correctness or ())),
                )

    def outcomes(self) -> Outcomes:
        """The table of what was compared, with |S|."""
        table = self.comparer.outcomes()
        if self.framer is not None:
            self.framer.check()
        return table.with_scope(self.run.n_slots(self.run.slot_list(table.slots, self._schema)))

    def partition(self, outcomes: Outcomes) -> Partition:
        """What adds up of these outcomes, and of how their dialogues were found."""
        counts, unavailable = count(self.metrics.values(), outcomes)
        passed_over = {} if self.framer is None else self.framer.passed_over()
        return Partition(
            tuple(outcomes.dialogues),
            outcomes.turns_each,
            counts,
            unavailable,
            self.aligner.coverage,
            self.aligner.fingerprint,
            NoteCounts.of(outcomes, self.comparer, passed_over, self.preparer.dropped("ref")),
            tuple(outcomes.slots),
        )

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
                yield f"{side.name}: passed over, being no dialogues by their names: {names}"

    def signature(self, partition: Partition, n_slots: int) -> tuple[str, ...]:
        """The signature of a score without its metric, in pieces."""
        framer = self.framer
        filled = framer is not None and framer.filled
        inputs = {"updates": self.updated, "forced": self.forced, "frames": filled}
        schema = "" if framer is None else framer.hash
        said = [name for name, holds in inputs.items() if holds]
        return self.run.signature(partition.coverage, partition.reference_hash, n_slots, schema, said)

    def slices(self, partition: Partition, outcomes: Outcomes) -> Iterator[SliceScores]:
        """The scores of every slice; a domain with a lambda of its own has FGA at that lambda."""
        run, scope = self.run, self.run.protocol.scope
        domains = {domain for slicer in self._slicers if slicer.by == "domain" for domain in slicer.comparers}
        unseen = sorted(set(run.options.get("domain_lambda") or {}) - domains)
        if unseen:
            raise OptionError(unknown("domain in --domain-lambda", unseen[0], sorted(domains)))
        slot_list = run.slot_list(outcomes.slots, self._schema)
        signature = self.signature(partition, outcomes.n_slots)
        for slicer in self._slicers:
            for part in slicer.slices(outcomes, slot_list, scope.domain_slots == "own"):
                asked = run.at_domain_lambda(self.metrics, part.key) if part.by == "domain" else self.metrics
                metrics = {text: metric.with_slots(part.outcomes.n_slots) for text, metric in asked.items()}
                if part.rows is None:
                    counts, unavailable = count(metrics.values(), part.outcomes)
                    own = replace(partition, counts=counts, unavailable=unavailable)
                else:
                    own = partition.rows(part.rows.tolist(), partition.coverage)
                scores = scored(own, metrics, self._slice_signature(signature, part), run.intervals)
                yield SliceScores(part.by, part.key, part.convention, part.turns, tuple(scores))

    def scores(self, partition: Partition, n_slots: int, intervals: Intervals) -> tuple[Score, ...]:
        """The score of every metric."""
        metrics = {text: metric.with_slots(n_slots) for text, metric in self.metrics.items()}
        return tuple(scored(partition, metrics, self.signature(partition, n_slots), intervals))

    def _slice_signature(self, whole: Sequence[str], part: Slice) -> list[str]:
        """The pieces of the whole's signature with those that a slice has of its own."""
        pieces = [f"slice:{part.by}={part.key}:{part.convention}", *signed(whole, S=part.outcomes.n_slots)]
        if part.by == "group":
            schema = next(number for number, piece in enumerate(pieces) if piece.startswith("schema:"))
            pieces.insert(schema + 1, self.run.train_signature)
        return pieces
