"""JSON that loses nothing: decoders keep the last of two equal keys silently, so keys are counted.

A chunk of JSON whose bytes hold more keys than the decoded object is read again by the standard library
with a hook that sees every pair.
"""

import json
import re
from typing import Any, NamedTuple

import msgspec

from dsteval.errors import ReadError

# Quotes, colons and white space that would be written otherwise, and count otherwise then.
_ESCAPED = re.compile(rb"\\u00(?:2[02]|3[aA]|0[9aAdD])")


class DoubledObject(dict[str, Any]):
    """A JSON object that may name a key twice: ``items()`` has all pairs, everything else the last of a key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """All pairs, in file order."""
        return self._pairs

    def __repr__(self) -> str:
        return repr(self._pairs)


class JsonChunk(NamedTuple):
    """A decoded piece of JSON and whether some object in it named a key twice; then all are DoubledObjects."""

    value: Any
    doubled: bool


def keys_in_bytes(data: bytes) -> int:
    """At least as many as there are keys: quotes before a colon, whatever white space is between them.

    A text may hold an escaped quote before a colon; then the count is too high, never too low.

    >>> keys_in_bytes(b'{"a": 1, "a" : {"b":2}}')
    3
    """
    return data.translate(None, b" \t\r\n").count(b'":')


def _has_all_keys(data: bytes, value: Any) -> bool:
    """Whether bytes name no more keys than what was decoded from them, once that is written as bytes again."""
    if _ESCAPED.search(data):
        return False
    try:
        return keys_in_bytes(data) == keys_in_bytes(msgspec.json.encode(value))
    except (ValueError, msgspec.EncodeError, RecursionError):  # half a character, or nested too deep
        return False


def decode(data: Any, where: str) -> JsonChunk:
    """Decode a piece of JSON, or pass a Python object on. Raises ReadError for what is not JSON."""
    if isinstance(data, msgspec.Raw):
        data = bytes(data)
    if not isinstance(data, bytes):
        return JsonChunk(data, False)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise explain_failure(data, where, error, line=False) from None
    if _has_all_keys(data, value):
        return JsonChunk(value, False)
    pairs = decode_pairs(data)
    return JsonChunk(pairs, True) if _has_double(pairs) else JsonChunk(value, False)


def decode_pairs(data: bytes) -> Any:
    """Decode JSON with every object as a DoubledObject."""
    return json.loads(data, object_pairs_hook=DoubledObject)


def plain(value: Any) -> Any:
    """The value with every object as a plain dictionary, for a look at its shape."""
    if isinstance(value, DoubledObject):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def _has_double(value: Any) -> bool:
    if isinstance(value, DoubledObject):
        return len(value) < len(value.items()) or any(_has_double(inner) for _, inner in value.items())
    return isinstance(value, list) and any(map(_has_double, value))


def explain_failure(data: bytes, where: str, error: Exception, line: bool = True) -> ReadError:
    """Why bytes are not JSON, with line and column; a piece whose line ``where`` names has its column only."""

    def place(number: int, column: int) -> str:
        return f"line {number}, column {column}" if line else f"column {column}"

    def place_of(at: int) -> str:
        return place(data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at))

    constants: list[str] = []  # NaN, Infinity and -Infinity, which strict JSON does not have
    try:
        json.loads(data, parse_constant=constants.append)
    except json.JSONDecodeError as broken:
        found = f"{broken.msg.removesuffix(' at')} at {place(broken.lineno, broken.colno)}"
    except UnicodeDecodeError as broken:
        found = f"a byte that is not UTF-8 at {place_of(broken.start)}"
    except RecursionError:
        found = "objects or lists that are nested too deeply"
    except ValueError:  # Python refuses to read integers of thousands of digits
        found = "a number that is too large"
    else:
        found = str(error)
    if constants:
        word = re.search(rb"(?<![\w\"])" + re.escape(constants[0].encode()) + rb"(?![\w\"])", data)
        found = f"{constants[0]} at {place_of(word.start() if word else 0)}"
        return ReadError(where=where, found=f"invalid JSON: {found}", remedy="Write null or leave it out.")
    return ReadError(where=where, found=f"invalid JSON: {found}")
