"""The core is light: importing it loads neither the network nor the dashboard."""

import subprocess
import sys

HEAVY = ("torch", "torchvision", "streamlit", "plotly", "opacus", "pandas", "pyarrow", "pydicom", "opendp")


IMPORT_ALL = """
import importlib, pkgutil, sys, ppsets_core
for module in pkgutil.walk_packages(ppsets_core.__path__, "ppsets_core."):
    importlib.import_module(module.name)
print("streamlit" in sys.modules)
"""


def test_import_loads_nothing_heavy():
    code = f"import sys, ppsets_core; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_core_never_names_streamlit():
    out = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_figures_never_meet_a_half_loaded_pandas():
    """Plotly takes pandas as it finds it; another session's thread may be in the middle of loading it."""
    code = "import sys, ppsets_core.figures.diagnosis; m = [*sys.modules]; print(m.index('pandas') < m.index('plotly'))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "True"
