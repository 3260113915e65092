"""DataFrames and Arrow tables in and out, with the real pandas, polars and pyarrow."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dsteval
from commandline import refusal, run
from dsteval.errors import MetricError, OptionError, ReadError

EXAMPLE = Path(dsteval.__file__).parent / "example"
PRED, REF = EXAMPLE / "pointer.jsonl", EXAMPLE / "reference.jsonl"
RESULT = dsteval.evaluate(REF, PRED, metrics=["JGA", "SlotF1"], by=["domain"], errors=True)
COMPARED = dsteval.compare({"a": str(PRED), "b": str(EXAMPLE / "seq2seq.jsonl")}, REF, metrics=["JGA"])
SPREAD = dsteval.spread(REF, PRED, name="pointer")
FRAMES = {
    "scores": RESULT.to_frame(),
    "turns": RESULT.turns(),
    "errors": RESULT.error_frame(),
    "differences": COMPARED.to_frame(),
    "protocols": SPREAD.to_frame(),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
def test_each_library_takes_a_frame(frame: Any) -> None:
    for made in (pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame).to_pandas()):
        assert list(made.columns) == list(frame)
        assert len(made) == frame.n_rows == len(list(frame.rows())) > 0
    assert pl.DataFrame(frame).to_dicts() == list(frame.rows())


def test_turns_are_those_that_scores_count() -> None:
    turns = pd.DataFrame(RESULT.turns())
    assert turns["right"].mean() == pytest.approx(RESULT["JGA"].value)
    assert set(RESULT.turns("FGA@inf")["weight"]) == {0.0, 1.0}
    fga = dsteval.evaluate(REF, PRED, metrics=["FGA@1"])
    assert pd.DataFrame(fga.turns("FGA@1"))["weight"].mean() == pytest.approx(fga["FGA@1"].value)
    wrong = turns["wrong_slots"].map(len).sum()
    assert wrong == sum(RESULT.error_frame()["lifetime"])
    shown = dsteval.explain(REF, PRED, "DEMO07", metric="FGA@0.5")
    listed = turns[turns["dialogue"] == "DEMO07"]
    assert listed["type"].tolist() == [turn.outcome for turn in shown.turns]
    assert listed["weight"].tolist() == pytest.approx([turn.weight for turn in shown.turns])


def rows(text: bool = False) -> list[dict[str, Any]]:
    found = []
    for ref, pred in zip(REF.read_text().splitlines(), PRED.read_text().splitlines(), strict=True):
        whole, own = json.loads(ref), json.loads(pred)
        sides = {"ref": whole.get("state", whole.get("ref")), "pred": own.get("state", own.get("pred"))}
        texts = {key: json.dumps(value) if text else value for key, value in sides.items()}
        found.append({"dialogue_id": whole["dialogue_id"], "turn_id": whole["turn_id"], **texts})
    return found


@pytest.mark.parametrize("text", [False, True], ids=["dictionaries", "JSON"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist], ids=["pd", "pl", "pa"])
def test_evaluate_takes_them(make: Any, text: bool) -> None:
    given = rows(text)
    if not text:  # a column of Arrow has one type: no slot has one value here and several there
        given = [row | {side: _single(row[side]) for side in ("ref", "pred")} for row in given]
    expected = dsteval.evaluate(REF, PRED) if text else dsteval.evaluate(None, given)
    found = dsteval.evaluate(None, make(given))
    assert [one.value for one in found.scores] == [one.value for one in expected.scores]


def test_sides_of_their_own() -> None:
    table = pd.DataFrame(rows(text=True))
    ref, pred = table.drop(columns="pred"), table.drop(columns="ref")
    found = dsteval.evaluate(ref, pl.from_pandas(pred))
    assert [one.value for one in found.scores] == [one.value for one in dsteval.evaluate(REF, PRED).scores]


def _single(state: dict[str, Any]) -> dict[str, Any]:
    return {slot: value[0] if isinstance(value, list) else value for slot, value in state.items()}


def test_a_missing_prediction_is_no_empty_state() -> None:
    frame = pd.DataFrame(rows(text=True))
    frame.loc[3, "pred"] = None
    with pytest.raises(dsteval.DstevalError):
        dsteval.evaluate(None, frame)


def test_bad_rows_are_named() -> None:
    frame = pd.DataFrame(rows(text=True))
    frame.loc[3, "pred"] = "{broken"
    with pytest.raises(ReadError, match="row 4, column 'pred'"):
        dsteval.evaluate(None, frame)
    frame["pred"] = 7
    with pytest.raises(ReadError, match="row 1, column 'pred': expected a dictionary or JSON"):
        dsteval.evaluate(None, frame)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_turns_as_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"turns.{suffix}"
    assert run("score", f"a={PRED}", f"b={PRED}", "--ref", REF, "--turns", path).code == 0
    expected = list(RESULT.turns().rows())
    if suffix == "csv":
        found: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(path.read_text())))
        assert [row["wrong_slots"] for row in found[:76]] == ["; ".join(row["wrong_slots"]) for row in expected]
    else:
        lines = path.read_text().splitlines() if suffix == "jsonl" else []
        found = list(map(json.loads, lines)) if lines else pq.read_table(path).to_pylist()
        assert found == [{"system": system, **row} for system in "ab" for row in expected]
    assert [row["system"] for row in found] == ["a"] * 76 + ["b"] * 76


def test_what_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    assert "suffix" in refusal(run("score", PRED, "--ref", REF, "--turns", tmp_path / "turns.xlsx"))
    assert not list(tmp_path.iterdir())


def test_saved_results_have_no_turns(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    run("score", PRED, "--ref", REF, "-o", saved)
    with pytest.raises(OptionError, match="outcomes"):
        dsteval.load(saved)[0].turns()
    with pytest.raises(OptionError, match="FGA"):
        RESULT.turns("JGA")
    with pytest.raises(OptionError, match="errors=True"):
        dsteval.evaluate(REF, PRED).error_frame()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_other_columns_may_hold_anything(missing: Any) -> None:
    frame = pd.DataFrame(rows(text=True))
    frame["tags"] = [["a", "b"]] * len(frame)
    frame["remark"] = [missing] * len(frame)
    found = dsteval.evaluate(None, frame)
    assert [one.value for one in found.scores] == [one.value for one in dsteval.evaluate(REF, PRED).scores]


def test_parquet_of_pandas(tmp_path: Path) -> None:
    path = tmp_path / "both.parquet"
    given = [row | {side: _single(row[side]) for side in ("ref", "pred")} for row in rows()]
    pd.DataFrame(given).to_parquet(path)
    found = dsteval.evaluate(None, pl.read_parquet(path))
    assert [one.value for one in found.scores] == [one.value for one in dsteval.evaluate(None, given).scores]


def test_a_function_is_no_metric() -> None:
    with pytest.raises(MetricError, match="or Metric objects, found a function"):
        dsteval.evaluate(REF, PRED, metrics=[lambda turn: 1.0])  # type: ignore[list-item]


def test_reprs_are_short() -> None:
    assert len(repr(dsteval.explain(REF, PRED, "DEMO07"))) < 300
    assert len(repr(RESULT)) < 300 and "JGA" in repr(RESULT)
    many = dsteval.evaluate(REF, PRED, name="x" * 500, metrics=[f"FGA@{n / 7}" for n in range(1, 40)])
    assert len(repr(many)) < 300
    assert len(repr(COMPARED)) < 1000 and "a, b" in repr(COMPARED)
    assert len(repr(SPREAD)) < 300
    assert all(len(repr(frame)) < 300 and "<table>" in frame._repr_html_() for frame in FRAMES.values())
