"""TripPy's comparison of values: on tokens, with variants, and with an eye on the reference."""

import re
from collections.abc import Mapping, Sequence

Variants = Mapping[str, Sequence[str]]

_SEPARATORS = re.compile(r"(\W+)")
_BLANK_OF_BPE = "\u0120"
_CLASSES = frozenset({"none", "dontcare", "true", "false"})

MARK = "\N{SECTION SIGN}\N{SECTION SIGN}"
"""What stands before a value that the system informed."""


def _tokens(text: str) -> list[str]:
    return [token for part in _SEPARATORS.split(text) if (token := part.strip())]


def tokenise(text: str) -> str:
    """A text with one blank between words and runs of other characters, in its case.

    Where the mark occurs that GPT's tokenisation puts for a blank, that is undone first. References,
    predictions and both sides of the variants have to be put through this before anything below.

    >>> tokenise("11:45"), tokenise("rosa's  B&B")
    ('11 : 45', "rosa ' s B & B")
    """
    if _BLANK_OF_BPE in text:
        text = text.replace(" ", "").replace(_BLANK_OF_BPE, " ").strip()
    return " ".join(_tokens(text))


def normalise(slot: str, value: str) -> str:
    """A value of either side, tokenised."""
    return tokenise(value)


def tokenise_variants(variants: Variants) -> dict[str, list[str]]:
    """The ``label_maps`` of a dataset configuration with keys and variants tokenised.

    >>> tokenise_variants({"guest house": ["guest-house"]})
    {'guest house': ['guest - house']}
    """
    return {tokenise(value): [tokenise(one) for one in listed] for value, listed in variants.items()}


def _sublist(part: str, whole: str) -> bool:
    inner, outer = _tokens(part), _tokens(whole)
    return any(outer[start : start + len(inner)] == inner for start in range(len(outer) + 1 - len(inner)))


def _alike(one: str, other: str) -> bool:
    return one == other or _sublist(one, other) or _sublist(other, one)


def rewrite(ref: str, pred: str, variants: Variants) -> str:
    """A predicted value that was taken from the system's turn or from another slot, after a look at the reference.

    It becomes the reference's value if the tokens of one are a stretch of the other's, or else if that holds for
    the reference and a variant of the prediction, or, only where the prediction has no variants listed, for the
    prediction and a variant of the reference. No tokens are a stretch of anything. The result is what the state
    carries on. The script does this to values behind the mark "§§" that are not "none".

    >>> rewrite("acorn guest house", "the acorn guest house", {}), rewrite("ashley", "acorn", {})
    ('acorn guest house', 'acorn')
    >>> rewrite("centre", "downtown", {"centre": ["downtown", "center"]})
    'centre'

    Source: metric_bert_dst.py in alexa/dialoglue and SuvodipDey/FGA.
    """
    if _alike(pred, ref):
        return ref
    if pred in variants:
        return ref if any(_alike(ref, variant) for variant in variants[pred]) else pred
    return ref if any(_alike(pred, variant) for variant in variants.get(ref, ())) else pred


def right(ref: str, pred: str, variants: Variants) -> bool:
    """Whether a tracked value counts as right: equal to the reference's, or to one of its variants.

    Variants count in this direction only, and for none, dontcare, true and false not at all.

    >>> right("centre", "center", {"centre": ["center"]}), right("center", "centre", {"centre": ["center"]})
    (True, False)
    """
    return ref == pred or (ref not in _CLASSES and pred in variants.get(ref, ()))
