"""Random corpora: few slots and few values, so that collisions, changes, deletions, slots that come back,
late repairs and empty states all happen within a few turns.

A corpus is {dialogue: [(ref, pred), ...]} of states as a file would hold them. The prediction follows the
reference with a tracker's errors, so that most errors are inherited for some turns.
"""

import re
from typing import Any, TypeAlias

from hypothesis import strategies as st

from naive import Raw

Written: TypeAlias = dict[str, Raw | None]
WrittenTurn: TypeAlias = tuple[Written, Written]
WrittenCorpus: TypeAlias = dict[str, list[WrittenTurn]]
Update: TypeAlias = dict[str, Raw | None]

# fga-trippy leaves the second dialogue out; the first is always there, so that something is left to score.
IDS = ["MUL0001.json", "PMUL1455.json", "SNG0002.json", "mul0003"]

# All of these are MultiWOZ's, in the spelling that canonical slot names have.
MULTIWOZ_SLOTS = ["hotel-area", "hotel-name", "restaurant-book time", "train-day", "taxi-leaveat"]

# "hotel-name" with "rose-garden" and "hotel-name-rose" with "garden" look the same once glued and cut at the
# last hyphen; "spa-room" brings a domain that MultiWOZ does not have.
ODD_SLOTS = ["hotel-name", "hotel-name-rose", "hotel-area", "spa-room"]

PLAIN = ["north", "east", "rose-garden", "garden", "1", "10"]
ABSENT_WORDS = ["", "none", "not mentioned"]
LITERAL_VALUES = [
    *PLAIN,
    *ABSENT_WORDS,
    "North",
    " north ",
    "None",
    "dontcare",
    "don't care",
    "north|east",
    "north|rose-garden",
    "rose-garden-hill",
    "east>north",
    'says ":',
]

FOLDED_VALUES = [
    *PLAIN,
    "NORTH",
    " north\t",
    "Rose-Garden",
    "Straße",
    "STRASSE",
    "dontcare",
    "Dont Care",
    "don't  care",
    "do n't care",
    "do nt care",
    "do not care",
    "does not care",
    "doesn't care",
    "center",
    "Centre",
    "guesthouse",
    "guest house",
    "5pm",
    "17:00",
    "9:15",
    "09:15",
    "24:10",
    "00:10",
    "|",
    "",
    "None",
    "not  mentioned",
]
REF_VALUES: list[Raw | None] = [
    *FOLDED_VALUES,
    None,
    "north|east",
    "East>north",
    "north<garden|10",
    "none|north",
    "dontcare|north",
    ["north", "east"],
    ["East"],
    ["none"],
    ["north", "east", "garden"],
    ["none", "rose-garden"],
    ["garden|10", "1"],
]
PRED_VALUES: list[Raw | None] = [
    *FOLDED_VALUES,
    None,
    "north|east",
    "garden|10|north|east",
    "east|none",
    "don't care|north",
    "east>north",
    ["north", "garden"],
    ["East"],
]

_GONE = object()
_MOVES = st.sampled_from(["follow", "stay", "stray", "both", "repair", "follow", "both"])
_LENGTHS = st.sampled_from([1, 1, 2, 3, 4, 5, 6, 7, 8])
_SOMETIMES = st.integers(0, 5)
_ONE_MORE = st.sampled_from(PLAIN)


def _guess(value: Raw | None) -> Raw | None:
    """A text that is right for a reference value under rules that know alternatives."""
    if isinstance(value, list):
        value = value[-1]
    return value if value is None else re.split(r"[|<>]", value)[0]


def _edited(state: Written, edit: dict[str, Any]) -> Written:
    kept = {slot: value for slot, value in state.items() if slot not in edit}
    return kept | {slot: value for slot, value in edit.items() if value is not _GONE}


def _edits(slots: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    changed = st.one_of(values, values, values, st.just(_GONE))
    one = st.tuples(st.sampled_from(slots), changed)
    return st.one_of(st.just([]), st.tuples(one), st.tuples(one, one), st.tuples(one, one, one)).map(dict)


@st.composite
def _turns(
    draw: st.DrawFn,
    ref_edits: st.SearchStrategy[dict[str, Any]],
    pred_edits: st.SearchStrategy[dict[str, Any]],
    literal: bool,
) -> list[WrittenTurn]:
    ref: Written = {}
    pred: Written = {}
    turns = []
    for _ in range(draw(_LENGTHS)):
        edit = draw(ref_edits)
        if not literal and ref and draw(_SOMETIMES) == 0:
            # MultiWOZ 2.2 lists more and more spellings of a value that the user gave once.
            slot = min(ref)
            listed = ref[slot] if isinstance(ref[slot], list) else [ref[slot] or "north"]
            edit[slot] = [*(listed or []), draw(_ONE_MORE)]
        ref = _edited(ref, edit)
        move = draw(_MOVES)
        if move in ("follow", "both"):
            right = edit if literal else {s: v if v is _GONE else _guess(v) for s, v in edit.items()}
            pred = _edited(pred, right)
        if move == "repair":
            pred = {slot: value if literal else _guess(value) for slot, value in ref.items()}
        if move in ("stray", "both"):
            pred = _edited(pred, draw(pred_edits))
        turns.append((ref, pred))
    return turns


def _dialogues(
    slots: list[str], refs: list[Raw | None], preds: list[Raw | None], literal: bool
) -> st.SearchStrategy[list[WrittenTurn]]:
    return _turns(_edits(slots, st.sampled_from(refs)), _edits(slots, st.sampled_from(preds)), literal)


@st.composite
def _some(draw: st.DrawFn, choices: list[st.SearchStrategy[list[WrittenTurn]]]) -> WrittenCorpus:
    dialogues = draw(st.sampled_from(choices))
    others = draw(st.lists(st.sampled_from(IDS[1:]), unique=True, max_size=3))
    ids = draw(st.permutations([IDS[0], *others]))
    return {name: draw(dialogues) for name in ids}


def _corpora(refs: list[Raw | None], preds: list[Raw | None], literal: bool) -> st.SearchStrategy[WrittenCorpus]:
    inventories = [MULTIWOZ_SLOTS[:3], MULTIWOZ_SLOTS, ODD_SLOTS]
    return _some([_dialogues(slots, refs, preds, literal) for slots in inventories])


def corpora() -> st.SearchStrategy[WrittenCorpus]:
    """For protocols that fold values and know alternatives, absent words and dontcare."""
    return _corpora(REF_VALUES, PRED_VALUES, False)


def literal_corpora() -> st.SearchStrategy[WrittenCorpus]:
    """For protocols that compare one text as written: no lists, and null stays away."""
    values: list[Raw | None] = [*LITERAL_VALUES]
    return _corpora(values, values, True)


def trippy_corpora() -> st.SearchStrategy[WrittenCorpus]:
    """Literal ones whose slots are all among the thirty that TripPy's marks stand for."""
    values: list[Raw | None] = [*LITERAL_VALUES]
    dialogues = _dialogues(MULTIWOZ_SLOTS, values, values, True)
    return st.fixed_dictionaries({IDS[0]: dialogues}, optional=dict.fromkeys(IDS[1:], dialogues))


@st.composite
def long_corpora(draw: st.DrawFn) -> WrittenCorpus:
    """Dialogues in which nothing moves for up to forty-five turns at a time: distances grow large."""
    values: list[Raw | None] = ["north", "east"]
    turns = _dialogues(MULTIWOZ_SLOTS[:2], values, values, True)
    runs = st.lists(st.tuples(turns, st.integers(1, 45)), min_size=1, max_size=3)
    return {
        name: [turn for turns, times in draw(runs) for turn in turns[:-1] + turns[-1:] * times]
        for name in [IDS[0], IDS[2]]
    }


def updates() -> st.SearchStrategy[list[Update]]:
    """What each turn of a dialogue changes; null, "[DELETE]" and "none" delete."""
    deletions: list[Raw | None] = [None, "[DELETE]", "[delete]", "none", "None", ""]
    values = st.sampled_from([*PRED_VALUES, *deletions])
    turn = st.dictionaries(st.sampled_from(MULTIWOZ_SLOTS[:3]), values, max_size=3)
    return st.lists(turn, min_size=1, max_size=8)
