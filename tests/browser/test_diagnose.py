"""From X-rays to ranked sets in the browser: files, zip, DICOM, what is no X-ray, many pages, a narrow window."""

import csv
import re

from tests.browser.driving import fits, go_to, metric, press, sees, settle, upload, visit
from tests.browser.pictures import colour_photo, png, xray_archive, xray_dicom, xray_pngs

CARDS = "[class*=st-key-card-]"


def diagnose(page, app, *files):
    """Home's demo, then Diagnose with these files, until their sets are there."""
    visit(page, app)
    press(page, "Try the demo")
    sees(page, "Active calibration:")
    settle(page)
    go_to(page, "Diagnose")
    if files:
        upload(page, *files)
        press(page, re.compile("Get prediction sets"))
        page.locator(CARDS).first.wait_for(timeout=240_000)
        settle(page)


def press_look(page, card: int = 0) -> None:
    page.locator(CARDS).nth(card).get_by_role("button", name="Open viewer").click()
    page.get_by_role("img", name=re.compile("pixels")).wait_for()
    settle(page)


def test_without_a_calibration_there_is_a_way_on(app, page):
    visit(page, app, "diagnose")
    sees(page, "This session has no calibration yet")
    page.get_by_test_id("stMain").get_by_role("link", name=re.compile("demo")).click()
    page.get_by_role("heading", name=re.compile("Private prediction sets")).wait_for()


def test_demo_to_ranked_sets_of_the_synthetic_x_rays(app, new_page):
    page = new_page(1280)
    diagnose(page, app)
    press(page, re.compile("Use the synthetic"))
    page.locator(CARDS).first.wait_for(timeout=240_000)
    settle(page)
    assert page.locator(CARDS).count() == 12
    assert page.locator(CARDS).filter(has_text="Synthetic").count() == 12
    sees(page, "not a guarantee for any single patient")
    page.locator(CARDS).first.locator(".main-svg").first.wait_for()
    page.get_by_role("tab", name="Table").click()
    table = page.get_by_test_id("stDataFrame").last
    table.locator(".dvn-scroller").wait_for()
    assert fits(table)


def test_pictures_have_no_address_that_anyone_could_ask_for(app, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    diagnose(page, app, *xray_pngs(2, 6))
    assert page.locator(f"{CARDS} img[alt^='X-ray'][src^='data:image/jpeg;base64,']").count() == 2
    assert [url for url in asked if re.search(r"/media/.*\.(jpe?g|png)", url)] == []


def test_files_dicom_and_what_is_no_x_ray(app, page, tmp_path):
    odd = colour_photo("<b>photo<b> *x*.png")
    torn = png("torn.png", xray_grey())
    torn["buffer"] = torn["buffer"][:200]
    diagnose(page, app, *xray_pngs(2, 0), xray_dicom("scan.dcm", 3), odd, torn)
    assert metric(page, "Flagged") == "1"
    assert sum(int(metric(page, name)) for name in ("One diagnosis", "Several", "None")) == 3
    sees(page, "1 file was left out")
    sees(page, "<b>photo<b> *x*.png")
    sees(page, "A colour picture")
    page.get_by_role("tab", name="Table").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile(r"Download all sets .CSV.")).click()
    download.value.save_as(tmp_path / "sets.csv")
    rows = list(csv.DictReader((tmp_path / "sets.csv").open(encoding="utf-8")))
    assert [row["file"] for row in rows] == ["xray 00.png", "xray 01.png", "scan.dcm", "<b>photo<b> *x*.png"]
    assert rows[3]["reading"] == "flagged"
    assert {(row["alpha"], row["epsilon"], row["calibration data set"]) for row in rows} == {
        ("0.1", "1.0", "coronahack-demo")
    }
    assert all(row["cutoff(normal)"] and row["model"] and row["exported"] for row in rows)


def test_zip_pages_filter_order_and_heat_map(app, page):
    received: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(frame)))
    diagnose(page, app, xray_archive("xrays.zip", 14, 0))
    assert page.locator(CARDS).count() == 12
    received.clear()
    page.get_by_role("button", name="Page 2", exact=True).click()
    settle(page)
    page.wait_for_function(f"document.querySelectorAll('{CARDS}').length === 2")
    sent = b"".join(received)
    assert sent.count(b"data:image/jpeg") == 2  # a page turn sends that page, however many X-rays there are
    assert set(re.findall(rb"(\d{3})\\?\.png", sent)) == {b"012", b"013"}
    one = int(metric(page, "One diagnosis"))
    page.get_by_role("radio", name=re.compile(r"^One \(")).click()
    settle(page)
    page.wait_for_function(f"document.querySelectorAll('{CARDS}').length === {min(one, 12)}")
    page.get_by_role("radio", name=re.compile(r"^All \(")).click()
    settle(page)
    press_look(page)
    page.get_by_role("dialog").get_by_role("combobox", name=re.compile("Where the model looked")).click()
    page.get_by_role("option", name="for normal").click()
    sees(page, "not where disease is")
    page.get_by_role("slider", name="Heat map").wait_for()


def test_cards_stay_while_other_screens_are_visited_and_no_one_else_sees_them(app, new_page):
    page, other = new_page(), new_page()
    diagnose(page, app, *xray_pngs(1, 4))
    go_to(page, "Explore")
    go_to(page, "Diagnose")
    page.locator(CARDS).first.wait_for()
    diagnose(other, app)
    assert other.locator(CARDS).count() == 0


def test_a_folder_is_uploaded_whole(app, page, tmp_path):
    for number, file in enumerate(xray_pngs(3, 2)):
        ward = tmp_path / "clinic" / f"ward {number % 2}"
        ward.mkdir(parents=True, exist_ok=True)
        (ward / file["name"]).write_bytes(file["buffer"])
    (tmp_path / "clinic" / "notes.txt").write_text("no picture")
    diagnose(page, app)
    page.get_by_text("A folder", exact=True).click()
    settle(page)
    upload(page, tmp_path / "clinic")
    press(page, re.compile("Get prediction sets"))
    page.locator(CARDS).nth(2).wait_for(timeout=240_000)
    sees(page, "1 file was left out")
    assert page.locator(CARDS).filter(has_text="ward 1/").count() == 1


def test_classifying_can_be_cancelled(app, page):
    diagnose(page, app, *xray_pngs(1, 5))
    page.get_by_role("button", name=re.compile("^Remove")).click()
    settle(page)
    upload(page, xray_archive("many.zip", 600, 0))
    page.get_by_role("button", name=re.compile("Get prediction sets")).click()
    page.get_by_role("button", name="Cancel").click()
    sees(page, re.compile("Cancelled"))
    settle(page)
    assert page.locator(CARDS).count() == 1


def test_unusable_files_get_a_sentence(app, page):
    visit(page, app)
    press(page, "Try the demo")
    go_to(page, "Diagnose")
    upload(page, {"name": "page.png", "mimeType": "image/png", "buffer": b"<html>"})
    press(page, re.compile("Get prediction sets"))
    sees(page, re.compile("no usable X-ray"))


def test_cards_fit_a_narrow_window(app, new_page):
    page = new_page(400)
    visit(page, app)
    press(page, "Try the demo")
    press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    upload(page, *xray_pngs(2, 1))
    press(page, re.compile("Get prediction sets"))
    page.locator(CARDS).first.wait_for(timeout=240_000)
    settle(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400


def xray_grey():
    from tests.drawn_xrays import draw_xrays

    return draw_xrays(1, 9)[0].grey
