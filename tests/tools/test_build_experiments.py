from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from ppsets_core.explore.page import whole_page
from ppsets_core.explore.style import figure
from tools.build_experiments import draw


@pytest.mark.browser
def test_a_browser_draws_the_whole_page(tmp_path):
    fig = figure("x", "y", height=900)
    fig.add_scatter(x=[1, 2], y=[3, 4])
    (tmp_path / "one.html").write_text(whole_page("One <figure>", {"a & b": fig}), encoding="utf-8")
    with ThreadPoolExecutor() as apart:  # a thread has one Playwright, and other browser tests may have this one's
        apart.submit(draw, tmp_path / "one.html", tmp_path / "one.png").result()
    width, height = Image.open(tmp_path / "one.png").size
    assert width == 920 * 1.5
    assert height > 900 * 1.5
