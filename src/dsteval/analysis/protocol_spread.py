"""One prediction file under every protocol, and what makes the numbers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeAlias, Unpack

from dsteval import readers
from dsteval.analysis.every_protocol import BASE, check_only, chosen_protocols, reference_slots, under_each
from dsteval.dialogue import Dialogue, Item, Items, Side, Value, canonical_id
from dsteval.errors import OptionError, require
from dsteval.pipeline.inputs import Input, keep_dialogues, label_of, open_input, system_name
from dsteval.pipeline.run import Run, Settings
from dsteval.pipeline.scan import Scan
from dsteval.prepare.states import SIDES, value_text
from dsteval.prepare.vocabulary import Prepared
from dsteval.protocols.model import Protocol
from dsteval.readers import Source
from dsteval.results.columns import Columns
from dsteval.results.result import SCHEMA, Score
from dsteval.values.matchers import matches
from dsteval.values.slots import canonical


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
class SpreadEntry:
    """One protocol: its scores, JGA first, and where it differs from ``exact``.

    ``difference`` is its JGA minus that of ``exact``, None where one of them is undefined. ``gained`` and ``lost``
    count turns that are right here and not there, and the other way round (None where the protocol does not count
    turns); ``rules`` how many of these each setting explains.
    """

    protocol: str
    checked: tuple[str, ...]
    scores: tuple[Score, ...]
    difference: float | None
    gained: int | None = None
    lost: int | None = None
    rules: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def jga(self) -> Score:
        """Joint goal accuracy as this protocol means it."""
        return self.scores[0]


@dataclass(frozen=True)
class ProtocolSpread:
    """What ``spread`` returns: the protocols that apply, those that do not with the reason, and what two of them
    disagree about, where that was asked for.
    """

    name: str
    source: str
    target: float | None
    entries: tuple[SpreadEntry, ...]
    not_applicable: dict[str, str]
    between: tuple[str, str] | None = None
    disagreements: tuple[Disagreement, ...] = ()

    def to_frame(self) -> Columns:
        """JGA under each protocol, a row each: value, difference to ``exact`` as fractions, turns won and lost."""
        columns = ["protocol", "value", "difference", "won", "lost"]
        rows = ((one.protocol, one.jga.value, one.difference, one.gained, one.lost) for one in self.entries)
        return Columns.of(columns, rows)

    def __repr__(self) -> str:
        return f"ProtocolSpread({self.name[:60]!r}: {len(self.entries)} protocols)"

    def to_dict(self) -> dict[str, Any]:
        """The spread as JSON has it."""
        entries = [vars(one) | {"scores": [score.to_dict() for score in one.scores]} for one in self.entries]
        between = {"protocols": self.between, "disagreements": list(map(asdict, self.disagreements))}
        head = {"schema": SCHEMA, "name": self.name, "source": self.source, "target": self.target}
        more = {"not_applicable": self.not_applicable, "between": between if self.between else None}
        return {**head, "protocols": entries, **more}


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
) -> ProtocolSpread:
    """Score one file under every protocol that applies, or those in ``only``.

    ``target`` is a published JGA, a fraction: entries are sorted by their distance to it. ``between`` names two
    protocols whose disagreements are listed turn by turn. ``progress`` is called with each protocol's name. The
    other options are those of ``evaluate``; tables that only some protocols need may be given as well.

    Raises the DstevalError of the first protocol where none applies.
    """
    chosen = chosen_protocols(only or None, *(between or ()))
    source = open_input(pred, "predictions")
    reference = None if ref is None else open_input(ref, "reference")
    if not isinstance(source, Source) or not isinstance(reference, Source | None):
        raise OptionError(
            where="spread", expected="files or dictionaries", found="an iterator, which can be read only once"
        )
    own = readers.Options(options.get("updates", False), options.get("ref_field") if ref is None else None)
    keep_dialogues(source, options.get("format"), own)
    runs: dict[str, _ProtocolRun] = {}

    def entry(protocol: str) -> SpreadEntry:
        run = _ProtocolRun(protocol, reference, source, options)
        if protocol in (BASE, *(between or ())):
            runs[protocol] = run
        return _entry(run, runs.get(BASE))

    by_protocol, reasons = under_each(chosen, entry, progress)
    entries = list(by_protocol.values())
    listed: tuple[Disagreement, ...] = ()
    if between is not None:
        for protocol in between:
            why = f"the protocol does not apply: {reasons.get(protocol)}"
            require(protocol in runs, f"--between {protocol}", "", why)
        a, b = (runs[protocol] for protocol in between)
        listed = tuple(one for apart in _turns_apart(a, b) for one in _slots_apart(a, b, apart))
    if target is not None:
        entries.sort(key=lambda entry: (entry.jga.value is None, abs((entry.jga.value or 0) - target)))
    label = label_of(source)
    return ProtocolSpread(name or system_name(label), label, target, tuple(entries), reasons, between, listed)


class _Turns(NamedTuple):
    """One dialogue under one protocol: as aligned, as compared, and which of its turns are right."""

    dialogue: Dialogue
    prepared: Prepared
    right: list[bool]


class _ProtocolRun:
    """One protocol's scores and what it made of every turn."""

    def __init__(self, name: str, ref: Source | None, pred: Source, options: Settings) -> None:
        run = Run.of(name, **options)
        resolved = {**run.resolved(["JGA"]), **run.resolved(None)}
        scan = Scan(run, ref, pred, resolved)
        pairs = list(scan.compared())
        outcomes, partition = scan.outcomes(), scan.partition()
        self.scores = scan.scores(partition, scan.n_slots, run.intervals)
        self.notes = scan.notes(partition)
        self.right = scan.matcher.right
        self.protocol: Protocol = run.protocol
        check_only(self.protocol.name, self.protocol, reference_slots(dialogue for dialogue, _ in pairs))
        self.rules = scan.preparer.rules
        self.trace = {side: cache(rules.trace) for side, rules in self.rules.items()}
        self.stages = cache(lambda key: scan.preparer.stages(self.turns[key].dialogue))
        self.counts_turns = run.protocol.scope.unit == "turn" and outcomes.has_values
        self.turns: dict[str, _Turns] = {}
        if self.counts_turns:
            tally = resolved["JGA"].extra
            right = outcomes.extra[tally][:, 0] == 1 if tally else outcomes.exact
            for number, (dialogue, prepared) in enumerate(pairs):
                start, end = outcomes.offsets[number : number + 2]
                self.turns[canonical_id(dialogue.id)] = _Turns(dialogue, prepared, right[start:end].tolist())


def _entry(run: _ProtocolRun, base: _ProtocolRun | None) -> SpreadEntry:
    jga, other = run.scores[0].value, None if base is None else base.scores[0].value
    difference = None if jga is None or other is None else jga - other
    entry = SpreadEntry(run.protocol.label, run.protocol.checked, run.scores, difference, notes=run.notes)
    if base is None or base is run or not (run.counts_turns and base.counts_turns):
        return entry
    apart = list(_turns_apart(base, run))
    rules = Counter(rule for turn in apart for rule in {one.rule for one in _slots_apart(base, run, turn)})
    gained = sum(there.right[at] for _, there, at in apart)
    ordered = dict(sorted(rules.items(), key=lambda pair: (-pair[1], pair[0])))
    return replace(entry, gained=gained, lost=len(apart) - gained, rules=ordered)


_Apart: TypeAlias = tuple[_Turns, _Turns, int]
"""A turn that one of two protocols counts as right and the other does not: its dialogue under both, its place."""


def _turns_apart(a: _ProtocolRun, b: _ProtocolRun) -> Iterator[_Apart]:
    for key, here in a.turns.items():
        there = b.turns.get(key)
        if there is not None and len(there.right) == len(here.right):
            pairs = enumerate(zip(here.right, there.right, strict=True))
            yield from ((here, there, at) for at, (one, other) in pairs if one != other)


class _Compared(NamedTuple):
    """One slot under one protocol: its values as compared, and whether it is right."""

    ref: Any
    pred: Any
    right: bool


def _slots_apart(a: _ProtocolRun, b: _ProtocolRun, apart: _Apart) -> Iterator[Disagreement]:
    """The slots that are right under one protocol only; where there are none, the metric itself differs."""
    here, there, at = apart
    under_a, under_b = _by_slot(a, here, at), _by_slot(b, there, at)
    absent = _Compared(None, None, True)
    place = (here.dialogue.id, here.dialogue.turns[at].number)
    right_under = (a if here.right[at] else b).protocol.name
    slots = sorted({**under_a, **under_b})
    pairs = {slot: (under_a.get(slot, absent), under_b.get(slot, absent)) for slot in slots}
    unlike = {slot: pair for slot, pair in pairs.items() if pair[0].right != pair[1].right}
    for slot, pair in unlike.items():
        items = [_item(side[at], slot) for side in a.stages(canonical_id(here.dialogue.id))[0][1]]
        ref, pred = (None if item is None else _text(item[1]) for item in items)
        in_a, in_b = ((_shown(one.ref), _shown(one.pred)) for one in pair)
        rule = _responsible((a, b), apart, slot, pair)
        yield Disagreement(*place, slot, ref, pred, right_under, (in_a, in_b), rule)
    if not unlike:
        means = [run.protocol.metrics.means["JGA"] for run in (a, b) if "JGA" in run.protocol.metrics.means]
        listed = ", ".join(f"JGA={metric}" for metric in means)
        rule = f"metrics.means {listed}" if means else "a slot that is not set on either side"
        yield Disagreement(*place, "", None, None, right_under, ((None, None), (None, None)), rule)


def _by_slot(run: _ProtocolRun, turns: _Turns, at: int) -> dict[str, _Compared]:
    """Canonical slot -> both values as compared; slots that differ in spelling only are one."""
    ref, pred = (side[at] for side in (turns.prepared.ref, turns.prepared.pred))
    compared = {}
    for slot in {**ref, **pred}:
        r, p = ref.get(slot), pred.get(slot)
        compared[canonical(slot)] = _Compared(r, p, r is not None and p is not None and run.right(slot, r, p))
    return compared


def _item(items: Items, slot: str) -> Item | None:
    """A slot's item as written; of two spellings of one slot the first."""
    return next((item for item in items if canonical(item[0]) == slot), None)


def _responsible(
    runs: tuple[_ProtocolRun, _ProtocolRun], apart: _Apart, slot: str, pair: tuple[_Compared, _Compared]
) -> str:
    """The settings that make one slot right under one protocol and wrong under the other."""
    rules: list[str] = []
    for side in SIDES:
        values = [getattr(compared, side) for compared in pair]
        if values[0] != values[1]:
            one, other = (_trace(run, side, apart, slot, value) for run, value in zip(runs, values, strict=True))
            rules += [rule for rule in (*one, *other) if (rule in one) != (rule in other)]
    # Another spelling of the slot's name comes with all its values; it is the reason only where it stands alone.
    rules = [rule for rule in rules if not rule.startswith("states.slots=")] or rules
    (right, there), (wrong, _) = sorted(zip(pair, runs, strict=True), key=lambda side: not side[0].right)
    if None not in (right.ref, right.pred) and not matches(right.ref, right.pred):
        # The matcher forgives. Where it forgives the other's values too, what else differs does not matter.
        alone = None not in (wrong.ref, wrong.pred) and there.right(slot, wrong.ref, wrong.pred)
        rules = [*([] if alone else rules), f"match.rule={there.protocol.match.rule}"]
    if not rules:
        kinds = [run.protocol.match.rule for run in runs]
        rules = [f"match.rule={next((kind for kind in kinds if kind != 'exact'), kinds[0])}"]
    return ", ".join(dict.fromkeys(rules))


def _trace(run: _ProtocolRun, side: Side, apart: _Apart, slot: str, value: Any) -> list[str]:
    """The rules that lead from a slot as written to its value as compared."""
    steps: list[str] = []
    item: Item | None = None
    for number, (name, sides) in enumerate(run.stages(canonical_id(apart[0].dialogue.id))):
        after = _item(getattr(sides, side)[apart[2]], slot)
        steps += [f"step {name}"] if number and after != item else []
        item = after
    if item is None:
        return steps
    visible = run.protocol.states.visible
    hidden = value is None and side == "pred" and visible != "all" and run.rules[side].pair(item) is not None
    return [*steps, *run.trace[side](item), *([f"states.visible={visible}"] if hidden else [])]


def _text(value: Value) -> str:
    return value if isinstance(value, str) else "null" if value is None else "|".join(value)


def _shown(value: Any) -> str | None:
    return None if value is None else value_text(value)
