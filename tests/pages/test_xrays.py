"""Calibrating on X-rays: labels, patients, what is refused, and folders of the server."""

import numpy as np

from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import finish, png, texts


def on_server(screen, data, monkeypatch):
    at = screen("calibrate")
    at.radio(key="source").set_value("X-rays with labels").run()
    assert list(at.segmented_control(key="calibrate_way").options) == ["Files or a zip", "A folder"]
    monkeypatch.setenv("PPSETS_DATA", str(data))
    at.run().segmented_control(key="calibrate_way").set_value("On the server").run()
    return at.selectbox(key="calibrate_server").set_value(".").run()


def test_xrays_without_labels_are_refused_and_others_name_the_model_that_classified_them(screen, tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.png").write_bytes(png(np.zeros((64, 64))))
    (data / "notes.txt").write_text("no picture")
    at = on_server(screen, data, monkeypatch)
    assert "1 X-ray found" in texts(at)
    assert "have no labels" in texts(at)
    assert list(at.dataframe[0].value["file"]) == ["notes.txt"]
    assert "classify" not in {each.key for each in at.button}
    (data / "normal").mkdir()
    (data / "normal" / "b.png").write_bytes(png(draw_xrays(1, 0)[0].grey))
    at.run().selectbox(key="calibrate_server").set_value("normal").run()
    at.button(key="classify").click().run()
    finish(at, "classify_calibration")
    assert at.session_state["reading_xrays"].records.model == bundled_fingerprint()
