"""`python -m tools.build_experiments [NAME …]`: run the experiments (default: all) and write docs/experiments.md anew.

Needs Chromium for the pictures.
Every number on that page is read from docs/experiments/NAME.json, which the experiment's own command wrote.
"""

import json
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
KEPT = DOCS / "experiments"
TEXT = tomllib.loads((DOCS / "experiments_text.toml").read_text(encoding="utf-8"))


def main(names: list[str]) -> None:
    from ppsets_core.__main__ import main as ppsets

    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        for name in names or TEXT:
            if ppsets(["experiment", name, "--out", out]):
                raise SystemExit(f"{name} failed")
            shutil.copy(Path(out) / f"{name}.json", KEPT)
            draw(Path(out) / f"{name}.html", KEPT / f"{name}.png")
    (DOCS / "experiments.md").write_text(page(), encoding="utf-8")


def draw(page: Path, picture: Path) -> None:
    """The whole page, as wide as a page of text, so that it is read without zooming."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium, flags = shutil.which("chromium"), ["--no-sandbox", "--disable-gpu"]
        with playwright.chromium.launch(executable_path=chromium, args=flags) as browser:
            tab = browser.new_page(viewport={"width": 920, "height": 600}, device_scale_factor=1.5)
            tab.goto(page.resolve().as_uri())
            tab.locator(".main-svg").last.wait_for()
            tab.screenshot(path=picture, full_page=True)


def page() -> str:
    """The whole document; experiments that have not been run are left out."""
    parts = [
        "# Experiments\n\n"
        '"Private Prediction Sets" (Angelopoulos, Bates, Zrnic, Jordan), reproduced, with our own rule beside '
        "the paper's. Each section is one command, offline; it writes every number as JSON and an interactive page. "
        "`python -m tools.build_experiments` runs them all and writes this page and its pictures from them.\n"
    ]
    for name in TEXT:
        path = KEPT / f"{name}.json"
        if path.exists():
            parts.append(_section(name, json.loads(path.read_text(encoding="utf-8"))))
    return "\n".join(parts)


def _section(name: str, found: dict[str, Any]) -> str:
    """Figure, one table, what was found, the paper's own and the differences; `name.json` has every number."""
    text = TEXT[name]
    lines = [f"## `{name}`: {found['title']}", ""]
    if (KEPT / f"{name}.png").exists():
        lines += [f"![{found['title']}](experiments/{name}.png)", ""]
    lines += [*_table(found["tables"], text), ""]
    lines += ["**Found.** " + " ".join(found["found"][place] for place in text.get("sentences", [0])), ""]
    lines += [f"**The paper.** {text['paper']}", "", f"**Where ours differs.** {text['differs']}", ""]
    return "\n".join(lines)


def _table(tables: list[dict[str, Any]], text: dict[str, Any]) -> list[str]:
    """The chosen tables as one, with their titles as the first column, in the rows that the text names."""
    chosen = [tables[place] for place in text.get("tables", [0])]
    wanted = text.get("rows")
    rows = [
        [table["title"].split(":")[0], *row] if len(chosen) > 1 else row
        for table in chosen
        for row in table["rows"]
        if wanted is None or row[0] in wanted
    ]
    columns = [*([""] if len(chosen) > 1 else []), *chosen[0]["columns"]]
    return [_row(columns), "|" + " --- |" * len(columns), *map(_row, [*text.get("papers_rows", []), *rows])]


def _row(cells: list[str | float]) -> str:
    return "| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
