"""Arguments of Python of a type that the command line cannot give: refused in one sentence, never gone through."""

from typing import Any

import numpy as np
import pytest

import dsteval
from dsteval.errors import OptionError

REF = {"d": [{"hotel-area": "north"}], "e": [{"hotel-area": "south"}, {"hotel-area": "east"}]}
PRED = {"d": [{"hotel-area": "north"}], "e": [{"hotel-area": "south"}, {}]}

SLOTS = "slots: expected a number of slots from 1 to 1000000, or a list of their names, found "
BY = "by: expected a list of what to slice by, found "
KINDS = "value of by: expected one of domain, service, slot, group, turn, dialogue, length, found "
LEVEL = "ci: expected a level between 0 and 1, such as 0.95, found "
RESAMPLES = "resamples: expected an integer from 100 to 1000000, found "
SEED = "seed: expected an integer from 0 to 2^64 - 1, found "


def refusal(**options: Any) -> str:
    with pytest.raises(OptionError) as caught:
        dsteval.evaluate(REF, PRED, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("option", "values", "said"),
    [
        ("slots", [0, -1, 1_000_001, True, 1.5, "hotel-area"], SLOTS),
        ("by", ["slot", None, 3], BY),
        ("ci", ["x", "0.95", True, [], 10**400, 1j], LEVEL),
        ("resamples", ["x", "1000", None, True, 1000.0, []], RESAMPLES),
        ("seed", ["x", "1", None, True, 1.0, []], SEED),
        ("missing", [None, 1, []], "value of missing: expected one of error, empty, skip, found "),
        ("extra", [None, 1, []], "value of extra: expected one of error, ignore, found "),
        ("interval", [None, 1, []], "value of interval: expected one of percentile, bca, found "),
    ],
)
def test_values_of_another_type(option: str, values: list[Any], said: str) -> None:
    for value in values:
        assert refusal(**{option: value}) == f"{said}{value!r}."


def test_lists_that_hold_something_else() -> None:
    assert refusal(slots=["hotel-area", None]) == f"{SLOTS}None among them."
    assert refusal(by=["slot", None]) == f"{KINDS}None."


def test_what_can_be_gone_through_only_once() -> None:
    assert refusal(slots=(slot for slot in ["hotel-area"])) == (
        f"{SLOTS}a generator, which can be read only once."
    )
    assert refusal(by=(kind for kind in ["slot"])) == f"{BY}a generator, which can be read only once."
    assert refusal(by=map(str, ["slot"])) == f"{BY}a map, which can be read only once."


def test_other_collections_and_numpys_numbers_are_taken() -> None:
    usual = dsteval.evaluate(REF, PRED, slots=["hotel-area"], by=["slot"], ci=0.9, resamples=200, seed=2**63)
    options: dict[str, Any] = {"slots": {"hotel-area": 1}.keys(), "by": {"slot"}}
    numbers: dict[str, Any] = {"ci": np.float64(0.9), "resamples": np.int32(200), "seed": np.uint64(2**63)}
    assert dsteval.evaluate(REF, PRED, **options, **numbers).to_dict() == usual.to_dict()
