"""The demo, and what every screen shares."""

from ppsets_core import Ledger
from tests.browser.driving import press, sees, visit


def ledger_of(app) -> Ledger:
    return Ledger(app.home / "ledger.sqlite")


def test_demo_leads_to_a_calibration_and_on_to_diagnose(app, page):
    visit(page, app)
    press(page, "Try the demo")
    sees(page, "charged once to 'coronahack-demo'")
    spent = ledger_of(app).account("coronahack-demo").spent
    press(page, "Try the demo")
    assert ledger_of(app).account("coronahack-demo").spent == spent
    sees(page.get_by_test_id("stSidebar"), "Calibrated with coronahack-demo")
    page.get_by_role("button", name="Go to Diagnose").click()
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    sees(page.get_by_test_id("stSidebar"), "Calibrated with coronahack-demo")


def test_each_session_has_its_own_calibration(app, new_page):
    calibrated, other = new_page(), new_page()
    visit(calibrated, app)
    press(calibrated, "Try the demo")
    visit(other, app)
    sees(other.get_by_test_id("stSidebar"), "No calibration yet.")
    sees(calibrated.get_by_test_id("stSidebar"), "Calibrated with")


def test_not_a_device_is_said_once_visibly_wide_and_narrow(app, new_page):
    for width in (1400, 400):
        page = new_page(width)
        visit(page, app, "calibrate")
        boxes = [notice.bounding_box() for notice in page.get_by_text("Not a medical device").all()]
        assert [box["x"] >= 0 for box in boxes if box].count(True) == 1
