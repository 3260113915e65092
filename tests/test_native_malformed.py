"""Malformed files in tools' own shapes: each is refused in a sentence that says where, what and how many."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commandline import run
from dsteval.errors import ReadError
from native import FORMATS, named, read, refusal, refused, written
from native_samples import SAMPLES


def variants() -> Iterator[tuple[str, str, str, str]]:
    """Sample, piece, what stands there instead, and parts of the sentence: the variants of malformed.txt."""
    sample = ""
    found: list[str] = []
    for line in (FORMATS / "malformed.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            sample = line[2:]
        elif sample and line.strip():
            found.append(line[2:].removeprefix("=>").removeprefix("!!").lstrip())
        if len(found) == 3:
            old, new, parts = found
            yield sample, unescaped(old), unescaped(new), parts
            found = []
    assert not found


def unescaped(text: str) -> str:
    return text.replace("\\t", "\t").replace("\\n", "\n")


MALFORMED = [pytest.param(*variant, id=f"{variant[0]}-{n}") for n, variant in enumerate(variants())]


def broken(path: str, old: str, new: str, folder: Path) -> Path:
    """The sample's first file with one piece replaced."""
    name, data = named(SAMPLES, path).data
    text = data.decode()
    assert old in text
    return written(folder / name, text.replace(old, new, 1))


@pytest.mark.parametrize(("path", "old", "new", "parts"), MALFORMED)
def test_malformed(path: str, old: str, new: str, parts: str, tmp_path: Path) -> None:
    place = broken(path, old, new, tmp_path)
    said = refused(place)
    assert place.name in said, said
    assert str(tmp_path) not in said, said
    for part in parts.split(" | "):
        assert part in said, said


def test_each_reader_has_three_malformed_variants_at_least() -> None:
    counted: dict[str, int] = {}
    for path, *_ in variants():
        reader = named(SAMPLES, path).reader
        counted[reader] = counted.get(reader, 0) + 1
    assert {sample.reader for sample in SAMPLES} == counted.keys()
    assert min(counted.values()) >= 3


@pytest.mark.parametrize(("path", "old", "new", "parts"), MALFORMED[::9])
def test_command_refuses_with_the_same_sentence(path: str, old: str, new: str, parts: str, tmp_path: Path) -> None:
    place = broken(path, old, new, tmp_path)
    expected = refused(place)
    protocol = named(SAMPLES, path).protocol
    for command, *options in (["score"], ["validate"], ["score", "--ref", str(place)]):
        assert refusal(command, place, *options, "--protocol", protocol) == expected


def test_a_slot_twice_in_one_state_is_told_as_score_tells_it(tmp_path: Path) -> None:
    friday = '"train-day": "dontcare"'
    place = broken("dsteval-json/by_turn.json", friday, f'{friday}, "train-day": "friday"', tmp_path)
    written(place, place.read_text().replace('"2": {"train', '"1": {"train'))
    told = "by_turn.json, dialogue 'PMUL9002.json', turn 0, slot 'train-day': expected one value per slot (pred), "
    told += "found 'dontcare' and 'friday' (1 of 5 turns). Keep the right one."
    assert refusal("score", place, "--ref", FORMATS / "dsteval-json/states.json") == told
    assert refusal("validate", place) == told.replace("(pred)", "(ref)")  # it is both sides there


def test_a_slot_twice_in_a_literal(tmp_path: Path) -> None:
    old = "{'hotel': {'area': 'north'}}"
    place = broken("fga-text", old, "{'hotel': {'area': 'north', 'area': 'south'}}", tmp_path)
    assert "turn 0, slot 'hotel-area': expected one value per slot (ref)" in refusal("score", place)


def test_how_many_of_how_many_counts_the_broken_ones(tmp_path: Path) -> None:
    # Three of five turns are broken: "3 of 3" would say that nothing is right.
    data = (FORMATS / "t5dst/T5_prediction.json").read_text()
    place = written(tmp_path / "p.json", data.replace('"pred_belief"', '"pred"', 3))
    assert "(3 of 5 turns; " in refused(place)


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\x0c"])
@pytest.mark.parametrize("path", ["star-tsv/star.tsv", "table/cells.csv"])
def test_only_line_ends_end_a_line(mark: str, path: str, tmp_path: Path) -> None:
    old = "the rose-garden-house"
    place = broken(path, old, f"the{mark}house", tmp_path)
    assert read(place)[0].turns[1].user in (f"the{mark}house", f"the{mark}house , any stars")


@pytest.mark.parametrize("path", ["star-tsv/star.tsv", "table/columns.tsv", "table/cells.csv"])
def test_a_file_that_holds_a_header_only(path: str, tmp_path: Path) -> None:
    name, data = named(SAMPLES, path).data
    head = data.partition(b"\n")[0]
    assert "expected at least one" in refused(written(tmp_path / name, head))
    # In a folder it would be overlooked.
    written(tmp_path / f"a_{name}", data)
    assert name in refused(tmp_path)


@pytest.mark.parametrize("ending", ["", "\n"])
def test_truncated_json_is_told_as_broken_json(ending: str, tmp_path: Path) -> None:
    for path in ("llm_dst_eval/original.json", "fga-json/result.json", "sgd/dev"):
        name, data = named(SAMPLES, path).data
        said = refused(written(tmp_path / name, data[: len(data) // 2] + ending.encode()))
        assert f"{name}: invalid JSON: " in said
        assert "at line " in said


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"d": ' * 50_000 + "1" + "}" * 50_000, '{"d": [' + '{"a":' * 5000 + "1" + "}" * 5000 + "]}"],
)
def test_json_that_is_nested_too_deep(text: str, tmp_path: Path) -> None:
    said = refused(written(tmp_path / "deep.json", text))
    assert "deep.json" in said
    assert len(said) < 1000


def test_numbers_that_are_too_long(tmp_path: Path) -> None:
    nines = "9" * 5000
    for text in (f'{{"d": [{{"hotel-stars": {nines}}}]}}', f'{{"d": {{"{nines}": {{"hotel-stars": "3"}}}}}}'):
        said = refused(written(tmp_path / "long.json", text), name="dsteval-json")
        assert "long.json" in said


@pytest.mark.parametrize("number", [2**31, 99_999_999_999, 10**30])
def test_turn_numbers_that_no_dialogue_has(number: int, tmp_path: Path) -> None:
    som = f'{{"MUL1_{number}": [["hotel-area-north"], ["hotel-area-north"]]}}'
    assert "MUL1" in refusal("score", written(tmp_path / "som.json", som))
    line = f'{{"dialogue_id": "d", "turn_id": {number}, "gaps": true, "ref": {{}}, "pred": {{}}}}\n'
    assert "'d'" in refusal("score", written(tmp_path / "line.jsonl", line))


def test_marks_that_are_not_there_at_every_turn(tmp_path: Path) -> None:
    marks = ", ".join(["1"] * 30)
    for second in ('"bits": [1, 0]', '"pred": {}'):
        lines = f'{{"dialogue_id": "d", "turn_id": 0, "bits": [{marks}]}}\n'
        lines += f'{{"dialogue_id": "d", "turn_id": 1, {second}}}\n'
        said = refusal("score", written(tmp_path / "b.jsonl", lines), "--protocol", "fga-trippy")
        assert "'d'" in said
        assert "marks" in said


def test_one_service_twice_in_one_turn(tmp_path: Path) -> None:
    frames = [{"service": "hotels", "state": {"slot_values": {"area": [value]}}} for value in ("north", "east")]
    turns = [{"speaker": "USER", "utterance": "", "frames": frames}]
    place = written(tmp_path / "d.json", json.dumps([{"dialogue_id": "1_0", "services": [], "turns": turns}]))
    said = refusal("score", place, "--ref", place)
    assert "'1_0', turn 0" in said
    assert "hotels" in said


def test_states_and_frames_in_one_dialogue(tmp_path: Path) -> None:
    lines = '{"dialogue_id": "d", "turn_id": 0, "frames": [{"service": "h", "state": {"a": "b"}}]}\n'
    place = written(tmp_path / "d.jsonl", lines + '{"dialogue_id": "d", "turn_id": 1, "state": {"h-a": "c"}}\n')
    ref = written(tmp_path / "r.json", '{"d": [{"h-a": "b"}, {"h-a": "c"}]}')
    ran = run("score", place, "--ref", ref, "--metric", "JGA", "--as", "json")
    # Refused, or read: but the state of turn 1 is not lost.
    assert ran.code == 1 or '"count": 2' in ran.out


def test_an_empty_object_is_no_value_even_beside_a_slot_that_stands_twice(tmp_path: Path) -> None:
    for more in ("", ', "stars": "3", "stars": "3"'):
        place = written(tmp_path / "p.json", f'{{"d": [{{"hotel": {{"area": {{}}{more}}}}}]}}')
        assert "slot 'hotel-area': expected a string or a list of strings, found {}" in refused(place)


@pytest.mark.parametrize(
    "path", ["fga-json/result.json", "trade/all_prediction_TRADE.json", "t5dst/T5_prediction.json"]
)
def test_a_dialogue_without_turns_is_a_dialogue(path: str, tmp_path: Path) -> None:
    data = (FORMATS / path).read_text().rstrip().removesuffix("}")
    empty = '{"domain": "hotel", "turns": {}}' if "t5dst" in path else "{}"
    place = written(tmp_path / "p.json", f'{data}, "SNG9003.json": {empty}}}')
    assert [dialogue.id for dialogue in read(place)] == ["MUL9001.json", "PMUL9002.json", "SNG9003.json"]


@pytest.mark.parametrize(
    ("path", "old"),
    [
        ("sgd/dev", '"utterance": "Hello"'),
        ("multiwoz", '"text": "Hello"'),
        ("llm_dst_eval/original.json", '"user": "forget it"'),
        ("convlab/predictions.json", '"utterance": "forget it"'),
        ("dsteval-jsonl/both.jsonl", '"user": "forget it"'),
    ],
)
def test_utterances_are_texts(path: str, old: str, tmp_path: Path) -> None:
    place = broken(path, old, f'{old.partition(":")[0]}: {{"said": 1}}', tmp_path)
    try:
        texts = [turn.user for dialogue in read(place) for turn in dialogue.turns]
    except ReadError as error:
        assert place.name in str(error)
    else:
        assert all(text is None or isinstance(text, str) for text in texts)


def test_a_path_that_is_no_path(tmp_path: Path) -> None:
    assert "expected a readable file or folder" in refusal("score", "a" * 5000)
    assert run("score", "a" * 5000 + "=b").code == 1
