"""How numbers are written: in one place, and none of them as minus zero."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import dsteval
from dsteval.analysis.comparison import Comparison, compare
from dsteval.render.comparison import comparison_tables
from dsteval.render.table import to_md
from dsteval.results.numbers import interval, number, p_value

PACKAGE = Path(dsteval.__file__).parent
ZEROS = [-0.0, -1e-9, -0.004, 0.004]


@pytest.mark.parametrize("value", ZEROS)
def test_zero_has_no_minus(value: float) -> None:
    assert number(value) == "0.00" and number(value, sign=True) == "+0.00"
    assert interval(value, value, sign=True) == "+0.00 .. +0.00"
    assert p_value(value / 100) == "0.0000"


def test_what_is_no_zero_keeps_its_sign() -> None:
    assert [number(value, sign=True) for value in (-0.006, 0.006)] == ["-0.01", "+0.01"]
    assert number(-0.00006, 100) == "-0.01" and number(-0.0004, digits=3) == "0.000"
    assert number(float("nan")) is number(None) is interval(None, 0.5) is p_value(None) is None


@pytest.fixture
def compared() -> Comparison:
    ref = {"x": [{"hotel-area": "north"}], "y": [{"hotel-area": "east"}, {"hotel-area": "west"}]}
    found = compare({"good": ref, "bad": {"x": [{}], "y": [{}, {}]}}, ref, metrics=["JGA"])
    tiny = [replace(one, difference=-1e-9, low=-1e-9, high=1e-9) for one in found.differences]
    return replace(found, differences=tuple(tiny))


def test_differences_of_nothing(compared: Comparison) -> None:
    table = to_md(comparison_tables(compared, paper=False)[1])
    assert "| +0.00 [+0.00, +0.00] |" in table
    assert "  +0.00  [+0.00, +0.00]" in str(compared)
    assert "+0.00" in compared._repr_html_()
    assert "-0.00" not in table + str(compared) + compared._repr_html_()


def test_numbers_are_written_in_one_place() -> None:
    fixed = re.compile(r"\{[^{}]*:[^{}]*\.\d+f\}|%[-+ 0-9]*\.\d+f|\bformat\(.*\.\d+f")
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    elsewhere = {name: found for name, text in texts.items() if (found := fixed.findall(text))}
    assert not elsewhere
