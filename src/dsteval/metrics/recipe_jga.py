"""The recipe of an evaluation card for joint accuracy, which is not joint accuracy."""

from dsteval.metrics.base import FlagMetric


class _RecipeJGA(FlagMetric):
    """Share of turns with as many right values as the reference has domains. Wrong: use JGA.

    Formula: |{t : right slots of t = domains of B_t}| / turns. Unit: fraction, 0..1; a perfect prediction does
    not reach 1. NaN without turns.

    Differs from: the card's own text, which asks for an exact match across all domains. The recipe compares a
    number of values with a number of domains and never sees a false positive. Where the prediction lacks a
    domain it stops with an error; here no value of that domain is right.

    >>> import dsteval
    >>> ref = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    >>> dsteval.evaluate(ref, ref, metrics=["RecipeJGA"])["RecipeJGA"].value
    0.5

    Reference: evaluation card "multiwoz-2.1-eval".
    """

    about = "share of turns with as many right values as the reference has domains (a card's recipe; wrong)"
    extra = "recipe"
    perfect = False


RecipeJGA = _RecipeJGA()
