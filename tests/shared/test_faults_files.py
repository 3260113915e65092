"""Attempts to break the program: each ends as a result that is right, or as one sentence with exit code 1."""

import gzip
import json
import os
import pty
import re
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commandline import COMMAND, Ran, process, refusal, run
from shared.figures import SCORE, Folder, plain

pytestmark = pytest.mark.shared


def table(*arguments: str | Path) -> dict[str, float]:
    ran = run(*arguments, "--as", "json")
    assert ran.code == 0, ran.err
    scores = json.loads(ran.out)["systems"][0]["scores"]
    return {score["metric"]: round(100 * score["value"], 2) for score in scores}


def test_saved_results_keep_their_scores(folder: Folder) -> None:
    folder("brk-01-saved-perfect-fga-200")
    metrics = ["--metric", "JGA", "--metric", "FGA@0.5", "--no-ci"]
    saved = ["score", "both.jsonl", *metrics, "-o", "new.json"]
    assert run(*saved).code == 0
    assert (
        table("score", "new.json", "--no-ci")["FGA@0.5"] == table("score", "both.jsonl", *metrics)["FGA@0.5"] == 50
    )
    against = [
        "compare",
        "both.jsonl",
        "--against",
        "new.json",
        "--metric",
        "FGA@0.5",
        "--fail-below",
        "FGA@0.5=-1.0",
    ]
    assert run(*against).code == 0
    assert "Traceback" not in run("score", "saved.json", "--no-ci").err
    assert run("score", "zero.jsonl", "--metric", "JGA", "-o", "z.json").code == 0
    assert table("score", "z.json") == {"JGA": 0}


def test_saved_results_edited_by_hand_are_refused(folder: Folder) -> None:
    place = folder("brk-01-saved-perfect-fga-200")
    assert run("score", "both.jsonl", "--metric", "JGA", "-o", "new.json").code == 0
    text = (place / "new.json").read_text()
    edited = re.sub(r'("value": )0?\.?\d+\.?\d*', r"\g<1>0.99", text, count=1)
    assert edited != text
    (place / "new.json").write_text(edited)
    refusal(run("score", "new.json", "--no-ci"))


def test_merge_keeps_or_refuses_what_differs(folder: Folder) -> None:
    place = folder("brk-02-merge-loses-signature")
    skip = ["--ref", "ref.jsonl", "--missing", "skip", *SCORE]
    made = {
        "a.json": ["p1.jsonl", *skip],
        "b.json": ["p2.jsonl", *skip],
        "u.json": ["p2u.jsonl", *skip, "--updates"],
    }
    for out, arguments in made.items():
        ran = run("score", *arguments, "-o", out)
        if ran.code:
            pytest.fail(f"{out}: {ran.err}")
    merged = run("score", "--merge", "m", "a.json", "b.json", "--no-ci")
    turned = run("score", "--merge", "m", "b.json", "a.json", "--no-ci")
    assert merged.code == turned.code
    if merged.code == 0:
        assert ("forced:" in merged.out) == ("forced:" in turned.out)
    for order in (["a.json", "u.json"], ["u.json", "a.json"]):
        ran = run("score", "--merge", "m", *order, "--no-ci")
        assert ran.code == 1 or "input:updates" in ran.out
    for number, variants in ((1, "v1.json"), (2, "v2.json")):
        options = ["--protocol", "trippy", "--variants", variants]
        run(
            "score",
            f"p{number}.jsonl",
            "--ref",
            "ref.jsonl",
            "--missing",
            "skip",
            *SCORE,
            *options,
            "-o",
            f"t{number}.json",
        )
    if (place / "t1.json").exists():
        refusal(run("score", "--merge", "m", "t1.json", "t2.json", "--no-ci"))


def test_ratings_with_line_separators(folder: Folder) -> None:
    folder("brk-03-ratings-u2028-bricks-store")
    assert "2 ratings" in plain(run("rate", "import", "ls.csv", "--into", "kept.jsonl"), 0)
    assert "1 rating" in plain(run("rate", "import", "z=c.csv", "--into", "kept.jsonl"), 0)
    plain(run("rate", "agree", "kept.jsonl"), 0)


@pytest.mark.parametrize("source", ["a=comma.csv", "a=twocol.csv", "dupkey.jsonl", "a=unq2.csv", "lst2.jsonl"])
def test_ratings_in_files_that_are_broken(folder: Folder, source: str) -> None:
    place = folder("brk-04-ratings-silent")
    refusal(run("rate", "import", source, "--into", "new.jsonl"))
    assert not (place / "new.jsonl").exists()


@pytest.mark.parametrize("key", ["short", "quote", "long", "dup", "missing", "empty"])
def test_keys_of_ratings(folder: Folder, key: str) -> None:
    place = folder("brk-06-rate-key-tracebacks")
    lines = [
        {
            "dialogue_id": f"item-{n:03}",
            "turn_id": turn,
            "ref": {"a-b": "c"},
            "pred": {"a-b": "c" if n % 3 > turn else "d"},
        }
        for n in range(1, 26)
        for turn in range(3)
    ]
    (place / "it.jsonl").write_text("\n".join(map(json.dumps, lines)))
    correlate = ["rate", "correlate", "it.jsonl", "--ratings", "a=rat.csv", "--key"]
    assert run(*correlate, "key.csv").code == 0
    if key == "missing":
        (place / "rat.csv").write_text((place / "rat.csv").read_text() + "item-025,1\n")
    ran = run(*correlate, f"key_{key}.csv")
    plain(ran)


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "arguments",
    [
        "score se/reference.jsonl --ref se/reference.jsonl --schema deep.json --protocol sgd",
        "score deep.json",
        "score se/reference.jsonl --ref deep.json",
        "score se/reference.jsonl --ref se/reference.jsonl --slots deep.json",
        "score se/reference.jsonl --ref se/reference.jsonl --train-schema deep.json",
        "score se/reference.jsonl --ref se/reference.jsonl --variants deep.json --protocol trippy",
        "score se/reference.jsonl --ref se/reference.jsonl --ontology deep.json --protocol icdst",
        "score se/reference.jsonl --ref se/reference.jsonl --protocol deep.toml",
        "compare se/reference.jsonl --ref se/reference.jsonl --against deep.json",
        "rate import deep.jsonl --into store.jsonl",
        "rate agree deep.jsonl",
        "validate deep.json",
        "convert deep.json out.jsonl",
    ],
)
def test_deep_json(folder: Folder, arguments: str) -> None:
    place = folder("brk-08-deep-json-tracebacks")
    for name in ("deep.json", "deep.jsonl"):
        (place / name).write_text(DEEP)
    (place / "deep.toml").write_text(f"name = {DEEP}")
    plain(process(*arguments.split()))


@pytest.mark.parametrize("form", ["text", "json", "csv", "md", "latex"])
def test_names_that_are_not_utf8(folder: Folder, shared: Path, tmp_path: Path, form: str) -> None:
    folder("brk-09-surrogate-names")
    data = (shared / "faults" / "brk-01-saved-perfect-fga-200/both.jsonl").read_bytes()
    Path(os.fsdecode(b"p\xff.jsonl")).write_bytes(data)
    done = subprocess.run([*COMMAND, "score", b"p\xff.jsonl", "--as", form], capture_output=True)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    done.stdout.decode()
    outputs: list[str | bytes] = ["-o", b"o\xff.json"]
    assert subprocess.run([*COMMAND, "score", b"p\xff.jsonl", *outputs], capture_output=True).returncode == 0
    assert Path(os.fsdecode(b"o\xff.json")).exists()


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp437"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "{}", "--ref", "{}"],
        ["compare", "a={}", "b={}", "--ref", "{}"],
        ["explain", "{}", "DEMO01", "--ref", "{}"],
        ["track", "{}", "--out", "out.jsonl"],
        ["--help"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_terminals_that_are_not_utf8(
    folder: Folder, shared: Path, environment: dict[str, str], arguments: list[str]
) -> None:
    folder("brk-10-tty-not-utf8")
    place = shared / "faults/brk-25-small-tracebacks/reference.jsonl"
    master, slave = pty.openpty()
    done = subprocess.Popen(
        [*COMMAND, *(part.format(place) for part in arguments)],
        stdin=slave, stdout=slave, stderr=slave, env={**os.environ, **environment},
    )  # fmt: skip
    os.close(slave)
    written = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        written += block
    os.close(master)
    assert done.wait() == 0, written
    assert b"Traceback" not in written


def test_damaged_and_huge_archives(folder: Folder) -> None:
    place = folder("brk-11-memory-tracebacks")
    refusal(process("score", "lzma_bad.zip"))
    with gzip.open(place / "bomb.jsonl.gz", "wb", compresslevel=9) as file:
        line = b'{"dialogue_id": "D", "turn_id": 0, "ref": {}, "pred": {"hotel-area": "' + b"x" * (1 << 24)
        file.write(line)
        for _ in range(200):
            file.write(b"x" * (1 << 24))
    limited = ["bash", "-c", 'ulimit -v 2500000; exec "$0" "$@"', *COMMAND, "score", "bomb.jsonl.gz"]
    done = subprocess.run(limited, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    plain(Ran(done.returncode, done.stdout, done.stderr))
    plain(process("score", "bomb.jsonl.gz", "--resamples", "1000000000"))


def test_injection(folder: Folder) -> None:
    folder("brk-19-terminal-and-latex-injection")
    latex = plain(run("score", "x\n\\input{evil}=tex.jsonl", "--as", "latex", "--no-ci"), 0)
    assert not re.search(r"^\\input", latex, re.MULTILINE)
    for form in ("text", "md", "latex", "csv"):
        for extra in ([], ["--by", "slot"]):
            assert "\x1b" not in plain(run("score", "esc.jsonl", "--as", form, *extra), 0)
    assert "\x1b" not in plain(run("rate", "import", "a=esc.csv", "--into", "new.jsonl"))
    assert run("score", "csvi.jsonl", "--errors", "errors.csv").code == 0
    errors = Path("errors.csv").read_text()
    assert not re.search(r'(^|,)"?[=@]', errors, re.MULTILINE)


@pytest.mark.parametrize("name", ["u1.jsonl", "u2.jsonl"])
def test_updates_in_two_spellings(folder: Folder, name: str) -> None:
    folder("brk-20-updates-order")
    told = refusal(run("score", name, "--ref", "uref.json", "--updates", "--metric", "JGA"))
    assert "hotel-book day" in told
    assert "hotel-bookday" in told


class Portal(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"error": "please log in"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


def test_answers_that_are_no_data_are_not_kept(folder: Folder, tmp_path: Path) -> None:
    folder("brk-24-fetch")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Portal)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        cache = tmp_path / "cache"
        ran = process("data", "fetch", "sgd/dev", DSTEVAL_CACHE=str(cache), DSTEVAL_DATA_URL=address)
    finally:
        server.shutdown()
        server.server_close()
    plain(ran)
    assert [path for path in cache.rglob("*") if path.is_file() and b"log in" in path.read_bytes()] == []


PLAN = "rate plan pointer.jsonl --ref reference.jsonl --true-lambda 0.5 --repetitions 100"
SMALL: list[tuple[str, dict[str, str]]] = [
    ("rate export lid.jsonl lx", {}),
    ("rate correlate pointer.jsonl --ref reference.jsonl --ratings a=norat.csv --allow-missing", {}),
    ("score pointer.jsonl --ref reference.jsonl --protocol nodef.toml", {}),
    ("score pointer.jsonl --ref reference.jsonl --ci 0.9999999999999999 --interval bca", {}),
    ("rate plan --r1 0.6 --r2 0.2 --r12 0.5 --repetitions 100 --agreement 0 --raters 3", {}),
    (f"{PLAN} --noise -0", {}),
    (f"{PLAN} --bias -0", {}),
    (f"{PLAN} --raters 999999999999999999999", {}),
    ("score pointer.jsonl --ref reference.jsonl --resamples 1000000000", {}),
    ("list datasets", {"DSTEVAL_CACHE": "~nosuchuser/x"}),
    ("data fetch sgd/dev", {"DSTEVAL_DATA_URL": "http://[::"}),
    ("data fetch sgd/dev", {"DSTEVAL_DATA_URL": "http://127.0.0.1/ü"}),
    ("data fetch sgd/dev", {"DSTEVAL_DATA_URL": f"http://{'a' * 100}.b/"}),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "environment"), SMALL, ids=lambda value: str(value)[:70])
def test_small_tracebacks(folder: Folder, tmp_path: Path, arguments: str, environment: dict[str, str]) -> None:
    folder("brk-25-small-tracebacks")
    environment = {"DSTEVAL_CACHE": str(tmp_path / "cache"), **environment}
    ran = process(*arguments.split(), stdin=b"", **environment)
    assert ran.code in (0, 1, 2)
    assert "Traceback" not in ran.err, ran.err


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_full_device(option: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, option], stdout=full, stderr=subprocess.PIPE, text=True)
    plain(Ran(done.returncode, "", done.stderr))


def test_directory_that_is_gone(folder: Folder) -> None:
    place = folder("brk-25-small-tracebacks")
    (place / "g").mkdir()
    script = 'cd g && rmdir ../g && exec "$0" "$@"'
    done = subprocess.run(
        ["bash", "-c", script, *COMMAND, "track", place / "reference.jsonl", "--out", place / "x.jsonl"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr, done.stderr


def test_every_case_is_tried(shared: Path) -> None:
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_faults*.py"))
    cases = sorted(path.name for path in (shared / "faults").iterdir() if path.is_dir())
    assert [name for name in cases if f'"{name}"' not in text] == []
