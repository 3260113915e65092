"""Files broken at random: each is refused in a sentence, or read and scored as a careful parse has it.

A few thousand tries by default; DSTEVAL_THOROUGH=1 makes them 200,000, DSTEVAL_FUZZ=N makes them N, and
DSTEVAL_FUZZ_SEED starts elsewhere. What comes out wrong is gathered by kind, with the first file of each.
"""

import gzip
import io
import math
import os
import random
import re
import traceback
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import dsteval
import native_careful as careful
from commandline import run
from dsteval import readers
from dsteval.analysis.validation import validate
from dsteval.errors import DstevalError
from dsteval.readers import Source
from dsteval.readers.file_sets import File
from dsteval.readers.jsonl_writer import lines
from native import Sample, written
from native_breaking import broken, flip
from native_samples import SAMPLES, SETSUMBT

pytestmark = pytest.mark.fuzz

THOROUGH = os.environ.get("DSTEVAL_THOROUGH") == "1"
TRIES = int(os.environ.get("DSTEVAL_FUZZ", "200000" if THOROUGH else "3000"))
SEED = int(os.environ.get("DSTEVAL_FUZZ_SEED", "1"))
SHARDS = 8

FILES = [(sample, *sample.data) for sample in [*SAMPLES, SETSUMBT]]
METRICS = ["JGA", "TurnMatch", "SlotAccuracy", "AGA", "FGA@0.5", "SlotPrecision", "SlotRecall", "SlotF1", "TurnF1"]
PROTOCOLS = ["exact", "exact", "normalised", "fga-official", "fga-paper", "fga-trippy", "gca"]

# A Python object as it shows itself, or what a traceback has.
LEAK = re.compile(r"Traceback|<[\w.]+ object|object at 0x| at 0x[0-9a-f]{6}|File \"/|\w+Error:")


class WrongError(Exception):
    """A try that ended neither in a right result nor in a sentence."""


def told(error: DstevalError) -> None:
    """A refusal is one sentence, short enough to be read."""
    said = str(error)
    if not said or LEAK.search(said):
        raise WrongError(f"a message that is no sentence: {said[:300]!r}")
    if len(said) > 20_000:
        raise WrongError(f"a message of {len(said)} characters: {said[:60]!r}")


def in_range(result: dsteval.Result) -> None:
    for score in result.scores:
        if score.value is None:
            if not score.why:
                raise WrongError(f"{score.metric} is undefined, and nothing says why")
        elif not (score.value <= 1 and (score.value >= 0 or score.metric == "SlotAccuracy")):
            raise WrongError(f"{score.metric} is {score.value}")


def as_scored(result: dsteval.Result) -> list[Any]:
    return [result.coverage.to_dict(), [(s.metric, s.value, s.count, s.total, s.signature) for s in result.scores]]


def compare(result: dsteval.Result, expected: dict[str, float]) -> None:
    """The result has the oracle's figures."""
    coverage = result.coverage
    found = {score.metric: math.nan if score.value is None else score.value for score in result.scores}
    found |= {"dialogues": coverage.scored_dialogues, "turns": coverage.scored_turns}
    for name, value in found.items():
        if not (math.isnan(value) and math.isnan(expected[name])) and not abs(value - expected[name]) <= 1e-12:
            raise WrongError(f"{name} is {value}, by a careful parse {expected[name]}")


def expected_of(source: Source, data: bytes, sample: Sample, place: str) -> dict[str, float] | None:
    """The oracle's figures, None where it has none. Raises Odd for what must not be read."""
    own = careful.READERS.get(readers.detect(source).reader.name)
    whole = careful.READERS.get(sample.reader)
    if own is None or whole is None:
        return None
    try:
        read, other = own(data), whole(sample.data[1])
        if place == "own":
            return careful.scores(read, read)
        return careful.scores(other, read) if place == "pred" else careful.scores(read, other)
    except careful.UnknownShapeError:
        return None


def attempt(rng: random.Random, sample: Sample, name: str, data: bytes) -> str:
    """One try; what came of it. Raises WrongError, or whatever else escapes."""
    source = Source(name, File(name, data))
    whole = Source(sample.data[0], File(*sample.data))
    place = rng.choice(["own", "own", "pred", "ref"] if sample.both else ["pred", "pred", "ref"])
    settings: dict[str, Any] = {}
    if plain := rng.random() < 0.6:
        protocol = "exact"
    else:
        protocol = rng.choice(PROTOCOLS)
        if rng.random() < 0.5:
            settings |= {"missing": rng.choice(["empty", "skip"]), "extra": "ignore"}
        if rng.random() < 0.2:
            settings["updates"] = True
        if rng.random() < 0.2:
            settings["format"] = rng.choice(readers.names())
        if rng.random() < 0.2:
            settings |= {"by": [rng.choice(["domain", "service", "slot", "turn", "dialogue", "length"])]}
        if rng.random() < 0.1:
            settings["changes"] = True
    if sample.reader == "trippy-bits":
        protocol = "fga-trippy" if rng.random() < 0.9 else protocol
    ref, pred = {"own": (None, source), "pred": (whole, source), "ref": (source, whole)}[place]
    result = dsteval.evaluate(ref, pred, metrics=METRICS, protocol=protocol, **settings)
    in_range(result)
    str(result)
    try:
        expected = expected_of(source, data, sample, place) if plain and protocol == "exact" else None
    except careful.OddError as odd:
        raise WrongError(f"read and scored, though a careful parse refuses it: {odd}") from None
    if expected is not None:
        compare(result, expected)
        return "as the oracle"
    again = dsteval.evaluate(ref, pred, metrics=METRICS, protocol=protocol, **settings)
    if as_scored(again) != as_scored(result):
        raise WrongError("another result the second time")
    return "scored"


def looked_at(rng: random.Random, name: str, data: bytes, reader: str) -> str:
    """Reading, validating and converting instead of scoring: what is converted reads back as it was."""
    source = Source(name, File(name, data))
    if rng.random() < 0.3:
        validate(source, protocol=rng.choice(PROTOCOLS))
        return "validated"
    forced = rng.choice(readers.names()) if rng.random() < 0.3 else None
    dialogues = list(readers.read(source, "pred", forced))
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    if not turns:
        return "read"
    one = all(turn.ref is None and turn.ref_frames is None and turn.correctness is None for turn in turns)
    text = b"".join(lines(dialogues, "pred" if one else None))
    back = list(readers.read(Source("back.jsonl", File("back.jsonl", text)), "pred"))
    if [(d.id, d.turns) for d in back] != [(d.id, d.turns) for d in dialogues if d.turns]:
        raise WrongError("converted, it reads back otherwise")
    return "converted"


def one_try(rng: random.Random) -> tuple[str, bytes]:
    sample, name, data = rng.choice(FILES)
    data = broken(rng, data)
    try:
        if rng.random() < 0.15:
            return looked_at(rng, name, data, sample.reader), data
        return attempt(rng, sample, name, data), data
    except DstevalError as error:
        told(error)
        return "refused", data


def where(error: BaseException) -> str:
    """The kind of a failure: the exception and the last line of ours that it came through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "dsteval" in f.filename]
    last = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = re.sub(r"[\d.]+", "N", str(error))[:90] if isinstance(error, WrongError) else ""
    return f"{type(error).__name__} {last} {text}"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_broken_files(shard: int) -> None:
    came: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for number in range(TRIES // SHARDS):
        rng = random.Random(f"{SEED} {shard} {number}")
        state = rng.getstate()
        try:
            came[one_try(rng)[0]] += 1
        except Exception as error:
            rng.setstate(state)
            sample, _, data = rng.choice(FILES)
            kind = where(error)
            came[kind] += 1
            wrong.setdefault(
                kind, f"{SEED} {shard} {number}, {sample}: {error!r:.300}\n      {broken(rng, data)!r:.600}"
            )
    print("\n".join(f"{count:8} {kind}" for kind, count in came.most_common()))
    assert not wrong, "\n".join(f"{came[kind]} x {kind}\n   {example}" for kind, example in wrong.items())
    assert {"refused", "as the oracle", "scored", "converted"} <= came.keys()


@pytest.mark.parametrize("shard", range(2))
def test_broken_files_on_the_command_line(shard: int, tmp_path: Path) -> None:
    for number in range(max(30, TRIES // 400)):
        rng = random.Random(f"{SEED} command {shard} {number}")
        sample, name, data = rng.choice(FILES)
        packed = data = broken(rng, data)
        kind = rng.randrange(4)
        if kind == 1:
            packed = gzip.compress(data)
        elif kind == 2:
            memory = io.BytesIO()
            with zipfile.ZipFile(memory, "w", rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])) as archive:
                archive.writestr(name, data)
            packed = memory.getvalue()
        if kind and rng.random() < 0.6:
            packed = flip(rng, packed)
        place, target = written(tmp_path / name, packed), tmp_path / "out.jsonl"
        what = rng.choice(["score", "score with --ref", "validate", "convert", "explain", "spread", "compare"])
        more: dict[str, list[str | Path]] = {"score with --ref": ["--ref", sample.place], "convert": [target]}
        more["compare"] = [sample.place, "--ref", sample.place, "--resamples", "50"]
        more["explain"] = ["--worst", "2"]
        arguments = [what.split()[0], place, *more.get(what, [])]
        try:
            ran = run(*arguments)
        except Exception as error:
            raise AssertionError(f"{SEED} {shard} {number}, {what}: {error!r}; {packed!r:.500}") from error
        assert ran.code in (0, 1), (number, ran)
        assert target.exists() == (ran.code == 0 and what == "convert"), (number, ran)
        assert not LEAK.search(ran.err), (number, ran)
        assert all(character == "\n" or character.isprintable() for character in ran.err), (number, ran)
        if ran.code == 1:
            assert "dsteval: " in ran.err, (number, ran)
            assert ran.out == "", (number, ran)
        target.unlink(missing_ok=True)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        place.unlink()
