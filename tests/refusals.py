"""Bad input, scored by the command line and from Python: both must refuse it, with the same sentence."""

from pathlib import Path
from typing import Any

import pytest

import dsteval
from commandline import refusal, run
from dsteval.errors import in_arguments

Content = str | bytes


def written(path: Path, content: Content) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(folder: Path, pred: Content, *parts: str, ref: Content | None = None, **options: Any) -> str:
    """The sentence with which ``pred.json`` (and ``ref.json``) is refused; it holds all of ``parts``."""
    pred_path = written(folder / "pred.json", pred)
    ref_path = None if ref is None else written(folder / "ref.json", ref)
    said = refusal(run("score", pred_path, *_flags(ref_path, options)))
    with pytest.raises(dsteval.DstevalError) as caught:
        dsteval.evaluate(ref_path, pred_path, **options)
    assert caught.value.command_line == said, said
    assert str(caught.value) == in_arguments(said)
    assert str(folder) not in said, said
    for part in parts:
        assert part in said, said
    return said


def accepted(folder: Path, pred: Content, ref: Content | None = None, **options: Any) -> dsteval.Result:
    """The result of ``pred.json``; the command line accepts it as well."""
    pred_path = written(folder / "pred.json", pred)
    ref_path = None if ref is None else written(folder / "ref.json", ref)
    ran = run("score", pred_path, *_flags(ref_path, options))
    assert ran.code == 0, ran
    return dsteval.evaluate(ref_path, pred_path, **options)


def _flags(ref: Path | None, options: dict[str, Any]) -> list[str]:
    flags = [] if ref is None else ["--ref", str(ref)]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            flag = {"metrics": "--metric", "settings": "--set"}.get(name, f"--{name.replace('_', '-')}")
            flags += [flag] if one is True else [flag, one]
    return flags
