"""The Model screen in the browser: its card, other weights, fine-tuning, and what becomes of a calibration."""

import re

from ppsets_core import Ledger
from tests.browser.driving import go_to, metric, press, sees, settle, upload, visit
from tests.browser.pictures import xray_archive

LONG = 900_000  # milliseconds: on a busy machine private fine-tuning takes many minutes


def view(page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    settle(page)


def test_card_with_its_figures(app, page):
    visit(page, app, "model")
    assert 75 < float(metric(page, "Accuracy").rstrip("%")) < 100
    page.locator(".js-plotly-plot").nth(1).locator(".main-svg").first.wait_for()


def test_weights_are_saved_loaded_and_put_the_calibration_aside(app, page, tmp_path):
    visit(page, app)
    press(page, "Try the demo")
    go_to(page, "Model")
    view(page, "Weights")
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="Download these weights").click()
    download.value.save_as(tmp_path / "mine.safetensors")
    upload(page, tmp_path / "mine.safetensors")
    press(page, "Use these weights")
    sees(page, re.compile("now classifies with mine.safetensors"))
    sees(page, re.compile("no longer active"))
    sees(page.get_by_test_id("stSidebar"), "No calibration yet.")


def test_a_pickle_is_refused(app, page):
    visit(page, app, "model")
    view(page, "Weights")
    upload(page, {"name": "evil.safetensors", "mimeType": "application/octet-stream", "buffer": b"\x80\x04."})
    press(page, "Use these weights")
    sees(page, re.compile("is a pickle"))


def test_fine_tuning_shows_its_loss_and_can_be_used(app, page):
    visit(page, app, "model")
    view(page, "Fine-tune")
    upload(page, xray_archive("mine.zip", 90, 0, labelled=True))
    page.get_by_role("button", name="Fine-tune", exact=True).click()
    page.get_by_text("What came out").wait_for(timeout=LONG)
    settle(page)
    losses = page.locator(".js-plotly-plot").evaluate_all("plots => plots.map(p => p.data[0].y.length)")
    assert losses == [30]
    press(page, "Use this model")
    sees(page, re.compile("fine-tuned in this session"))


def test_private_fine_tuning_is_paid_for_before_it_begins_and_refused_over_budget(app, page):
    ledger = Ledger(app.home / "ledger.sqlite")
    before = len(ledger.releases())
    visit(page, app, "model")
    view(page, "Fine-tune")
    upload(page, xray_archive("tuned-here.zip", 90, 0, labelled=True))
    page.get_by_text("With differential privacy (DP-SGD)").click()
    settle(page)
    press(page, "Fine-tune …")
    sees(page, re.compile("Spend ε = 3 and δ = 1e-05 of the budget of tuned-here"))
    page.get_by_label("Why (optional)", exact=True).fill("X-rays of our own scanner")
    assert len(ledger.releases()) == before
    page.get_by_role("button", name=re.compile("^Spend ε = 3")).dblclick()
    page.get_by_text("What came out").wait_for(timeout=LONG)
    settle(page)
    assert 2.97 <= float(metric(page, "Privacy spent").removeprefix("ε = ")) <= 3.03
    sees(page, re.compile("Charged to 'tuned-here' before it began"))
    charged = ledger.releases()[-1]
    assert len(ledger.releases()) == before + 1, "a double click is one charge"
    assert (charged.kind, str(charged.epsilon), charged.reason) == ("training", "3.0", "X-rays of our own scanner")
    page.get_by_label("Name of the data set", exact=True).fill("under-another-name")
    page.get_by_label("Name of the data set", exact=True).press("Enter")
    settle(page)
    press(page, "Fine-tune …")
    page.get_by_role("button", name=re.compile("^Spend ε = 3")).click()
    page.get_by_text("Not everyone in these records has room for ε = 3").first.wait_for(timeout=LONG)
    assert len(ledger.releases()) == before + 1


def test_fine_tuning_can_be_cancelled(app, page):
    visit(page, app, "model")
    view(page, "Fine-tune")
    page.get_by_role("radio", name="Synthetic X-rays").click()
    settle(page)
    page.get_by_role("button", name="Fine-tune", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    sees(page, re.compile("Cancelled"))
