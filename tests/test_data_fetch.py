"""Fetching over a real connection: what comes, what breaks, what is resumed, verified and refused."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data_site import PREFIX, TINY, ZIP, Site, blob, partial_of, place, run, serving, tiny
from dsteval.data import fetch as fetching
from dsteval.data import limits
from dsteval.data.fetch import blob_id, fetch, resolve
from dsteval.errors import FetchError, OptionError


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    with serving(monkeypatch, tmp_path) as site:
        yield site


def begun(tmp_path: Path, data: bytes) -> Path:
    path = partial_of(place(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_fetches_once(served: Site, tmp_path: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    folder = fetch("tiny", progress=lambda *step: steps.append(step))
    assert folder == place(tmp_path).parent
    assert place(tmp_path).read_bytes() == TINY
    assert not partial_of(place(tmp_path)).exists()
    assert steps[-1] == ("tiny.zip", len(TINY), len(TINY))
    fetch("tiny")
    fetch("TINY", "val")
    assert served.requests == [(ZIP, None)]


def test_a_catalogue_may_be_given(served: Site, tmp_path: Path) -> None:
    served.files[ZIP] = b"PK other"
    fetch("tiny", catalogue=tiny(b"PK other"))
    assert place(tmp_path).read_bytes() == b"PK other"


def test_cached_needs_no_server(served: Site, tmp_path: Path) -> None:
    fetch("tiny")
    served.close()
    assert resolve("tiny/test") == place(tmp_path) / "test"


def test_resumes_where_the_connection_broke(served: Site, tmp_path: Path) -> None:
    served.modes = ["cut", "cut"]
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY
    half = len(TINY) // 2
    assert served.ranges == [None, f"bytes={half}-", f"bytes={half + (len(TINY) - half) // 2}-"]


def test_truncated_is_kept_said_and_gone_on_from(served: Site, tmp_path: Path) -> None:
    served.modes = ["cut whole"] * fetching.TRIES
    half = len(TINY) // 2
    with pytest.raises(FetchError) as told:
        fetch("tiny")
    message = str(told.value)
    assert message.startswith(
        f"tiny: the download of {served.url}{ZIP} was interrupted ({half} of {len(TINY)} bytes received)."
    )
    assert f"{half} bytes are kept: run the command again" in message
    assert str(place(tmp_path)) in message
    assert partial_of(place(tmp_path)).read_bytes() == TINY[:half]
    assert not place(tmp_path).exists()
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY
    assert served.ranges[-1] == f"bytes={half}-"


def test_server_without_range(served: Site, tmp_path: Path) -> None:
    begun(tmp_path, b"something that is not the beginning")
    served.modes = ["whole"]
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY


@pytest.mark.parametrize("mode", ["elsewhere", "endless"])
def test_odd_answers_to_range(served: Site, tmp_path: Path, mode: str) -> None:
    begun(tmp_path, TINY[:10])
    served.modes = [mode]
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY


def test_partial_that_is_complete_is_not_loaded_again(served: Site, tmp_path: Path) -> None:
    begun(tmp_path, TINY)
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY
    assert served.ranges == [f"bytes={len(TINY)}-"]


def test_partial_that_is_too_long_is_started_over(served: Site, tmp_path: Path) -> None:
    begun(tmp_path, TINY + b"more")
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY
    assert served.ranges == [f"bytes={len(TINY) + 4}-", None]


def test_partial_of_another_file_is_found_out_and_deleted(served: Site, tmp_path: Path) -> None:
    partial = begun(tmp_path, b"another file")
    with pytest.raises(FetchError, match="expected the git blob"):
        fetch("tiny")
    assert not partial.exists()
    fetch("tiny")
    assert place(tmp_path).read_bytes() == TINY


def test_wrong_content(served: Site, tmp_path: Path) -> None:
    served.files[ZIP] = other = b"<html>log in to the network first</html>"
    with pytest.raises(FetchError) as told:
        fetch("tiny")
    assert f"expected the git blob {blob(TINY)}, found {blob(other)}, which was deleted." in str(told.value)
    assert f"{served.url}{ZIP}" in str(told.value)
    assert not partial_of(place(tmp_path)).exists()
    assert not place(tmp_path).exists()


def test_not_found(served: Site, tmp_path: Path) -> None:
    del served.files[ZIP]
    with pytest.raises(FetchError) as told:
        fetch("tiny")
    assert f"tiny: expected a file at {served.url}{ZIP}, found HTTP 404 Not Found." in str(told.value)
    assert f"put a copy of the file at {place(tmp_path)}." in str(told.value)
    assert len(served.requests) == 1


def test_server_error_is_tried_again(served: Site, tmp_path: Path) -> None:
    served.modes = [503, 500]
    fetch("tiny")
    assert place(tmp_path).exists()


def test_server_error_that_stays(served: Site) -> None:
    served.modes = [500] * 10
    with pytest.raises(FetchError, match=r"found HTTP 500 Internal Server Error\. Try again later, "):
        fetch("tiny")
    assert len(served.requests) == fetching.TRIES


def test_server_down(served: Site, tmp_path: Path) -> None:
    served.close()
    with pytest.raises(FetchError) as told:
        fetch("tiny")
    message = str(told.value)
    assert message.startswith(f"tiny: {served.url}{ZIP} cannot be reached (Connection refused).")
    assert f"or put a copy of the file at {place(tmp_path)}." in message
    assert message.count("\n") == 0


def test_no_such_host_is_told_at_once(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def offline(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", offline)
    monkeypatch.setenv("DSTEVAL_DATA_URL", "https://mirror.invalid/data/")
    with pytest.raises(
        FetchError, match=r"https://mirror\.invalid/data/maker/tiny/.* cannot be reached \(Name or"
    ):
        fetch("tiny")
    assert len(asked) == 1


def test_silence_is_timed_out(served: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT", 0.1)
    served.modes = ["stall"]
    fetch("tiny")
    assert place(tmp_path).exists()


def test_two_at_once(served: Site, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: fetch("tiny"), range(4)))) == 1
    assert place(tmp_path).read_bytes() == TINY
    assert len(served.requests) == 1


def test_waits_for_another_process(served: Site, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    lock = place(tmp_path).parent / ".lock"
    lock.parent.mkdir(parents=True)
    held = "import fcntl, sys; f = open(sys.argv[1], 'ab'); fcntl.flock(f, 2); print(1, flush=True); input()"
    with (
        subprocess.Popen(
            [sys.executable, "-c", held, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        fetched = pool.submit(fetch, "tiny")
        time.sleep(0.1)
        assert not served.requests
        place(tmp_path).write_bytes(TINY)  # the other has brought it meanwhile
        other.stdin.write("\n")
        other.stdin.close()
        fetched.result(5)
    assert not served.requests


def test_copy_by_hand(served: Site, tmp_path: Path) -> None:
    place(tmp_path).parent.mkdir(parents=True)
    place(tmp_path).write_bytes(TINY)
    fetch("tiny")
    place(tmp_path).write_bytes(b"PK another")
    with pytest.raises(FetchError) as told:
        fetch("tiny")
    assert f"{place(tmp_path)}: expected the git blob {blob(TINY)}, found {blob(b'PK another')}." in str(
        told.value
    )
    assert served.requests == []


def test_blob_id_is_gits(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert blob_id(tmp_path / "empty") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_cache_that_cannot_be_written(served: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DSTEVAL_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        FetchError, match=r"expected a writable place, found .*Set DSTEVAL_CACHE to another folder"
    ):
        fetch("tiny")
    assert served.requests == []


def test_full_disk_is_no_broken_connection(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    opened = Path.open

    def full(path: Path, *arguments: Any, **options: Any) -> Any:
        return opened(Path("/dev/full") if path.suffix == ".partial" else path, *arguments, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(FetchError, match="expected a writable place, found No space left on device"):
        fetch("tiny")
    assert len(served.requests) == 1


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_planted_link_is_not_written_through(served: Site, tmp_path: Path, link: Any) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    begun(tmp_path, b"").unlink()
    link(partial_of(place(tmp_path)), target)
    fetch("tiny")
    assert target.read_text() == "kept"
    assert place(tmp_path).is_file()


@pytest.mark.parametrize("mode", ["", "endless"])
def test_a_server_that_sends_without_end(
    served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr("dsteval.data.limits.MOST_BYTES", 3)
    served.modes = [mode]
    with pytest.raises(FetchError, match=r"expected a file of at most .*, found more than"):
        fetch("tiny")
    assert not [path for path in place(tmp_path).parent.iterdir() if path.name != ".lock"]
    assert len(served.requests) == 1


def test_a_server_that_sends_hardly_anything(
    served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsteval.data.limits.SLOWEST", 10**12)
    monkeypatch.setattr("dsteval.data.limits.beyond", partial(_at_once, limits.beyond))
    begun(tmp_path, TINY[:-5])  # what came before does not count
    with pytest.raises(FetchError, match="bytes per second or more, found 5 bytes in 61 seconds"):
        fetch("tiny")
    assert not [path for path in place(tmp_path).parent.iterdir() if path.name != ".lock"]


def _at_once(beyond: Callable[[int, int, float], str], size: int, come: int, seconds: float) -> str:
    return beyond(size, come, seconds + 61 if come else 0.0)


def test_a_server_that_never_answers_whole(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsteval.data.limits.PATIENCE", 0.05)
    served.modes = ["stall"] * 4
    with pytest.raises(FetchError, match=r"cannot be reached \(no answer in 0.05 seconds\)"):
        fetch("tiny")


def test_folder_in_the_way(served: Site, tmp_path: Path) -> None:
    place(tmp_path).mkdir(parents=True)
    with pytest.raises(FetchError, match="expected a writable place, found Is a directory"):
        fetch("tiny")


def test_mirror_has_to_be_http(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSTEVAL_DATA_URL", "ftp://mirror.invalid")
    with pytest.raises(OptionError, match="DSTEVAL_DATA_URL: expected an http or https address, found 'ftp:"):
        fetch("tiny")


class TestWithoutChecksum:
    @pytest.fixture(autouse=True)
    def parts(self, served: Site) -> None:
        for path in ("dev/dialogues_001.json", "dev/dialogues_002.json", "test/dialogues_001.json"):
            served.files[PREFIX + path] = b'[{"dialogue_id": "A", "turns": []}]'

    def test_only_the_split_is_fetched(self, served: Site, tmp_path: Path) -> None:
        assert resolve("parts/val") == place(tmp_path, "parts", "dev")
        assert [path for path, _ in served.requests] == [f"{PREFIX}dev/dialogues_00{n}.json" for n in (1, 2)]

    def test_json_has_to_be_whole(self, served: Site, tmp_path: Path) -> None:
        served.files[f"{PREFIX}test/dialogues_001.json"] = b"<html>log in first</html>"
        with pytest.raises(FetchError, match=r"expected JSON, found invalid JSON \(.*\), which was deleted"):
            fetch("parts", "test")
        assert not any(place(tmp_path, "parts", "test").iterdir())

    @pytest.mark.parametrize(
        "told",
        [
            '{"error": "log in"}',
            '{"error": {"code": 403}}',
            "{}",
            "[]",
            "[[]]",
            '[{"error": {}}]',
            '[{"dialogue_id": "A"}, {"error": 1}]',
        ],
    )
    def test_json_has_to_be_data(self, served: Site, tmp_path: Path, told: str) -> None:
        served.files[f"{PREFIX}test/dialogues_001.json"] = told.encode()
        with pytest.raises(FetchError, match=r"expected a list of dialogues or services, found other JSON"):
            fetch("parts", "test")
        assert not any(place(tmp_path, "parts", "test").iterdir())

    def test_said_by_fetch(self, tmp_path: Path) -> None:
        done = run("data", "fetch", "parts", "parts/test")
        assert done.stdout.splitlines() == [str(place(tmp_path, "parts", "x").parent)] * 2
        assert done.stderr.splitlines() == [
            "parts: 3 of 3 files not verified: no checksum is known",
            "parts/test: 1 of 1 files not verified: no checksum is known",
        ]

    def test_the_name_alone_is_not_enough_to_open(self, served: Site) -> None:
        with pytest.raises(OptionError, match=r"needs a split\. Write parts/dev or parts/test"):
            resolve("parts")
        assert served.requests == []

    def test_interrupted_data_set_goes_on(self, served: Site, tmp_path: Path) -> None:
        served.modes = ["", 404]
        with pytest.raises(FetchError):
            fetch("parts", "dev")
        fetch("parts", "dev")
        assert [path[-8:] for path, _ in served.requests] == ["001.json", "002.json", "002.json"]
