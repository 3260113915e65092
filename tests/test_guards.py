"""What stands around scoring: encodings, nesting, tables for other programs, ratings, code of others."""

import csv
import gzip
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import COMMAND, refusal, run
from dsteval.errors import DstevalError, ReadError
from dsteval.files import alone, replacing
from dsteval.rating.ratings import Rating, read, written
from test_saved import FILES, REF

POINTER = FILES[0]

# Encodings, files, tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
@pytest.mark.parametrize("words", [("score",), ("validate",), ("explain", "d")])
def test_terminals_of_any_encoding(encoding: str, words: tuple[str, ...], tmp_path: Path) -> None:
    line = {
        "dialogue_id": "d",
        "turn_id": 0,
        "ref": {"hotel-name": "\N{SNOWMAN} 未提及"},
        "pred": {"hotel-näme": "é"},
    }
    path = tmp_path / "p\N{SNOWMAN}.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    command = [*COMMAND, words[0], str(path), *words[1:]]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert done.stdout
    done.stdout.decode(encoding)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["text", "json", "csv", "latex", "md"])
def test_names_that_are_no_utf8(form: str, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/p\xff.jsonl"))
    path.write_bytes(POINTER.read_bytes())
    ran = run("score", path, "--ref", REF, "--as", form, "--no-ci")
    assert ran.code == 0
    ran.out.encode()


@pytest.mark.parametrize("name", ["+cmd", "@SUM(A1)"])
def test_formulas_in_csv(name: str) -> None:
    ran = run("score", f"{name}={POINTER}", "--ref", REF, "--as", "csv", "--no-ci")
    assert {row["system"] for row in csv.DictReader(io.StringIO(ran.out))} == {f"'{name}"}


def test_latex_is_escaped() -> None:
    ran = run("score", f"a_b\\input%\nx={POINTER}", "--ref", REF, "--as", "latex", "--no-ci")
    rows = [line for line in ran.out.splitlines() if not line.startswith("%")]
    assert not any(r"\input" in line for line in rows)
    assert any(r"a\_b" in line for line in rows)
    assert not any(line.startswith("x") for line in rows)


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b'[{"a":' * 50_000])
def test_deep_json(deep: bytes, tmp_path: Path) -> None:
    for name, data in (("p.json", deep), ("p.jsonl", deep), ("p.json.gz", gzip.compress(deep))):
        (tmp_path / name).write_bytes(data)
        assert "Traceback" not in refusal(run("score", tmp_path / name, "--ref", REF))


# Ratings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
def test_comments_of_any_text(name: str, tmp_path: Path) -> None:
    ratings = [Rating("a", "anna", 1, "0..1", "one\u2028two\u0085three\x0bfour"), Rating("b", "anna", 0, "0..1")]
    (tmp_path / name).write_bytes(written(ratings, name))
    assert read(str(tmp_path / name)) == (ratings, [])


@pytest.mark.parametrize(
    "text",
    [
        "item,rating,rating\na,1,0\n",
        '{"item": "a", "rater": "x", "rating": 1, "rating": 0}\n',
        '{"item": "a", "rater": "x"}\n',
        'item,rating\n"a,1\nb,0\n',
        '{"item": ["a"], "rater": "x", "rating": 1}\n',
        "item,rating\na,1,0\n",
        'item,rating\n"a,1\nb",0\nc,1\n',
        "item,rating\na,1_0\n",
        'item,rating\na,"1,000"\n',
        "item,rating\na,1e300\n",
        '{"item": true, "rater": "x", "rating": 1}\n',
        '{"item": "a", "rater": false, "rating": 1}\n',
    ],
)
def test_ratings_that_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text(text, encoding="utf-8")
    into = tmp_path / "kept.jsonl"
    with pytest.raises(ReadError):
        read(str(tmp_path / "r"), "anna")
    assert run("rate", "import", f"anna={tmp_path / 'r'}", "--into", into).code == 1
    assert not into.exists()


def test_a_comma_is_no_thousand(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item;rating\na;3,5\n", encoding="utf-8")
    assert read(str(tmp_path / "r.csv"), "anna")[0][0].rating == 3.5


@pytest.mark.parametrize("given", ["0,333", "12,50", "1.000", "+1", "1e-05", ".5", "1000,5"])
def test_numbers(given: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(f"item;rating\na;{given}\n", encoding="utf-8")
    assert read(str(tmp_path / "r.csv"), "anna")[0][0].rating == float(given.replace(",", "."))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kept.csv", 'item,turns,rating,rater,comment\na,"hello, there",1,ben,\n'),
        ("kept.csv", "item,rating,rater,comment\na,1,ben,\nb,,ben,later\n"),
        ("kept.jsonl", '{"item": "a", "rater": "ben", "rating": 1, "why": "polite"}\n'),
    ],
)
def test_import_takes_no_sheet_for_its_own_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,1\n", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    told = refusal(run("rate", "import", f"anna={tmp_path / 'r.csv'}", "--into", tmp_path / name))
    assert "Choose another file" in told
    assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_import_twice_into_csv_keeps_every_digit(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,0.1234567890123456\n", encoding="utf-8")
    for _ in range(2):
        assert run("rate", "import", f"anna={tmp_path / 'r.csv'}", "--into", tmp_path / "kept.csv").code == 0
    assert read(str(tmp_path / "kept.csv"))[0][0].rating == 0.1234567890123456


def test_import_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,1\n", encoding="utf-8")
    told = refusal(run("rate", "import", f"anna={tmp_path / 'r.csv'}", "--into", tmp_path / "no" / "kept.csv"))
    assert "--into" in told
    assert "cannot be written" in told


def test_a_link_at_the_place_of_a_partial_file(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    (tmp_path / f".out.{os.getpid()}.partial").symlink_to(tmp_path / "precious")
    with replacing(tmp_path / "out") as file:
        file.write(b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "kept"


def test_what_is_raised_while_alone_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"), alone(tmp_path / "kept"):
        raise FileNotFoundError("gone")
    assert list(tmp_path.iterdir()) == []


def test_agreement_without_any_rating(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rating\na,\n", encoding="utf-8")
    ran = run("rate", "agree", f"anna={tmp_path / 'r.csv'}", "--allow-missing")
    assert ran.code == 1
    assert ran.err.endswith("dsteval: ratings: expected at least one rating, found none.\n")


@pytest.mark.parametrize(("option", "value"), [("--repetitions", "9" * 30), ("--target-power", "1")])
def test_plans_that_cannot_be(option: str, value: str) -> None:
    told = refusal(run("rate", "plan", "--r1", "0.6", "--r2", "0.2", "--r12", "0.5", option, value))
    assert option in told


def test_imports_at_once_lose_nothing(tmp_path: Path) -> None:
    into, size = tmp_path / "kept.jsonl", 6
    for number in range(size):
        (tmp_path / f"{number}.csv").write_text(f"item,rating\nd{number},1\n", encoding="utf-8")
    commands = [
        [*COMMAND, "rate", "import", f"r{n}={tmp_path / f'{n}.csv'}", "--into", str(into)] for n in range(size)
    ]
    done = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    assert [one.wait() for one in done] == [0] * size
    assert {one.item for one in read(str(into))[0]} == {f"d{n}" for n in range(size)}


# Code of others ------------------------------------------------------------------------------------------------


class Loud(str):
    """A text whose methods are not those of texts."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_texts_that_are_not_plain() -> None:
    ref: Any = {"d": [{"hotel-area": "north"}]}
    pred: Any = {"d": [{"hotel-area": Loud("south")}]}
    try:
        assert dsteval.evaluate(ref, pred, metrics=["JGA"])["JGA"].value == 0
    except DstevalError as error:
        assert "hotel-area" in str(error)


@pytest.mark.parametrize("out", ["/dev/null", "fifo", "folder", "link"])
def test_track_writes_to_files_of_its_own(out: str, tmp_path: Path) -> None:
    path = Path(out) if out.startswith("/") else tmp_path / out
    if out == "fifo":
        os.mkfifo(path)
    elif out == "folder":
        path.mkdir()
    elif out == "link":
        path.symlink_to(REF)
    before, kept = path.lstat().st_mode, REF.read_bytes()
    for more in ([], ["--restart"]):
        ran = run("track", REF, "--tracker", "baseline", "--out", path, *more)
        assert ran.code in (1, 2), ran
        assert path.name in ran.err
    assert path.lstat().st_mode == before
    assert REF.read_bytes() == kept
