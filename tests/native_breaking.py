"""Breaks files at random: bytes, lines, tokens, keys named twice, nodes of JSON put elsewhere, unknown words."""

import json
import random
import re
from typing import Any

JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|NaN|[\[\]{}:,]')
TEXT_TOKEN = re.compile(rb"[^\t\n,;:]+|[\t\n,;:]")
KEY = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*')
ODD = [
    *b'null true false NaN Infinity -0 -1 0 1 7 1.5 1e999 1e-999 [] {} [[]] [{}] {"":""}'.split(),
    *b'{"a":{"b":{"c":"d"}}} "" "none" "0" "1" "00" "-" "a-b" "a-b-c" "x|y" "|" "{{}}"'.split(),
    *b'"\\ud800" "\\u0000" "\\u2028" "\\u0661" [null] [1,2] ["north","east"] [true] "dontcare"'.split(),
    *b'"[DELETE]" "hotel-area" "hotel-Area" "_" "x_1" "__" "gt" "state"'.split(),
    b'"not mentioned"',
    b'" 0 "',
    b"9" * 25,
    b"9" * 4400,
    b'"' + b"9" * 4400 + b'"',
    b"[" * 3000,
    b'{"a":' * 1200 + b"1" + b"}" * 1200,
    b'"' + b"long" * 50 + b'"',
]
BYTES = b"{}[]\",:\\\n\r\t\x00\xff\xc3\xef\xbb\xbf-_|;0123456789aE'#\x1b"


def flip(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        found[rng.randrange(len(found))] = rng.choice(BYTES)
    return bytes(found)


def cut(rng: random.Random, data: bytes) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice([data[:b], data[a:], data[:a] + data[b:], data[:b] + data[a:]])


def by_lines(rng: random.Random, data: bytes) -> bytes:
    rows = data.splitlines(keepends=True)
    a, b = rng.randrange(len(rows)), rng.randrange(len(rows))
    change = rng.randrange(4)
    if change == 0:
        del rows[a]
    elif change == 1:
        rows.insert(b, rows[a])
    elif change == 2:
        rows[a], rows[b] = rows[b], rows[a]
    else:
        rows.insert(a, rng.choice([b"\n", b"  \n", b"# x\n", b"----------------------\n", rows[b].strip()]))
    return b"".join(rows)


def by_tokens(rng: random.Random, data: bytes) -> bytes:
    """A token replaced by an odd one or another of the file, taken out, doubled, or two exchanged."""
    is_json = data.lstrip()[:1] in (b"{", b"[") or rng.random() < 0.2
    tokens = list((JSON_TOKEN if is_json else TEXT_TOKEN).finditer(data))
    if not tokens:
        return flip(rng, data)
    one, other = rng.choice(tokens), rng.choice(tokens)
    new = rng.choice([rng.choice(ODD), other[0], b"", one[0] + other[0], one[0] + b", " + one[0], rng.choice(ODD)])
    return data[: one.start()] + new + data[one.end() :]


def double_key(rng: random.Random, data: bytes) -> bytes:
    """A key named twice, with the value of another one or an odd one."""
    keys = list(KEY.finditer(data))
    if not keys:
        return by_tokens(rng, data)
    one = rng.choice(keys)
    try:
        _, end = json.JSONDecoder().raw_decode(data[one.end() :].decode("utf-8", "replace"))
        own = data[one.end() :].decode("utf-8", "replace")[:end].encode()
    except (ValueError, RecursionError):
        own = b'"x"'
    value = rng.choice([own, own, rng.choice(ODD), b"{}", b"[]", b'"north"'])
    return data[: one.start()] + one[0] + value + b", " + data[one.start() :]


def by_structure(rng: random.Random, data: bytes) -> bytes:
    """A node of the JSON taken out, put elsewhere, or replaced."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return by_tokens(rng, data)
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        places += [(node, key) for key in keys]
        waiting += [node[key] for key in keys]
    if not places:
        return flip(rng, data)
    (node, key), (from_node, from_key) = rng.choice(places), rng.choice(places)
    taken = json.dumps(from_node[from_key])
    if rng.random() < 0.3:
        del node[key]
    elif isinstance(node, dict) and rng.random() < 0.4:
        node[rng.choice([str(from_key), "0", "x", f"{key}.json", str(key).lower(), f" {key}"])] = node.pop(key)
    else:
        node[key] = (
            json.loads(taken) if rng.random() < 0.6 else rng.choice([None, 3, 1.5, True, "", "x|y", [], {}])
        )
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


VALUES = [b"north", b"rose-garden", b"friday", b"dontcare", b"none", b"do n't care", b"not mentioned"]
OTHERS = [*VALUES, b"", b"NORTH", b"north|east", b"east>north", b"rose garden", b" friday ", b"7", b"don't  care"]
OTHERS += ["caf\u00e9".encode(), "cafe\u0301".encode(), "nor\u200bth".encode(), "\ufeffnorth".encode()]
OTHERS += [
    b"[DELETE]",
    b"<|endoftext|>",
    b"</s>",
    b"[PAD] north",
    b"null",
    b"N/A",
    b"unknown",
    b"?",
    "未提及".encode(),
]
UNKNOWN = [b"zzyzx", b"[zzyzx]", b"<zzyzx>", b"value_zzyzx", b"zzyzx-zzyzx", b"Zzyzx", "zzyzx\u0301".encode()]
WORD = re.compile(rb"[A-Za-z_]{3,}")
BRACKETS = [(b"[", b"]"), (b"<", b">"), (b"(", b")"), (b"{", b"}"), (b"", b"")]


def by_values(rng: random.Random, data: bytes) -> bytes:
    """Another value that a tracker may write: most formats still read the file."""
    for _ in range(rng.randrange(1, 4)):
        old = rng.choice([value for value in VALUES if value in data] or [data[:1]])
        at = data.find(old, rng.randrange(len(data) or 1))
        if at >= 0:
            data = data[:at] + rng.choice(OTHERS) + data[at + len(old) :]
    return data or b" "


def by_words(rng: random.Random, data: bytes) -> bytes:
    """A word of the file, be it domain, slot, key or value, that no format knows, everywhere or once."""
    words = list(WORD.finditer(data))
    if not words:
        return flip(rng, data)
    one, new = rng.choice(words), rng.choice(UNKNOWN)
    if rng.random() < 0.3:
        return re.sub(rb"(?<![A-Za-z_])" + one[0] + rb"(?![A-Za-z_])", lambda _: new, data)
    return data[: one.start()] + new + data[one.end() :]


def by_brackets(rng: random.Random, data: bytes) -> bytes:
    """Words in brackets of another kind, as other tools mark domains and slots."""
    marked = list(re.finditer(rb"([\[<(])(\w+)([\])>])", data))
    if not marked:
        return by_words(rng, data)
    left, right = rng.choice(BRACKETS)
    if rng.random() < 0.5:
        one = rng.choice(marked)
        return data[: one.start()] + left + one[2] + right + data[one.end() :]
    return re.sub(rb"[\[<(](\w+)[\])>]", lambda found: left + found[1] + right, data)


OPERATIONS = [
    by_words,
    by_words,
    by_brackets,
    flip,
    cut,
    by_lines,
    by_tokens,
    by_tokens,
    double_key,
    *[by_structure] * 3,
    *[by_values] * 5,
]


def broken(rng: random.Random, data: bytes) -> bytes:
    """The data after one operation or a few; never empty."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        data = rng.choice(OPERATIONS)(rng, data) or b" "
    return data
