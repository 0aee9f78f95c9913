"""Dependencies are pinned within the package's ranges, asked for by name, and under licences that let us use them."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ppsets_core import __version__
from ppsets_core.errors import EXTRAS
from tools import build_licences

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUN = "requirements.txt"
FREE = re.compile(r"\b(MIT|MIT-CMU|0?BSD|Apache|PSF|MPL|ISC|Zlib|CC0|HPND|Unlicense)\b")
BINDING = re.compile(r"\b(A?GPL|SSPL|BUSL|Commons Clause|Proprietary|NonCommercial|NC)\b|Affero|General Public", re.I)


def pins(name: str) -> dict[str, str]:
    """Every line but comments and the inclusion of the other file must be a pin."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-r "))]
    assert [line for line in lines if not re.fullmatch(r"[\w-]+==[\w.]+", line)] == []
    return dict(line.split("==") for line in lines)


def asked(*extras: str) -> dict[str, Requirement]:
    """What the package asks for with these extras, the extras that they name included."""
    found: dict[str, Requirement] = {}
    for line in [
        *PROJECT["dependencies"],
        *(one for extra in extras for one in PROJECT["optional-dependencies"][extra]),
    ]:
        need = Requirement(line)
        found |= asked(*need.extras) if need.name == "ppsets" else {need.name: need}
    return found


@pytest.mark.parametrize(
    ("extra", "files"), [("app", ["requirements.txt"]), ("dev", ["requirements.txt", "requirements-dev.txt"])]
)
def test_the_package_asks_for_what_is_pinned_within_a_range(extra, files):
    pinned = {name: pin for file in files for name, pin in pins(file).items()}
    wanted = asked(extra)
    assert wanted.keys() == pinned.keys()
    assert {name: pin for name, pin in pinned.items() if pin not in wanted[name].specifier} == {}
    exact = {name for name, need in wanted.items() if {one.operator for one in need.specifier} != {">=", "<"}}
    assert exact == {"streamlit"}


def test_extras_are_asked_for_by_name():
    extras = PROJECT["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        named = {Requirement(line).name.lower() for line in extras[extra]} - {"ppsets"}
        assert named == set(packages), extra
    assert asked("all") == asked("app", "login", "cluster")


def test_the_tests_run_with_what_is_pinned():
    pinned = pins(RUN)
    assert {name: version(name).partition("+")[0] for name in pinned} == pinned


def test_licence_page_lists_the_direct_dependencies_at_their_pinned_versions():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| (\S+) \| (\S+) \| .+ \| yes \|$", page, re.M)) == pins(RUN)


def test_no_licence_of_what_is_installed_forbids_our_use():
    found = build_licences.installed(build_licences.direct_names())
    assert {"torch", "starlette", "numpy"} <= found.keys()
    ours = [name for name in found if not name.startswith(("nvidia-", "cuda-"))]  # PyTorch's own, see docs/licences.md
    licences = {name: build_licences.licence_of(found[name]) for name in ours}
    assert {name: text for name, text in licences.items() if not FREE.search(text) or BINDING.search(text)} == {}


def test_the_changelog_tells_of_this_version():
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
