"""What the documents point to is there: files, headings, names, figures, and tests. The site builds, tutorials run."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ppsets_core

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "models" / "README.md"]
TABLE = (ROOT / "docs" / "method.md").read_text(encoding="utf-8").split("## From paper to code")[1].split("\n## ")[0]
PROMISES = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if line.startswith("| **")]
NAMED = re.compile(r"`([\w/]+\.py)(?:::([\w.]+))?`")


def anchors(page: Path) -> set[str]:
    """Headings as a repository's pages link to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_every_picture_is_shown_somewhere():
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.png")]
    assert [name for name in pictures if name not in shown and not name.startswith("_build/")] == []


def test_code_cites_headings_that_are_there():
    known = anchors(ROOT / "docs" / "method.md")
    for file in [*(ROOT / "ppsets_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        cited = set(re.findall(r"method\.md#([\w-]+)", file.read_text(encoding="utf-8")))
        assert cited <= known, (file, cited - known)


@pytest.mark.parametrize("text", [TABLE, *PROMISES], ids=["paper", *(line.split("**")[1] for line in PROMISES)])
def test_code_and_tests_are_where_the_tables_of_method_and_security_say(text):
    named = NAMED.findall(text.rsplit(" | ", 1)[1] if text in PROMISES else text)
    assert named
    for file, name in named:
        node: ast.AST = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        for part in filter(None, name.split(".")):
            found = [inner for inner in ast.iter_child_nodes(node) if getattr(inner, "name", None) == part]
            assert len(found) == 1, f"{file}::{name}"
            node = found[0]


def test_the_table_names_every_algorithm():
    assert [number for number in range(1, 6) if f"| Algorithm {number}, " not in TABLE] == []


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert max(map(len, lines)) <= 120


def test_every_public_name_is_in_the_reference():
    shown = re.findall(r"^\.\. auto\w+:: (\w+)$", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), re.M)
    assert sorted(shown) == sorted([*ppsets_core.__all__, *ppsets_core._OF_THE_NETWORK])


def test_the_comparison_shows_what_was_measured():
    measured: dict[tuple[str, float | None], list[str]] = {}
    for row in json.loads((ROOT / "benchmarks" / "comparison.json").read_text()):
        figures = [f"{row['coverage'] + 1e-9:.3f}", f"{row['size'] + 1e-9:.2f}"]
        measured.setdefault((row["library"], row["epsilon"]), []).extend(figures)
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").replace("**", "")
    for (library, epsilon), figures in measured.items():
        cells = " | ".join(["no" if epsilon is None else f"ε = {epsilon:g}", *figures])
        assert re.search(rf"\| {library}[ .0-9]* \| {re.escape(cells)} \|", text), (library, epsilon)


@pytest.mark.screens
def test_the_site_builds_without_a_warning_and_the_tutorials_run(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(tmp_path / "html")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    for page, shown in (("your_model", "of new digits"), ("method", "L<sub>J</sub> = K<sub>J−1</sub>")):
        assert shown in (tmp_path / "html" / "docs" / f"{page}.html").read_text(encoding="utf-8")
    loaded = [page for page in tmp_path.rglob("*.html") if re.search(r'src="https?:', page.read_text(encoding="utf-8"))]
    assert loaded == []
