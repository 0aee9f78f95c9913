"""The app without a browser: every run goes through app.py, with a ledger of its own."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ppsets_core import Ledger
from tests.browser.samples import score_file
from tests.pages.driving import ROOT

FAST = {"test_home.py", "test_shared.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.path.name not in FAST and not item.get_closest_marker("cluster"):
            item.add_marker(pytest.mark.screens)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    for name in ("PPSETS_DATA", "PPSETS_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    return tmp_path / "home"


@pytest.fixture
def ledger(home) -> Ledger:
    return Ledger(home / "ledger.sqlite")


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()


@pytest.fixture
def screen(app):
    """Open a screen by its file's name."""
    return lambda name: app.switch_page(f"pages/{name}.py").run()


@pytest.fixture
def score_csv():
    """A CSV of softmax scores as bytes; fewer patients than records if asked for."""

    def make(records: int, seed: int = 0, patients: int | None = None) -> bytes:
        return score_file("", records, seed, patients)["buffer"]

    return make


@pytest.fixture
def at(screen):
    return screen("calibrate")


@pytest.fixture
def upload(at, score_csv):
    """Give a score file; its data set is called 'ward' unless named otherwise."""

    def give(records: int = 700, seed: int = 0, name: str = "ward.csv", content: bytes | None = None, **options):
        at.radio(key="source").set_value("A score file").run()
        data = score_csv(records, seed, **options) if content is None else content
        return at.file_uploader(key="score_file").set_value((name, data, "text/csv")).run()

    return give
