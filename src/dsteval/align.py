"""Pairs predictions with their reference by dialogue and turn, and keeps account of what has no partner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from dsteval.dialogue import Dialogue, Item, Items, Side, Turn, canonical_id
from dsteval.errors import AlignmentError, first_few
from dsteval.prepare import State, written_states
from dsteval.protocol import Scope

__all__ = ["Aligner", "Coverage", "Fingerprint", "user_turns"]


@dataclass
class Coverage:
    """Which dialogues and turns of the reference were scored, and which have no partner.

    ``left_out`` are the dialogues that the protocol leaves out. ``differs`` counts the turns where the
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


class _Hashes(dict[Item, int]):
    """Items as written -> 64 bits each."""

    def __missing__(self, item: Item) -> int:
        found = self[item] = _hash64(repr(item))
        return found


class Fingerprint:
    """A hash of a reference as written: the same for any order of dialogues, turns in a file, and slots."""

    _ROUND = (1 << 64) - 1

    def __init__(self) -> None:
        self.total = 0
        self.dialogues = 0
        self._items = _Hashes()

    def add(self, dialogue: Dialogue) -> None:
        """Take in the reference states of one dialogue."""
        chain = 0
        before: Items | None = None
        state = 0
        for items in written_states(dialogue, "ref"):
            if items is not before:
                state = sum(map(self._items.__getitem__, items))
                before = items
            chain = (chain * 0x9E3779B97F4A7C15 + state + 1) & self._ROUND
        self.total = (self.total + _hash64(f"{canonical_id(dialogue.id)} {chain}")) & self._ROUND
        self.dialogues += 1

    def __str__(self) -> str:
        """Six hexadecimal digits, or ``-`` where there is no reference."""
        return f"{_hash64(f'{self.dialogues} {self.total}'):016x}"[:6] if self.dialogues else "-"


def _hash64(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


StatesOf = Callable[[Dialogue], list[State]]
"""Prepares the reference states of a dialogue, to tell whether two references differ."""


class Aligner:
    """Yields dialogues that carry both sides, and raises at the end if any had no partner.

    ``coverage`` and ``fingerprint`` are complete once the iteration is.
    """

    def __init__(self, scope: Scope, ref_states: StatesOf, source: str = "") -> None:
        self.coverage = Coverage()
        self.fingerprint = Fingerprint()
        self.source = source
        self._leave_out = {canonical_id(name) for name in scope.leave_out}
        self._ref_states = ref_states
        self._gaps: list[tuple[str, list[int]]] = []
        self._lengths: list[tuple[str, int, int]] = []
        self._bare: dict[Side, list[str]] = {"ref": [], "pred": []}
        self._read = 0
        self._seen: set[str] = set()

    def pair(self, pred: Iterable[Dialogue], ref: Iterable[Dialogue] | None = None) -> Iterator[Dialogue]:
        """Pair by dialogue id and turn number; without ``ref`` each dialogue must carry its own reference."""
        references = None if ref is None else self._index(ref)
        for dialogue in pred:
            self._read += 1
            key = canonical_id(dialogue.id)
            self._check_twice(key, dialogue.id, "predictions")
            if not self._number(dialogue):
                continue
            paired = self._own(dialogue) if references is None else self._with(dialogue, references.pop(key, None))
            if paired is None or not self._predicted(paired):
                continue
            if key in self._leave_out:
                self.coverage.left_out.append(dialogue.id)
                continue
            self.coverage.scored_dialogues += 1
            self.coverage.scored_turns += len(paired.turns)
            yield paired
        self.coverage.missing = [dialogue.id for dialogue in (references or {}).values()]
        self._check()

    def _index(self, ref: Iterable[Dialogue]) -> dict[str, Dialogue]:
        references: dict[str, Dialogue] = {}
        for dialogue in ref:
            key = canonical_id(dialogue.id)
            self._check_twice(key, dialogue.id, "reference")
            if not self._number(dialogue):
                continue
            if not written_states(dialogue, "ref"):
                self._bare["ref"].append(dialogue.id)
            self._count_reference(dialogue)
            references[key] = dialogue
        self._seen.clear()
        self._check_bare("ref", "")
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
        keys = [turn.number for turn in dialogue.turns]
        numbers = user_turns(keys)
        if numbers is None:
            self._gaps.append((dialogue.id, keys))
            return False
        if numbers is not keys:
            for turn, number in zip(dialogue.turns, numbers, strict=True):
                turn.number = number
        return True

    def _own(self, dialogue: Dialogue) -> Dialogue | None:
        """A dialogue whose file holds both sides; a bit file has no reference, and its turns are counted."""
        if dialogue.turns and dialogue.turns[0].bits is not None:
            self.coverage.ref_dialogues += 1
            self.coverage.ref_turns += len(dialogue.turns)
        elif not written_states(dialogue, "ref"):
            self._bare["ref"].append(dialogue.id)
            return None
        else:
            self._count_reference(dialogue)
        return dialogue

    def _predicted(self, dialogue: Dialogue) -> bool:
        if dialogue.turns and dialogue.turns[0].bits is not None:
            return True
        if not dialogue.turns or written_states(dialogue, "pred"):
            return True
        self._bare["pred"].append(dialogue.id)
        return False

    def _with(self, dialogue: Dialogue, ref: Dialogue | None) -> Dialogue | None:
        if ref is None:
            self.coverage.extra.append(dialogue.id)
            return None
        if len(ref.turns) != len(dialogue.turns):
            self._lengths.append((dialogue.id, len(ref.turns), len(dialogue.turns)))
            return None
        if written_states(dialogue, "ref"):
            pairs = zip(self._ref_states(ref), self._ref_states(dialogue), strict=True)
            self.coverage.differs += sum(a != b for a, b in pairs)
        turns = [_merge(r, p) for r, p in zip(ref.turns, dialogue.turns, strict=True)]
        sides: dict[Side, Dialogue] = {"ref": ref, "pred": dialogue}
        updates = tuple(side for side, source in sides.items() if side in source.updates)
        return Dialogue(dialogue.id, turns, ref.doubles or dialogue.doubles, updates)

    def _check(self) -> None:
        """Raise what stands between the two sides, all dialogues of a kind in one message."""
        where = self.source
        if self._gaps:
            name, keys = self._gaps[0]
            raise AlignmentError(
                where=f"{where}, dialogue {name!r}" if where else f"dialogue {name!r}",
                expected="turns numbered 0, 1, 2, ... or, counting all utterances, 0, 2, 4, ...",
                found=", ".join(map(str, keys[:8])) + (", ..." if len(keys) > 8 else ""),
                extent=_extent([name for name, _ in self._gaps], self._read, "dialogues"),
                remedy="Number the user turns without gaps.",
            )
        self._check_bare("ref", "Give the reference with --ref.")
        self._check_bare("pred", "Give the tracker's output as FILE, the reference with --ref.")
        if self._lengths:
            listed = [f"{name}: reference {r} turns, predicted {p}" for name, r, p in self._lengths]
            raise AlignmentError(
                where=where,
                expected="as many predicted turns as the reference has",
                found="; ".join(listed[:3]),
                extent=f"{len(listed)} of {self.coverage.ref_dialogues} dialogues",
                remedy="Write a state for every user turn.",
            )
        self._check_partners()
        if not self.coverage.scored_turns:
            raise AlignmentError(where=where, expected="at least one turn to score", found="none")

    def _check_bare(self, side: Side, remedy: str) -> None:
        bare = self._bare[side]
        if bare:
            name = "reference" if side == "ref" else "predicted"
            raise AlignmentError(
                where=self.source,
                expected=f"a {name} state at every turn",
                found=f"{len(bare)} of {self._read or len(bare)} dialogues without ({first_few(bare)})",
                remedy=remedy,
            )

    def _check_partners(self) -> None:
        missing, extra = self.coverage.missing, self.coverage.extra
        if not missing and not extra:
            return
        found = []
        if missing:
            total = self.coverage.ref_dialogues
            found.append(
                f"{len(missing)} of {total} reference dialogues without prediction ({first_few(missing)})"
            )
        if extra:
            found.append(
                f"{len(extra)} of {self._read} predicted dialogues without reference ({first_few(extra)})"
            )
        raise AlignmentError(
            where=self.source,
            expected="the same dialogues on both sides",
            found=" and ".join(found),
            remedy="Ids match without .json and in any case; check that both files are of the same split.",
        )


def _extent(names: list[str], total: int, unit: str) -> str:
    return f"{len(names)} of {total} {unit}, {first_few(names)}"


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
        bits=pred.bits,
    )
