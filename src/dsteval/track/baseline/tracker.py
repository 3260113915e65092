"""A tracker without weights: patterns, a list of values, and rules for how people answer, refer and accept.

It is the floor that a learned tracker must beat, and what ``track`` runs where no other tracker is named.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from dsteval import readers
from dsteval.errors import OptionError, unknown
from dsteval.readers import Source
from dsteval.readers.source import schema_of
from dsteval.track.baseline import open_values, replies, travel
from dsteval.track.baseline import rules as said
from dsteval.track.baseline.lexicon import Lexicon, lexicon_from_schema, lexicon_from_states, lexicon_from_values
from dsteval.track.baseline.scene import Memory, Scene
from dsteval.track.baseline.vocabulary import VERSION, WORDS

Training = str | Path | Mapping[str, Mapping[str, int]] | Iterable[Mapping[str, str]]
"""Where values come from: labelled data by path, {slot: {value: count}}, or states {slot: value}."""

RULES: Mapping[str, str] = WORDS["rules"]
"""The groups of rules, each of which can be switched off."""

_STEPS: tuple[tuple[str, tuple[Callable[[Scene], None], ...]], ...] = (
    ("references", (travel.refer,)),
    ("travel", (travel.places,)),
    ("values", (said.values, said.flags)),
    ("numbers", (said.numbers,)),
    ("times", (said.times,)),
    ("days", (said.days, open_values.dates)),
    ("times", (open_values.spoken_times,)),
    ("values", (open_values.phrases,)),
    ("numbers", (open_values.amounts,)),
    ("answers", (replies.answer, open_values.answers)),
    ("any", (replies.any_value,)),
    ("offers", (replies.accept_names, open_values.accept_names, replies.accept_values)),
    ("changes", (replies.drop,)),
)


class Baseline:
    """The bundled tracker: it sees one turn after the other and returns the whole state after each.

    Give it a ``schema`` (the content of a schema.json), or ``train``, labelled data to take the values of every
    slot from: a path, states, or an ontology with counts. Without either it knows the closed values of MultiWOZ
    (areas, price ranges, days, numbers) and no names. Where both are given, ``train`` decides. ``rules`` are the
    groups of RULES in use, as a list or as a text with commas. It learns nothing but values, and draws nothing at
    random.

    Raises OptionError for a group of rules that does not exist, ReadError for data that cannot be read.

    >>> tracker = Baseline()
    >>> tracker.update("", "I need a cheap hotel in the north for 2 people")
    {'hotel-pricerange': 'cheap', 'hotel-area': 'north', 'hotel-book people': '2'}
    >>> tracker.update("What day will you arrive?", "Friday, for 3 nights.")["hotel-book day"]
    'friday'
    """

    needs: Literal["turn"] = "turn"
    version = VERSION

    def __init__(
        self,
        schema: Sequence[Mapping[str, Any]] | None = None,
        train: Training | None = None,
        rules: Collection[str] = tuple(RULES),
    ) -> None:
        chosen = [rule.strip() for rule in rules.split(",")] if isinstance(rules, str) else rules
        if unfit := sorted({*chosen} - {*RULES}):
            raise OptionError(unknown("group of rules", unfit[0], list(RULES)))
        self.rules = frozenset(chosen)
        self.lexicon = _lexicon(schema, train)
        self.reset()

    def reset(self, dialogue_id: str | None = None) -> None:
        """Begin a dialogue with an empty state."""
        self.state: dict[str, str] = {}
        self.memory = Memory()

    def update(self, system: str, user: str) -> dict[str, str]:
        """The whole state after the user's turn; ``system`` is what the system said before it, empty at first."""
        scene = Scene(self.lexicon, self.state, self.memory, (system or "", user or ""), self.rules)
        if "answers" in self.rules:
            replies.ask(scene)
        # The domain at hand is the last that the user names, or else the one that the system asks about.
        if named := [domain for _, domain, reference in scene.marks if not reference]:
            scene.active = named[-1]
        elif scene.asked and all(slot.domain != scene.active for slot in scene.asked):
            scene.active = scene.asked[0].domain
        for group, rules in _STEPS:
            for apply in rules if group in self.rules else ():
                apply(scene)
        self.state |= scene.new
        self.memory.active = scene.active
        for name in scene.new:
            domain = self.lexicon.slots[name].domain
            self.memory.order = [other for other in self.memory.order if other != domain] + [domain]
        return dict(self.state)


def states_of(path: str | Path) -> list[dict[str, str]]:
    """The labelled states of a data set that dsteval reads, of one value each.

    Raises ReadError where it cannot be read.
    """
    return [
        {slot: value for slot, value in turn.ref or () if isinstance(value, str)}
        for dialogue in readers.read(Source.open(str(path)), "ref")
        for turn in dialogue.turns
    ]


def _lexicon(schema: Sequence[Mapping[str, Any]] | None, train: Training | None) -> Lexicon:
    if train is None and schema is not None:
        schema_of(schema)
        return lexicon_from_schema(schema)
    if train is None:
        train = {slot: dict.fromkeys(values, 1) for slot, values in WORDS["bundled"].items()}
    elif isinstance(train, str | Path):
        train = states_of(train)
    return lexicon_from_values(train if isinstance(train, Mapping) else lexicon_from_states(train))
