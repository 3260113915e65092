"""Belief spans, '[hotel] area north stars 3', the text form of states in DAMD, UBAR, PPTOD, MinTL and FnCTOD."""

from typing import Any

from dsteval.dialogue import Items, Side, Turn
from dsteval.readers.base import Flattener
from dsteval.readers.json_format import JsonFormat

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
    spans: list[tuple[str, list[str]]] = []
    domain = ""
    value: list[str] = []
    for word in _words(text):
        if word in _DOMAINS:
            domain, value = word[1:-1], []
        elif domain and word in _SLOTS:
            value = []
            spans.append((f"{domain}-{word}", value))
        else:
            value.append(word)
    return [(slot, " ".join(value)) for slot, value in spans]


class SpanFormat(JsonFormat):
    """A format whose turns hold two spans. A tracker may generate anything, but a reference that does not begin
    with a domain is another form of text, of which nothing would be left.
    """

    def turn(self, record: dict[str, Any], name: str, number: int, side: Side, flattener: Flattener) -> Turn:
        """One turn by its two spans."""
        no_text = next((key for key in FIELDS if not isinstance(record.get(key), str)), None)
        if no_text is not None:
            flattener.note(name, number, f"a belief span as text in {no_text}", record.get(no_text, record))
            return Turn(number)
        ref, pred = (record[key] for key in FIELDS)
        if not (_words(ref) or ["["])[0].startswith("["):
            flattener.note(name, number, "a span that begins with a domain such as [hotel]", ref)
        user = flattener.utterance(record.get("user"), name, number)
        return Turn(number, span_items(ref), span_items(pred), user=user)
