"""The Diagnose screen: what to do first, cards, filter, pages, heat map, table, files that cannot be read."""

import io
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
from tests.pages.driving import button, classify, field, finish, kinds, png, set_bars, texts, viewers

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
    assert "First, a calibration sets the cutoff" in texts(at)
    assert "children aged 1–5 from one hospital" in texts(at)
    assert button(at, "Try it")
    assert not at.file_uploader


def test_cards_counts_filter_order_and_pages(diagnose, xrays):
    photo = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 90, 3), dtype=np.uint8)).save(photo, "PNG")
    files = [*xrays, ("<b>photo<b>.png", photo.getvalue(), "image/png"), ("torn.png", xrays[0][1][:300], "image/png")]
    assert "Calibrated with a *test*" in texts(diagnose)
    assert "the two must belong together" in texts(diagnose), "the calibration names no model"
    at = classify(diagnose, files)
    assert not at.error
    found = kinds(at)
    assert (found["All"], found["Flagged"]) == (15, 1)
    assert found["One"] + found.get("Several", 0) + found.get("None", 0) == 14
    assert "over patients like those of the calibration" in texts(at)
    assert "Ages 1–5 only; COVID-19 counts as viral" in texts(at)
    assert len(set_bars(at)) == len(viewers(at)) == 12
    assert all(name in set_bars(at)[0] for name in ("Bacterial pneumonia", "Normal", "Viral pneumonia"))
    assert set_bars(at)[0].count('class="cutoff"') == 3
    field(at.segmented_control, "diagnose_filter").set_value("Flagged").run()
    (flagged,) = viewers(at)
    assert "photo" in flagged.label
    assert "A colour picture" in texts(at)
    assert set_bars(at) == []
    field(at.segmented_control, "diagnose_filter").set_value("All").run()
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    table = at.dataframe[-1].value
    assert len(table) == 15
    assert set(table["reading"]) <= {"one", "several", "none", "flagged"}
    assert all(picture.startswith("data:image/jpeg;base64,") for picture in table["X-ray"])
    assert "torn.png" in at.dataframe[0].value["file"].tolist()


def test_looking_closely_at_one_and_marking_it(diagnose, xrays, monkeypatch):
    at = classify(diagnose, xrays[:2])
    viewers(at)[1].click().run()
    heat = field(at.pills, "heat-")
    assert heat.options == ["Off", "Bacterial pneumonia", "Normal", "Viral pneumonia"]
    for height, said in ((1.0, "not where disease is"), (0.0, "Nothing here speaks for this class")):
        monkeypatch.setattr("ppsets_core.model.prediction.heat_map", lambda *_, height=height: np.full((4, 4), height))
        assert said in texts(heat.set_value(0).run())
    [verdict] = [each for each in at.segmented_control if each.label == "Your review"]
    verdict.set_value("another").run()
    at.selectbox[-1].set_value("normal").run()
    at.text_area[0].set_value("=rotated").run()
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    row = at.dataframe[-1].value.iloc[1]
    assert (row["review"], row["reviewer's diagnosis"]) == ("Another diagnosis", "normal")
    assert row["reviewer's note"] == "'=rotated"
    assert at.dataframe[-1].value.iloc[0]["review"] == ""
    at.segmented_control(key="diagnose_view").set_value("Cards").run()
    assert "Your review: Another diagnosis: Normal" in texts(at)
    seen = at.session_state["diagnose_examined"]
    exported = sets_of(seen.xrays.records, at.session_state["active_calibration"], xrays=seen.xrays)
    assert seen.marks.columns(exported[1])["reviewer's diagnosis"] == "normal", "as files name it"


def test_few_files_are_classified_at_once_more_are_asked_for_and_results_say_what_they_are_of(
    diagnose, xrays, monkeypatch
):
    monkeypatch.setattr("pages.widgets.diagnose.source.KEPT_MEGABYTES", 0.01)
    at = classify(diagnose, xrays[:1])
    assert "1 X-ray · Change" in folded(at)
    monkeypatch.setattr("pages.widgets.diagnose.source.QUICK_FILES", 1)
    at.file_uploader[0].set_value(xrays[1:3]).run()
    assert "1 X-ray · Change" in folded(at), "these are the earlier results"
    button(at, "Get prediction").click().run()
    at = finish(at, "diagnose_job")
    assert "2 X-rays · Change" in folded(at)
    assert not any(each.label.startswith("Get prediction") for each in at.button)
    viewers(at)[0].click().run()
    assert "Only small pictures are kept" in texts(at)


def folded(at) -> list[str]:
    return [each.proto.popover.label.replace("\\", "") for each in at.get("popover")]


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
    assert kinds(at)["Several"] == 3, "without classifying again"
    assert "every set holds every diagnosis" in texts(at)
    at.session_state["active_model"] = small_model()
    at.session_state["active_model_name"] = "other.safetensors"
    at.run()
    assert "Classify them again" in texts(at)
    assert not viewers(at)


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
    assert session is not None or bool(viewers(at)) is holds
    assert any(each.label.startswith("Use 12 synthetic") for each in at.button) is holds


def test_the_group_of_the_xrays_must_be_said_and_outlasts_a_visit_elsewhere(app, screen, xrays):
    scores = np.random.default_rng(0).random(2000)
    sites = np.array(["north", "south"] * 1000)
    records = Records("", scores, groups={"site": sites})
    chosen = plan(2000, 0.1, 5.0, per="site", groups=("north", "south"))
    app.session_state["active_calibration"] = simulate(records, chosen, np.random.default_rng(0))
    app.session_state["active_calibration_source"] = "a test"
    at = classify(screen("diagnose"), xrays[:2])
    assert not viewers(at)
    at.selectbox(key="diagnose_group").set_value("south").run()
    assert viewers(at)
    at.switch_page("pages/model.py").run()
    at.switch_page("pages/diagnose.py").run()
    assert at.selectbox(key="diagnose_group").value == "south"
