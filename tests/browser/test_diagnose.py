"""From X-rays to ranked sets: files, a folder, a zip of many pages, what is no X-ray, a long run stopped."""

import csv
import io
import re
import zipfile

from pydicom import dcmread

from ppsets_core.diagnose.novelty import OUTSIDE
from tests.browser import driving as ui
from tests.browser.samples import colour_photo, png, unfamiliar, xray_archive, xray_dicom, xray_pngs
from tests.drawn_xrays import draw_xrays
from tests.reports.reading import Read

FOLDER = "input[type=file][webkitdirectory]"
STUDY = {"StudyInstanceUID": "1.2.3.1", "SeriesInstanceUID": "1.2.3.1.2", "SOPInstanceUID": "1.2.3.1.2.1"}


def test_files_dicom_and_what_is_no_x_ray(app, page):
    """Pictures go with the screen itself: they have no address that anyone could ask for."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    odd, torn = colour_photo("<b>photo<b> *x*.png"), {**xray_pngs(1, 9)[0], "name": "torn.png"}
    torn["buffer"] = torn["buffer"][:200]
    ui.demo(page, app)
    assert ui.first_card(page)["y"] < 300, "in the top third of the window"
    ui.get_sets(page, *xray_pngs(2, 0), xray_dicom("scan.dcm", 3, **STUDY), odd, torn)
    assert ui.first_card(page)["y"] < 450, "below the file that was left out"
    found = ui.kinds(page)
    assert (found["All"], found["Flagged"]) == (4, 1)
    for told in ("1 file was left out", "<b>photo<b> *x*.png", "A colour picture"):
        ui.sees(page, told)
    assert page.locator(f"{ui.CARDS} img[alt^='X-ray'][src^='data:image/jpeg;base64,']").count() == 4
    assert [url for url in asked if re.search(r"/media/.*\.(jpe?g|png)", url)] == []
    rows = list(csv.DictReader(ui.downloaded(page, "All sets (CSV)").decode().splitlines()))
    assert [row["file"] for row in rows] == ["xray 00.png", "xray 01.png", "scan.dcm", "<b>photo<b> *x*.png"]
    assert rows[3]["reading"] == "flagged"
    told = {(float(row["alpha"]), float(row["epsilon"]), row["calibration data set"]) for row in rows}
    assert told == {(0.1, 1.0, "coronahack-demo")}
    archive = zipfile.ZipFile(io.BytesIO(ui.downloaded(page, "DICOM structured reports (zip)")))
    (name,) = archive.namelist()
    report = dcmread(io.BytesIO(archive.read(name)))
    assert (report.Modality, report.StudyInstanceUID) == ("SR", STUDY["StudyInstanceUID"])


def test_cards_stay_in_the_top_third_below_the_alarm(app, page):
    ui.to_diagnose(page, app)
    greys = [unfamiliar(xray.pixels) / 255 for xray in draw_xrays(5, 0)]
    ui.get_sets(page, *(png(f"{number}.png", grey) for number, grey in enumerate(greys)))
    ui.sees(page, re.compile("5 of 5 X-rays are unlike"))
    assert ui.first_card(page)["y"] <= 300
    assert page.locator(ui.CARDS).filter(has_text=OUTSIDE).count() == 5


def test_a_zip_of_several_pages_is_sent_page_by_page_and_to_nobody_else(app, new_page):
    page, other = new_page(), new_page()
    received: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(frame)))
    ui.to_diagnose(page, app)
    ui.get_sets(page, xray_archive("xrays.zip", 14, 0))
    assert page.locator(ui.CARDS).count() == 12
    received.clear()
    ui.press(page, "Page 2")
    page.wait_for_function(f"document.querySelectorAll('{ui.CARDS}').length === 2")
    sent = b"".join(received)
    assert sent.count(b"data:image/jpeg") == 2, "a page turn sends that page, however many X-rays there are"
    assert set(re.findall(rb"(\d{3})\\?\.png", sent)) == {b"012", b"013"}
    ui.go_to(page, "Explore")
    ui.go_to(page, "Diagnose")
    page.locator(ui.CARDS).first.wait_for()
    ui.to_diagnose(other, app)
    assert other.locator(ui.CARDS).count() == 0, "no one else sees them"


def test_a_folder_is_uploaded_whole_and_a_long_run_can_be_cancelled(app, page, tmp_path):
    for number, file in enumerate(xray_pngs(3, 2)):
        ward = tmp_path / "clinic" / f"ward {number % 2}"
        ward.mkdir(parents=True, exist_ok=True)
        (ward / file["name"]).write_bytes(file["buffer"])
    (tmp_path / "clinic" / "notes.txt").write_text("no picture")
    ui.to_diagnose(page, app)
    if (change := ui.button(page, ui.CHANGE)).count():
        change.press("Enter")
    page.get_by_text("A folder", exact=True).click()
    page.locator(FOLDER).wait_for(state="attached")
    ui.settle(page)
    ui.upload(page, tmp_path / "clinic")
    page.locator(ui.CARDS).nth(2).wait_for(timeout=240_000)
    ui.sees(page, "1 file was left out")
    page.locator(ui.CARDS).filter(has_text="ward 1/").wait_for()
    ui.press(page, ui.CHANGE)
    page.get_by_text("Files or a zip", exact=True).click()
    page.locator(FOLDER).first.wait_for(state="detached")
    ui.settle(page)
    many = xray_archive("many.zip", 600, 0)
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files([many])
    ui.button(page, "Cancel").press("Enter")
    ui.sees(page, re.compile("Cancelled"))
    ui.settle(page)
    assert page.locator(ui.CARDS).count() == 3, "the earlier results stay"


def test_labels_in_a_zip_are_checked_and_the_report_says_so(app, page):
    ui.to_diagnose(page, app)
    ui.get_sets(page, xray_archive("ward.zip", 6, 0, labelled=True))
    ui.sees(page, "6 X-rays of ward.zip")
    page.get_by_text("Coverage check").click()
    ui.sees(page, "6 patients checked")
    check = page.locator(".st-key-check").get_by_test_id("stAlertContainer").first.inner_text()
    report = Read(ui.downloaded(page, "Report to print (HTML)").decode())
    assert " ".join(check.split()) in report.words
