"""Lines of our JSONL that are all written alike: cut at their keys, which stand at the same places in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

_TEXTS = ("system", "user")
_NEEDED = {"dialogue_id", "turn_id", "ref", "pred"}
_DIGITS = 9

UsualDialogue: TypeAlias = tuple[str, list[int], list[bytes], list[bytes]]
"""A dialogue's id, its turns' numbers, and the states of both sides as they are written."""


class _Layout:
    """Where the keys of a line stand, as its first one has them."""

    def __init__(self, line: bytes) -> None:
        """Raises ValueError where a line is no object, or has other keys than both sides and what was said."""
        members = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        self.keys = list(members)
        if not set(members) - set(_TEXTS) == _NEEDED:
            raise ValueError(line)
        colon, comma = (b": ", b", ") if b'": ' in line[: len(self.keys[0]) + 5] else (b":", b",")
        heads = [b'"%b"%b' % (key.encode(), colon) for key in self.keys]
        self._first, self._others = b"{" + heads[0], [comma + head for head in heads[1:]]
        name, turn, ref, pred = map(self.keys.index, ("dialogue_id", "turn_id", "ref", "pred"))
        self.places = name, turn, ref, pred
        self.texts = [place for place, key in enumerate(self.keys) if key in _TEXTS]

    def cut(self, line: bytes) -> list[bytes]:
        """The values of a line. Raises ValueError where it is written otherwise."""
        if not line.startswith(self._first) or not line.endswith(b"}"):
            raise ValueError(line)
        rest = line[len(self._first) : -1]
        values = []
        for head in self._others:
            value, cut, rest = rest.partition(head)
            if not cut:
                raise ValueError(line)
            values.append(value)
        values.append(rest)
        for place in self.texts:
            msgspec.json.decode(values[place], type=str | None)
        return values


def usual_dialogues(lines: Iterable[bytes]) -> Iterator[UsualDialogue | None]:
    """The dialogues of lines that are alike, turns in their order; None, and no more, where a line is not."""
    layout: _Layout | None = None
    written, before = b"", -1
    dialogue: UsualDialogue = ("", [], [], [])
    try:
        for line in lines:
            line = line.rstrip(b"\r")
            if not line:
                continue
            layout = layout or _Layout(line)
            values = layout.cut(line)
            name, turn, ref, pred = map(values.__getitem__, layout.places)
            if name != written:
                if dialogue[1]:
                    yield dialogue
                written, before = name, -1
                dialogue = (_name(name), [], [], [])
            number = int(turn)
            if number <= before or len(turn) >= _DIGITS or not turn.isdigit():
                raise ValueError(line)
            before = number
            dialogue[1].append(number)
            dialogue[2].append(ref)
            dialogue[3].append(pred)
    except (ValueError, msgspec.MsgspecError):  # older versions of which are no ValueError
        yield None
        return
    if dialogue[1]:
        yield dialogue


def _name(data: bytes) -> str:
    name = msgspec.json.decode(data, type=str)
    if not name.strip():
        raise ValueError(data)
    return name
