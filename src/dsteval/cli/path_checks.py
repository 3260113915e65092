"""Where a command may write: not over an input, not two outputs into one file, and only where it can."""

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dsteval.cli.options import open_named
from dsteval.cli.output_files import form_of, unwritable
from dsteval.errors import OptionError

# The parameters, of any command, that may name what is read: dialogues, results and ratings, then all else.
_INPUTS = ["files", "file", "source", "items", "other", "ref", "against", "rated", "key"]
_INPUTS += ["variants", "ontology", "schema", "train_schema", "slots", "protocol", "only"]

_ANOTHER = "Choose another path."


def check_places(*outputs: str) -> None:
    """Raise OptionError where a parameter in ``outputs`` names a place that this command cannot write to.

    That is the place of an input, or of another output, or one that is not there. A command calls this before it
    reads or writes anything: nothing is left behind of outputs of which a later one fails.
    """
    check_inputs(*outputs)
    form_of()
    seen: dict[str, str] = {}
    check_writable(*outputs)
    for label, place in _given(outputs):
        twin = next((other for other, taken in seen.items() if _same(taken, place)), None)
        if twin is not None:
            raise OptionError(f"the same file as {twin}", where=f"{label} {place}", remedy=_ANOTHER)
        seen[label] = place


def check_writable(*outputs: str) -> None:
    """Raise OptionError where a parameter in ``outputs`` names a place that cannot be written."""
    for label, place in _given(outputs):
        if why := _unavailable_reason(place):
            raise unwritable(f"{label} {place}", why)


def check_kept(place: str, *inputs: str) -> None:
    """Raise OptionError where a place that a command writes beside its output is what a parameter reads."""
    for other, text in _given(inputs):
        if _there(place) and any(_holds(path, place) for path in _paths(text)):
            raise _overwrites(f"--out, which writes {place}", other, text)


def check_inputs(*outputs: str) -> None:
    """Raise OptionError where a parameter in ``outputs`` names what another one reads."""
    for label, place in _given(outputs):
        if not _there(place):
            continue  # what is not there yet is nobody's input
        for other, text in _given([name for name in _INPUTS if name not in outputs]):
            if any(_holds(path, place) for path in _paths(text)):
                raise _overwrites(f"{label} {place}", other, text)


def _overwrites(where: str, other: str, text: str) -> OptionError:
    return OptionError(f"would overwrite the input ({other} {text})", where=where, remedy=_ANOTHER)


def typed(*names: str) -> list[str]:
    """Which of some options were typed, as they are typed."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return [_label(name) for name in names if context.get_parameter_source(name) is source]


def _given(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Label and text of every parameter among some that names something."""
    context = click.get_current_context()
    for name in names:
        value = context.params.get(name, context.meta.get(name))
        for text in (value,) if isinstance(value, str) else value or ():
            yield _label(name), text


def _label(name: str) -> str:
    command = click.get_current_context().command
    param = next(param for param in command.params if param.name == name)
    return max(param.opts, key=len) if isinstance(param, click.Option) else (param.metavar or name).strip("[].")


def _paths(text: str) -> Iterator[Path]:
    """What an input may be on disk: as written, after NAME=, and for FOLDER/test the folder or the archive."""
    if text == "-":
        return
    for name in dict.fromkeys((text, open_named(text)[1])):
        path = Path(name)
        if _there(name):
            yield path
        elif glob.has_magic(name):
            yield from map(Path, glob.glob(name))  # noqa: PTH207 - as a source finds them
        elif not path.suffix and path.parent != Path() and _there(str(path.parent)):
            yield path.parent


def _there(text: str) -> bool:
    return os.path.exists(text)  # noqa: PTH110 - Path.exists raises for a name that is too long


def _holds(path: Path, place: str) -> bool:
    """Whether an input is a place, or a folder that is read with it."""
    try:
        return _same(str(path), place) or (
            path.is_dir() and any(one.is_file() and _same(str(one), place) for one in path.iterdir())
        )
    except OSError:  # reading it will say why
        return False


def _same(one: str, other: str) -> bool:
    """Whether two names lead to one file; what is neither file nor folder, like /dev/null, takes both."""
    if _there(one) and _there(other):
        return Path(one).samefile(other) and (Path(one).is_file() or Path(one).is_dir())
    return os.path.realpath(one) == os.path.realpath(other)


def _unavailable_reason(place: str) -> str:
    """Why nothing can be written to a place, in the system's words; empty where it can be."""
    try:
        real = Path(os.path.realpath(place))
        if real.is_dir():
            return os.strerror(errno.EISDIR)
        if not real.parent.is_dir():
            real.parent.stat()
            return os.strerror(errno.ENOTDIR)
        # A file is replaced by another in its folder; a pipe is written as it is.
        target = real if real.exists() and not real.is_file() else real.parent
        return "" if os.access(target, os.W_OK) else os.strerror(errno.EACCES)
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte in it
        return getattr(error, "strerror", None) or str(error)
