"""Items as written, and the numbers of what they are compared as."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import numpy.typing as npt

from dsteval.dialogue import Item, Side
from dsteval.errors import ProtocolError
from dsteval.prepare.item_rules import ItemRules
from dsteval.prepare.vocabulary import Vocabulary
from dsteval.readers import Encoded

# What the table of encoded items says of one that has no number.
_UNKNOWN, _DOUBTFUL = -1, -2


class ItemNumbers(dict[Item, int]):
    """Items as written -> the number of (slot, value) as compared, or 0 where the slot counts as absent.

    Items that are dropped though they may have a value are not kept but counted, each time they are asked for.
    """

    def __init__(self, rules: ItemRules, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.rules = rules
        self.dropped: Counter[Item] = Counter()
        self._vocabulary = vocabulary
        self._encoded = array("i")  # number of an encoded item -> that of the vocabulary

    def __missing__(self, item: Item) -> int:
        if item not in self.dropped:
            pair = self.rules.pair(item)
            if pair is not None:
                number = self[item] = self._vocabulary.number(*pair)
                return number
            if not self.rules.is_doubtful(item):
                self[item] = 0
                return 0
        self.dropped[item] += 1
        return 0

    def encoded(self, block: Encoded, side: Side) -> npt.NDArray[np.int32] | None:
        """The numbers of a block's items, by those that the block has for them, for the items that a side holds.

        None where its dialogues have to be prepared one by one, since an item takes a close look.
        """
        table = self._encoded
        table.extend([_UNKNOWN] * (len(block.items) - len(table)))
        held = block.items_of(side)
        for number in held[np.array(table, dtype=np.int32)[held] == _UNKNOWN].tolist():
            item = block.items[number]
            try:
                doubtful = item not in self and self.rules.is_doubtful(item)
                table[number] = _DOUBTFUL if doubtful else self[item]
            except ProtocolError:  # told where the dialogue is known
                table[number] = _DOUBTFUL
        numbers = np.array(table, dtype=np.int32)
        return None if (numbers[held] == _DOUBTFUL).any() else numbers
