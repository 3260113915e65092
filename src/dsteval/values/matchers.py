"""When a predicted value is right: matchers, each under a name that ``match.rule`` of a protocol gives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dsteval.values.user_tables import UserTables

PreparedValue: TypeAlias = str | frozenset[str] | tuple[str, ...]
"""A text, the set of accepted (or guessed) texts, or, where a rule counts a list, its texts in order."""


def texts(value: PreparedValue) -> tuple[str, ...]:
    """The texts of a value, those of a list in its order.

    >>> texts(frozenset({"moderate", "cheap"})), texts("cheap")
    (('cheap', 'moderate'), ('cheap',))
    """
    if isinstance(value, str):
        return (value,)
    return tuple(sorted(value)) if isinstance(value, frozenset) else value


def matches(ref: PreparedValue, pred: PreparedValue) -> bool:
    """Whether a predicted value is right: equal, or every guess inside the accepted set.

    >>> matches(frozenset({"cheap", "moderate"}), "cheap"), matches("cheap", frozenset({"cheap", "moderate"}))
    (True, False)
    """
    if isinstance(ref, str):
        return ref == pred
    return pred in ref if isinstance(pred, str) else set(pred).issubset(ref)


def same_ref(before: PreparedValue | None, now: PreparedValue | None) -> bool:
    """Whether a reference value stayed: equal, or the accepted sets share a value.

    >>> same_ref("19:30", frozenset({"19:30", "7:30 pm"}))
    True
    """
    if before == now or before is None or now is None:
        return before == now
    return not set(texts(before)).isdisjoint(texts(now))


class Matcher:
    """``exact``: equality of the prepared values, any of several accepted ones.

    ``needs`` names the file that the rule cannot do without; ``reflexive`` tells whether every value is right
    against itself, so that equal states need no look; ``literal`` whether single texts match only where they are
    equal; ``graded`` whether scores between 0 and 1 occur; ``swaps_new`` whether a value that is new in the
    prediction is looked for in the reference with the sides swapped; ``categorical`` are the slots that a schema
    calls so, for rules that ask. The rule of a published scorer is in a module of the tool's name, loaded only
    where it is asked.
    """

    needs = ""
    reflexive = True
    literal = True
    graded = False
    swaps_new = False

    def __init__(self, given: UserTables) -> None:
        self.categorical: Collection[str] = frozenset()
        self.variants = given.variants if self.needs == "variants" else {}
        # How right a predicted value is, 0..1; each distinct question is answered once.
        self.score: Callable[[str, PreparedValue, PreparedValue], float] = cache(self.rule)

    def right(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> bool:
        """Whether a predicted value is right: its score is 1."""
        return self.score(slot, ref, pred) == 1

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """The rule itself."""
        return float(matches(ref, pred))

    def same(self, slot: str, before: PreparedValue | None, now: PreparedValue | None) -> bool:
        """Whether a value of the reference stayed from one turn to the next: equality without fuzziness."""
        return same_ref(before, now)

    def same_pred(self, slot: str, before: PreparedValue | None, now: PreparedValue | None) -> bool:
        """Whether a predicted value stayed."""
        return before == now


def _any(ref: PreparedValue, pred: PreparedValue, right: Callable[[str, str], bool]) -> float:
    """1 where every guess is right by some accepted value."""
    return float(all(any(right(r, p) for r in texts(ref)) for p in texts(pred)))


class OverlapMatcher(Matcher):
    """ConvLab-3's unified evaluation: any guess that is any accepted value will do, so that hedging wins."""

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """1 where the two sets share a value."""
        return float(not set(texts(ref)).isdisjoint(texts(pred)))


class MwzevalMatcher(Matcher):
    """mwzeval: fuzzywuzzy's partial_ratio above 95, a text that contains the other included."""

    literal = False

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """1 above 95."""
        from dsteval.values.tools.mwzeval import matches

        return _any(ref, pred, matches)


class TrippyMatcher(Matcher):
    """TripPy: equal, or one of the variants that the label map lists for the reference."""

    needs = "variants"
    literal = False

    @cached_property
    def _tokenised(self) -> dict[str, list[str]]:
        from dsteval.values.tools.trippy import tokenise_variants

        return tokenise_variants(self.variants)

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """1 where the script would count the slot as right."""
        from dsteval.values.tools.trippy import right

        return _any(ref, pred, lambda r, p: right(r, p, self._tokenised))


class HidstMatcher(Matcher):
    """Hi-DST: containment either way, cleaned texts, times within a quarter of an hour, listed variants."""

    needs = "variants"
    literal = False
    swaps_new = True

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """1 where the script's matcher holds."""
        from dsteval.values.tools.hidst import matches

        return _any(ref, pred, lambda r, p: matches(slot, r, p, self.variants))

    def same(self, slot: str, before: PreparedValue | None, now: PreparedValue | None) -> bool:
        """Equal, or one is listed as a variant of the other; the fuzzy matcher is not asked."""
        from dsteval.values.tools.hidst import seen

        if before is None or now is None:
            return before == now
        return any(seen(b, n, self.variants) for b in texts(before) for n in texts(now))

    same_pred = same


class Dstc10Matcher(Matcher):
    """DSTC10: a slot holds a list; it is right where the F1 of the two lists is 1."""

    reflexive = False
    literal = False
    graded = True

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """F1 of the two lists."""
        from dsteval.values.tools.dstc10 import list_score

        return list_score(texts(ref), texts(pred))


class SgdExactMatcher(Matcher):
    """SGD with use_fuzzy_match off: a slot's first predicted value against those of the reference, in their order.

    A categorical slot takes the first of the reference's only.
    """

    literal = False

    def rule(self, slot: str, ref: PreparedValue, pred: PreparedValue) -> float:
        """1 where it is right, or, under the fuzzy rule, how near it is."""
        accepted, guesses = texts(ref), texts(pred)
        if not guesses or not accepted:
            return 0.0
        if slot in self.categorical:
            return float(accepted[0] == guesses[0])
        return max(self.near(text, guesses[0]) for text in accepted)

    def near(self, ref: str, pred: str) -> float:
        """How near two texts are."""
        return float(ref == pred)


class SgdFuzzyMatcher(SgdExactMatcher):
    """SGD's own: slots that are not categorical score token_sort_ratio to the nearest value of the reference."""

    graded = True

    def near(self, ref: str, pred: str) -> float:
        """The similarity in whole per cent, as a fraction."""
        from dsteval.values.tools.sgd import token_sort_ratio

        return token_sort_ratio(ref, pred) / 100


class SgdDifflibMatcher(SgdFuzzyMatcher):
    """The same where fuzzywuzzy finds no python-Levenshtein, as with the scorer's own requirements file."""

    def near(self, ref: str, pred: str) -> float:
        """The similarity in whole per cent, as a fraction, by the standard library's matching blocks."""
        from dsteval.values.tools.sgd import difflib_ratio

        return difflib_ratio(ref, pred) / 100


MATCHERS: dict[str, type[Matcher]] = {
    "exact": Matcher,
    "overlap": OverlapMatcher,
    "mwzeval": MwzevalMatcher,
    "trippy": TrippyMatcher,
    "hidst": HidstMatcher,
    "dstc10": Dstc10Matcher,
    "sgd-exact": SgdExactMatcher,
    "sgd-fuzzy": SgdFuzzyMatcher,
    "sgd-difflib": SgdDifflibMatcher,
}
"""What ``match.rule`` of a protocol may name."""
