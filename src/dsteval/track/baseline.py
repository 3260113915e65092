"""A tracker without weights: patterns and a list of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from dsteval.track import rules as rule
from dsteval.track import travel, open_values
from dsteval.track.lexicon import Lexicon, lexicon_from_schema, lexicon_from_states, lexicon_from_values
from dsteval.track.scene import Memory, Scene
from dsteval.track.vocabulary import BUNDLED

__all__ = ["RULES", "Baseline"]

RULES = ("values", "spelling", "numbers", "times", "days", "any", "answers", "offers", "references", "changes", "travel")


class Baseline:
    needs = "turn"

    def __init__(self, schema=None, train=None, rules: Collection[str] = RULES) -> None:
        self.rules = frozenset(rules)
        self.lexicon = lexicon_from_schema(schema) if schema is not None else lexicon_from_values(train or {k: Counter(v) for k, v in BUNDLED.items()})
        self.reset()

    def reset(self, dialogue_id: str | None = None) -> None:
        self.state: dict[str, str] = {}
        self.memory = Memory()

    def update(self, system: str, user: str) -> dict[str, str]:
        scene = Scene(self.lexicon, self.state, self.memory, system, user, "spelling" in self.rules)
        on = self.rules
        if "answers" in on or "any" in on:
            rule.ask(scene)
        self._topic(scene)
        for group, apply in (
            ("references", travel.refer), ("travel", travel.places), ("values", rule.values), ("values", rule.flags), ("numbers", rule.numbers),
            ("times", rule.times), ("days", rule.days), ("answers", rule.answer), ("any", rule.any_value),
            ("offers", rule.accept_offers), ("days", open_values.dates), ("times", open_values.spoken_times), ("values", open_values.phrases),
            ("numbers", open_values.amounts), ("answers", open_values.answers), ("offers", open_values.accept_names), *([("offers", rule.accept_values)] if self.lexicon.opened else []),
        ):
            if group in on:
                apply(scene)
        self.state.update(scene.new)
        for name in scene.new:
            d = self.lexicon.slots[name].domain
            if d in self.memory.order: self.memory.order.remove(d)
            self.memory.order.append(d)
        return dict(self.state)

    def _topic(self, scene: Scene) -> None:
        own = [domain for _, domain, reference in scene.marks if not reference]
        if own:
            self.memory.active = own[-1]
        elif scene.asked and not any(slot.domain == self.memory.active for slot in scene.asked):
            self.memory.active = scene.asked[0].domain
