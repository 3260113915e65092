"""The errors that dsteval raises, and how their messages are built.

::

    DstevalError            anything that dsteval refuses; the command line exits with 1
    +-- ReadError           a file, or a part of it, is not what its format asks for
    +-- AlignmentError      reference and predictions do not belong together
    +-- ProtocolError       an unknown protocol, or one that cannot score this input
    +-- MetricError         an unknown metric, or a parameter it does not take
    +-- OptionError         a value that an option does not take
    +-- FetchError          a data set that cannot be had

Each message is one sentence that says where, what was expected, what was found, how many of how many
are hit with the first few, and what to do.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral


class DstevalError(Exception):
    """An error with a message of one sentence.

    ``problem`` is free text; ``where``, ``expected`` and ``found`` make the usual sentence instead, and ``found``
    without ``expected`` is free text too.
    ``extent`` says how many of how many are hit, ``remedy`` what to do about it. The sentence is written with the
    options of the command line, and is so in ``command_line``; as a text it names the arguments of Python.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        where: str = "",
        expected: str = "",
        found: str = "",
        extent: str = "",
        remedy: str = "",
    ) -> None:
        self.where, self.expected, self.found, self.remedy = where, expected, found, remedy
        clauses = (problem, expected and f"expected {expected}", f"found {found}" if found and expected else found)
        sentence = (where and f"{where}: ") + ", ".join(filter(None, clauses)) + (extent and f" ({extent})")
        sentence += "." if not sentence.endswith((".", "?", "!")) else ""
        # Names come from files: one with a line break must not break the one line that a message is.
        self.command_line = printable(" ".join(f"{sentence} {remedy}".split()))
        super().__init__(in_arguments(self.command_line))

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions rebuild from their args: workers send errors home, as the finished sentence.
        return (type(self), (self.command_line,))


class ReadError(DstevalError):
    """A file, or a part of it, is not what its format asks for."""


class AlignmentError(DstevalError):
    """Reference and predictions do not belong together."""


class ProtocolError(DstevalError):
    """An unknown protocol, or one that cannot score this input."""


class MetricError(DstevalError):
    """An unknown metric, or a parameter that it does not take."""


class OptionError(DstevalError):
    """A value that an option does not take."""


class FetchError(DstevalError):
    """A data set that cannot be had, or one of its files that has the wrong content."""


def require(
    condition: object,
    where: str,
    expected: str,
    found: object,
    error: type[DstevalError] = OptionError,
    remedy: str = "",
) -> None:
    """Raise OptionError, or another error, unless a condition holds."""
    if not condition:
        raise error(where=where, expected=expected, found=str(found), remedy=remedy)


def require_known(kind: str, name: object, known: Iterable[str]) -> None:
    """Raise OptionError for a name that is not in a list."""
    names = list(known)
    if not isinstance(name, str):
        raise OptionError(where=kind, expected=f"one of {', '.join(names)}", found=repr(name))
    if name not in names:
        raise OptionError(unknown(kind, name, names))


def require_whole(where: str, value: object, taken: range, told: str) -> None:
    """Raise OptionError unless a value is a whole number in a range, as it is ``told``."""
    whole = isinstance(value, Integral) and not isinstance(value, bool) and int(value) in taken
    require(whole, where, f"an integer from {told}", repr(value))


_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z0-9-]*)"
    r"(?: ('[^']*'|\w[\w.-]*=[^\s;,]*\w|[A-Z]+\b|(?:error|empty|skip|ignore|group|slot|each|sgd|fga-trippy)\b))?"
)
_ARGUMENTS = {"set": "settings", "metric": "metrics", "target-power": "power"}


def in_arguments(text: str) -> str:
    """A sentence about options of the command line as one about arguments of Python.

    >>> in_arguments("add them, or --missing empty; --train-schema FILE, --set scope.schema=none")
    'add them, or missing="empty"; train_schema=FILE, settings=["scope.schema=none"]'
    """

    def argument(match: re.Match[str]) -> str:
        name = _ARGUMENTS.get(match[1], match[1].replace("-", "_"))
        value = (match[2] or "").strip("'")
        if not value:
            return name
        value = value if value.isupper() else f'"{value}"'
        return f"{name}=[{value}]" if name == "settings" else f"{name}={value}"

    return _OPTION.sub(argument, text)


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Raise DstevalError, naming ``what``, where code that does not come with dsteval raises or exits."""
    try:
        yield
    except DstevalError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(printable(str(error)).split())[:200]
        found = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise DstevalError(where=what, expected="code that works", found=found) from error


def encodable(text: str) -> str:
    r"""The text with what UTF-8 cannot hold escaped: the bytes of a file's name that are not UTF-8.

    >>> encodable("p" + chr(0xDCFF) + ".json")
    'p\\udcff.json'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    r"""The text with every control character escaped: what a file holds must not steer a terminal.

    >>> print(printable("a" + chr(27) + "[1mb"))
    a\x1b[1mb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def first_few(names: Iterable[object], shown: int = 3) -> str:
    """The first few of many, for a message.

    >>> first_few(["a", "b", "c", "d"])
    'first: a, b, c'
    >>> first_few(["a"])
    'a'
    """
    texts = [str(name) for name in names]
    listed = ", ".join(texts[:shown])
    return listed if len(texts) <= shown else f"first: {listed}"


def unknown(kind: str, name: str, known: Sequence[str], see: str = "") -> str:
    """The sentence for a name that is not in a list, with the nearest one that is.

    >>> unknown("metric", "JGAA", ["JGA", "AGA"], "dsteval list metrics")
    "Unknown metric 'JGAA'. Did you mean 'JGA'? See: dsteval list metrics."
    """
    from difflib import get_close_matches  # an error's business only: a start should not pay for it

    folded = {choice.casefold(): choice for choice in known}
    near = get_close_matches(str(name).casefold(), list(folded), n=1, cutoff=0.6)  # from Python it may be anything
    text = f"Unknown {kind} {name!r}."
    text += f" Did you mean {folded[near[0]]!r}?" if near else f" Known: {', '.join(known)}."
    return f"{text} See: {see}." if see and near else text


class Problems:
    """Collects what is wrong in a source, so that one message tells how much of it and where first.

    ``add`` notes a problem at a turn; ``check`` raises the first of them with the number of turns that are
    hit, once the number of all turns is known.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.first: dict[str, str] = {}
        self.places: dict[str, str] = {}  # in order, each with what was found first
        self.dialogues: set[str] = set()

    def add(
        self,
        dialogue: str,
        turn: int | None,
        *,
        slot: str = "",
        line: str = "",
        expected: str = "",
        found: str,
        remedy: str = "",
    ) -> None:
        """Note a problem; ``slot`` narrows the place, ``line`` names it where no dialogue is known."""
        place = line or f"dialogue {dialogue!r}" + ("" if turn is None else f", turn {turn}")
        if not self.places:
            where = ", ".join(filter(None, (self.source, place, slot and f"slot {slot!r}")))
            self.first = {"where": where, "expected": expected, "found": found, "remedy": remedy}
        self.places.setdefault(place, f"expected {expected}, found {found}" if expected else found)
        self.dialogues.add(dialogue)

    def check(self, total: int, unit: str = "turns") -> None:
        """Raise the first problem, if there was one, as ReadError."""
        if hit := len(self.places):
            more = f"; {first_few(self.places)}" if hit > 1 else ""
            raise ReadError(**self.first, extent=f"{hit} of {max(total, hit)} {unit}{more}")
