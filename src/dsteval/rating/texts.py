"""What raters read: the FGA paper's text files, one a conversation, and a CSV with an empty column for ratings."""

import re
from collections.abc import Iterable
from typing import Any

from dsteval.dialogue import Dialogue, Items, Turn
from dsteval.errors import ReadError, require
from dsteval.rating.ratings import csv_text

_RULE = "-" * 22
_KEYWORD = re.compile(r"(?:Turn|Sys|Usr|GT|PR|Matched)\s*:|-{5,}\s*$")


def file_name(dialogue: Dialogue) -> str:
    """The name of a conversation's file: its id with .txt behind it.

    Raises OptionError for an id that cannot be a file's name.
    """
    possible = re.fullmatch(r"(?!\.)[^\s/\\\x00]+", dialogue.id)
    require(len(dialogue.id.encode()) < 250, "export", "ids of at most 250 bytes", repr(dialogue.id[:40] + "..."))
    require(possible, "export", "ids that are valid file names without blanks", repr(dialogue.id))
    return f"{dialogue.id}.txt"


def text_of(dialogue: Dialogue) -> str:
    """A conversation as the paper's text, which the reader ``fga-text`` reads.

    Domains and slots stand in the order of the state, a domain's slots together. An empty reference state is
    written ``{{}}``, as in the paper's files, an empty predicted one ``{}``. Raises ReadError for what the format
    cannot say (``check``).
    """
    check(dialogue)
    lines = [f"Dialogue ID : {dialogue.id}", _RULE]
    for turn in dialogue.turns:
        ref, pred = nested(turn.ref or []), nested(turn.pred or [])
        system = f"Sys : {turn.system or ' '}"
        lines += [f"Turn: {turn.number}", system, f"Usr : {turn.user or ''}", ""]
        lines += [f"GT  : {ref or '{{}}'}", f"PR  : {pred or '{}'}", "", f"Matched : {ref == pred}", "", _RULE]
    return "\n".join(lines) + "\n"


def check(dialogue: Dialogue) -> None:
    """Raise ReadError where the text format cannot hold a conversation."""
    check_sides(dialogue)
    for turn in dialogue.turns:
        where = f"dialogue {dialogue.id!r}, turn {turn.number}"
        twice = any(len(dict(items)) < len(items) for items in (turn.ref or [], turn.pred or []))
        found = "updates" if dialogue.updates else "a slot twice"
        require(not (dialogue.updates or twice), where, "whole states with each slot once", found, ReadError)
        for text in (turn.system or "", turn.user or ""):
            keywords = [repr(line[:40]) for line in text.splitlines()[1:] if _KEYWORD.match(line)]
            expected = "utterances without lines that look like the format's own"
            require(not keywords, where, expected, "".join(keywords[:1]), ReadError)


def check_sides(dialogue: Dialogue) -> None:
    """Raise ReadError for a turn of which a rater would not see both states."""
    for turn in dialogue.turns:
        where = f"dialogue {dialogue.id!r}, turn {turn.number}"
        expected = "a reference and a predicted state"
        require(None not in (turn.ref, turn.pred), where, expected, "at most one of them", ReadError)


def nested(items: Items) -> dict[str, Any]:
    """A state as domain -> slot -> value; a slot without a domain stands by itself."""
    found: dict[str, Any] = {}
    for slot, value in items:
        domain, hyphen, name = slot.partition("-")
        inner = found.setdefault(domain, {}) if hyphen else found
        possible = isinstance(inner, dict) and (hyphen or slot not in found)
        require(possible, f"slot {slot!r}", "slots that are not also a domain", repr(domain), ReadError)
        inner[name or slot] = list(value) if isinstance(value, tuple) else value
    return found


def sheet(dialogues: Iterable[Dialogue], rater: str = "") -> str:
    """A CSV with a row for each conversation: item, turns as text, an empty rating, rater, an empty comment."""
    rows = ((one.id, "\n".join(map(_shown, one.turns)), "", rater, "") for one in dialogues)
    return csv_text(["item", "turns", "rating", "rater", "comment"], rows)


def _shown(turn: Turn) -> str:
    lines = [f"[{turn.number}] System: {turn.system}" if turn.system else f"[{turn.number}]"]
    lines += [f"User: {turn.user}"] if turn.user else []
    sides = (("Reference", turn.ref), ("Tracker", turn.pred))
    lines += [f"{name}: {_state(items)}" for name, items in sides if items is not None]
    return "\n".join(lines)


def _state(items: Items) -> str:
    texts = (f"{slot} = {'|'.join(value) if isinstance(value, tuple) else value}" for slot, value in items)
    return ", ".join(texts) or "(nothing)"
