"""The app's screens, in a working directory and a temporary directory that uploads must leave as they were."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ppsets_core import plan, simulate
from tests.pages.conftest import app, home, ledger, score_csv, screen  # noqa: F401 (fixtures)
from tests.pages.driving import classify


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(home, tmp_path, monkeypatch):  # noqa: F811
    """Work and temporary files happen below an empty folder, which is as empty after the test."""
    place = tmp_path / "outside" / "deep" / "er"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    left = [path for path in (tmp_path / "outside").rglob("*") if path not in (place, place.parent)]
    assert [path for path in left if not path.name.startswith("torchinductor")] == []  # torch's own, empty


@pytest.fixture
def diagnosed(app, screen):  # noqa: F811
    """Classify files on Diagnose under a calibration; a file is (name, bytes)."""

    def give(files: dict[str, bytes]):
        drawn = simulate(np.linspace(0, 1, 2000), plan(2000, 0.2, 5.0, m=100), np.random.default_rng(0))
        app.session_state["active_calibration"] = drawn
        at = screen("diagnose")
        at = classify(at, [(name, data, "") for name, data in files.items()])
        assert not at.exception
        return at

    return give


def left_out(at: AppTest) -> dict[str, str]:
    """The screen's list of files that were left out, each with its reason."""
    for table in at.dataframe:
        if list(table.value.columns) == ["file", "reason"]:
            return dict(zip(table.value["file"], table.value["reason"], strict=True))
    return {}


def answered(at: AppTest) -> list[str]:
    """The names of the files that were classified."""
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    for table in at.dataframe:
        if "reading" in table.value.columns:
            return list(table.value["file"])
    return []
