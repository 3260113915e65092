"""What a protocol's ``[states]`` table does to one item: its slot, its texts, its alternatives."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from dsteval.dialogue import Item, Side
from dsteval.errors import ProtocolError
from dsteval.protocols.model import Protocol
from dsteval.values.matchers import PreparedValue
from dsteval.values.normalise import DONTCARE, NORMALISERS
from dsteval.values.oddities import has_mark
from dsteval.values.slots import MULTIWOZ, MULTIWOZ_DOMAINS, SPELLINGS, domain_of
from dsteval.values.user_tables import UserTables


class ItemRules:
    """The rules of one side. Raises ProtocolError where a table that they need is not given.

    ``possible`` are the values that a schema lists for each slot, as it spells them.
    """

    def __init__(
        self, protocol: Protocol, side: Side, given: UserTables, possible: Mapping[str, Iterable[str]]
    ) -> None:
        states = protocol.states
        self.protocol = protocol.name
        self._setting = "states.alternatives"
        self.slots = states.slots
        self.dontcare = states.dontcare
        self.drops = states.dontcare in ("drop", f"drop-{side}")
        own, absent, self.alternatives, signs = (
            states.normalise_ref,
            states.absent_ref,
            states.alternatives,
            states.separators,
        )
        if side == "pred":
            own, absent = states.normalise_pred, states.absent_pred
            if states.alternatives_pred != "same":
                self.alternatives, self._setting = states.alternatives_pred, "states.alternatives_pred"
        self._dontcare = frozenset(states.dontcare_words) or DONTCARE
        self._written = bool(states.dontcare_words)  # these are looked for before texts are normalised
        self._slot = SPELLINGS[states.slots]
        self._only = frozenset(map(self._slot, states.only))
        self._normalisers = [(name, NORMALISERS[name](given)) for name in (*states.normalise, *own)]
        self._absent = frozenset((*states.absent, *absent))
        self._keeps_listed = states.listed == "kept"
        self._listed: set[tuple[str, str]] = set()
        if self._keeps_listed:
            # MultiWOZ's own ontology lists its words for "not set".
            own_values = {slot: values for slot, values in given.listed.items() if slot not in MULTIWOZ}
            for slot, values in chain(possible.items(), own_values.items()):
                name = self._slot(slot)
                self._listed.update((name, self._normalised(name, value)) for value in values)
        self._splits = re.compile(f"[{re.escape(signs)}]") if signs else None
        self._late = states.split == "after"

    def pair(self, item: Item) -> tuple[str, PreparedValue] | None:
        """The item as it is compared, or None where it counts as absent."""
        slot, value = self._slot(item[0]), item[1]
        if value is None or self._skips(slot):
            return None
        parts = self._parts(item)
        if self.alternatives == "list":
            return slot, tuple(self._normalised(slot, part) for part in parts)
        if self.alternatives == "first":
            if self.drops and any(self._text(slot, part)[1] == "dontcare" for part in parts):
                return None
            parts = parts[:1]
        kept = {text for part in parts if (text := self._text(slot, part)[0]) is not None}
        if self._late:
            kept = {part for text in kept for part in self._alternatives(text)}
        if not kept:
            return None
        return slot, next(iter(kept)) if len(kept) == 1 else frozenset(kept)

    def is_doubtful(self, item: Item) -> bool:
        """Whether an item that counts as absent may have a value all the same: "none", outside MultiWOZ."""
        slot, value = self._slot(item[0]), item[1]
        if not self._keeps_listed or self._skips(slot) or domain_of(slot) in MULTIWOZ_DOMAINS:
            return False
        return "none" in map(str.casefold, (value,) if isinstance(value, str) else value or ())

    def _skips(self, slot: str) -> bool:
        return bool(self._only) and slot not in self._only

    def trace(self, item: Item) -> list[str]:
        """The rules that make the item other than it is written, by the names of their settings."""
        slot, value = self._slot(item[0]), item[1]
        found = [f"states.slots={self.slots}"] if slot != item[0] else []
        if value is None:
            return [*found, "null"]
        if self._skips(slot):
            return [*found, "states.only"]
        parts = self._parts(item)
        written = [value] if isinstance(value, str) else list(value)
        if written != parts or (self.alternatives == "first" and len(parts) > 1):
            found.append(f"states.alternatives={self.alternatives}")
        traced = chain.from_iterable(self._traced(slot, part) for part in parts)
        return list(dict.fromkeys([*found, *traced]))

    def _parts(self, item: Item) -> list[str]:
        """The texts of one value, its alternatives apart. Raises ProtocolError where the protocol reads none."""
        texts = (item[1],) if isinstance(item[1], str) else item[1] or ()
        if self.alternatives == "list":
            return list(dict.fromkeys(texts))
        if self.alternatives != "literal":
            return ["|".join(texts)] if self._late else [part for text in texts for part in self._split(text)]
        if len(texts) > 1:
            raise ProtocolError(
                where=f"slot {item[0]!r}",
                expected=f"single strings, as protocol {self.protocol} needs",
                found=f"a list of {len(texts)} values",
                remedy="Use a protocol that accepts alternatives, such as exact, or score only the first with "
                f"--set {self._setting}=first.",
            )
        return list(texts)

    def _split(self, text: str) -> list[str]:
        # The special tokens of language models hold the signs between alternatives.
        return self._splits.split(text) if self._splits and not has_mark(text) else [text]

    def _alternatives(self, text: str) -> list[str]:
        """The parts of a text that was normalised as one."""
        parts = [text] if self.alternatives == "literal" else self._split(text)
        return parts[:1] if self.alternatives == "first" else parts

    def _normalised(self, slot: str, text: str) -> str:
        for _, normalise in self._normalisers:
            text = normalise(slot, text)
        return text

    def _text(self, slot: str, text: str) -> tuple[str | None, str]:
        """One text as it is compared, or None where it counts as absent, and the rule that decided."""
        if text in self._absent and not self._listed:
            return None, "absent"
        written, text = text, self._normalised(slot, text)
        if (written in self._absent or text in self._absent) and (slot, text) not in self._listed:
            return None, "absent"
        if self.dontcare != "literal" and (written if self._written else text) in self._dontcare:
            return (None if self.drops else "dontcare"), "dontcare"
        return text, ""

    def _traced(self, slot: str, text: str) -> list[str]:
        found, before = [], text
        if text not in self._absent:
            for name, normalise in self._normalisers:
                after = normalise(slot, before)
                found += [f"normaliser {name}"] if after != before else []
                before = after
        became, rule = self._text(slot, text)
        if became != before:
            found.append(f"states.{rule}" + (f"={self.dontcare}" if rule == "dontcare" else ""))
        return found
