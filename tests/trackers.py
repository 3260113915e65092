"""Small made-up trackers, good and bad, for the tests of ``track``. They read words like "hotel-area=north"."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dsteval.track import Update


def said(user: str) -> dict[str, Any]:
    """The slots that a turn names, as words DOMAIN-SLOT=VALUE; a value with a bar is a list."""
    pairs = (word.split("=", 1) for word in user.split() if "=" in word)
    return {slot: value.split("|") if "|" in value else value for slot, value in pairs}


def echo(system: str, user: str, state: dict[str, Any]) -> dict[str, Any]:
    """Takes what is said word by word."""
    return {**state, **said(user)}


class Echo:
    """Takes what is said word by word, in a state of its own that only a new tracker empties."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def update(self, system: str, user: str) -> dict[str, Any]:
        self.state.update(said(user))
        return self.state


class Resetting(Echo):
    """Is told when a dialogue begins."""

    def __init__(self, upper: bool = False, slots: list[str] | None = None, schema: Any = None) -> None:
        super().__init__()
        self.upper = upper
        self.slots = slots
        self.schema = schema

    def reset(self, dialogue_id: str) -> None:
        self.dialogue = dialogue_id
        self.state = {}

    def update(self, system: str, user: str) -> dict[str, Any]:
        state = super().update(system, user)
        return {slot: value.upper() for slot, value in state.items()} if self.upper else state


class Changes:
    """Returns what a turn changed; "never" takes everything back."""

    needs = "own-state"

    def update(self, system: str, user: str, *, state: dict[str, Any]) -> Update:
        return Update({**dict.fromkeys(state if "never" in user else ()), **said(user)})


class Forced:
    """Repeats the reference of the turn before."""

    needs = "ref-state"

    def update(self, system: str, user: str, state: Mapping[str, Any]) -> dict[str, Any]:
        return {**state, **said(user)}


class Historian:
    """Sees the turns before."""

    needs = ("history",)

    def update(self, system: str, user: str, history: list[tuple[str, str]]) -> dict[str, Any]:
        texts = [*(text for _, text in history), user]
        return {slot: value for text in texts for slot, value in said(text).items()}


class Nested(Resetting):
    """Returns states by domain."""

    def update(self, system: str, user: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for slot, value in super().update(system, user).items():
            domain, _, name = slot.partition("-")
            found.setdefault(domain, {})[name] = value
        return found


class Slow(Resetting):
    """Takes its time, so that it can be stopped in the middle."""

    def update(self, system: str, user: str) -> dict[str, Any]:
        time.sleep(0.002)
        return super().update(system, user)


class Gated(Resetting):
    """Waits at one dialogue, where the environment names a file, until that file is there."""

    def reset(self, dialogue_id: str) -> None:
        super().reset(dialogue_id)
        gate = os.environ.get("TRACKER_GATE")
        while gate and dialogue_id == "D10.json" and not Path(gate).exists():
            time.sleep(0.005)


class MuteError(Exception):
    """Cannot say what went wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Odd(Resetting):
    """Does what the user says: raise, exit, hang, or return something odd."""

    raised: dict[str, BaseException] = {
        "cancel": asyncio.CancelledError("task gone"),
        "close": GeneratorExit(),
        "mute": MuteError(),
    }
    returned: dict[str, Any] = {
        "nothing": None,
        "text": "hotel-area=north",
        "number": {"hotel-area": 4.5},
        "unknown": {"hotel-aera": "north"},
        "domain": {"spaceship-speed": "warp"},
        "doubled": {"hotel-area": "north", "hotel": {"area": "south"}},
        "half": {"hotel-area": "\ud800"},
        "keys": {4: "north"},
    }

    def update(self, system: str, user: str) -> Any:
        word = user.split()[-1]
        if word == "raise":
            raise ValueError("no idea\nat all")
        if word == "exit":
            sys.exit(3)
        if word in self.raised:
            raise self.raised[word]
        while word == "hang":
            try:
                time.sleep(30)
            except Exception:
                continue
        if word == "interrupt":
            raise KeyboardInterrupt
        if word == "print":
            print("thinking")
        return self.returned[word] if word in self.returned else super().update(system, user)


class NoUpdate:
    """No tracker."""


class Broken:
    """Cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("no weights here")


class Hungry(Echo):
    """Asks for what there is not."""

    needs = "own-sate"


class Both(Echo):
    """Asks for two states at once."""

    needs = ("own-state", "ref-state")


def one_argument(user: str) -> dict[str, Any]:
    """Takes too little."""
    return {}


class Stateless(Echo):
    """Declares a state that it does not take."""

    needs = "own-state"


not_callable = 3
