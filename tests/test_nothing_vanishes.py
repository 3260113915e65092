"""No reader makes of text that it cannot place an empty state, or a smaller one: it is kept, or refused."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval import readers
from dsteval.dialogue import Dialogue
from dsteval.readers import Source
from dsteval.readers.file_sets import File
from native import Sample, written
from native_samples import SAMPLES

UNKNOWN = ("zzyzx", "[zzyzx]", "value_zzyzx", "Zzyzx-Zzyzx")
GENERATED = ("belief-text", "fnctod")
MOST = 25  # places a word


def slots_held(dialogues: list[Dialogue]) -> Counter[tuple[str, str, int]]:
    """How many items each side of each turn holds, by what the turn says; ids may be what was changed."""
    held: Counter[tuple[str, str, int]] = Counter()
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    there = {
        s for s in ("ref", "pred") for t in turns if (getattr(t, s), getattr(t, f"{s}_frames")) != (None, None)
    }
    for position, dialogue in enumerate(dialogues):
        for turn in dialogue.turns:
            for side in ("ref", "pred"):
                frames = getattr(turn, f"{side}_frames")
                items = getattr(turn, side) or [item for frame in frames or () for item in frame.items]
                if getattr(turn, side) is None and frames is None and side in there:
                    raise dsteval.DstevalError("a turn without a state, which aligning refuses")
                held[side, str(position), turn.number] += len(items)
            held["marks", str(position), turn.number] += len(turn.correctness or ())
    return held


def words(sample: Sample, text: str) -> list[str]:
    """The words of the file that slots, domains and fields are made of."""
    names = {slot for d in sample.dialogues for t in d.turns for slot, _ in (*(t.ref or ()), *(t.pred or ()))}
    parts = {part for name in names for part in re.split(r"[^a-zA-Z]+", name)}
    keys = set(re.findall(r'"([A-Za-z_]+)":', text))
    return sorted({part for part in parts | keys if len(part) > 2 and part in text})


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_unknown_words_are_kept_or_refused(sample: Sample) -> None:
    name, data = sample.data
    text = data.decode("utf-8", "replace")

    def read(changed: str) -> list[Dialogue]:
        return list(readers.read(Source(name, File(name, changed.encode())), "pred", sample.reader))

    try:
        before = slots_held(read(text))
    except dsteval.DstevalError:
        pytest.skip("a file that is read in a folder only") if sample.place.is_dir() else None
        raise
    accepted = 0
    for word in words(sample, text):
        places = [match.start() for match in re.finditer(rf"(?<![a-zA-Z]){word}(?![a-zA-Z])", text)]
        for place in places[:: max(1, len(places) // MOST)]:
            for unknown in UNKNOWN:
                changed = text[:place] + unknown + text[place + len(word) :]
                try:
                    found = slots_held(read(changed))
                except dsteval.DstevalError:
                    continue
                accepted += 1
                if sample.reader in GENERATED:  # the tools drop words of no slot, unless nothing is left
                    found += Counter({key: before[key] for key in found if found[key] > 0})
                assert not before - found, (word, unknown, text[max(0, place - 80) : place + 80])
    assert accepted or sample.reader == "trippy-bits"


def test_every_reader_is_tried() -> None:
    assert {sample.reader for sample in SAMPLES} >= set(readers.names())


SPANS = [
    ("[weather] location oslo", "[weather] location lima"),
    ("[hotel] [value_area] north", "[hotel] [value_area] south"),
    ("[hotel] colour red", "[hotel] colour blue"),
    ("hotel area north", "hotel area south"),
]


@pytest.mark.parametrize(("ref", "pred"), SPANS)
@pytest.mark.parametrize("reader", ["belief-text", "fnctod"])
def test_spans_that_cannot_be_placed(ref: str, pred: str, reader: str, tmp_path: Path) -> None:
    turn: dict[str, Any] = {"turn_num": 0, "bspn": ref, "bspn_gen": pred}
    if reader == "fnctod":
        turn["bspn_dict_gen"] = {}
    path = written(tmp_path / "p.json", json.dumps({"d": [turn]}))
    said = refusal(run("score", path))
    assert ref in said
    # What a tracker generates may be anything: it is no empty state.
    path = written(tmp_path / "p.json", json.dumps({"d": [{**turn, "bspn": ""}]}))
    assert dsteval.evaluate(None, path, metrics=["JGA"])["JGA"].value == 0


@pytest.mark.parametrize(
    "metadata",
    [
        {"hotel": {"area": "north"}},
        {"hotel": {"semi": {"area": "north"}, "more": {"stars": "4"}}},
        {"hotel": "north"},
    ],
)
def test_metadata_of_another_shape(metadata: dict[str, Any], tmp_path: Path) -> None:
    log = [{"text": "u", "metadata": {}}, {"text": "s", "metadata": metadata}]
    path = written(tmp_path / "data.json", json.dumps({"d": {"log": log}}))
    assert "hotel" in refusal(run("validate", path))


def test_a_table_with_a_row_for_each_slot(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "dialogue_id,turn_id,slot,value\nd,0,hotel-area,north\nd,0,hotel-stars,4\n")
    said = refusal(run("validate", path))
    assert "expected one row per turn with a column state" in said


def test_slots_of_a_table_without_hyphens(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "dialogue_id,turn_id,hotel area\nd,0,north\n")
    assert dsteval.evaluate({"d": [{"hotel-area": "north"}]}, path, metrics=["SlotF1"])["SlotF1"].value == 1


def test_bookings_are_no_slots(tmp_path: Path) -> None:
    booked = [{"name": "lodge", "reference": "X1"}]
    for state in ({"hotel-area": "north", "hotel-booked": booked}, {"hotel": {"area": "north", "booked": booked}}):
        line = {"dialogue_id": "d", "turn_id": 0, "ref": state, "pred": {"hotel-area": "north"}}
        path = written(tmp_path / "both.jsonl", json.dumps(line))
        assert dsteval.evaluate(None, path, metrics=["JGA"])["JGA"].value == 1


def test_a_value_with_its_confidence(tmp_path: Path) -> None:
    state = {"hotel-area": {"value": "north", "confidence": 0.9}}
    path = written(tmp_path / "p.json", json.dumps({"d": [state]}))
    said = refusal(run("validate", path))
    assert "expected a value that is a string" in said
    assert "{'value': 'north', 'confidence': 0.9}" in said


@pytest.mark.parametrize(
    "update",
    [
        {"hotel-bookday": "monday", "hotel-book day": None},
        {"hotel-book day": "[DELETE]", "hotel-bookday": "monday"},
        {"hotel-book day": "none", "hotel-Book Day": "monday"},
    ],
)
def test_updates_that_set_and_delete_one_slot(update: dict[str, Any]) -> None:
    for changes in (update, dict(reversed(update.items()))):
        lines = [{"dialogue_id": "d", "turn_id": 0, "update": changes}]
        with pytest.raises(dsteval.DstevalError, match=r"expected one (change|value) per slot"):
            dsteval.evaluate({"d": [{"hotel-book day": "monday"}]}, lines, metrics=["JGA"], updates=True)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", '{"dialogue_id": "d", "turn_idx": 0, "state": {}}', "jsonl, but turn_idx for turn_id"),
        ("a.jsonl", 2 * '{"dial_id": "d", "turn_id": 0, "state": {}}\n', "jsonl, but dial_id for dialogue_id"),
        ("a.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        ("a.json", "<!DOCTYPE html><html><body>404</body></html>", "a web page (HTML)"),
        ("a.json", '{"JGA": 0.5, "slot_acc": 0.97}', "found scores (JGA 0.5, slot_acc 0.97)"),
        ("a.json", '{"m": {"joint goal accuracy": 52.1}}', "found scores (joint goal accuracy 52.1)"),
        ("a.json", '[{"dialogue_id": "d", "turns": [{"speaker": "USER", "utterance": "hi"}]}]', "without states"),
    ],
)  # fmt: skip
def test_what_a_file_is_instead(name: str, content: str, told: str, tmp_path: Path) -> None:
    assert told in refusal(run("validate", written(tmp_path / name, content)))


def test_every_prediction_is_a_turn_longer() -> None:
    ref: dict[str, list[dict[str, str]]] = {f"d{n}": [{}] for n in range(3)}
    pred: dict[str, list[dict[str, str]]] = {f"d{n}": [{}, {}] for n in range(3)}
    for missing in ("error", "skip"):
        with pytest.raises(dsteval.DstevalError, match="each has 1 more than its reference"):
            dsteval.evaluate(ref, pred, metrics=["JGA"], missing=missing)


def test_files_that_are_passed_over_are_named(tmp_path: Path) -> None:
    for name in ("a.jsonl", "README.md", "run.log"):
        written(tmp_path / name, '{"dialogue_id": "d", "turn_id": 0, "ref": {}, "pred": {"a-b": "c"}}\n')
    result = dsteval.evaluate(None, tmp_path, metrics=["JGA"])
    assert "README.md" in result.notes[0]
    assert "run.log" in result.notes[0]
