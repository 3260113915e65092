"""One way of scoring, fixed before anything is read: the protocol and everything else that was asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

from dsteval import readers
from dsteval._version import __version__
from dsteval.align.coverage import Coverage, Extra, Missing, Policy
from dsteval.align.fingerprint import Fingerprint
from dsteval.errors import OptionError, require, require_known, unknown
from dsteval.metrics import Metric, parse, under
from dsteval.metrics.fga import FGA
from dsteval.outcomes.slices import BY, check_unit
from dsteval.protocols.model import MOST_SLOTS, Protocol, load
from dsteval.readers.schema import Schema, SchemaFile, schema_hash
from dsteval.readers.source import schema_of
from dsteval.stats.intervals import Intervals
from dsteval.values.slots import MULTIWOZ, SPELLINGS
from dsteval.values.user_tables import USER_TABLES, Table, UserTables


class Settings(TypedDict, total=False):
    """What a run may set, under the names of the command line's options.

    ``settings`` change single ones of the protocol's, as ``--set`` does. ``updates``: the predicted states are
    what each turn changed. ``format`` and ``ref_format`` name a reader instead of detecting it; ``ref_field``
    names the field that holds the reference, where a file has several. ``missing`` and ``extra`` say what is done
    where one side lacks dialogues (Policy). ``slots`` is |S|, or the list of slots. ``domain_lambda`` gives
    domains a lambda of their own. ``changes`` keeps account of every value that the protocol rewrote, ``errors``
    of every error. With ``keep_going`` broken lines of predictions are left out with their dialogues, and listed
    in ``Coverage.broken``. ``variants`` and ``ontology`` are tables that some protocols need, a path or the
    content; so is ``schema``, the schema.json that is not beside the data, and ``train_schema`` tells which
    services were seen in training.
    """

    settings: Sequence[str]
    updates: bool
    format: str | None
    ref_format: str | None
    ref_field: str | None
    keep_going: bool
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


@dataclass(frozen=True)
class Run:
    """A protocol with all that moves a number beside it; made by ``Run.of``, which checks it.

    ``schema`` and ``train_schema`` are those given as options, empty where there are none, ``tables`` what the
    user gave for protocols that need it.
    """

    protocol: Protocol
    options: Settings
    policy: Policy
    intervals: Intervals
    tables: UserTables
    schema: Schema
    train_schema: Schema

    @classmethod
    def of(cls, protocol: str | Protocol = "exact", **options: Unpack[Settings]) -> Run:
        """The run of a protocol, by its name or itself, with options. Raises OptionError for those that do not
        exist.
        """
        unsupported = sorted(set(options) - set(Settings.__annotations__))
        if unsupported:
            raise OptionError(unknown("option", unsupported[0], list(Settings.__annotations__)))
        chosen = load(protocol) if isinstance(protocol, str) else protocol
        settings = options.get("settings", ())
        if isinstance(settings, str):
            raise OptionError(where="settings", expected="a list of table.key=value", found=repr(settings))
        settings = list(settings)
        chosen = chosen.with_settings(settings) if settings else chosen
        _check_slots(options.get("slots"))
        tables = UserTables(chosen.name, options.get("variants"), options.get("ontology"))
        for table in USER_TABLES.keys() & set(chosen.needs):
            getattr(tables, table)  # a table that is lacking is told before anything is read
        return cls(
            chosen,
            options,
            Policy(options.get("missing", "error"), options.get("extra", "error")),
            Intervals.of_settings(options),
            tables,
            schema_of(options.get("schema"), "--schema"),
            schema_of(options.get("train_schema"), "--train-schema"),
        )

    @property
    def by_frame(self) -> bool:
        """Whether the unit is the service frame."""
        return self.protocol.scope.unit == "frame"

    def resolved(self, metrics: Sequence[str | Metric] | None) -> dict[str, Metric]:
        """The metrics that are asked for, or the protocol's own, by their text as typed, each as the protocol
        has it.
        """
        if isinstance(metrics, str):
            raise OptionError(where="metrics", expected="a list of metrics", found=repr(metrics))
        texts = self.protocol.metrics.default if metrics is None else metrics
        require(
            texts or metrics is not None,
            "--metric",
            f"a metric, since {self.protocol.name} has no default",
            "none",
        )
        return {str(metric): under(metric, self.protocol) for metric in map(parse, texts)}

    def slices(self, by: Sequence[str]) -> list[str]:
        """What to slice by, domains too where one has a lambda of its own."""
        _check_list("by", by, "a list of what to slice by")
        for kind in by:
            require_known("value of --by", kind, BY)
        wanted, lambdas = list(dict.fromkeys(by)), self.options.get("domain_lambda")
        check_unit(self.protocol.scope.unit, wanted, bool(self.train_schema), bool(lambdas))
        return [*wanted, "domain"] if lambdas and "domain" not in wanted else wanted

    def at_domain_lambda(self, metrics: Mapping[str, Metric], domain: str) -> Mapping[str, Metric]:
        """The metrics of a domain's slice: where it has a lambda of its own, every FGA is at that lambda, its
        parameters kept; if there is none, FGA comes in addition.
        """
        number = (self.options.get("domain_lambda") or {}).get(domain)
        if number is None:
            return metrics
        moved = {
            str(parse(text) @ number if metric.name == "FGA" else text): metric @ number
            if metric.name == "FGA"
            else metric
            for text, metric in metrics.items()
        }
        if not any(metric.name == "FGA" for metric in metrics.values()):
            moved[str(FGA @ number)] = under(FGA, self.protocol) @ number
        return moved

    def reading(self, *, pred: bool, with_ref: bool = False) -> readers.Options:
        """What readers are told of the predictions (where they stand ``with_ref`` in a second file), or of the
        reference.
        """
        if not pred:
            return readers.Options(False, self.options.get("ref_field"))
        return readers.Options(
            self.options.get("updates", False),
            None if with_ref else self.options.get("ref_field"),
            self.options.get("keep_going", False),
        )

    @property
    def given_slots(self) -> list[str] | None:
        """The slots that were given as S, in the protocol's spelling; None where they were not."""
        slots = self.options.get("slots")
        if slots is None or isinstance(slots, int):
            return None
        return [SPELLINGS[self.protocol.states.slots](slot) for slot in slots]

    def slot_list(self, seen: Sequence[str], schema: Sequence[str]) -> list[str]:
        """The slots of S by name: those given, or MultiWOZ's 30 if each slot seen is one of them, or the
        schema's, or those seen.
        """
        if self.given_slots is not None:
            return self.given_slots
        if all(slot in MULTIWOZ for slot in seen):
            return sorted(MULTIWOZ)
        return list(schema or seen)

    def n_slots(self, slot_list: Sequence[str]) -> int:
        """|S|: as given, or the protocol's, or the length of the list of slots."""
        given, fixed = self.options.get("slots"), self.protocol.scope.slots
        if isinstance(given, int):
            return given
        return fixed if given is None and fixed != "auto" else len(slot_list)

    def signature(
        self, coverage: Coverage, reference: Fingerprint, n_slots: int, schema: str, inputs: Collection[str]
    ) -> tuple[str, ...]:
        """Every setting that can move a number, the version last; ``schema`` is its hash, where frames ask for
        one, ``inputs`` are ``updates`` and ``forced`` where files are so, ``frames`` where some were filled in.
        """
        needs = self.protocol.needs
        return (
            f"proto:{self.protocol.label}",
            f"turns:{coverage.scored_turns}/{coverage.ref_turns}",
            f"ref:{reference}",
            *self.protocol.signature().split("|"),
            f"S:{n_slots}",
            *([f"schema:{schema}"] if schema else []),
            *(["input:updates"] if "updates" in inputs else []),
            *(f"{name}:{hash}" for name, hash in self.tables.hashes.items() if name in needs),
            *self.policy.signature(coverage, "frames" in inputs),
            *self.intervals.signature(),
            *(["forced:ref-state"] if "forced" in inputs else []),
            f"v:{__version__}",
        )

    @property
    def train_signature(self) -> str:
        """The piece of a signature that tells the schema of the training data."""
        return f"train:{schema_hash(self.train_schema)}"


def _check_slots(slots: object) -> None:
    """Raise OptionError unless slots are a number, a list of names, or None."""
    if slots is None or (isinstance(slots, int) and not isinstance(slots, bool) and 1 <= slots <= MOST_SLOTS):
        return
    expected = f"a number of slots from 1 to {MOST_SLOTS}, or a list of their names"
    require(not isinstance(slots, int), "slots", expected, repr(slots))
    for name in _check_list("slots", slots, expected):
        require(isinstance(name, str), "slots", expected, f"{name!r} among them")


def _check_list(option: str, values: object, expected: str) -> Collection[object]:
    """The values of an option, which are gone through more than once. Raises OptionError for a text, or what can
    be gone through only once, as a generator.
    """
    if isinstance(values, Collection) and not isinstance(values, str):
        return values
    once = f"a {type(values).__name__}, which can be read only once"
    found = once if isinstance(values, Iterator) else repr(values)
    raise OptionError(where=option, expected=expected, found=found)
