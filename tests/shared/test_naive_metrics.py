"""The naive metrics against figures that their authors printed, and the many scores of one sample."""

from math import prod
from pathlib import Path

import pytest

import naive_files
import naive_metrics as metrics
import naive_sgd
import naive_trade as trade
from naive_files import Corpus

pytestmark = pytest.mark.shared

DOMAINS = {"taxi": 60.9, "hotel": 57.0, "train": 70.1, "restaurant": 63.7, "attraction": 57.6}
N_GCA_FILES = 13


@pytest.fixture(scope="module")
def sample(shared: Path) -> Corpus:
    corpus = naive_files.somdst(shared)
    assert (len(corpus), sum(map(len, corpus))) == (100, 751)
    return corpus


@pytest.fixture(scope="module")
def inventory(sample: Corpus) -> list[str]:
    slots = {slot for turn in metrics.turns_of(sample) for state in turn for slot in state}
    assert len(slots) == 30
    return sorted(slots)


def per_cent(value: float, digits: int = 2) -> float:
    return round(100 * value, digits)


def test_the_figures_of_the_gca_repository(shared: Path) -> None:
    folder = shared / "data/gca/predictions"
    files = sorted(folder.rglob("*.json"))
    assert len(files) == N_GCA_FILES
    for path in files:
        expected = naive_files.load(shared / "data/gca/expected" / path.relative_to(folder))
        corpus = naive_files.fga_json(path)
        set_slots = metrics.without(corpus, ["none"], ["none"])
        found = {
            "GCA": metrics.gca(corpus),
            "RSA": metrics.rsa(set_slots, empty=0),
            "IAGA": metrics.iaga(set_slots),
            "JGA": metrics.jga(set_slots),
            "SA": trade.trade(set_slots)["Turn Acc"],
        }
        assert {name: per_cent(value) for name, value in found.items()} == {
            name: expected[name] for name in found
        }, path.name


def test_gca_needs_the_literal_none_of_the_few_shot_files(shared: Path) -> None:
    folder = shared / "data/gca/predictions"
    moved = set()
    for path in sorted(folder.rglob("*.json")):
        corpus = naive_files.fga_json(path)
        if per_cent(metrics.gca(corpus)) != per_cent(metrics.gca(metrics.without(corpus, ["none"], ["none"]))):
            moved.add(str(path.relative_to(folder)))
    assert moved == {
        "T5_fewshot_taxi/ratio_0.01_seed_557_prediction.json",
        "T5_fewshot_taxi/ratio_0.5_seed_557_prediction.json",
        "T5_fewshot_train/ratio_0.1_seed_557_prediction.json",
    }


def test_an_empty_turn_is_worth_what_rsa_is_told(shared: Path) -> None:
    corpus = naive_files.fga_json(shared / "data/gca/predictions/T5/T5_result_zeroshot_attraction.json")
    assert [per_cent(metrics.rsa(corpus, empty)) for empty in (0, 1)] == [18.26, 40.71]


@pytest.mark.parametrize("team", ["teamA01", "teamA02", "teamA05"])
def test_the_official_scores_of_dstc10(shared: Path, team: str) -> None:
    folder = shared / "data/dstc10"
    refs = naive_files.dstc10(folder / "test_labels.json.gz")
    preds = naive_files.dstc10(folder / f"{team}_entry0.json.gz")
    official = naive_files.load(folder / f"{team}_entry0.scores.json")
    value, none = official["slot"]["value_prediction"], official["slot"]["none_prediction"]
    expected = {
        "joint_goal_accuracy": official["joint_goal_accuracy"],
        "slot_accuracy": official["slot"]["accuracy"],
        **{
            f"value_{name}": value[short]
            for name, short in (("precision", "prec"), ("recall", "rec"), ("f1", "f1"))
        },
        **{
            f"none_{name}": none[short] for name, short in (("precision", "prec"), ("recall", "rec"), ("f1", "f1"))
        },
    }
    assert metrics.dstc10(list(zip(refs, preds, strict=True))) == pytest.approx(expected, abs=1e-12, rel=0)


def test_the_many_scores_of_one_sample(sample: Corpus) -> None:
    unset = ["none", "dontcare"]
    found = {
        "exact": metrics.jga(sample),
        "dontcare dropped from the prediction": metrics.jga(metrics.without(sample, [], ["dontcare"])),
        "dontcare dropped from the reference": metrics.jga(metrics.without(sample, ["dontcare"], [])),
        "none and dontcare dropped from both": metrics.jga(metrics.without(sample, unset, unset)),
        "reference slots only": metrics.reference_accuracy(sample),
        "card": metrics.card_joint(sample),
        "micro recall": metrics.pair_scores(sample)["recall"],
        "mean over dialogues": metrics.mean_over_dialogues(sample),
        "last turn": metrics.last_turn_jga(sample),
        "all turns": metrics.dialogue_accuracy(sample),
        "DAMD": metrics.damd_slot_accuracy(sample),
        "turn level": metrics.turn_level_accuracy(sample),
        "ConvLab T5": metrics.convlab_t5(sample)["accuracy"],
    }
    assert {name: per_cent(value) for name, value in found.items()} == {
        "exact": 49.93,
        "dontcare dropped from the prediction": 48.60,
        "dontcare dropped from the reference": 49.40,
        "none and dontcare dropped from both": 52.73,
        "reference slots only": 60.19,
        "card": 13.58,
        "micro recall": 89.64,
        "mean over dialogues": 50.63,
        "last turn": 24.0,
        "all turns": 16.0,
        "DAMD": 96.91,
        "turn level": 79.76,
        "ConvLab T5": 49.93,
    }


@pytest.mark.parametrize(("every_domain", "accuracy"), [(False, 50.47), (True, 49.93)])
def test_convlab_sees_the_slots_that_the_reference_lists(
    sample: Corpus, inventory: list[str], every_domain: bool, accuracy: float
) -> None:
    corpus = [[(metrics.listed(ref, inventory, every_domain), pred) for ref, pred in d] for d in sample]
    assert per_cent(metrics.convlab_unified(corpus)["accuracy"]) == accuracy


def test_slot_accuracy_rises_with_the_slots(sample: Corpus) -> None:
    found = [per_cent(trade.trade(sample, n_slots)["Turn Acc"]) for n_slots in (30, 31, 35, 37)]
    assert found == [97.29, 97.38, 97.68, 97.80]


def test_somdst_at_last_turns_and_by_domain(sample: Corpus) -> None:
    assert trade.somdst_final(sample)["Joint Acc"] == metrics.last_turn_jga(sample)
    found = {domain: per_cent(trade.somdst_domain(sample, domain)["Joint Acc"], 1) for domain in DOMAINS}
    assert found == DOMAINS


def test_the_schema_guided_rule_with_domains_as_services(sample: Corpus, inventory: list[str]) -> None:
    """Every slot is taken for non-categorical."""
    by_turn, by_frame = [], []
    for ref, pred in metrics.turns_of(sample):
        frames = []
        for domain in DOMAINS:
            slots = {slot: False for slot in inventory if slot.startswith(domain)}
            sides = [{slot: [value] for slot, value in state.items() if slot in slots} for state in (ref, pred)]
            joint = naive_sgd.goal_scores(sides[0], sides[1], slots, naive_sgd.similarity)["joint_goal_accuracy"]
            assert joint is not None
            frames.append(joint)
            if sides[0]:
                by_frame.append(joint)
        by_turn.append(prod(frames))
    assert (per_cent(metrics.mean(by_turn)), per_cent(metrics.mean(by_frame))) == (53.23, 65.83)
