"""What a tracker is run over: dialogues with utterances, and the slots that there are."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dsteval import readers
from dsteval.dialogue import Dialogue, Turn, Value, canonical_id, whole_states, written_states
from dsteval.errors import ReadError, first_few, require
from dsteval.protocols.model import load
from dsteval.readers import Source
from dsteval.readers.jsonl_writer import lines
from dsteval.readers.source import schema_of
from dsteval.values.slots import MULTIWOZ, canonical


@dataclass(frozen=True)
class Material:
    """The dialogues to track, their predictions taken away, and what is known of their slots.

    ``slots`` is the list that a tracker has to keep to, None where none is known: the schema's, or MultiWOZ's 30
    with those that the reference has beside them. ``schema`` is the content of the schema.json. ``hash`` covers
    utterances, reference, slots and schema, whatever the order of the dialogues.
    """

    name: str
    dialogues: list[Dialogue]
    slots: list[str] | None
    schema: list[Any] | None
    hash: str

    @property
    def turns(self) -> int:
        """The user turns of all dialogues."""
        return sum(len(dialogue.turns) for dialogue in self.dialogues)

    @property
    def referenced(self) -> bool:
        """Whether there are reference states to score against."""
        turns = (turn for dialogue in self.dialogues for turn in dialogue.turns)
        return any(turn.ref is not None or turn.ref_frames is not None for turn in turns)


def gather(
    source: Source,
    format: str | None = None,
    options: readers.Options | None = None,
    slots: Sequence[str] | None = None,
    schema: bytes = b"",
) -> Material:
    """The dialogues of a data set's file, to be tracked.

    ``slots`` and ``schema`` stand in for what lies beside the data. Raises ReadError for data without utterances
    and for a dialogue that stands twice or has no turn.
    """
    reader = readers.find(format) if format is not None else readers.detect(source).reader
    dialogues = [_bare(dialogue) for dialogue in readers.read(source, "ref", reader.name, options)]
    _check(dialogues, source.name, reader.name)
    text = schema or source._schema  # the content: ``services`` has kept less of it
    content: list[Any] | None = msgspec.json.decode(text) if text.strip() else None
    listed = [slot for own in schema_of(content, "schema").values() for slot in own]
    known = list(slots or listed or _of_multiwoz(dialogues, reader.name == "multiwoz"))
    try:
        digests = sorted(hashlib.sha256(b"".join(lines([dialogue]))).digest() for dialogue in dialogues)
    except UnicodeEncodeError as error:
        raise ReadError(where=source.name, expected="text", found=f"half a character ({error.reason})") from None
    digest = hashlib.sha256(repr(known).encode("utf-8", "surrogatepass") + text + b"".join(digests))
    return Material(source.name, dialogues, known or None, content, digest.hexdigest()[:12])


def _bare(dialogue: Dialogue) -> Dialogue:
    """The dialogue without any prediction, its reference as whole states."""
    turns = [
        Turn(turn.number, turn.ref, system=turn.system, user=turn.user, ref_frames=turn.ref_frames)
        for turn in dialogue.turns
    ]
    bare = msgspec.structs.replace(dialogue, turns=turns, updates=(), forced=False)
    if "ref" in dialogue.updates:
        states = whole_states(written_states(dialogue, "ref"), canonical)
        for turn, state in zip(turns, states, strict=True):
            turn.ref, turn.ref_frames = state, None
    return bare


def _check(dialogues: Sequence[Dialogue], name: str, format: str) -> None:
    silent = [f"{one.id}, turn {turn.number}" for one in dialogues for turn in one.turns if turn.user is None]
    if silent:
        total = sum(len(dialogue.turns) for dialogue in dialogues)
        raise ReadError(
            where=name,
            expected="a user utterance at every turn",
            found=f"turns without one (read as {format})",
            extent=f"{len(silent)} of {total} turns, {first_few(silent)}",
            remedy="Track the data set itself: MultiWOZ, SGD, or dsteval JSON Lines with system and user.",
        )
    seen: set[str] = set()
    for dialogue in dialogues:
        first = canonical_id(dialogue.id) not in seen
        require(first, name, "each dialogue once", f"{dialogue.id!r} twice", ReadError)
        require(dialogue.turns, name, "at least one turn in every dialogue", f"none in {dialogue.id!r}", ReadError)
        seen.add(canonical_id(dialogue.id))


def _of_multiwoz(dialogues: Iterable[Dialogue], whole: bool) -> list[str]:
    """MultiWOZ's 30 and other slots of the reference, if this is MultiWOZ: by its form, or having no others."""
    seen = {canonical(slot) for dialogue in dialogues for state in reference_states(dialogue) for slot in state}
    return sorted(MULTIWOZ | seen) if whole or (seen and seen <= MULTIWOZ) else []


def reference_states(dialogue: Dialogue) -> list[dict[str, Any]]:
    """The reference's states as a tracker is given them: flat, lists for sets, nothing absent."""
    # SGD writes every value as a set: a set of one is given as that one.
    return [
        {
            slot: value if not isinstance(value, tuple) else value[0] if len(value) == 1 else [*value]
            for slot, value in items
            if not _absent(value)
        }
        for items in written_states(dialogue, "ref")
    ]


def _absent(value: Value) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(one is None or " ".join(one.casefold().split()) in _ABSENT for one in values)


_ABSENT = frozenset(load("exact").states.absent)
