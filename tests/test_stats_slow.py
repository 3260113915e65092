"""Do the intervals cover the truth, and do the tests err as often as they say? Simulated corpora, known truth."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from dsteval.metrics.counting import total
from dsteval.metrics.fga import FGA
from dsteval.metrics.jga import JGA
from dsteval.metrics.slot_f1 import SlotF1
from dsteval.stats.bootstrap import bca, jackknife, percentile, resampled
from dsteval.stats.paired import paired_bootstrap, permutation

Array = Any

LONGEST = 12
METRICS = {"JGA": JGA, "FGA@0.5": FGA @ 0.5, "SlotF1": SlotF1}


class Corpus(NamedTuple):
    """Dialogues of 5 to 12 turns: how long each is, and how hard."""

    turns: Array
    hard: Array


def dialogues(random: np.random.Generator, number: int) -> Corpus:
    return Corpus(random.integers(5, LONGEST + 1, number), random.beta(1.2, 4, number))


def system(random: np.random.Generator, corpus: Corpus) -> dict[str, Array]:
    """Counts of a tracker: a new error with the dialogue's own chance, which then lasts until it is mended."""
    number = len(corpus.turns)
    histogram = np.zeros((number, 3 + LONGEST), dtype=np.int64)
    slots = np.zeros((number, 2), dtype=np.int64)
    wrong = np.zeros(number, dtype=np.int64)  # slots that are wrong now
    distance = np.zeros(number, dtype=np.int64)
    histogram[:, 0] = corpus.turns
    for turn in range(LONGEST):
        there = turn < corpus.turns
        wrong = np.where(random.random(number) < 0.15, 0, wrong)
        fresh = random.random(number) < corpus.hard
        wrong = np.minimum(wrong + fresh, 2 + turn)
        distance = np.where(fresh, 0, distance + 1)
        inherited = there & (wrong > 0) & ~fresh
        histogram[there & (wrong == 0), 1] += 1
        histogram[inherited, 2 + distance[inherited]] += 1
        slots[:, 0] += there * 2 * (2 + turn)
        slots[:, 1] += there * 2 * (2 + turn - wrong)
    return {"JGA": histogram[:, :2], "FGA@0.5": histogram, "SlotF1": slots}


@pytest.mark.slow
def test_coverage_of_intervals() -> None:
    """95 % intervals from 400 dialogues hold the value of two million in 93 to 97 % of 2000 samples."""
    sums = {name: np.zeros(1, dtype=np.int64) for name in METRICS}
    for part in range(20):
        random = np.random.default_rng([1, part])
        for name, counts in system(random, dialogues(random, 100_000)).items():
            sums[name] = sums[name] + total(counts)
    truth = {name: float(metric.value(sums[name])) for name, metric in METRICS.items()}
    covered = dict.fromkeys([(name, kind) for name in METRICS for kind in ("percentile", "bca")], 0)
    repetitions, size = 2000, 400
    for repetition in range(repetitions):
        random = np.random.default_rng([2, repetition])
        found = system(random, dialogues(random, size))
        drawn = resampled([found[name] for name in METRICS], size, 1000, repetition)
        for (name, metric), own in zip(METRICS.items(), drawn, strict=True):
            values, point = metric.value(own), float(metric.value(total(found[name])))
            left = jackknife(found[name], metric.value)
            for kind, held in (("percentile", percentile(values, 0.95)), ("bca", bca(values, point, left, 0.95))):
                assert not held.note and not held.dropped
                covered[name, kind] += held.low <= truth[name] <= held.high
    shares = {case: hits / repetitions for case, hits in covered.items()}
    print(truth, shares)
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares


def rejected(test: Callable[[dict[str, Array], dict[str, Array], int], dict[str, float]]) -> dict[str, float]:
    """The share of pairs of equal systems, each on 300 dialogues of its own, that a test tells apart at 5 %."""
    repetitions = 1500
    times = dict.fromkeys(METRICS, 0)
    for repetition in range(repetitions):
        random = np.random.default_rng([3, repetition])
        corpus = dialogues(random, 300)
        for name, p in test(system(random, corpus), system(random, corpus), repetition).items():
            times[name] += p <= 0.05
    shares = {name: hits / repetitions for name, hits in times.items()}
    print(shares)
    return shares


@pytest.mark.slow
def test_false_positives_of_the_paired_bootstrap() -> None:
    def test(a: dict[str, Array], b: dict[str, Array], seed: int) -> dict[str, float]:
        drawn = resampled([counts[name] for name in METRICS for counts in (a, b)], 300, 1000, seed)
        result = {}
        for place, (name, metric) in enumerate(METRICS.items()):
            values_a, values_b = (metric.value(own) for own in drawn[2 * place : 2 * place + 2])
            point_a, point_b = (float(metric.value(total(counts[name]))) for counts in (a, b))
            result[name] = paired_bootstrap(values_a, values_b, point_a, point_b, 0.95).p
        return result

    assert all(0.03 <= share <= 0.07 for share in rejected(test).values())


@pytest.mark.slow
def test_false_positives_of_the_permutation() -> None:
    def test(a: dict[str, Array], b: dict[str, Array], seed: int) -> dict[str, float]:
        return {name: permutation(a[name], b[name], metric.value, 999, seed).p for name, metric in METRICS.items()}

    assert all(0.03 <= share <= 0.07 for share in rejected(test).values())
