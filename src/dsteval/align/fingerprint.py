"""A hash of a reference as written: it tells which labels a number was counted against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from dsteval.dialogue import Dialogue, Item, Items, canonical_id, written_states


class _Hashes(dict[Item, int]):
    """Items as written -> 64 bits each."""

    def __missing__(self, item: Item) -> int:
        number = self[item] = _hash64(repr(item))
        return number


class Fingerprint:
    """A hash of a reference as written: the same for any order of dialogues, turns in a file, and slots.

    Turn numbers are in it where they are not 0, 1, 2, ..., and whether a dialogue is a single instance: both move
    FGA.
    """

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
        numbers = [turn.number for turn in dialogue.turns]
        numbered = "" if numbers == list(range(len(numbers))) else f" {numbers}"
        alone = " alone" if dialogue.alone else ""
        key = f"{canonical_id(dialogue.id)} {chain}{numbered}{alone}"
        self.total = (self.total + _hash64(key)) & self._ROUND
        self.dialogues += 1

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
        return f"{_hash64(f'{self.dialogues} {self.total}'):016x}"[:6] if self.dialogues else "-"


def _hash64(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
