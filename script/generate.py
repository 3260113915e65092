"""Writes random tracker output in FGA JSON, as large as asked: states grow, change, shrink, and errors last.

python script/generate.py DIALOGUES PATH [SEED]
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

SLOTS = {
    "attraction": ["area", "name", "type"],
    "hotel": [
        "area",
        "book day",
        "book people",
        "book stay",
        "internet",
        "name",
        "parking",
        "pricerange",
        "stars",
        "type",
    ],
    "restaurant": ["area", "book day", "book people", "book time", "food", "name", "pricerange"],
    "taxi": ["arriveby", "departure", "destination", "leaveat"],
    "train": ["arriveby", "book people", "day", "departure", "destination", "leaveat"],
}
FEW = {
    "area": ["north", "south", "east", "west", "centre", "dontcare"],
    "pricerange": ["cheap", "moderate", "expensive", "dontcare"],
    "stars": ["0", "1", "2", "3", "4", "5"],
    "internet": ["yes", "no", "dontcare"],
    "parking": ["yes", "no", "dontcare"],
    "book people": [str(n) for n in range(1, 9)],
    "book stay": [str(n) for n in range(1, 6)],
    "type": ["hotel", "guest house", "museum", "college", "park", "theatre"],
}
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
ROOTS = ["lime", "stone", "river", "abbey", "copper", "orchard", "mill", "heron", "lantern", "clover"]
KINDS = ["lodge", "house", "kitchen", "hall", "garden", "gallery", "inn", "station", "bridge", "college"]

State = dict[str, dict[str, str]]


def value(rng: random.Random, slot: str) -> str:
    """A plausible value of a slot."""
    if slot in FEW:
        return rng.choice(FEW[slot])
    if "day" in slot:
        return rng.choice(DAYS)
    if slot in ("arriveby", "leaveat", "book time"):
        return f"{rng.randrange(24):02}:{rng.choice(['00', '15', '30', '45'])}"
    return f"{rng.choice(ROOTS)} {rng.choice(ROOTS)} {rng.choice(KINDS)}"


def step(rng: random.Random, ref: State, pred: State) -> None:
    """What one user turn changes, and what the tracker makes of it."""
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        domain = rng.choice(list(ref) or list(SLOTS)) if rng.random() < 0.7 else rng.choice(list(SLOTS))
        slot = rng.choice(SLOTS[domain])
        if rng.random() < 0.03:
            for side in (ref, pred):
                side.get(domain, {}).pop(slot, None)
            continue
        meant = ref.setdefault(domain, {})[slot] = value(rng, slot)
        luck = rng.random()
        if luck < 0.9:
            pred.setdefault(domain, {})[slot] = meant
        elif luck < 0.95:
            pred.setdefault(domain, {})[slot] = value(rng, slot)
    if rng.random() < 0.05:
        domain = rng.choice(list(SLOTS))
        slot = rng.choice(SLOTS[domain])
        pred.setdefault(domain, {})[slot] = value(rng, slot)
    if rng.random() < 0.1:
        for domain, slots in ref.items():
            pred.setdefault(domain, {}).update(slots)


def dialogue(rng: random.Random, turns: int) -> dict[str, dict[str, State]]:
    """One dialogue as the FGA scripts write it."""
    ref: State = {}
    pred: State = {}
    written = {}
    for turn in range(turns):
        step(rng, ref, pred)
        written[str(turn)] = {
            "gt": {domain: dict(slots) for domain, slots in ref.items() if slots},
            "pr": {domain: dict(slots) for domain, slots in pred.items() if slots},
        }
    return written


def generate(count: int, path: Path, seed: int = 0, turns: int | None = None) -> int:
    """Write ``count`` dialogues of about 7.4 turns each, or as many as make ``turns``; returns the turns."""
    rng = random.Random(seed)
    total = 0
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            if total == turns:
                break
            length = min(18, max(2, round(rng.gauss(7.39, 2.5))))
            if turns is not None:
                length = min(length, turns - total)
            total += length
            out.write("{" if number == 0 else ",\n")
            out.write(f'"GEN{number:06}.json": {json.dumps(dialogue(rng, length))}')
        out.write("}\n")
    return total


if __name__ == "__main__":
    print(generate(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0), "turns")
