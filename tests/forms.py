"""One corpus in each form that the engine reads, and cleaned for the oracle."""

from collections.abc import Iterable
from typing import Any

from dsteval.metrics import Metric
from dsteval.outcomes.table import Outcomes
from dsteval.pipeline.run import Run
from dsteval.pipeline.scan import Scan
from dsteval.readers import Source
from naive import Corpus, RawCorpus
from strategies import Written, WrittenCorpus

States = dict[str, list[Written]]


def sides(corpus: WrittenCorpus) -> tuple[States, States]:
    """{dialogue: [state, ...]} of the reference and of the prediction."""
    ref = {name: [turn[0] for turn in turns] for name, turns in corpus.items()}
    pred = {name: [turn[1] for turn in turns] for name, turns in corpus.items()}
    return ref, pred


def outcomes_of(
    corpus: WrittenCorpus,
    name: str = "exact",
    metrics: Iterable[Metric] = (),
) -> Outcomes:
    """The table of a corpus under a protocol."""
    ref, pred = sides(corpus)
    wanted = {str(metric): metric for metric in metrics}
    scan = Scan(Run.of(name), Source.of("reference", ref), Source.of("predictions", pred), wanted)
    for _ in scan.compared():
        pass
    return scan.outcomes()


def without_null(corpus: WrittenCorpus) -> RawCorpus:
    """The oracle knows no null: the slot is not there."""

    def cut(state: Written) -> dict[str, str | list[str]]:
        return {slot: value for slot, value in state.items() if value is not None}

    return {name: [(cut(ref), cut(pred)) for ref, pred in turns] for name, turns in corpus.items()}


def fga_json(corpus: WrittenCorpus, falling: bool = True) -> dict[str, Any]:
    """{dialogue: {turn: {"gt": {domain: {slot: value}}, "pr": ...}}}, in falling order unless told."""

    def nested(state: Written) -> dict[str, dict[str, Any]]:
        domains: dict[str, dict[str, Any]] = {}
        for slot, value in state.items():
            domain, _, name = slot.partition("-")
            domains.setdefault(domain, {})[name] = value
        return domains

    return {
        name: {
            str(t): {"gt": nested(turns[t][0]), "pr": nested(turns[t][1])}
            for t in sorted(range(len(turns)), reverse=falling)
        }
        for name, turns in corpus.items()
    }


def jsonl(corpus: WrittenCorpus) -> list[dict[str, Any]]:
    """A line a turn, both sides."""
    return [
        {"dialogue_id": name, "turn_id": t, "ref": ref, "pred": pred}
        for name, turns in corpus.items()
        for t, (ref, pred) in enumerate(turns)
    ]


def slots_of(corpus: Corpus) -> set[str]:
    """Every slot that a prepared state has, on either side."""
    return {slot for dialogue in corpus for turn in dialogue for state in turn for slot in state}
