"""Files that are there whole or not at all, and files that one process has at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from dsteval.files import lock, replacing


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / ("long" * 60)
    place.write_bytes(b"old")
    place.chmod(0o640)
    with replacing(place) as file:
        file.write(b"new")
        assert place.read_bytes() == b"old"
    assert place.read_bytes() == b"new"
    assert place.stat().st_mode & 0o777 == 0o640
    assert [*tmp_path.iterdir()] == [place]


def test_a_file_stays_as_it_was_where_writing_breaks_off(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"old")
    with pytest.raises(KeyError), replacing(place) as file:
        file.write(b"new")
        raise KeyError
    assert place.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [place]


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_a_lock_keeps_others_out_until_the_file_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    code = "import sys; from dsteval.files import lock; print(lock(open(sys.argv[1], 'ab'), wait=False))"

    def other() -> str:
        return subprocess.check_output([sys.executable, "-W", "ignore", "-c", code, str(place)], text=True)

    with place.open("ab") as file:
        assert lock(file, wait=True)
        assert other() == "False\n"
    assert other() == "True\n"
