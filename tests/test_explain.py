"""``dsteval explain``: what became of one dialogue, on the bundled example and on made ones."""

import csv
import io
import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import WIDE, refusal, run
from dsteval.render.lanes import gutters

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF = EXAMPLE / "reference.jsonl"
SEQ2SEQ = EXAMPLE / "seq2seq.jsonl"
POINTER = EXAMPLE / "pointer.jsonl"
ARROWS = "│┌├└┼─> "


def explain(*arguments: str | Path) -> str:
    ran = run("explain", *arguments)
    assert ran.code == 0, ran
    assert "\x1b" not in ran.out
    return ran.out


def explain_json(*arguments: str | Path) -> Any:
    return json.loads(explain(*arguments, "--as", "json"))


def test_demo07_as_json() -> None:
    found = explain_json(SEQ2SEQ, "DEMO07", "--ref", REF)
    assert (found["dialogue"], found["system"], found["protocol"]) == ("DEMO07", "seq2seq", "exact@2")
    assert found["metric"] == "FGA(variant=official)@0.5"
    turns = found["turns"]
    outcomes = ["exact", "type 1", "type 2", "type 2", "type 1", "type 2", "exact", "exact"]
    assert [turn["outcome"] for turn in turns] == outcomes
    weights = [1, 0, 0.3934693, 0.6321206, 0, 0.3934693, 1, 1]
    assert [turn["weight"] for turn in turns] == pytest.approx(weights, abs=1e-7)
    assert [turn["error_turn"] for turn in turns] == [None, 1, 1, 1, 4, 4, None, None]
    wrong = [{s["slot"]: (s["kind"], s["since"]) for s in turn["slots"] if s["kind"] != "right"} for turn in turns]
    arrive = {"train-arriveby": ("missed", 1), "train-leaveat": ("spurious", 1)}
    assert wrong == [{}, arrive, arrive, arrive, arrive | {"hotel-name": ("spurious", 4)}, arrive, {}, {}]
    first = {slot["slot"]: slot for slot in turns[1]["slots"]}
    assert first["train-departure"] == {
        "slot": "train-departure",
        "ref": "larkstead",
        "pred": "larkstead",
        "kind": "right",
        "since": None,
        "new": True,
        "until": None,
        "error": None,
        "relation": None,
    }
    whole = dsteval.explain(REF, SEQ2SEQ, "DEMO07")
    assert whole.to_dict() == {"schema": found["schema"], **asdict(whole)}
    wanted = ("since", "until", "error", "relation")
    assert tuple(first["train-leaveat"][name] for name in wanted) == (1, 5, "spurious", "another slot")
    assert first["train-leaveat"]["ref"] is None
    assert turns[0]["user"].startswith("Hi! I sing at the choir")
    mean = sum(turn["weight"] for turn in turns) / 8
    result = dsteval.evaluate(REF, SEQ2SEQ, metrics=["FGA@0.5"])
    assert result.per_dialogue("FGA@0.5")["DEMO07"] == pytest.approx(mean, abs=1e-12)


def test_demo07_as_text() -> None:
    lines = explain(SEQ2SEQ, "DEMO07", "--ref", REF).splitlines()
    assert lines[0].split()[:4] == ["DEMO07", "seq2seq", "exact@2", "3"]
    assert "55.24" in lines[0]
    bare = [line.lstrip(ARROWS) for line in lines]
    told = [line.partition("  ")[2] for line in bare if line.startswith("turn ")]
    assert [text.partition(":")[0] for text in told] == [
        "exact, weight 1.000",
        "type 1, weight 0.000",
        "type 2, weight 0.393",
        "type 2, weight 0.632",
        "type 1, weight 0.000",
        "type 2, weight 0.393",
        "exact, weight 1.000",
        "exact, weight 1.000",
    ]
    assert any("train-arriveby" in line and "(missed, since turn 1)" in line for line in lines)
    assert any("I start in Larkstead" in line for line in lines)


def test_demo07_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(explain(SEQ2SEQ, "DEMO07", "--ref", REF, "--as", "csv"))))
    weights = {row["turn"]: float(row["weight"]) for row in rows}
    assert list(weights.values()) == pytest.approx([1, 0, 0.393469, 0.632121, 0, 0.393469, 1, 1])
    missed = next(row for row in rows if row["kind"] == "missed")
    assert [missed[column] for column in ("turn", "slot", "ref", "pred")] == ["1", "train-arriveby", "16:30", ""]


@pytest.mark.parametrize("name", ["demo07", "DEMO07.json", "Demo07.JSON", " demo07 "])
def test_the_dialogue_in_any_spelling(name: str) -> None:
    assert explain(SEQ2SEQ, name, "--ref", REF) == explain(SEQ2SEQ, "DEMO07", "--ref", REF)


def test_unknown_dialogues(tmp_path: Path) -> None:
    said = refusal(run("explain", SEQ2SEQ, "DEMO7", "--ref", REF))
    assert "Unknown dialogue 'DEMO7'. Did you mean 'DEMO07'?" in said
    said = refusal(run("explain", SEQ2SEQ, "xyz", "--ref", REF))
    assert "no dialogue 'xyz'; it has 12, first: DEMO01, DEMO02, DEMO03." in said
    pred, ref = tmp_path / "pred.json", tmp_path / "ref.json"
    pred.write_text('{"a": [{}], "b": [{}]}')
    ref.write_text('{"a": [{}], "c": [{}]}')
    said = refusal(run("explain", pred, "c", "--ref", ref))
    assert "Did you mean 'c'" not in said
    assert "pred.json" in said
    said = refusal(run("explain", pred, "b", "--ref", ref))
    assert "are not in the reference (b)" in said
    assert said.startswith("pred.json: ")
    said = refusal(run("explain", pred, "zz", "--ref", ref))
    assert "has 2, first: a, b." in said


def test_messages_name_the_file(tmp_path: Path) -> None:
    pred, ref = tmp_path / "pred.json", tmp_path / "ref.json"
    ref.write_text('{"a": [{}]}')
    for states in ("[{}, {}]", '{"1": {}}', '[{"hotel-day": "x", "hotel-book day": "y"}]'):
        pred.write_text(f'{{"a": {states}}}')
        assert refusal(run("explain", pred, "a", "--ref", ref)).startswith("pred.json")


def test_the_rest_of_the_file_counts_too(tmp_path: Path) -> None:
    pred = tmp_path / "pred.json"
    pred.write_text('{"a": {"0": {"gt": {}, "pr": {}}}, "b": {"0": {"gt": {"x": {"y": 0.5}}, "pr": {}}}}')
    assert "dialogue 'b', turn 0, slot 'x-y'" in refusal(run("explain", pred, "a"))


def test_variants_and_protocols(tmp_path: Path) -> None:
    turns = [{"gt": {"h": {"a": "x"}}, "pr": {"h": {"a": "x"}}}, {"gt": {"h": {"a": "x"}}, "pr": {}}]
    pred = tmp_path / "pred.json"
    pred.write_text(json.dumps({"d": {str(n): turn for n, turn in enumerate(turns)}}))
    found = explain_json(pred, "d", "--protocol", "fga-paper")
    assert found["metric"] == "FGA(variant=paper)@0.5"
    last = found["turns"][1]
    assert (last["outcome"], last["weight"], last["error_turn"]) == ("type 2", 1, None)
    found = explain_json(pred, "d", "--metric", "FGA(variant=strict)@inf")
    assert [turn["weight"] for turn in found["turns"]] == [1, 0]
    for metric, part in (
        ("JGA", "FGA with a lambda"),
        ("FGA", "For example FGA@0.5"),
        ("FGAA@1", "Did you mean 'FGA'?"),
    ):
        assert part in refusal(run("explain", pred, "d", "--metric", metric))


def test_bits(tmp_path: Path) -> None:
    marks = [1] * 30
    pred = tmp_path / "bits.json"
    pred.write_text(json.dumps({"D.json": {"0": [0, *marks[1:]], "1": [0, *marks[1:]], "2": marks}}))
    found = explain_json(pred, "d", "--protocol", "fga-trippy")
    assert [turn["weight"] for turn in found["turns"]] == pytest.approx([0, 0.3934693, 1])
    (slot,) = found["turns"][1]["slots"]
    assert (slot["slot"], slot["kind"], slot["since"]) == ("taxi-leaveat", "marked wrong", 0)
    assert "marked wrong" in explain(pred, "d", "--protocol", "fga-trippy")
    assert "Only --protocol fga-trippy" in refusal(run("explain", pred, "d"))
    said = refusal(run("explain", pred, "d", "--protocol", "fga-trippy", "--metric", "FGA(variant=official)@1"))
    assert "official" in said


def test_values_that_would_break_the_output(tmp_path: Path) -> None:
    state = {"h": {"a": "one\ntwo", "b": "\u001b[31mred\u001b[0m", "c": "[bold]x[/bold]", "d": "e|f", "e": "g\rh"}}
    pred = tmp_path / "pred.json"
    turns = {"0": {"gt": state, "pr": {}}}
    pred.write_text(json.dumps({"d": turns}))
    text = explain(pred, "d", "--protocol", "fga-official")  # no escape codes
    assert "[bold]x[/bold]" in text
    for slot in "abcde":
        assert sum(f"h-{slot} " in line for line in text.splitlines()) == 1
    assert text.split("\n\n")[1].count("\n") == 5
    table = explain(pred, "d", "--protocol", "fga-official", "--as", "md").split("\n\n")[0].splitlines()
    assert len(table) == 2 + 5
    text = run("explain", pred, "d", "--protocol", "fga-official", "--as", "csv").out
    assert next(csv.DictReader(io.StringIO(text)))["ref"] == "one\ntwo"


def test_long_values_and_utterances_are_wrapped_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pred = tmp_path / "pred.jsonl"
    line = {"dialogue_id": "d", "turn_id": 0, "user": "word " * 300, "ref": {"hotel-name": "x" * 700}, "pred": {}}
    pred.write_text(json.dumps(line))
    monkeypatch.setitem(WIDE, "COLUMNS", "80")
    text = explain(pred, "d")
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("word") == 300
    assert text.replace("\n", "").replace(" ", "").count("x" * 700) == 1


@pytest.mark.parametrize("name", ["[red]d[/red]", "[/]", "d:smile:", "d\\", "\\[d]", "d\\["])
def test_names_that_look_like_markup(tmp_path: Path, name: str) -> None:
    pred = tmp_path / "pred.json"
    turn = {"gt": {"h": {"a": name}, name: {"b": "c"}}, "pr": {}}
    pred.write_text(json.dumps({name: {"0": turn}}))
    text = explain(pred, name)
    assert text.startswith(f"{name}  pred")
    assert f"ref {name}, pred nothing" in text
    assert f"- {name}-b " in text
    if "/" not in name:
        assert f"\n{name} " in run("score", f"{name}=-", stdin=pred.read_bytes()).out


# Arrows, two systems, some turns, the worst dialogues ----------------------------------------------------------


def test_arrows_lead_from_an_error_to_its_turns() -> None:
    lines = explain(SEQ2SEQ, "DEMO07", "--ref", REF).splitlines()
    arrive = [line[:4] for line in lines if "- train-arriveby" in line]
    assert arrive == ["┌── ", "├┼> ", "├┼> ", "├┼> ", "└┼> "]
    leave = [line[:4] for line in lines if "+ train-leaveat" in line]
    assert leave == ["│┌─ ", "│├> ", "│├> ", "│├> ", " └> "]


def test_arrows_keep_out_of_each_others_lanes() -> None:
    """Every error that has two lines is drawn in the leftmost lane that none drawn before takes on its lines."""
    drawn = random.Random(1)
    for _ in range(200):
        keys = [drawn.choice([None, *"abcdefg"[: drawn.randint(1, 7)]]) for _ in range(drawn.randint(0, 30))]
        places = {key: [place for place, other in enumerate(keys) if other == key] for key in keys if key}
        spans = {key: range(some[0], some[-1] + 1) for key, some in places.items() if len(some) > 1}
        lanes: dict[str | None, int] = {}
        for key, span in spans.items():
            taken = {lanes[other] for other in lanes if span[0] in spans[other]}
            lanes[key] = min(set(range(len(spans))) - taken)
        found = gutters(keys)
        assert {len(gutter) for gutter in found} <= {max(lanes.values()) + 2 if lanes else 0}
        for place, (key, gutter) in enumerate(zip(keys, found, strict=True)):
            through = {lanes[other] for other in lanes if other != key and place in spans[other]}
            assert {lane for lane, sign in enumerate(gutter) if sign in "│┼"} == through
            own = [lane for other, lane in lanes.items() if other == key]
            assert [lane for lane, sign in enumerate(gutter) if sign in "┌├└"] == own
            assert gutter.endswith((">", "─")) == (key in lanes)


def test_arrows_of_a_long_dialogue_are_drawn_at_once() -> None:
    keys = [error for first in range(0, 20_000, 2) for error in (first, first + 1, first, first + 1)]
    found = gutters(["long", *keys, "long"])
    assert found[:6] == ["┌───", "│┌──", "││┌─", "│└┼>", "│ └>", "│┌──"]
    assert found[-1] == "└──>"


def test_only_some_turns() -> None:
    def numbers(*more: str) -> list[int]:
        return [turn["turn"] for turn in explain_json(SEQ2SEQ, "DEMO07", "--ref", REF, *more)["turns"]]

    assert numbers("--only", "type1") == [1, 4]
    assert numbers("--only", "type2") == [2, 3, 5]
    assert numbers("--only", "wrong") == [1, 2, 3, 4, 5]
    assert numbers() == list(range(8))


def test_two_systems_side_by_side() -> None:
    arguments: list[str | Path] = [POINTER, "DEMO07", "--ref", REF, "--system", f"other={SEQ2SEQ}"]
    found = explain_json(*arguments)
    assert [one["system"] for one in found["systems"]] == ["pointer", "other"]
    assert found["systems"][1]["turns"] == explain_json(SEQ2SEQ, "DEMO07", "--ref", REF)["turns"]
    # Turns that are wrong for either are shown for both.
    wrong = explain_json(*arguments, "--only", "wrong")["systems"]
    assert [turn["turn"] for turn in wrong[0]["turns"]] == [turn["turn"] for turn in wrong[1]["turns"]]
    text = explain(*arguments).splitlines()
    assert text[0].startswith("DEMO07  pointer | other")
    line = next(line for line in text if "train-arriveby" in line and "missed" in line)
    assert line.split() == [
        "train-arriveby",
        "16:30",
        "16:30",
        "|",
        "-",
        "nothing",
        "(missed,",
        "since",
        "turn",
        "1)",
    ]
    start = text.index(next(line for line in text if line.startswith("turn 1 ")))
    bars = {line.index("  |  ") for line in text[start + 3 : start + 8]}
    assert len(bars) == 1  # columns stand below each other
    rows = list(csv.DictReader(io.StringIO(explain(*arguments, "--as", "csv"))))
    assert {row["pointer: kind"] for row in rows} <= {"right", "missed", "spurious", "wrong", ""}


def test_the_worst_dialogues_come_first() -> None:
    found = explain_json(POINTER, "--ref", REF, "--worst", "5")
    values = [one["value"] for one in found["dialogues"]]
    per_dialogue = dsteval.evaluate(REF, POINTER, metrics=["FGA@0.5"]).per_dialogue("FGA@0.5")
    assert values == sorted(per_dialogue.values())[:5]
    assert found["of"] == 12
    first = found["dialogues"][0]
    shown = explain_json(POINTER, first["dialogue"], "--ref", REF)["turns"]
    outcomes = [turn["outcome"] for turn in shown]
    assert (first["turns"], first["right"]) == (len(shown), outcomes.count("exact"))
    assert first["first_wrong"] == next(turn["turn"] for turn in shown if turn["outcome"] != "exact")
    lifetimes = explain_json(POINTER, "--ref", REF, "--worst", "1", "--metric", "ErrorLifetime")["dialogues"]
    every = dsteval.evaluate(REF, POINTER, metrics=["ErrorLifetime"]).per_dialogue("ErrorLifetime").values()
    assert lifetimes[0]["value"] == max(value for value in every if value == value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["DEMO07", "--worst", "3"], "--worst 3: does not go with DIALOGUE. Drop one of them."),
        (["--worst", "0"], "--worst: expected at least 1, found 0"),
        (["DEMO07", "--only", "typ1"], "Did you mean 'type1'?"),
        (["DEMO07", "--protocol", "sgd", "--set", "scope.frames=domains"], "whole turns"),
    ],
)
def test_what_explain_refuses(more: list[str], said: str) -> None:
    assert said in refusal(run("explain", POINTER, "--ref", REF, *more))


def test_a_dialogue_or_worst_must_be_there() -> None:
    ran = run("explain", POINTER, "--ref", REF)
    assert ran.code == 2 and "--worst N" in ran.err


def test_notebooks_show_results_and_dialogues_escaped() -> None:
    ref = {"<b>d": [{"hotel-name": "x&y"}]}
    pred = {"<b>d": [{"hotel-name": "a&b"}]}
    result = dsteval.evaluate(ref, pred, name="<i>x")
    dialogue = dsteval.explain(ref, pred, "<b>d", name="<i>x")
    compared = dsteval.compare({"<i>x": pred, "y": ref}, ref=ref)
    for text in (result._repr_html_(), dialogue._repr_html_(), compared._repr_html_()):
        assert text.startswith("<div><table>") and text.endswith("</div>")
        assert "&lt;i&gt;x" in text
        assert "<i>" not in text and "<b>d" not in text
    assert "x&amp;y" in dialogue._repr_html_()
