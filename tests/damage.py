"""Made files of every format, and the damage that is done to them."""

import json
import random
import re
from collections.abc import Callable
from typing import Any, TypeAlias

State: TypeAlias = dict[str, Any]
Corpus: TypeAlias = dict[str, list[tuple[State, State]]]

SLOTS = ["hotel-area", "hotel-name", "hotel-book day", "restaurant-food", "taxi-leaveat"]
VALUES = ["north", "east", "North", "none", "", "dontcare", "a|b", "a > b", "7", "rosa's", 'says ":', "caf\u00e9"]
ODD = [None, True, False, 0.5, 7, -3, 1e300, 10**25, [], ["a", "b"], ["a"], [["a"]], {}, {"x": "y"}, "\ud83d"]
KEYS = ["0", "1", "01", "2", " 1", "x", "-1", "", "gt", "pr", "ref", "pred", "state", "frames", "items", "D0.json"]
SPELLINGS = ["hotel-area", "hotel-day", "Hotel-Book Day", "hotel-bookday", "taxi-leave at"]
BYTES = [*b'{}[]":,\\0129ntf \n\t\r-.eE', 0, 0xFF, 0xC3, 0xE2, 0xED]


def state(rng: random.Random) -> State:
    flat = {slot: rng.choice(VALUES) for slot in SLOTS if rng.random() < 0.4}
    if rng.random() < 0.5:
        return flat
    nested: State = {}
    for slot, value in flat.items():
        domain, _, bare = slot.partition("-")
        nested.setdefault(domain, {})[bare] = value
    return nested


def corpus(rng: random.Random) -> Corpus:
    found: Corpus = {}
    for number in range(rng.choice([1, 2, 2, 3])):
        turns: list[tuple[State, State]] = []
        for _ in range(rng.randint(1, 4)):
            ref = turns[-1][0] if turns and rng.random() < 0.4 else state(rng)
            luck = rng.random()
            pred = ref if luck < 0.4 else turns[-1][1] if turns and luck < 0.7 else state(rng)
            turns.append((ref, pred))
        found[f"d{number}"] = turns
    return found


def fga_json(rng: random.Random, made: Corpus) -> Any:
    return {name: {str(n): {"gt": r, "pr": p} for n, (r, p) in enumerate(turns)} for name, turns in made.items()}


def states_json(rng: random.Random, made: Corpus) -> Any:
    if rng.random() < 0.5:
        return {name: {str(n): pred for n, (_, pred) in enumerate(turns)} for name, turns in made.items()}
    return {name: [pred for _, pred in turns] for name, turns in made.items()}


def _records(rng: random.Random, made: Corpus, fields: Callable[[State, State], State]) -> Any:
    records = [
        {"dialogue_id": name, "turn_id": number, "user": "hm", **fields(*turn)}
        for name, turns in made.items()
        for number, turn in enumerate(turns)
    ]
    rng.shuffle(records)
    return records


def lines(rng: random.Random, made: Corpus) -> Any:
    return _records(rng, made, lambda ref, pred: {"ref": ref, "pred": pred})


def updates(rng: random.Random, made: Corpus) -> Any:
    def fields(ref: State, pred: State) -> State:
        deleted = {} if "taxi" in pred else {"taxi-leaveat": rng.choice([None, "none", "[DELETE]"])}
        return {"update": pred | (deleted if ref == pred else {})}

    return _records(rng, made, fields)


def frames_and_items(rng: random.Random, made: Corpus) -> Any:
    as_frames = rng.random() < 0.5

    def fields(ref: State, pred: State) -> State:
        frames = [{"service": "hotel", "state": {"area": "north"}, "requested": ["stars"]}]
        items = [[slot, value] for slot, value in ref.items() if isinstance(value, str)]
        return {"frames": {"ref": frames, "pred": []}} if as_frames else {"items": {"ref": items, "pred": items}}

    return _records(rng, made, fields)


def bits(rng: random.Random, made: Corpus) -> Any:
    marks = [[int(rng.random() < 0.97) for _ in range(30)] for _ in range(3)]
    return {name: {str(n): rng.choice(marks) for n in range(len(turns))} for name, turns in made.items()}


def text(rng: random.Random, made: Corpus) -> str:
    rule = "-" * 22 + "\n"
    written = f"Dialogue ID : d0.json\n{rule}"
    for number, (ref, pred) in enumerate(made["d0"]):
        shown = "{{}}" if not ref and rng.random() < 0.5 else repr(ref)
        written += f"Turn: {number}\nSys : how many ?\nUsr : three,\nplease\n\nGT  : {shown}\nPR  : {pred!r}\n\n"
        written += f"Matched : {ref == pred}\n\n{rule}"
    return written


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a decoded value."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    return [(value, key) for key, _ in pairs] + [place for _, inner in pairs for place in _places(inner)]


def _changed(rng: random.Random, value: Any) -> Any:
    """A decoded value with members replaced, renamed, copied or taken out."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 2])):
        found = _places(value)
        if not found:
            break
        container, key = rng.choice(found)
        step = rng.choice(["replace", "replace", "take", "rename", "spell", "copy"])
        if step == "replace":
            container[key] = rng.choice(ODD)
        elif step == "take":
            container.pop(key)
        elif step in ("rename", "spell") and isinstance(container, dict):
            container[rng.choice(KEYS if step == "rename" else SPELLINGS)] = container.pop(key)
        elif step == "copy":
            container[key] = json.loads(json.dumps(rng.choice(found)[0]))
    return value


_MEMBER = re.compile(r"""(["'][^"'\\]+["'])\s*:\s*(["'][^"'\\]*["']|\d+|\{[^{}]*\})""")


def _doubled(rng: random.Random, written: str) -> str:
    """A text with one of its members written twice, the second time with another value or the same."""
    members = list(_MEMBER.finditer(written))
    if not members:
        return written
    member = rng.choice(members)
    quote = member[1][0]
    values = [f"{quote}other{quote}", f"{quote}NORTH{quote}", "{}", "1"]
    value = member[2] if rng.random() < 0.3 else rng.choice(values)
    space = rng.choice(["", " ", "\t", " \n "]) if quote == '"' else " "
    return f"{written[: member.end()]}, {member[1]}{space}: {value}{written[member.end() :]}"


def _flipped(rng: random.Random, data: bytes) -> bytes:
    """Bytes flipped, put in, cut out, repeated or cut off."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(out) + 1)
        step = rng.choice(["flip", "flip", "put", "cut", "repeat", "end"])
        if step == "flip" and at < len(out):
            out[at] = rng.choice(BYTES) if rng.random() < 0.8 else rng.randrange(256)
        elif step == "put":
            out[at:at] = bytes([rng.choice(BYTES)])
        elif step == "cut":
            del out[at : at + rng.choice([1, 1, 2, 10])]
        elif step == "repeat":
            out[at:at] = out[at : at + rng.choice([1, 5, 20])]
        elif step == "end" and rng.random() < 0.3:
            del out[at:]
    return bytes(out)


def damaged(rng: random.Random, value: Any) -> bytes:
    """A damaged file of a decoded value, or of a text. Some stay whole: those are scored."""
    kind = rng.choice(["whole", "value", "value", "double", "bytes", "bytes"])
    if kind == "value" and not isinstance(value, str):
        value = _changed(rng, value)
    if isinstance(value, str):
        written = value
    else:
        as_lines = isinstance(value, list) and rng.random() < 0.8
        plain = rng.random() < 0.5
        dumped = [json.dumps(part, ensure_ascii=plain) for part in (value if as_lines else [value])]
        written = rng.choice(["\n", "\r\n", "\n\n"]).join(dumped) + rng.choice(["", "\n"])
    if kind == "double":
        written = _doubled(rng, written)
    if rng.random() < 0.1:
        written = "\ufeff" + written
    data = written.encode("utf-8", "surrogatepass")
    return _flipped(rng, data) if kind == "bytes" else data
