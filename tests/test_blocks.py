"""Files read in blocks, and by several processes, give what they give dialogue by dialogue in one."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsteval
from commandline import run
from dsteval import readers
from dsteval.dialogue import Dialogue
from dsteval.errors import DstevalError
from dsteval.pipeline.workers import run_all
from dsteval.readers import Encoded, Source, encoded
from dsteval.readers.encoded import NotInBlocksError
from dsteval.readers.file_sets import File

TEXTS = st.one_of(
    st.sampled_from(
        ["north", "none", "dontcare", "a|b", "", ":", ", ", "}, ", '"gt": ', '{"gt": ', "é", "\\", '"', "\n"]
    ),
    st.text(max_size=4),
)
VALUES = st.one_of(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2), st.none(), st.integers(0, 3))
SLOTS = st.sampled_from(["area", "book day", "name", "gt", "pr", "0", "booked"])
DOMAINS = st.sampled_from(["hotel", "train", "gt", "a-b"])
NESTED = st.dictionaries(DOMAINS, st.dictionaries(SLOTS, VALUES, max_size=3), max_size=3)
FLAT = st.dictionaries(st.sampled_from(["hotel-area", "train-day", "pr", "a-b-c"]), VALUES, max_size=3)
STATES = st.one_of(NESTED, NESTED, FLAT)
CORPORA = st.dictionaries(
    st.text(min_size=1, max_size=3),
    st.lists(st.tuples(STATES, STATES), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)
LAYOUTS = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}])


def fga(corpus: dict[str, Any], **layout: Any) -> bytes:
    turns = {
        name: {str(t): {"gt": b, "pr": p} for t, (b, p) in enumerate(states)} for name, states in corpus.items()
    }
    return json.dumps(turns, **layout).encode("utf-8", "surrogatepass")


def lines(corpus: dict[str, Any], **layout: Any) -> bytes:
    layout.pop("indent", None)
    records = [
        {"dialogue_id": name, "turn_id": t, "ref": b, "pred": p}
        for name, states in corpus.items()
        for t, (b, p) in enumerate(states)
    ]
    return b"".join(json.dumps(one, **layout).encode("utf-8", "surrogatepass") + b"\n" for one in records)


def read(act: Callable[[], list[Dialogue]]) -> list[Dialogue] | str:
    """The dialogues, or the sentence that refuses them."""
    try:
        return act()
    except DstevalError as refusal:
        return re.sub(r"\bobject (\d)", r"line \1", str(refusal))


def in_blocks(source: Source, name: str) -> list[Dialogue]:
    try:
        parts = list(encoded(source, name))
    except NotInBlocksError:
        return list(readers.read(source, "pred", name))
    return [dialogue for part in parts for dialogue in (part.dialogues() if isinstance(part, Encoded) else [part])]


def careful(data: bytes, name: str) -> list[Dialogue]:
    """Every dialogue with a close look at each value: decoded objects are no bytes to cut."""
    text = data.decode("utf-8", "surrogatepass")
    top = json.loads(text) if name == "fga-json" else [json.loads(line) for line in text.split("\n") if line]
    return list(readers.read(Source("file", top=top), "pred", name))


@given(CORPORA, LAYOUTS, st.sampled_from(["fga-json", "dsteval-jsonl"]))
def test_cut_bytes_hold_what_decoded_ones_do(corpus: dict[str, Any], layout: dict[str, Any], name: str) -> None:
    try:
        data = (fga if name == "fga-json" else lines)(corpus, **layout)
        data.decode("utf-8")
    except UnicodeError:
        return  # a lone surrogate: refused elsewhere
    found = read(lambda: in_blocks(Source("file", File("file", data)), name))
    assert found == read(lambda: careful(data, name))


def corpus(dialogues: int = 40) -> dict[str, Any]:
    slots = ["area", "name", "stars"]
    made = {}
    for d in range(dialogues):
        ref = [{"hotel": {s: f"v{(d + i + t) % 7}" for i, s in enumerate(slots[: t + 1])}} for t in range(3)]
        pred = [{"hotel": {s: f"v{(d + i + t) % 5}" for i, s in enumerate(slots[: t + 1])}} for t in range(3)]
        made[f"D{d}"] = list(zip(ref, pred, strict=True))
    return made


@pytest.mark.parametrize("write", [fga, lines])
@pytest.mark.parametrize("protocol", ["exact", "fga-official", "trade", "gca"])
def test_workers_change_nothing(tmp_path: Path, write: Callable[..., bytes], protocol: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(write(corpus()))
    by = [part for kind in ("domain", "slot", "turn", "length") for part in ("--by", kind)]
    outputs = [
        run("score", str(path), "--protocol", protocol, "--as", "json", *by, "--workers", number).out
        for number in ("1", "2", "3", "auto", "99")
    ]
    assert len(set(outputs)) == 1
    assert json.loads(outputs[0])["systems"][0]["coverage"]["scored_dialogues"] == 40


def test_files_at_the_same_time_change_nothing(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.json").write_bytes(fga(corpus(10 + number)))
    files = sorted(map(str, tmp_path.iterdir()))
    one, three = (run("score", *files, "--workers", number, "--as", "json").out for number in ("1", "3"))
    assert one == three
    assert [s["coverage"]["scored_dialogues"] for s in json.loads(one)["systems"]] == [10, 11, 12, 13]


def damaged(at: int, old: bytes, new: bytes) -> bytes:
    made = lines(corpus()).split(b"\n")
    made[at] = made[at].replace(old, new)
    return b"\n".join(made)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (damaged(100, b'"ref": {', b'"ref": ['), "invalid JSON"),
        (damaged(119, b'"v1"', b"1.5"), "expected a string"),
        (damaged(80, b'"D26"', b'"D0"'), "expected each turn once"),
        (lines(corpus()) + lines({"D3": [({}, {})]}), "expected each turn once"),
        (lines(corpus(3)) * 2, "expected each turn once"),
    ],
)
def test_a_broken_line_is_told_alike(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(data)
    told = {run("score", str(path), "--workers", number).err for number in ("1", "2", "4")}
    assert len(told) == 1
    assert problem in told.pop()


def test_lines_that_stand_apart_are_one_dialogue(tmp_path: Path) -> None:
    made = lines(corpus(30)).split(b"\n")
    apart = tmp_path / "apart.jsonl"
    apart.write_bytes(b"\n".join([*made[1:], made[0]]))
    together = tmp_path / "apart" / "apart.jsonl"
    together.parent.mkdir()
    together.write_bytes(b"\n".join(made))
    scores = [
        [(s.value, s.count) for s in dsteval.evaluate(None, path, outcomes=False, workers=number).scores]
        for path in (apart, together)
        for number in (1, 3)
    ]
    assert scores.count(scores[0]) == 4


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
def test_workers_that_are_no_number(tmp_path: Path, number: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(fga(corpus(1)))
    assert "--workers: expected a positive integer or auto" in run("score", str(path), "--workers", number).err


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(DstevalError, match=r"one that was killed \(exit code -9\)"):
        list(run_all([lambda: 1, lambda: os.kill(os.getpid(), signal.SIGKILL)], 2))
    assert list(run_all([lambda: 1, lambda: 1 // 0, lambda: 3], 2)) == [1, None, 3]


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    fifo, code = (
        tmp_path / "pids",
        (
            "import os, sys, time\n"
            "from dsteval.pipeline.workers import run_all\n"
            "def task():\n"
            "    open(sys.argv[1], 'a').write(f'{os.getpid()}\\n')\n"
            "    time.sleep(60)\n"
            "list(run_all([task, task], 2))\n"
        ),
    )
    with subprocess.Popen([sys.executable, "-c", code, str(fifo)], stderr=subprocess.DEVNULL) as process:
        while not (fifo.exists() and fifo.read_text().count("\n") == 2):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
    for pid in map(int, fifo.read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_what_lies_beside_a_file_holds_for_its_parts(tmp_path: Path) -> None:
    # "None" is a value of the slot by the schema beside the data, not the word for a slot that is not set.
    made = {
        f"D{n}": [({"media": {"genre": "None"}}, {"media": {"genre": "None" if n % 2 else "rock"}})]
        for n in range(6)
    }
    (tmp_path / "data.json").write_bytes(fga(made))
    slot = {"name": "genre", "is_categorical": True, "possible_values": ["None", "rock"]}
    (tmp_path / "schema.json").write_text(json.dumps([{"service_name": "media", "slots": [slot]}]))
    one, two = (run("score", str(tmp_path), "--workers", n, "--no-ci").out for n in ("1", "2"))
    assert one == two
    assert "50.00" in one
