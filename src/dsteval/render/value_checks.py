"""Facts about values as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dsteval.analysis.value_checks import Fact
from dsteval.analysis.value_counts import ValueExample
from dsteval.errors import printable

__all__ = ["fact_lines"]

_SHOWN = 3


def fact_lines(name: str, facts: Iterable[Fact]) -> Iterator[str]:
    """A heading with the file's name and a line for each fact, with its first examples below; nothing for none.

    What protocols do about it is told once for facts that have that in common.
    """
    told: set[str] = set()
    for fact in facts:
        if not told:
            yield f"{name}: its values"
        yield printable(f"  {fact.kind}  {fact.about}" + (f" ({fact.advice})" if fact.advice not in told else ""))
        told.add(fact.advice)
        for example in fact.examples[:_SHOWN]:
            yield f"    {_line(example)}"


def _line(example: ValueExample) -> str:
    values = " / ".join("nothing" if value is None else repr(value) for value in example.values)
    times = f" ({example.count} times)" if example.count > 1 else ""
    return printable(f"dialogue {example.dialogue!r}, turn {example.turn}: {example.slot} {values}{times}")
