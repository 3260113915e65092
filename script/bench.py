"""Times dsteval against its yardsticks and prints the ratios; exit code 1 where one is over its limit.

start     dsteval --help and --version against importing click
score     7368 turns, all metrics, end to end, against the naive scorer on the same file
compare   1,000 paired resamples of two saved results of 7368 turns, all default metrics, whole command, against
          the naive scorer on one of them
large     100,000 dialogues (739k turns) against the FGA paper's rule as a plain loop (script/peers.py), time and
          memory: FGA JSON and our JSONL, one process and two
slices    the same by domain and slot against without
lineage   the errors of 100,000 dialogues, and the three metrics of errors, against scoring the dialogues
huge      a million dialogues of our JSONL, memory alone; only when it is asked for, since it takes minutes

Each pair runs in turn, A B A B, whole processes, but for ``lineage``, of which both parts are timed in one; the
ratio is the median over the pairs. Arguments choose among them; without any, all but ``huge`` run. ``--json PATH``
writes the figures to a file as well, with versions and the machine.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from generate import generate

PYTHON = sys.executable
DSTEVAL = str(Path(PYTHON).with_name("dsteval"))
NAIVE = [PYTHON, "tests/naive.py"]
PEER = [PYTHON, "script/peers.py"]
TABLE_1 = ["JGA", "TurnMatch", "SlotAccuracy", "AGA", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1", "SlotF1"]
FIGURES: list[dict[str, object]] = []
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
    FIGURES.append({"name": name, "ours": medians[0], "theirs": medians[1], "unit": unit, "ratio": ratio})
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


def plain(path: Path, *more: str) -> list[str]:
    """The command that scores a file with Table 1's metrics and slot F1, without intervals."""
    chosen = [part for metric in TABLE_1 for part in ("--metric", metric)]
    return [DSTEVAL, "score", str(path), "--no-ci", *chosen, *more]


def as_lines(path: Path, lines: Path, copies: int = 1) -> None:
    """Write FGA JSON as our JSONL, several times with other ids."""
    dialogues = json.loads(path.read_bytes())
    with lines.open("w") as file:
        for copy in range(copies):
            for name, turns in dialogues.items():
                for number, turn in turns.items():
                    record = {"dialogue_id": f"{copy}{name}", "turn_id": int(number)}
                    file.write(json.dumps({**record, "ref": turn["gt"], "pred": turn["pr"]}) + "\n")


def in_its_own_process(path: Path, lines: Path, copies: int = 1) -> None:
    """The same, so that the memory it takes is not counted as that of the processes that are timed."""
    subprocess.run([PYTHON, __file__, "as-lines", str(path), str(lines), str(copies)], check=True)


def large(path: Path, lines: Path) -> bool:
    """Time 100,000 dialogues in both forms against the plain loop."""
    official, peer = ("--protocol", "fga-official"), [*PEER, str(path)]
    ok = pair("JSON fga-official / loop", plain(path, *official), peer, 3, (0.80, 0.33))
    ok &= pair("  with 2 workers", plain(path, *official, "--workers", "2"), peer, 3, (0.50, None))
    ok &= pair("JSON exact / loop", plain(path), peer, 3, (0.80, 0.33))
    ok &= pair("JSONL fga-official / loop", plain(lines, *official), peer, 3, (0.80, 0.15))
    return ok & pair("  with 2 workers", plain(lines, *official, "--workers", "2"), peer, 3, (0.50, None))


def machine() -> dict[str, object]:
    """What the figures were seen on."""
    packages = ("dsteval", "numpy", "msgspec", "click")
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        **{name: version(name) for name in packages},
    }


def main(arguments: list[str]) -> int:
    """Run the benchmarks that are asked for."""
    out = Path(arguments.pop(arguments.index("--json") + 1)).absolute() if "--json" in arguments else None
    chosen = [name for name in arguments if name != "--json"] or [
        *("start", "score", "compare", "large", "slices", "lineage")
    ]
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
            path, lines = Path(folder) / "large.json", Path(folder) / "large.jsonl"
            generate(100_000, path)
            in_its_own_process(path, lines)
            ok &= large(path, lines)
        if "slices" in chosen:
            path = Path(folder) / "large.json"
            generate(100_000, path)
            by = ("--by", "domain", "--by", "slot")
            ok &= pair("by domain and slot / without", plain(path, *by), plain(path), 3, (2.4, None))
        if "huge" in chosen:
            path, lines = Path(folder) / "large.json", Path(folder) / "huge.jsonl"
            generate(100_000, path)
            in_its_own_process(path, lines, copies=10)
            peak = run(plain(lines))[1]
            ok &= told("JSONL, 1M dialogues", (peak, 250.0), "MiB", peak / 250, 1.0)
        if "lineage" in chosen:
            path = Path(folder) / "large.json"
            turns = generate(100_000, path)
            ok &= follow(path, turns)
    if out is not None:
        out.write_text(json.dumps({"machine": machine(), "figures": FIGURES}, indent=1) + "\n")
    return 0 if ok else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["as-lines"]:
        as_lines(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
        sys.exit()
    sys.exit(main(sys.argv[1:]))
