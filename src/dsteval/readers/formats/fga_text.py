"""The FGA paper's human-evaluation text: one file a dialogue, utterances and both states of each turn."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import ReadError
from dsteval.readers.base import Flattener, Grouped, Options, Reader, Sign, shown, turn_number
from dsteval.readers.json_pairs import DoubledObject
from dsteval.readers.source import Source

_DIALOGUE = re.compile(r"Dialogue ID\s*:\s*(\S+)\s*$")
_FIELD = re.compile(r"(Turn|Sys|Usr|GT|PR|Matched)\s*:(.*)$", re.DOTALL)
_RULE = re.compile(r"-{5,}\s*$")


class _FgaText(Reader):
    """Reads 'Dialogue ID', then blocks of Turn, Sys, Usr, GT, PR and Matched; states are Python literals.

    An empty GT is written ``{{}}``. ``Matched`` says whether both states are equal and must agree with them.
    """

    name = "fga-text"
    about = "the FGA paper's human-evaluation text files, one per dialogue; a file or a folder"

    def sniff(self, source: Source) -> Sign | None:
        """A first line 'Dialogue ID : ...'."""
        first = source.parts[0].head[:200].lstrip()
        return Sign("a first line 'Dialogue ID :'") if re.match(rb"Dialogue ID\s*:", first) else None

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        """The dialogue of the file."""
        lines = source.text_lines()
        head = _DIALOGUE.match(lines[0].strip())
        if not head:
            raise _refusal(source.name, 1, "'Dialogue ID : NAME'", repr(lines[0][:60]))
        turns = Grouped(source.name)
        turns.turns[head[1]] = []
        for block in _blocks(lines):
            turns.add(head[1], _turn(source.name, block, head[1], turns))
        turns.problems.check(turns.total)
        return turns.dialogues(options.updated())


def _blocks(lines: list[str]) -> Iterator[list[tuple[int, str]]]:
    """Numbered lines between rules of hyphens, without the head and blocks of blank lines."""
    rules = [at for at, line in enumerate(lines) if _RULE.match(line)]
    for start, end in pairwise([*rules, len(lines)]):
        if any(map(str.strip, lines[start + 1 : end])):
            yield list(enumerate(lines[start + 1 : end], start=start + 2))


def _fields(block: list[tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Field -> (line, text); an utterance runs on until the next field."""
    order = ["Turn", "Sys", "Usr", "GT", "PR", "Matched"]
    fields: dict[str, tuple[int, str]] = {}
    current = ""
    for number, line in block:
        field = _FIELD.match(line)
        # An utterance may itself hold a line 'Sys :': fields only ever come in this order.
        if field and field[1] in order:
            current = field[1]
            order = order[order.index(current) + 1 :]
            fields[current] = (number, field[2])
        elif current:
            fields[current] = (fields[current][0], f"{fields[current][1]}\n{line}")
    return {key: (number, text.strip()) for key, (number, text) in fields.items()}


def _turn(source: str, block: list[tuple[int, str]], dialogue: str, flattener: Flattener) -> Turn:
    fields = _fields(block)
    lacking = [key for key in ("Turn", "GT", "PR") if key not in fields]
    if lacking:
        raise _refusal(source, block[0][0], "a block with Turn, GT and PR", f"no {lacking[0]}")
    line, label = fields["Turn"]
    number = turn_number(label)
    if number is None:
        raise _refusal(source, line, "a turn number", shown(label))
    states = [_literal(source, number, *fields[key]) for key in ("GT", "PR")]
    ref, pred = (flattener.items(state, dialogue, number) for state in states)
    equal = states[0] == states[1]
    line, matched = fields.get("Matched", (0, str(equal)))
    if matched != str(equal):
        expected = f"Matched : {equal}, as GT and PR of turn {number} imply"
        raise _refusal(source, line, expected, repr(matched), "One of the three may have been edited by hand.")
    return Turn(number, ref, pred, fields.get("Sys", (0, ""))[1], fields.get("Usr", (0, ""))[1])


def _refusal(source: str, line: int, expected: str, found: str, remedy: str = "") -> ReadError:
    return ReadError(where=f"{source}, line {line}", expected=expected, found=found, remedy=remedy)


def _literal(source: str, turn: int, line: int, text: str) -> Any:
    if text.replace(" ", "") == "{{}}":
        return {}
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _refusal(source, line, f"a Python literal of a state at turn {turn}", repr(text[:60])) from None


def _value(node: Any) -> Any:
    """The value of a literal; a dictionary keeps a key that stands twice. Raises ValueError for what is none."""
    if isinstance(node, ast.Dict):
        pairs = [(_value(key), _value(value)) for key, value in zip(node.keys, node.values, strict=True)]
        if not all(isinstance(key, str) for key, _ in pairs):
            raise ValueError("a key that is not a string")
        return DoubledObject(pairs) if len(dict(pairs)) < len(pairs) else dict(pairs)
    value = ast.literal_eval(node)
    for text in value if isinstance(value, list | tuple | set) else [value]:
        if isinstance(text, str):
            text.encode()  # a lone surrogate is no text; UnicodeEncodeError is a ValueError
    return value


FGA_TEXT = _FgaText()
