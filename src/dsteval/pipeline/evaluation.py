"""The pipeline: file -> reader -> align -> prepare -> compare -> count -> value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, TypedDict, Unpack

from dsteval import readers
from dsteval._version import __version__
from dsteval.align.pairing import Aligner, Extra, Missing, Policy
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, ProtocolError, unknown
from dsteval.metrics import Counts, Metric, parse, total, under
from dsteval.metrics.fga import FGA
from dsteval.outcomes.error_records import DialogueContext, errors_of
from dsteval.outcomes.frames import FrameComparer, Framer
from dsteval.outcomes.slices import BY, Slice, Slicer, check_unit, service_key
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.pipeline.inputs import Input, label_of, open_input, read_predictions, read_references, system_name
from dsteval.prepare.states import Prepared, Preparer
from dsteval.protocols.model import Protocol, load
from dsteval.readers import Source
from dsteval.readers.source import SchemaFile, schema_hash, schema_of
from dsteval.results.notes import notes
from dsteval.results.result import Result, Score, SliceScores, score
from dsteval.stats.intervals import Intervals
from dsteval.values.matchers import MATCHERS
from dsteval.values.slots import MULTIWOZ, SPELLINGS
from dsteval.values.user_tables import Table, UserTables

__all__ = ["Evaluation", "Settings", "evaluate"]


def evaluate(
    ref: Input | None,
    pred: Input,
    *,
    metrics: Sequence[str | Metric] | None = None,
    protocol: str | Protocol = "exact",
    by: Sequence[str] = (),
    name: str | None = None,
    progress: Callable[[], None] | None = None,
    **options: Unpack[Settings],
) -> Result:
    """Score predictions against a reference.

    ``ref`` and ``pred`` are paths, dictionaries {dialogue: [state, ...]} or {dialogue: {turn: state}}, or
    iterables of Dialogues or of lines of our JSONL; ``ref=None`` where ``pred`` holds both sides. ``metrics``
    default to the protocol's own list. ``by`` adds slices: domain, service, slot, turn, dialogue or length.
    ``progress`` is called once a dialogue. The other options are those of Settings.

    Returns a Result; values are fractions. Raises a DstevalError that names the place for input that cannot
    be read or aligned, and for unknown names.

    >>> result = evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{"hotel-area": "North"}]}, metrics=["JGA"])
    >>> result["JGA"].value, result["JGA"].count, result["JGA"].total
    (1.0, 1, 1)
    """
    run = Evaluation(protocol, **options)
    resolved = run.metrics(metrics)
    comparers = partial(run.comparer, metrics=resolved.values())
    slicers = [run.slicer(one, comparers) for one in run.sliced(by)]
    pred_source = open_input(pred, "predictions")
    ref_source = None if ref is None else open_input(ref, "reference")
    comparer = comparers()
    contexts: list[DialogueContext] = []
    for dialogue, prepared in run.pairs(pred_source, ref_source):
        run.compare(comparer, dialogue, prepared)
        if options.get("errors"):
            contexts.append(DialogueContext.of(dialogue, prepared))
        for slicer in slicers:
            slicer.add(dialogue, prepared, run.protocol.scope.bits)
        if progress is not None:
            progress()
    outcomes = run.scoped(comparer)
    resolved = {text: metric.with_slots(outcomes.n_slots) for text, metric in resolved.items()}
    scores, counts = run.scores(resolved, outcomes)
    return Result(
        name or system_name(label_of(pred_source)),
        run.source,
        run.protocol.label,
        run.aligner.coverage,
        tuple(scores),
        tuple(outcomes.dialogues),
        outcomes.turns_each,
        outcomes.n_slots,
        run.aligner.fingerprint,
        run.protocol.hash,
        outcomes,
        counts,
        resolved,
        tuple(notes(run, outcomes, comparer)),
        tuple(run.slices(slicers, resolved, outcomes)),
        tuple(run.preparer.changes()) if run.options.get("changes") else None,
        tuple(errors_of(outcomes, contexts)) if options.get("errors") else None,
    )


class Settings(TypedDict, total=False):
    """What a run may set, under the names of the command line's options.

    ``settings`` change single ones of the protocol's, as ``--set`` does. ``updates``: the predicted states are
    what each turn changed. ``format`` and ``ref_format`` name a reader instead of detecting it; ``ref_field``
    names the field that holds the reference, where a file has several. ``missing`` and ``extra`` say what is done
    where one side lacks dialogues (Policy). ``slots`` is |S|, or the list of slots. ``domain_lambda`` gives
    domains a lambda of their own. ``changes`` keeps account of every value that the protocol rewrote, ``errors``
    of every error. ``variants`` and ``ontology`` are tables that some protocols need, a path or the content; so is
    ``schema``, the schema.json that is not beside the data, and ``train_schema`` tells which services were seen in
    training.
    """

    settings: Sequence[str]
    updates: bool
    format: str | None
    ref_format: str | None
    ref_field: str | None
    missing: Missing
    extra: Extra
    slots: int | Sequence[str] | None
    domain_lambda: Mapping[str, float]
    changes: bool
    errors: bool
    variants: Table | None
    ontology: Table | None
    ci: float | None
    resamples: int
    seed: int
    interval: Literal["percentile", "bca"]
    schema: SchemaFile | None
    train_schema: SchemaFile | None


class Evaluation:
    """One run: a protocol, what else was set, and what it has to say about a pair of files.

    ``pairs`` yields each aligned dialogue with its prepared states; the aligner's coverage and fingerprint are
    complete once it is through. Raises OptionError for settings that do not exist.
    """

    def __init__(self, protocol: str | Protocol = "exact", **options: Unpack[Settings]) -> None:
        odd = sorted(set(options) - set(Settings.__annotations__))
        if odd:
            raise OptionError(unknown("option", odd[0], list(Settings.__annotations__)))
        chosen = load(protocol) if isinstance(protocol, str) else protocol
        settings = options.get("settings", ())
        if isinstance(settings, str):
            raise OptionError(where="settings", expected="a list of table.key=value", found=repr(settings))
        self.protocol = chosen.with_settings(settings) if settings else chosen
        self.options = options
        self.policy = Policy(options.get("missing", "error"), options.get("extra", "error"))
        self.intervals = Intervals(
            options.get("ci", 0.95),
            options.get("resamples", 1000),
            options.get("seed", 12345),
            options.get("interval", "percentile"),
        )
        self.updated = False
        self.forced = False
        self.services = schema_of(options.get("schema"), "--schema")
        self.trained = schema_of(options.get("train_schema"), "--train-schema")
        self.schema: list[str] = []
        self.framer: Framer | None = None
        self.source = ""
        self.given = UserTables(self.protocol.name, options.get("variants"), options.get("ontology"))
        self.preparer = Preparer(self.protocol, given=self.given)
        self.matcher = MATCHERS[self.protocol.match.rule](self.given)
        self.aligner = Aligner(self.protocol.scope, lambda dialogue: [])

    def metrics(self, wanted: Sequence[str | Metric] | None) -> dict[str, Metric]:
        """The metrics that are asked for by their text as typed, each resolved under the protocol."""
        if isinstance(wanted, str):
            raise OptionError(where="metrics", expected="a list of metrics", found=repr(wanted))
        texts = self.protocol.metrics.default if wanted is None else wanted
        parsed = [parse(metric) if isinstance(metric, str) else metric.checked() for metric in texts]
        return {str(metric): under(metric, self.protocol) for metric in parsed}

    def comparer(self, keep: Callable[[str], bool] | None = None, metrics: Iterable[Metric] = ()) -> Comparer:
        """What compares states under the protocol and counts what the metrics ask for."""
        if self.protocol.scope.unit == "frame":
            return FrameComparer(self.matcher, self._framed)
        tallies = sorted({metric.extra for metric in metrics} - {""})
        return Comparer(keep, None if self.protocol.match.rule == "exact" else self.matcher, tallies)

    def _framed(self) -> Framer:
        assert self.framer is not None
        return self.framer

    def slicer(self, by: str, comparers: Callable[[Callable[[str], bool]], Comparer]) -> Slicer:
        """What gathers the slices of one kind."""
        frames = self.protocol.scope.unit == "frame"
        return Slicer(by, comparers, service_key(by, self.trained) if frames else None)

    def sliced(self, by: Sequence[str]) -> list[str]:
        """What to slice by, domains too where one has a lambda of its own."""
        for one in by:
            if one not in BY:
                raise OptionError(unknown("value of --by", one, list(BY)))
        wanted = list(dict.fromkeys(by))
        check_unit(self.protocol.scope.unit, wanted, bool(self.trained), bool(self.options.get("domain_lambda")))
        return wanted if "domain" in wanted or not self.options.get("domain_lambda") else [*wanted, "domain"]

    def pairs(
        self,
        pred: Source | Iterable[Dialogue],
        ref: Source | Iterable[Dialogue] | None = None,
        source: str | None = None,
    ) -> Iterator[tuple[Dialogue, Prepared]]:
        """Each dialogue with both sides, aligned and prepared; ``source`` names dialogues that come from a file.

        Raises at the end for what had no partner.
        """
        options = self.options
        self.source = source or label_of(pred)
        recorded = options.get("changes", False)
        self.preparer = preparer = Preparer(self.protocol, self.source, recorded, self.given)
        scope = self.protocol.scope
        # A preparer of its own: what a reference that is not used holds is neither a fault nor a change.
        aside = Preparer(self.protocol, given=self.given)
        self.aligner = Aligner(scope, aside.reference, self.source, self.policy, self.protocol.leaves_out)
        field = options.get("ref_field")
        own = readers.Options(options.get("updates", False), field if ref is None else None)
        predictions = read_predictions(pred, options.get("format"), own)
        references = None
        if ref is not None:
            self.aligner.ref_source = ref.name if isinstance(ref, Source) else "reference"
            references = read_references(ref, options.get("ref_format"), readers.Options(False, field))
        self.know(ref, pred)
        if scope.unit == "frame":
            self.framer = Framer(self.protocol, preparer, self.services, self.policy.missing == "empty")
            self.matcher.categorical = self.framer.categorical
        for dialogue in self.aligner.pair(predictions, references):
            self.updated |= "pred" in dialogue.updates
            self.forced |= dialogue.forced
            yield dialogue, preparer.dialogue(dialogue)
        preparer.problems.check(self.aligner.coverage.scored_turns)

    def know(self, *sources: Source | Iterable[Dialogue] | None) -> None:
        """Take the schema beside the first source that has one, if none was given."""
        for one in sources:
            if isinstance(one, Source):
                self.services = self.services or one.services
        self.schema = [self.preparer.slot(name) for slots in self.services.values() for name in slots]

    def compare(self, comparer: Comparer, dialogue: Dialogue, prepared: Prepared) -> None:
        """Compare one dialogue, by its states or by its right/wrong marks."""
        if dialogue.turns and dialogue.turns[0].correctness is not None:
            slots = self.protocol.scope.bits
            self._check_bits(dialogue, slots)
            comparer.add_correctness(dialogue, slots, prepared.ref)
        else:
            comparer.add(dialogue, prepared)

    def _check_bits(self, dialogue: Dialogue, slots: Sequence[str]) -> None:
        if not slots:
            raise ProtocolError(
                where=self.source,
                expected=f"values, which protocol {self.protocol.name} compares",
                found="right/wrong marks (TripPy's correctness bits)",
                remedy="Only --protocol fga-trippy scores them.",
            )
        turn, found = next(
            (
                (turn.number, len(turn.correctness or ()))
                for turn in dialogue.turns
                if len(turn.correctness or ()) != len(slots)
            ),
            (0, len(slots)),
        )
        if found != len(slots):
            raise ProtocolError(
                where=f"{self.source}, dialogue {dialogue.id!r}, turn {turn}",
                expected=f"{len(slots)} marks a turn, the slots of protocol {self.protocol.name}",
                found=str(found),
            )

    @property
    def listed(self) -> list[str] | None:
        """The slots that were given as S, in the protocol's spelling; None where they were not."""
        given = self.options.get("slots")
        if given is None or isinstance(given, int):
            return None
        return [SPELLINGS[self.protocol.states.slots](slot) for slot in given]

    def inventory(self, outcomes: Outcomes) -> list[str]:
        """The slots of S by name: those given, or MultiWOZ's 30 if each slot seen is one of them, or the
        schema's, or those seen.
        """
        if self.listed is not None:
            return self.listed
        if all(slot in MULTIWOZ for slot in outcomes.slots):
            return sorted(MULTIWOZ)
        return self.schema or list(outcomes.slots)

    def scoped(self, comparer: Comparer) -> Outcomes:
        """The outcomes with |S|: as given, the protocol's, or the number of slots in the inventory."""
        outcomes = comparer.outcomes()
        if self.framer is not None:
            self.framer.check()
        given, fixed = self.options.get("slots"), self.protocol.scope.slots
        if isinstance(given, int):
            return outcomes.with_scope(given)
        if given is None and fixed != "auto":
            return outcomes.with_scope(fixed)
        return outcomes.with_scope(len(self.inventory(outcomes)))

    def scores(
        self,
        metrics: Mapping[str, Metric],
        outcomes: Outcomes,
        part: Slice | None = None,
        counted: dict[tuple[object, ...], Counts] | None = None,
    ) -> tuple[list[Score], dict[str, Counts]]:
        """Count, sum and divide, for a slice its own dialogues only.

        ``counted`` holds what these outcomes have been counted for already, and takes in the rest.
        """
        counted = {} if counted is None else counted
        metrics = {text: metric.with_slots(outcomes.n_slots) for text, metric in metrics.items()}
        counts: dict[str, Counts] = {}
        own: dict[tuple[object, ...], Counts] = {}
        undefined = {
            text: why
            for text, metric in metrics.items()
            if (why := metric.unavailable_reason(outcomes)) is not None
        }
        for text, metric in metrics.items():
            if text in undefined:
                continue
            key = metric.count_key
            if key not in counted:
                counted[key] = metric.count(outcomes)
            counts[text] = counted[key]
            own.setdefault(key, counted[key] if part is None or part.rows is None else counted[key][part.rows])
        defined = {text: metric for text, metric in metrics.items() if text in counts}
        names = outcomes.dialogues
        if part is not None and part.rows is not None:
            names = [names[row] for row in part.rows.tolist()]
        found = self.intervals.of(((metric, own[metric.count_key]) for metric in defined.values()), names)
        intervals = dict(zip(defined, found, strict=True))
        scores = []
        for text, metric in metrics.items():
            signature = self.signature(metric, outcomes, part)
            if text in undefined:
                scores.append(Score(text, None, None, None, signature, why=undefined[text]))
            else:
                scores.append(score(metric, text, total(own[metric.count_key]), signature, intervals[text]))
        return scores, counts

    def slices(
        self, slicers: Sequence[Slicer], metrics: Mapping[str, Metric], outcomes: Outcomes
    ) -> Iterator[SliceScores]:
        """The scores of every slice; a domain with a lambda of its own has FGA at that lambda."""
        own = dict(self.options.get("domain_lambda") or {})
        inventory = self.inventory(outcomes)
        seen = {slicer.by: list(slicer.comparers) for slicer in slicers}
        odd = sorted(set(own) - set(seen.get("domain", own)))
        if odd:
            raise OptionError(unknown("domain in --domain-lambda", odd[0], sorted(seen["domain"])))
        counted: dict[tuple[object, ...], Counts] = {}
        for slicer in slicers:
            for one in slicer.slices(outcomes, inventory, self.protocol.scope.domain_slots == "own"):
                wanted = dict(metrics)
                if one.by == "domain" and one.key in own:
                    wanted = _at_lambda(metrics, under(FGA, self.protocol), own[one.key])
                scores, _ = self.scores(wanted, one.outcomes, one, None if one.rows is None else counted)
                yield SliceScores(one.by, one.key, one.convention, one.turns, tuple(scores))

    def signature(self, metric: Metric, outcomes: Outcomes, part: Slice | None = None) -> str:
        """Every setting that can move a number, the version last."""
        coverage = self.aligner.coverage
        policy = [f"missing:{self.policy.missing}"] if self.policy.missing != "error" else []
        policy += [f"extra:{self.policy.extra}"] if self.policy.extra != "error" else []
        parts = [
            str(metric),
            *([f"slice:{part.by}={part.key}:{part.convention}"] if part else []),
            f"proto:{self.protocol.label}",
            f"turns:{coverage.scored_turns}/{coverage.ref_turns}",
            f"ref:{self.aligner.fingerprint}",
            self.protocol.signature(),
            f"S:{outcomes.n_slots}",
            *([f"schema:{self.framer.hash}"] if self.framer else []),
            *([f"train:{schema_hash(self.trained)}"] if part and part.by == "group" else []),
            *(["input:updates"] if self.updated else []),
            *(f"{name}:{hash}" for name, hash in self.given.hashes.items() if name in self.protocol.needs),
            *policy,
            *self.intervals.signature(),
            *(["forced:ref-state"] if self.forced else []),
            f"v:{__version__}",
        ]
        return "|".join(parts)


def _at_lambda(metrics: Mapping[str, Metric], plain: Metric, number: float) -> dict[str, Metric]:
    """The metrics with every FGA at another lambda, its parameters kept; with a plain FGA if there is none."""
    wanted: dict[str, Metric] = {}
    for text, metric in metrics.items():
        if metric.name == "FGA":
            wanted[str(parse(text) @ number)] = metric @ number
        else:
            wanted[text] = metric
    if not any(metric.name == "FGA" for metric in wanted.values()):
        wanted[str(FGA @ number)] = plain @ number
    return wanted
