"""The naive schema-guided scorer against the numbers of the original one."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import naive_sgd

pytestmark = pytest.mark.shared

MODES = {
    "fuzzy": (naive_sgd.similarity, False),
    "exact": (naive_sgd.equality, False),
    "exact_across_turn": (naive_sgd.equality, True),
    "fuzzy_across_turn": (naive_sgd.similarity, True),
}


def dialogues(folder: Path) -> list[Any]:
    parts = [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(folder.glob("dialogues_*.json.gz"))]
    return [dialogue for part in parts for dialogue in part]


@pytest.mark.parametrize("mode", MODES)
def test_every_number_of_the_original_scorer(shared: Path, mode: str) -> None:
    sgd = shared / "data/sgd"
    expected = json.loads((sgd / "expected.json").read_text("utf-8"))
    assert {key for key, value in expected.items() if isinstance(value, dict)} == MODES.keys()
    schema = json.loads((sgd / "dev/schema.json").read_text("utf-8"))
    train = json.loads((sgd / "train_schema.json").read_text("utf-8"))
    seen = {service["service_name"] for service in train}
    rule, across = MODES[mode]
    found = naive_sgd.score(
        dialogues(sgd / "dev"), dialogues(sgd / "generated_errors"), schema, seen, rule, across
    )
    assert found.keys() == expected[mode].keys()
    for key, scores in expected[mode].items():
        assert found[key] == pytest.approx(scores, abs=1e-6, rel=0), key
