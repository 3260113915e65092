"""A second reading of every format, by the standard library, slow and careful, to hold the readers against.

Each function gives the corpus {dialogue: [(ref, pred), ...]} that the bytes hold. It raises RefuseError for what
no reader may accept: JSON that is none, a slot with two values, values that are no texts, turns with gaps, a
dialogue twice or without its partner.
"""

import ast
import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import naive
from dsteval.values.slots import canonical
from naive import Raw, RawCorpus, RawState

Slots: TypeAlias = list[tuple[str, Raw | None]]
OneSide: TypeAlias = dict[str, list[RawState]]


class RefuseError(Exception):
    """What a reader must refuse."""


class NoOpinionError(Exception):
    """What a reader may refuse, or read in one way or another."""


class Object(list[tuple[str, Any]]):
    """A JSON object with every pair it has, in order."""

    def once(self) -> dict[str, Any]:
        found = dict(self)
        if len(found) < len(self):
            raise RefuseError("a key twice")
        return found


def parse(data: bytes) -> Any:
    """JSON as Objects; NaN, Infinity and bytes that are not UTF-8 are refused."""

    def constant(name: str) -> None:
        raise RefuseError(name)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=Object, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise RefuseError(str(error)) from None


def literal(text: str) -> Any:
    """A Python literal as Objects."""

    def convert(node: ast.expr) -> Any:
        if not isinstance(node, ast.Dict):
            return ast.literal_eval(node)
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        if len(keys) < len(node.keys) or not all(isinstance(key, str) for key in keys):
            raise RefuseError("a key that is not a string")
        return Object(zip(keys, map(convert, node.values), strict=True))

    text = text.strip()
    if text.replace(" ", "") == "{{}}":
        return Object()
    try:
        return convert(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise RefuseError(str(error)) from None


class Reader:
    """Reads states under a protocol, which tells whether slot names are folded and when two values are one."""

    def __init__(self, protocol: str) -> None:
        self.settings = naive.PROTOCOLS[protocol]
        self.name: Callable[[str], str] = str if self.settings["literal"] else canonical

    def value(self, value: Any) -> Raw | None:
        if value is None or isinstance(value, str):
            return value
        if type(value) is int:
            return str(value)
        if isinstance(value, Object) or not isinstance(value, list | tuple | set):
            raise RefuseError(f"the value {value!r}")
        if not all(isinstance(part, str) or type(part) is int for part in value):
            raise RefuseError(f"the value {value!r}")
        if not value:
            return None
        if not self.settings["literal"]:
            return [str(part) for part in value]
        if len(value) > 1:
            raise RefuseError("alternatives")
        return str(next(iter(value)))

    def prepared(self, value: Raw | None, marks: str) -> Any:
        return naive.prepare_state({} if value is None else {"x": value}, self.settings, marks, None)

    def slots(self, value: Any) -> Slots:
        """The slots of a state, flat or nested by domain, with all doubles."""
        if not isinstance(value, Object):
            raise RefuseError(f"the state {value!r}")
        slots: Slots = []
        for name, inner in value:
            if isinstance(inner, Object):
                slots += [(f"{name}-{slot}", self.value(x)) for slot, x in inner]
            else:
                slots.append((name, self.value(inner)))
        return slots

    def state(self, value: Any, side: str) -> RawState:
        """A state; a slot that stands twice must have one value."""
        marks = naive.REF_MARKS if side == "ref" else naive.PRED_MARKS
        written: dict[str, Raw | None] = {}
        state: RawState = {}
        for slot, x in self.slots(value):
            prepared = self.prepared(x, marks)
            if self.prepared(written.setdefault(slot, x), marks) != prepared:
                raise RefuseError(f"{slot} twice")
            if x is None or not prepared:
                continue
            if self.prepared(state.setdefault(self.name(slot), x), marks) != prepared:
                raise RefuseError(f"{slot} in two spellings")
        return state

    def update(self, value: Any) -> dict[str, Raw | None]:
        """What a turn changes; of a slot that stands twice with one value and one deletion nothing is said."""
        update: dict[str, Raw | None] = {}
        for slot, x in self.slots(value):
            before = update.setdefault(self.name(slot), x)
            if before != x:
                values = [self.prepared(v, naive.PRED_MARKS) for v in (before, x)]
                if all(values) and values[0] != values[1] and not {"none", "[DELETE]"} & {str(before), str(x)}:
                    raise RefuseError(f"{slot} twice")
                raise NoOpinionError
        return update


def number(label: object) -> int:
    """The number of a turn's key."""
    if isinstance(label, str) and label.strip().isdecimal():
        label = int(label)
    if type(label) is not int or label < 0:
        raise RefuseError(f"the turn {label!r}")
    return label


def numbered(turns: list[tuple[int, Any]], reader: Reader) -> list[Any]:
    """Turns in order, if they are 0, 1, 2 or 0, 2, 4."""
    keys = sorted(key for key, _ in turns)
    if reader.settings["as_written"] and len({*keys}) == len(keys) and keys != list(range(len(keys))):
        raise NoOpinionError  # distances are those of the numbers themselves
    if keys not in (list(range(len(keys))), list(range(0, 2 * len(keys), 2))):
        raise RefuseError(f"the turns {keys}")
    return [turn for _, turn in sorted(turns, key=lambda pair: pair[0])]


def folded(name: object) -> str:
    """A dialogue's id, however it is spelt."""
    if type(name) is int:
        name = str(name)
    if not isinstance(name, str):
        raise RefuseError(f"the dialogue {name!r}")
    return name.strip().casefold().removesuffix(".json")


def dialogues(found: Any) -> list[tuple[str, Any]]:
    """The members of an object of dialogues, each there once however its id is spelt."""
    if not isinstance(found, Object) or len({folded(name) for name, _ in found}) < len(found):
        raise RefuseError("no dialogues, or one twice")
    return [(folded(name), member) for name, member in found]


def by_turn(member: Any) -> list[tuple[int, Any]]:
    if not isinstance(member, Object):
        raise RefuseError(f"the turns {member!r}")
    return [(number(label), turn) for label, turn in member]


def fga_json(data: bytes, reader: Reader) -> RawCorpus:
    corpus: RawCorpus = {}
    for name, member in dialogues(parse(data)):
        turns = []
        for label, turn in by_turn(member):
            if not isinstance(turn, Object) or sorted(k for k, _ in turn if k in ("gt", "pr")) != ["gt", "pr"]:
                raise RefuseError("not gt and pr once each")
            sides = dict(turn)
            turns.append((label, (reader.state(sides["gt"], "ref"), reader.state(sides["pr"], "pred"))))
        if reader.settings["as_written"] and turns != sorted(turns, key=lambda turn: turn[0]):
            raise RefuseError("turns that go back")
        corpus[name] = numbered(turns, reader)
    return corpus


def states_json(data: bytes, reader: Reader, side: str) -> OneSide:
    found = {}
    for name, member in dialogues(parse(data)):
        is_list = isinstance(member, list) and not isinstance(member, Object)
        turns = list(enumerate(member)) if is_list else by_turn(member)
        found[name] = numbered([(label, reader.state(state, side)) for label, state in turns], reader)
    return found


def _records(data: bytes, states: set[str]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Our JSON Lines, or a list of such objects, by dialogue; they have these states and no others."""
    is_list = data.lstrip()[:1] == b"["
    records = parse(data) if is_list else [parse(line) for line in data.split(b"\n") if line.strip()]
    turns: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    spelt: dict[str, str] = {}
    known = {"ref", "pred", "state", "update", "items", "frames"}
    for record in records:
        if not isinstance(record, Object):
            raise RefuseError("a line that is no object")
        kept = Object(pair for pair in record if pair[0] in known | {"dialogue_id", "turn_id"}).once()
        if known & kept.keys() - states:
            raise NoOpinionError
        if not states <= kept.keys():
            raise RefuseError("a turn without its state")
        name = folded(kept.get("dialogue_id"))
        if spelt.setdefault(name, str(kept["dialogue_id"])) != str(kept["dialogue_id"]):
            raise RefuseError("a dialogue in two spellings")
        turns.setdefault(name, []).append((number(kept.get("turn_id")), kept))
    return turns


def lines(data: bytes, reader: Reader) -> RawCorpus:
    corpus: RawCorpus = {}
    for name, turns in _records(data, {"ref", "pred"}).items():
        read = [(n, (reader.state(kept["ref"], "ref"), reader.state(kept["pred"], "pred"))) for n, kept in turns]
        corpus[name] = numbered(read, reader)
    return corpus


def updates(data: bytes, reader: Reader, side: str) -> OneSide:
    found = {}
    for name, turns in _records(data, {"update"}).items():
        found[name] = naive.accumulate(numbered([(n, reader.update(kept["update"])) for n, kept in turns], reader))
    return found


_BLOCK = re.compile(r"\A\s*Turn\s*:(.*)\n(?:.*\n)*?GT\s*:(.*)\nPR\s*:(.*)\n+Matched\s*:(.*)\n*\Z")


def fga_text(data: bytes, reader: Reader) -> RawCorpus:
    """The text of one dialogue, where it has its usual layout."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise RefuseError("not UTF-8") from None
    head, *blocks = re.split(r"^-{5,}\s*$\n?", text, flags=re.MULTILINE)
    found = re.fullmatch(r"\s*Dialogue ID\s*:\s*(\S+)\s*", head)
    matches = [_BLOCK.match(block) for block in blocks if block.strip()]
    if not found or None in matches or re.search(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029\r]", text):
        raise NoOpinionError
    turns = []
    for match in filter(None, matches):
        if not match[1].strip():
            raise NoOpinionError  # the number may stand on the next line
        states = (reader.state(literal(match[2]), "ref"), reader.state(literal(match[3]), "pred"))
        turns.append((number(match[1]), states))
    return {folded(found[1]): numbered(turns, reader)}


def bits(data: bytes, reader: Reader) -> RawCorpus:
    """Marks as states: the reference has every slot, the prediction those that are right."""
    corpus: RawCorpus = {}
    for name, member in dialogues(parse(data)):
        turns = []
        for label, marks in by_turn(member):
            known = isinstance(marks, list) and all(type(mark) is int and mark in (0, 1) for mark in marks)
            if not known or len(marks) != 30:
                raise RefuseError(f"the marks {marks!r}")
            ref: RawState = {f"s{n}": "x" for n in range(30)}
            turns.append((label, (ref, {f"s{n}": "x" for n in range(30) if marks[n]})))
        if turns != sorted(turns, key=lambda turn: turn[0]):
            raise RefuseError("turns that go back")
        corpus[name] = numbered(turns, reader)
    return corpus


def paired(ref: OneSide, pred: OneSide) -> RawCorpus:
    """Both sides, where each has the dialogues and the turns of the other."""
    if {name: len(turns) for name, turns in ref.items()} != {name: len(turns) for name, turns in pred.items()}:
        raise RefuseError("the sides differ")
    return {name: list(zip(turns, pred[name], strict=True)) for name, turns in ref.items()}
