"""Familiar or not on the screens: ε's share on Calibrate, marks and alarm on Diagnose, whom the model is for."""

import dataclasses

import numpy as np
import pytest

from pages.widgets.diagnose.results import A_PAGE
from ppsets_core import Records, plan, simulate
from ppsets_core.diagnose.novelty import OUTSIDE
from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.browser.samples import unfamiliar
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import classify, field, kinds, metrics, png, release, set_bars, texts, viewers

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


def drawn(n: int, novelty: float | None = None):
    """A simulated calibration with the cutoff 0.5 and, where it is given, this private novelty threshold."""
    rng = np.random.default_rng(0)
    records = Records("", rng.random(n), CLASSES, model=bundled_fingerprint(), novelty=rng.random(n))
    found = simulate(records, plan(n, 0.1, 1.0, novelty_share=0.2), rng)
    return dataclasses.replace(found, drawn=(0.5, found.novelty_threshold if novelty is None else novelty))


@pytest.fixture
def show(app, screen):
    """Diagnose with a calibration: pixels by the start of their files' names, and a table of labels."""

    def give(calibration, xrays: dict[str, list[np.ndarray]], labels: str = ""):
        app.session_state["active_calibration"] = calibration
        app.session_state["active_calibration_source"] = "a test"
        named = {f"{name} {i}.png": pixels for name, each in xrays.items() for i, pixels in enumerate(each)}
        files = [(name, png(pixels / 255), "image/png") for name, pixels in named.items()]
        table = [("labels.csv", labels.encode(), "text/csv")] if labels else []
        return classify(screen("diagnose"), [*files, *table])

    return give


def test_xrays_above_the_private_threshold_are_marked_and_many_raise_the_alarm(show):
    at = show(drawn(1000, 0.0), {"child": [xray.pixels for xray in draw_xrays(6, 0)]})
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
    assert set(at.dataframe[0].value["caution"]) == {"Do not rely on this set"}


@pytest.mark.parametrize(
    ("count", "calibration"),
    [
        (1, drawn(126)),
        (5, drawn(126)),
        (12, drawn(126)),
        (5, drawn(1000, 0.9999)),
        (5, simulate(np.linspace(0, 1, 1000), plan(1000, 0.1, 1.0), np.random.default_rng(0))),
    ],
    ids=["1 of few", "5 of few", "12 of few", "private threshold near 1", "no private threshold"],
)
def test_every_unfamiliar_flagged_and_missed_card_says_so_whatever_the_calibration(show, count, calibration):
    """By the public threshold: blurred X-rays are unlike the model's, half a chest is no frontal view."""
    children = [xray.pixels for xray in draw_xrays(count, 0, "normal")]
    halves = [pixels[:, : pixels.shape[1] // 2] for pixels in children]
    labels = "file,label\n" + "\n".join(f"missed {i}.png,bacterial-pneumonia" for i in range(count))
    at = show(calibration, {"adult": list(map(unfamiliar, children)), "lateral": halves, "missed": children}, labels)
    says = {
        "Unfamiliar": OUTSIDE,
        "Flagged": "Does not look like a frontal view.",
        "Missed": "Missed · true: Bacterial",
    }
    for kind, words in says.items():
        shown = 2 * count if kind == "Unfamiliar" else count  # half a chest is unfamiliar, too
        assert kinds(at)[kind] == shown
        field(at.segmented_control, "diagnose_filter").set_value(kind).run()
        assert len(viewers(at)) == texts(at).count(words) == min(shown, A_PAGE), kind


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
    assert "too few records to mark those unlike" in texts(upload(content=with_novelty(120)))
    at = upload(700)
    assert "novelty_share" not in [each.key for each in at.slider], "there is no column `novelty`"
    assert "X-rays unlike those of your calibration are not." in texts(at), "said before spending"
