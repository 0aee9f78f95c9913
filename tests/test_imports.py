"""The core is light: importing it loads nothing heavy, and it works where only its own dependencies are installed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import MissingPackageError
from ppsets_core.errors import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
HEAVY = [*(package for packages in EXTRAS.values() for package in packages), "pyarrow", "opendp"]
COMMANDS = """
class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name in sys.argv[1].split():
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, NotInstalled)
from ppsets_core.__main__ import main
for words in sys.argv[2:]:
    print(words.split()[0], main(words.split()), file=sys.stderr)
"""


def run(code: str, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)


def test_import_loads_nothing_heavy():
    """Nor does taking every name that is offered, nor asking which model is bundled."""
    code = "from ppsets_core import *; import ppsets_core; dir(ppsets_core)"
    code += "; from ppsets_core.model_fingerprint import bundled_fingerprint; bundled_fingerprint()"
    assert run(f"{code}; print([m for m in {HEAVY} if m in sys.modules])").stdout.strip() == "[]"


def test_a_release_loads_neither_scikit_learn_nor_data_frames():
    """OpenDP's prelude does, which took the first release seconds wherever they are installed."""
    code = "import ppsets_core as pp; pp.calibrate([i / 300 for i in range(300)], 0.1, 1.0)"
    slow = ["sklearn", "pandas", "polars", "pyarrow"]
    assert run(f"{code}; print([m for m in {slow} if m in sys.modules])").stdout.strip() == "[]"


def test_the_core_never_imports_streamlit():
    for file in (ROOT / "ppsets_core").rglob("*.py"):
        lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
        assert not [line for line in lines if line[:1] in (["import"], ["from"]) and "streamlit" in line[1]], file


def test_figures_never_meet_a_half_loaded_pandas():
    """Plotly takes pandas as it finds it; another session's thread may be in the middle of loading it."""
    code = "import ppsets_core.explore.figures; import plotly; m = [*sys.modules]; "
    assert run(f"{code}print(m.index('pandas') < m.index('plotly'))").stdout.strip() == "True"


def test_commands_without_x_rays_need_no_extra(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([1, 1, 6], 300)
    labels = [rng.choice(["a", "b", "c"], p=row) for row in rows]
    lines = [f"{i},{label},{','.join(map(str, row))}" for i, (label, row) in enumerate(zip(labels, rows, strict=True))]
    (tmp_path / "scores.csv").write_text("\n".join(["patient,label,a,b,c", *lines]))
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    commands = [
        "plan --n 1000 --epsilon 1",
        "calibrate scores.csv --epsilon 1 --budget 3 --out cal.json",
        "predict scores.csv --calibration cal.json --out sets.csv",
        "predict scores.csv --calibration cal.json --out sets.parquet",
        "check scores.csv --calibration cal.json",
        "report cal.json --out report.html",
        "ledger",
    ]
    missing = " ".join(package for packages in EXTRAS.values() for package in packages)
    others = ["app", "score . --out x.csv", f"{commands[1]} --cluster tcp://127.0.0.1:8786"]
    told = run(COMMANDS, missing, *commands, *others, folder=tmp_path).stderr
    verbs = [line for line in told.splitlines() if line.split()[-1] in ("0", "2") and len(line.split()) == 2]
    assert verbs == [*(f"{words.split()[0]} 0" for words in commands), "app 2", "score 2", "calibrate 2"], told
    assert "This needs streamlit, which is not installed: pip install 'ppsets[app]'" in told
    assert "pip install 'ppsets[xrays]'" in told
    assert "pip install 'ppsets[cluster]'" in told


@pytest.mark.parametrize("name", ["load_model", "predict_folder"])
def test_the_library_asks_for_what_is_missing_by_name(name, monkeypatch):
    import ppsets_core as pp

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"This needs torch.*pip install 'ppsets\[xrays\]'"):
        getattr(pp, name)
