"""Runs a tracker over dialogues, one after the other, and loses none when it breaks half-way."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsteval.dialogue import Dialogue, Value
from dsteval.errors import DstevalError, OptionError, Problems
from dsteval.readers.base import Flattener, shown
from dsteval.track.dialogues import Material, reference_states
from dsteval.track.run_file import encoded, header, opened
from dsteval.track.tracker import Loaded, Update
from dsteval.values.normalise import is_deletion
from dsteval.values.slots import canonical

__all__ = ["Failure", "Progress", "Run", "run"]

Progress = Callable[..., None]
"""Called after each turn with the turns ``completed``, the ``dialogues`` and the ``failures`` so far."""


@dataclass(frozen=True)
class Failure:
    """A dialogue that has no prediction: at which turn the tracker failed, and how."""

    dialogue: str
    turn: int
    error: str
    trace: str = ""

    def __str__(self) -> str:
        return f"dialogue {self.dialogue!r}, turn {self.turn}: {self.error}"


@dataclass
class Run:
    """What came of a run: its header, how many dialogues were there and how many came, and those that failed."""

    header: dict[str, Any]
    before: int = 0
    tracked: int = 0
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False


def run(
    material: Material,
    tracker: Loaded,
    out: str | Path,
    *,
    nested: bool = False,
    timeout: float | None = None,
    restart: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run a tracker over all dialogues that ``out`` does not hold yet.

    Each finished dialogue is appended to ``out``, lines of our JSONL with ``ref`` and ``pred``, and is on the disk
    before the next begins. A dialogue in which the tracker fails is named, and has no ``pred`` there; the others
    go on. Ctrl-C ends the run, and what is finished stays. ``timeout`` are the seconds that one turn may take: the
    tracker is interrupted where it runs Python, sleeps or waits, not inside a call into C that does not return. It
    works in the main thread of POSIX systems. Raises OptionError where ``out`` belongs to another run or cannot be
    written, and where a timeout is not possible.
    """
    if tracker.forced and not material.referenced:
        expected = "reference states, which the tracker needs (ref-state)"
        raise OptionError(where=material.name, expected=expected, found="none")
    clock = _Clock(timeout)
    came = Run(header(material, tracker, nested))
    failed: list[Dialogue] = []
    with opened(Path(out), came.header, material, restart) as kept:
        came.before = len(kept.done)
        turns = sum(len(one.turns) for one in material.dialogues if one.id in kept.done)

        def tick(more: int) -> None:
            if progress is not None:
                progress(completed=turns + more, dialogues=came.before + came.tracked, failures=len(failed))

        tick(0)
        tracking = _Tracking(tracker, clock, material.slots, tick)
        try:
            for dialogue in material.dialogues:
                if dialogue.id in kept.done:
                    continue
                found = tracking.dialogue(dialogue)
                if isinstance(found, Failure):
                    came.failures.append(found)
                    failed.append(dialogue)
                else:
                    kept.append(encoded(dialogue, found, nested, tracker.forced))
                    came.tracked += 1
                turns += len(dialogue.turns)
                tick(0)
            kept.append(b"".join(encoded(dialogue, None) for dialogue in failed))
        except KeyboardInterrupt:
            came.interrupted = True
    return came


class _TimeUp(BaseException):
    """Not an Exception, so that a tracker which survives its own errors does not survive this one."""


class _Clock:
    """Interrupts what takes longer than some seconds, again each second after."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        if seconds is None:
            return
        if not 0 < seconds < 1e8:
            raise OptionError(where="--timeout", expected="seconds, more than 0", found=f"{seconds:g}")
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            found = "a system or a thread without timers"
            raise OptionError(where="--timeout", expected="the main thread of a POSIX system", found=found)

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Raise _TimeUp inside when the time is up."""
        if self.seconds is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _ring(self, number: int, frame: Any) -> None:
        raise _TimeUp(f"took longer than {self.seconds:g} seconds (--timeout)")


class _Tracking:
    """Calls the tracker for dialogue after dialogue, and takes its states; ``tick`` is told of each turn."""

    def __init__(
        self, tracker: Loaded, clock: _Clock, slots: list[str] | None, tick: Callable[[int], None]
    ) -> None:
        self.tracker = tracker
        self.clock = clock
        self.slots = None if slots is None else {canonical(slot): slot for slot in slots}
        self.tick = tick

    def dialogue(self, dialogue: Dialogue) -> list[dict[str, Any]] | Failure:
        """The state of each turn, flat; or how it failed."""
        states: list[dict[str, Any]] = []
        try:
            with self.clock.limited():
                update = self.tracker.start(dialogue.id)
            before: dict[str, Value] = {}
            for said, given in zip(_said(dialogue), self._given(dialogue, states), strict=False):
                with self.clock.limited():
                    returned = update(*said, **given)
                before = self._taken(returned, before)
                states.append(_plain(before))
                self.tick(len(states))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A tracker's exit, a cancelled task or a generator that was closed is its own affair: the run goes on.
            told = _told(error)
            return Failure(dialogue.id, dialogue.turns[len(states)].number, told, _trace(error))
        return states

    def _given(self, dialogue: Dialogue, states: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """What the tracker asks for beside the utterances of a turn; ``states`` grow meanwhile."""
        needs = self.tracker.needs
        said = _said(dialogue)
        references = [{}, *reference_states(dialogue)] if self.tracker.forced else []
        for number in range(len(said)):
            given: dict[str, Any] = {"history": said[:number]} if "history" in needs else {}
            if "own-state" in needs:
                given["state"] = deepcopy(states[-1]) if states else {}
            elif "ref-state" in needs:
                given["state"] = references[number]
            yield given

    def _taken(self, returned: Any, before: Mapping[str, Value]) -> dict[str, Value]:
        """What the tracker returned, as a whole flat state. Raises DstevalError for what is none."""
        if not isinstance(returned, Mapping):
            expected = "a dictionary of slots and values, or an Update"
            raise DstevalError(where="returned", expected=expected, found=_of_type(returned))
        flattener = Flattener("")
        items = flattener.items(returned, "", 0)
        _check_values(flattener.problems)
        own: dict[str, tuple[str, Value]] = {}
        for slot, value in items:
            key = canonical(slot)
            if self.slots is not None and key not in self.slots:
                raise _unknown_slot(slot, list(self.slots.values()))
            if key in own and own[key][1] != value:
                raise DstevalError(
                    where=f"slot {slot!r}", expected="one value", found=f"{own[key][1]!r} and {value!r}"
                )
            own[key] = (slot, value)
            # Half a character, as a tokeniser may leave it, could not be written.
            "".join((slot, *(value if isinstance(value, tuple) else (value or "",)))).encode()
        update = isinstance(returned, Update)
        state = {canonical(slot): (slot, value) for slot, value in before.items()} if update else {}
        for key, item in own.items():
            state.pop(key, None)
            if not (is_deletion(item[1]) if update else item[1] is None) and item[1] != ():
                state[key] = item
        return dict(state.values())


def _said(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.system or "", turn.user or "") for turn in dialogue.turns]


def _unknown_slot(slot: str, known: list[str]) -> DstevalError:
    from difflib import get_close_matches

    near = get_close_matches(canonical(slot), list(map(canonical, known)), n=1)
    return DstevalError(
        where=f"slot {slot!r}",
        expected=f"one of the {len(known)} slots of the data",
        found="another",
        remedy=f"Did you mean {near[0]!r}?" if near else "Give the list with --slots FILE if it lacks one.",
    )


def _check_values(problems: Problems) -> None:
    if problems.first:
        told = dict(problems.first)
        slot = told["where"].rpartition("slot ")[2] if "slot " in told["where"] else ""
        raise DstevalError(**{**told, "where": f"slot {slot}" if slot else "returned"})


def _plain(state: Mapping[str, Value]) -> dict[str, Any]:
    """A copy for others to keep or to change; sets of values as lists."""
    return {slot: list(value) if isinstance(value, tuple) else value for slot, value in state.items()}


def _of_type(value: object) -> str:
    return "nothing (None)" if value is None else f"{shown(value)}, of type {type(value).__name__}"


def _told(error: BaseException) -> str:
    """An error in one line: its type alone where it cannot say more."""
    name = "" if isinstance(error, _TimeUp) else type(error).__name__
    try:
        if isinstance(error, DstevalError):
            return str(error)
        first = str(error).strip().split("\n")[0]
    except KeyboardInterrupt:
        raise
    except BaseException:  # a tracker's own exception, whose __str__ is its code too
        return name
    return ": ".join(filter(None, (name, first)))


def _trace(error: BaseException) -> str:
    """The traceback, or nothing where the error's own methods do not let it be written."""
    try:
        return "".join(traceback.format_exception(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""
