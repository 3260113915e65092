"""A reference against itself: no protocol takes equal states for right unseen; which are not perfect, and why."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

import dsteval
from dsteval.dialogue import Dialogue, Items, Turn, Value
from dsteval.errors import ProtocolError
from dsteval.outcomes.cells import Rule
from dsteval.outcomes.table import Outcomes
from dsteval.outcomes.turns import Comparer
from dsteval.pipeline.run import Run
from dsteval.pipeline.scan import Scan
from dsteval.protocols import model as protocol
from generated import SEED, Values, corpus, options
from twins import every_metric

NAMES = protocol.names()
# What a reference may hold, beside a slot that nobody objects to.
KINDS: dict[str, tuple[str, Value]] = {
    "plain": ("hotel-area", "north"),
    "name": ("hotel-name", "lodge"),
    "none": ("hotel-area", "none"),
    "empty": ("hotel-area", ""),
    "not mentioned": ("hotel-area", "not mentioned"),
    "null": ("hotel-area", None),
    "dontcare": ("hotel-area", "dontcare"),
    "do n't care": ("hotel-area", "do n't care"),
    "a|b": ("hotel-area", "north|south"),
    "a>b": ("hotel-area", "north>south"),
    "list": ("hotel-area", ("north", "south")),
    "list in two spellings": ("restaurant-book people", ("1", "one")),
    "empty list": ("hotel-area", ()),
    "no letters": ("hotel-area", "?"),
    "article": ("hotel-area", "the"),
    "unknown name": ("hotel-name", "ritz"),
    "ends in none": ("hotel-internet", "all none"),
    "blanks": ("hotel-area", " north  "),
    "typo": ("hotel-area", "center"),
    "noise": ("hotel-type", "nigh"),
}

# The reference writes so for a slot that is not set; a prediction of the same text is one that was set.
UNSET = {"none", "not mentioned", "empty"}
# Labels are corrected, predictions are not.
OF_TRADE = {"typo", "noise", "not mentioned", "empty"}

IMPERFECT: dict[str, set[str]] = {
    "convlab-t5": UNSET - {"empty"},
    "convlab-unified": UNSET - {"empty"},
    # Alternatives are the reference's only.
    "dst-prompting": {*UNSET - {"empty"}, "a|b"},
    # An empty list is wrong whatever it meets, and one value in two spellings makes F1 more than 1.
    "dstc10": {"empty list", "list in two spellings"},
    # The table of typos and the stripping are for predictions, and so is the dropping of dontcare.
    "fnctod": {"dontcare", "typo", "blanks"},
    "hidst": UNSET - {"none"},
    # Predictions are corrected, and names that the ontology lacks erased.
    "icdst": {*UNSET - {"empty"}, "unknown name", "typo"},
    # dontcare leaves the reference, and stays in the prediction.
    "mwzeval": {*UNSET, "dontcare"},
    "mwzeval-2023": {*UNSET, "dontcare"},
    # What ends in none leaves the prediction, which is stripped too.
    "simpletod": {"ends in none", "blanks"},
    "somdst": {*OF_TRADE, "none"},
    "t5dst": OF_TRADE,
    "trade": OF_TRADE,
    "trippy": {"empty", "not mentioned"},
}
LISTS = {"list", "list in two spellings"}


def reads_lists(name: str) -> bool:
    """Whether the protocol takes several values of a slot, on both sides."""
    states = protocol.load(name).states
    return "literal" not in (states.alternatives, states.alternatives_pred)


def against_itself(name: str, slot: str, value: Value) -> float | None:
    """JGA of a state of two slots against itself; None where the protocol refuses it."""
    state = [("restaurant-food", "italian"), (slot, value)]
    made = [Dialogue("d", [Turn(0, [*state], [*state])])]
    try:
        return dsteval.evaluate(None, made, metrics=["JGA"], protocol=name, **options(name))["JGA"].value
    except ProtocolError:
        return None


@pytest.mark.parametrize("name", NAMES)
def test_which_references_are_not_perfect_against_themselves(name: str) -> None:
    # A file has no list without a text in SGD's format.
    kinds = {kind: item for kind, item in KINDS.items() if not (name.startswith("sgd") and kind == "empty list")}
    found = {kind: against_itself(name, *item) for kind, item in kinds.items()}
    assert {kind for kind, value in found.items() if value is None} == (set() if reads_lists(name) else LISTS)
    assert {kind for kind, value in found.items() if value == 0} == IMPERFECT.get(name, set())
    assert {value for value in found.values() if value} == {1.0}


def test_a_repeated_word_for_nothing_is_perfect_where_both_sides_drop_it() -> None:
    for kind in ("none", "empty", "not mentioned"):
        perfect = {name for name in NAMES if kind not in IMPERFECT.get(name, set())}
        assert {"exact", "normalised", "simpletod-v1", "fga-official", "gca"} <= perfect


PLAIN: Values = {
    "hotel-area": ["north", "south", "centre"],
    "hotel-name": ["lodge"],
    "hotel-book people": ["1", "10", "4"],
    "restaurant-food": ["italian"],
    "train-leaveat": ["10:15", "17:00"],
}


@pytest.mark.parametrize("name", NAMES)
def test_a_plain_reference_is_perfect_against_itself(name: str) -> None:
    made = corpus(Random(SEED), PLAIN, dialogues=20)
    never_deleting = name == "hidst"
    dialogues = []
    for number, turns in enumerate(made):
        state: dict[str, str] = {}
        states = [state := {**state, **ref} if never_deleting else ref for ref, _ in turns]
        items: list[Items] = [[*ref.items()] for ref in states]
        dialogues.append(Dialogue(f"d{number}", [Turn(t, b, [*b]) for t, b in enumerate(items)]))
    result = dsteval.evaluate(None, dialogues, protocol=name, **options(name))
    # All by their rules: the recipe's JGA is wrong, RSA counts an empty turn 0, and GCA a deletion as missed.
    own = {"card-recipe": {"JGA"}, "gca": {"RSA", "GCA"}}.get(name, set())
    found = {score.metric: score.value for score in result.scores if score.value is not None}
    assert {metric for metric, value in found.items() if value != 1} == own


# The shortcut ----------------------------------------------------------------------------------------------------


def dialogues_of(chance: Random, name: str) -> Iterator[Dialogue]:
    """References against themselves and against predictions, over values of all kinds that the protocol takes."""
    kinds = {kind: item for kind, item in KINDS.items() if reads_lists(name) or kind not in LISTS}
    made = corpus(chance, {slot: [k for k, (s, _) in kinds.items() if s == slot] for slot, _ in kinds.values()})
    for number, turns in enumerate(made):
        sides = [[[(slot, KINDS[kind][1]) for slot, kind in state.items()] for state in turn] for turn in turns]
        yield Dialogue(f"same{number}", [Turn(t, ref, [*ref]) for t, (ref, _) in enumerate(sides)])
        yield Dialogue(f"other{number}", [Turn(t, ref, pred) for t, (ref, pred) in enumerate(sides)])


def outcomes_of(name: str, look: bool) -> Outcomes:
    """The outcomes; with ``look`` every slot is looked at, also where two states are equal."""
    every = {str(metric): metric for metric in every_metric([])}
    scan = Scan(Run.of(name, **options(name)), None, dialogues_of(Random(SEED), name), every)
    if look:

        class Looking(type(scan.matcher)):  # type: ignore[misc]
            reflexive = literal = False

        assert isinstance(scan.comparer, Comparer)
        scan.comparer.rule = Rule(scan.preparer.vocabulary, Looking(scan.run.tables))
    for _ in scan.compared():
        pass
    return scan.outcomes()


@pytest.mark.parametrize("name", [name for name in NAMES if protocol.load(name).scope.unit == "turn"])
def test_the_shortcut_for_equal_states_changes_nothing(name: str) -> None:
    quick, slow = outcomes_of(name, look=False), outcomes_of(name, look=True)
    assert len(quick) == len(slow) > 1000
    for column in quick.units:
        assert (quick.units[column] == slow.units[column]).all(), column
    assert (quick.wrong_rows == slow.wrong_rows).all()
    assert (quick.wrong_score == slow.wrong_score).all()
    assert quick.extra.keys() == slow.extra.keys()
    assert all((quick.extra[key] == slow.extra[key]).all() for key in quick.extra)
