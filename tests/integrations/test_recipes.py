"""The recipes of docs/integrations.md, run as they stand there against the packages they are for, offline."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dsteval
from test_docs import ROOT, blocks, prepare

PAGE = ROOT / "docs/integrations.md"
EXAMPLE = Path(dsteval.__file__).parent / "example"
METRICS = ["JGA", "FGA@0.5", "SlotF1"]
# Nothing is sent: runs stay in the folder, and telemetry is off for what has it.
OFFLINE = {
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
    "WANDB_ERROR_REPORTING": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_TRACKING_URI": "mlruns",
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "true",
    # A request that is made all the same fails at once.
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the page's files, a reference, predictions, and a saved result that they are worse than."""
    prepare(PAGE, tmp_path)
    shutil.copy(EXAMPLE / "reference.jsonl", tmp_path)
    shutil.copy(EXAMPLE / "pointer.jsonl", tmp_path / "predictions.jsonl")
    done(tmp_path, "-m", "dsteval", "score", f"old={EXAMPLE / 'seq2seq.jsonl'}", *REFERENCE, "-o", "saved.json")
    return tmp_path


REFERENCE = ("--ref", "reference.jsonl")


def python(place: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("WANDB", "MLFLOW"))}
    environment |= OFFLINE | more | {"PYTHONPATH": str(Path(dsteval.__file__).parents[1])}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300)


def done(place: Path, *arguments: str, **more: str) -> str:
    ran = python(place, *arguments, **more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def expected(place: Path) -> Mapping[str, Any]:
    result = dsteval.evaluate(str(place / "reference.jsonl"), str(place / "predictions.jsonl"), metrics=METRICS)
    return {score.metric: score for score in result.scores}


def test_torchmetrics(place: Path) -> None:
    pytest.importorskip("torchmetrics")
    scores = done(place, "validate.py")
    north, south = {"hotel-area": "north"}, {"hotel-area": "south"}
    ref, pred = {"a": [{}, north], "b": [north, north]}, {"a": [{}, north], "b": [south, north]}
    whole = dsteval.evaluate(ref, pred, metrics=METRICS)
    assert scores == f"{ {score.metric: score.value for score in whole.scores} }\n"


_TRAINER = """
import json
import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import EvalPrediction, PreTrainedTokenizerFast
from dst_metrics import metrics_for

texts = json.load(open("texts.json"))
words = sorted({word for pair in texts for text in pair for word in text.split()})
vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}
model = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
model.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=model, pad_token="[PAD]", unk_token="[UNK]")

def encoded(side, filler):
    rows = [tokenizer(pair[side])["input_ids"] for pair in texts]
    width = max(map(len, rows))
    return np.array([row + [filler] * (width - len(row)) for row in rows])

# Labels are filled up with -100, as the trainer's collator does.
prediction = EvalPrediction(predictions=encoded(1, tokenizer.pad_token_id), label_ids=encoded(0, -100))
print(json.dumps(metrics_for(tokenizer, json.load(open("ids.json")))(prediction)))
"""


def test_transformers(place: Path) -> None:
    pytest.importorskip("transformers")
    sides = ((place / f"{name}.jsonl").read_text().splitlines() for name in ("reference", "predictions"))
    rows = (map(json.loads, lines) for lines in sides)
    ref, pred = ({(row["dialogue_id"], row["turn_id"]): row["state"] for row in side} for side in rows)
    texts = [[written(ref[turn]), written(pred[turn])] for turn in ref]
    (place / "texts.json").write_text(json.dumps(texts))
    (place / "ids.json").write_text(json.dumps([dialogue for dialogue, _ in ref]))
    found = json.loads(done(place, "-c", _TRAINER))
    assert found == {name: score.value for name, score in expected(place).items()}


def written(state: Mapping[str, str | list[str]]) -> str:
    """A state as the target of a model: alternatives with a bar between them."""
    pairs = ((slot, [value] if isinstance(value, str) else value) for slot, value in state.items())
    return "; ".join(f"{slot} = {'|'.join(values)}" for slot, values in pairs)


def test_mlflow(place: Path) -> None:
    pytest.importorskip("mlflow")
    done(place, "log_mlflow.py")
    files = {path.name: path for path in (place / "mlruns").rglob("*") if path.is_file()}
    for name, score in expected(place).items():
        assert float(files[name.replace("@", "_")].read_text().split()[1]) == score.value
    assert files["protocol"].read_text() == dsteval.load(place / "saved.json")[0].protocol
    (saved,) = dsteval.load(files["dsteval.json"])
    assert {score.metric: score.value for score in saved.scores} == {
        name: score.value for name, score in expected(place).items()
    }


def test_wandb(place: Path) -> None:
    pytest.importorskip("wandb")
    done(place, "log_wandb.py")
    (run,) = (place / "wandb").glob("offline-run-*")
    written = b"".join(path.read_bytes() for path in run.glob("*.wandb"))
    for name, score in expected(place).items():
        assert name.encode() in written and str(score.value).encode() in written
        assert f"{name} CI".encode() in written
    assert b"proto:exact" in written


@pytest.mark.parametrize(("predictions", "passes"), [("seq2seq", True), ("pointer", False)])
def test_pytest(place: Path, predictions: str, passes: bool) -> None:
    shutil.copy(EXAMPLE / f"{predictions}.jsonl", place / "predictions.jsonl")
    ran = python(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "test_model.py")
    assert ran.returncode == (0 if passes else 1), ran.stdout
    assert passes or "JGA  new - old" in ran.stdout


def test_the_workflow_gates(place: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (block,) = (one for one in blocks(PAGE) if one.kind == "yaml")
    workflow = yaml.safe_load(block.text)
    assert workflow[True] == "pull_request"  # "on", in YAML 1.1
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["compare"]["steps"]
    assert [step["uses"].partition("@")[0] for step in steps[:2]] == ["actions/checkout", "actions/setup-python"]
    command = steps[-1]["run"]
    assert command.startswith("dsteval compare") and "\n" not in command.strip()
    shim = f'dsteval() {{ "{sys.executable}" -m dsteval "$@"; }}'
    summary = place / "summary.md"
    environment = os.environ | {
        "PYTHONPATH": str(Path(dsteval.__file__).parents[1]),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    for predictions, code, verdict in (("pointer", 1, "**Failed**"), ("seq2seq", 0, "**Passed**")):
        shutil.copy(EXAMPLE / f"{predictions}.jsonl", place / "predictions.jsonl")
        summary.write_bytes(b"")  # as the runner makes it for each step
        ran = subprocess.run(["bash", "-e", "-c", f"{shim}\n{command}"], cwd=place, env=environment)
        assert ran.returncode == code
        assert summary.read_text().startswith(verdict)
