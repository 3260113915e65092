"""Where a command's results go: stdout, or a file that is there whole or not at all."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TextIO

import click

from dsteval.cli.messages import is_quiet, note
from dsteval.errors import OptionError
from dsteval.files import replacing
from dsteval.render.table import FORMS, Table
from dsteval.results.result import to_json

_SUFFIXES = {".txt": "text", ".json": "json", ".csv": "csv", ".md": "md", ".tex": "latex"}


def emit(
    tables: list[Table],
    document: Any,
    text: Callable[[Any], None] | None = None,
    remarks: Iterable[str] = (),
    compact: bool = False,
) -> None:
    """Write tables, or the JSON document, in the form asked for, to stdout or a file.

    ``text`` prints the text form where that is more than tables. ``remarks`` go to stderr with CSV, which has no
    place for them; the other forms hold them. ``compact`` JSON goes into a file on few lines. ``--quiet`` leaves
    the notes below tables out.
    """
    form, out = form_of(), click.get_current_context().meta.get("out")
    for remark in remarks if form == "csv" else ():
        note(remark)
    if is_quiet():
        tables = [replace(table, notes=()) for table in tables]
    if form == "text":
        from dsteval.render.terminal import show  # rich takes a while to load, and only people need it

        printed = text or partial(show, tables)
        if out is None and sys.stdout is not None and sys.stdout.isatty():
            printed(sys.stdout)
            return
        printed(buffer := io.StringIO())
        written = "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))
    elif form == "json":
        written = to_json(document, indent=0 if out is not None and compact else 2)
        if out is None and not _is_utf8(sys.stdout):
            written = json.dumps(json.loads(written), indent=2) + "\n"
    else:
        written = "\n".join(FORMS[form](table) for table in tables if form != "csv" or not table.in_tidy)
    put(written)


def put(text: str) -> None:
    """Write a command's result to stdout, or to the file that ``--out`` names."""
    data, out = text.encode("utf-8", "backslashreplace"), click.get_current_context().meta.get("out")
    if out is None:
        to_stdout(data)
    else:
        write("--out", out, data)


def _is_utf8(stream: TextIO | None) -> bool:
    return stream is not None and (stream.encoding or "").casefold().replace("-", "") == "utf8"


def form_of() -> str:
    """The form of the output, as asked for or by the suffix. Raises OptionError for a suffix that has none."""
    form, out = map(click.get_current_context().meta.get, ("form", "out"))
    if form is not None or out is None:
        return form or "text"
    suffix = Path(out).suffix
    if suffix not in _SUFFIXES:
        expected, remedy = f"one of the suffixes {', '.join(_SUFFIXES)}", "Or set the format with --as."
        raise OptionError(where=f"--out {out}", expected=expected, found=repr(suffix), remedy=remedy)
    return _SUFFIXES[suffix]


def to_file() -> bool:
    """Whether the output goes into a file."""
    return click.get_current_context().meta.get("out") is not None


def to_stdout(data: bytes) -> None:
    """Write UTF-8 to stdout, in its own encoding where that is another; what it lacks is escaped.

    Raises OptionError where stdout cannot be written.
    """
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        if not _is_utf8(sys.stdout):
            data = data.decode().encode(sys.stdout.encoding or "ascii", "backslashreplace")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable("standard output", error.strerror or str(error)) from None


@contextmanager
def replaced(out: str, option: str = "--out") -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of ``out`` once it is complete; ``out`` stays as it was until then.

    A link is followed, permissions are kept, and what is no regular file, like a pipe, is written as it is. Raises
    OptionError where that cannot be done, which names the ``option``.
    """
    place = Path(os.path.realpath(out))
    try:
        special = place.exists() and not place.is_file()
        with place.open("wb") if special else replacing(place) as file:
            yield file
    except OSError as error:
        raise unwritable(f"{option} {out}", error.strerror or str(error)) from None


def write(option: str, out: str, data: bytes) -> None:
    """Write a whole file, as ``replaced`` does."""
    with replaced(out, option) as file:
        file.write(data)


def unwritable(where: str, why: str) -> OptionError:
    """The error for a place that cannot be written."""
    return OptionError(f"cannot be written ({why})", where=where)


def append(option: str, out: str, data: bytes) -> None:
    """Add lines to the end of a file, in one piece, after an empty line if there are others."""
    try:
        with Path(out).open("ab") as file:
            file.write(b"\n" + data if file.tell() else data)
    except OSError as error:
        raise unwritable(f"{option} {out}", error.strerror or str(error)) from None
