"""A server on loopback for the tests of data sets, with a data set made here and the catalogue that names it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from commandline import runner
from dsteval.cli import cli
from dsteval.data import catalogue as catalog
from dsteval.data import fetch
from dsteval.data.catalogue import Catalogue

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PREFIX = f"/maker/tiny/{COMMIT}/"


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Site:
    """Serves ``files`` by path and keeps what was asked for.

    ``modes`` says how the next requests are answered: ``cut`` (half of what is left, then the connection closes),
    ``whole`` (Range ignored), ``cut whole``, ``elsewhere`` (another part than asked for), ``endless`` (no length),
    ``stall``, or a status. Without one left it answers well.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.modes: list[str | int] = []
        self.released = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append((self.path, self.headers.get("Range")))
                site.answer(self)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    @property
    def ranges(self) -> list[str | None]:
        return [wanted for _, wanted in self.requests]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        mode = self.modes.pop(0) if self.modes else ""
        data = self.files.get(handler.path)
        if data is None or isinstance(mode, int):
            handler.send_error(mode if isinstance(mode, int) else 404)
            return
        if mode == "stall":
            self.released.wait(5)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", "")) if "whole" not in mode else None
        start = int(wanted[1]) + (1 if mode == "elsewhere" else 0) if wanted else 0
        if wanted and start >= len(data):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(data)}")
            handler.end_headers()
            return
        handler.send_response(206 if wanted else 200)
        if wanted:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if mode != "endless":
            handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        part = data[start:]
        handler.wfile.write(part[: len(part) // 2] if "cut" in mode else part)

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


# Two turns a dialogue; the test list names A, the dev list B, so that C and D are train's.
AREAS = {"A.json": "north", "B.json": "south", "C.json": "east", "D.json": "west"}


def log(area: str) -> list[dict[str, Any]]:
    def state(stars: str) -> dict[str, Any]:
        return {"hotel": {"semi": {"area": area, "stars": stars}, "book": {"booked": [], "day": ""}}}

    return [
        {"text": f"a room in the {area}", "metadata": {}},
        {"text": "how many stars?", "metadata": state("")},
        {"text": "4", "metadata": {}},
        {"text": "booked", "metadata": state("4")},
    ]


def packed(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"TINY/{name.replace('_', '.')}", text)
    return buffer.getvalue()


DATA = json.dumps({name: {"goal": {}, "log": log(area)} for name, area in AREAS.items()})
TINY = packed(data_json=DATA, testListFile_json="A.json\n", valListFile_json="B.json")


def tiny(data: bytes = TINY, /, **changes: str) -> Catalogue:
    fields = {"path": "data/tiny.zip", "blob": blob(data)} | changes
    file = ", ".join(f'{key} = "{value}"' for key, value in fields.items())
    return catalog.parse(
        f"""
        [tiny]
        title = "Made for the tests"
        licence = "none"
        repository = "maker/tiny"
        commit = "{COMMIT}"
        root = "data"
        files = [{{ {file} }}]
        splits = {{ train = "tiny.zip/train", dev = "tiny.zip/dev", test = "tiny.zip/test" }}

        [parts]
        title = "A folder for each split, without checksums"
        licence = "none"
        repository = "maker/tiny"
        commit = "{COMMIT}"
        files = [{{ path = "dev/dialogues_###.json", last = 2 }}, {{ path = "test/dialogues_###.json", last = 1 }}]
        splits = {{ dev = "dev", test = "test" }}

        [unlisted]
        title = "Has its list files from tiny"
        licence = "none"
        repository = "maker/tiny"
        commit = "{COMMIT}"
        files = [{{ path = "unlisted.zip" }}]
        lists_of = "tiny"
        splits = {{ train = "train", dev = "dev", test = "test" }}
        """,
        "the tests' catalogue",
    )


ZIP = f"{PREFIX}data/tiny.zip"


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    """The site with the tiny data set, whose catalogue is the run's; an empty cache, and tmp_path to work in."""
    site = Site()
    mine = tiny()
    monkeypatch.setattr(catalog, "load", lambda: mine)
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    monkeypatch.setenv("DSTEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DSTEVAL_DATA_URL", site.url)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.chdir(tmp_path)
    site.files[ZIP] = TINY
    yield site
    site.close()


def place(tmp_path: Path, name: str = "tiny", file: str = "tiny.zip") -> Path:
    return tmp_path / "cache" / name / COMMIT[:12] / file


def partial_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial")


def run(*arguments: str) -> Result:
    return runner().invoke(cli, arguments, catch_exceptions=False)
