"""The naive twin of every metric: its value and its two integers, by name and parameters.

A metric that is registered without a twin makes every test fail that goes through ``every_metric``.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations, product
from typing import TypeAlias

import naive
import naive_lineage
import naive_more as more
from dsteval import metrics
from dsteval.metrics import Metric
from naive import Corpus

Figures: TypeAlias = tuple[float, int | None, int]
"""Value, count and total as a score has them."""

Parameters: TypeAlias = Mapping[str, str]
Twin: TypeAlias = Callable[[Corpus, int, Parameters, float], Figures]

TWINS: dict[str, Twin] = {}


def twin(name: str) -> Callable[[Twin], Twin]:
    """What a metric's twin is marked with."""

    def mark(function: Twin) -> Twin:
        TWINS[name] = function
        return function

    return mark


LAMBDAS = (0.0, 1e-12, 0.5, 7.0, math.inf)


def turn_metrics() -> list[str]:
    """The names of all metrics but those of service frames, which have an oracle of their own."""
    return [name for name in metrics.names() if "turn" in metrics.find(name).unit]


def every_metric(lambdas: Sequence[float] = LAMBDAS) -> Iterator[Metric]:
    """Every metric of turns as it is, with each value of one parameter, and with several off their defaults."""
    for plain in map(metrics.find, turn_metrics()):
        for given in _given(plain):
            metric = plain(**given)
            if metric.number_about:
                yield from (metric @ number for number in lambdas)
            else:
                yield metric


def _given(plain: Metric) -> Iterator[dict[str, str]]:
    choices = {key: parameter.choices for key, parameter in plain.parameters.items()}
    yield {}
    yield from ({key: value} for key, values in choices.items() for value in values)
    for size in range(2, len(choices) + 1):
        for keys in combinations(choices, size):
            for values in product(*(choices[key][1:] for key in keys)):
                yield dict(zip(keys, values, strict=True))


def figures(
    metric: Metric, corpus: Corpus, protocol: str, n_slots: int, labelled: Corpus | None = None
) -> Figures:
    """What the metric is on a prepared corpus; parameters that were not typed are the protocol's.

    ``labelled`` is the corpus with the slots written "none", where there are any.
    """
    settings = naive.PROTOCOLS[protocol]
    name = settings["means"].get(metric.name, metric.name)
    defaults = {key: parameter.choices[0] for key, parameter in metrics.find(name).parameters.items()}
    own = {"variant": settings["variant"], "split": settings["rsa_split" if name == "RSA" else "split"]}
    own |= settings["own"]
    given = {**defaults, **{key: own[key] for key in own if key in defaults}, **dict(metric.given)}
    if given.get("none") == "value" and labelled is not None:
        corpus = labelled
    if given.get("turns") == "last":
        corpus = more.last_turns(corpus)
    return TWINS[name](corpus, n_slots, given, metric.number or 0.0)


def _averaged(value: float, corpus: Corpus, average: str, count: int | None, total: int) -> Figures:
    return (value, None, len(corpus)) if average == "dialogue" else (value, count, total)


def _turns(corpus: Corpus) -> list[naive.Turn]:
    return list(chain.from_iterable(corpus))


@twin("JGA")
def _jga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    turns = _turns(corpus)
    right = sum(naive.exact(*turn) for turn in turns)
    return _averaged(naive.jga(corpus, given["average"]), corpus, given["average"], right, len(turns))


@twin("TurnMatch")
def _turn_match(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value = naive.turn_match(corpus, given["variant"], given["average"])
    distances = [x for dialogue in corpus for x in naive.error_distances(dialogue, given["variant"])]
    matched = sum(x is None or x > 0 for x in distances)
    return _averaged(value, corpus, given["average"], matched, len(distances))


@twin("FGA")
def _fga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value = naive.fga(corpus, number, given["variant"], given["average"])
    return _averaged(value, corpus, given["average"], None, len(_turns(corpus)))


@twin("SlotAccuracy")
def _slot_accuracy(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    errors = {"first": naive.slot_errors, "last": naive.slot_errors_trade}[given["split"]]
    if given["wrong"] == "twice":
        errors = more.slot_errors_twice
    right = [[n_slots - errors(*turn) for turn in dialogue] for dialogue in corpus]
    value = naive.averaged([[n / n_slots for n in dialogue] for dialogue in right], given["average"])
    total = n_slots * len(_turns(corpus))
    return _averaged(value, corpus, given["average"], sum(map(sum, right)), total)


@twin("AGA")
def _aga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    union = given["over"] == "union"
    return naive.aga(corpus, given["over"]), None, sum(bool(b or (union and p)) for b, p in _turns(corpus))


def _credited(value: float, count: int, total: int, given: Parameters) -> Figures:
    """Under rules that give no parts, a partial credit is a whole one, but no count."""
    return value, count if given["credit"] == "whole" else None, total


@twin("SlotPrecision")
def _precision(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, _, pred = naive.pair_counts(corpus)
    return _credited(naive.slot_precision(corpus), right, pred, given)


@twin("SlotRecall")
def _recall(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, ref, _ = naive.pair_counts(corpus)
    return _credited(naive.slot_recall(corpus), right, ref, given)


@twin("SlotF1")
def _slot_f1(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, ref, pred = naive.pair_counts(corpus)
    return _credited(naive.slot_f1(corpus), 2 * right, ref + pred, given)


@twin("TurnF1")
def _turn_f1(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    return naive.turn_f1(corpus), None, len(_turns(corpus))


@twin("GCA")
def _gca(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value, changes = more.gca(more.gca_counts(corpus))
    return value, None, changes


@twin("RSA")
def _rsa(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    scores = more.rsa_scores(corpus, given["empty"], given["split"])
    return naive.mean(scores), None, len(scores)


@twin("IAGA")
def _iaga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value, turns = more.iaga(corpus)
    return value, None, turns


@twin("DialogueMatch")
def _dialogue_match(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    return more.share(more.dialogue_matches(corpus))


@twin("UpdateAccuracy")
def _update_accuracy(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    return more.share(more.update_matches(corpus))


@twin("RecipeJGA")
def _recipe_jga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    return more.share(more.recipe_matches(corpus))


def _none(corpus: Corpus, n_slots: int, given: Parameters, number: float, kind: str) -> Figures:
    both, ref, pred = more.none_counts(corpus, n_slots)
    count, total = {"precision": (both, pred), "recall": (both, ref), "f1": (2 * both, ref + pred)}[kind]
    return (count / total if total else math.nan), count, total


def _share(count: int, total: int) -> Figures:
    return (count / total if total else math.nan), count, total


@twin("OriginErrors")
def _origin_errors(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    errors = naive_lineage.of_kind(naive_lineage.errors(corpus), given["kind"])
    return _share(len(errors), len(_turns(corpus)))


@twin("RepairRate")
def _repair_rate(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    errors = naive_lineage.of_kind(naive_lineage.errors(corpus), given["kind"])
    return _share(sum(error.end == "repaired" for error in errors), len(errors))


@twin("ErrorLifetime")
def _error_lifetime(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    errors = naive_lineage.of_kind(naive_lineage.errors(corpus), given["kind"])
    return _share(sum(error.lifetime for error in errors), len(errors))


for kind in ("Precision", "Recall", "F1"):
    TWINS[f"None{kind}"] = partial(_none, kind=kind.lower())
