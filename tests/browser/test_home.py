"""The demo, and what every screen shares."""

from ppsets_core import Ledger
from tests.browser.driving import go_to, press, settle, visit


def ledger_of(app) -> Ledger:
    return Ledger(app.home / "ledger.sqlite")


def test_demo_leads_to_a_calibration_and_on_to_diagnose(app, page):
    visit(page, app)
    press(page, "Try the demo")
    page.get_by_text("charged once to 'coronahack-demo'").wait_for()
    spent = ledger_of(app).dataset("coronahack-demo").spent
    press(page, "Try the demo")
    assert ledger_of(app).dataset("coronahack-demo").spent == spent
    assert page.get_by_test_id("stSidebar").get_by_text("Calibrated with coronahack-demo").is_visible()
    page.get_by_role("button", name="Go to Diagnose").click()
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    assert page.get_by_test_id("stSidebar").get_by_text("Calibrated with coronahack-demo").is_visible()


def test_each_session_has_its_own_calibration(app, new_page):
    calibrated, other = new_page(), new_page()
    visit(calibrated, app)
    press(calibrated, "Try the demo")
    visit(other, app)
    assert other.get_by_test_id("stSidebar").get_by_text("No calibration yet.").is_visible()
    assert calibrated.get_by_test_id("stSidebar").get_by_text("Calibrated with").is_visible()


def test_not_a_device_is_visible_wide_and_narrow(app, new_page):
    for width in (1400, 400):
        page = new_page(width)
        visit(page, app, "calibrate")
        notices = page.get_by_text("Not a medical device")
        assert [notices.nth(i).is_visible() for i in range(notices.count())].count(True) >= 1
        if width == 1400:
            go_to(page, "Ledger")
            settle(page)
