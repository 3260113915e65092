"""Damaged files: each is refused with a DstevalError, or scored as a second, careful reading scores it.

DSTEVAL_THOROUGH=1 tries many more of them, DSTEVAL_FUZZ_SEED others.
"""

import json
import math
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

import careful
import damage
import dsteval
import naive
from careful import NoOpinionError, RefuseError
from damage import Corpus
from dsteval import readers
from dsteval.readers import Source
from dsteval.readers.file_sets import File
from naive import RawCorpus

pytestmark = pytest.mark.fuzz

SEED = os.environ.get("DSTEVAL_FUZZ_SEED", "")
TRIES = 25_000 if os.environ.get("DSTEVAL_THOROUGH") == "1" else 200

MARKS = ["JGA", "TurnMatch", "SlotAccuracy", "FGA@0.25", "FGA@1"]
METRICS = [*MARKS, "AGA", "AGA(over=union)", "SlotPrecision", "SlotRecall", "SlotF1", "TurnF1"]

# What is damaged -> the reader that is for it, and how the file is made.
FORMS: dict[str, tuple[str, Callable[[random.Random, Corpus], Any]]] = {
    "fga-json": ("fga-json", damage.fga_json),
    "states": ("dsteval-json", damage.states_json),
    "lines": ("dsteval-jsonl", damage.lines),
    "updates": ("dsteval-jsonl", damage.updates),
    "frames": ("dsteval-jsonl", damage.frames_and_items),
    "text": ("fga-text", damage.text),
    "bits": ("trippy-bits", damage.bits),
}
ONE_SIDE = ("states", "updates")


def expected(form: str, data: bytes, ref: bytes, protocol: str) -> RawCorpus:
    """What the careful reading makes of a file."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    reader = careful.Reader(protocol)
    if form in ONE_SIDE:
        read = careful.states_json if form == "states" else careful.updates
        return careful.paired(careful.states_json(ref, reader, "ref"), read(data, reader, "pred"))
    if form == "fga-json":
        return careful.fga_json(data, reader)
    if form == "lines":
        return careful.lines(data, reader)
    if form == "text":
        return careful.fga_text(data, reader)
    if form == "bits":
        return careful.bits(data, reader)
    raise NoOpinionError


def accepted(form: str, protocol: str, data: bytes, ref: bytes, forced: bool) -> bool:
    """Whether a file is scored; fails where it is neither refused nor scored rightly."""
    metrics = MARKS if form == "bits" else METRICS
    try:
        result = dsteval.evaluate(
            Source("ref.json", File("ref.json", ref)) if form in ONE_SIDE else None,
            Source("pred.json", File("pred.json", data)),
            metrics=metrics,
            protocol=protocol,
            settings=["scope.slots=30"],
            format=FORMS[form][0] if forced else None,
        )
    except dsteval.DstevalError as refusal:
        assert "\n" not in str(refusal), data
        return False
    if not forced and readers.detect(Source("pred.json", File("pred.json", data))).reader.name != FORMS[form][0]:
        return True  # the damage made another format of it
    try:
        corpus = expected(form, data, ref, protocol)
    except NoOpinionError:
        return True
    except RefuseError as why:
        raise AssertionError(f"{data!r} must be refused: {why}") from None
    figures = naive.score_all(corpus, protocol)
    for metric in metrics:
        value, right = result[metric].value, figures[metric]
        same = math.isnan(right) if value is None else math.isclose(value, right, abs_tol=1e-12)
        assert same, f"{data!r}: {metric} is {right}, found {value}"
    return True


HEAD = "Dialogue ID : d\n-----\nTurn: 0\n"

# Files that were once read or scored wrongly.
FOUND: list[tuple[str, str, str, str]] = [
    ("states", "fga-official", '{"d": [{"hotel-name": "a|-"}]}', '{"d": [{"hotel-name": "x"}]}'),
    ("text", "exact", HEAD + "GT  : {'a': {'b': 'c'}, 'a': 'd'}\nPR  : {}\nMatched : False\n", ""),
    (
        "updates",
        "exact",
        '[{"dialogue_id": "d", "turn_id": 0, "update": {"x": "a", "x": "b"}}]',
        '{"d": [{"x": "b"}]}',
    ),
]


@pytest.mark.parametrize(("form", "protocol", "data", "ref"), FOUND)
def test_found(form: str, protocol: str, data: str, ref: str) -> None:
    accepted(form, protocol, data.encode(), ref.encode(), forced=True)


CASES = [(form, protocol) for form in FORMS for protocol in ("exact", "fga-official") if form != "bits"]


@pytest.mark.parametrize(("form", "protocol"), [*CASES, ("bits", "fga-trippy")])
def test_damaged_files(form: str, protocol: str) -> None:
    scored = 0
    for number in range(TRIES):
        rng = random.Random(f"{SEED}{form} {protocol} {number}")
        made = damage.corpus(rng)
        data = damage.damaged(rng, FORMS[form][1](rng, made))
        ref = json.dumps({name: [state for state, _ in turns] for name, turns in made.items()}).encode()
        scored += accepted(form, protocol, data, ref, forced=rng.random() < 0.5)
    assert TRIES / 10 < scored < TRIES * 9 / 10
