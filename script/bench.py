"""Times dsteval against its yardsticks and prints the ratios; exit code 1 where one is over its limit.

start     dsteval --help and --version against importing click
score     7368 turns, all metrics, end to end, against the naive scorer on the same file
compare   1,000 paired resamples of two saved results of 7368 turns, all default metrics, whole command, against
          the naive scorer on one of them
large     100,000 dialogues (739k turns) against the naive scorer: time and memory
lineage   the errors of 100,000 dialogues, and the three metrics of errors, against scoring the dialogues

Each pair runs in turn, A B A B, whole processes, but for ``lineage``, of which both parts are timed in one; the
ratio is the median over the pairs. Arguments choose among them; without any, all run.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import generate

PYTHON = sys.executable
DSTEVAL = str(Path(PYTHON).with_name("dsteval"))
NAIVE = [PYTHON, "tests/naive.py"]
METRICS = [
    *("JGA", "TurnMatch", "SlotAccuracy", "AGA", "AGA(over=union)", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1"),
    *("SlotPrecision", "SlotRecall", "SlotF1", "TurnF1"),
]


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of one process."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def pair(name: str, ours: list[str], theirs: list[str], rounds: int, limits: tuple[float, float | None]) -> bool:
    """Run both in turn, print medians and ratios, and tell whether they are within their limits."""
    run(ours), run(theirs)
    a, b = zip(*((run(ours), run(theirs)) for _ in range(rounds)), strict=True)
    ok = True
    for unit, column, limit in (("s", 0, limits[0]), ("MiB", 1, limits[1])):
        if limit is None:
            continue
        ratio = statistics.median(x[column] / y[column] for x, y in zip(a, b, strict=True))
        ours_median, theirs_median = (statistics.median(row[column] for row in side) for side in (a, b))
        ok &= told(name, (ours_median, theirs_median), unit, ratio, limit)
    return ok


def told(name: str, medians: tuple[float, float], unit: str, ratio: float, limit: float) -> bool:
    """Print one row, and tell whether the ratio is within its limit."""
    verdict = "ok" if ratio <= limit else "OVER"
    figures = f"{medians[0]:9.2f} / {medians[1]:9.2f} {unit:<3}"
    print(f"{name:<28} {figures}  ratio {ratio:.2f}  limit {limit:.2f}  {verdict}", flush=True)
    return ratio <= limit


def follow(path: Path, turns: int) -> bool:
    """Time the scoring of a file, and then its errors and their metrics."""
    from dsteval import evaluate, metrics
    from dsteval.outcomes.lineage import lineage

    began = time.perf_counter()
    outcomes = evaluate(None, path, metrics=METRICS, ci=None).outcomes
    scored = time.perf_counter()
    assert outcomes is not None
    errors = len(lineage(outcomes))
    listed = time.perf_counter() - scored
    for name in ("OriginErrors", "RepairRate", "ErrorLifetime"):
        metrics.find(name).count(outcomes)
    counted = time.perf_counter() - scored
    scored -= began
    ok = told(f"lineage {errors} errors / score", (listed, scored), "s", listed / scored, 1.0)
    return told(f"their metrics, {turns} turns", (counted, scored), "s", counted / scored, 1.0) and ok


def score(path: Path) -> list[str]:
    """The command that scores a file with all metrics."""
    chosen = [part for metric in METRICS for part in ("--metric", metric)]
    return [DSTEVAL, "score", str(path), "--as", "json", *chosen]


def main(chosen: list[str]) -> int:
    """Run the benchmarks that are asked for."""
    os.chdir(Path(__file__).parent.parent)
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        if "start" in chosen:
            click = [PYTHON, "-c", "import click"]
            ok &= pair("start --help / click", [DSTEVAL, "--help"], click, 15, (1.5, None))
            ok &= pair("start --version / click", [DSTEVAL, "--version"], click, 15, (1.5, None))
        if "score" in chosen:
            path = Path(folder) / "test_set.json"
            turns = generate(2000, path, turns=7368)
            ok &= pair(f"score {turns} turns / naive", score(path), [*NAIVE, str(path)], 9, (1.0, None))
        if "compare" in chosen:
            path, saved = Path(folder) / "test_set.json", Path(folder) / "saved.json"
            turns = generate(2000, path, turns=7368)
            run([DSTEVAL, "score", str(path), "-o", str(saved)])
            ours = [DSTEVAL, "compare", f"a={saved}", f"b={saved}", "--as", "json"]
            ok &= pair(f"compare {turns} turns / naive", ours, [*NAIVE, str(path)], 9, (1.0, None))
        if "large" in chosen:
            path = Path(folder) / "large.json"
            turns = generate(100_000, path)
            ok &= pair(f"large {turns} turns / naive", score(path), [*NAIVE, str(path)], 1, (1 / 3, 0.5))
        if "lineage" in chosen:
            path = Path(folder) / "large.json"
            turns = generate(100_000, path)
            ok &= follow(path, turns)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["start", "score", "compare", "large", "lineage"]))
