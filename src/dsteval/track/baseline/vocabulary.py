"""What the baseline knows before it sees any data: the tables of words.toml, and patterns of its phrases."""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_TEXT = (Path(__file__).parent / "words.toml").read_bytes()
VERSION = hashlib.sha256(_TEXT).hexdigest()[:12]
WORDS: Mapping[str, Any] = tomllib.loads(_TEXT.decode())


def any_of(alternatives: Sequence[str]) -> str:
    """A regular expression of one of the alternatives as whole words."""
    return rf"\b(?:{'|'.join(alternatives)})\b"


def phrases_of(name: str) -> str:
    """The regular expression of that name, or one of the phrases of that name; %OTHER% stands for another's."""
    text = WORDS["patterns"].get(name) or any_of(WORDS["phrases"][name])
    return re.sub("%([a-z_]+)%", lambda other: phrases_of(other[1]), text)


@cache
def says(name: str) -> re.Pattern[str]:
    """The pattern of that name, compiled."""
    return re.compile(phrases_of(name))
