"""States out of their bytes, many at once: cut at every quote, into names and texts, and what stands between.

What stands between tells the role of each text. A state of texts, flat or nested by domain, is read so; any other
is decoded by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec
import numpy as np

from dsteval.dialogue import Item
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener
from dsteval.readers.encoded import Encoded, IntArray
from dsteval.readers.json_pairs import decode

# What stands between two texts, white space aside: at the start of a state and between two, nested or flat; before
# a domain's slots, a text, the next slot, the next domain; anything else.
_START, _NESTED_END, _FLAT_END, _DOMAIN, _TEXT, _SLOT, _NEXT, _OTHER = range(8)
_BETWEEN = {
    b"{": _START,
    b"}}{": _NESTED_END,
    b"}{": _FLAT_END,
    b":{": _DOMAIN,
    b":": _TEXT,
    b",": _SLOT,
    b"},": _NEXT,
}
_SPACES = b" \t\r\n"
_QUOTE, _BRACE = b'"{'
_MOST = 1 << 18


def _fits() -> IntArray:
    """What may stand before and after a text."""
    fits = np.zeros((8, 8), dtype=bool)
    for start in (_START, _NESTED_END, _FLAT_END):
        fits[start, [_DOMAIN, _TEXT]] = True
    fits[_NEXT, _DOMAIN] = fits[_DOMAIN, _TEXT] = fits[_SLOT, _TEXT] = True
    fits[_TEXT, [_SLOT, _NEXT, _NESTED_END, _FLAT_END]] = True
    return fits


_FITS = _fits()


class _Texts(dict[bytes, int]):
    """What stands between quotes or outside of them -> a number: its kind, or, of all else, one from 8 on.

    A text that looks like what stands between is taken for that; its state is decoded by itself then.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[bytes] = [b""] * len(_FITS)

    def __missing__(self, text: bytes) -> int:
        number = _BETWEEN.get(text.translate(None, _SPACES), len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        self[text] = number
        return number


class StateBytes:
    """Encodes the states of one file, block by block; ``items`` are those of all blocks."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._slots = array("i")
        self._slot_numbers: dict[str, int] = {}
        self._number_of: dict[Item, int] = {}
        self._clear()

    def _clear(self) -> None:
        self._texts = _Texts()
        self._of_texts: dict[tuple[int, int, int], int] = {}

    def block(self) -> Encoded:
        """A new block, to be filled and completed."""
        return Encoded(self.items, self._slots)

    def complete(self, block: Encoded) -> bool:
        """Give a block the numbers of its states; False where one of them takes a careful look.

        It is no state then, or holds what is no value.
        """
        if len(self._texts) > _MOST:
            self._clear()
        states = list(block.places)
        numbers, ends, odd = self._cut(states)
        counts, decoded = np.diff(ends), dict[int, list[int]]()
        for place in np.flatnonzero(odd).tolist():
            items = self._decoded(states[place])
            if items is None:
                return False
            counts[place], decoded[place] = len(items), items
        block.state_ends = np.append(0, np.cumsum(counts))
        block.numbers = np.empty(block.state_ends[-1], dtype=np.int64)
        moved = np.repeat(block.state_ends[:-1] - ends[:-1], np.diff(ends))
        block.numbers[np.arange(len(numbers)) + moved] = numbers
        for place, items in decoded.items():
            block.numbers[block.state_ends[place] : block.state_ends[place + 1]] = items
        return True

    def _decoded(self, state: bytes) -> list[int] | None:
        """The numbers of the items of a state that is decoded by itself."""
        try:
            value = decode(state, "").value
        except ReadError:
            return None
        flattener = Flattener("")
        items = flattener.items(value, "", 0)
        return None if flattener.problems.places else list(map(self._number, items))

    def _number(self, item: Item) -> int:
        number = self._number_of.setdefault(item, len(self.items))
        if number == len(self.items):
            self.items.append(item)
            self._slots.append(self._slot_numbers.setdefault(item[0], len(self._slot_numbers)))
        return number

    def _cut(self, states: Sequence[bytes]) -> tuple[IntArray, IntArray, IntArray]:
        """Numbers and ends as of ``encode``, and which states are none of texts, or not written as most are."""
        whole = b"".join(states)
        starts = np.append(0, np.cumsum(np.fromiter(map(len, states), dtype=np.int64, count=len(states))))
        data = np.frombuffer(whole + b"  ", dtype=np.uint8)
        quotes = np.append(0, np.cumsum(data == _QUOTE))[starts]
        odd = (np.diff(quotes) % 2 == 1) | (data[starts[:-1]] != _BRACE) | (data[starts[:-1] + 1] != _QUOTE)
        if b"\\" in whole:
            odd |= np.array([b"\\" in state for state in states])
        if not odd.any():
            return self._parsed(whole, quotes // 2)
        # Without them: an odd quote in one would make names of the texts of all that follow.
        kept = [state for state, left in zip(states, odd.tolist(), strict=True) if not left]
        counts = np.zeros(len(states), dtype=np.int64)
        numbers = np.zeros(0, dtype=np.int64)
        if kept:
            numbers, ends, others = self._cut(kept)
            counts[~odd] = np.diff(ends)
            odd[~odd] = others
        return numbers, np.append(0, np.cumsum(counts)), odd

    def _parsed(self, whole: bytes, ends: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The same, of states that hold whole texts; ``ends`` are where the texts of each end."""
        tokens = whole.split(b'"')
        numbers = np.fromiter(map(self._texts.__getitem__, tokens), dtype=np.int64, count=len(tokens))
        texts, between = numbers[1::2], np.minimum(numbers[::2], _OTHER)
        between[-1] = _BETWEEN.get(tokens[-1].translate(None, _SPACES) + b"{", _OTHER)
        before, after = between[:-1], between[1:]
        state_of = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        nested = (after[ends[:-1]] == _DOMAIN)[state_of]
        is_last = np.zeros(len(texts), dtype=bool)
        is_last[ends[1:] - 1] = True
        fits = _FITS[before, after] & (texts >= len(_FITS))
        fits &= np.where(is_last, after == np.where(nested, _NESTED_END, _FLAT_END), after > _FLAT_END)
        fits &= nested | (after != _NEXT)
        values = np.flatnonzero(before == _TEXT)
        opened = np.maximum.accumulate(np.where(after == _DOMAIN, np.arange(len(texts)), 0))[values]
        domain = np.where(nested[values], texts[opened], 0)
        found = self._items(domain, texts[values - 1], texts[values])
        odd = np.bincount(state_of, ~fits, minlength=len(ends) - 1) > 0
        odd[state_of[values[found < 0]]] = True
        kept = ~odd[state_of[values]]
        counts = np.bincount(state_of[values[kept]], minlength=len(ends) - 1)
        return found[kept], np.append(0, np.cumsum(counts)), odd

    def _items(self, domain: IntArray, slot: IntArray, value: IntArray) -> IntArray:
        """The numbers of items, by those of their texts; -1 for what is not text."""
        (domains, d), (slots, s), (values, v) = map(_distinct, (domain, slot, value))
        names, name = _distinct(d.astype(np.int64) * len(slots) + s)
        pairs, pair = _distinct(name.astype(np.int64) * len(values) + v)
        numbers = []
        for one in pairs.tolist():
            where, which = divmod(one, len(values))
            place, slot_place = divmod(int(names[where]), len(slots))
            key = int(domains[place]), int(slots[slot_place]), int(values[which])
            number = self._of_texts.get(key)
            if number is None:
                number = self._of_texts[key] = self._of_bytes(*map(self._texts.texts.__getitem__, key))
            numbers.append(number)
        return np.array(numbers, dtype=np.int64)[pair]

    def _of_bytes(self, domain: bytes, slot: bytes, value: bytes) -> int:
        try:
            name = msgspec.json.decode(b'"%b-%b"' % (domain, slot) if domain else b'"%b"' % slot, type=str)
            return self._number((name, msgspec.json.decode(b'"%b"' % value, type=str)))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return -1


def _distinct(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct numbers, sorted, and the place of each among them: without sorting where they are few."""
    top = int(numbers.max(initial=0)) + 1
    if top > _MOST << 4:
        return np.unique(numbers, return_inverse=True)
    there = np.zeros(top, dtype=bool)
    there[numbers] = True
    distinct = np.flatnonzero(there)
    place = np.zeros(top, dtype=np.int32)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[numbers]
