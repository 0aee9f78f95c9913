"""The core is light: importing it loads neither the network nor the dashboard."""

import subprocess
import sys

HEAVY = ("torch", "torchvision", "streamlit", "plotly", "opacus", "pandas", "pyarrow", "pydicom", "opendp")


def test_import_loads_nothing_heavy():
    code = f"import sys, ppsets_core; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_core_never_names_streamlit():
    code = "import sys, pkgutil, importlib, ppsets_core\nfor m in pkgutil.walk_packages(ppsets_core.__path__, 'ppsets_core.'):\n"
    code += "    m.name.endswith('__main__') or importlib.import_module(m.name)\nprint('streamlit' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
