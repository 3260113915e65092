"""SGD's similarity of two texts, as its scorer gets it from fuzzywuzzy."""

import re

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
    left, right = _sorted(a), _sorted(b)
    if left == right:
        return 100
    return round(100 * Indel.normalized_similarity(left, right)) if left and right else 0


def _sorted(text: str) -> str:
    kept = _NO_LETTER.sub(" ", text.translate(_LATIN_1))
    return " ".join(sorted(kept.lower().split()))
