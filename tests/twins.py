"""The naive twin of every metric: its value and its two integers, by name and parameters.

A metric that is registered without a twin makes every test fail that goes through ``every_metric``.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import TypeAlias

import naive
from dsteval import metrics
from dsteval.metrics import Metric
from naive import Corpus

Figures: TypeAlias = tuple[float, int | None, int]
"""Value, count and total as a score has them."""

Parameters: TypeAlias = Mapping[str, str]
Twin: TypeAlias = Callable[[Corpus, int, Parameters, float], Figures]

LAMBDAS = (0.0, 1e-12, 0.5, 7.0, math.inf)


def every_metric(lambdas: Sequence[float] = LAMBDAS) -> Iterator[Metric]:
    """Every metric at hand with every value of every parameter, typed and left out, and every lambda."""
    for name in metrics.names():
        plain = metrics.find(name)
        choices = [[None, *parameter.choices] for parameter in plain.parameters.values()]
        for values in product(*choices):
            given = {key: v for key, v in zip(plain.parameters, values, strict=True) if v is not None}
            metric = plain(**given)
            if metric.number_about:
                yield from (metric @ number for number in lambdas)
            else:
                yield metric


def figures(metric: Metric, corpus: Corpus, protocol: str, n_slots: int) -> Figures:
    """What the metric is on a prepared corpus; parameters that were not typed are the protocol's."""
    settings = naive.PROTOCOLS[protocol]
    own = {"variant": settings["variant"], "split": settings["split"], "average": "turn", "over": "ref"}
    return TWINS[metric.name](corpus, n_slots, {**own, **dict(metric.given)}, metric.number or 0.0)


def _averaged(value: float, corpus: Corpus, average: str, count: int | None, total: int) -> Figures:
    return (value, None, len(corpus)) if average == "dialogue" else (value, count, total)


def _turns(corpus: Corpus) -> list[naive.Turn]:
    return list(chain.from_iterable(corpus))


def _jga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    turns = _turns(corpus)
    right = sum(naive.exact(*turn) for turn in turns)
    return _averaged(naive.jga(corpus, given["average"]), corpus, given["average"], right, len(turns))


def _turn_match(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value = naive.turn_match(corpus, given["variant"], given["average"])
    distances = [x for dialogue in corpus for x in naive.error_distances(dialogue, given["variant"])]
    matched = sum(x is None or x > 0 for x in distances)
    return _averaged(value, corpus, given["average"], matched, len(distances))


def _fga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value = naive.fga(corpus, number, given["variant"], given["average"])
    return _averaged(value, corpus, given["average"], None, len(_turns(corpus)))


def _slot_accuracy(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    value = naive.slot_accuracy(corpus, n_slots, given["average"], given["split"])
    errors = {"first": naive.slot_errors, "last": naive.slot_errors_trade}[given["split"]]
    total = n_slots * len(_turns(corpus))
    return _averaged(value, corpus, given["average"], total - sum(errors(*t) for t in _turns(corpus)), total)


def _aga(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    union = given["over"] == "union"
    return naive.aga(corpus, given["over"]), None, sum(bool(b or (union and p)) for b, p in _turns(corpus))


def _precision(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, _, pred = naive.pair_counts(corpus)
    return naive.slot_precision(corpus), right, pred


def _recall(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, ref, _ = naive.pair_counts(corpus)
    return naive.slot_recall(corpus), right, ref


def _slot_f1(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    right, ref, pred = naive.pair_counts(corpus)
    return naive.slot_f1(corpus), 2 * right, ref + pred


def _turn_f1(corpus: Corpus, n_slots: int, given: Parameters, number: float) -> Figures:
    return naive.turn_f1(corpus), None, len(_turns(corpus))


TWINS: dict[str, Twin] = {
    "AGA": _aga,
    "FGA": _fga,
    "JGA": _jga,
    "SlotAccuracy": _slot_accuracy,
    "SlotF1": _slot_f1,
    "SlotPrecision": _precision,
    "SlotRecall": _recall,
    "TurnF1": _turn_f1,
    "TurnMatch": _turn_match,
}
