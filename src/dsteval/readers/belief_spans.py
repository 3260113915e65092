"""Belief spans, '[hotel] area north stars 3', the text form of states in DAMD, UBAR, PPTOD, MinTL and FnCTOD."""

import re
from typing import Any, NamedTuple

from dsteval.dialogue import Items, Side, Turn
from dsteval.readers.base import Flattener
from dsteval.readers.json_format import JsonFormat

FIELDS = ("bspn", "bspn_gen")
"""Where a turn holds the span of the reference and that of the prediction."""

_DOMAIN = re.compile(r"\[(?!value_)[^\[\]]+\]")
_SLOT_WORDS = (
    "address area arrive car day departure department destination food id internet leave name parking people "
    "phone postcode price pricerange reference stars stay time type"
)
_SLOTS = frozenset(_SLOT_WORDS.split())


def _words(text: str) -> list[str]:
    """The words between the tokens that begin and end a span, of which a file may lack either."""
    return text.partition("<eos_b>")[0].replace("<sos_b>", " ").split()


class Span(NamedTuple):
    """A span that was taken apart: its items, and the words that belong to no slot, by domain."""

    items: Items
    unplaced: Items


def taken_apart(text: str) -> Span:
    """The items of a span, repeated slots as often as they stand.

    A value ends where a word is a slot or a domain, which is any word in brackets, so one that holds such a word
    is cut there, as the tools cut it. A slot without a value has the value ``""``; words before the first slot of
    a domain belong to nothing.

    >>> taken_apart("<sos_b> [hotel] area north stars [train] day friday <eos_b> ok").items
    [('hotel-area', 'north'), ('hotel-stars', ''), ('train-day', 'friday')]
    >>> taken_apart("stars 3 [restaurant] name the people cafe")
    Span(items=[('restaurant-name', 'the'), ('restaurant-people', 'cafe')], unplaced=[('', 'stars 3')])
    """
    spans: list[tuple[str, list[str]]] = []
    domain = ""
    value: list[str] = []
    loose: list[tuple[str, list[str]]] = [("", value)]
    for word in _words(text):
        if _DOMAIN.fullmatch(word):
            domain, value = word[1:-1], []
            loose.append((domain, value))
        elif domain and word in _SLOTS:
            value = []
            spans.append((f"{domain}-{word}", value))
        else:
            value.append(word)
    return Span(
        [(slot, " ".join(value)) for slot, value in spans],
        [(domain, " ".join(value)) for domain, value in loose if value],
    )


def predicted_items(text: str) -> Items:
    """The items of a predicted span. Words of no slot are dropped, as the tools drop them, unless nothing is left:
    then they are an item of their own, for a state that says something is not empty.

    >>> predicted_items("[weather] location oslo"), predicted_items("[hotel] nice area north")
    ([('weather', 'location oslo')], [('hotel-area', 'north')])
    """
    span = taken_apart(text)
    return span.items or [(domain or "unplaced", words) for domain, words in span.unplaced]


class SpanFormat(JsonFormat):
    """A format whose turns hold two spans. A tracker may generate anything, but a reference with words of no slot
    is another form of text.
    """

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn by its two spans."""
        no_text = next((key for key in FIELDS if not isinstance(record.get(key), str)), None)
        if no_text is not None:
            flattener.note(name, number, f"a belief span as a string in {no_text}", record.get(no_text, record))
            return Turn(number)
        ref, pred = (record[key] for key in FIELDS)
        span = taken_apart(ref)
        for domain, words in span.unplaced:
            place = f"[{domain}] {words}" if domain else words
            flattener.note(
                name, number, "a span of domains such as [hotel], slots such as area, and values", place
            )
        user = flattener.utterance(record.get("user"), name, number)
        return Turn(number, span.items, predicted_items(pred), user=user)
