"""Which conversations people are to rate: drawn by a seed, at random or by strata, under names or blind."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from dsteval.dialogue import Dialogue, canonical_id
from dsteval.errors import AlignmentError, ReadError, first_few, require, require_known
from dsteval.pipeline.run import Run
from dsteval.pipeline.scan import Scan
from dsteval.rating.ratings import table_rows
from dsteval.readers import Source

T = TypeVar("T")

STRATA = ("domain", "errors")
"""By the domains of a conversation, and by how many of its turns are wrong."""

_ERRORS = ((0, "0"), (2, "1-2"), (5, "3-5"))


class SampleItem(NamedTuple):
    """What raters see under one name, and what it is."""

    item: str
    system: str
    dialogue: str


class Pool(NamedTuple):
    """A system's conversations with both sides and utterances, and how many turns of each are wrong."""

    system: str
    dialogues: dict[str, Dialogue]
    wrong: dict[str, int]


class Sample(NamedTuple):
    """What was drawn: the conversations under their items' names, the key to them, and the strata
    (conversations at hand, drawn).
    """

    dialogues: list[Dialogue]
    items: list[SampleItem]
    strata: dict[str, tuple[int, int]]


def pool(name: str, pred: Source, ref: Source | None, run: Run) -> Pool:
    """The conversations of a file of predictions, compared under the run's protocol.

    Raises a DstevalError for what cannot be read, aligned or compared.
    """
    metrics = run.resolved(["JGA"])
    jga, scan = metrics["JGA"], Scan(run, ref, pred, metrics)
    dialogues = {canonical_id(dialogue.id): dialogue for dialogue, _ in scan.compared()}
    outcomes = scan.outcomes()
    why = jga.unavailable_reason(outcomes)
    require(why is None, name, "turns that can be scored right or wrong", why, ReadError)
    turns, right = jga.count(outcomes)[:, :2].T
    wrong = zip(map(canonical_id, outcomes.dialogues), (turns - right).tolist(), strict=True)
    return Pool(name, dialogues, dict(wrong))


def draw(
    pools: Sequence[Pool], size: int, seed: int = 12345, strata: Sequence[str] = (), blind: bool = False
) -> Sample:
    """Draw ``size`` dialogues, the same for all systems.

    With ``strata`` each stratum gives its share of them, rounded by largest remainders, ties at random; a
    conversation's errors are the mean over systems. A single system's items have their dialogue's name, those of
    several ``SYSTEM--DIALOGUE``. ``blind`` mixes the items of all systems and calls them item-001, item-002, ...

    Raises OptionError where there are fewer dialogues than ``size``, and AlignmentError where systems do not
    cover the same.
    """
    for by in strata:
        require_known("value of --by", by, STRATA)
    first, *others = pools
    names = list(first.dialogues)
    for other in others:
        apart = sorted(set(names) ^ set(other.dialogues))
        where, found = f"{first.system}, {other.system}", f"{len(apart)} that only one has ({first_few(apart)})"
        require(not apart, where, "the same dialogues", found, AlignmentError)
    require(1 <= size <= len(names), "--size", f"1 to {len(names)}, the number of dialogues", size)
    random = np.random.PCG64(seed)
    grouped: dict[str, list[str]] = {}
    for name in names:
        grouped.setdefault(", ".join(_stratum(pools, name, by) for by in strata), []).append(name)
    by_stratum = dict(sorted(grouped.items()))
    shares = _shares({key: len(members) for key, members in by_stratum.items()}, size, random)
    chosen = {name for key, members in by_stratum.items() for name in _mixed(random, members)[: shares[key]]}
    ordered = [(one, one.dialogues[name]) for name in names if name in chosen for one in pools]
    pairs = _mixed(random, ordered) if blind else ordered
    width = max(3, len(str(len(pairs))))
    items = []
    for number, (one, dialogue) in enumerate(pairs, start=1):
        plain = dialogue.id if len(pools) == 1 else f"{one.system}--{dialogue.id}"
        items.append(SampleItem(f"item-{number:0{width}}" if blind else plain, one.system, dialogue.id))
    dialogues = [msgspec.structs.replace(pair[1], id=item.item) for pair, item in zip(pairs, items, strict=True)]
    return Sample(dialogues, items, {key: (len(members), shares[key]) for key, members in by_stratum.items()})


def _mixed(random: np.random.PCG64, members: Sequence[T]) -> list[T]:
    """The members in random order, from raw bits, whose stream numpy keeps between releases."""
    return [members[place] for place in np.argsort(random.random_raw(len(members)), kind="stable")]


def _stratum(pools: Sequence[Pool], name: str, by: str) -> str:
    if by == "errors":
        mean = sum(one.wrong[name] for one in pools) / len(pools)
        return next((label for most, label in _ERRORS if mean <= most), "6+") + " wrong"
    turns = pools[0].dialogues[name].turns
    domains = {slot.partition("-")[0] for turn in turns for slot, _ in turn.ref or []}
    return "+".join(sorted(domains)) or "no domain"


def _shares(sizes: Mapping[str, int], size: int, random: np.random.PCG64) -> dict[str, int]:
    """Each stratum's part, in proportion, by largest remainders; ties in random order."""
    total = sum(sizes.values())
    shares = {key: size * number // total for key, number in sizes.items()}
    rest = sorted(_mixed(random, list(sizes)), key=lambda key: -(size * sizes[key] % total))
    for key in rest[: size - sum(shares.values())]:
        shares[key] += 1
    return shares


def read_key(path: str) -> dict[str, str]:
    """The dialogue of each item. Raises ReadError for a file that is no key."""
    source = Source.open(path)
    dialogues: dict[str, str] = {}
    for line, row in table_rows(source, "item", "dialogue"):
        item = canonical_id(row["item"])
        where = f"{source.name}, {line}"
        require(item and row["dialogue"].strip(), where, "an item and its dialogue", "an empty cell", ReadError)
        require(item not in dialogues, where, "each item once", f"{row['item']!r} twice", ReadError)
        dialogues[item] = canonical_id(row["dialogue"])
    require(dialogues, source.name, "at least one item", "none", ReadError)
    return dialogues
