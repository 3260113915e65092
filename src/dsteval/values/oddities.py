"""Values that are most likely no values: words for "nothing", marks of deletion, what models leave behind."""

import re
import unicodedata
from functools import cache
from typing import Literal

NULLS: frozenset[str] = frozenset(
    [
        "null",
        "nil",
        "nan",
        "n/a",
        "not_mentioned",
        "not given",
        "not specified",
        "unspecified",
        "undefined",
        "unknown",
        "?",
        "-",
        "--",
        "未提及",
        "无",
    ]
)
"""Words that stand for "no value" in some files, folded; no protocol of ours takes them so."""

_MARK = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|</?s>|<(?:pad|unk|eos|bos|sep|[es]os_\w+)>|\[(?:pad|unk|cls|sep|eos|bos)\]", re.I
)


def has_mark(text: str) -> bool:
    """Whether a text holds a special token of a language model.

    >>> has_mark("north<|im_end|>"), has_mark("north</s>"), has_mark("monday<tuesday")
    (True, True, False)
    """
    return ("<" in text or "[" in text) and _MARK.search(text) is not None


@cache
def oddity(text: str) -> Literal["", "null", "deletion", "mark"]:
    """What makes a text an odd value, if anything does.

    >>> oddity("N/A"), oddity("[DELETE]"), oddity("north<|im_end|>"), oddity("north")
    ('null', 'deletion', 'mark', '')
    """
    folded = text.strip().casefold()
    if folded in NULLS:
        return "null"
    if folded == "[delete]":
        return "deletion"
    return "mark" if has_mark(text) else ""


@cache
def visible(text: str) -> str:
    r"""A text as it looks: compatibility forms (full-width digits) made plain, characters without width left out.

    >>> visible("\uff11\uff12") == "12", visible("nor\u200bth") == "north"
    (True, True)
    """
    if text.isascii():
        return text
    shown = unicodedata.normalize("NFKC", text)
    return "".join(letter for letter in shown if unicodedata.category(letter) != "Cf")
