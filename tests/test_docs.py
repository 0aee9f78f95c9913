"""What the documents point to is there: files, headings, and the functions and tests that put the paper into code."""

import ast
import re
from pathlib import Path

import pytest

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
    assert [name for name in pictures if name not in shown] == []


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
