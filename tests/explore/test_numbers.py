"""What Explore hands out: the points that are drawn, and a page that needs no network."""

import csv
import io
import re

from ppsets_core.explore.level_curves import level_curves, level_figure
from ppsets_core.explore.page import csv_of_rows, numbers_of, whole_page


def test_every_point_of_every_line_is_a_row():
    figure = level_figure(level_curves("n", (300, 1000), (1.0,), 0.1, ("sharp", "paper")))
    rows = numbers_of({"Levels": figure})
    drawn = sum(len(trace.x) for trace in figure.data)
    assert len(rows) == drawn
    assert {row["figure"] for row in rows} == {"Levels"}
    first = figure.data[0]
    assert [(row["x"], row["y"]) for row in rows[: len(first.x)]] == list(zip(first.x, first.y, strict=True))
    read = list(csv.DictReader(io.StringIO(csv_of_rows(rows))))
    assert [float(row["y"]) for row in read] == [float(row["y"]) for row in rows]


def test_cells_run_nowhere():
    (row,) = csv.DictReader(io.StringIO(csv_of_rows([{"=name": "=1+1", "x": -0.5, "none": None}])))
    assert row == {"'=name": "'=1+1", "x": "-0.5", "none": ""}
    assert csv_of_rows([]) == ""


def test_the_page_is_whole_and_its_title_is_text():
    figure = level_figure(level_curves("n", (300, 1000), (1.0,), 0.1, ("sharp",)))
    page = whole_page("<b>odd</b>", {"<i>": figure})
    assert "<b>odd" not in page
    assert "<i>" not in page.partition("</script>")[2].split("<div>")[0]
    assert not re.search(r"<(script|link|img)[^>]*\s(src|href)=", page)
    assert len(page) > 1_000_000, "plotly's script is inside"
