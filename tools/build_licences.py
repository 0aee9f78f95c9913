"""Writes docs/licences.md: every distribution that requirements.txt installs, with its version and licence.

Run it in the environment that was made from requirements.txt: python -m tools.build_licences
"""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
HEAD = """# What is installed, and under which licences

Written by `python -m tools.build_licences` from the installed packages. ppsets itself is under the MIT licence.

Direct dependencies are pinned in `requirements.txt`. What these bring along is not: PyTorch's own dependencies differ
between machines (with and without a GPU, Linux, macOS, Windows), and one list would break the two commands on some of
them. The versions below are those that were tested together, without a GPU. On Linux, PyTorch may also bring NVIDIA's
libraries, which NVIDIA's own licence lets everyone use, unchanged; ppsets does not need them.

**Known vulnerabilities**: `pip install pip-audit`, then `pip-audit -r requirements.txt` compares every version with the
public advisory databases; it needs a network, so no test does it. {checked}

| distribution | version | licence | direct |
| --- | --- | --- | --- |
"""
CHECKED = (
    "Looked up by hand in November 2026: published advisories concern Pillow before 13.0.0, PyArrow before 23.0.1 "
    "(CVE-2026-25087), pydicom before 3.0.2 (CVE-2026-32711), Streamlit before 1.54.0 (CVE-2026-33682) and PyTorch "
    "before 2.13.0 (CVE-2025-3000); the pinned versions are at or past these fixes. What they bring along was not "
    "looked up one by one."
)


def direct_names() -> list[str]:
    """What requirements.txt names, in its order."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line.partition("==")[0] for line in lines if "==" in line and not line.startswith("#")]


def installed(names: list[str]) -> dict[str, Distribution]:
    """These and all that they need, as installed here, by name."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop())[0]
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            found[key] = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or another use
        waiting += [need for need in found[key].requires or [] if "extra ==" not in need]
    return dict(sorted(found.items()))


def licence_of(one: Distribution) -> str:
    """The licence expression, else what its classifiers say, else the first line of its own words."""
    if expression := one.metadata.get("License-Expression"):
        return expression
    classifiers = [c.split(" :: ")[-1] for c in one.metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    names = [name for name in classifiers if name != "OSI Approved"]
    first = (one.metadata.get("License") or "").strip().partition("\n")[0]
    return "; ".join(names) or first or "not said"


def page() -> str:
    direct = {re.sub(r"[-_.]+", "-", name).lower() for name in direct_names()}
    rows = [
        f"| {one.metadata['Name']} | {one.version.partition('+')[0]} | {licence_of(one)} | {'yes' * (key in direct)} |"
        for key, one in installed(direct_names()).items()
    ]
    return HEAD.format(checked=CHECKED) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
