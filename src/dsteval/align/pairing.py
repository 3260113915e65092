"""Pairs predictions with their reference by dialogue and turn, and keeps account of what has no partner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from dsteval.align.fingerprint import Fingerprint
from dsteval.align.id_advice import no_overlap
from dsteval.dialogue import Dialogue, Side, Turn, canonical_id, written_states
from dsteval.errors import AlignmentError, OptionError, first_few, unknown
from dsteval.protocols.model import Scope

__all__ = ["Aligner", "Coverage", "Extra", "Missing", "Policy", "user_turns"]


@dataclass
class Coverage:
    """Which dialogues and turns of the reference were scored, and which have no partner.

    ``missing`` are reference dialogues without prediction, ``extra`` predicted dialogues without reference,
    ``left_out`` those that the protocol, or --missing skip, leaves out. ``differs`` counts the turns where the
    reference given separately and the one inside the predictions' file are not the same.
    """

    ref_dialogues: int = 0
    scored_dialogues: int = 0
    ref_turns: int = 0
    scored_turns: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    differs: int = 0
    lengths: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """The block ``coverage`` of the JSON."""
        return {
            "ref_dialogues": self.ref_dialogues,
            "scored_dialogues": self.scored_dialogues,
            "ref_turns": self.ref_turns,
            "scored_turns": self.scored_turns,
            "missing": self.missing,
            "extra": self.extra,
            "left_out": self.left_out,
        }


def user_turns(keys: list[int]) -> list[int] | None:
    """User turn numbers 0, 1, 2, ... for sorted turn keys, or None where the keys are neither those nor
    the numbers of the user's utterances 0, 2, 4, ...

    >>> user_turns([0, 1, 2]), user_turns([0, 2, 4]), user_turns([0, 1, 3])
    ([0, 1, 2], [0, 1, 2], None)
    """
    count = len(keys)
    if keys == list(range(count)):
        return keys
    return list(range(count)) if keys == list(range(0, 2 * count, 2)) else None


StatesOf = Callable[[Dialogue], list[Any]]
"""Prepares the reference states of a dialogue, to tell whether two references differ."""


Missing: TypeAlias = Literal["error", "empty", "skip"]
Extra: TypeAlias = Literal["error", "ignore"]


@dataclass(frozen=True)
class Policy:
    """What is done where one side lacks what the other has.

    ``missing``: a reference dialogue without prediction, or without some of its turns, is an ``error``, is scored
    as ``empty``, or is left out and named (``skip``). ``extra``: a predicted dialogue without reference is an
    ``error`` or ignored and named.
    """

    missing: Missing = "error"
    extra: Extra = "error"

    def __post_init__(self) -> None:
        for option, value, taken in (("missing", self.missing, Missing), ("extra", self.extra, Extra)):
            if value not in get_args(taken):
                raise OptionError(unknown(f"value of --{option}", value, list(get_args(taken))))


class Aligner:
    """Yields dialogues that carry both sides, and raises at the end if any had no partner.

    ``leaves_out`` tells which reference dialogues are no part of the data for the protocol; ``dropped`` are their
    keys. ``coverage`` and ``fingerprint`` are complete once the iteration is.
    """

    def __init__(
        self,
        scope: Scope,
        ref_states: StatesOf,
        source: str = "",
        policy: Policy | None = None,
        leaves_out: Callable[[Dialogue], bool] | None = None,
    ) -> None:
        self.coverage = Coverage()
        self.fingerprint = Fingerprint()
        self.source = source
        self.ref_source = "reference"
        self.policy = policy or Policy()
        self._leave_out = {canonical_id(name) for name in scope.leave_out}
        self._leaves_out = leaves_out or (lambda dialogue: False)
        self.dropped: set[str] = set()
        self._ref_states = ref_states
        self._gaps: list[tuple[str, list[int], list[int] | None]] = []
        self._lengths: list[tuple[str, int, int]] = []
        self._bare: dict[Side, list[str]] = {"ref": [], "pred": []}
        self._read: list[str] = []
        self._ref_ids: list[str] = []
        self._empty: list[str] = []
        self._left_out_why = scope.leave_out_why
        self._alone = False
        self._seen: set[str] = set()

    def pair(self, pred: Iterable[Dialogue], ref: Iterable[Dialogue] | None = None) -> Iterator[Dialogue]:
        """Pair by dialogue id and turn number; without ``ref`` each dialogue must carry its own reference."""
        references = None if ref is None else self._index(ref)
        for dialogue in pred:
            self._read.append(dialogue.id)
            self._alone |= dialogue.alone
            key = canonical_id(dialogue.id)
            self._check_twice(key, dialogue.id, "predictions")
            if key in self.dropped:
                continue
            paired = self._own(dialogue) if references is None else self._with(dialogue, references.pop(key, None))
            if paired is None or not self._has_turns(paired):
                continue
            if self.policy.missing != "error" and _is_bare(paired):
                yield from self._missing(key, paired)
            elif self._predicted(paired):
                yield from self._scored(key, paired)
        for key, reference in (references or {}).items():
            yield from self._missing(key, reference)
        self._check()

    def _missing(self, key: str, reference: Dialogue) -> Iterator[Dialogue]:
        """A reference dialogue without prediction, with empty states if the policy says so."""
        self.coverage.missing.append(reference.id)
        if self.policy.missing == "empty":
            yield from self._scored(key, _filled(reference, {}))

    def _scored(self, key: str, dialogue: Dialogue) -> Iterator[Dialogue]:
        if key in self._leave_out:
            self.coverage.left_out.append(dialogue.id)
            return
        self.coverage.scored_dialogues += 1
        self.coverage.scored_turns += len(dialogue.turns)
        yield dialogue

    def _index(self, ref: Iterable[Dialogue]) -> dict[str, Dialogue]:
        references: dict[str, Dialogue] = {}
        for dialogue in ref:
            key = canonical_id(dialogue.id)
            self._ref_ids.append(dialogue.id)
            self._check_twice(key, dialogue.id, "reference")
            if not self._number(dialogue):
                continue
            if dialogue.turns and not written_states(dialogue, "ref"):
                self._bare["ref"].append(_first_bare(dialogue, "ref"))
            self._count_reference(dialogue)
            if self._leaves_out(dialogue):
                self.dropped.add(key)
                self.coverage.left_out.append(dialogue.id)
            else:
                references[key] = dialogue
        self._seen.clear()
        self._check_gaps(len(self._ref_ids), self.ref_source)
        self._check_bare("ref", "", self.ref_source)
        return references

    def _check_twice(self, key: str, written: str, where: str) -> None:
        if key in self._seen:
            raise AlignmentError(
                where=f"{self.source}, {where}" if self.source else where,
                expected="each dialogue once",
                found=f"{written!r} twice (ids are compared without .json, in any case)",
                remedy="Keep one of them.",
            )
        self._seen.add(key)

    def _count_reference(self, dialogue: Dialogue) -> None:
        self.fingerprint.add(dialogue)
        self.coverage.ref_dialogues += 1
        self.coverage.ref_turns += len(dialogue.turns)

    def _number(self, dialogue: Dialogue) -> bool:
        """Number the user turns 0, 1, 2, ...; False, and noted, where the keys do not allow it."""
        if dialogue.gaps:
            return True
        keys = [turn.number for turn in dialogue.turns]
        numbers = user_turns(keys)
        if numbers is None:
            self._gaps.append((dialogue.id, keys, None))
            return False
        if numbers is not keys:
            for turn, number in zip(dialogue.turns, numbers, strict=True):
                turn.number = number
        return True

    def _own(self, dialogue: Dialogue) -> Dialogue | None:
        """A dialogue whose file holds both sides; a bit file has no reference, and its turns are counted."""
        if not self._number(dialogue):
            return None
        if dialogue.turns and dialogue.turns[0].correctness is not None:
            self.coverage.ref_dialogues += 1
            self.coverage.ref_turns += len(dialogue.turns)
        elif dialogue.turns and not written_states(dialogue, "ref"):
            self._bare["ref"].append(_first_bare(dialogue, "ref"))
            return None
        else:
            self._count_reference(dialogue)
        return dialogue

    def _has_turns(self, dialogue: Dialogue) -> bool:
        if not dialogue.turns:
            self._empty.append(dialogue.id)
        return bool(dialogue.turns)

    def _predicted(self, dialogue: Dialogue) -> bool:
        if dialogue.turns and dialogue.turns[0].correctness is not None:
            return True
        if not dialogue.turns or written_states(dialogue, "pred"):
            return True
        self._bare["pred"].append(_first_bare(dialogue, "pred"))
        return False

    def _with(self, dialogue: Dialogue, ref: Dialogue | None) -> Dialogue | None:
        if ref is None:
            self.coverage.extra.append(dialogue.id)
            return None
        numbers = [turn.number for turn in ref.turns]
        keys = [turn.number for turn in dialogue.turns]
        straight = keys == numbers or user_turns(keys) == numbers
        if not straight:
            return self._uneven(dialogue, ref, keys, numbers)
        if written_states(dialogue, "ref"):
            pairs = zip(self._ref_states(ref), self._ref_states(dialogue), strict=True)
            self.coverage.differs += sum(a != b for a, b in pairs)
        return _filled(ref, dict(zip(numbers, dialogue.turns, strict=True)), dialogue)

    def _uneven(self, dialogue: Dialogue, ref: Dialogue, keys: list[int], numbers: list[int]) -> Dialogue | None:
        """A prediction whose turns are not the reference's: an error, left out, or filled with empty states."""
        told = f"{dialogue.id}: reference {len(numbers)} turns, predicted {len(keys)}"
        # Keys 0, 2, 4 of a file with holes may count utterances or user turns: that is not for us to guess.
        clear = dialogue.keyed and set(keys) < set(numbers) and (len(keys) < 2 or user_turns(keys) in (None, keys))
        if self.policy.missing == "empty" and clear:
            self.coverage.lengths.append(told)
            return _filled(ref, dict(zip(keys, dialogue.turns, strict=True)), dialogue)
        if self.policy.missing == "skip":
            self.coverage.lengths.append(told)
            self.coverage.left_out.append(dialogue.id)
        elif len(keys) == len(numbers):
            self._gaps.append((dialogue.id, keys, numbers if ref.gaps else None))
        else:
            self._lengths.append((dialogue.id, len(numbers), len(keys)))
        return None

    def _check(self) -> None:
        """Raise what stands between the two sides, all dialogues of a kind in one message."""
        self._check_gaps(len(self._read), self.source)
        self._check_bare("ref", "Give the reference with --ref.", self.source)
        self._check_bare("pred", "Give the tracker's output as FILE, the reference with --ref.", self.source)
        if self._lengths:
            listed = [f"{name}: reference {r} turns, predicted {p}" for name, r, p in self._lengths]
            raise AlignmentError(
                where=self.source,
                expected="as many predicted turns as the reference has",
                found="; ".join(listed[:3]),
                extent=f"{len(listed)} of {self.coverage.ref_dialogues} dialogues",
                remedy="Write a state for every user turn, or leave these dialogues out with --missing skip.",
            )
        self._check_partners()
        if self._empty:
            raise AlignmentError(
                where=self.source,
                expected="a turn in every dialogue",
                found=f"none in {len(self._empty)} of {len(self._read)} ({first_few(self._empty)})",
                remedy="Leave such dialogues out of the file.",
            )
        if not self.coverage.scored_turns:
            found, left = "none", self.coverage.left_out
            if left:
                found = f"only {first_few(left)}, left out: {self._left_out_why or 'as asked'}"
            raise AlignmentError(where=self.source, expected="at least one turn to score", found=found)

    def _check_gaps(self, total: int, source: str) -> None:
        if self._gaps:
            name, keys, numbers = self._gaps[0]
            usual = "0, 1, 2, ... or, counting all utterances, 0, 2, 4, ..."
            raise AlignmentError(
                where=f"{source}, dialogue {name!r}" if source else f"dialogue {name!r}",
                expected=f"turns numbered {usual if numbers is None else _listed(numbers)}",
                found=_listed(keys),
                extent=f"{len(self._gaps)} of {total} dialogues, {first_few([name for name, *_ in self._gaps])}",
                remedy="Number the user turns without gaps, or fill them with --missing empty.",
            )

    def _check_bare(self, side: Side, remedy: str, source: str) -> None:
        bare = self._bare[side]
        if bare:
            name = "reference" if side == "ref" else "predicted"
            raise AlignmentError(
                where=source,
                expected=f"a {name} state at every turn",
                found=f"{len(bare)} of {len(self._read or self._ref_ids)} dialogues without ({first_few(bare)})",
                remedy=remedy,
            )

    def _check_partners(self) -> None:
        if self._ref_ids and self._read and len(self.coverage.missing) == len(self._ref_ids):
            raise no_overlap(self.source, self._ref_ids, self._read)
        missing = self.coverage.missing if self.policy.missing == "error" else []
        extra = self.coverage.extra if self.policy.extra == "error" else []
        if not missing and not extra:
            return
        if self._alone:
            raise AlignmentError(
                where=self.source,
                expected="as many instances as the reference has: the position is the key",
                found=f"{len(self._read)} against {len(self._ref_ids)}",
            )
        found, remedies = [], []
        if missing:
            total = self.coverage.ref_dialogues
            found.append(
                f"{len(missing)} of {total} reference dialogues without prediction ({first_few(missing)})"
            )
            remedies.append("score the missing ones as empty with --missing empty, or leave them out with skip")
        if extra:
            found.append(
                f"{len(extra)} of {len(self._read)} predicted dialogues without reference ({first_few(extra)})"
            )
            remedies.append("ignore the others with --extra ignore")
        remedy = "; ".join(remedies)
        raise AlignmentError(
            where=self.source,
            expected="the same dialogues on both sides",
            found=" and ".join(found),
            remedy=f"Check that both are of one split, or {remedy}.",
        )


def _is_bare(dialogue: Dialogue) -> bool:
    """Whether no turn has a prediction, as in a dialogue in which a tracker failed."""
    return all(
        turn.pred is None and turn.pred_frames is None and turn.correctness is None for turn in dialogue.turns
    )


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")


def _first_bare(dialogue: Dialogue, side: Side) -> str:
    """The dialogue and the first of its turns that lacks a side."""
    for turn in dialogue.turns:
        if (turn.ref if side == "ref" else turn.pred) is None:
            return f"{dialogue.id} from turn {turn.number}"
    return dialogue.id


def _filled(ref: Dialogue, predicted: dict[int, Turn], pred: Dialogue | None = None) -> Dialogue:
    """The reference's turns with the predicted states by number; a turn without one has an empty state."""
    turns = []
    for turn in ref.turns:
        guess = predicted.get(turn.number) or Turn(turn.number, pred=[])
        turns.append(_merge(turn, guess))
    sides: dict[Side, Dialogue | None] = {"ref": ref, "pred": pred}
    updates = tuple(side for side, source in sides.items() if source is not None and side in source.updates)
    doubles = ref.doubles or (pred is not None and pred.doubles)
    forced = pred is not None and pred.forced
    return Dialogue((pred or ref).id, turns, doubles, updates, ref.gaps, ref.alone, forced=forced)


def _merge(ref: Turn, pred: Turn) -> Turn:
    """One turn with the reference of the first and the prediction of the second."""
    return Turn(
        number=ref.number,
        ref=ref.ref,
        pred=pred.pred,
        system=ref.system if ref.system is not None else pred.system,
        user=ref.user if ref.user is not None else pred.user,
        ref_frames=ref.ref_frames,
        pred_frames=pred.pred_frames,
        correctness=pred.correctness,
        pred_update=pred.pred_update,
        choices=pred.choices,
    )
