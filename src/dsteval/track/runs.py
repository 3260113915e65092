"""Runs a tracker over dialogues, one after the other, and loses none when it breaks half-way."""

import signal
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsteval.dialogue import Dialogue, Value
from dsteval.errors import DstevalError, require
from dsteval.readers.base import Flattener, shown
from dsteval.readers.jsonl_writer import lines
from dsteval.track.dialogues import Material, reference_states
from dsteval.track.run_file import encoded, header, opened
from dsteval.track.tracker import Loaded, Update, in_one_line
from dsteval.values.normalise import is_deletion
from dsteval.values.slots import canonical

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
class TrackerRun:
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
) -> TrackerRun:
    """Run a tracker over all dialogues that ``out`` does not hold yet.

    Each finished dialogue is appended to ``out``, lines of our JSONL with ``ref`` and ``pred``, and is on the disk
    before the next begins. A dialogue in which the tracker fails is named, and has no ``pred`` there; the others
    go on. Ctrl-C ends the run, and what is finished stays. ``timeout`` are the seconds that one turn may take: the
    tracker is interrupted where it runs Python, sleeps or waits, not inside a call into C that does not return. It
    works in the main thread of POSIX systems. Raises OptionError where ``out`` belongs to another run or cannot be
    written, and where a timeout is not possible.
    """
    needed = "reference states, as the tracker needs (ref-state)"
    require(material.referenced or not tracker.forced, material.name, needed, "none")
    if timeout is not None:
        require(0 < timeout < 1e8, "--timeout", "a number of seconds above 0", f"{timeout:g}")
        timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        require(timed, "--timeout", "the main thread of a POSIX system", "a system or thread without timers")
    slots = dict.fromkeys(map(canonical, material.slots or ()))
    came = TrackerRun(header(material, tracker, nested))
    with opened(Path(out), came.header, material, restart) as (done, append):
        came.before = len(done)
        turns = sum(len(dialogue.turns) for dialogue in material.dialogues if dialogue.id in done)

        def tick(more: int) -> None:
            if progress is not None:
                progress(completed=turns + more, dialogues=came.before + came.tracked, failures=len(came.failures))

        tick(0)
        failed: list[Dialogue] = []
        try:
            for dialogue in (one for one in material.dialogues if one.id not in done):
                tracked = _tracked(dialogue, tracker, timeout, slots, tick)
                if isinstance(tracked, Failure):
                    came.failures.append(tracked)
                    failed.append(dialogue)
                else:
                    append(encoded(dialogue, tracked, nested, tracker.forced))
                    came.tracked += 1
                turns += len(dialogue.turns)
                tick(0)
            append(b"".join(lines(failed)))
        except KeyboardInterrupt:
            came.interrupted = True
    return came


class _TimeUp(BaseException):
    """Not an Exception, so that a tracker which survives its own errors does not survive this one."""


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise _TimeUp inside when the time is up, and again each second after."""
    if seconds is None:
        yield
        return

    def ring(number: int, frame: Any) -> None:
        raise _TimeUp(f"took longer than {seconds:g} seconds (--timeout)")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_State = dict[str, tuple[str, Value]]
"""A state by canonical slots: the slot as the tracker spells it, and the value."""


def _tracked(
    dialogue: Dialogue, tracker: Loaded, timeout: float | None, slots: Collection[str], tick: Callable[[int], None]
) -> list[dict[str, Any]] | Failure:
    """The state of each turn, flat; or how the tracker failed.

    ``slots`` are the canonical names of those that there are, if known; ``tick`` is told of each turn.
    """
    states: list[dict[str, Any]] = []
    said = [(turn.system or "", turn.user or "") for turn in dialogue.turns]
    state: _State = {}
    try:
        with _limited(timeout):
            update = tracker.start(dialogue.id)
        references = [{}, *reference_states(dialogue)] if tracker.forced else []
        for number, utterances in enumerate(said):
            given: dict[str, Any] = {"history": said[:number]} if "history" in tracker.needs else {}
            if "own-state" in tracker.needs:
                given["state"] = _flat(state)
            elif tracker.forced:
                given["state"] = references[number]
            with _limited(timeout):
                returned = update(*utterances, **given)
            state = _taken(returned, state, slots)
            states.append(_flat(state))
            tick(len(states))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A tracker's exit, a cancelled task or a generator that was closed is its own affair: the run goes on.
        text = _tried(_one_line, error) or type(error).__name__
        trace = _tried(traceback.format_exception, error)
        return Failure(dialogue.id, dialogue.turns[len(states)].number, text, trace)
    return states


def _taken(returned: Any, before: _State, slots: Collection[str]) -> _State:
    """What the tracker returned, as a whole flat state. Raises DstevalError for what is none."""
    if not isinstance(returned, Mapping):
        kind = f"{shown(returned)}, of type {type(returned).__name__}"
        found = "nothing (None)" if returned is None else kind
        expected = "a dictionary of slots and values, or an Update"
        raise DstevalError(where="returned", expected=expected, found=found)
    flattener = Flattener("")
    items = flattener.items(returned, "", 0)
    if problem := flattener.problems.first:
        _, word, slot = problem["where"].rpartition("slot ")
        raise DstevalError(**{**problem, "where": word + slot if word else "returned"})
    changes: _State = {}
    for slot, value in items:
        key = canonical(slot)
        if slots and key not in slots:
            raise _unknown_slot(slot, slots)
        value = _plain(value)
        same = changes.setdefault(key, (slot, value))[1] == value
        require(same, f"slot {slot!r}", "one value", f"{changes[key][1]!r} and {value!r}", DstevalError)
        changes[key] = slot, value
        # Half a character, as a tokeniser may leave it, could not be written.
        "".join((slot, *(value if isinstance(value, tuple) else (value or "",)))).encode()
    is_update = isinstance(returned, Update)
    state = {slot: item for slot, item in before.items() if slot not in changes} if is_update else {}
    for key, (slot, value) in changes.items():
        if not (is_deletion(value) if is_update else value is None) and value != ():
            state[key] = slot, value
    return state


def _plain(value: Value) -> Value:
    """The value without classes of a tracker's own, which may be texts that no file takes."""
    if isinstance(value, tuple):
        return tuple("".join(part) for part in value)
    return None if value is None else "".join(value)


def _flat(state: _State) -> dict[str, Any]:
    """A copy for others to keep or to change; sets of values as lists."""
    return {slot: [*value] if isinstance(value, tuple) else value for slot, value in state.values()}


def _unknown_slot(slot: str, known: Collection[str]) -> DstevalError:
    from difflib import get_close_matches

    near = get_close_matches(canonical(slot), known, n=1)
    expected = f"one of the {len(known)} slots of the data"
    remedy = (
        f"Did you mean {near[0]!r}?" if near else "Give a complete list with --slots FILE if a slot is missing."
    )
    return DstevalError(where=f"slot {slot!r}", expected=expected, found="another", remedy=remedy)


def _one_line(error: BaseException) -> str:
    if isinstance(error, DstevalError):
        return error.command_line
    return str(error) if isinstance(error, _TimeUp) else in_one_line(error)


def _tried(text: Callable[[BaseException], Iterable[str]], error: BaseException) -> str:
    """What is said of an error; nothing where its own methods, which are the tracker's code too, fail."""
    try:
        return "".join(text(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""
