"""What ``dsteval rate`` refuses of its options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dsteval.cli.path_checks import typed
from dsteval.errors import OptionError
from dsteval.rating.fitting import LambdaFit

__all__ = ["check_folds", "check_into", "check_planned", "check_split", "check_worst"]


def check_into(into: str) -> None:
    """Raise OptionError for a name from which nobody could tell what the file is."""
    if Path(into).suffix.casefold() not in (".jsonl", ".csv"):
        found = repr(Path(into).suffix)
        raise OptionError(where=f"--into {into}", expected="a name that ends in .jsonl or .csv", found=found)


def check_worst(worst: int) -> None:
    """Raise OptionError for less than no item."""
    if worst < 0:
        raise OptionError(where="--worst", expected="0 or more", found=str(worst))


def check_folds(folds: int, fit: bool) -> None:
    """Raise OptionError for folds that are none, or that nothing is cross-validated with."""
    if folds < 2:
        raise OptionError(where="--folds", expected="2 or more", found=str(folds))
    if typed("folds") and not fit:
        raise OptionError(where="--folds", expected="--fit, whose lambda is cross-validated", found="none")


def check_split(folds: int, found: LambdaFit | None) -> None:
    """Raise OptionError for more folds than there is to share out; the default is taken for as many as go."""
    if typed("folds") and found is not None and 0 < len(found.folds) < folds:
        expected = f"at most {len(found.folds)}, the conversations there are"
        raise OptionError(where="--folds", expected=expected, found=str(folds))


def check_planned(file: str | None, true_lambda: float | None, correlations: Sequence[float | None]) -> None:
    """Raise OptionError unless one study is described: by a FILE and its lambda, or by three correlations."""
    one = [value is not None for value in (file, true_lambda)]
    other = [value is not None for value in correlations]
    if (all(one) and not any(other)) or (all(other) and not any(one)):
        return
    found = "something of both" if any(one) and any(other) else "not all of either"
    expected = "--r1, --r2 and --r12, or a FILE with --true-lambda"
    raise OptionError(where="rate plan", expected=expected, found=found)
