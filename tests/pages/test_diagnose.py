"""The Diagnose screen: what to do first, cards, filter, pages, heat map, table, files that cannot be read."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from ppsets_core import Records, calibrate, plan, simulate
from ppsets_core.diagnose.set_table import sets_of
from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.drawn_xrays import draw_xrays
from tests.ledger.spending import records_of
from tests.model.chests import small_model
from tests.pages.driving import button, classify, field, finish, metrics, png, texts

SCORES = np.linspace(0, 1, 2000)


@pytest.fixture(scope="module")
def xrays():
    return [(f"{number:02}.png", png(xray.grey), "image/png") for number, xray in enumerate(draw_xrays(14, 0))]


@pytest.fixture
def diagnose(app, screen):
    """Diagnose with a calibration that puts every class of softmax 0.2 or more into the set."""
    drawn = simulate(SCORES, plan(len(SCORES), 0.2, 5.0, m=100), np.random.default_rng(0))
    app.session_state["active_calibration"] = drawn
    app.session_state["active_calibration_source"] = "a *test*"
    return screen("diagnose")


def test_without_a_calibration_it_says_what_to_do(screen):
    at = screen("diagnose")
    assert "This session has no calibration yet" in texts(at)
    assert "children aged 1–5 from one hospital" in texts(at)
    assert not at.file_uploader


def test_cards_counts_filter_order_and_pages(diagnose, xrays):
    photo = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 90, 3), dtype=np.uint8)).save(photo, "PNG")
    files = [*xrays, ("<b>photo<b>.png", photo.getvalue(), "image/png"), ("torn.png", xrays[0][1][:300], "image/png")]
    assert "Calibrated with a *test*" in texts(diagnose)
    assert "the two must belong together" in texts(diagnose), "the calibration names no model"
    at = classify(diagnose, files)
    assert not at.error
    found = {name: int(value[0]) for name, value in metrics(at).items()}
    assert found["Flagged"] == 1
    assert found["One diagnosis"] + found["Several"] + found["None"] == 14
    assert "over patients like these" in texts(at)
    charts = at.get("plotly_chart")
    assert len(charts) == 12
    spec = json.loads(charts[0].proto.spec)
    assert spec["data"][0]["customdata"][0] in ("Bacterial pneumonia", "Normal", "Viral pneumonia")
    field(at.segmented_control, "diagnose_filter").set_value("Flagged").run()
    assert "<b>photo<b>.png" in texts(at)
    assert "A colour picture" in texts(at)
    assert len(at.get("plotly_chart")) == 0
    table = at.dataframe[-1].value
    assert len(table) == 15
    assert set(table["reading"]) <= {"one", "several", "none", "flagged"}
    assert "torn.png" in at.dataframe[0].value["file"].tolist()


def test_looking_closely_at_one_and_marking_it(diagnose, xrays):
    at = classify(diagnose, xrays[:2])
    assert not at.selectbox(key="diagnose_order").disabled
    [look for look in at.button if look.label == "Open viewer"][1].click().run()
    heat = at.selectbox[-1]
    assert heat.options == ["not shown", "for Bacterial pneumonia", "for Normal", "for Viral pneumonia"]
    heat.set_value(0).run()
    assert "not where disease is" in texts(at)
    [verdict] = [each for each in at.segmented_control if each.label == "Your review"]
    verdict.set_value("another").run()
    at.selectbox[-1].set_value("normal").run()
    at.text_area[0].set_value("=rotated").run()
    at.run()
    row = at.dataframe[-1].value.iloc[1]
    assert (row["review"], row["reviewer's diagnosis"]) == ("Another diagnosis", "normal")
    assert row["reviewer's note"] == "'=rotated"
    assert at.dataframe[-1].value.iloc[0]["review"] == ""
    assert "Another diagnosis: Normal" in texts(at)
    seen = at.session_state["diagnose_examined"]
    exported = sets_of(seen.xrays.records, at.session_state["active_calibration"], xrays=seen.xrays)
    assert seen.marks.columns(exported[1])["reviewer's diagnosis"] == "normal", "as files name it"


def test_results_say_what_they_are_of_and_which_files_are_not_classified_or_kept(diagnose, xrays, monkeypatch):
    monkeypatch.setattr("pages.widgets.diagnose.source.KEPT_MEGABYTES", 0.01)
    at = classify(diagnose, [("ward *3*.png", *xrays[0][1:])])
    assert "Results of ward *3*.png, classified with the bundled ResNet-18" in above(at)
    assert "not classified yet" not in texts(at)
    at.file_uploader[0].set_value(xrays[1:3]).run()
    assert "not classified yet: these are the earlier results" in texts(at)
    button(at, "Get prediction").click().run()
    at = finish(at, "diagnose_job")
    assert "Results of the 2 files given" in above(at)
    assert "not classified yet" not in texts(at)
    next(look for look in at.button if look.label == "Open viewer").click().run()
    assert "Only small pictures are kept" in texts(at)


def above(at) -> str:
    return " ".join(each.value.replace("\\", "").replace("\u2060", "") for each in at.subheader)


def test_too_many_and_unreadable_files_get_a_sentence(diagnose, xrays, monkeypatch):
    assert "no usable X-ray" in texts(classify(diagnose, [("notes.png", b"<html>", "image/png")]))
    monkeypatch.setattr("pages.widgets.diagnose.source.MOST", 1)
    at = classify(diagnose, xrays[:2])
    assert "ppsets predict" in texts(at)
    assert "Traceback" not in texts(at)


def test_sets_follow_the_calibration_and_other_weights_make_them_void(diagnose, xrays):
    at = classify(diagnose, xrays[:3])
    at.session_state["active_calibration"] = calibrate([0.1] * 5, 0.1, 0.1)
    at.run()
    assert metrics(at)["Several"] == ["3"], "without classifying again"
    assert "every set holds every diagnosis" in texts(at)
    at.session_state["active_model"] = small_model()
    at.session_state["active_model_name"] = "other.safetensors"
    at.run()
    assert "Classify them again" in texts(at)
    assert "One diagnosis" not in metrics(at)


@pytest.mark.parametrize(
    ("calibrated", "session", "holds"),
    [("bundled", None, True), ("other", None, False), ("bundled", "other", False), ("other", "other", True)],
)
def test_a_calibration_of_another_model_is_refused_and_says_what_to_do(diagnose, xrays, calibrated, session, holds):
    named = {"bundled": bundled_fingerprint(), "other": "0" * 16}
    at = classify(diagnose, xrays[:1]) if session is None else diagnose
    drawn = calibrate(records_of(SCORES, model=named[calibrated]), 0.2, 5.0, m=100)
    at.session_state["active_calibration"] = drawn
    if session is not None:
        at.session_state["active_model"] = SimpleNamespace(fingerprint=named[session], classes=("a", "b"))
    at.run()
    assert ("its coverage does not hold for this one" in texts(at)) is not holds
    assert ("This calibration cannot be used for X-rays with this model" in texts(at)) is not holds
    assert session is not None or ("One diagnosis" in metrics(at)) is holds
    assert any(each.label.startswith("Get prediction") for each in at.button) is holds


def test_the_group_of_the_xrays_must_be_said_and_outlasts_a_visit_elsewhere(app, screen, xrays):
    scores = np.random.default_rng(0).random(2000)
    sites = np.array(["north", "south"] * 1000)
    records = Records("", scores, groups={"site": sites})
    chosen = plan(2000, 0.1, 5.0, per="site", groups=("north", "south"))
    app.session_state["active_calibration"] = simulate(records, chosen, np.random.default_rng(0))
    app.session_state["active_calibration_source"] = "a test"
    at = classify(screen("diagnose"), xrays[:2])
    assert "One diagnosis" not in metrics(at)
    at.selectbox(key="diagnose_group").set_value("south").run()
    assert "One diagnosis" in metrics(at)
    at.switch_page("pages/model.py").run()
    at.switch_page("pages/diagnose.py").run()
    assert at.selectbox(key="diagnose_group").value == "south"
