"""``dsteval rate``: what it draws, writes, takes in and refuses."""

import csv
import io
import json
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandline import run
from dsteval import readers
from dsteval.dialogue import Dialogue, Items, Turn
from dsteval.errors import ReadError
from dsteval.rating.texts import sheet, text_of
from dsteval.readers import Source

EXAMPLE = Path(__file__).resolve().parent.parent / "src/dsteval/example"
REF = EXAMPLE / "reference.jsonl"
POINTER, PROMPTED = EXAMPLE / "pointer.jsonl", EXAMPLE / "prompted.jsonl"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def ids(path: Path) -> list[str]:
    return [dialogue.id for dialogue in readers.read(Source.open(path), "pred")]


def sample(tmp_path: Path, *more: str | Path) -> tuple[Path, Path]:
    out, key = tmp_path / "items.jsonl", tmp_path / "key.csv"
    ran = run("rate", "sample", *more, "--ref", REF, "-o", out, "--key", key)
    assert ran.code == 0, ran.err
    return out, key


# Drawing and handing out --------------------------------------------------------------------------------------


def test_a_sample_is_seeded_and_whole(tmp_path: Path) -> None:
    out, key = sample(tmp_path, PROMPTED, "--size", "5")
    first = out.read_bytes()
    assert len(ids(out)) == 5
    assert rows(key.read_text())[0] == {"item": ids(out)[0], "system": "prompted", "dialogue": ids(out)[0]}
    assert sample(tmp_path, PROMPTED, "--size", "5")[0].read_bytes() == first
    assert sample(tmp_path, PROMPTED, "--size", "5", "--seed", "2")[0].read_bytes() != first
    drawn = list(readers.read(Source.open(out), "pred"))
    assert all(turn.ref is not None and turn.pred is not None and turn.user for one in drawn for turn in one.turns)


def test_several_systems_share_their_dialogues(tmp_path: Path) -> None:
    _, key = sample(tmp_path, POINTER, PROMPTED, "--size", "4")
    found = rows(key.read_text())
    by_system = {
        name: {row["dialogue"] for row in found if row["system"] == name} for name in ("pointer", "prompted")
    }
    assert len(by_system["pointer"]) == 4
    assert by_system["pointer"] == by_system["prompted"]
    assert found[0]["item"] == f"pointer--{found[0]['dialogue']}"


def test_blind_items_tell_nothing(tmp_path: Path) -> None:
    out, key = sample(tmp_path, POINTER, PROMPTED, "--size", "12", "--blind")
    assert "DEMO" not in out.read_text() and "prompted" not in out.read_text()
    found = rows(key.read_text())
    assert [row["item"] for row in found] == [f"item-{number:03}" for number in range(1, 25)]
    systems = [row["system"] for row in found]
    assert systems != sorted(systems) and systems.count("pointer") == 12
    scored = run("score", out, "--metric", "JGA", "--as", "json")
    assert json.loads(scored.out)["systems"][0]["scores"][0]["count"] == 37 + 41


def test_strata_give_their_share(tmp_path: Path) -> None:
    ran = run(
        "rate", "sample", PROMPTED, "--ref", REF, "--size", "6", "--by", "errors", "-o", tmp_path / "s.jsonl"
    )
    assert "0 wrong: 1 of 2" in ran.err
    ran = run(
        *("rate", "sample", PROMPTED, "--ref", REF, "--size", "12", "--by", "domain", "--by", "errors"),
        *("-o", tmp_path / "s.jsonl"),
    )
    assert sorted(ids(tmp_path / "s.jsonl")) == sorted(ids(REF))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--size", "13"], "--size: expected 1 to 12"),
        (["--size", "0"], "--size"),
        (["--size", "5", "--blind"], "--blind: needs --key PATH"),
        (["--size", "5", "--by", "slot"], "Unknown value of --by"),
        (["--size", "5", "--seed", "-1"], "--seed"),
        ([str(PROMPTED), "--size", "5"], "systems with different names"),
    ],
)
def test_samples_that_cannot_be(more: list[str], message: str, tmp_path: Path) -> None:
    ran = run("rate", "sample", PROMPTED, "--ref", REF, "-o", tmp_path / "s.jsonl", *more)
    assert (ran.code, ran.out) == (1, "")
    assert message in ran.err
    assert not (tmp_path / "s.jsonl").exists()


def test_systems_must_cover_the_same(tmp_path: Path) -> None:
    part = tmp_path / "part.jsonl"
    part.write_bytes(b"".join(PROMPTED.read_bytes().splitlines(keepends=True)[:6]))
    ran = run(
        *("rate", "sample", POINTER, part, "--ref", REF, "--missing", "skip", "--size", "1"),
        *("-o", tmp_path / "s.jsonl"),
    )
    assert "expected the same dialogues, found 11 that only one has" in ran.err


def test_export_and_back(tmp_path: Path) -> None:
    out, _ = sample(tmp_path, PROMPTED, "--size", "12")
    assert run("rate", "export", out, tmp_path / "texts").code == 0
    texts, lines = (list(readers.read(Source.open(path), "pred")) for path in (tmp_path / "texts", out))
    assert texts == lines
    assert run("rate", "export", out, tmp_path / "sheet.csv", "--rater", "anna").code == 0
    found = rows((tmp_path / "sheet.csv").read_text())
    assert [row["item"] for row in found] == ids(out)
    assert {(row["rating"], row["rater"]) for row in found} == {("", "anna")}
    assert "Reference: hotel-area = north" in found[0]["turns"]


def test_a_filled_sheet_comes_back(tmp_path: Path) -> None:
    out, _ = sample(tmp_path, PROMPTED, "--size", "12")
    run("rate", "export", out, tmp_path / "sheet.csv", "--rater", "anna")
    found = rows((tmp_path / "sheet.csv").read_text())
    with (tmp_path / "filled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), delimiter=";")
        writer.writeheader()
        writer.writerows({**row, "rating": number % 2} for number, row in enumerate(found))
    ran = run("rate", "import", tmp_path / "filled.csv", "--into", tmp_path / "kept.csv", "--items", out)
    assert "12 ratings added" in ran.err
    kept = rows((tmp_path / "kept.csv").read_text())
    assert [(row["item"], row["rater"], row["rating"]) for row in kept[:2]] == [
        ("DEMO01", "anna", "0"),
        ("DEMO02", "anna", "1"),
    ]


def test_a_folder_of_texts_holds_nothing_else(tmp_path: Path) -> None:
    out, _ = sample(tmp_path, PROMPTED, "--size", "2")
    folder = tmp_path / "texts"
    assert run("rate", "export", out, folder).code == run("rate", "export", out, folder).code == 0
    (folder / "old.txt").write_text("")
    ran = run("rate", "export", out, folder)
    assert (ran.code, "other files in it (old.txt)" in ran.err) == (1, True)
    assert "expected a folder" in run("rate", "export", out, out).err


_WORDS = st.text("ab'\"{}:\\\N{SNOWMAN}- ", max_size=8).map(str.strip)
_SLOTS = st.lists(st.sampled_from(["hotel-a", "hotel-b c", "taxi-d", "taxi-e-f"]), unique=True).map(sorted)
_STATES = _SLOTS.flatmap(lambda slots: st.tuples(*(st.tuples(st.just(slot), _WORDS) for slot in slots))).map(list)


@given(st.lists(st.tuples(_STATES, _STATES, _WORDS, _WORDS), min_size=1, max_size=4))
def test_texts_are_read_as_they_were(
    turns: list[tuple[Items, Items, str, str]],
) -> None:
    numbered = [Turn(number, ref, pred, system, user) for number, (ref, pred, system, user) in enumerate(turns)]
    dialogue = Dialogue("D1", list(numbered))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "D1.txt").write_text(text_of(dialogue), encoding="utf-8", newline="")
        assert list(readers.read(Source.open(Path(folder)), "pred")) == [dialogue]


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (Turn(0, []), "a reference and a predicted state"),
        (Turn(0, [("a-b", "x"), ("a-b", "y")], []), "found a slot twice"),
        (Turn(0, [], [], "", "well\nGT  : {}"), "look like the format's own"),
        (Turn(0, [("hotel", "x"), ("hotel-area", "y")], []), "not also a domain"),
        (Turn(0, [("hotel-area", "x"), ("hotel", "y")], []), "not also a domain"),
    ],
)
def test_what_the_text_cannot_say(turn: Turn, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        text_of(Dialogue("d", [turn]))


def test_a_sheet_shows_what_there_is() -> None:
    text = sheet([Dialogue("d", [Turn(0, None, [("a-b", ("x", "y"))])])])
    assert rows(text)[0]["turns"] == "[0]\nTracker: a-b = x|y"


@pytest.mark.parametrize("name", ["a/b", "..", "a b"])
def test_ids_that_are_no_files(name: str, tmp_path: Path) -> None:
    line = {"dialogue_id": name, "turn_id": 0, "ref": {}, "pred": {}}
    (tmp_path / "d.jsonl").write_bytes(msgspec.json.encode(line))
    ran = run("rate", "export", tmp_path / "d.jsonl", tmp_path / "out")
    assert ran.code == 1
    assert "valid file names" in ran.err
    assert not (tmp_path / "out").exists()


# Taking in ----------------------------------------------------------------------------------------------------


def filled(tmp_path: Path, name: str, ratings: str, start: int = 1) -> Path:
    lines = [f"DEMO{number:02},{rating.strip('-')}" for number, rating in enumerate(ratings, start)]
    (tmp_path / name).write_text("\n".join(["item,rating", *lines]) + "\n")
    return tmp_path / name


@pytest.mark.parametrize("kept", ["kept.jsonl", "kept.csv"])
def test_import_twice_changes_nothing(kept: str, tmp_path: Path) -> None:
    anna = filled(tmp_path, "anna.csv", "101001110011")
    into = tmp_path / kept
    ran = run("rate", "import", f"anna={anna}", "--into", into, "--scale", "0..1", "--items", PROMPTED)
    assert "12 ratings added, 0 already there" in ran.err
    first = into.read_bytes()
    ran = run("rate", "import", f"anna={anna}", "--into", into, "--scale", "0..1")
    assert "0 ratings added, 12 already there, 12 in total" in ran.err
    assert into.read_bytes() == first
    ran = run("rate", "import", f"anna={filled(tmp_path, 'other.csv', '0')}", "--into", into, "--scale", "0..1")
    assert (ran.code, into.read_bytes()) == (1, first)
    assert "expected one rating per item and rater, found 1 and 0" in ran.err


def test_half_filled_files(tmp_path: Path) -> None:
    anna, into = filled(tmp_path, "anna.csv", "1-0-"), tmp_path / "kept.jsonl"
    ran = run("rate", "import", f"anna={anna}", "--into", into)
    assert ran.code == 1
    assert "found none (2 of 4 rows; DEMO02, DEMO04)" in ran.err
    assert not into.exists()
    ran = run("rate", "import", f"anna={anna}", "--into", into, "--allow-missing")
    assert "2 of 4 rows without a rating skipped" in ran.err
    assert len(into.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("ratings", "start", "message"),
    [("15", 1, "rating from 0..1, found '5'"), ("11", 12, "unknown ones (DEMO13)")],
)
def test_import_refuses(ratings: str, start: int, message: str, tmp_path: Path) -> None:
    anna, into = filled(tmp_path, "anna.csv", ratings, start), tmp_path / "kept.jsonl"
    ran = run("rate", "import", f"anna={anna}", "--into", into, "--scale", "0..1", "--items", REF)
    assert (ran.code, into.exists()) == (1, False)
    assert message in ran.err


# Figures ------------------------------------------------------------------------------------------------------


@pytest.fixture
def rated(tmp_path: Path) -> list[str]:
    said = {"anna": "101001110011", "ben": "100011100010", "carla": "111101101001"}
    return [f"{name}={filled(tmp_path, f'{name}.csv', ratings)}" for name, ratings in said.items()]


@pytest.mark.parametrize("form", ["text", "json", "csv", "md", "latex"])
def test_every_form(form: str, rated: list[str]) -> None:
    ratings = [part for one in rated for part in ("--ratings", one)]
    for words in (
        ["agree", *rated],
        ["correlate", PROMPTED, "--ref", REF, *ratings, "--fit", "--resamples", "100"],
        ["plan", "--r1", "0.5", "--r2", "0.3", "--r12", "0.5", "--repetitions", "100"],
        ["plan", PROMPTED, "--ref", REF, "--true-lambda", "0.5", "--repetitions", "100", "--factor", "100"],
    ):
        ran = run("rate", *words, "--as", form)
        assert ran.code == 0, ran.err
        assert ran.out
        if form == "json":
            assert json.loads(ran.out)["schema"] == 1


def test_numbers_in_json(rated: list[str]) -> None:
    agreement = json.loads(run("rate", "agree", *rated, "--no-ci", "--worst", "2", "--as", "json").out)[
        "agreement"
    ]
    assert (agreement["items"], agreement["ratings"], agreement["low"]) == (12, 36, None)
    assert len(agreement["disputed"]) == 2
    ratings = [part for one in rated for part in ("--ratings", one)]
    words: list[str | Path] = ["rate", "correlate", PROMPTED, "--ref", REF, *ratings]
    words += ["--metric", "FGA@0.5", "--as", "json"]
    found = json.loads(run(*words, "--no-ci", "--fit", "--folds", "3").out)["correlations"]
    assert found["metrics"][0]["metric"] == "FGA@0.5"
    assert found["best_lambda"]["curve"][-1]["lambda"] == "inf"
    assert len(found["best_lambda"]["folds"]) == 3
    again = json.loads(run(*words, "--against", "each", "--coefficient", "pointbiserial").out)["correlations"]
    assert again["metrics"][0]["value"] < found["metrics"][0]["value"]
    assert run(*words).out == run(*words).out


def test_a_blind_sample_is_correlated_by_its_items(tmp_path: Path) -> None:
    out, key = sample(tmp_path, POINTER, PROMPTED, "--size", "8", "--blind")
    said = [msgspec.json.encode({"item": item, "rater": "a", "rating": n % 3}) for n, item in enumerate(ids(out))]
    (tmp_path / "r.jsonl").write_bytes(b"\n".join(said))
    ran = run("rate", "correlate", out, "--ratings", tmp_path / "r.jsonl", "--key", key, "--as", "json")
    found = json.loads(ran.out)["correlations"]
    assert found["conversations"] == 16
    assert found["pairs"][0]["p"] is None
    assert "one item per dialogue" in found["pairs"][0]["why"]
    assert "one rater" in found["notes"][0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--r1", "0.3", "--r2", "0.4", "--r12", "0.5", "--repetitions", "9"], "--repetitions"),
        (["plan", str(POINTER), "--ref", str(REF), "--true-lambda", "1", "--noise", "-1"], "--noise"),
        (["plan", str(POINTER), "--ref", str(REF), "--true-lambda", "1", "--share", "2"], "--share"),
        (["plan", "--r1", "nan", "--r2", "0.4", "--r12", "0.5"], "that can occur together"),
        (["agree", "nowhere.csv"], "no such file"),
        (["correlate", str(PROMPTED), "--ref", str(REF), "--ratings", str(REF), "--chart", "c.svg"], "--fit"),
        (["correlate", str(PROMPTED), "--ref", str(REF), "--ratings", str(REF)], "no item"),
    ],
)
def test_refused(words: list[str], message: str) -> None:
    ran = run("rate", *words)
    assert (ran.code, ran.out) == (1, "")
    assert message in ran.err


def test_a_key_that_is_none(rated: list[str], tmp_path: Path) -> None:
    ran = run("rate", "correlate", PROMPTED, "--ref", REF, "--ratings", rated[0], "--key", PROMPTED)
    assert "expected a header with item and dialogue, each column once" in ran.err
