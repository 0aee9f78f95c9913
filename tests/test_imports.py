"""The core is light: importing it loads neither the network nor the dashboard."""

import ast
import subprocess
import sys

from tests.pages.driving import ROOT

HEAVY = ("torch", "torchvision", "streamlit", "plotly", "opacus", "pandas", "pyarrow", "pydicom", "opendp")


def test_import_loads_nothing_heavy():
    code = f"import sys, ppsets_core; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_core_never_imports_streamlit():
    for file in (ROOT / "ppsets_core").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.partition(".")[0] == "streamlit" for name in names), file


def test_figures_never_meet_a_half_loaded_pandas():
    """Plotly takes pandas as it finds it; another session's thread may be in the middle of loading it."""
    figures = "import sys, ppsets_core.explore.figures"
    code = f"{figures}; m = [*sys.modules]; print(m.index('pandas') < m.index('plotly'))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "True"
