"""SGD's similarity of two texts, as its scorer gets it from fuzzywuzzy."""

import re
from collections.abc import Callable
from difflib import SequenceMatcher

from rapidfuzz.distance import Indel

_NO_LETTER = re.compile(r"\W")
# What the library drops from a text to make it ASCII: one block only, letters beyond it stay.
_LATIN_1 = dict.fromkeys(range(128, 256))


def token_sort_ratio(a: str, b: str) -> int:
    """Similarity in whole per cent of two texts whose words are sorted.

    Case and signs do not count, letters of Latin-1 beyond ASCII are dropped. 100 if nothing differs, also where
    nothing is left of either; 0 if nothing is left of one.

    >>> token_sort_ratio("The Tap-House", "house tap the"), token_sort_ratio("7 pm", "7:30 pm")
    (100, 73)
    >>> token_sort_ratio("?", "!"), token_sort_ratio("?", "x"), token_sort_ratio("café", "caf")
    (100, 0, 100)
    """
    return _ratio(a, b, Indel.normalized_similarity)


def difflib_ratio(a: str, b: str) -> int:
    """``token_sort_ratio`` without python-Levenshtein: twice the letters in common blocks by all letters.

    The order of the two texts matters, unlike there.

    >>> difflib_ratio("9:30 in the morning", "3:15 in the afternoon")
    45
    >>> token_sort_ratio("9:30 in the morning", "3:15 in the afternoon")
    55
    """
    return _ratio(a, b, lambda left, right: SequenceMatcher(None, left, right).ratio())


def _ratio(a: str, b: str, similarity: Callable[[str, str], float]) -> int:
    left, right = _sorted(a), _sorted(b)
    if left == right:
        return 100
    return round(100 * similarity(left, right)) if left and right else 0


def _sorted(text: str) -> str:
    kept = _NO_LETTER.sub(" ", text.translate(_LATIN_1))
    return " ".join(sorted(kept.lower().split()))
