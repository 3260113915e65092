"""What analyses over many protocols share: which ones, what they are held against, and which do not apply."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dsteval.dialogue import Dialogue, written_states
from dsteval.errors import DstevalError, OptionError, ProtocolError, first_few, require, unknown
from dsteval.protocols.model import Protocol, names
from dsteval.values.slots import canonical

T = TypeVar("T")

BASE = "exact"
"""The protocol that the others are held against."""


def chosen_protocols(wanted: Sequence[str] | None, *more: str) -> list[str]:
    """``exact``, those that are wanted (None: all there are), and more. Raises OptionError for an unknown name."""
    known = names()
    chosen = [*(known if wanted is None else wanted), *more]
    for name in chosen:
        if name not in known and not name.endswith(".toml"):
            raise OptionError(unknown("protocol", name, known, "dsteval list protocols"))
    return list(dict.fromkeys([BASE, *chosen]))


def under_each(
    protocols: Iterable[str], make: Callable[[str], T], progress: Callable[[str], None] | None
) -> tuple[dict[str, T], dict[str, str]]:
    """What is made under each protocol that applies, and why the others do not.

    ``progress`` is called with each protocol's name. Raises the DstevalError of the first where none applies.
    """
    made: dict[str, T] = {}
    errors: dict[str, DstevalError] = {}
    for name in protocols:
        if progress is not None:
            progress(name)
        try:
            made[name] = make(name)
        except DstevalError as error:
            errors[name] = error
    if not made:
        raise next(iter(errors.values()))
    return made, {name: error.command_line for name, error in errors.items()}


def reference_slots(dialogues: Iterable[Dialogue]) -> set[str]:
    """The slots of the reference."""
    return {
        canonical(slot) for dialogue in dialogues for items in written_states(dialogue, "ref") for slot, _ in items
    }


def check_only(name: str, protocol: Protocol, slots: set[str]) -> None:
    """Raise ProtocolError where the protocol does not look at slots that the reference has."""
    only = protocol.states.only
    others = sorted(slots.difference(map(canonical, only))) if only else []
    expected = f"a reference with no slots but the {len(only)} that it scores"
    found = f"{len(others)} others among {len(slots)} ({first_few(others)})"
    require(not others, f"protocol {name}", expected, found, ProtocolError)
