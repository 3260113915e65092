"""``dsteval compare``: its forms, --against and --fail-below, and what is said where."""

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import Ran, refusal, run
from dsteval.analysis.comparison import compare
from dsteval.render.comparison import comparison_tables
from dsteval.render.table import Marked, Table, to_csv, to_latex, to_md
from test_terminal import CODE, terminal

EXAMPLE = Path(dsteval.__file__).parent / "example"
FILES = [EXAMPLE / f"{name}.jsonl" for name in ("pointer", "seq2seq", "prompted")]
REF = EXAMPLE / "reference.jsonl"
COMPARE: list[str | Path] = ["compare", *FILES, "--ref", REF]


def done(ran: Ran) -> str:
    assert ran.code == 0, ran
    return ran.out


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "saved.json"
    done(run("score", FILES[0], "--ref", REF, "-o", path))
    return path


def test_text() -> None:
    lines = done(run(*COMPARE)).splitlines()
    assert lines[0].split() == [
        *("system", "#turns", "#M1", "#M2", "JGA", "SA", "AGA"),
        *("FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1", "SlotF1"),
    ]
    rows = {line.split()[0]: line for line in lines[2:5]}
    assert rows["pointer"].split()[4] == "48.68†" and rows["seq2seq"].split()[4] == "72.37"
    # A number that is marked stands below one that is not, digit below digit.
    assert rows["pointer"].index("48.68†") == rows["seq2seq"].index("72.37") == lines[0].index("JGA") - 2
    assert any(
        line.startswith("† significantly worse than the best of the column (5%, paired-bootstrap")
        for line in lines
    )
    jga = [line for line in lines if line.startswith("JGA ")]
    assert [line.split()[1:3] for line in jga] == [["pointer", "seq2seq"], ["seq2seq", "prompted"]]
    assert "-23.68 [-40.28, -5.41]" in jga[0]
    assert lines[-1] == "pairs without the best system: 9 more; csv and json list all"


@pytest.fixture
def nearly_alike(tmp_path: Path) -> list[str | Path]:
    """Two systems, the first worse by 0.002 points: an error that lasts a turn longer, under a large lambda."""
    north = {"hotel-area": "north"}
    for name, states in {"ref": [north, north], "a": [{}, {}], "b": [{}, north]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({f"d{number:02}": states for number in range(12)}))
    return [tmp_path / "a.json", tmp_path / "b.json", "--ref", tmp_path / "ref.json", "--metric", "FGA@10"]


@pytest.mark.parametrize("form", ["text", "md", "latex"])
def test_what_rounds_to_zero_from_below_has_no_minus(nearly_alike: list[str | Path], form: str) -> None:
    out = done(run("compare", *nearly_alike, "--as", form))
    assert "+0.00 [+0.00, +0.00]" in out
    assert not re.search(r"(-|\$-\$|\N{MINUS SIGN})0\.00\b", out)
    (found,) = json.loads(done(run("compare", *nearly_alike, "--as", "json")))["comparisons"]
    assert -0.00005 < found["difference"] < 0 and found["low"] < 0


def test_nor_has_it_where_a_limit_is_missed(nearly_alike: list[str | Path], tmp_path: Path) -> None:
    first, second, *more = nearly_alike
    done(run("score", second, *more, "-o", tmp_path / "saved.json"))
    ran = run("compare", first, *more, "--against", tmp_path / "saved.json", "--fail-below", "FGA@10=0.5")
    assert ran.code == 1
    assert (
        "a against b: +0.00 percentage points, and the confidence interval +0.00 to +0.00 reaches below 0.5"
        in ran.err
    )


def test_the_best_is_bold_in_a_terminal() -> None:
    wide = terminal(*map(str, COMPARE), "--metric", "JGA", columns=200)
    assert re.search(r"\x1b\[1m *72\.37 *\x1b\[0m", wide)
    assert not re.search(r"\x1b\[1m[^\x1b]*48\.68", wide)
    narrow = CODE.sub("", terminal(*map(str, COMPARE), columns=60))
    assert re.search(r"^JGA +48\.68† +72\.37 +53\.95", narrow, re.M)


def test_json_is_the_document_of_python() -> None:
    document = json.loads(done(run(*COMPARE, "--as", "json", "--test", "permutation", "--baselines")))
    systems: dict[str, Any] = {path.stem: path for path in FILES}
    found = compare(systems, REF, test="permutation", baselines=["nothing", "before"])
    assert document == json.loads(json.dumps(found.to_dict()))
    assert list(document) == ["schema", "systems", "comparisons", "baselines"]
    assert list(document["comparisons"][0]) == [
        *("metric", "a", "b", "difference", "low", "high", "error", "test", "p", "p_holm", "note")
    ]
    tests = {entry["test"] for entry in document["comparisons"]}
    assert tests == {"paired-permutation", "mcnemar"}
    assert len(document["comparisons"]) == 3 * 10


def test_csv_has_all_pairs_in_full() -> None:
    scores, pairs = done(run(*COMPARE, "--as", "csv")).split("\n\n")
    entries = json.loads(done(run(*COMPARE, "--as", "json")))["comparisons"]
    read = list(csv.DictReader(pairs.splitlines()))
    assert [row["metric"] for row in read] == [entry["metric"] for entry in entries]
    assert [float(row["difference"]) for row in read] == [entry["difference"] for entry in entries]
    assert [float(row["p_holm"]) for row in read] == [entry["p_holm"] for entry in entries]
    assert {row["system"] for row in csv.DictReader(scores.splitlines())} == {"pointer", "seq2seq", "prompted"}
    assert "†" not in scores and "*" not in scores


def test_md_has_the_best_in_bold() -> None:
    lines = done(run(*COMPARE, "--as", "md", "--metric", "JGA")).splitlines()
    assert lines[2:5] == ["| pointer | 76 | 48.68† |", "| seq2seq | 76 | **72.37** |", "| prompted | 76 | 53.95 |"]


def parsed_latex(text: str) -> list[list[list[str]]]:
    """The cells of each tabular; braces and environments close, and all rows are as wide as the columns told."""
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    plain = re.sub(r"\\[{}&%$#_]", "", bare)
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    tables = re.findall(
        r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}", bare, re.S
    )
    assert len(tables) == bare.count(r"\begin{") == bare.count(r"\end{")
    found = []
    for columns, body in tables:
        head, middle, rest = body.partition("\\midrule\n")
        assert middle
        rows = [re.split(r"(?<!\\) & ", line.removesuffix(r" \\")) for line in (head + rest).splitlines()]
        assert all(line.endswith(r" \\") for line in (head + rest).splitlines())
        assert {len(row) for row in rows} == {len(columns)}
        assert not any(row[0].startswith(("[", "*")) for row in rows)
        found.append(rows)
    return found


ODD = ["[a]_1 & 100% #2", "*b*{}~^\\$", "c<d>|e"]


def compiles(text: str, folder: Path) -> None:
    """Run through LaTeX, if there is one on this machine."""
    engine = next((name for name in ("tectonic", "pdflatex") if shutil.which(name)), None)
    if engine is None:
        return
    path = folder / "table.tex"
    path.write_text(
        "\\documentclass{article}\n\\usepackage[a0paper,landscape]{geometry}\n\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{text}\n\\end{{document}}\n"
    )
    flags = ["-interaction=nonstopmode", "-halt-on-error"] if engine == "pdflatex" else ["--only-cached"]
    done = subprocess.run([engine, *flags, path.name], cwd=folder, capture_output=True, check=False)
    if engine == "tectonic" and b"cache" in done.stderr:
        return  # it has never been on a network
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_latex_is_whole(tmp_path: Path) -> None:
    text = done(run(*COMPARE, "--as", "latex", "--baselines"))
    scores, pairs = parsed_latex(text)
    assert scores[1][4] == r"48.68\textsuperscript{\dag}" and scores[2][4] == r"\textbf{72.37}"
    assert pairs[1][3] == "$-$23.68 [$-$40.28, $-$5.41]"
    assert re.search(r"^% signature: proto:exact@2", text, re.M)
    compiles(text, tmp_path)


def test_odd_names_survive_every_form(tmp_path: Path) -> None:
    systems = dict(zip(ODD, FILES, strict=True))
    tables = comparison_tables(compare(systems, REF, metrics=["JGA", "SlotF1"]), paper=False, everything=True)
    text = "\n".join(map(to_latex, tables))
    scores, _ = parsed_latex(text)
    assert [row[0] for row in scores[1:]] == [
        r"{}[a]\_1 \& 100\% \#2",
        r"{}*b*\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\$",
        r"c\textless{}d\textgreater{}|e",
    ]
    compiles(text, tmp_path)
    assert ODD[0] in to_csv(tables[0]) and r"c<d>\|e" in to_md(tables[0])


def test_marked_cells() -> None:
    table = Table(["a", "b"], [["x", Marked("1.00", True)], ["y", Marked("-0.50", False, "†")]], frozenset({1}))
    assert to_csv(table) == "a,b\nx,1.00\ny,-0.50\n"
    assert to_md(table).splitlines()[2:] == ["| x | **1.00** |", "| y | -0.50† |"]
    assert r"y & $-$0.50\textsuperscript{\dag} \\" in to_latex(table)


def test_names_are_not_taken_for_numbers() -> None:
    """Only a number's minus is one: neither a hyphen in a word nor one in a range."""
    table = Table(["a", "b"], [["x-1", "t5-3"], ["-1", "0.5-3"]], frozenset({1}))
    assert [line for line in to_latex(table).splitlines() if line.endswith(r"\\")][1:] == [
        r"x-1 & t5-3 \\",
        r"-1 & 0.5-3 \\",
    ]


def test_common_is_said_on_both_streams(tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    lines = FILES[0].read_text().splitlines()
    short.write_text("\n".join(line for line in lines if "DEMO03" not in line))
    said = refusal(run("compare", short, FILES[1], "--ref", REF))
    assert "1 of 12 reference dialogues have no prediction (DEMO03)" in said
    said = refusal(run("compare", short, FILES[1], "--ref", REF, "--missing", "skip"))
    assert (
        "short lacks 1 (DEMO03) (1 of 12 dialogues). "
        "Compare only the dialogues that all systems have with --common." in said
    )
    ran = run("compare", short, FILES[1], "--ref", REF, "--common")
    assert "COMMON DIALOGUES ONLY: 11 of 12 dialogues" in done(ran)
    assert "COMMON DIALOGUES ONLY: 11 of 12 dialogues" in ran.err
    assert "|missing:skip|common:11/12|ci:" in ran.out
    assert ran.out.count("COMMON") == 1


def test_saved_results_and_predictions_in_one_table(saved: Path, tmp_path: Path) -> None:
    live = json.loads(done(run("compare", FILES[1], FILES[0], "--ref", REF, "--as", "json")))
    mixed = json.loads(done(run("compare", FILES[1], saved, "--ref", REF, "--as", "json")))
    assert mixed["comparisons"] == live["comparisons"]
    assert [one["scores"] for one in mixed["systems"]] == [one["scores"] for one in live["systems"]]
    both = tmp_path / "both.json"
    done(run("compare", FILES[1], saved, "--ref", REF, "-o", both))
    again = json.loads(done(run("compare", both, "--as", "json")))
    assert again["comparisons"] == live["comparisons"]
    with_rows = done(run("compare", both, "--ref", REF, "--baselines", "--metric", "JGA"))
    assert re.search(r"^\(turn before\) +76 +23.68$", with_rows, re.M)
    assert "--baselines: expected the reference" in refusal(run("compare", both, "--baselines"))


@pytest.mark.parametrize(
    ("file", "limits", "code"),
    [
        (1, ["JGA=5.4"], 0),  # the interval is 5.41 to 40.28
        (1, ["JGA=5.5"], 1),
        (1, ["JGA=-1.0", "SlotF1=1.7"], 0),
        (1, ["JGA=-1.0", "SlotF1=1.8"], 1),
        (0, ["JGA=0", "FGA@0.5=0"], 0),  # the same predictions
        (2, ["JGA=-1"], 1),
    ],
)
def test_fail_below(saved: Path, file: int, limits: list[str], code: int) -> None:
    flags = [part for limit in limits for part in ("--fail-below", limit)]
    ran = run("compare", FILES[file], "--ref", REF, "--against", saved, *flags)
    assert ran.code == code
    assert ran.out.startswith("system") and "Differences" in ran.out  # printed all the same
    told = [line for line in ran.err.splitlines() if line.startswith("dsteval: --fail-below")]
    assert len(told) == code


def test_fail_below_says_what_and_by_how_much(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    ran = run("compare", *FILES[1:], "--ref", REF, "--against", saved, "--fail-below", "JGA=0", "-o", out)
    assert ran.code == 1 and out.exists()
    assert ran.err.splitlines()[-1] == (
        "dsteval: --fail-below JGA=0: prompted against pointer: +5.26 percentage points, and the "
        "confidence interval -12.82 to +23.29 reaches below 0"
    )
    pairs = {(entry["a"], entry["b"]) for entry in json.loads(out.read_text())["comparisons"]}
    assert pairs == {("seq2seq", "pointer"), ("prompted", "pointer")}


def test_fail_below_without_an_interval(tmp_path: Path) -> None:
    both = tmp_path / "both.jsonl"
    both.write_text('{"dialogue_id": "D1", "turn_id": 0, "ref": {"hotel-area": "x"}, "pred": {"hotel-area": "x"}}')
    saved = tmp_path / "saved.json"
    done(run("score", both, "-o", saved))
    ran = run("compare", both, "--against", saved, "--fail-below", "JGA=-100")
    assert ran.code == 1
    assert (
        "the difference has no confidence interval (identical in every dialogue; intervals and tests need"
        in ran.err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-below", "JGA=-1"], "needs --against and a saved result to compare with"),
        (["--against", "SAVED", "--fail-below", "JGA"], "expected METRIC=POINTS, like JGA=-1.0"),
        (["--against", "SAVED", "--fail-below", "JGA=low"], "expected METRIC=POINTS, like JGA=-1.0, found 'low'"),
        (["--against", "SAVED", "--fail-below", "JGA=nan"], "expected METRIC=POINTS"),
        (["--against", "SAVED", "--fail-below", "JGB=-1"], "Unknown metric 'JGB'. Did you mean 'JGA'?"),
        (["--against", "SAVED", "--fail-below", "RSA=-1"], "Unknown metric in --fail-below 'RSA'"),
        (["--against", "SAVED", "--fail-below", "JGA=-1", "--no-ci"], "needs confidence intervals. Drop --no-ci."),
        (["--against", "SAVED", "--fail-below", "OriginErrors=1"], "expected a metric where higher is better"),
        (["--against", str(FILES[1])], "expected a result saved by score -o PATH.json, found another file"),
        (["--against", "SAVED", "--protocol", "normalised"], "expected the same protocol, normalised@2"),
        (["--against", "SAVED", "--slots", "31"], "or the same |S| for all, found 31 beside 30"),
        (
            ["--against", "SAVED", "--metric", "RSA"],
            "expected one of the metrics that the saved result has counts for",
        ),
        (["--test", "wilcoxon"], "Unknown value of --test 'wilcoxon'"),
        (["--resamples", "99"], "--resamples: expected an integer from 100 to 1000000, found 99"),
        ([], "expected at least two systems, found 1"),
    ],
)
def test_refused(saved: Path, arguments: list[str], message: str) -> None:
    filled = [str(saved) if word == "SAVED" else word for word in arguments]
    assert message in refusal(run("compare", FILES[0], "--ref", REF, *filled))


def test_against_another_reference_or_another_version(saved: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(REF.read_text().replace("guest house", "hotel"))
    said = refusal(run("compare", FILES[0], "--ref", labels, "--against", saved))
    assert re.search(r"expected the same reference, \w{6} of 12 dialogues, found 94d858", said)
    saved.write_text(saved.read_text().replace("exact@2", "exact@1"))
    said = refusal(run("compare", FILES[0], "--ref", REF, "--against", saved))
    assert "Score the predictions again" in said


def test_against_a_result_of_the_same_name(saved: Path) -> None:
    out = done(run("compare", FILES[0], "--ref", REF, "--against", saved, "--metric", "JGA"))
    assert "pointer in saved.json" in out
    assert "pointer, pointer in saved.json: identical in every dialogue (JGA)" in out
