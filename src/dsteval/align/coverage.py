"""Which dialogues of the two sides met, and what is done about those that did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from dsteval.errors import require_known

Missing: TypeAlias = Literal["error", "empty", "skip"]
Extra: TypeAlias = Literal["error", "ignore"]


@dataclass(frozen=True)
class Policy:
    """What is done where one side lacks what the other has.

    ``missing``: a reference dialogue without prediction, or without some of its turns, is an ``error``, is scored
    as ``empty``, or is left out and named (``skip``). ``extra``: a predicted dialogue without reference is an
    ``error`` or ignored and named.
    """

    missing: Missing = "error"
    extra: Extra = "error"

    def __post_init__(self) -> None:
        for option, value, taken in (("missing", self.missing, Missing), ("extra", self.extra, Extra)):
            require_known(f"value of --{option}", value, get_args(taken))

    def signature(self, coverage: Coverage, frames_missing: bool) -> list[str]:
        """The policy as it stands in a score's signature: what is not the default, where it made a difference."""
        met = {"missing": coverage.missing or coverage.lengths or frames_missing, "extra": coverage.extra}
        broken = [f"broken:{len(coverage.broken)}"] if coverage.broken else []
        return [
            *(f"{name}:{value}" for name, value in vars(self).items() if value != "error" and met[name]),
            *broken,
        ]


@dataclass
class Coverage:
    """Which dialogues and turns of the reference were scored, and which have no partner.

    ``missing`` are reference dialogues without prediction, ``extra`` predicted dialogues without reference,
    ``left_out`` those that the protocol, or --missing skip, leaves out; ``dropped`` are the keys of those among
    them that a step of the protocol leaves out. ``differs`` counts the turns where the reference given separately
    and the one inside the predictions' file are not the same. ``lengths`` tells of dialogues with another number
    of turns on either side; ``ignored`` are predicted turns after the reference's last; ``broken`` are places of
    the predictions that could not be read and were left out with their dialogues.
    """

    ref_dialogues: int = 0
    scored_dialogues: int = 0
    ref_turns: int = 0
    scored_turns: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    differs: int = 0
    lengths: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """The block ``coverage`` of the JSON; ``broken`` where something was."""
        names = ("ref_dialogues", "scored_dialogues", "ref_turns", "scored_turns", "missing", "extra", "left_out")
        return {name: getattr(self, name) for name in (*names, *(["broken"] if self.broken else []))}

    @classmethod
    def sum(cls, parts: Sequence[Coverage], *, one_reference: bool) -> Coverage:
        """The coverage of all parts.

        Where they were scored against ``one_reference``, its dialogues count once, and what another part covers is
        not missing.
        """
        whole = cls()
        for name in ("extra", "lengths", "left_out", "dropped", "ignored", "broken"):
            setattr(whole, name, list(dict.fromkeys(key for part in parts for key in getattr(part, name))))
        for part in parts:
            whole.scored_dialogues += part.scored_dialogues
            whole.scored_turns += part.scored_turns
            whole.differs += part.differs
            if not one_reference:
                whole.ref_dialogues += part.ref_dialogues
                whole.ref_turns += part.ref_turns
                whole.missing += part.missing
        if one_reference:
            whole.ref_dialogues, whole.ref_turns = parts[0].ref_dialogues, parts[0].ref_turns
            everywhere = set(parts[0].missing).intersection(*(part.missing for part in parts))
            whole.missing = [name for name in parts[0].missing if name in everywhere]
        return whole
