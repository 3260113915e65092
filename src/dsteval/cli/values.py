"""Types of arguments and options: what values they take, and what the shell completes."""

import glob
import os
from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from dsteval.errors import OptionError, unknown


class OneOf(click.types.StringParamType):
    """One of several words. Suggests the nearest for a wrong one."""

    def __init__(self, choices: Iterable[str]) -> None:
        self.choices = list(choices)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The choices, as ``--help`` shows them; click before 8.2 gives no context."""
        return "[" + "|".join(self.choices) + "]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word itself. Raises OptionError where it is none of the choices."""
        if value not in self.choices:
            label = param and (param.opts[0] if isinstance(param, click.Option) else param.human_readable_name)
            raise OptionError(unknown(f"value of {label}", str(value), self.choices))
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The choices that begin as typed."""
        return _beginning(self.choices, incomplete)


class Text(click.types.StringParamType):
    """Any text. The shell completes ``names``, which are made when they are needed, and names of ``files``."""

    def __init__(self, names: Callable[[], Iterable[str]] = tuple, *, files: bool = False) -> None:
        self.names, self.files = names, files

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin as typed, and files."""
        return _beginning(self.names(), incomplete) + (_files(incomplete) if self.files else [])


def _beginning(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The words that begin as typed, NAME/SPLIT only once NAME is typed."""
    found = (word for word in words if word.startswith(incomplete))
    return [CompletionItem(word) for word in found if "/" not in word or incomplete.startswith(word.split("/")[0])]


def _files(incomplete: str) -> list[CompletionItem]:
    """A request that the shell complete the name of a file. After NAME= it cannot, so the files are listed.

    Bash takes NAME and PATH for two words and completes PATH as any other.
    """
    name, equals, path = incomplete.partition("=")
    if not (name and equals) or "/" in name or glob.glob(f"{glob.escape(incomplete)}*"):  # noqa: PTH207
        return [CompletionItem(incomplete, type="file")]
    found = sorted(glob.glob(f"{glob.escape(path)}*"))  # noqa: PTH207
    return [CompletionItem(f"{name}={file}{os.sep if os.path.isdir(file) else ''}") for file in found]  # noqa: PTH112


def metrics() -> list[str]:
    """Names of metrics; FGA and the like with a lambda in common use."""
    from dsteval import metrics as known

    return [f"{name}@0.5" if known.find(name).number_about else name for name in known.names()]


def protocols() -> list[str]:
    """Names of protocols."""
    from dsteval.protocols import model

    return model.names()


def readers() -> list[str]:
    """Names of readers, which are those of formats."""
    from dsteval import readers as known

    return known.names()


def trackers() -> list[str]:
    """Names of trackers."""
    from dsteval.track.tracker import TRACKERS

    return TRACKERS.names()


def data_sets() -> list[str]:
    """Names of data sets, and of their splits."""
    from dsteval.data import catalogue

    sets = catalogue.load().items()
    return [text for name, one in sets for text in (name, *(f"{name}/{split}" for split in one.splits))]


FILE = Text(files=True)
METRIC = Text(metrics)
PROTOCOL = Text(protocols, files=True)
FORMAT = Text(readers)
TRACKER = Text(trackers)
DATA_SET = Text(data_sets)
DATA = Text(data_sets, files=True)
"""A file, a folder or a data set."""
