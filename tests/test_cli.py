"""The command line on good input: every form of output, names, places and streams, on the bundled example."""

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import COMMAND, Ran, process, refusal, run

EXAMPLE = Path(dsteval.__file__).parent / "example"
REF = EXAMPLE / "reference.jsonl"
SYSTEMS = ["pointer", "seq2seq", "prompted"]
FILES = [EXAMPLE / f"{name}.jsonl" for name in SYSTEMS]
SEQ2SEQ = FILES[1]
DEFAULT = ["JGA", "TurnMatch", "SlotAccuracy", "AGA", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1", "SlotF1"]
FORMS = ["text", "json", "csv", "md", "latex"]
SUFFIXES = {"text": ".txt", "json": ".json", "csv": ".csv", "md": ".md", "latex": ".tex"}

BOTH = b'{"d": {"0": {"gt": {"hotel": {"area": "a"}}, "pr": {}}, "1": {"gt": {}, "pr": {}}}}'


def done(ran: Ran) -> str:
    assert ran.code == 0, ran
    assert "\x1b" not in ran.out
    assert all(": read as " in line for line in ran.err.splitlines()), ran.err
    return ran.out


def strict(text: str) -> Any:
    """JSON that any parser reads: no NaN, no key twice."""

    def no_constant(name: str) -> None:
        raise AssertionError(name)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=no_constant, object_pairs_hook=once)


def score_json(*arguments: str | Path, stdin: bytes = b"") -> Any:
    return strict(done(run("score", *arguments, "--as", "json", stdin=stdin)))


def test_score_as_json() -> None:
    found = score_json(*FILES, "--ref", REF)
    assert list(found) == ["schema", "systems", "comparisons"]
    assert found["schema"] == 1
    assert found["comparisons"] == []
    assert [system["name"] for system in found["systems"]] == SYSTEMS
    for system, path in zip(found["systems"], FILES, strict=True):
        assert list(system) == ["name", "source", "protocol", "coverage", "scores", "slices", "notes"]
        assert (system["source"], system["protocol"], system["slices"]) == (path.name, "exact@2", [])
        assert system["coverage"] == {
            "ref_dialogues": 12,
            "scored_dialogues": 12,
            "ref_turns": 76,
            "scored_turns": 76,
            "missing": [],
            "extra": [],
            "left_out": [],
        }
        assert [score["metric"] for score in system["scores"]] == DEFAULT
        for score in system["scores"]:
            assert list(score) == ["metric", "value", "low", "high", "error", "count", "total", "signature"]
            assert 0 <= score["value"] <= 1
            assert score["low"] <= score["value"] <= score["high"]
            assert score["error"] > 0
            assert isinstance(score["total"], int)
            assert score["signature"].startswith(score["metric"].partition("@")[0])
            assert score["signature"].endswith(f"|v:{dsteval.__version__}")
            counted = score["metric"] in ("JGA", "TurnMatch", "SlotAccuracy", "SlotF1")
            assert isinstance(score["count"], int) if counted else score["count"] is None
            if counted and score["metric"] != "SlotF1":
                assert score["value"] == score["count"] / score["total"]
    jga = found["systems"][1]["scores"][0]
    assert (jga["count"], jga["total"]) == (55, 76)


def test_score_as_json_is_what_python_gives() -> None:
    assert score_json(SEQ2SEQ, "--ref", REF) == dsteval.evaluate(REF, SEQ2SEQ).to_dict()


def test_an_undefined_value_is_null_with_the_reason() -> None:
    both = b'{"d": {"0": {"gt": {}, "pr": {}}}}'
    ran = run("score", "-", "--as", "json", stdin=both)
    (system,) = strict(ran.out)["systems"]
    assert "the reference and the predictions have no slots at any turn" in system["notes"][0]
    scores = {score["metric"]: score for score in system["scores"]}
    for metric in ("AGA", "SlotF1"):
        assert scores[metric]["value"] is None
        assert scores[metric]["why"]
        assert scores[metric]["total"] == 0
    assert scores["JGA"]["value"] == 1
    assert "why" not in scores["JGA"]
    text = done(run("score", "-", stdin=both))
    assert "AGA" in text.split("undefined: ")[0]
    assert scores["AGA"]["why"] in text
    rows = list(csv.DictReader(io.StringIO(run("score", "-", "--as", "csv", stdin=both).out)))
    row = next(row for row in rows if row["metric"] == "AGA")
    assert (row["value"], row["why"]) == ("", scores["AGA"]["why"])
    assert "nan" not in text.casefold()


def test_score_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(done(run("score", *FILES, "--ref", REF, "--as", "csv")))))
    assert [(row["system"], row["metric"]) for row in rows] == [(s, m) for s in SYSTEMS for m in DEFAULT]
    columns = ["system", "protocol", "metric", "value", "low", "high"]
    columns += ["error", "count", "total", "signature", "why"]
    assert all(list(row) == columns for row in rows)
    assert float(rows[9]["value"]) == 55 / 76


def test_score_as_md() -> None:
    lines = done(run("score", *FILES, "--ref", REF, "--as", "md")).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table == lines[: len(table)]
    assert len(table) == 2 + 2 * len(SYSTEMS)  # numbers, and their intervals
    assert {line.count("|") for line in table} == {table[0].count("|")}
    assert set(table[1]) <= set("|-: ")
    assert "72.37" in table[4]
    assert "SA" in table[0]


def test_score_as_latex() -> None:
    text = done(run("score", *FILES, "--ref", REF, "--as", "latex"))
    for part in (r"\begin{tabular}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}", r"\#turns"):
        assert part in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 2 * len(SYSTEMS)
    assert {line.count("&") for line in rows} == {rows[0].count("&")}


def test_latex_and_md_escape_names(tmp_path: Path) -> None:
    path = tmp_path / "a_b&c%d|e.json"
    path.write_bytes(BOTH)
    assert r"a\_b\&c\%d|e & 2" in done(run("score", path, "--as", "latex"))
    assert r"| a_b&c%d\|e | 2 |" in done(run("score", path, "--as", "md"))


def test_score_as_text() -> None:
    lines = done(run("score", *FILES, "--ref", REF)).splitlines()
    assert lines[0].split() == ["system", "#turns", "#M1", "#M2", "JGA", "SA", "AGA", *DEFAULT[4:]]
    assert lines[4].split()[:5] == ["seq2seq", "76", "55", "63", "72.37"]
    assert any("12 of 12 dialogues, 76 of 76 turns, |S| = 30" in line for line in lines)
    assert any("proto:exact@2|turns:76/76" in line for line in lines)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "command",
    [
        ["score", *map(str, FILES), "--ref", str(REF)],
        ["explain", str(SEQ2SEQ), "DEMO07", "--ref", str(REF)],
        ["list", "metrics"],
        ["list", "protocols"],
        ["list", "readers"],
        ["lambda", "--turns", "6", "--factor", "0.95"],
    ],
    ids=lambda command: " ".join(command[:1] + command[1:2] * (command[0] == "list")),
)
def test_every_command_in_every_form(tmp_path: Path, command: list[str], form: str) -> None:
    printed = done(run(*command, "--as", form))
    assert printed.endswith("\n")
    assert "Traceback" not in printed
    out = tmp_path / f"out{SUFFIXES[form]}"
    for more in ([], ["--as", form]):
        assert done(run(*command, "-o", out, *more)) == ""
        trimmed = "".join(line.rstrip() + "\n" for line in printed.splitlines())
        if command[0] == "score" and form == "json":
            saved = strict(out.read_text(encoding="utf-8"))
            assert all(system.pop("per_dialogue") and system.pop("checksum") for system in saved["systems"])
            assert saved == strict(printed)
        else:
            assert out.read_text(encoding="utf-8") == (trimmed if form == "text" else printed)
    assert list(tmp_path.iterdir()) == [out]
    if form == "json":
        strict(printed)
    if form == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(printed))}) == 1
    if form == "md":
        assert printed.startswith("|")
    if form == "latex":
        assert r"\toprule" in printed


def test_as_wins_over_the_suffix(tmp_path: Path) -> None:
    out = tmp_path / "numbers"
    assert done(run("list", "metrics", "--as", "json", "--out", out)) == ""
    assert strict(out.read_text())["metrics"]


def test_names_of_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pred.json", "x=y.json", "my.model.v2.json"):
        (tmp_path / name).write_bytes(BOTH)
    monkeypatch.chdir(tmp_path)

    def called(argument: str) -> str:
        found: str = score_json(argument, stdin=BOTH)["systems"][0]["name"]
        return found

    assert called("pred.json") == "pred"
    assert called("ours=pred.json") == "ours"
    assert called(f"ours={tmp_path}/pred.json") == "ours"
    assert called("x=y.json") == "x=y"
    assert called("a=x=y.json") == "a"
    assert called(f"{tmp_path}/x=y.json") == "x=y"
    assert called("my.model.v2.json") == "my.model.v2"
    assert called("ours=-") == "ours"
    assert called("-") == "standard input"


def test_standard_input() -> None:
    ran = run("score", "-", "--metric", "JGA", stdin=BOTH)
    assert done(ran).splitlines()[2].split() == ["standard", "input", "2", "50.00"]
    assert "standard input: read as fga-json" in ran.err
    ref = REF.read_bytes()
    assert score_json(SEQ2SEQ, "--ref", "-", stdin=ref)["systems"][0]["coverage"]["ref_turns"] == 76
    assert "turn 1" in done(run("explain", "-", "DEMO07", "--ref", REF, stdin=SEQ2SEQ.read_bytes()))
    refusal(run("score", "-", "-", stdin=BOTH))


def test_a_reference_from_standard_input_serves_every_file() -> None:
    found = score_json(*FILES, "--ref", "-", stdin=REF.read_bytes())
    assert [system["name"] for system in found["systems"]] == SYSTEMS


def test_metrics_are_printed_in_the_order_asked_for() -> None:
    wanted = ["FGA(variant=strict)@0.50", "JGA", "AGA(over=union)", "JGA"]
    flags = [word for metric in wanted for word in ("--metric", metric)]
    scores = score_json(SEQ2SEQ, "--ref", REF, *flags)["systems"][0]["scores"]
    assert [score["metric"] for score in scores] == ["FGA(variant=strict)@0.5", "JGA", "AGA(over=union)"]
    assert done(run("score", SEQ2SEQ, "--ref", REF, *flags)).split()[1:3] == ["#turns", "FGA(variant=strict)@0.5"]


def test_settings_show_in_the_signature() -> None:
    flags = ["--set", "states.dontcare=drop", "--set", "scope.slots=50"]
    (system,) = score_json(SEQ2SEQ, "--ref", REF, *flags)["systems"]
    assert system["protocol"] == "exact@2[scope.slots=50,states.dontcare=drop]"
    signature = system["scores"][0]["signature"]
    assert "|dc:drop|" in signature
    assert "|S:50|" in signature


def test_updates(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in SEQ2SEQ.read_text().splitlines()]
    before: dict[str, dict[str, str]] = {}
    for line in lines:
        old, new = before.get(line["dialogue_id"], {}), line["state"]
        changed = {slot: value for slot, value in new.items() if old.get(slot) != value}
        line["state"] = changed | {slot: "[DELETE]" for slot in old if slot not in new}
        before[line["dialogue_id"]] = new
    path = tmp_path / "updates.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ours, theirs = (score_json(p, "--ref", REF, *more) for p, more in ((path, ["--updates"]), (SEQ2SEQ, [])))
    values = [[score["value"] for score in found["systems"][0]["scores"]] for found in (ours, theirs)]
    assert values[0] == values[1]
    assert "|input:updates|" in ours["systems"][0]["scores"][0]["signature"]
    path.write_text("".join(json.dumps({"update": line.pop("state"), **line}) + "\n" for line in lines))
    found = score_json(path, "--ref", REF)
    assert [score["value"] for score in found["systems"][0]["scores"]] == values[1]


def test_updates_by_service_count_in_the_turn_that_says_them(tmp_path: Path) -> None:
    """A frame of updates holds for its turn. Said again it would move no score, but every count of values."""
    frames = [
        [{"service": "hotel", "items": [["area", "North"]]}],
        [{"service": "taxi", "items": [["leaveat", "5 pm"]]}],
        [],
    ]
    ref: dict[str, str] = {}
    with (tmp_path / "p.jsonl").open("w") as file:
        for number, said in enumerate(frames):
            ref |= {f"{frame['service']}-{slot}": value for frame in said for slot, value in frame["items"]}
            sides = {"ref": ref, "frames": {"pred": said}, "updates": True}
            file.write(json.dumps({"dialogue_id": "a", "turn_id": number, **sides}) + "\n")
    flags = ["--protocol", "normalised", "--metric", "JGA", "--changes"]
    (system,) = score_json(tmp_path / "p.jsonl", *flags)["systems"]
    assert system["scores"][0]["value"] == 1
    counts = {(change["slot"], change["side"]): change["turns"] for change in system["changes"]}
    assert (counts["hotel-area", "ref"], counts["hotel-area", "pred"]) == (3, 1)
    assert (counts["taxi-leaveat", "ref"], counts["taxi-leaveat", "pred"]) == (2, 1)


def test_notes_are_told_in_every_form(tmp_path: Path) -> None:
    """That the file holds another reference than --ref changes what the numbers mean."""
    ref = '{"d": [{"hotel-area": "a"}, {"hotel-area": "b"}]}'
    (tmp_path / "ref.json").write_text(ref)
    (tmp_path / "pred.json").write_bytes(BOTH)
    for form in FORMS:
        ran = run("score", tmp_path / "pred.json", "--ref", tmp_path / "ref.json", "--as", form)
        assert "1 of 2 turns have a different reference" in ran.out + ran.err, form


def test_no_numpy_for_help_and_version() -> None:
    program = (
        "import sys\nsys.argv[0] = 'dsteval'\nfrom dsteval.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print([name for name in ('numpy', 'msgspec', 'rich', 'rapidfuzz') if name in sys.modules])"
    )
    for argument, text in (("--help", "Usage: dsteval"), ("--version", f"dsteval {dsteval.__version__}")):
        out = subprocess.run(
            [COMMAND[0], "-c", program, argument], capture_output=True, check=True
        ).stdout.decode()
        assert text in out
        assert out.splitlines()[-1] == "[]"


def test_lambda() -> None:
    assert "0.49929" in done(run("lambda", "--turns", "6", "--factor", "0.95"))
    found = strict(done(run("lambda", "--turns", "6", "--factor", "0.95", "--as", "json")))
    assert found["lambda"] == pytest.approx(0.4992887, abs=1e-7)
    assert found["metric"] == "FGA@0.49929"
    assert found["weights"][-1] == pytest.approx(0.95)
    assert len(found["weights"]) == 6


def test_results_go_to_stdout_and_the_rest_to_stderr() -> None:
    ran = process("score", SEQ2SEQ, "--ref", REF, "--as", "json")
    assert strict(ran.out)
    assert [line.partition(":")[0] for line in ran.err.splitlines()] == ["reference.jsonl", "seq2seq.jsonl"]
