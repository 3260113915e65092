"""One prediction file under every protocol, and what makes the numbers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeAlias, Unpack

from dsteval import readers
from dsteval.dialogue import Dialogue, Item, Items, Side, canonical_id, written_states
from dsteval.errors import DstevalError, OptionError, ProtocolError, first_few, unknown
from dsteval.outcomes.table import EXACT, Outcomes
from dsteval.pipeline.inputs import Input, keep_dialogues, label_of, open_input, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.prepare.states import SIDES, Prepared, value_text
from dsteval.protocols import model as protocols
from dsteval.protocols.model import Protocol
from dsteval.readers import Source
from dsteval.results.result import SCHEMA, Score
from dsteval.values.matchers import matches
from dsteval.values.slots import canonical

__all__ = ["Disagreement", "Entry", "Spread", "spread"]

BASE = "exact"
"""The protocol that the others are held against."""


@dataclass(frozen=True)
class Disagreement:
    """One slot that makes two protocols disagree about a turn.

    ``right_under`` is the protocol that counts the turn as right. ``ref`` and ``pred`` are the values as written
    (None: not there), ``compared`` what the first and what the second protocol compares, ``rule`` the setting
    that is responsible.
    """

    dialogue: str
    turn: int
    slot: str
    ref: str | None
    pred: str | None
    right_under: str
    compared: tuple[tuple[str | None, str | None], tuple[str | None, str | None]]
    rule: str


@dataclass(frozen=True)
class Entry:
    """One protocol: its scores, JGA first, and where it differs from ``exact``.

    ``gained`` and ``lost`` count turns that are right here and not there, and the other way round (None where the
    protocol does not count turns); ``rules`` how many of these each setting explains.
    """

    protocol: str
    checked: tuple[str, ...]
    scores: tuple[Score, ...]
    gained: int | None = None
    lost: int | None = None
    rules: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def jga(self) -> Score:
        """Joint goal accuracy as this protocol means it."""
        return self.scores[0]


@dataclass(frozen=True)
class Spread:
    """What ``spread`` returns: the protocols that apply, those that do not with the reason, and what two of them
    disagree about, where that was asked for.
    """

    name: str
    source: str
    target: float | None
    entries: tuple[Entry, ...]
    not_applicable: dict[str, str]
    between: tuple[str, str] | None = None
    disagreements: tuple[Disagreement, ...] = ()

    def difference(self, entry: Entry) -> float | None:
        """JGA minus that of ``exact``; None where one of them is undefined."""
        base = next((one.jga.value for one in self.entries if one.protocol.partition("@")[0] == BASE), None)
        return None if base is None or entry.jga.value is None else entry.jga.value - base

    def to_dict(self) -> dict[str, Any]:
        """The spread as JSON has it."""
        entries = [
            {
                "protocol": one.protocol,
                "checked": list(one.checked),
                "scores": [score.to_dict() for score in one.scores],
                "difference": self.difference(one),
                "gained": one.gained,
                "lost": one.lost,
                "rules": one.rules,
                "notes": list(one.notes),
            }
            for one in self.entries
        ]
        between = None
        if self.between is not None:
            listed = [asdict(one) for one in self.disagreements]
            between = {"protocols": list(self.between), "disagreements": listed}
        return {
            "schema": SCHEMA,
            "name": self.name,
            "source": self.source,
            "target": self.target,
            "protocols": entries,
            "not_applicable": self.not_applicable,
            "between": between,
        }


def spread(
    ref: Input | None,
    pred: Input,
    *,
    only: Sequence[str] = (),
    target: float | None = None,
    between: tuple[str, str] | None = None,
    name: str | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[Settings],
) -> Spread:
    """Score one file under every protocol that applies, or those in ``only``.

    ``target`` is a published JGA, a fraction: entries are sorted by their distance to it. ``between`` names two
    protocols whose disagreements are listed turn by turn. ``progress`` is called with each protocol's name. The
    other options are those of ``evaluate``; tables that only some protocols need may be given as well.

    Raises the DstevalError of the first protocol where none applies.
    """
    chosen = _chosen(only, between)
    source = open_input(pred, "predictions")
    reference = None if ref is None else open_input(ref, "reference")
    if not isinstance(source, Source) or not isinstance(reference, Source | None):
        raise OptionError(where="spread", expected="files or dictionaries", found="an iterator, which ends")
    own = readers.Options(options.get("updates", False), options.get("ref_field") if ref is None else None)
    keep_dialogues(source, options.get("format"), own)
    runs: dict[str, _Run] = {}
    reasons: dict[str, str] = {}
    first: DstevalError | None = None
    entries = []
    for one in chosen:
        if progress is not None:
            progress(one)
        try:
            run = _Run(one, reference, source, options)
        except DstevalError as error:
            first, reasons[one] = first or error, error.command_line
            continue
        entries.append(_entry(run, runs.get(BASE)))
        if one == BASE or one in (between or ()):
            runs[one] = run
    if first is not None and not entries:
        raise first
    listed: tuple[Disagreement, ...] = ()
    if between is not None:
        missing = next((one for one in between if one not in runs), None)
        if missing is not None:
            raise OptionError(
                where=f"--between {missing}", found=f"a protocol that does not apply: {reasons[missing]}"
            )
        listed = tuple(_disagreements(runs[between[0]], runs[between[1]]))
    if target is not None:
        entries.sort(key=lambda entry: (entry.jga.value is None, abs((entry.jga.value or 0) - target)))
    label = label_of(source)
    return Spread(name or system_name(label), label, target, tuple(entries), reasons, between, listed)


def _chosen(only: Sequence[str], between: tuple[str, str] | None) -> list[str]:
    known = protocols.names()
    for one in (*only, *(between or ())):
        if one not in known and not one.endswith(".toml"):
            raise OptionError(unknown("protocol", one, known, "dsteval list protocols"))
    return list(dict.fromkeys((BASE, *(only or known), *(between or ()))))


class _Turns(NamedTuple):
    """One dialogue under one protocol: as aligned, as compared, and which of its turns are right (None: all)."""

    dialogue: Dialogue
    prepared: Prepared
    right: list[bool]


class _Run:
    """One protocol's scores and what it made of every turn."""

    def __init__(self, name: str, ref: Source | None, pred: Source, options: Settings) -> None:
        run = Run.of(name, **options)
        resolved = {**run.resolved(["JGA"]), **run.resolved(None)}
        self.scan = scan = Scan(run, ref, pred, resolved)
        self._stages: dict[str, list[tuple[str, dict[Side, list[_Slots]]]]] = {}
        self._traces: dict[tuple[Side, Item], list[str]] = {}
        held = list(scan.compared())
        outcomes = scan.outcomes()
        partition = scan.partition(outcomes)
        self.scores = scan.scores(partition, outcomes.n_slots, run.intervals)
        self.notes = scan.notes(partition, outcomes.n_slots)
        self.protocol: Protocol = run.protocol
        self._check_slots(held)
        self.counts_turns = run.protocol.scope.unit == "turn" and outcomes.has_values
        self.turns: dict[str, _Turns] = {}
        if self.counts_turns:
            right = _right(outcomes, resolved["JGA"].extra)
            for number, (dialogue, prepared) in enumerate(held):
                start, end = outcomes.offsets[number : number + 2]
                self.turns[canonical_id(dialogue.id)] = _Turns(dialogue, prepared, right[start:end].tolist())

    def stages(self, dialogue: Dialogue) -> list[tuple[str, dict[Side, list[_Slots]]]]:
        """A dialogue as written and after each step, its items by slot; worked out once."""
        key = canonical_id(dialogue.id)
        if key not in self._stages:
            stages = self.scan.preparer.stages(self.turns[key].dialogue)
            self._stages[key] = [
                (name, {side: list(map(_by_name, states)) for side, states in zip(SIDES, sides, strict=True)})
                for name, sides in stages
            ]
        return self._stages[key]

    def trace(self, side: Side, item: Item) -> list[str]:
        """The rules that change an item, worked out once."""
        if (side, item) not in self._traces:
            self._traces[side, item] = self.scan.preparer.rules[side].trace(item)
        return self._traces[side, item]

    def _check_slots(self, held: list[tuple[Dialogue, Prepared]]) -> None:
        """Raise ProtocolError where the protocol does not look at slots that the reference has."""
        only = self.protocol.states.only
        if not only:
            return
        known = set(map(canonical, only))
        seen = {
            canonical(slot)
            for dialogue, _ in held
            for items in written_states(dialogue, "ref")
            for slot, _ in items
        }
        if odd := sorted(seen - known):
            raise ProtocolError(
                where=f"protocol {self.protocol.name}",
                expected=f"a reference of its {len(only)} slots, the only ones it looks at",
                found=f"{len(odd)} others of {len(seen)} ({first_few(odd)})",
            )


def _right(outcomes: Outcomes, tally: str) -> Any:
    """Which turns the protocol's JGA counts as right [U]."""
    return outcomes.extra[tally][:, 0] == 1 if tally else (outcomes.flags & EXACT) != 0


def _entry(run: _Run, base: _Run | None) -> Entry:
    checked, label = run.protocol.checked, run.protocol.label
    if base is None or not (run.counts_turns and base.counts_turns):
        return Entry(label, checked, run.scores, notes=run.notes)
    found = list(_turns_apart(base, run))
    rules: Counter[str] = Counter()
    for turns in found:
        rules.update({one.rule for one in _slots_apart(base, run, *turns)})
    gained = sum(there.right[t] for _, there, t in found)
    ordered = dict(sorted(rules.items(), key=lambda pair: (-pair[1], pair[0])))
    return Entry(label, checked, run.scores, gained, len(found) - gained, ordered, run.notes)


def _turns_apart(a: _Run, b: _Run) -> Iterator[tuple[_Turns, _Turns, int]]:
    """The turns that one of two protocols counts as right and the other does not."""
    for key, here in a.turns.items():
        there = b.turns.get(key)
        if there is None or len(there.right) != len(here.right):
            continue
        for t, (one, other) in enumerate(zip(here.right, there.right, strict=True)):
            if one != other:
                yield here, there, t


def _disagreements(a: _Run, b: _Run) -> Iterator[Disagreement]:
    for turns in _turns_apart(a, b):
        yield from _slots_apart(a, b, *turns)


class _Side(NamedTuple):
    """One slot under one protocol: its values as compared, and whether it is right."""

    ref: Any
    pred: Any
    right: bool


def _slots_apart(a: _Run, b: _Run, here: _Turns, there: _Turns, t: int) -> Iterator[Disagreement]:
    """The slots that are right under one protocol only; where there are none, the metric itself differs."""
    sides = (_by_slot(a, here, t), _by_slot(b, there, t))
    absent = _Side(None, None, True)
    right_under = (a if here.right[t] else b).protocol.name
    turn = here.dialogue.turns[t].number
    found = False
    for slot in sorted({**sides[0], **sides[1]}):
        one, other = (side.get(slot, absent) for side in sides)
        if one.right == other.right:
            continue
        found = True
        items = [a.stages(here.dialogue)[0][1][side][t].get(slot) for side in SIDES]
        yield Disagreement(
            here.dialogue.id,
            turn,
            slot,
            None if items[0] is None else _text(items[0][1]),
            None if items[1] is None else _text(items[1][1]),
            right_under,
            ((_shown(one.ref), _shown(one.pred)), (_shown(other.ref), _shown(other.pred))),
            _responsible((a, b), here.dialogue, t, slot, (one, other)),
        )
    if not found:
        means = [
            f"JGA={run.protocol.metrics.means['JGA']}" for run in (a, b) if "JGA" in run.protocol.metrics.means
        ]
        rule = f"metrics.means {', '.join(means)}" if means else "a slot that is not set on either side"
        nothing = (None, None)
        yield Disagreement(here.dialogue.id, turn, "", None, None, right_under, (nothing, nothing), rule)


def _by_slot(run: _Run, turns: _Turns, t: int) -> dict[str, _Side]:
    """Canonical slot -> both values as compared; slots that differ in spelling only are one."""
    ref, pred = (states[t] for states in turns.prepared)
    right = run.scan.comparer.right
    found = {}
    for slot in {**ref, **pred}:
        r, p = ref.get(slot), pred.get(slot)
        found[canonical(slot)] = _Side(r, p, r is not None and p is not None and right(slot, r, p))
    return found


_Slots: TypeAlias = dict[str, Item]


def _by_name(items: Items) -> _Slots:
    """Canonical slot -> its item as written; of two spellings of one slot the first."""
    return {canonical(item[0]): item for item in reversed(items)}


def _responsible(
    runs: tuple[_Run, _Run], dialogue: Dialogue, t: int, slot: str, sides: tuple[_Side, _Side]
) -> str:
    """The settings that make one slot right under one protocol and wrong under the other."""
    found: list[str] = []
    for side in SIDES:
        values = [getattr(one, side) for one in sides]
        if values[0] == values[1]:
            continue
        traces = [_trace(run, side, dialogue, t, slot, value) for run, value in zip(runs, values, strict=True)]
        found += [rule for rule in (*traces[0], *traces[1]) if (rule in traces[0]) != (rule in traces[1])]
    # Another spelling of the slot's name comes with all its values; it is the reason only where it stands alone.
    found = [rule for rule in found if not rule.startswith("states.slots=")] or found
    rules = [run.protocol.match.rule for run in runs]
    (right, there), (wrong, _) = sorted(zip(sides, runs, strict=True), key=lambda pair: not pair[0].right)
    if None not in (right.ref, right.pred) and not matches(right.ref, right.pred):
        # The matcher forgives. Where it forgives the other's values too, what else differs does not matter.
        alone = None not in (wrong.ref, wrong.pred) and there.scan.comparer.right(slot, wrong.ref, wrong.pred)
        found = [*([] if alone else found), f"match.rule={there.protocol.match.rule}"]
    if not found:
        found = [f"match.rule={next((rule for rule in rules if rule != 'exact'), rules[0])}"]
    return ", ".join(dict.fromkeys(found))


def _trace(run: _Run, side: Side, dialogue: Dialogue, t: int, slot: str, value: Any) -> list[str]:
    """The rules that lead from a slot as written to its value as compared."""
    preparer, states = run.scan.preparer, run.protocol.states
    found: list[str] = []
    item: Item | None = None
    for number, (name, stage) in enumerate(run.stages(dialogue)):
        after = stage[side][t].get(slot)
        found += [f"step {name}"] if number and after != item else []
        item = after
    if item is None:
        return found
    found += run.trace(side, item)
    hidden = value is None and side == "pred" and states.visible != "all"
    if hidden and preparer.rules[side].pair(item) is not None:
        found.append(f"states.visible={states.visible}")
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "null" if value is None else "|".join(value)


def _shown(value: Any) -> str | None:
    return None if value is None else value_text(value)
