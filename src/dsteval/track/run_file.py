"""The file of a run: each finished dialogue written at once, and taken up again after the run was stopped."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import msgspec

from dsteval._version import __version__
from dsteval.dialogue import Dialogue
from dsteval.errors import OptionError, ReadError, require
from dsteval.files import lock, replacing
from dsteval.readers.jsonl_writer import lines
from dsteval.track.dialogues import Material
from dsteval.track.tracker import Loaded


def header(material: Material, tracker: Loaded, nested: bool) -> dict[str, Any]:
    """What a run is: its data, its tracker, and the form of its states; OUT.run.json holds it."""
    size = {"dialogues": len(material.dialogues), "turns": material.turns}
    return {
        "dsteval": __version__,
        "data": {"name": material.name, "hash": material.hash, **size},
        "tracker": {key: getattr(tracker, key) for key in ("name", "hash", "needs", "options")},
        "nested": nested,
    }


def encoded(dialogue: Dialogue, states: Iterable[Mapping[str, Any]], nested: bool, forced: bool) -> bytes:
    """The lines of a dialogue with its predicted states.

    ``forced`` marks each line: its prediction comes from the reference's state of the turn before.
    """
    text = b""
    for line, state in zip(lines([dialogue]), states, strict=True):
        record = msgspec.json.decode(line) | {"pred": _nested(state) if nested else state}
        text += msgspec.json.encode(record | ({"forced": True} if forced else {})) + b"\n"
    return text


def _nested(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state by domain; a slot without one stays as it is.

    >>> _nested({"hotel-area": "north", "hotel-stars": "4", "food": "thai"})
    {'hotel': {'area': 'north', 'stars': '4'}, 'food': 'thai'}
    """
    nested: dict[str, Any] = {}
    for slot, value in state.items():
        *domain, name = slot.split("-", 1)
        place = nested.setdefault(domain[0], {}) if domain else nested
        place[name] = value
    return nested


def _write(file: IO[bytes], text: bytes) -> None:
    """Write a text, so that it is on the disk when this returns."""
    file.write(text)
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def opened(
    out: Path, run: Mapping[str, Any], material: Material, restart: bool = False
) -> Iterator[tuple[set[str], Callable[[bytes], None]]]:
    """The file of a run, begun or taken up again: the dialogues that it has already, and a function to append one.

    No other run has it open meanwhile. What a stopped run left half, and dialogues that failed, are taken out.
    Raises OptionError for a file of another run, unless ``restart`` deletes it first, and where it cannot be
    written; ReadError for a file that holds what no run writes.
    """
    try:
        with out.with_name(f"{out.name}.run.json").open("a+b") as beside:
            alone = lock(beside, wait=False)
            require(alone, f"--out {out}", "", "another run is writing this file")
            beside.seek(0)
            if restart or not (out.exists() and out.stat().st_size):
                _check_own(out, beside.read())
                out.unlink(missing_ok=True)
                beside.truncate(0)
                text = msgspec.json.encode(run, enc_hook=str)
                _write(beside, msgspec.json.format(text, indent=2) + b"\n")
            else:
                _check_same(out, beside.read(), run)
            done = _taken_up(out, material)
            with out.open("ab") as file:
                yield done, partial(_write, file)
    except OSError as error:
        found = error.strerror or str(error)
        raise OptionError(where=f"--out {out}", expected="a writable file", found=found) from None


_HEAD = b'{\n  "dsteval": "'


def _check_own(out: Path, text: bytes) -> None:
    """Raise OptionError where a file that is there, or the one beside it, is none that a run made."""
    own = text[: len(_HEAD)] == _HEAD[: len(text)]  # a run that was killed may have left half of it
    expected, remedy = (
        f"{out.name}.run.json as written by a run",
        "Choose another --out, or remove the file yourself.",
    )
    require(own, f"--out {out}", expected, "another file of that name", remedy=remedy)
    full = out.exists() and out.stat().st_size > 0
    found = f"an existing file without {out.name}.run.json beside it"
    require(text or not full, f"--out {out}", "a new file, or one written by a run", found, remedy=remedy)


def _check_same(out: Path, text: bytes, run: Mapping[str, Any]) -> None:
    """Raise OptionError where the file is that of another run, or of none."""
    try:
        old = msgspec.json.decode(text)
        changed = [key for key in ("data", "tracker", "nested") if _hash(old[key]) != _hash(run[key])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        expected = "a new file, or one started by this run"
        found = f"an existing file without {out.name}.run.json beside it"
        remedy = "Choose another --out, or remove the file yourself."
        raise OptionError(where=f"--out {out}", expected=expected, found=found, remedy=remedy) from None
    if changed:
        wanted, there = (", ".join(f"{key} {_label(side[key])}" for key in changed) for side in (run, old))
        expected, found = f"a file of this run, {wanted}", f"one of {there}"
        remedy = "Choose another --out, or start over with --restart."
        raise OptionError(where=f"--out {out}", expected=expected, found=found, remedy=remedy)


def _hash(part: Any) -> Any:
    return part["hash"] if isinstance(part, Mapping) else part


def _label(part: Any) -> str:
    return f"{part.get('name')}#{part['hash']}" if isinstance(part, Mapping) else str(part).lower()


def _taken_up(out: Path, material: Material) -> set[str]:
    """The finished dialogues of the file; the file is cut down to these."""
    data = out.read_bytes() if out.exists() else b""
    turns = {dialogue.id: [turn.number for turn in dialogue.turns] for dialogue in material.dialogues}
    *whole, _ = data.split(b"\n")  # after the last line end is what was half-written
    records = [(*_record(line, number, out), line) for number, line in enumerate(whole, start=1)]
    kept: list[bytes] = []
    done: set[str] = set()
    for name, group in groupby(records, key=itemgetter(0)):
        _, numbers, texts = zip(*group, strict=True)
        if name not in turns or name in done:
            found = f"dialogue {name!r}, which " + ("occurs twice" if name in done else "is not in the data")
            raise ReadError(where=str(out), expected="the dialogues of this run", found=found, remedy=_ANEW)
        if [*numbers] == turns[name]:
            done.add(name)
            kept += texts
    text = b"".join(line + b"\n" for line in kept)
    if text != data:
        with replacing(out) as file:
            _write(file, text)
    return done


_ANEW = "Start over with --restart."


def _record(line: bytes, number: int, out: Path) -> tuple[str, int]:
    """The dialogue and the turn of a line; -1 for a turn without prediction."""
    try:
        record = msgspec.json.decode(line)
        return str(record["dialogue_id"]), int(record["turn_id"]) if "pred" in record else -1
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError, ValueError):
        where, expected = f"{out}, line {number}", "a turn as written by a run"
        raise ReadError(where=where, expected=expected, found="a different line", remedy=_ANEW) from None
