"""The app without a browser: every run goes through app.py, with a ledger of its own."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ppsets_core import Ledger
from tests.pages.driving import ROOT

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PPSETS_DATA", raising=False)
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
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 3, records)
        logits = rng.normal(0, 1, (records, 3))
        logits[np.arange(records), labels] += 2
        rows = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        lines = [",".join([*(["patient"] if patients else []), "label", *CLASSES])]
        for number, (row, label) in enumerate(zip(rows.tolist(), labels, strict=True)):
            patient = [f"p{number % patients}"] if patients else []
            lines.append(",".join([*patient, CLASSES[label], *map(repr, row)]))
        return "\n".join(lines).encode()

    return make
