"""What the project says of itself beside its pages: dependencies, extras and the citation."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dsteval

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CODE = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("needed", PROJECT["dependencies"])
def test_what_is_needed_is_imported(needed: str) -> None:
    name, _, lowest = needed.partition(">=")
    assert re.search(rf"^ *(?:import|from) {name}\b", CODE, re.MULTILINE)
    assert re.fullmatch(r"\d+(\.\d+)+", lowest), "script/lowest installs this very version"


OURS = {"dev", "dev-integrations", "docs"}


@pytest.mark.parametrize("extra", sorted(PROJECT["optional-dependencies"].keys() - OURS))
def test_an_extra_is_told_where_it_lacks(extra: str) -> None:
    assert f"pip install 'dsteval[{extra}]'" in CODE


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {dsteval.__version__}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
