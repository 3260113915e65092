"""Saved results and tables of ratings, damaged: each is refused in a sentence, or says what the whole one says.

DSTEVAL_FUZZ=N tries N of each, DSTEVAL_FUZZ_SEED starts elsewhere.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import run
from damage import damaged
from dsteval.errors import DstevalError
from dsteval.rating.ratings import Rating, read, written
from dsteval.results import saved
from dsteval.results.result import Result, checksum
from native_breaking import broken
from test_fuzz_readers import in_range, told
from test_saved import FILES, REF

pytestmark = pytest.mark.fuzz

TRIES = max(300, int(os.environ.get("DSTEVAL_FUZZ", "0")) // 20)
SEED = os.environ.get("DSTEVAL_FUZZ_SEED", "1")


def scores(result: Result) -> list[Any]:
    return [(score.metric, score.value) for score in result.scores]


def test_damaged_saved_results(tmp_path: Path) -> None:
    place = tmp_path / "saved.json"
    assert run("score", *FILES[:2], "--ref", REF, "-o", place).code == 0
    whole = json.loads(place.read_text(encoding="utf-8"))
    right = [scores(one) for one in saved.load(place)]
    refused = sealed = 0
    for number in range(TRIES):
        rng = random.Random(f"{SEED} saved {number}")
        data = damaged(rng, whole)
        resealed = False
        try:
            found = json.loads(data)
            if rng.random() < 0.5 and isinstance(
                found, dict
            ):  # whoever edits it by hand may write its checksum too
                for entry in found["systems"]:
                    entry["checksum"] = checksum(entry)
                data, resealed = json.dumps(found).encode(), True
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        place.write_bytes(data)
        try:
            results = saved.load(place)
            found_scores = [scores(one) for one in results]
        except DstevalError as error:
            told(error)
            refused += 1
            continue
        for result in results:
            in_range(result)
        if not resealed:
            assert found_scores == right[: len(found_scores)] or found_scores in ([one] for one in right), (
                number,
                data,
            )
        sealed += resealed
    assert TRIES / 10 < refused < TRIES
    assert sealed


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
def test_damaged_ratings(name: str, tmp_path: Path) -> None:
    ratings = [
        Rating(f"i{n}", rater, n % 2, "0..1", 'fine, "thanks"') for n in range(4) for rater in ("anna", "ben")
    ]
    place, data = tmp_path / name, written(ratings, name)
    kept = 0
    for number in range(TRIES):
        place.write_bytes(broken(random.Random(f"{SEED} {name} {number}"), data))
        try:
            found, missing = read(str(place))
        except DstevalError as error:
            told(error)
            continue
        kept += 1
        assert found, number
        assert all(one.item and one.rater for one in [*found, *missing])
        assert all(abs(one.rating) < float("inf") for one in found)
        assert read(str(place)) == (found, missing)
    assert TRIES / 50 < kept < TRIES


def test_whole_ones_are_read() -> None:
    assert dsteval.evaluate(REF, FILES[0])["JGA"].value is not None
