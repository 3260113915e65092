"""The torchmetrics metric: any split over batches and processes gives what ``evaluate`` gives of the whole."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval.errors import AlignmentError, OptionError, ReadError

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

from dsteval.integrations.torchmetrics import DSTMetric  # noqa: E402 - only where torch is

METRICS = [
    *("JGA", "JGA(average=dialogue)", "SlotF1", "SlotAccuracy", "AGA", "RSA", "FGA@0.5", "FGA@inf"),
    *("FGA(average=dialogue)@0.25", "UpdateAccuracy", "DialogueMatch", "ErrorLifetime", "GCA"),
]
SLOTS = ["hotel-area", "hotel-stars", "train-day", "taxi-leaveat"]
VALUES = ["north", "south", "3", "monday"]
State = dict[str, str]
Dialogues = dict[str, list[State]]


def corpus(size: int = 23) -> tuple[Dialogues, Dialogues]:
    """Dialogues of one to nine turns; predictions go wrong, and some errors last."""
    ref: Dialogues = {}
    pred: Dialogues = {}
    for number in range(size):
        truth: State = {}
        guess: State = {}
        name = f"d{number:02}"
        ref[name], pred[name] = [], []
        for turn in range(1 + number * 7 % 9):
            slot, value = SLOTS[(number + turn) % 4], VALUES[(number * turn) % 4]
            truth = {**truth, slot: value}
            guess = {**guess, slot: value if (number + 2 * turn) % 5 else VALUES[turn % 4]}
            if (number + turn) % 7 == 0:
                guess = dict(truth)
            ref[name].append(truth)
            pred[name].append(guess)
    return ref, pred


def expected(metrics: list[str] = METRICS, **options: Any) -> dict[str, float]:
    result = dsteval.evaluate(*corpus(), metrics=metrics, ci=None, **options)
    return {score.metric: float("nan") if score.value is None else score.value for score in result.scores}


def fed(metric: Any, names: list[str], size: int) -> Any:
    """The metric after some dialogues, in batches."""
    ref, pred = corpus()
    for start in range(0, len(names), size):
        batch = names[start : start + size]
        metric.update([pred[name] for name in batch], [ref[name] for name in batch], batch)
    return metric


def values(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: score.item() for name, score in scores.items()}


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("protocol", ["exact", "fga-official", "mwzeval"])
def test_batches_give_what_evaluate_gives(protocol: str, size: int) -> None:
    names = list(corpus()[0])
    metric = fed(DSTMetric(METRICS, protocol, slots=30), names[::-1], size)
    assert values(metric.compute()) == expected(protocol=protocol, slots=30)


_PROCESS = """
import pickle, sys
import torch.distributed as dist
from test_torchmetrics import METRICS, DSTMetric, corpus, fed, values

rank, place, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
names = list(corpus()[0])
# Uneven: five batches here, two there.
metric = fed(DSTMetric(METRICS, slots=30), names[:14] if rank == 0 else names[14:], 3 if rank == 0 else 5)
scores, own = values(metric.compute()), len(values(metric.compute()))
unsynced = DSTMetric(METRICS, slots=30, sync_on_compute=False)
alone = values(fed(unsynced, names[:14] if rank == 0 else names[14:], 3).compute())
with open(f"{out}{rank}", "wb") as file:
    pickle.dump((scores, alone), file)
dist.destroy_process_group()
"""


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(dsteval.__file__).parents[1]), str(Path(__file__).parent)]),
        "GLOO_SOCKET_IFNAME": "lo",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, str(rank), str(tmp_path / "meet"), str(tmp_path / "rank")],
            env=environment,
        )
        for rank in range(2)
    ]
    try:
        assert [process.wait(timeout=180) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
    found = [pickle.loads((tmp_path / f"rank{rank}").read_bytes()) for rank in range(2)]
    one = values(fed(DSTMetric(METRICS, slots=30), list(corpus()[0]), 4).compute())
    assert one == expected(slots=30)
    assert found[0][0] == found[1][0] == one
    assert found[0][1] != found[1][1] and found[0][1] != one  # each alone has its own part


def test_fractions_add_up_without_rounding() -> None:
    metric = DSTMetric(["JGA(average=dialogue)"])
    dialogues = [[{"hotel-area": "north"}] * size for size in (3, 7, 11, 13, 49)] * 40
    wrong: list[list[State]] = [[{}, *one[1:]] for one in dialogues]
    for batch in (slice(0, 1), slice(1, 90), slice(90, None)):
        metric.update(wrong[batch], dialogues[batch])
    ref = {str(number): one for number, one in enumerate(dialogues)}
    pred = {str(number): one for number, one in enumerate(wrong)}
    whole = dsteval.evaluate(ref, pred, metrics=["JGA(average=dialogue)"], ci=None)
    assert values(metric.compute()) == {"JGA(average=dialogue)": whole.scores[0].value}


def test_forward_gives_the_batch_and_keeps_the_sum() -> None:
    ref, pred = corpus()
    metric = DSTMetric(["JGA", "FGA@0.5"])
    for name in ref:
        batch = values(metric([pred[name]], [ref[name]]))
        alone = dsteval.evaluate({name: ref[name]}, {name: pred[name]}, metrics=["JGA", "FGA@0.5"], ci=None)
        assert batch == {score.metric: score.value for score in alone.scores}
    assert values(metric.compute()) == expected(["JGA", "FGA@0.5"])


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric DSTMetric was called before")
def test_reset_and_nothing_at_all() -> None:
    metric = fed(DSTMetric(), list(corpus()[0]), 5)
    metric.reset()
    assert all(score.isnan() for score in metric.compute().values())
    metric.update([], [])
    assert all(score.isnan() for score in metric.compute().values())
    assert values(fed(metric, list(corpus()[0]), 5).compute()) == expected(["JGA", "SlotF1"])


def test_pickled_copied_and_saved_half_way() -> None:
    names = list(corpus()[0])
    metric = fed(DSTMetric(METRICS, slots=30), names[:9], 4)
    metric.persistent(True)
    loaded = DSTMetric(METRICS, slots=30)
    loaded.persistent(True)
    loaded.load_state_dict(metric.state_dict())
    for again in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), metric.clone(), loaded):
        assert values(fed(again, names[9:], 4).compute()) == expected(slots=30)
    other = DSTMetric(METRICS, "normalised", slots=30)
    other.persistent(True)
    with pytest.raises(RuntimeError, match="sums_"):
        other.load_state_dict(metric.state_dict())  # the sums of another protocol


def test_a_collection_keeps_protocols_apart() -> None:
    """Equal in the first batch, and another in the second: torchmetrics takes equal states for one metric's."""
    metrics = {name: DSTMetric(["JGA"], name) for name in ("exact", "normalised")}
    collection = torchmetrics.MetricCollection(metrics, postfix="_val")
    same, other = [[{"hotel-type": "guest house"}]], [[{"hotel-type": "guesthouse"}]]
    collection.update(same, same)
    collection.update(other, same)
    singles = {name: DSTMetric(["JGA"], name) for name in metrics}
    for metric in singles.values():
        metric.update(same, same)
        metric.update(other, same)
    found = values(collection.compute())
    alone = [value for metric in singles.values() for value in values(metric.compute()).values()]
    assert list(found.values()) == alone and len(set(alone)) == 2


def test_metrics_of_one_collection_by_their_names() -> None:
    collection = torchmetrics.MetricCollection([DSTMetric(["JGA", "SlotF1"])])
    ref, pred = corpus()
    collection.update(list(pred.values()), list(ref.values()))
    assert values(collection.compute()) == expected(["JGA", "SlotF1"])


@pytest.mark.parametrize("size", [1, 6])
def test_a_protocol_that_leaves_out_a_dialogue_by_its_name(size: int) -> None:
    ref, pred = corpus()
    right, wrong = [{"hotel-area": "north"}], [{"hotel-area": "south"}]
    names = [*list(ref)[:7], "PMUL1455.json"]
    metric = DSTMetric(["JGA"], "fga-trippy")
    for start in range(0, 8, size):
        batch = names[start : start + size]
        metric.update([pred.get(name, wrong) for name in batch], [ref.get(name, right) for name in batch], batch)
    kept = names[:7]
    parts = ({name: side[name] for name in kept} for side in (ref, pred))
    whole = dsteval.evaluate(*parts, metrics=["JGA"], protocol="fga-trippy", ci=None)
    assert values(metric.compute()) == {"JGA": whole.scores[0].value}


def test_a_long_dialogue_needs_a_larger_width() -> None:
    right: list[State] = [{"hotel-area": "north"}] * 400
    wrong: list[State] = [{}] * 400
    message = r"FGA\(variant=official\): expected at most 256 columns of counts, found \d+. Set width="
    with pytest.raises(OptionError, match=message):
        DSTMetric(["FGA@0.01"]).update([wrong], [right])
    wide = DSTMetric(["FGA@0.01"], width=1000)
    wide.update([wrong], [right])
    whole = dsteval.evaluate({"d": right}, {"d": wrong}, metrics=["FGA@0.01"], ci=None)
    assert values(wide.compute()) == {"FGA@0.01": whole.scores[0].value}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["SlotAccuracy"]}, "SlotAccuracy: expected the number of slots.* slots=30"),
        ({"metrics": ["JGB"]}, "Unknown metric 'JGB'"),
        ({"protocol": "sgd"}, "expected a protocol that scores whole turns"),
        ({"errors": True}, "found errors"),
        ({"ci": 0.95}, "found ci"),
        ({"width": 0}, "width: expected 1 or more, found 0"),
    ],
)
def test_refused_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dsteval.DstevalError, match=message):
        DSTMetric(**options)


def test_refused_batches() -> None:
    metric = DSTMetric(["JGA"])
    state = {"hotel-area": "north"}
    with pytest.raises(OptionError, match="as many dialogues in preds as in target, found 1 and 2"):
        metric.update([[state]], [[state], [state]])
    with pytest.raises(OptionError, match="one state per turn on both sides, found 2 and 1"):
        metric.update([[state]], [[state, state]])
    with pytest.raises(ReadError, match="hotel-area"):
        metric.update([[{"hotel-area": 3.5j}]], [[state]])
    with pytest.raises(AlignmentError, match="each dialogue once"):
        metric.update([[state]] * 2, [[state]] * 2, ["d", "d"])
    metric.update([[state]], [[state]])
    assert values(metric.compute()) == {"JGA": 1.0}  # nothing of what was refused
