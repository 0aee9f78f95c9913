import pytest
from PIL import Image

from ppsets_core.explore.page import write_page
from ppsets_core.explore.style import figure
from tools.build_experiments import draw


@pytest.mark.browser
def test_a_browser_draws_the_whole_page(tmp_path):
    fig = figure("x", "y", height=900)
    fig.add_scatter(x=[1, 2], y=[3, 4])
    write_page(tmp_path / "one.html", "One <figure>", {"a & b": fig})
    draw(tmp_path / "one.html", tmp_path / "one.png")
    width, height = Image.open(tmp_path / "one.png").size
    assert width == 920 * 1.5
    assert height > 900 * 1.5
