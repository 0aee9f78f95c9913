"""Every text of every file that can be loaded is shown as text: both it and what is drawn are found by walking."""

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from pydicom.datadict import dictionary_VR
from pydicom.valuerep import STR_VR, VR
from streamlit.testing.v1 import AppTest

from pages.widgets.model.weights import bytes_of
from ppsets_core import Actor, BudgetError, Ledger, Records, calibrate, plan, simulate
from ppsets_core.xrays.dicom import USED
from ppsets_core.xrays.labels import CAUSE, FOLDER, LABEL, MEANT, NAME
from tests.drawn_xrays import draw_xrays
from tests.model.chests import small_model
from tests.pages.driving import button, classify, finish, png, release, viewers
from tests.xrays.samples import dicom, zipped

EVIL = "see [in](evil.org) <i>x **now** :red[y] $z$"
MARKUP = ("](", "<i>", "**now", ":red[", "$z$")
PLAIN = {  # what a browser shows as it is, or not at all
    *("selectbox.options", "selectbox.raw_value", "text_input.default", "text_input.value", "code.code_text"),
    *("plotly_chart.alt", "download_button.url", "bidi_component.js_content", "selectbox.placeholder"),
}
SCREENS = ("home", "calibrate", "diagnose", "explore", "model", "ledger")
CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")
NAMED = f"{EVIL}/{EVIL}.png"
TABLES = [[*MEANT], [NAMED, "normal", "p", "test"]], [[NAME, LABEL, CAUSE, FOLDER], [NAMED, "x", "Virus", "test"]]


def strings(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON document or a message to the browser, with its place."""
    if isinstance(value, str):
        yield path, value
    elif hasattr(value, "ListFields"):
        yield from strings({field.name: inner for field, inner in value.ListFields()}, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, f"{path}.{key}")
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for inner in value:
            yield from strings(inner, path)


def drawn_raw(at: AppTest) -> list[tuple[str, str]]:
    """What would become markup on this screen."""
    found, waiting = [], list(at._tree.children.values())
    while waiting:
        node = waiting.pop()
        waiting += getattr(node, "children", {}).values()
        for path, text in strings(getattr(node, "proto", None) or ()):
            place = f"{node.type}{path}"
            if place == "html.body":
                found += [(place, text)] * ("<i>" in text)
            elif place == "plotly_chart.spec":
                found += [(place, one) for _, one in strings(json.loads(text)) if "<i>" in one]
            elif place not in PLAIN and not path.endswith(".id") and any(sign in text for sign in MARKUP):
                found.append((place, text))
    return found


def clean(at: AppTest) -> AppTest:
    assert not at.exception
    assert drawn_raw(at) == []
    return at


def tour(at: AppTest, screens: Iterable[str] = SCREENS) -> None:
    for name in screens:
        clean(at.switch_page(f"pages/{name}.py").run())


def each_replaced(document: object) -> Iterator[object]:
    """The JSON document with one of its texts replaced by EVIL wherever it stands, for each of its texts."""
    text = json.dumps(document)
    for value in sorted({one for _, one in strings(document)}):
        yield json.loads(text.replace(json.dumps(value), json.dumps(EVIL)))


def documents() -> list[dict]:
    rng = np.random.default_rng(0)
    facts = {"labels": rng.integers(0, 3, 900), "groups": {"site": np.array(["north", "south"] * 450)}}
    records = Records("ward.csv", rng.random(900), CLASSES, novelty=rng.random(900), **facts)
    settings = ({}, {"per": "diagnosis"}, {"per": "site", "groups": ("north", "south")})
    made = [calibrate(records, 0.1, 4.0, novelty_share=0.2, **options) for options in settings]
    return [json.loads(one.to_json()) for one in (*made, simulate(records, plan(900, 0.1, 1.0), rng))]


@pytest.mark.parametrize("document", documents(), ids=["together", "diagnosis", "group", "simulation"])
def test_calibrations(screen, document):
    at = screen("calibrate")
    at.radio(key="source").set_value("A saved calibration").run()
    used, picture = 0, ("a.png", png(draw_xrays(1, 0)[0].grey), "image/png")
    for changed in (document, *each_replaced(document)):
        file = (f"{EVIL}.json", json.dumps(changed).encode(), "application/json")
        at = clean(at.switch_page("pages/calibrate.py").run())
        clean(at.file_uploader(key="saved_calibration").set_value(file).run())
        if not at.error:
            used += 1
            clean(button(at, "Use this").click().run())
            tour(at, ("home", "model", "diagnose"))
            at.segmented_control(key="diagnose_what").set_value("A table of probabilities").run()
            columns = [*(changed["classes"] or CLASSES), *([changed["per"]] if changed["per"] else []), EVIL]
            rows = [columns, [0.8, 0.1, 0.1, *[EVIL] * (len(columns) - 3)]]
            clean(at.file_uploader(key="diagnose_table").set_value((f"{EVIL}.csv", in_csv(rows), "text/csv")).run())
            clean(at.segmented_control(key="diagnose_what").set_value("X-rays").run())
            if changed is document:
                clean(classify(at, [picture]))
    assert used >= 1 + len(CLASSES), "as it is, and with each class replaced"


def in_csv(rows: list[list]) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in rows).encode()


def score_rows() -> list[list]:
    rng = np.random.default_rng(0)
    rows: list[list] = [["patient", "label", *CLASSES, "split", "model", "note"]]
    for number, shares in enumerate(rng.dirichlet([1, 1, 1], 600).tolist()):
        label, part = CLASSES[number % 3], ("calibration", "test")[number % 2]
        rows.append([f"p{number}", label, *shares, part, "ab" * 8, "x"])
    return rows


def test_score_files(screen):
    texts = sorted({cell for row in score_rows()[:4] for cell in row if isinstance(cell, str)})
    at = screen("calibrate")
    at.radio(key="source").set_value("A score file").run()
    for text in texts:
        content = in_csv([[EVIL if cell == text else cell for cell in row] for row in score_rows()])
        clean(at.switch_page("pages/calibrate.py").run())
        clean(at.file_uploader(key="score_file").set_value((f"{EVIL}.csv", content, "text/csv")).run())
        if text == CLASSES[0]:
            clean(release(at))
            tour(at)
        at.session_state["explore_view"] = "By diagnosis"
        at.switch_page("pages/explore.py").run()
        at.segmented_control(key="explore_source").set_value("A public file").run()
        at.file_uploader[0].set_value((f"{EVIL} 2.csv", content, "text/csv")).run()
        clean(at.checkbox(key="explore_is_public").check().run())


def test_weights_and_their_file_name(screen):
    data = bytes_of(small_model(classes=("sun", "moon")))
    size = int.from_bytes(data[:8], "little")
    header, at = json.loads(data[8 : 8 + size]), screen("model")
    facts = json.loads(header["__metadata__"]["ppsets"])
    used = 0
    for changed in each_replaced(facts):
        header["__metadata__"]["ppsets"] = json.dumps(changed)
        head = json.dumps(header).encode()
        content = len(head).to_bytes(8, "little") + head + data[8 + size :]
        at.session_state["model_view"] = "Weights"
        at.switch_page("pages/model.py").run()
        at.file_uploader[0].set_value((f"{EVIL}.safetensors", content, "")).run()
        clean(button(at, "Use these").click().run())
        if not at.error:
            used += 1
            tour(at)
    assert used == 2, "the two classes"


def test_the_ledger(app, ledger, home, monkeypatch):
    """Every text of every entry, those within the calibration that it holds too."""
    who, records = {"actor": Actor("https://id", "anna"), "reason": "why"}, Records("ward", np.linspace(0, 1, 600))
    account = ledger.open_account("ward", 2, **who)
    ledger.release(records, plan(600, 0.1, 1.5), account, **who)
    ledger.publish(ledger.releases()[0], **who)
    with pytest.raises(BudgetError):
        ledger.release(records, plan(600, 0.1, 1.0), account, **who)
    with ledger._store.reading() as log:
        entries = [(one.kind, one.body | {"text": json.loads(one.body.get("text", "null"))}) for one in log.entries]
    for number, changed in enumerate(each_replaced(entries)):
        monkeypatch.setenv("PPSETS_HOME", str(home / str(number)))
        with Ledger(home / str(number) / "ledger.sqlite")._store.writing() as log:
            for kind, body in changed:
                log.append(kind, body | {"text": json.dumps(body["text"])})
        tour(app, ("ledger", "home", "calibrate"))


def hostile_dicoms() -> Iterator[bytes]:
    """An X-ray for each text that is read of its header, replaced."""
    pixels = (255 * draw_xrays(1, 0)[0].grey).astype(np.uint8)
    for name in USED:
        if dictionary_VR(name) in STR_VR - {VR.DS, VR.IS}:
            yield dicom(pixels, **{"Modality": "DX", name: EVIL})
    yield dicom(pixels).replace(b"1.2.840.10008.1.2.1\0", b"<i>x **now** :red[y]")


def test_xrays_their_headers_names_and_labels(app, screen, tmp_path, monkeypatch):
    drawn = simulate(np.linspace(0, 1, 2000), plan(2000, 0.2, 5.0, m=100), np.random.default_rng(0))
    app.session_state["active_calibration"] = drawn
    files = [(f"{EVIL} {number}.dcm", data, "") for number, data in enumerate(hostile_dicoms())]
    assert len(files) > 15
    at = clean(classify(screen("diagnose"), [*files, (f"{EVIL}.png", b"no picture", "")]))
    clean(viewers(at)[0].click().run())
    monkeypatch.setenv("PPSETS_DATA", str(tmp_path))
    (tmp_path / EVIL).mkdir()
    at = at.switch_page("pages/calibrate.py").run()
    at.radio(key="source").set_value("X-rays with labels").run()
    picture = png(draw_xrays(1, 0)[0].grey)
    for table in TABLES:
        for text in {cell for row in table for cell in row}:
            labels = in_csv([[EVIL if cell == text else cell for cell in row] for row in table])
            archive = zipped({NAMED: picture, "normal/a.png": picture, "labels.csv": labels})
            clean(at.file_uploader[0].set_value([(f"{EVIL}.zip", archive, "")]).run())
    at.file_uploader[0].set_value([(f"{EVIL}.zip", zipped({f"normal/{EVIL}.png": picture}), "")]).run()
    at.button(key="classify").click().run()
    clean(finish(at, "classify_calibration"))
    clean(at.segmented_control(key="calibrate_way").set_value("On the server").run())
