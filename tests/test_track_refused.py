"""What ``track`` refuses, and what becomes of dialogues in which a tracker fails."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from commandline import Ran, refusal, run, usage
from dsteval.errors import OptionError
from dsteval.readers import Source
from dsteval.track import Update
from dsteval.track.dialogues import gather
from dsteval.track.runs import run as track
from dsteval.track.tracker import Loaded, option_values
from test_track import predictions, scores, tracked, written


def failing(tmp_path: Path, *words: str) -> Path:
    """A good dialogue, one for each word at its second turn, and another good one."""
    texts = {f"X{n}": ["hotel-area=north", f"now {word}"] for n, word in enumerate(words)}
    return written(tmp_path / "data.jsonl", {"A": ["hotel-area=north"], **texts, "Z": ["hotel-stars=4", "hm"]})


FAILURES = {
    "raise": "ValueError: no idea",
    "exit": "SystemExit: 3",
    "cancel": "CancelledError: task gone",
    "close": "GeneratorExit",
    "mute": "MuteError",
    "hang": "took longer than 0.1 seconds (--timeout)",
    "nothing": "returned: expected a dictionary of slots and values, or an Update, found nothing (None)",
    "text": "returned: expected a dictionary of slots and values, or an Update, found 'hotel-area=north', of t",
    "number": "slot 'hotel-area': expected a string or a list of strings, found 4.5",
    "unknown": "slot 'hotel-aera': expected one of the 30 slots of the data, found another. Did you mean 'hotel-a",
    "domain": "slot 'spaceship-speed': expected one of the 30 slots of the data",
    "doubled": "slot 'hotel-area': expected one value, found 'north' and 'south'",
    "half": "UnicodeEncodeError",
    "keys": "returned: expected slot names that are strings, found 4",
}


@pytest.mark.parametrize("word", FAILURES)
def test_a_failure_is_named_and_the_others_go_on(tmp_path: Path, word: str) -> None:
    out = tmp_path / "out.jsonl"
    ran = tracked(failing(tmp_path, word), out, "trackers:Odd", "--timeout", "0.1")
    assert ran.code == 1
    assert ran.out == ""
    assert f"failed: dialogue 'X0', turn 1: {FAILURES[word]}" in ran.err
    assert "2 of 3 dialogues tracked" in ran.err
    assert "1 of 3 dialogues failed: no scores. Run again" in ran.err
    lines = predictions(out)
    assert [line["dialogue_id"] for line in lines if "pred" in line] == ["A", "Z", "Z"]
    assert [line["dialogue_id"] for line in lines if "pred" not in line] == ["X0", "X0"]
    assert "without one (X0 from turn 0)" in refusal(run("score", out))


@pytest.mark.parametrize(("missing", "right"), [("empty", 3), ("skip", 3)])
def test_what_failed_may_be_scored_as_missing(tmp_path: Path, missing: str, right: int) -> None:
    out = tmp_path / "out.jsonl"
    ran = tracked(
        failing(tmp_path, "raise"), out, "trackers:Odd", "--missing", missing, "--metric", "JGA", "--as", "json"
    )
    assert ran.code == 1
    found = json.loads(ran.out)["systems"][0]
    score = found["scores"][0]
    assert (score["count"], score["total"]) == (right, 5 if missing == "empty" else 3)
    assert f"|turns:{score['total']}/5|" in score["signature"]
    assert f"|missing:{missing}|" in score["signature"]
    assert found["coverage"]["missing"] == ["X0"]


def test_what_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trackers

    data, out = failing(tmp_path, "raise", "nothing"), tmp_path / "out.jsonl"
    assert tracked(data, out, "trackers:Odd").code == 1
    monkeypatch.setattr(trackers.Odd, "update", trackers.Resetting.update)
    ran = tracked(data, out, "trackers:Odd", "--as", "json")
    assert scores(ran)[1]["value"] == 1
    assert "4 of 4 dialogues tracked (2 of them in an earlier run)" in ran.err
    assert sorted(line["dialogue_id"] for line in predictions(out)) == ["A", "X0", "X0", "X1", "X1", "Z", "Z"]
    assert all("pred" in line for line in predictions(out))


def test_many_failures_and_their_tracebacks(tmp_path: Path) -> None:
    data, out = failing(tmp_path, *["raise"] * 25), tmp_path / "out.jsonl"
    ran = tracked(data, out, "trackers:Odd", "--verbose")
    assert ran.err.count("failed: dialogue") == 20
    assert "failed: 5 more; --verbose writes all" in ran.err
    log = Path(f"{out}.errors.log").read_text()
    assert log.count("ValueError: no idea\nat all") == 25
    assert "trackers.py" in log


def test_nothing_is_scored_where_all_failed(tmp_path: Path) -> None:
    data = written(tmp_path / "d.jsonl", {"A": ["raise"]})
    ran = tracked(data, tmp_path / "out.jsonl", "trackers:Odd", "--missing", "empty")
    assert ran.code == 1
    assert ran.out == ""
    assert "1 of 1 dialogues failed: no scores. Run again to retry them.\n" in ran.err


def test_what_a_tracker_prints_is_no_result(tmp_path: Path) -> None:
    data = written(tmp_path / "d.jsonl", {"A": ["hotel-area=north print"]})
    ran = tracked(data, tmp_path / "out.jsonl", "trackers:Odd", "--as", "json", "--metric", "JGA")
    assert scores(ran)[0]["value"] == 1
    assert "thinking" in ran.err


def test_an_interruption_keeps_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = tracked(failing(tmp_path, "interrupt"), out, "trackers:Odd")
    assert ran.code == 130
    assert ran.out == ""
    assert "1 of 3 dialogues tracked\ndsteval: Interrupted. Run the same command again to continue." in ran.err
    assert [line["dialogue_id"] for line in predictions(out)] == ["A"]


TRACKERS = {
    "nope": "Unknown tracker 'nope'. Known: baseline. Write your own tracker as module:object.",
    "basline": "Unknown tracker 'basline'. Did you mean 'baseline'? See: dsteval list trackers.",
    ":Echo": "Unknown tracker ':Echo'.",
    "nope:Echo": "expected a module 'nope', found none. Run dsteval in its folder, or add that folder to",
    "trackers.py:Echo": "found none. Write trackers:Echo, and run dsteval in its folder.",
    "trackers:Ecco": "Unknown object of trackers 'Ecco'. Did you mean 'Echo'?",
    "trackers:": "Unknown object of trackers ''. Known: said, echo, Echo,",
    "trackers:NoUpdate": "expected a class with a method update(system, user), or a function",
    "trackers:not_callable": "found int without one",
    "trackers:Broken": "expected a tracker that can be constructed, found RuntimeError: no weights here. Give the",
    "trackers:Hungry": "Unknown need of trackers:Hungry 'own-sate'. Did you mean 'own-state'?",
    "trackers:Both": "needs: expected own-state or ref-state, found both",
    "trackers:one_argument": "expected update(system, user), found (user: str)",
    "trackers:Stateless": "expected update(system, user, state=), found (system: str, user: str)",
}


@pytest.mark.parametrize("name", TRACKERS)
def test_what_is_no_tracker(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.jsonl"
    assert TRACKERS[name] in refusal(tracked(failing(tmp_path), out, name))
    assert not out.exists()


def test_a_module_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_written.py").write_text("import no_such_thing_here\n")
    (tmp_path / "worse.py").write_text("def (:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    told = refusal(tracked(failing(tmp_path), tmp_path / "o", "half_written:Tracker"))
    assert "'half_written' that can be imported, found ModuleNotFoundError: No module named 'no_such_thing" in told
    assert "found SyntaxError" in refusal(tracked(failing(tmp_path), tmp_path / "o", "worse:Tracker"))


OPTIONS = {
    ("Resetting", "uper=true"): "Unknown option of trackers:Resetting 'uper'. Did you mean 'upper'?",
    ("Echo", "upper=true"): "trackers:Echo takes no options",
    ("NoUpdate", "upper=true"): "trackers:NoUpdate takes no options",
    (
        "echo",
        "upper=true",
    ): "--tracker-option upper: expected a class whose constructor takes options, found a function",
    ("Resetting", "upper"): "--tracker-option upper: expected KEY=VALUE, found 'upper'",
    ("Resetting", "=1"): "expected KEY=VALUE",
}


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_options_that_a_tracker_does_not_take(tmp_path: Path, name: str, option: str) -> None:
    ran = tracked(failing(tmp_path), tmp_path / "out", f"trackers:{name}", "--tracker-option", option)
    assert OPTIONS[name, option] in refusal(ran)


def test_option_values() -> None:
    found = option_values(["a=1", "b=007", "c=[1, 2]", "d=", "e=x=y", "f=null", "g=0.5"])
    assert found == {"a": 1, "b": "007", "c": [1, 2], "d": "", "e": "x=y", "f": None, "g": 0.5}


# ---- files of other runs


def other_data(tmp_path: Path) -> Path:
    return written(tmp_path / "other.jsonl", {"A": ["hotel-area=north", "hm"]})


def test_a_file_of_another_run(tmp_path: Path) -> None:
    data, out = failing(tmp_path), tmp_path / "out.jsonl"
    tracked(data, out)
    held = out.read_bytes()
    options = ["--tracker-option", "upper=true"]
    for ran, odd in (
        (tracked(other_data(tmp_path), out), "data other.jsonl#"),
        (tracked(data, out, "trackers:Echo"), "tracker trackers:Echo#"),
        (tracked(data, out, "trackers:Resetting", *options), "tracker trackers:Resetting#"),
        (tracked(data, out, "trackers:Resetting", "--nested"), "nested true, found one of nested false"),
        (tracked(data, out, "trackers:Resetting", "--slots", str(slots(tmp_path))), "data data.jsonl#"),
    ):
        told = refusal(ran)
        assert "expected a file of this run" in told
        assert odd in told
        assert told.endswith("Choose another --out, or start over with --restart.")
    assert out.read_bytes() == held
    assert tracked(data, out, "trackers:Resetting", *options, "--restart").code == 0
    assert out.read_bytes() != held


def slots(tmp_path: Path) -> Path:
    place = tmp_path / "slots.txt"
    place.write_text("hotel-area\nhotel-stars\n")
    return place


def test_the_hash_of_a_tracker_sees_its_source_and_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    source, values = tmp_path / "own_tracker.py", tmp_path / "values.txt"
    monkeypatch.syspath_prepend(tmp_path)
    hashes = []
    for text, held in (("1", "a"), ("2", "a"), ("2", "b"), ("2", "b")):
        sys.modules.pop("own_tracker", None)
        source.write_text(
            f"class T:\n    number = {text}\n    def __init__(s, p): ...\n    def update(s, a, b): ...\n"
        )
        values.write_text(held)
        hashes.append(Loaded("own_tracker:T", {"p": str(values)}).hash)
    assert len(set(hashes)) == 3
    assert hashes[2] == hashes[3]
    sys.modules.pop("own_tracker", None)


def test_a_file_that_no_run_wrote(tmp_path: Path) -> None:
    data, out = failing(tmp_path), tmp_path / "out.jsonl"
    out.write_text("my notes\n")
    assert "found an existing file without out.jsonl.run.json beside it" in refusal(tracked(data, out))
    assert out.read_text() == "my notes\n"
    assert "without out.jsonl.run.json beside it" in refusal(tracked(data, out, "trackers:Echo", "--restart"))
    assert out.read_text() == "my notes\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            b"my notes\n",
            "out.jsonl, line 4: expected a turn as written by a run, found a different line. Start over",
        ),
        (b'{"dialogue_id": "Q", "turn_id": 0, "pred": {}}\n', "found dialogue 'Q', which is not in the data"),
        (b'{"dialogue_id": "A", "turn_id": 0, "pred": {}}\n', "found dialogue 'A', which occurs twice"),
    ],
)
def test_a_file_that_somebody_wrote_into(tmp_path: Path, line: bytes, told: str) -> None:
    data, out = failing(tmp_path), tmp_path / "out.jsonl"
    tracked(data, out)
    with out.open("ab") as file:
        file.write(line)
    assert told in refusal(tracked(data, out))


def test_places_that_are_none(tmp_path: Path) -> None:
    data = failing(tmp_path)
    for out, found in (
        ("-", "standard output"),
        (tmp_path, "a folder"),
        (tmp_path / "no" / "out.jsonl", "no folder"),
    ):
        told = refusal(tracked(data, Path(out)))
        assert "expected a path for a file of predictions" in told
        assert found in told
    for name in ("data.jsonl", "x.run.json", "x.errors.log"):
        (tmp_path / name).write_bytes(data.read_bytes())
        out = name.removesuffix(".run.json").removesuffix(".errors.log")
        told = refusal(tracked(tmp_path / name, tmp_path / out))
        assert "would overwrite the input (DATA" in told
        assert (tmp_path / name).read_bytes() == data.read_bytes()
    assert "--out" in usage(run("track", data, "--tracker", "trackers:Echo"))
    if os.geteuid():  # root may write anywhere
        tmp_path.chmod(0o500)
        assert "expected a writable file" in refusal(tracked(data, tmp_path / "out.jsonl"))
        tmp_path.chmod(0o700)


# ---- data


DATA: dict[str, tuple[list[dict[str, Any]], str]] = {
    "turns without one": (
        [
            {"dialogue_id": "A", "turn_id": 0, "state": {}},
            {"dialogue_id": "B", "turn_id": 0, "user": "hm", "state": {}},
        ],
        "expected a user utterance at every turn, found turns without one (read as dsteval-jsonl) (1 of 2",
    ),
    "twice": (
        [{"dialogue_id": name, "turn_id": 0, "user": "hm", "state": {}} for name in ("A", "a.json")],
        "expected each dialogue once, found 'a.json' twice",
    ),
    "a gap": (
        [{"dialogue_id": "A", "turn_id": number, "user": "hm", "state": {}} for number in (0, 3)],
        "expected turns numbered 0, 1, 2, ...",
    ),
    "half a reference": (
        [
            {"dialogue_id": "A", "turn_id": 0, "user": "hm", "state": {}},
            {"dialogue_id": "B", "turn_id": 0, "user": "hm", "pred": {}},
        ],
        "expected a reference state at every turn",
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_data_that_cannot_be_tracked(tmp_path: Path, name: str) -> None:
    lines, told = DATA[name]
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    data.write_text("\n".join(map(json.dumps, lines)))
    assert told in refusal(tracked(data, out))
    assert not out.exists()


@pytest.mark.parametrize(
    "more",
    [
        ["--metric", "JGAA"],
        ["--protocol", "exakt"],
        ["--protocol", "sgd"],
        ["--protocol", "trippy", "--variants", "no.json"],
        ["--resamples", "3"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--ref-format", "jsonl"],
        ["--by", "colour"],
        ["--missing", "maybe"],
        ["--slots", "0"],
    ],
    ids=" ".join,
)
def test_options_are_refused_before_the_tracker_runs(tmp_path: Path, more: list[str]) -> None:
    out = tmp_path / "out.jsonl"
    assert refusal(tracked(failing(tmp_path), out, "trackers:Resetting", *more))
    assert not out.exists()


def test_data_without_reference(tmp_path: Path) -> None:
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    data.write_text('{"dialogue_id": "A", "turn_id": 0, "user": "spa-day=monday"}\n')
    ran = tracked(data, out, "trackers:echo", "--ref-format", "dsteval-jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert "data.jsonl has no reference: no scores" in ran.err
    assert predictions(out)[0]["pred"] == {"spa-day": "monday"}
    told = refusal(tracked(data, out, "trackers:Forced", "--ref-format", "dsteval-jsonl"))
    assert "expected reference states, as the tracker needs (ref-state), found none" in told


def test_a_list_of_slots_that_is_given_or_known(tmp_path: Path) -> None:
    data = written(tmp_path / "d.jsonl", {"A": ["spa-day=monday", "bath-hour=5"]})
    out = tmp_path / "out.jsonl"
    assert tracked(data, out, "trackers:echo", "--metric", "JGA").code == 0  # no list is known
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps([{"service_name": "spa", "slots": [{"name": "day", "is_categorical": False}]}]))
    ran = tracked(data, tmp_path / "b.jsonl", "trackers:echo", "--schema", str(schema))
    assert ran.code == 1
    assert (
        "dialogue 'A', turn 1: slot 'bath-hour': expected one of the 1 slots of the data, found another" in ran.err
    )
    listed = tmp_path / "slots.txt"
    listed.write_text("spa-day\n")
    assert tracked(data, tmp_path / "c.jsonl", "trackers:echo", "--slots", str(listed)).code == 1


def test_no_timer_outside_the_main_thread(tmp_path: Path) -> None:
    material, told = gather(Source.open(failing(tmp_path))), []

    def work() -> None:
        try:
            track(material, Loaded("trackers:Echo"), tmp_path / "out.jsonl", timeout=1)
        except OptionError as error:
            told.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == [
        "timeout: expected the main thread of a POSIX system, found a system or thread without timers."
    ]


def test_a_timer_leaves_nothing_behind(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGALRM)
    ran: Ran = tracked(failing(tmp_path, "hang"), tmp_path / "out.jsonl", "trackers:Odd", "--timeout", "0.05")
    assert ran.code == 1
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_update_is_a_dictionary() -> None:
    assert Update(area="north") == {"area": "north"}
