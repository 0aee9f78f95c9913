"""Familiar or not on the screens: ε's share on Calibrate, marks and alarm on Diagnose, whom the model is for."""

import dataclasses

import numpy as np
import pytest

from ppsets_core import Records, plan, simulate
from ppsets_core.diagnose.novelty import OUTSIDE, TRAINED_ON, NoveltyThreshold
from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import classify, kinds, metrics, png, release, set_bars, texts, viewers

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


def drawn(n: int, threshold: float | None = None):
    rng = np.random.default_rng(0)
    records = Records("", rng.random(n), CLASSES, model=bundled_fingerprint(), novelty=rng.random(n))
    found = simulate(records, plan(n, 0.1, 1.0, novelty_share=0.2), rng)
    return found if threshold is None else dataclasses.replace(found, drawn=(found.threshold, threshold))


@pytest.fixture
def results(app, screen):
    def show(calibration, xrays: int = 6):
        app.session_state["active_calibration"] = calibration
        app.session_state["active_calibration_source"] = "a test"
        files = [(f"{i}.png", png(xray.grey), "image/png") for i, xray in enumerate(draw_xrays(xrays, 0))]
        return classify(screen("diagnose"), files)

    return show


def test_xrays_above_the_threshold_are_marked_and_many_raise_the_alarm(results):
    at = results(drawn(1000, 0.0))
    (alarm,) = at.error
    assert alarm.icon
    assert "6 of 6 X-rays are unlike your calibration's" in texts(at)
    assert "The promised coverage cannot be relied on here. Calibrate with X-rays like these." in texts(at)
    assert sum(OUTSIDE in one.value for one in at.warning) == 6
    assert not any("badge[" in one.value and "diagnos" in one.value for one in at.markdown), "no reading to trust"
    assert all('class="set muted"' in bars for bars in set_bars(at))
    viewers(at)[0].click().run()
    assert f"{OUTSIDE} Unlike" in texts(at)
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    assert all(OUTSIDE in said for said in at.dataframe[0].value["caution"])


@pytest.mark.parametrize(
    "calibration",
    [
        drawn(1000, 0.9999),
        drawn(100),
        simulate(np.linspace(0, 1, 1000), plan(1000, 0.1, 1.0), np.random.default_rng(0)),
    ],
    ids=["private threshold near 1", "too few records", "no private threshold"],
)
def test_the_public_threshold_applies_whatever_the_calibration(results, calibration, monkeypatch):
    public = NoveltyThreshold(0.0, TRAINED_ON, 0.03, 0.05)
    monkeypatch.setattr("ppsets_core.diagnose.novelty._public", lambda model: public)
    at = results(calibration, 1)
    assert sum(OUTSIDE in one.value for one in at.warning) == 1
    assert kinds(at)["Unfamiliar"] == 1


def with_novelty(records: int) -> bytes:
    rng = np.random.default_rng(0)
    rows = [f"{i},{s!r},{f!r}" for i, (s, f) in enumerate(rng.random((records, 2)).tolist())]
    return "\n".join(["patient,score,novelty", *rows]).encode()


def test_a_private_novelty_threshold_is_asked_for_and_paid_out_of_the_same_epsilon(upload, ledger):
    at = upload(content=with_novelty(900))
    assert "This takes ε" not in texts(at)
    at.slider(key="novelty_share").set_value(0.2).run()
    assert "This takes ε = 0.2 of 1 and leaves 0.8" in texts(at)
    release(at, "ε = 1")
    released = ledger.releases()[0].calibration
    assert released.novelty == plan(900, 0.1, 1.0, novelty_share=0.2).novelty
    assert ledger.account("ward").spent == 1
    assert metrics(at)["Familiar up to"] == [f"{released.novelty_threshold:.4g}"]
    assert "Too few records to mark those unlike" in texts(upload(content=with_novelty(120)))
    at = upload(700)
    assert "novelty_share" not in [each.key for each in at.slider], "there is no column `novelty`"
    assert "Those unlike your calibration's are not." in texts(at), "said before spending"
