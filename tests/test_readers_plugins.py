"""Readers of other packages, and a format that is only declared: found, asked in time, out of our formats' way."""

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import dsteval
from dsteval import readers
from dsteval.dialogue import Dialogue, Side, Turn
from dsteval.errors import ReadError
from dsteval.readers import Options, Reader, Sign, Source, Sureness
from dsteval.readers.json_format import JsonFormat
from native import FORMATS, read, refused, written
from native_samples import SAMPLES

STATES = {"D1": [{"hotel-area": "north"}, {"hotel-area": "south"}]}


class Plugin(Reader):
    name = "plugin"
    about = "whatever it is shown"
    sides = "one"
    sureness = Sureness.SPECIFIC

    def sniff(self, source: Source) -> Sign | None:
        return Sign("the plug-in says so", self.sureness)

    def read(self, source: Source, side: Side, options: Options) -> Iterator[Dialogue]:
        yield Dialogue("D1", [Turn(0, pred=[("plug-in", "read it")])])


class Vague(Plugin):
    sureness = Sureness.GENERIC


class Untyped(Plugin):
    def sniff(self, source: Source) -> Any:
        return "a text is no sign"


class Raising(Plugin):
    def sniff(self, source: Source) -> Sign | None:
        raise RuntimeError("sniffed")


PLUGIN, VAGUE, UNTYPED, RAISING = Plugin(), Vague(), Untyped(), Raising()
DECLARED = JsonFormat(
    name="declared",
    about="{dialogue: {steps: {turn: {truth: state, guess: state, said: text}}}}",
    sign="steps with truth and guess",
    expected="a step with truth and guess",
    turns="steps",
    ref="truth",
    pred="guess",
    user="said",
)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes one of this module's readers an installed one."""

    def installing(name: str) -> None:
        points = {name.lower(): EntryPoint(name.lower(), f"{__name__}:{name}", "dsteval.readers")}
        monkeypatch.setattr(readers.READERS, "installed", points)
        readers._installed.cache_clear()

    yield installing
    readers._installed.cache_clear()


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(STATES),
        json.dumps([{"dialogue_id": "D1", "turn_id": 0, "state": {}}]),
        "dialogue_id,turn_id,hotel-area\nD1,0,north\n",
        json.dumps({"D1": [{"state": {}}]}),
        json.dumps({"D1": {"0": {"bspn": "", "bspn_gen": ""}}}),
        "nothing of ours",
    ],
    ids=["dsteval-json", "dsteval-jsonl", "table", "mwzeval", "belief-text", "none"],
)
def test_a_plug_in_wins_over_generic_formats(content: str, install: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "file", content)
    install("PLUGIN")
    detected = readers.detect(Source.open(path))
    assert (detected.reader.name, detected.sign) == ("plugin", "the plug-in says so")
    assert read(path)[0].turns[0].pred == [("plug-in", "read it")]


def test_a_plug_in_is_asked_nothing_of_formats_that_are_sure(install: Any) -> None:
    install("PLUGIN")
    path = FORMATS / "trade/all_prediction_TRADE.json"
    assert readers.detect(Source.open(path)).reader.name == "trade"


@pytest.mark.parametrize("name", ["VAGUE", "UNTYPED", "RAISING", "NOT_THERE"])
def test_a_plug_in_that_is_not_sure_or_broken_keeps_nothing_of_ours_from_being_read(
    name: str, install: Any, tmp_path: Path
) -> None:
    path = written(tmp_path / "file", json.dumps(STATES))
    install(name)
    assert readers.detect(Source.open(path)).reader.name == "dsteval-json"
    other = Source.open(written(tmp_path / "other", "nothing of ours"))
    if name == "VAGUE":
        assert readers.detect(other).reader.name == "plugin"
    else:
        with pytest.raises(ReadError, match="expected one of the formats"):
            readers.detect(other)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_plug_in_that_fits_nothing_changes_nothing(sample: Any, install: Any) -> None:
    install("DECLARED")
    assert readers.detect(Source.open(sample.place)).reader.name == sample.reader


def test_a_declared_format(install: Any, tmp_path: Path) -> None:
    install("DECLARED")
    step = {"truth": {"hotel": {"area": "north"}}, "guess": {"hotel-area": "south"}, "said": "north please"}
    path = written(tmp_path / "file.json", json.dumps({"D1": {"steps": {"0": step}}}))
    assert readers.detect(Source.open(path)).sign == "steps with truth and guess"
    turn = Turn(0, [("hotel-area", "north")], [("hotel-area", "south")], user="north please")
    assert read(path) == [Dialogue("D1", [turn])]
    del step["guess"]
    written(path, json.dumps({"D1": {"steps": {"0": step}}}))
    assert "dialogue 'D1', turn 0: expected a step with truth and guess, found {'truth'" in refused(
        path, name="declared"
    )


def test_read_and_write_in_python(tmp_path: Path) -> None:
    for sample in ("trade/all_prediction_TRADE.json", "sgd/by_id.json", "dsteval-json/states.json"):
        dialogues = list(dsteval.read(FORMATS / sample))
        for name in ("out.jsonl", "out.jsonl.gz"):
            dsteval.write(dialogues, tmp_path / name)
            again = list(dsteval.read(tmp_path / name))
            assert [d.id for d in again] == [d.id for d in dialogues]
            assert [d.turns for d in again] == [d.turns for d in dialogues]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.gz"]


def test_read_takes_what_evaluate_takes() -> None:
    dialogues = list(dsteval.read(STATES, "ref"))
    assert [turn.ref for turn in dialogues[0].turns] == [[("hotel-area", "north")], [("hotel-area", "south")]]
    assert list(dsteval.read(dialogues)) == dialogues
    assert next(dsteval.read(STATES, updates=True)).updates == ("pred",)
    with pytest.raises(ReadError, match="expected 'Dialogue ID : NAME'"):
        list(dsteval.read(STATES, format="fga-text"))


def test_nothing_is_half_written(tmp_path: Path) -> None:
    def breaking() -> Iterator[Dialogue]:
        yield from dsteval.read(STATES)
        raise ValueError("in between")

    with pytest.raises(ValueError, match="in between"):
        dsteval.write(breaking(), tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []
