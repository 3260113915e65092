"""What is asked for by name: what comes with dsteval, and what other packages add by entry points."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dsteval.errors import foreign

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """The metrics, readers, protocols or trackers at hand, by name; ours win over those of other packages.

    Theirs are entry points of the group ``dsteval.KIND``. Going through all installed packages takes a while: they
    are looked for only where a name is none of ours. Each is loaded by its name, so that a broken one stops nobody
    else.
    """

    def __init__(self, kind: str, bundled: Callable[[], Mapping[str, T]]) -> None:
        self.kind = kind
        self._bundled = bundled

    @cached_property
    def bundled(self) -> dict[str, T]:
        """What comes with dsteval."""
        return dict(sorted(self._bundled().items()))

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """What other packages add, not loaded yet."""
        from importlib.metadata import entry_points  # the import alone is a tenth of a short run

        return {point.name: point for point in entry_points(group=f"dsteval.{self.kind}")}

    def names(self) -> list[str]:
        """All names, in alphabetical order."""
        return sorted({*self.bundled, *self.installed})

    def get(self, name: str) -> T | Any:
        """What the name stands for, or None."""
        if name in self.bundled:
            return self.bundled[name]
        if name not in self.installed:
            return None
        with foreign(f"{self.kind} {name!r}"):
            return self.installed[name].load()


def is_ours(thing: object) -> bool:
    """Whether a metric, a reader or the like comes with dsteval, so that it needs no guard."""
    return type(thing).__module__.startswith("dsteval.")


def instances(package: ModuleType, of: type[T]) -> Iterator[T]:
    """The instances of a class that the modules of a package hold: the folder is walked."""
    for module in pkgutil.iter_modules(package.__path__):
        for value in vars(import_module(f"{package.__name__}.{module.name}")).values():
            if isinstance(value, of):
                yield value
