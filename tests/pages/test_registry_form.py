"""Calibrate's form for a registry entry: asks what only people know, then has the file."""

import numpy as np
from streamlit.testing.v1 import AppTest

from ppsets_core import calibrate


def form(epsilon: float) -> AppTest:
    def show(text: str) -> None:
        from pages.widgets.calibration_card import offer_registry_entry
        from ppsets_core import Calibration

        offer_registry_entry(Calibration.from_json(text), "here")

    text = calibrate(np.linspace(0, 0.9, 900), 0.1, epsilon).to_json()
    return AppTest.from_function(show, kwargs={"text": text}, default_timeout=60).run()


def test_the_file_is_there_once_all_is_said():
    app = form(2.0)
    assert not app.exception
    assert "Fill in all four" in app.info[0].value
    assert not app.get("download_button")
    for key, said in {"curator": "Clinic", "region": "Oslo", "author": "A. S."}.items():
        app.text_input(key=f"here_{key}").set_value(said)
    app.run()
    assert not app.exception
    (button,) = app.get("download_button")
    assert button.proto.label == "Download entry (YAML)"
    assert not form(1e-6).get("expander"), "nothing was released"
