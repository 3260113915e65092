"""What ``dsteval data describe`` counts, and the forms it is written in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from data_site import DATA, PREFIX, TINY, ZIP, Site, run, serving
from dsteval.analysis.describe import Description, describe
from dsteval.errors import OptionError, ReadError

# A and B are one dialogue of two turns each, with one hotel-area and later one hotel-stars; C and D are train's.
ROWS = [("train", 2, 4, 2, 3), ("dev", 1, 2, 2, 2), ("test", 1, 2, 2, 2)]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    with serving(monkeypatch, tmp_path) as site:
        yield site


def written(path: Path, content: object) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def counted(*texts: str) -> list[tuple[str, int, int, int | None, int | None]]:
    found = [one for text in texts for one in describe(text)]
    return [(one.name, one.conversations, one.turns, one.slots, one.values) for one in found]


def test_archive_with_lists(tmp_path: Path) -> None:
    archive = tmp_path / "mine.zip"
    archive.write_bytes(TINY)
    assert counted(str(archive)) == [(f"mine.zip/{split}", *counts) for split, *counts in ROWS]
    assert counted(f"{archive}/test") == [("mine.zip/test", 1, 2, 2, 2)]


def test_folder_with_lists(tmp_path: Path) -> None:
    written(tmp_path / "data.json", DATA)
    written(tmp_path / "testListFile.json", "a\nD.json")
    written(tmp_path / "ontology.json", {"hotel-area": []})
    assert counted(str(tmp_path)) == [
        (f"{tmp_path.name}/train", 2, 4, 2, 3),
        (f"{tmp_path.name}/test", 2, 4, 2, 3),
    ]


def test_lists_that_name_nothing_leave_no_average(tmp_path: Path) -> None:
    written(tmp_path / "data.json", DATA)
    written(tmp_path / "valListFile.txt", "Z.json")
    train, dev = describe(str(tmp_path))
    assert (train.conversations, train.average) == (4, 2.0)
    assert dev == Description(f"{tmp_path.name}/dev", 0, 0, 0, 0)
    assert dev.average is None
    done = run("data", "describe", str(tmp_path), "--as", "csv")
    assert done.stdout.splitlines()[2] == f"{tmp_path.name}/dev,0,0,,0,0"


def test_data_file_alone_is_one_row(tmp_path: Path) -> None:
    assert counted(written(tmp_path / "data.json", DATA)) == [("data.json", 4, 8, 2, 5)]


def test_counts_under_protocol_exact(tmp_path: Path) -> None:
    states = [
        {},
        {"hotel-area": "North", "hotel-stars": "none", "hotel-name": ""},
        {"hotel-area": "north ", "hotel-book day": "do n't care", "hotel-type": "a|b"},
        {"hotel-area": "south", "hotel-bookday": "dontcare", "hotel-type": ["b", "A"]},
    ]
    # area north and south, one dontcare under one spelling of the slot, one set of accepted values.
    assert counted(written(tmp_path / "x.json", {"d": states})) == [("x.json", 1, 4, 3, 4)]


def test_reference_is_described_where_both_sides_are(tmp_path: Path) -> None:
    lines = [
        {
            "dialogue_id": "d",
            "turn_id": number,
            "ref": {"hotel-area": "north"},
            "pred": {"hotel-area": str(number)},
        }
        for number in range(3)
    ]
    assert counted(written(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)))) == [("x.jsonl", 1, 3, 1, 1)]
    for line in lines:
        del line["ref"]
    assert counted(written(tmp_path / "y.jsonl", "\n".join(map(json.dumps, lines)))) == [("y.jsonl", 1, 3, 1, 3)]


def test_marks_have_no_values(tmp_path: Path) -> None:
    marks = {"A.json": {"0": [1] * 30, "1": [0] * 30}}
    (found,) = describe(written(tmp_path / "x.json", marks), format="trippy-bits")
    assert (found.conversations, found.turns, found.slots, found.values) == (1, 2, None, None)


def test_frames_of_services(tmp_path: Path) -> None:
    def turn(service: str, **values: list[str]) -> dict[str, object]:
        state = {"active_intent": "NONE", "requested_slots": [], "slot_values": values}
        return {"speaker": "USER", "utterance": "", "frames": [{"service": service, "state": state}]}

    system = {"speaker": "SYSTEM", "utterance": "", "frames": []}
    turns = [turn("Hotels_1", area=["north", "the north"]), system, turn("Trains_1", to=["ely"])]
    written(tmp_path / "dialogues_001.json", [{"dialogue_id": "1_0", "services": [], "turns": turns}])
    written(tmp_path / "schema.json", [])
    assert counted(str(tmp_path)) == [(tmp_path.name, 1, 2, 2, 2)]


def test_conflicting_doubles_are_refused(tmp_path: Path) -> None:
    text = '{"d": [{"hotel-area": "north", "hotel-area": "south"}]}'
    with pytest.raises(ReadError, match=r"x\.json, dialogue 'd', turn 0, slot 'hotel-area': expected one value"):
        describe(written(tmp_path / "x.json", text))


@pytest.mark.parametrize("data", [TINY[:-30], b"PK\x03\x04 broken", TINY[:60] + b"\xff" * 40 + TINY[100:]])
def test_broken_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "broken.zip").write_bytes(data)
    with pytest.raises(ReadError, match=r"broken\.zip"):
        describe(str(tmp_path / "broken.zip"))


def test_archive_without_data_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("testListFile.txt", "A")
    with pytest.raises(ReadError, match="expected a file of dialogues"):
        describe(str(tmp_path / "x.zip"))


class TestByName:
    def test_archive(self, served: Site) -> None:
        assert counted("tiny", "tiny/val") == [
            *((f"tiny/{split}", *counts) for split, *counts in ROWS),
            ("tiny/val", 1, 2, 2, 2),
        ]
        assert served.requests == [(ZIP, None)]

    def test_splits_with_files_of_their_own(self, served: Site) -> None:
        for path, area in (("dev/dialogues_001", "n"), ("dev/dialogues_002", "s"), ("test/dialogues_001", "e")):
            state = {"active_intent": "NONE", "requested_slots": [], "slot_values": {"area": [area]}}
            turn = {"speaker": "USER", "utterance": "", "frames": [{"service": "Hotels_1", "state": state}]}
            dialogue = {"dialogue_id": area, "services": [], "turns": [turn]}
            served.files[f"{PREFIX}{path}.json"] = json.dumps([dialogue]).encode()
        assert counted("parts") == [("parts/dev", 2, 2, 1, 2), ("parts/test", 1, 1, 1, 1)]
        assert run("data", "describe", "parts/dev").stderr == ""  # nothing came, so there is nothing to say

    def test_wrong_split(self, served: Site) -> None:
        with pytest.raises(OptionError, match="Unknown split of tiny 'tests'"):
            describe("tiny/tests")

    def test_local_file_of_that_name_wins(self, served: Site, tmp_path: Path) -> None:
        written(tmp_path / "parts", {"d": [{"hotel-area": "x"}]})
        assert counted("parts") == [("parts", 1, 1, 1, 1)]
        assert served.requests == []


class TestForms:
    @pytest.fixture
    def file(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "mine.zip").write_bytes(TINY)
        written(tmp_path / "x.json", {"d": [{}, {"hotel-area": "x"}, {}]})
        return "mine.zip"

    def test_json(self, file: str) -> None:
        done = run("data", "describe", file, "x.json", "--as", "json")
        shown = json.loads(done.stdout)
        assert shown["schema"] == 1
        assert shown["data"][0] == {
            "name": "mine.zip/train",
            "conversations": 2,
            "turns": 4,
            "average_turns": 2.0,
            "slots": 2,
            "values": 3,
        }
        assert [one["name"] for one in shown["data"]][1:] == ["mine.zip/dev", "mine.zip/test", "x.json"]

    def test_csv(self, file: str) -> None:
        assert run("data", "describe", "x.json", "--as", "csv").stdout.splitlines() == [
            "data,conversations,turns,turns a conversation,slots,values",
            "x.json,1,3,3.00,1,1",
        ]

    @pytest.mark.parametrize(
        ("form", "line"),
        [
            ("text", "mine.zip/test 1 2 2.00 2 2"),
            ("md", "| mine.zip/test | 1 | 2 | 2.00 | 2 | 2 |"),
            ("latex", r"mine.zip/test & 1 & 2 & 2.00 & 2 & 2 \\"),
        ],
    )
    def test_others(self, file: str, form: str, line: str) -> None:
        lines = run("data", "describe", file, "--as", form).stdout.splitlines()
        assert line in [" ".join(one.split()) for one in lines]

    def test_suffix_decides(self, file: str, tmp_path: Path) -> None:
        done = run("data", "describe", file, "-o", "sizes.md")
        assert (done.exit_code, done.stdout) == (0, "")
        assert (tmp_path / "sizes.md").read_text().startswith("| data | conversations |")

    def test_nothing_is_written_where_one_file_is_refused(self, file: str, tmp_path: Path) -> None:
        done = run("data", "describe", file, "none.json", "-o", "sizes.md")
        assert done.exit_code == 1
        assert done.stderr.startswith("dsteval: none.json: no such file or folder")
        assert not (tmp_path / "sizes.md").exists()
        assert done.stdout == ""
