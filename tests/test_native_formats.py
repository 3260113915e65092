"""Every reader on a made-up file in its tool's own shape: read, recognised, packed, converted."""

import gzip
import io
import json
import zipfile
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dsteval
from commandline import run
from dsteval import readers
from dsteval.dialogue import Dialogue
from dsteval.errors import DstevalError
from dsteval.readers import Source
from native import FORMATS, STORY_SCORES, Sample, done, named, read, refused, written
from native_samples import OTHERS, SAMPLES, SETSUMBT, STORIES

every = pytest.mark.parametrize("sample", SAMPLES, ids=str)
# Instances that their position names cannot be in two files at once.
several = pytest.mark.parametrize("sample", [s for s in SAMPLES if s.reader != "dstc10"], ids=str)


def plain(dialogues: list[Dialogue]) -> list[Dialogue]:
    """The dialogues apart from what no file of ours tells: whether turns are keyed, and how they were ordered."""
    return [msgspec.structs.replace(dialogue, keyed=True, shuffled=False) for dialogue in dialogues]


def is_read(sample: Sample, path: Path | str) -> None:
    """The path holds the sample's dialogues, and is recognised by itself."""
    assert readers.detect(Source.open(path)).reader.name == sample.reader
    assert plain(read(path)) == plain(sample.dialogues)


def copied(sample: Sample, folder: Path) -> Path:
    for name, data in sample.files.items():
        written(folder / name, data)
    return folder


def other(data: bytes) -> bytes:
    """The same file with other dialogues."""
    for number in (b"9001", b"9002", b"00001", b"00002", b"SNG9003", b"test-1", b"test-2"):
        data = data.replace(number, b"7" + number)
    return data


def zipped(files: dict[str, bytes], folder: str = "") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(folder + name, data)
    return packed.getvalue()


def test_every_reader_has_a_sample() -> None:
    assert {sample.reader for sample in SAMPLES} == set(readers.names())
    held = {path for path in FORMATS.glob("*/**/*") if path.is_file()}
    folders = {sample.place if sample.place.is_dir() else sample.place.parent for sample in SAMPLES}
    assert {path.parent for path in held} == folders
    places = {sample.place for sample in [*SAMPLES, SETSUMBT]}
    assert all(path in places or path.parent in places for path in held)


@every
def test_what_is_read(sample: Sample) -> None:
    is_read(sample, sample.place)


def test_setsumbt_is_recognised() -> None:
    assert plain(read(SETSUMBT.place, name="convlab")) == SETSUMBT.dialogues
    is_read(SETSUMBT, SETSUMBT.place)


@every
def test_format_is_said(sample: Sample) -> None:
    ran = run("convert", sample.place, "-")
    assert f"{sample.place.name}: read as {sample.reader} (" in ran.err


@every
def test_forced_format(sample: Sample) -> None:
    assert plain(read(sample.place, name=sample.reader)) == plain(sample.dialogues)
    # A reader that the file is not for refuses it in one sentence, whichever it is.
    for wrong in set(readers.names()) - {sample.reader}:
        try:
            found = read(sample.place, name=wrong)
        except DstevalError as error:
            assert "Traceback" not in str(error)
        else:
            assert found, wrong


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.both], ids=str)
def test_a_file_with_one_side_may_be_the_reference(sample: Sample) -> None:
    found = read(sample.place, "ref", sample.reader)
    assert [d.id for d in found] == [d.id for d in sample.dialogues]
    assert all(turn.pred is None and turn.pred_frames is None for d in found for turn in d.turns)
    states = [(turn.ref, turn.ref_frames) for d in found for turn in d.turns]
    assert states == [(turn.pred, turn.pred_frames) for d in sample.dialogues for turn in d.turns]


@pytest.mark.parametrize("sample", STORIES, ids=str)
def test_one_story_has_one_score_in_every_format(sample: Sample) -> None:
    result = dsteval.evaluate(None, sample.place, metrics=[*STORY_SCORES])
    found = {score.metric: (score.count, score.total) for score in result.scores}
    assert found == STORY_SCORES
    assert result.coverage.ref_dialogues == 2


def scored(sample: Sample, path: Path | str, tmp_path: Path, *options: str) -> object:
    """Scores and slices of a file, without the names; a file with one side against a reference a bit off."""
    arguments = ["score", str(path), "--protocol", sample.protocol, "--by", "slot", "--as", "json", *options]
    if not sample.both:
        name, data = sample.data
        # Values change, and nothing else.
        data = data.replace(b"friday", b"monday").replace(b"rose-garden-house", b"rose")
        arguments += ["--ref", str(written(tmp_path / "reference" / name, data)), "--ref-format", sample.reader]
    system = json.loads(done(*arguments).out)["systems"][0]
    return [system["coverage"], system["scores"], system["slices"]]


@pytest.mark.parametrize(
    "sample",
    [s for s in SAMPLES if s.path not in ("dsteval-json/by_turn.json", "dsteval-jsonl/changes.jsonl")],
    ids=str,
)
def test_round_trip(sample: Sample, tmp_path: Path) -> None:
    place = tmp_path / "converted.jsonl"
    done("convert", sample.place, place)
    assert plain(read(place)) == plain(sample.dialogues)
    # A schema beside the data is no part of it.
    schema = ["--slots", str(FORMATS / "sgd/dev/schema.json")] if sample.path == "sgd/dev" else []
    assert scored(sample, place, tmp_path, *schema) == scored(sample, sample.place, tmp_path, *schema)
    again = tmp_path / "again.jsonl"
    done("convert", place, again)
    assert again.read_bytes() == place.read_bytes()


@pytest.mark.parametrize("path", ["dsteval-json/by_turn.json", "dsteval-jsonl/changes.jsonl"])
def test_round_trip_of_what_is_not_numbered_whole(path: str, tmp_path: Path) -> None:
    sample = named(OTHERS, path)
    done("convert", sample.place, tmp_path / "c.jsonl")
    assert plain(read(tmp_path / "c.jsonl")) == plain(sample.dialogues)


@every
def test_gzip_and_zip(sample: Sample, tmp_path: Path) -> None:
    if not sample.place.is_dir():
        name, data = sample.data
        is_read(sample, written(tmp_path / f"{name}.gz", gzip.compress(data)))
        is_read(sample, written(tmp_path / "odd-name", gzip.compress(data)))
    is_read(sample, written(tmp_path / "a.zip", zipped(sample.files)))
    is_read(sample, written(tmp_path / "b.zip", zipped(sample.files, "inside/it/")))
    is_read(sample, written(tmp_path / "c.zip.gz", gzip.compress(zipped(sample.files))))


@every
def test_standard_input(sample: Sample) -> None:
    data = zipped(sample.files) if sample.place.is_dir() else sample.data[1]
    packed = gzip.compress(data)
    for given in (data, packed):
        ran = done("convert", "-", "-", stdin=given)
        assert "standard input: read as " in ran.err
        assert ran.out == done("convert", sample.place, "-").out


@several
def test_folder_and_pattern(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    name, data = sample.data
    written(folder / name, data)
    written(folder / f"b_{name}", other(data))
    written(folder / f"c_{name}.gz", gzip.compress(other(other(data))))
    written(folder / "README.md", "# These are dialogues")
    written(folder / ".hidden.json", "no data")
    one = len(read(folder / name))
    assert len(read(folder)) == 3 * one
    assert len(read(f"{folder}/*_{name}*")) == 2 * one
    assert len(read(f"{folder}/*{name}")) == 2 * one
    assert "no file matches this pattern" in refused(f"{folder}/*.nothing")


@several
def test_folder_where_one_file_is_broken(sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    name, data = sample.data
    stem, _, suffix = name.partition(".")
    written(folder / f"{stem}_a.{suffix}", data)
    written(folder / f"{stem}_c.{suffix}", other(other(data)))
    cut = other(data)
    cut = cut[: max(cut.rfind(b"\n", 0, -1), len(cut) // 3) + 4]
    for content in (b"", cut, b"to whom it may concern", b"{", b'{"d": 1}'):
        written(folder / f"{stem}_b.{suffix}", content)
        said = refused(folder)
        assert f"{stem}_b.{suffix}" in said, said


@every
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.95])
def test_truncated_archives(sample: Sample, tmp_path: Path, keep: float) -> None:
    name, data = sample.data
    for suffix, packed in (("gz", gzip.compress(data)), ("zip", zipped({name: data}))):
        cut = packed[: max(5, int(keep * len(packed)))]
        said = refused(written(tmp_path / f"cut.{suffix}", cut))
        assert "expected a whole gzip or zip file, found a broken one" in said
        assert "Download or copy it again." in said
        assert "cut" in said


@every
def test_a_byte_order_mark_and_dos_line_ends(sample: Sample, tmp_path: Path) -> None:
    for name, data in sample.files.items():
        written(tmp_path / "bom" / name, b"\xef\xbb\xbf" + data)
        written(tmp_path / "dos" / name, data.replace(b"\n", b"\r\n"))
    is_read(sample, tmp_path / "bom" / (sample.place.name if not sample.place.is_dir() else ""))
    is_read(sample, tmp_path / "dos" / (sample.place.name if not sample.place.is_dir() else ""))


def test_data_json_alone() -> None:
    is_read(named(OTHERS, "multiwoz"), FORMATS / "multiwoz/data.json")


# PATH/test and the like: the splits of a data set.
SPLITS = {"test": ["MUL9001.json"], "dev": ["PMUL9002"], "val": ["PMUL9002"], "train": ["SNG9003.json"]}


@pytest.mark.parametrize("form", ["folder", "zip", "gz"])
@pytest.mark.parametrize("split", SPLITS)
def test_split_of_multiwoz(form: str, split: str, tmp_path: Path) -> None:
    sample = named(OTHERS, "multiwoz")
    place = copied(sample, tmp_path / "MultiWOZ")
    if form == "zip":
        place = written(tmp_path / "MultiWOZ.zip", zipped(sample.files, "MultiWOZ_2.4/"))
    elif form == "gz":
        data = (place / "data.json").read_bytes()
        (place / "data.json").unlink()
        written(place / "data.json.gz", gzip.compress(data))
    assert [d.id for d in read(place / split)] == SPLITS[split]
    assert len(read(place)) == 3
    assert "no such file or folder" in refused(place / "tset")


def test_split_without_its_list(tmp_path: Path) -> None:
    place = copied(named(OTHERS, "multiwoz"), tmp_path / "mw")
    (place / "valListFile.json").unlink()
    said = refused(place / "dev")
    assert "mw/dev" in said
    assert "a folder" in said
    assert "split 'dev'" in said
    # Without the list of dev its dialogues would pass for train's.
    assert "split 'train'" in refused(place / "train")


def test_list_that_names_dialogues_which_are_not_there(tmp_path: Path) -> None:
    place = copied(named(OTHERS, "multiwoz"), tmp_path / "mw")
    written(place / "testListFile.json", "MUL9001.json\nMUL9009.json\n")
    said = refused(place / "test")
    assert "mw/test" in said
    assert "2 dialogues" in said
    assert "found 1" in said


def test_splits_by_name(tmp_path: Path) -> None:
    data = named(OTHERS, "sgd/dev").files["dialogues_001.json"]
    for split in ("train", "dev", "test"):
        written(tmp_path / "sgd" / split / "dialogues_001.json", data)
    assert len(read(tmp_path / "sgd" / "dev")) == 2
    packed = written(tmp_path / "sgd.zip", zipped({f"{s}/dialogues_001.json": data for s in ("train", "test")}))
    assert len(read(packed / "test")) == 2
    assert "split 'dev'" in refused(packed / "dev")


@pytest.mark.parametrize("name", ["dev.json", "val.json", "valid.json", "validation_dialogues.json"])
@pytest.mark.parametrize("asked", ["dev", "val", "validation"])
def test_dev_by_all_its_names(asked: str, name: str, tmp_path: Path) -> None:
    data = named(OTHERS, "sgd/dev").files["dialogues_001.json"]
    for file in (name, "train.json", "test.json"):
        written(tmp_path / "set" / file, data if file == name else other(data))
    assert read(tmp_path / "set" / asked) == read(written(tmp_path / "alone.json", data))


def test_a_semicolon_in_the_header_of_a_table_with_commas(tmp_path: Path) -> None:
    text = 'dialogue_id,turn_id,user,hotel-area,"remark; by hand"\na,0,"a bed; cheap",north,none; really\n'
    place = written(tmp_path / "p.csv", text)
    assert readers.detect(Source.open(place)).reader.name == "table"
    (dialogue,) = read(place)
    assert (dialogue.turns[0].user, dialogue.turns[0].pred) == ("a bed; cheap", [("hotel-area", "north")])


def test_schema_beside_the_data_is_the_slot_list() -> None:
    source = Source.open(FORMATS / "sgd/dev")
    expected = ["Hotels_9-area", "Hotels_9-name", "Hotels_9-stars", "Flights_9-airline", "Flights_9-seats"]
    assert source.schema == expected
    result = dsteval.evaluate(FORMATS / "sgd/dev", FORMATS / "sgd/dev", metrics=["SlotAccuracy"])
    assert result.n_slots == 5


def test_a_text_instead_of_a_list_is_that_one_value() -> None:
    result = dsteval.evaluate(FORMATS / "sgd/dev", FORMATS / "sgd/by_id.json", metrics=["JGA"], missing="skip")
    assert result["JGA"].total == 2
    assert result.coverage.lengths == ["9_00001: reference 2 turns, predicted 1"]


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda state: defaultdict(str, state)])
def test_states_that_trackers_keep_in_other_mappings(kind: Callable[[dict[str, Any]], Any]) -> None:
    flat = {"hotel-area": "north", "ab": "x"}
    nested = {"hotel": kind({"area": "north"}), "ab": "x"}
    for state in (flat, nested):
        result = dsteval.evaluate({"d": [flat]}, kind({"d": [kind(state)]}), metrics=["JGA", "SlotF1"])
        assert (result["JGA"].count, result["SlotF1"].total) == (1, 4)


@pytest.mark.parametrize("key", [1, None, ("hotel", "area")])
def test_slots_that_are_no_texts(key: Any) -> None:
    with pytest.raises(DstevalError, match="slot"):
        dsteval.evaluate({"d": [{"hotel-area": "north"}]}, {"d": [{key: "north"}]}, metrics=["JGA"])
