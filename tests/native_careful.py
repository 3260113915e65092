"""Reads some formats by the standard library, slowly and with care, and scores them by the oracle.

What would be lost, or taken for what it is not, raises OddError: a reader must refuse it.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import naive
from dsteval.values.slots import MULTIWOZ, canonical
from naive_protocols import EXACT

Entries = list[tuple[str, naive.Raw | None]]
Read = dict[str, dict[int, list[Entries | None]]]
"""Dialogue -> turn -> the entries of its one side or of both; None where a turn lacks a side."""


class OddError(Exception):
    """The file must not be read."""


class UnknownShapeError(Exception):
    """What is in the file is not known here."""


class Pairs(list[tuple[str, Any]]):
    """An object with its doubles."""


def strict(text: bytes) -> Any:
    """JSON with every object as Pairs."""

    def constant(name: str) -> None:
        raise OddError(name)

    try:
        return json.loads(text.decode().removeprefix("\ufeff"), object_pairs_hook=Pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise OddError(str(error)) from None


def unique(value: Any) -> dict[str, Any]:
    """The members of an object; none may be named twice."""
    if not isinstance(value, Pairs) or len(dict(value)) < len(value):
        raise OddError("no object, or a member twice")
    return dict(value)


def listed(value: Any) -> list[Any]:
    """The members of a list."""
    if not isinstance(value, list) or isinstance(value, Pairs):
        raise OddError("no list")
    return value


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def value_of(value: Any) -> naive.Raw | None:
    if value is None or isinstance(value, str):
        return value
    if is_whole(value):
        return str(value)
    if all(isinstance(one, str) or is_whole(one) for one in listed(value)):
        return [str(one) for one in value] or None
    raise OddError("no value")


def nested(state: Any) -> Entries:
    """A state, flat or by domain."""
    if not isinstance(state, Pairs):
        raise OddError("no state")
    entries: Entries = []
    for key, value in state:
        if isinstance(value, Pairs):
            entries += [(f"{key}-{slot}", value_of(inner)) for slot, inner in value]
        else:
            entries.append((key, value_of(value)))
    return entries


def glued(texts: Any) -> Entries:
    """A list of 'domain-slot-value'."""
    entries: Entries = []
    for text in listed(texts):
        if not isinstance(text, str) or text.count("-") < 2:
            raise OddError("not domain-slot-value")
        domain, slot, value = text.split("-", 2)
        entries.append((f"{domain}-{slot}", value))
    return entries


def number_of(label: Any) -> int:
    if isinstance(label, str) and label.strip().isdecimal() and len(label) < 4300:
        return int(label)
    if is_whole(label) and label >= 0:
        return int(label)
    raise OddError("no turn number")


def name_of(name: Any) -> str:
    if not isinstance(name, str) and not is_whole(name):
        raise OddError("no name")
    if not str(name).strip():
        raise OddError("no name")
    return str(name)


def keyed(turns: Any, sides_of: Callable[[Any], list[Entries | None]]) -> dict[int, list[Entries | None]]:
    """An object of turns; each may be there once."""
    if not isinstance(turns, Pairs):
        raise OddError("no object of turns")
    found = {number_of(label): sides_of(turn) for label, turn in turns}
    if len(found) < len(turns):
        raise OddError("a turn twice")
    return found


def gathered(rows: Iterable[tuple[str, int, list[Entries | None]]]) -> Read:
    """Turns that are listed one by one."""
    found: Read = {}
    for name, number, sides in rows:
        if number in found.setdefault(name, {}):
            raise OddError("a turn twice")
        found[name][number] = sides
    return found


def fga_json(data: bytes) -> Read:
    def sides(turn: Any) -> list[Entries | None]:
        if not isinstance(turn, Pairs) or sorted(key for key, _ in turn if key in ("gt", "pr")) != ["gt", "pr"]:
            raise OddError("gt and pr once each")
        return [nested(dict(turn)["gt"]), nested(dict(turn)["pr"])]

    return {name: keyed(turns, sides) for name, turns in unique(strict(data)).items()}


def trade(data: bytes) -> Read:
    def sides(turn: Any) -> list[Entries | None]:
        fields = unique(turn)
        pred = next((key for key in fields if key.startswith("pred_bs")), "")
        return [glued(fields.get("turn_belief")), glued(fields.get(pred))]

    value = strict(data)
    if isinstance(value, Pairs):
        return {name: keyed(turns, sides) for name, turns in unique(value).items()}
    return gathered(
        (
            name_of(row.get("dialogue_idx")),
            number_of(row.get("turn_idx")),
            [glued(row.get("belief_state")), glued(row.get("pred_belief_state"))],
        )
        for row in map(unique, value)
    )


def t5dst(data: bytes) -> Read:
    def sides(turn: Any) -> list[Entries | None]:
        fields = unique(turn)
        return [glued(fields.get("turn_belief")), glued(fields.get("pred_belief"))]

    return {name: keyed(unique(inner).get("turns"), sides) for name, inner in unique(strict(data)).items()}


def mwzeval(data: bytes) -> Read:
    return {
        name: {t: [nested(unique(turn).get("state"))] for t, turn in enumerate(listed(turns))}
        for name, turns in unique(strict(data)).items()
    }


def dsteval_json(data: bytes) -> Read:
    def turns_of(turns: Any) -> dict[int, list[Entries | None]]:
        if isinstance(turns, Pairs):
            return keyed(turns, lambda state: [nested(state)])
        return {t: [nested(state)] for t, state in enumerate(listed(turns))}

    return {name: turns_of(turns) for name, turns in unique(strict(data)).items()}


def jsonl(data: bytes) -> Read:
    text = data.removeprefix(b"\xef\xbb\xbf")
    rows = strict(text) if text.lstrip()[:1] == b"[" else [strict(row) for row in text.split(b"\n") if row.strip()]
    records = list(map(unique, rows))
    if any(record.keys() & {"state", "update", "frames", "items", "bits", "gaps", "alone"} for record in records):
        raise UnknownShapeError
    return gathered(
        (
            name_of(row.get("dialogue_id")),
            number_of(row.get("turn_id")),
            [nested(row[side]) if side in row else None for side in ("ref", "pred")],
        )
        for row in records
    )


READERS: dict[str, Callable[[bytes], Read]] = {
    "fga-json": fga_json,
    "trade": trade,
    "t5dst": t5dst,
    "mwzeval": mwzeval,
    "dsteval-json": dsteval_json,
    "dsteval-jsonl": jsonl,
}


def side(read: Read, position: int) -> dict[str, list[Entries]]:
    """One side, its turns in order under the ids that are compared; 0 is the reference, -1 the prediction."""
    found: dict[str, list[Entries]] = {}
    for name, turns in read.items():
        key = name.strip().casefold().removesuffix(".json")
        numbers = sorted(turns)
        if key in found:
            raise OddError("a dialogue twice")
        if numbers not in (list(range(len(numbers))), list(range(0, 2 * len(numbers), 2))):
            raise OddError("gaps")
        states = [turns[number][position] for number in numbers]
        if None in states:
            raise OddError("a turn without a state")
        found[key] = [state for state in states if state is not None]
    return found


def settled(entries: Entries, marks: str) -> naive.RawState:
    """A state of canonical slots; what stands twice must be one value, as protocol exact compares it."""
    by_name: dict[str, naive.State] = {}
    by_slot: dict[str, naive.State] = {}
    state: naive.RawState = {}
    for name, value in entries:
        slot = canonical(name)
        prepared = naive.prepare_state({} if value is None else {"": value}, EXACT, marks, None)
        if by_name.setdefault(name, prepared) != prepared:
            raise OddError("a slot with two values")
        if prepared and value is not None:
            if by_slot.setdefault(slot, prepared) != prepared:
                raise OddError("a slot with two values in two spellings")
            state[slot] = value
    return state


def scores(ref: Read, pred: Read) -> dict[str, float]:
    """Every metric under protocol exact, and the number of dialogues and turns."""
    refs, preds = side(ref, 0), side(pred, -1)
    if refs.keys() != preds.keys() or any(len(refs[name]) != len(preds[name]) for name in refs):
        raise OddError("sides that do not belong together")
    corpus: naive.RawCorpus = {
        name: [
            (settled(b, naive.REF_MARKS), settled(p, naive.PRED_MARKS))
            for b, p in zip(refs[name], preds[name], strict=True)
        ]
        for name in refs
    }
    if not any(corpus.values()):
        raise OddError("no turn")
    seen = {slot for turns in corpus.values() for turn in turns for state in turn for slot in state}
    found = naive.score_all(corpus, "exact", 30 if seen <= MULTIWOZ else len(seen))
    return {**found, "dialogues": len(corpus), "turns": sum(map(len, corpus.values()))}
