"""Data sets by name: what a name means, commands that take one, the catalogue, and where the cache lies."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data_site import AREAS, DATA, PREFIX, ZIP, Site, packed, place, run, serving, tiny
from dsteval.cli.options import FetchBar
from dsteval.data import catalogue as catalog
from dsteval.data.fetch import cache_folder, fetch, resolve
from dsteval.errors import OptionError, ReadError


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    with serving(monkeypatch, tmp_path) as site:
        yield site


class TestNames:
    def test_unknown_name(self, served: Site) -> None:
        with pytest.raises(OptionError) as told:
            fetch("tinny")
        assert str(told.value) == "Unknown data set 'tinny'. Did you mean 'tiny'? See: dsteval list datasets."

    @pytest.mark.parametrize(
        ("split", "said"), [("tset", "Did you mean 'test'?"), ("fold-3", "Known: train, dev, test.")]
    )
    def test_unknown_split(self, served: Site, split: str, said: str) -> None:
        calls: list[Callable[[], object]] = [lambda: fetch("tiny", split), lambda: resolve(f"tiny/{split}")]
        for call in calls:
            with pytest.raises(OptionError) as told:
                call()
            assert str(told.value).startswith(f"Unknown split of tiny {split!r}. {said}")
        assert served.requests == []

    @pytest.mark.parametrize(
        "text", ["pred.json", "-", "tiny.zip", "tiny/test/more", "tiny/*.json", "/tiny/test", ""]
    )
    def test_what_is_no_name(self, served: Site, text: str) -> None:
        assert resolve(text) is None
        assert served.requests == []

    @pytest.mark.parametrize("text", ["tiny/test", "tiny/train", "tiny"])
    def test_what_lies_there_wins(self, served: Site, tmp_path: Path, text: str) -> None:
        (tmp_path / "tiny").mkdir()
        (tmp_path / "tiny" / "test.json").write_text("{}")
        assert resolve(text) is None
        assert served.requests == []

    def test_whole_archive(self, served: Site, tmp_path: Path) -> None:
        assert resolve("tiny") == place(tmp_path)

    def test_paths_are_not_looked_up(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(catalog, "load", lambda: pytest.fail("the catalogue was read"))
        assert resolve(str(tmp_path)) is None


def test_lists_of_another_data_set(served: Site, tmp_path: Path) -> None:
    served.files[f"{PREFIX}unlisted.zip"] = packed(data_json=DATA, ontology_json="{}")
    opened = resolve("unlisted/test")
    assert opened == place(tmp_path, "unlisted", "test")
    assert [path for path, _ in served.requests] == [f"{PREFIX}unlisted.zip", ZIP]
    shown = json.loads(run("data", "describe", "unlisted", "unlisted/train", "--as", "json").stdout)["data"]
    assert [(one["name"], one["conversations"]) for one in shown] == [
        ("unlisted/train", 2),
        ("unlisted/dev", 1),
        ("unlisted/test", 1),
        ("unlisted/train", 2),
    ]
    assert len(served.requests) == 2


@pytest.fixture
def predictions(tmp_path: Path) -> Callable[..., str]:
    def write(*names: str) -> str:
        full = {name: [{"hotel": {"area": AREAS[name]}}, {"hotel": {"area": AREAS[name]}}] for name in names}
        (tmp_path / "pred.json").write_text(json.dumps(full))
        return "pred.json"

    return write


class TestCommands:
    @pytest.mark.parametrize(
        ("split", "names"), [("test", "A"), ("dev", "B"), ("val", "B"), ("train", "CD"), ("TEST", "A")]
    )
    def test_score_against_a_name(
        self, served: Site, predictions: Callable[..., str], split: str, names: str
    ) -> None:
        file = predictions(*(f"{name}.json" for name in names))
        done = run("score", file, "--ref", f"tiny/{split}", "--metric", "JGA", "--as", "json")
        assert done.exit_code == 0, done.stderr
        (system,) = json.loads(done.stdout)["systems"]
        assert system["coverage"]["ref_dialogues"] == len(names)
        assert [(one["value"], one["count"], one["total"]) for one in system["scores"]] == [
            (0.5, len(names), 2 * len(names))
        ]
        assert f"tiny/{split}: read as multiwoz" in done.stderr
        again = run("score", file, "--ref", f"tiny/{split}", "--metric", "JGA", "--as", "json")
        assert again.stdout == done.stdout
        assert len(served.requests) == 1

    @pytest.mark.parametrize("command", ["explain", "validate", "convert"])
    def test_other_commands_take_names_too(
        self, served: Site, predictions: Callable[..., str], command: str
    ) -> None:
        arguments = {
            "explain": (predictions("A.json"), "A.json", "--ref", "tiny/test"),
            "validate": ("tiny/test",),
            "convert": ("tiny/test", "-"),
        }
        done = run(command, *arguments[command])
        assert done.exit_code == 0, done.stderr
        assert "north" in done.stdout or "tiny/test" in done.stdout
        assert len(served.requests) == 1

    def test_python_takes_names_too(self, served: Site, predictions: Callable[..., str]) -> None:
        from dsteval import evaluate

        assert evaluate("tiny/test", predictions("A.json"), metrics=["JGA"])["JGA"].value == 0.5
        with pytest.raises(ReadError, match="no such file"):
            evaluate(Path("tiny/test"), "pred.json")

    def test_existing_reference_wins(self, served: Site, tmp_path: Path, predictions: Callable[..., str]) -> None:
        (tmp_path / "tiny").mkdir()
        (tmp_path / "tiny" / "data.json").write_text(DATA)
        (tmp_path / "tiny" / "testListFile.txt").write_text("D.json")
        done = run("score", predictions("D.json"), "--ref", "tiny/test", "--metric", "JGA", "--as", "json")
        assert json.loads(done.stdout)["systems"][0]["coverage"]["ref_dialogues"] == 1
        assert served.requests == []

    def test_refusals_are_one_sentence_and_exit_1(self, served: Site, predictions: Callable[..., str]) -> None:
        served.close()
        done = run("score", predictions("A.json"), "--ref", "tiny/test")
        assert done.exit_code == 1
        assert done.stdout == ""
        assert re.fullmatch(
            r"dsteval: tiny: http://\S+ cannot be reached \(Connection refused\)\. .*\n", done.stderr
        )
        assert run("data", "fetch", "tinny").exit_code == 1
        assert "Known: train, dev, test." in run("score", "pred.json", "--ref", "tiny/xyz").stderr

    def test_fetch_prints_the_folder_alone(self, served: Site, tmp_path: Path) -> None:
        done = run("data", "fetch", "tiny/test")
        assert (done.stdout, done.stderr) == (f"{place(tmp_path).parent}\n", "")

    def test_list(self, served: Site) -> None:
        def cached() -> dict[str, str]:
            listed = json.loads(run("list", "datasets", "--as", "json").stdout)["datasets"]
            return {one["name"]: one["cached"] for one in listed}

        assert cached() == {"tiny": "no", "parts": "no", "unlisted": "no"}
        assert served.requests == []
        served.files[f"{PREFIX}test/dialogues_001.json"] = b'[{"dialogue_id": "A", "turns": []}]'
        run("data", "fetch", "tiny", "parts/test")
        assert cached() == {"tiny": "yes", "parts": "1 of 3 files", "unlisted": "no"}


class TestShippedCatalogue:
    def test_names_splits_and_checksums(self) -> None:
        shipped = catalog.load()
        names = ["multiwoz-2.0", "multiwoz-2.1", "multiwoz-2.2", "multiwoz-2.3", "multiwoz-2.4", "sgd"]
        assert list(shipped) == [*names, "fga-predictions"]
        for name in names:
            assert list(shipped[name].splits) == ["train", "dev", "test"]
        assert [len(shipped["sgd"].needed(split)) for split in ("train", "dev", "test")] == [128, 21, 35]
        assert [len(shipped["multiwoz-2.2"].needed(split)) for split in ("train", "dev", "test")] == [18, 3, 3]
        assert [file.to for file in shipped["multiwoz-2.2"].needed("test")] == [
            "test/dialogues_001.json",
            "test/dialogues_002.json",
            "test/schema.json",
        ]
        assert {file.to for file in shipped["sgd"].needed("dev") if file.blob} == {"dev/schema.json"}
        for name in ("multiwoz-2.0", "multiwoz-2.1", "multiwoz-2.3", "multiwoz-2.4", "fga-predictions"):
            assert all(file.blob for file in shipped[name].single)

    def test_places_are_distinct(self) -> None:
        for dataset in catalog.load().values():
            places = [file.to for file in dataset.single]
            assert len(set(places)) == len(places)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"md5": "1"}, "unknown field `md5`"),
            ({"blob": "abc"}, "a git blob id of 40 hexadecimal digits"),
            ({"path": "../secret"}, "a path inside the data set"),
            ({"to": "/etc/passwd"}, "a path inside the data set"),
            ({"path": "x_###.json"}, "'###' together with 'last'"),
        ],
    )
    def test_wrong_catalogues_are_refused(self, change: dict[str, str], said: str) -> None:
        with pytest.raises(OptionError, match=re.escape(said)):
            tiny(**change)

    def test_what_is_no_catalogue_is_refused(self) -> None:
        for text in ("[broken", "tiny = 1"):
            with pytest.raises(OptionError, match=r"mine\.toml: expected "):
                catalog.parse(text, "mine.toml")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_download_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with FetchBar() as bar:
            assert not bar.came
            bar("a.zip", 10, 10)
            bar("b.zip", 5, None)
        assert bar.came
        assert ("b.zip" in stream.getvalue()) is shown


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"DSTEVAL_CACHE": "/own"}, "/own"),
        ("linux", {"DSTEVAL_CACHE": "~/own"}, "/home/me/own"),
        ("darwin", {"XDG_CACHE_HOME": "/shared"}, "/shared/dsteval"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/dsteval"),
        ("linux", {}, "/home/me/.cache/dsteval"),
        ("darwin", {}, "/home/me/Library/Caches/dsteval"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/dsteval/Cache"),
        ("win32", {}, "/home/me/AppData/Local/dsteval/Cache"),
    ],
)
def test_cache_folder(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("DSTEVAL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(expected)


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("from dsteval.cli import cli; cli(['--help'], standalone_mode=False)", ["numpy", "msgspec", "ssl"]),
        ("import dsteval.data.fetch", ["numpy", "urllib.request", "ssl", "rich"]),
    ],
)
def test_starts_light(code: str, unwanted: list[str]) -> None:
    loaded = f"{code}; import sys; print([name for name in {unwanted} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
