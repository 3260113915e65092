"""The rule of the FGA paper's script for TRADE and SOM-DST, told anew as a plain loop over sets: a yardstick.

python script/peers.py FILE prints Table 1's metrics and slot F1 of FGA JSON, as fractions. It decodes the whole
file, makes texts "domain-slot-value" of each turn, and compares sets of them.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

LAMBDAS = (0.25, 0.5, 0.75, 1.0)
SLOTS = 30


def texts(state: dict[str, dict[str, str]]) -> set[str]:
    """A state as a set of texts."""
    return {f"{domain}-{slot}-{value}" for domain, slots in state.items() for slot, value in slots.items()}


def scores(data: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The metrics of a whole file."""
    turns = exact = match = with_ref = hits = missed = over = 0
    accuracy = share = 0.0
    weights = dict.fromkeys(LAMBDAS, 0.0)
    for dialogue in data.values():
        ref_before: set[str] = set()
        pred_before: set[str] = set()
        error, was_exact = 0, True
        for number, turn in enumerate(dialogue.values()):
            ref, pred = texts(turn["gt"]), texts(turn["pr"])
            turns += 1
            lost, extra = ref - pred, pred - ref
            slots_lost = {text.rsplit("-", 1)[0] for text in lost}
            wrong = len(lost) + sum(text.rsplit("-", 1)[0] not in slots_lost for text in extra)
            accuracy += (SLOTS - wrong) / SLOTS
            if ref:
                with_ref += 1
                share += len(ref & pred) / len(ref)
            hits, missed, over = hits + len(ref & pred), missed + len(lost), over + len(extra)
            if ref == pred:
                exact, match = exact + 1, match + 1
                weights = {number_: weight + 1 for number_, weight in weights.items()}
            elif was_exact or not (ref - ref_before <= pred and pred - pred_before <= ref):
                error = number
            else:
                match += 1
                for number_ in LAMBDAS:
                    weights[number_] += 1 - math.exp(-number_ * (number - error))
            was_exact, ref_before, pred_before = ref == pred, ref, pred
    fga = {f"FGA@{number_:g}": weight / turns for number_, weight in weights.items()}
    return {
        "JGA": exact / turns,
        "TurnMatch": match / turns,
        "SlotAccuracy": accuracy / turns,
        "AGA": share / with_ref,
        **fga,
        "SlotF1": 2 * hits / (2 * hits + missed + over),
    }


if __name__ == "__main__":
    print(json.dumps(scores(json.loads(Path(sys.argv[1]).read_bytes())), indent=1))
