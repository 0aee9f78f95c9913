"""Where the files are that come with the project, and where a user's own ledger is."""

import os
from pathlib import Path

from ppsets_core.errors import LedgerError

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "bundled"

ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""The top level of a checkout, or the copy of it that a wheel carries."""
APP = ROOT / "app.py"
ASSETS = ROOT / "assets"
MODELS = ROOT / "models"
DOCS = ROOT / "docs"
CHECK_ONLY = "PPSETS_CHECK_ONLY"
"""In the environment where the app should only say whether it could start."""


def ledger_path() -> Path:
    """One ledger per user, wherever the program is started, so that changing folder does not reset a budget."""
    wanted = Path(os.path.expanduser(os.environ.get("PPSETS_HOME", "").strip() or "~/.ppsets"))
    if not wanted.is_absolute():
        raise LedgerError(
            "PPSETS_HOME must be a whole path, such as /srv/ppsets or ~/ppsets: a relative one would be another ledger "
            "with other budgets in every folder."
        )
    return wanted / "ledger.sqlite"
