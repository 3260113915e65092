"""Every error as a row for people, with what its wrong value has to do with the rest of the dialogue.

The *relation* is the first of RELATIONS that holds at the turn where the error began:

``dontcare or none``: one side has no preference, the other lacks the slot.
``spelling``: the two values are equal once case, spelling, forms of time, punctuation and blanks are evened out.
``substring``: the words of one value stand in the other.
``another slot``: it is what the reference has, or had before, in another slot of the same domain.
``another domain``: the same, in a slot of another domain.
``offered``: a system utterance so far holds it, and no user utterance does.
``nowhere``: no utterance so far holds it.
``said``: a user utterance so far holds it, and nothing above applies.

An utterance holds a value whose words stand in it in one piece; case, white space and punctuation do not count. A
value like "yes" or "dontcare" is seldom said in that word, so that ``nowhere`` means little there. Of several
values any counts. There is no relation without a predicted value, but for ``dontcare or none``; the last three
need a user utterance.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product

from dsteval.dialogue import Dialogue
from dsteval.errors import ProtocolError
from dsteval.outcomes.lineage import ENDS, KINDS, LIVED, lineage, unavailable_reason
from dsteval.outcomes.table import Outcomes
from dsteval.prepare.states import value_text
from dsteval.prepare.vocabulary import Prepared, State
from dsteval.values.matchers import PreparedValue, matches
from dsteval.values.similarity import folded, key
from dsteval.values.slots import domain_of

RELATIONS = (
    "dontcare or none",
    "spelling",
    "substring",
    "another slot",
    "another domain",
    "offered",
    "nowhere",
    "said",
)
"""What a wrong value may have to do with the dialogue; the first that holds is told."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class ErrorRecord:
    """One error: a run of turns at which a slot is wrong with the same reference and the same predicted value.

    ``origin`` is the number of its first turn, ``end`` one of lineage's ENDS, ``end_turn`` the number of the turn
    at which it ended, None where it lived to the last. ``ref`` and ``pred`` are the values as compared, None where
    a side lacks the slot; right/wrong marks tell neither these nor ``kind`` and ``relation``. ``user_text`` is
    what the user said at the origin, ``system_text`` what the system said before that.
    """

    dialogue: str
    slot: str
    domain: str
    kind: str | None
    origin: int
    end: str
    end_turn: int | None
    lifetime: int
    ref: str | None
    pred: str | None
    relation: str | None
    user_text: str | None
    system_text: str | None


@dataclass
class DialogueContext:
    """What is kept of a dialogue to tell relations: texts and prepared reference of each turn."""

    system: list[str | None]
    user: list[str | None]
    ref: list[State]

    @cached_property
    def first_turns(self) -> dict[tuple[str, PreparedValue], int]:
        """Each slot and value of the reference -> the position of the turn that has it first."""
        found: dict[tuple[str, PreparedValue], int] = {}
        for at, state in enumerate(self.ref):
            for item in state.items():
                found.setdefault(item, at)
        return found

    @cached_property
    def items_with(self) -> dict[str | None, list[tuple[str, PreparedValue]]]:
        """Each text of the reference -> the slots and values that have it; None -> all."""
        found: dict[str | None, list[tuple[str, PreparedValue]]] = {}
        for slot, value in self.first_turns:
            for text in (None, *dict.fromkeys(_texts(value))):
                found.setdefault(text, []).append((slot, value))
        return found

    @cached_property
    def first_utterance(self) -> int | None:
        """The position at which the user first says something."""
        return next((at for at, text in enumerate(self.user) if text), None)

    @cached_property
    def spoken(self) -> list[tuple[str, list[int]]]:
        """All words of the user, and of the system, as one text with a line a turn, and where each line begins."""
        lines = [[_words(text or "") for text in side] for side in (self.user, self.system)]
        return [("\n".join(side), [0, *accumulate(len(line) + 1 for line in side)]) for side in lines]

    @cached_property
    def first_said(self) -> dict[tuple[int, str], int | None]:
        """Side and text -> the position where it is said first, filled as it is asked for."""
        return {}

    def said(self, side: int, text: str, at: int) -> bool:
        """Whether the user (0) or the system (1) said a text, at a position or before."""
        key = side, text
        if key not in self.first_said:
            spoken, starts = self.spoken[side]
            found = spoken.find(_words(text)) if _words(text).strip() else -1
            self.first_said[key] = bisect_right(starts, found) - 1 if found >= 0 else None
        first = self.first_said[key]
        return first is not None and first <= at

    @classmethod
    def of(cls, dialogue: Dialogue, prepared: Prepared) -> DialogueContext:
        """The context of one dialogue."""
        return cls([t.system for t in dialogue.turns], [t.user for t in dialogue.turns], prepared.ref)


def errors_of(outcomes: Outcomes, contexts: Iterable[DialogueContext]) -> Iterator[ErrorRecord]:
    """Every error by dialogue, turn and slot; the contexts are those of all dialogues, in their order.

    Raises ProtocolError where the outcomes have no lineage.
    """
    reason = unavailable_reason(outcomes)
    if reason is not None:
        raise ProtocolError(where="errors", found=f"cannot be followed: {reason}")
    errors, known = lineage(outcomes), list(contexts)
    number, turns = len(errors), outcomes.turn.tolist()
    starts = outcomes.offsets.tolist()
    columns = (
        errors.dialogue,
        errors.slot,
        errors.origin,
        errors.last,
        errors.kind,
        errors.end,
        errors.ref,
        errors.pred,
    )
    rows = zip(*(column.tolist() for column in columns), strict=True) if number else ()
    names = outcomes.slots
    for dialogue, slot, origin, last, kind, end, *numbers in sorted(rows, key=lambda r: (r[0], r[2], names[r[1]])):
        ref, pred = (outcomes.values[value] if value >= 0 else None for value in numbers)
        context, at = known[dialogue], origin - starts[dialogue]
        yield ErrorRecord(
            outcomes.dialogues[dialogue],
            names[slot],
            domain_of(names[slot]),
            KINDS[kind] if kind >= 0 else None,
            turns[origin],
            ENDS[end],
            None if end == LIVED else turns[last + 1],
            last - origin + 1,
            None if ref is None else value_text(ref),
            None if pred is None else value_text(pred),
            relation(names[slot], ref, pred, context, at) if kind >= 0 else None,
            context.user[at],
            context.system[at],
        )


def relation(
    slot: str, ref: PreparedValue | None, pred: PreparedValue | None, context: DialogueContext, at: int
) -> str | None:
    """What a slot's wrong value has to do with the dialogue so far; ``at`` is the position of the turn.

    >>> context = DialogueContext([None, "How about the Gonville?"], ["A hotel.", "Another one."], [{}, {}])
    >>> relation("hotel-name", None, "gonville", context, 1)
    'offered'
    >>> relation("hotel-name", "the gonville hotel", "gonville", context, 1)
    'substring'
    """
    texts = _texts(pred)
    if (ref is None or pred is None) and any(folded(text) == "dontcare" for text in (*_texts(ref), *texts)):
        return "dontcare or none"
    if pred is None:
        return None
    pairs = list(product(_texts(ref), texts))
    if any(key(slot, a) == key(slot, b) != "" for a, b in pairs):
        return "spelling"
    if any(_holds(a, b) or _holds(b, a) for a, b in pairs):
        return "substring"
    return _elsewhere(slot, pred, context, at) or _uttered(texts, context, at)


def _elsewhere(slot: str, pred: PreparedValue, context: DialogueContext, at: int) -> str | None:
    """Whether the reference had the value in another slot."""
    others = {
        domain_of(other) == domain_of(slot)
        for other, value in context.items_with.get(next(iter(_texts(pred)), None), ())
        if other != slot and context.first_turns[other, value] <= at and matches(value, pred)
    }
    return None if not others else "another slot" if True in others else "another domain"


def _uttered(texts: tuple[str, ...], context: DialogueContext, at: int) -> str | None:
    """Who said one of some texts so far."""
    if context.first_utterance is None or context.first_utterance > at:
        return None
    if any(context.said(0, text, at) for text in texts):
        return "said"
    return "offered" if any(context.said(1, text, at) for text in texts) else "nowhere"


def _texts(value: PreparedValue | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(sorted(value))


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> str:
    """The words of a text with a blank before, between and after them."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _holds(text: str, part: str) -> bool:
    """Whether the words of a part, which has some, stand in a text in one piece."""
    return _words(part).strip() != "" and _words(part) in _words(text)
