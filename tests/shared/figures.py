"""Which figures are looked up, and forms of shared data that no reader of ours takes."""

import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dsteval
from dsteval.comparer import Comparer
from dsteval.evaluation import Evaluation
from dsteval.outcomes import Outcomes
from dsteval.readers import Source

VARIANTS = ("official", "paper", "strict", "trippy")
LAMBDAS = ("0.25", "0.5", "0.75", "1")

States = dict[str, dict[str, Any]]


def per_cent(result: dsteval.Result, metric: str, digits: int = 2) -> float | None:
    """A score in per cent, rounded as papers print it."""
    value = result[metric].value
    return None if value is None else round(100 * value, digits)


def fga_row(result: dsteval.Result, variant: str = "", digits: int = 2) -> list[float | None]:
    """FGA at the four lambdas of the paper."""
    name = f"FGA(variant={variant})" if variant else "FGA"
    return [per_cent(result, f"{name}@{number}", digits) for number in LAMBDAS]


def fga_names(variant: str = "") -> list[str]:
    """The texts that ``fga_row`` asks for."""
    return [f"FGA(variant={variant})@{number}" if variant else f"FGA@{number}" for number in LAMBDAS]


def assert_ends(ref: Any, pred: Any, variants: Sequence[str] = VARIANTS, **options: Any) -> None:
    """FGA at lambda 0 is JGA, and at infinity TurnMatch, to the last bit."""
    wanted = ["JGA", "JGA(average=dialogue)"]
    pairs = []
    for variant in variants:
        for average in ("turn", "dialogue"):
            inside = f"(average={average},variant={variant})"
            jga = "JGA" if average == "turn" else "JGA(average=dialogue)"
            pairs += [(f"FGA{inside}@0", jga), (f"FGA{inside}@inf", f"TurnMatch{inside}")]
    wanted += [name for pair in pairs for name in pair]
    result = dsteval.evaluate(ref, pred, metrics=wanted, **options)
    for fga, end in pairs:
        assert result[fga].value is not None
        assert result[fga].value == result[end].value, fga


def outcomes_of(ref: Any, pred: Source, domain: str) -> Outcomes:
    """The outcomes of one domain under ``exact``."""
    run, comparer = Evaluation("exact"), Comparer(lambda slot: slot.startswith(f"{domain}-"))
    for dialogue, states in run.pairs(pred, ref):
        comparer.add(dialogue, states)
    return comparer.outcomes()


def llm_dst_eval(shared: Path) -> tuple[States, States]:
    """Reference (labels of MultiWOZ 2.1) and prediction of the first 500 dialogues."""
    rows = json.loads(gzip.decompress((shared / "data/llm_dst_eval/original_first500.json.gz").read_bytes()))
    ref: States = {}
    pred: States = {}
    for row in rows:
        name, _, turn = row["flag"].rpartition("-")
        ref.setdefault(name, {})[turn] = row["ground_truth"]
        pred.setdefault(name, {})[turn] = row["predict"]
    return ref, pred


def _cut(items: list[str]) -> dict[str, str]:
    """['hotel-name-a-b'] -> {'hotel-name': 'a-b'}."""
    return {f"{domain}-{slot}": value for domain, slot, value in (item.split("-", 2) for item in items)}


def t5dst(shared: Path) -> tuple[States, States]:
    """T5DST's native output."""
    data = json.loads((shared / "data/t5dst/T5_result.json").read_bytes())
    sides = []
    for side in ("turn_belief", "pred_belief"):
        sides.append({name: {t: _cut(u[side]) for t, u in d["turns"].items()} for name, d in data.items()})
    return sides[0], sides[1]


def trade(shared: Path) -> tuple[States, States]:
    """TRADE's output: a flat list of turns."""
    ref: States = {}
    pred: States = {}
    for row in json.loads((shared / "data/trade/trade_mwz20_test.json").read_bytes()):
        ref.setdefault(row["dialogue_idx"], {})[str(row["turn_idx"])] = _cut(row["belief_state"])
        pred.setdefault(row["dialogue_idx"], {})[str(row["turn_idx"])] = _cut(row["pred_belief_state"])
    return ref, pred


def multiwoz21_test(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """MultiWOZ 2.1 test in its original form: the state of a user turn stands after the system's answer."""
    with zipfile.ZipFile(shared / "data/multiwoz21/test.json.zip") as packed:
        data = json.loads(packed.read(packed.namelist()[0]))

    def flat(metadata: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for domain, parts in metadata.items():
            state |= {f"{domain}-{slot}": value for slot, value in parts["semi"].items()}
            state |= {f"{domain}-book {slot}": v for slot, v in parts["book"].items() if slot != "booked"}
        return state

    return {name: [flat(turn["metadata"]) for turn in d["log"][1::2]] for name, d in data.items()}
