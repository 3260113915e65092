"""Which figures are looked up in a result, and how."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dsteval
from commandline import Ran

Folder = Callable[[str], Path]
"""Copies a folder of inputs to a place of the test's own, and goes there."""

SCORE = ["--metric", "JGA", "--no-ci"]

VARIANTS = ("official", "paper", "strict", "trippy")
LAMBDAS = ("0.25", "0.5", "0.75", "1")


def plain(ran: Ran, code: int = 1) -> str:
    """What a command said, which ended with this exit code and without a traceback."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.out + ran.err, ran.err
    return ran.out + ran.err


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


def domain_scores(result: dsteval.Result, domain: str, metric: str = "JGA") -> dict[str, float | None]:
    """A domain's score by each of the three conventions; ``by=["domain"]`` must have been asked for."""
    slices = [one for one in result.slices if (one.by, one.key) == ("domain", domain)]
    return {one.convention: score.value for one in slices for score in one.scores if score.metric == metric}
