"""Plain readers of the real files that the naive oracles are held against; nothing of the package is used."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path
from typing import Any

State = dict[str, str]
Corpus = list[list[tuple[State, State]]]


def flat(state: dict[str, dict[str, str]]) -> State:
    return {f"{domain}-{slot}": value for domain, slots in state.items() for slot, value in slots.items()}


def load(path: Path) -> Any:
    """JSON, gzipped or not."""
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def fga_json(path: Path) -> Corpus:
    return [[(flat(turn["gt"]), flat(turn["pr"])) for turn in turns.values()] for turns in load(path).values()]


def fga_text(path: Path) -> list[tuple[State, State]]:
    """One dialogue of the human evaluation; an empty reference is printed {{}}."""
    sides: dict[str, list[State]] = {"GT  :": [], "PR  :": []}
    for line in path.read_text("utf-8").splitlines():
        for start, states in sides.items():
            if line.startswith(start):
                states.append(flat(ast.literal_eval(line.removeprefix(start).strip().replace("{{}}", "{}"))))
    return list(zip(*sides.values(), strict=True))


def somdst(shared: Path) -> Corpus:
    return [fga_text(path) for path in sorted((shared / "data/fga/somdst_100_dialogues").iterdir())]


def dstc10(path: Path) -> list[dict[str, list[str]]]:
    """Slots by the names "hotel book people" and "hotel semi area"."""
    return [
        {
            f"{domain} {kind} {slot}": values
            for domain, kinds in state.items()
            for kind, slots in kinds.items()
            for slot, values in slots.items()
        }
        for state in load(path)
    ]
