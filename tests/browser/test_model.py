"""Model: private fine-tuning, from the X-rays to the charge."""

import re

from tests.browser import driving as ui
from tests.browser.samples import xray_archive


def test_private_fine_tuning_is_paid_for_before_it_begins(app, page):
    ledger = ui.ledger_of(app)
    before = len(ledger.releases())
    ui.visit(page, app, "model")
    ui.tab(page, "Fine-tune")
    ui.upload(page, xray_archive("tuned-here.zip", 90, 0, labelled=True))
    page.get_by_text("With differential privacy (DP-SGD)").click()
    ui.settle(page)
    ui.press(page, "Fine-tune …")
    ui.sees(page, re.compile("Spend ε = 3 and δ = 1e-05 of the budget of tuned-here"))
    ui.fill(page, "Why (optional)", "X-rays of our own scanner")
    assert len(ledger.releases()) == before
    ui.press_twice(page, ui.SPEND)
    page.get_by_text("What came out").wait_for(timeout=3 * ui.LONG)
    ui.settle(page)
    assert 2.97 <= float(ui.metric(page, "Privacy spent").removeprefix("ε = ")) <= 3.03
    ui.sees(page, re.compile("Charged to 'tuned-here' before it began"))
    assert page.locator(".js-plotly-plot").count() == 1
    charged = ledger.releases()[-1]
    assert len(ledger.releases()) == before + 1, "a double click is one charge"
    assert (charged.kind, str(charged.epsilon), charged.reason) == ("training", "3.0", "X-rays of our own scanner")
