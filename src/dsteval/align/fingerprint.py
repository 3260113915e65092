"""A hash of a reference as written: it tells which labels a number was counted against."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable

import numpy as np

from dsteval.dialogue import Dialogue, Item, Items, canonical_id, written_states
from dsteval.readers import Encoded


class _Hashes(dict[Item, int]):
    """Items as written -> 64 bits each."""

    def __missing__(self, item: Item) -> int:
        number = self[item] = hash64(repr(item))
        return number


class Fingerprint:
    """A hash of a reference as written: the same for any order of dialogues, turns in a file, and slots.

    Turn numbers are in it where they are not 0, 1, 2, ..., and whether a dialogue is a single instance: both move
    FGA.
    """

    _ROUND = (1 << 64) - 1
    _FACTOR = 0x9E3779B97F4A7C15

    def __init__(self) -> None:
        self.total = 0
        self.dialogues = 0
        self._items = _Hashes()
        self._encoded = array("Q")  # of the items of encoded blocks, by their numbers

    def add(self, dialogue: Dialogue) -> None:
        """Take in the reference states of one dialogue."""
        chain, state = 0, 1
        before: Items | None = None
        hash_of = self._items.__getitem__
        for items in written_states(dialogue, "ref"):
            if items is not before:
                state = sum(map(hash_of, items)) + 1
                before = items
            chain = (chain * self._FACTOR + state) & self._ROUND
        numbers = [turn.number for turn in dialogue.turns]
        numbered = "" if numbers == list(range(len(numbers))) else f" {numbers}"
        alone = " alone" if dialogue.alone else ""
        key = f"{canonical_id(dialogue.id)} {chain}{numbered}{alone}"
        self.total = (self.total + hash64(key)) & self._ROUND
        self.dialogues += 1

    def add_encoded(self, block: Encoded) -> None:
        """Take in the reference states of a block's dialogues, whose turns are numbered 0, 1, 2, ..."""
        for item in block.items[len(self._encoded) :]:
            self._encoded.append(self._items[item])
        sums = np.append(np.uint64(0), np.cumsum(np.frombuffer(self._encoded, dtype=np.uint64)[block.numbers]))
        ends = block.state_ends
        states = sums[ends[1:]] - sums[ends[:-1]] + np.uint64(1)
        turn_ends = np.frombuffer(block.ends, dtype=np.int64)
        lengths = np.diff(turn_ends)
        left = np.repeat(turn_ends[1:], lengths) - np.arange(len(block)) - 1  # turns after each
        powers = np.cumprod(np.append(np.uint64(1), np.full(int(lengths.max()), self._FACTOR, dtype=np.uint64)))
        weighed = states[np.frombuffer(block.states["ref"], dtype=np.int32)] * powers[left]
        chains = np.add.reduceat(weighed, turn_ends[:-1])
        for name, chain in zip(block.ids, chains.tolist(), strict=True):
            self.total = (self.total + hash64(f"{canonical_id(name)} {chain}")) & self._ROUND
        self.dialogues += len(block.ids)

    @classmethod
    def of(cls, total: int, dialogues: int) -> Fingerprint:
        """The hash whose two numbers were saved."""
        whole = cls()
        whole.total, whole.dialogues = total, dialogues
        return whole

    @classmethod
    def sum(cls, parts: Iterable[Fingerprint]) -> Fingerprint:
        """The hash of a reference out of those of its parts, whatever their order."""
        held = list(parts)
        return cls.of(sum(one.total for one in held) & cls._ROUND, sum(one.dialogues for one in held))

    def __str__(self) -> str:
        """Six hexadecimal digits, or ``-`` where there is no reference."""
        return f"{hash64(f'{self.dialogues} {self.total}'):016x}"[:6] if self.dialogues else "-"


def hash64(text: str) -> int:
    """A number of 64 bits for a text, the same everywhere."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
