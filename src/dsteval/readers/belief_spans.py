"""Belief spans, '[hotel] area north stars 3', the text form of states in DAMD, UBAR, PPTOD, MinTL and FnCTOD."""

from __future__ import annotations

from typing import Any

from dsteval.dialogue import Items, Turn
from dsteval.readers.base import Grouped, fields, shown, turn_number
from dsteval.readers.json_pairs import Pairs

__all__ = ["FIELDS", "add_listed", "add_turn", "span_items"]

FIELDS = ("bspn", "bspn_gen")
"""Where a turn holds the span of the reference and that of the prediction."""

_DOMAINS = frozenset(
    f"[{domain}]" for domain in ("attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train")
)
_SLOT_WORDS = (
    "address area arrive car day departure department destination food id internet leave name parking people "
    "phone postcode price pricerange reference stars stay time type"
)
_SLOTS = frozenset(_SLOT_WORDS.split())


def _words(text: str) -> list[str]:
    """The words between the tokens that begin and end a span, of which a file may lack either."""
    return text.partition("<eos_b>")[0].replace("<sos_b>", " ").split()


def span_items(text: str) -> Items:
    """The items of a span, repeated slots as often as they stand.

    A value ends where a word is a slot or a domain, so one that holds such a word is cut there, as the tools cut
    it. A slot without a value has the value ``""``; words before the first slot of a domain belong to nothing.

    >>> span_items("<sos_b> [hotel] area north stars [train] day friday <eos_b> ok")
    [('hotel-area', 'north'), ('hotel-stars', ''), ('train-day', 'friday')]
    >>> span_items("stars 3 [restaurant] name the people cafe")
    [('restaurant-name', 'the'), ('restaurant-people', 'cafe')]
    """
    found: list[tuple[str, list[str]]] = []
    domain = ""
    value: list[str] = []
    for word in _words(text):
        if word in _DOMAINS:
            domain, value = word[1:-1], []
        elif domain and word in _SLOTS:
            value = []
            found.append((f"{domain}-{word}", value))
        else:
            value.append(word)
    return [(slot, " ".join(value)) for slot, value in found]


def add_turn(turns: Grouped, name: str, number: int, found: dict[str, Any]) -> None:
    """Take in a turn by its two spans. A tracker may generate anything, but a reference that does not begin
    with a domain is another form of text, of which nothing would be left.
    """
    flattener = turns.flattener
    odd = next((key for key in FIELDS if not isinstance(found.get(key), str)), "")
    if odd:
        expected = f"a belief span as text in {odd}"
        flattener.problems.add(name, number, expected=expected, found=shown(found.get(odd, found)))
        turns.total += 1
        return
    ref, pred = (found[key] for key in FIELDS)
    if not (_words(ref) or ["["])[0].startswith("["):
        flattener.problems.add(
            name, number, expected="a span that begins with a domain such as [hotel]", found=shown(ref)
        )
    user = flattener.utterance(found.get("user"), name, number)
    turns.add(name, Turn(number, span_items(ref), span_items(pred), user=user))


def add_listed(turns: Grouped, name: str, value: Any) -> None:
    """Take in a dialogue that is a list of turns, each with its number in ``turn_num``."""
    problems = turns.flattener.problems
    turns.turns.setdefault(name, [])
    if not isinstance(value, list) or isinstance(value, Pairs):
        problems.add(name, None, expected="a list of turns", found=shown(value))
        return
    for position, record in enumerate(value):
        found = fields(record, f"{problems.source}, dialogue {name!r}, turn {position}")
        number = turn_number(found.get("turn_num"))
        if number is None:
            expected = "a turn with bspn, bspn_gen and a number as turn_num"
            problems.add(name, position, expected=expected, found=shown(record))
            turns.total += 1
        else:
            add_turn(turns, name, number, found)
