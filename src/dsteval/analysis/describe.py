"""What data holds: conversations, turns, slots and values, a row a split where a data set tells its splits."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from dsteval import readers
from dsteval.data import catalogue as catalog
from dsteval.data.catalogue import Catalogue
from dsteval.data.fetch import Progress, resolve
from dsteval.dialogue import Dialogue, Side, canonical_id
from dsteval.prepare.states import Preparer
from dsteval.protocols.model import load
from dsteval.readers import Source
from dsteval.readers.file_sets import Gathered, gather, selected

PROTOCOL = "exact"


class Description(msgspec.Struct, frozen=True):
    """The size of one file, or of one split of a data set.

    ``slots`` counts the distinct slots that have a value under protocol ``exact``, ``values`` the distinct pairs
    of slot and value, a set of accepted values being one; both None for right/wrong marks, which have no values.
    """

    name: str
    conversations: int
    turns: int
    slots: int | None
    values: int | None

    @property
    def average(self) -> float | None:
        """Turns a conversation; None where there is no conversation."""
        return self.turns / self.conversations if self.conversations else None

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON has it."""
        size = {"name": self.name, "conversations": self.conversations, "turns": self.turns}
        return {**size, "average_turns": self.average, "slots": self.slots, "values": self.values}


def describe(
    text: str,
    *,
    format: str | None = None,
    ref_field: str | None = None,
    progress: Progress | None = None,
    catalogue: Catalogue | None = None,
) -> list[Description]:
    """Describe what a path, or the name of a public data set, stands for.

    A folder or an archive with list files, and a data set named without a split, give a row for each split. Of a
    file with both sides the reference is described. Raises ReadError for what cannot be read, and as
    ``data.fetch.fetch`` does for what cannot be had.
    """
    options = readers.Options(ref_field=ref_field)
    opened = _opened(text, progress, catalog.load() if catalogue is None else catalogue)
    return [row for name, place in opened for row in _rows(name, gather(place), format, options)]


def _opened(text: str, progress: Progress | None, catalogue: Catalogue) -> Iterator[tuple[str, str | Path]]:
    """What to open, each with the name of its data set; without a name where it is a path."""
    dataset = catalogue.get(text.casefold())
    if dataset is None or dataset.whole is not None or Path(text).exists():
        place = resolve(text, progress=progress, catalogue=catalogue)
        yield ("", text) if place is None else (text, place)
        return
    for split in dataset.splits:
        name = f"{dataset.name}/{split}"
        yield name, resolve(name, progress=progress, catalogue=catalogue) or name


def _rows(name: str, gathered: Gathered, format: str | None, options: readers.Options) -> list[Description]:
    """One row, or where there are lists one for each split: train is what no list names."""
    source = Source.gathered(gathered)
    by_split = bool(gathered.lists) and not gathered.split
    name = name or (gathered.name if by_split else source.name)
    rest = _Tally(f"{name}/train" if by_split else name)
    tallies, tally_of = [rest], dict[str, _Tally]()
    for split in ("dev", "test") if by_split else ():
        if split in gathered.lists:
            tallies.append(_Tally(f"{name}/{split}"))
            only = selected(replace(gathered, split=split)).only or []
            tally_of |= dict.fromkeys(map(canonical_id, only), tallies[-1])
    for dialogue in readers.read(source, "ref", format, options):
        tally_of.get(canonical_id(dialogue.id), rest).add(dialogue)
    return [tally.description() for tally in tallies]


class _Tally:
    """Counts dialogues as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.preparer = Preparer(load(PROTOCOL), name)
        self.conversations = self.turns = 0
        self.side: Side = "ref"
        self.marks = False

    def add(self, dialogue: Dialogue) -> None:
        """Take in one dialogue. What the first one holds decides which side is described."""
        if not self.conversations and dialogue.turns:
            first = dialogue.turns[0]
            self.side = "pred" if first.ref is None and first.ref_frames is None else "ref"
            self.marks = first.correctness is not None
        self.conversations += 1
        self.turns += len(dialogue.turns)
        self.preparer.side(dialogue, self.side)

    def description(self) -> Description:
        """What was counted. Raises ReadError for a slot that stands twice in a state with different values."""
        self.preparer.problems.check(self.turns)
        slots, values = (None, None) if self.marks else self.preparer.distinct(self.side)
        return Description(self.name, self.conversations, self.turns, slots, values)
