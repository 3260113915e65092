"""What all tests share: hypothesis profiles and the folder of real data."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

# The gate tries the same examples each time and keeps none, so that nothing but a change makes it fail. A fuzz
# run draws others each time, and tries those again that failed. Machines that run tests are slow and loaded: time
# is no sign of a fault here.
settings.register_profile(
    "gate",
    max_examples=1000 if os.environ.get("DSTEVAL_THOROUGH") == "1" else 60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("gate"),
    derandomize=False,
    database=DirectoryBasedExampleDatabase(Path(__file__).parents[1] / ".hypothesis/examples"),
    print_blob=True,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the simulations that take a minute as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out, unless they are asked for."""
    if not config.getoption("--slow"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and cases; a test that asks for it skips where it is absent."""
    named = os.environ.get("DSTEVAL_SHARED")
    place = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    lacking = [part for part in ("data", "cases") if not (place / part).is_dir()]
    if lacking:
        pytest.skip(
            f"the folder of real data lacks {' and '.join(lacking)}: put it beside the checkout as 'shared', "
            "or name it by DSTEVAL_SHARED"
        )
    return place


@pytest.fixture
def folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Copies one of the folders of faulty inputs, and goes there."""

    def copy(name: str) -> Path:
        for path in sorted((shared / "faults" / name).rglob("*")):
            place = tmp_path / name / path.relative_to(shared / "faults" / name)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                place.write_bytes(path.read_bytes())
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name

    return copy
