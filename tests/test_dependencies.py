"""Every dependency is pinned, listed with its licence, and may be used and passed on; the package asks for the same."""

import re
import runpy
import tomllib
from importlib.metadata import version

import pytest
from packaging.requirements import Requirement

from ppsets_core import __version__
from tests.pages.driving import ROOT

LICENCES = runpy.run_path(str(ROOT / "tools" / "build_licences.py"))
FREE = re.compile(r"\b(MIT|MIT-CMU|0?BSD|Apache|PSF|MPL|ISC|Zlib|CC0|HPND|Unlicense)\b")
BINDING = re.compile(r"\b(A?GPL|SSPL|BUSL|Commons Clause|Proprietary|NonCommercial|NC)\b|Affero|General Public", re.I)


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned(name):
    lines = (ROOT / name).read_text().splitlines()
    named = [line for line in lines if line and not line.startswith(("#", "-r requirements.txt"))]
    assert named
    assert [line for line in named if not re.fullmatch(r"[\w-]+==[\w.]+", line)] == []


def test_the_tests_run_with_what_is_pinned():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    assert {name: version(name).partition("+")[0] for name in pins} == pins


def test_licence_page_lists_the_direct_dependencies_at_their_pinned_versions():
    page = (ROOT / "docs" / "licences.md").read_text()
    listed = dict(re.findall(r"^\| (\S+) \| (\S+) \| .+ \| yes \|$", page, re.M))
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert listed == dict(line.split("==") for line in lines if "==" in line)


def test_no_licence_of_what_is_installed_forbids_our_use():
    found = LICENCES["installed"](LICENCES["direct_names"]())
    assert {"torch", "starlette", "numpy"} <= found.keys()
    ours = [name for name in found if not name.startswith(("nvidia-", "cuda-"))]  # PyTorch's own, see docs/licences.md
    licences = {name: LICENCES["licence_of"](found[name]) for name in ours}
    assert {name: text for name, text in licences.items() if not FREE.search(text)} == {}
    assert {name: text for name, text in licences.items() if BINDING.search(text)} == {}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_the_package_asks_for_what_is_pinned_within_a_range(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = project["dependencies"] if name == "requirements.txt" else project["optional-dependencies"]["dev"]
    ranges = {need.name: need.specifier for need in map(Requirement, asked)}
    pins = dict(line.split("==") for line in (ROOT / name).read_text().splitlines() if "==" in line)
    assert ranges.keys() == pins.keys()
    assert {name: pin for name, pin in pins.items() if pin not in ranges[name]} == {}
    assert [name for name, span in ranges.items() if {one.operator for one in span} != {">=", "<"}] == []
    assert set(project["optional-dependencies"]["app"]) <= set(project["dependencies"])
    assert set(project["optional-dependencies"]["login"]) <= set(project["optional-dependencies"]["dev"])


def test_the_changelog_tells_of_this_version():
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
