"""Pairs predictions with their reference by dialogue and turn, and keeps account of what has no partner."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from dsteval.align.coverage import Coverage, Policy
from dsteval.align.fingerprint import Fingerprint, hash64
from dsteval.align.id_advice import check_partners, no_overlap
from dsteval.align.sides import filled, has_correctness, lacks_prediction, listed, user_turns
from dsteval.dialogue import Dialogue, Side, canonical_id, has_states
from dsteval.errors import AlignmentError, first_few
from dsteval.protocols.model import Scope
from dsteval.readers import Encoded
from dsteval.readers.encoded import NotInBlocksError


class Aligner:
    """Yields dialogues that carry both sides, and raises at the end if any had no partner.

    ``ref_states`` prepares a reference, to tell whether two of them differ. ``leaves_out`` tells which reference
    dialogues are no part of the data for the protocol. ``coverage`` and ``fingerprint`` are complete once the
    iteration is.
    """

    def __init__(
        self,
        scope: Scope,
        ref_states: Callable[[Dialogue], list[Any]],
        source: str,
        ref_source: str,
        policy: Policy,
        leaves_out: Callable[[Dialogue], bool],
    ) -> None:
        self.coverage = Coverage()
        self.fingerprint = Fingerprint()
        self.policy = policy
        self._source, self._ref_source = source, ref_source
        self._scope = scope
        self._leave_out = set(map(canonical_id, scope.leave_out))
        self._leaves_out = leaves_out
        self._ref_states = ref_states
        self._ids: dict[Side, list[str]] = {"ref": [], "pred": []}
        self._seen: set[str] = set()
        self._in_blocks = 0
        self._hashes = array("Q")  # of dialogues in blocks, of which there may be many millions
        self._alone = False
        # What is wrong, told at the end: turn numbers with gaps (and what they should be), turns out of order,
        # other numbers of turns, dialogues without a side, dialogues without turns.
        self._gaps: list[tuple[str, list[int], list[int] | None]] = []
        self._shuffled: list[str] = []
        self._lengths: list[str] = []
        self._differences: list[int] = []
        self._without: dict[Side, list[str]] = {"ref": [], "pred": []}
        self._empty: list[str] = []

    def pair(self, ref: Iterable[Dialogue] | None, pred: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """Pair by dialogue id and turn number; without ``ref`` each dialogue must carry its own reference."""
        references = {} if ref is None else self._index(ref)
        dropped = set(self.coverage.dropped)
        for dialogue in pred:
            self._ids["pred"].append(dialogue.id)
            self._alone |= dialogue.alone
            key = self._key(dialogue.id, self._seen, "predictions")
            if key in dropped:
                continue
            paired = self._own(dialogue) if ref is None else self._with(references.pop(key, None), dialogue)
            if paired is None:
                continue
            if not paired.turns:
                self._empty.append(paired.id)
            elif self.policy.missing != "error" and lacks_prediction(paired):
                yield from self._missing(key, paired)
            elif has_correctness(paired) or self._complete(paired, "pred"):
                yield from self._scored(key, paired)
        for key, reference in references.items():
            yield from self._missing(key, reference)
        self._check()

    def accept(self, block: Encoded) -> bool:
        """Whether a block's dialogues can be scored as they are; then they have been taken in."""
        starts = np.repeat(np.frombuffer(block.ends, dtype=np.int64)[:-1], np.diff(block.ends))
        turns = np.frombuffer(block.turns, dtype=np.int32)
        if self._leave_out or not np.array_equal(turns, np.arange(len(block)) - starts):
            return False
        self._hashes.extend(map(hash64, map(canonical_id, block.ids)))
        self._in_blocks += len(block.ids)
        self.fingerprint.add_encoded(block)
        for name, number in (("dialogues", len(block.ids)), ("turns", len(block))):
            for kind in ("ref", "scored"):
                setattr(self.coverage, f"{kind}_{name}", getattr(self.coverage, f"{kind}_{name}") + number)
        return True

    def absorb(self, parts: Sequence[tuple[Coverage, Fingerprint, int]]) -> None:
        """Take in what was found in parts of the data, each with its number of dialogues."""
        coverages, fingerprints, numbers = zip(*parts, strict=True)
        self.coverage = Coverage.sum(coverages, one_reference=False)
        self.fingerprint = Fingerprint.sum(fingerprints)
        self._in_blocks += sum(numbers)

    @property
    def ids(self) -> list[str]:
        """The ids of all dialogues read."""
        return [*self._ids["ref"], *self._ids["pred"]]

    @property
    def hashes(self) -> array[int]:
        """A number for each of the predictions' dialogues, the same for the same id."""
        return self._hashes + array("Q", map(hash64, self._seen))

    @property
    def n_predicted(self) -> int:
        """How many dialogues the predictions hold."""
        return len(self._ids["pred"]) + self._in_blocks

    def _missing(self, key: str, reference: Dialogue) -> Iterator[Dialogue]:
        """A reference dialogue without prediction, with empty states if the policy says so."""
        self.coverage.missing.append(reference.id)
        if self.policy.missing == "empty":
            yield from self._scored(key, filled(reference, {}))

    def _scored(self, key: str, dialogue: Dialogue) -> Iterator[Dialogue]:
        if key in self._leave_out:
            self.coverage.left_out.append(dialogue.id)
            return
        self.coverage.scored_dialogues += 1
        self.coverage.scored_turns += len(dialogue.turns)
        yield dialogue

    def _index(self, ref: Iterable[Dialogue]) -> dict[str, Dialogue]:
        """The reference's dialogues by the key of their id."""
        references: dict[str, Dialogue] = {}
        seen: set[str] = set()
        for written in ref:
            self._ids["ref"].append(written.id)
            key = self._key(written.id, seen, "reference")
            dialogue = self._numbered(written)
            if dialogue is None:
                continue
            self._complete(dialogue, "ref")
            self._count_reference(dialogue)
            if not self._drops(dialogue):
                references[key] = dialogue
        self._check_gaps(self._ref_source, len(self._ids["ref"]))
        self._check_without("ref", self._ref_source)
        return references

    def _key(self, name: str, seen: set[str], side: str) -> str:
        """The key of a dialogue that has not been seen."""
        key = canonical_id(name)
        if key in seen:
            raise AlignmentError(
                where=f"{self._source}, {side}" if self._source else side,
                expected="each dialogue once",
                found=f"{name!r} twice (ids are compared without .json and ignoring case)",
                remedy="Keep one of them.",
            )
        seen.add(key)
        return key

    def _count_reference(self, dialogue: Dialogue) -> None:
        self.coverage.ref_dialogues += 1
        self.coverage.ref_turns += len(dialogue.turns)
        if not has_correctness(dialogue):
            self.fingerprint.add(dialogue)

    def _numbered(self, dialogue: Dialogue) -> Dialogue | None:
        """The dialogue with user turns 0, 1, 2, ...; None, and noted, where its keys do not allow it."""
        keys = [turn.number for turn in dialogue.turns]
        as_written = self._scope.turns == "as-written"
        if as_written and dialogue.shuffled:
            self._shuffled.append(dialogue.id)
            return None
        numbers = keys if dialogue.gaps or as_written else user_turns(keys)
        if numbers is None:
            self._gaps.append((dialogue.id, keys, None))
            return None
        if numbers is keys:
            return dialogue
        turns = [
            msgspec.structs.replace(turn, number=number)
            for turn, number in zip(dialogue.turns, numbers, strict=True)
        ]
        return msgspec.structs.replace(dialogue, turns=turns)

    def _own(self, written: Dialogue) -> Dialogue | None:
        """A dialogue whose file holds both sides; right/wrong marks have no reference, but turns to count."""
        dialogue = self._numbered(written)
        if dialogue is None or not (has_correctness(dialogue) or self._complete(dialogue, "ref")):
            return None
        self._count_reference(dialogue)
        return None if self._drops(dialogue) else dialogue

    def _drops(self, dialogue: Dialogue) -> bool:
        """Whether the protocol leaves a dialogue out; noted where it does."""
        if not self._leaves_out(dialogue):
            return False
        self.coverage.dropped.append(canonical_id(dialogue.id))
        self.coverage.left_out.append(dialogue.id)
        return True

    def _complete(self, dialogue: Dialogue, side: Side) -> bool:
        """Whether every turn has a side; noted where not."""
        if not dialogue.turns or has_states(dialogue, side):
            return True
        held = ((turn.number, getattr(turn, side), getattr(turn, f"{side}_frames")) for turn in dialogue.turns)
        lacking = (number for number, state, frames in held if state is None and frames is None)
        first = next(lacking, None)
        self._without[side].append(dialogue.id if first is None else f"{dialogue.id} from turn {first}")
        return False

    def _with(self, ref: Dialogue | None, pred: Dialogue) -> Dialogue | None:
        if ref is None:
            self.coverage.extra.append(pred.id)
            return None
        numbers, keys = ([turn.number for turn in side.turns] for side in (ref, pred))
        last = len(numbers) if self._scope.extra_turns == "ignored" else None
        if keys[:last] != numbers:
            counted = user_turns(keys)
            if counted is None or counted[:last] not in (numbers, user_turns(numbers)):
                return self._uneven(ref, pred, numbers, keys)
        if last is not None and keys[last:]:
            self.coverage.ignored += (f"{pred.id} turn {number}" for number in keys[last:])
            pred = msgspec.structs.replace(pred, turns=pred.turns[:last])
        if has_states(pred, "ref"):
            pairs = zip(self._ref_states(ref), self._ref_states(pred), strict=True)
            self.coverage.differs += sum(a != b for a, b in pairs)
        return filled(ref, dict(zip(numbers, pred.turns, strict=True)), pred)

    def _uneven(self, ref: Dialogue, pred: Dialogue, numbers: list[int], keys: list[int]) -> Dialogue | None:
        """A prediction whose turns are not the reference's: an error, left out, or filled with empty states."""
        self._differences.append(len(keys) - len(numbers))
        lengths = f"{pred.id}: reference {len(numbers)} turns, predicted {len(keys)}"
        # Keys 0, 2, 4 of a file with holes may count utterances or user turns: that is not for us to guess.
        clear = pred.keyed and set(keys) < set(numbers) and (len(keys) < 2 or user_turns(keys) in (None, keys))
        if self.policy.missing == "empty" and clear:
            self.coverage.lengths.append(lengths)
            return filled(ref, dict(zip(keys, pred.turns, strict=True)), pred)
        if self.policy.missing == "skip":
            self.coverage.lengths.append(lengths)
            self.coverage.left_out.append(pred.id)
        elif len(keys) == len(numbers):
            self._gaps.append((pred.id, keys, numbers if ref.gaps else None))
        else:
            self._lengths.append(lengths)
        return None

    def _check(self) -> None:
        """Raise what stands between the two sides, all dialogues of a kind in one message."""
        if self._hashes and not all_differ(self.hashes):
            raise NotInBlocksError  # lines of one dialogue may stand apart
        read, coverage = self.n_predicted, self.coverage
        self._check_gaps(self._source, read)
        self._check_without("ref", self._source, "Give the reference with --ref.")
        self._check_without("pred", self._source, "Give the tracker's output as FILE, the reference with --ref.")
        if self._lengths:
            raise AlignmentError(
                where=self._source,
                expected="the same number of turns in reference and predictions",
                found=self._differing(),
                extent=f"{len(self._lengths)} of {coverage.ref_dialogues} dialogues",
                remedy="Write a state for every user turn, or leave these dialogues out with --missing skip.",
            )
        self._check_partners()
        if self._empty:
            raise AlignmentError(
                where=self._source,
                expected="at least one turn in every dialogue",
                found=f"no turns in {len(self._empty)} of {read} ({first_few(self._empty)})",
                remedy="Leave such dialogues out of the file.",
            )
        if not coverage.scored_turns and coverage.lengths:
            found = f"different numbers of turns in all {len(coverage.lengths)} dialogues; {self._differing()}"
            remedy = "Write exactly one state for every user turn of the reference."
            raise AlignmentError(
                where=self._source, expected="at least one turn to score", found=found, remedy=remedy
            )
        if not coverage.scored_turns:
            why = self._scope.leave_out_why or "as requested"
            found = f"only {first_few(coverage.left_out)}, left out: {why}" if coverage.left_out else "none"
            raise AlignmentError(where=self._source, expected="at least one turn to score", found=found)

    def _differing(self) -> str:
        """The first dialogues with another number of turns, and whether they all differ alike."""
        told = "; ".join((self._lengths or self.coverage.lengths)[:3])
        (difference, *others) = {*self._differences}
        if others or len(self._differences) < 2:
            return told
        more = "more" if difference > 0 else "fewer"
        return f"{told}; each has {abs(difference)} {more} than its reference"

    def _check_gaps(self, source: str, total: int) -> None:
        if self._shuffled:
            raise AlignmentError(
                where=source,
                expected="turns in ascending order",
                found="decreasing turn numbers",
                extent=f"{len(self._shuffled)} of {total} dialogues, {first_few(self._shuffled)}",
                remedy="The script that this protocol reproduces takes turns in file order, so its "
                "distances could be negative. Sort the turns, or use another protocol, such as exact.",
            )
        if self._gaps:
            name, keys, numbers = self._gaps[0]
            usual = "0, 1, 2, ... (user turns) or 0, 2, 4, ... (all utterances)"
            raise AlignmentError(
                where=f"{source}, dialogue {name!r}" if source else f"dialogue {name!r}",
                expected=f"turns numbered {usual if numbers is None else listed(numbers)}",
                found=listed(keys),
                extent=f"{len(self._gaps)} of {total} dialogues, {first_few([name for name, *_ in self._gaps])}",
                remedy="Number the user turns without gaps, or score missing turns as empty with --missing empty.",
            )

    def _check_without(self, side: Side, source: str, remedy: str = "") -> None:
        without = self._without[side]
        if without:
            total = self.n_predicted or len(self._ids["ref"])
            raise AlignmentError(
                where=source,
                expected=f"a {'reference' if side == 'ref' else 'predicted'} state at every turn",
                found=f"{len(without)} of {total} dialogues without one ({first_few(without)})",
                remedy=remedy,
            )

    def _check_partners(self) -> None:
        ref, pred = self._ids["ref"], self._ids["pred"]
        if ref and pred and len(self.coverage.missing) == len(ref):
            raise no_overlap(self._source, ref, pred)
        missing = self.coverage.missing if self.policy.missing == "error" else []
        extra = self.coverage.extra if self.policy.extra == "error" else []
        if self._alone and (missing or extra):
            raise AlignmentError(
                where=self._source,
                expected="as many instances as the reference has, since they are paired by position",
                found=f"{len(pred)} predicted and {len(ref)} in the reference",
            )
        check_partners(self._source, missing, self.coverage.ref_dialogues, extra, len(pred))


def all_differ(hashes: array[int]) -> bool:
    """Whether no number is there twice."""
    return len(np.unique(np.frombuffer(hashes, dtype=np.uint64))) == len(hashes)
