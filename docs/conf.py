"""The documentation site: `sphinx-build -W -c docs . docs/_build/html`; open docs/_build/html/docs/index.html.

The source is the whole tree, so that pages link to each other as on a code host. Tutorials run; nothing is fetched.
"""

import atexit
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ppsets_core.version import __version__  # noqa: E402

project, author, copyright = "ppsets", "The ppsets authors", "The ppsets authors. MIT licence"
version = release = __version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "models/README.md"]
exclude_patterns = [".*", "assets", "benchmarks", "docs/_build", "pages", "ppsets_core", "tests", "tools"]
extensions = ["myst_nb", "sphinx.ext.autodoc"]
highlight_language, default_role = "none", "code"

myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

html_theme = "pydata_sphinx_theme"
html_title = "ppsets"
html_logo = html_favicon = str(ROOT / "assets" / "logo.svg")
templates_path, html_static_path, html_css_files = ["_templates"], ["_static"], ["site.css"]
html_sidebars = {"**": ["pages"]}
html_show_sourcelink = html_copy_source = False
html_theme_options = {
    "logo": {"text": "ppsets"},
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _run_tutorials_here() -> None:
    """Let the tutorials find ppsets as a command, with a ledger that is gone afterwards."""
    scratch = tempfile.mkdtemp(prefix="ppsets-docs-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    command = Path(scratch, "bin", "ppsets")
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ppsets_core "$@"\n')
    command.chmod(0o755)
    os.environ |= {
        "PATH": os.pathsep.join([str(command.parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "PPSETS_HOME": f"{scratch}/home",
        "COLUMNS": "100",
        "OMP_NUM_THREADS": "2",
    }


def _list_parameters(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn `name: text` and NumPy's `name : text`, which begin a paragraph or follow one another, into parameters."""
    text = re.sub(r"^Parameters\n-+\n", "", "\n".join(lines), flags=re.M)
    blocks = re.split(r"\n{2,}", text)
    for place, block in enumerate(blocks):
        if re.match(r"[a-z_]\w*(, [a-z_]\w*)* ?: ", block):
            names = r"^((?:[a-z_]\w*)(?:, [a-z_]\w*)*) ?: "
            blocks[place] = re.sub(names, lambda found: f":param {found[1].replace(', ', ',')}: ", block, flags=re.M)
    lines[:] = "\n\n".join(blocks).splitlines()


def _raise_and_lower(app: Any, name: str, source: list[str]) -> None:
    """Set e_j and e^{−ε} of the method's text as signs below and above the line; its code stays as it is."""
    if name != "docs/method":
        return
    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", source[0], flags=re.M | re.S)
    for place in range(0, len(parts), 2):
        for sign, tag in ((r"\\?_", "sub"), (r"\^", "sup")) * 2:  # twice: one may stand within another
            group = rf"{sign}(?:\{{([^{{}}]*)\}}|(\((?:[^()]|\([^()]*\))*\))|([^\W_])(?![^\W_]))"
            parts[place] = re.sub(
                rf"(?<=[^\s(|]){group}",
                lambda found, tag=tag: f"<{tag}>{found[1] or found[2] or found[3]}</{tag}>",
                parts[place],
            )
    source[0] = "".join(parts)


def setup(app: Any) -> None:
    _run_tutorials_here()
    app.connect("source-read", _raise_and_lower)
    app.connect("autodoc-process-docstring", _list_parameters)
