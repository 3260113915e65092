"""The naive oracle of the schema-guided scorer, over dialogues in the data set's own JSON.

It shares nothing with the package. The unit is a frame: one service at one user turn, as the reference has it.
Span tagging is left out. A score of None is "not applicable" and counts in no mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from math import prod
from typing import Any, TypeAlias

from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

Json = dict[str, Any]
Lists = dict[str, list[str]]
Scores = dict[str, float | None]

Rule: TypeAlias = Callable[[str, str], float]

JOINT = ("joint_goal_accuracy", "joint_cat_accuracy", "joint_noncat_accuracy")


def mean(scores: list[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


def similarity(a: str, b: str) -> float:
    """The two texts' sorted words compared, in whole per cent: the similarity is rounded before it is used."""
    return round(fuzz.token_sort_ratio(a, b, processor=default_process)) / 100


def difflib_similarity(a: str, b: str) -> float:
    """The same by the standard library, which is all that fuzzywuzzy has without python-Levenshtein."""
    texts = [" ".join(sorted(default_process(text).split())) for text in (a, b)]
    if texts[0] == texts[1]:
        return 1.0
    return round(100 * SequenceMatcher(a=texts[0], b=texts[1]).ratio()) / 100 if all(texts) else 0.0


def equality(a: str, b: str) -> float:
    return float(a == b)


def slot_score(ref: list[str] | None, pred: list[str] | None, categorical: bool, rule: Rule) -> float:
    """1 where both are absent, 0 where one is; a categorical slot looks at the first reference value only."""
    if ref is None or pred is None:
        return float(ref is pred)
    if categorical:
        return float(ref[0] == pred[0])
    return max(rule(value, pred[0]) for value in ref)


def goal_scores(ref: Lists, pred: Lists, slots: dict[str, bool], rule: Rule) -> Scores:
    """Joint scores multiply over the schema's slots, averages run over those that the reference has.

    ``slots`` says of each slot of the schema whether it is categorical; other predicted slots are not seen.
    """
    scores: Scores = {}
    by_slot = {slot: slot_score(ref.get(slot), pred.get(slot), cat, rule) for slot, cat in slots.items()}
    of_kind = {
        "goal": list(slots),
        "cat": [slot for slot, cat in slots.items() if cat],
        "noncat": [slot for slot, cat in slots.items() if not cat],
    }
    for kind, names in of_kind.items():
        scores[f"joint_{kind}_accuracy"] = prod(by_slot[slot] for slot in names) if names else None
        scores[f"average_{kind}_accuracy"] = mean([by_slot[slot] for slot in names if slot in ref])
    return scores


def requested_f1(ref: list[str], pred: list[str]) -> float:
    """F1 over the multisets; precision is 1 if nothing was predicted, recall if nothing was requested."""
    both = (Counter(ref) & Counter(pred)).total()
    precision = both / len(pred) if pred else 1.0
    recall = both / len(ref) if ref else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def frame_scores(ref: Json, pred: Json, slots: dict[str, bool], rule: Rule) -> Scores:
    """All scores of one frame, from the two states."""
    scores = goal_scores(ref["slot_values"], pred["slot_values"], slots, rule)
    scores["active_intent_accuracy"] = float(ref["active_intent"] == pred["active_intent"])
    scores["requested_slots_f1"] = requested_f1(ref["requested_slots"], pred["requested_slots"])
    return scores


def keys_of(service: str, seen: set[str]) -> set[str]:
    """The groups that a frame counts in."""
    group = "#SEEN_SERVICES" if service in seen else "#UNSEEN_SERVICES"
    return {"#ALL_SERVICES", group, service, service.split("_")[0]}


def score(
    ref_dialogues: list[Json],
    pred_dialogues: list[Json],
    schema: list[Json],
    seen: set[str],
    rule: Rule,
    across: bool,
) -> dict[str, dict[str, float]]:
    """Mean over the frames of each key; with ``across``, a joint score is first multiplied over a turn's frames.

    Reference dialogues without a prediction are passed over, and turns are paired up to the shorter dialogue.
    """
    schemas = {
        service["service_name"]: {slot["name"]: slot["is_categorical"] for slot in service["slots"]}
        for service in schema
    }
    predicted = {dialogue["dialogue_id"]: dialogue for dialogue in pred_dialogues}
    found: dict[str, dict[str, list[float]]] = {}
    for ref in ref_dialogues:
        if ref["dialogue_id"] not in predicted:
            continue
        for ref_turn, pred_turn in zip(ref["turns"], predicted[ref["dialogue_id"]]["turns"], strict=False):
            if ref_turn["speaker"] != "USER":
                continue
            for (key, metric), values in turn_scores(ref_turn, pred_turn, schemas, seen, rule).items():
                joined = [prod(values)] if across and metric in JOINT else values
                found.setdefault(key, {}).setdefault(metric, []).extend(joined)
    return {
        key: {metric: sum(values) / len(values) for metric, values in metrics.items()}
        for key, metrics in found.items()
    }


def turn_scores(
    ref_turn: Json, pred_turn: Json, schemas: dict[str, dict[str, bool]], seen: set[str], rule: Rule
) -> dict[tuple[str, str], list[float]]:
    """The scores that a turn's frames give to each key and metric."""
    pred_frames = {frame["service"]: frame for frame in pred_turn["frames"]}
    scores: dict[tuple[str, str], list[float]] = {}
    for frame in ref_turn["frames"]:
        service = frame["service"]
        of_frame = frame_scores(frame["state"], pred_frames[service]["state"], schemas[service], rule)
        for key in keys_of(service, seen):
            for metric, value in of_frame.items():
                if value is not None:
                    scores.setdefault((key, metric), []).append(value)
    return scores
