"""Hostile file names on Diagnose, Calibrate and Model: shown as text on one line, never as markup."""

import re

import pytest

from pages.widgets.text import as_text
from ppsets_core.files.names import shown_name
from tests.attacks.names import HOSTILE
from tests.attacks.reading import answered, left_out
from tests.xrays.samples import film, png

SPECIAL = r"[`*_{}\[\]()<>#+!|~$&^=-]"
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x00-\x09\x0b-\x1f]")


def test_pictures_and_files_left_out(diagnosed):
    good = {name: png(film(seed=number)) for number, name in enumerate(HOSTILE.values())}
    bad = {f"bad {name}": b"no picture" for name in HOSTILE.values()}
    at = diagnosed(good | bad)
    shown = [shown_name(name.replace("\\", "/").split("/")[-1]) for name in good]
    assert [name.split("/")[-1].lstrip("'") for name in answered(at)] == shown
    assert len(left_out(at)) == len(bad)
    said = "".join(each.value for each in (*at.markdown, *at.caption, *at.warning))
    assert not HIDDEN.search(said)
    for bare in ("<b>", "<script", "<img", "](", ":material/home", ":smile:", ":red[", "$\\frac"):
        assert not re.search(r"(?<!\\)" + re.escape(bare), said.replace("**", "")), bare


@pytest.mark.parametrize("name", HOSTILE)
def test_every_sign_that_markdown_knows_is_escaped(name):
    text = as_text(HOSTILE[name])
    assert not re.search(r"(?<!\\)(?:\\\\)*" + SPECIAL, re.sub(r"\\.", "", text))
    assert not HIDDEN.search(text)
    assert not re.search(r":\w|://|www\.|\w@", text.replace("\\", ""))


def test_a_score_file_and_a_saved_calibration(screen, score_csv):
    at = screen("calibrate")
    at.radio(key="source").set_value("A score file").run()
    for name in HOSTILE.values():
        at.file_uploader(key="score_file").set_value((name.replace(".png", ".csv"), b"score\nx", "")).run()
        assert not at.exception
        (error,) = at.error
        assert not re.search(r"(?<!\\)[<\[$*]", error.value)
        assert not HIDDEN.search(error.value)
    at.file_uploader(key="score_file").set_value((HOSTILE["html"].replace(".png", ".csv"), score_csv(600), "")).run()
    assert at.selectbox[0].value == "b><img src=x onerror=alert(1)>"
    assert not re.search(r"(?<!\\)<img", "".join(each.value for each in (*at.markdown, *at.caption)))
