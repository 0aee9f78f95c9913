"""The Model screen: the card, other weights, fine-tuning, and what that does to a calibration."""

import io

import numpy as np
import pytest

from pages.widgets.model.tuning import Settings, fine_tuning
from pages.widgets.model.weights import bytes_of
from ppsets_core import BudgetError, InputError, LedgerError, plan, read_scores, simulate
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.model import load_model
from ppsets_core.model.report import report
from ppsets_core.progress import Cancelled, JobProgress
from tests.drawn_xrays import draw_xrays
from tests.ledger.spending import named
from tests.model.chests import small_model
from tests.pages.driving import ROOT, button, field, finish, metrics, png, texts
from tests.xrays.samples import zipped

PRIVATE = Settings(1, 8, 1e-3, epsilon=3.0, delta=1e-3)


@pytest.fixture
def model_screen(screen):
    def open_view(view: str):
        at = screen("model")
        at.session_state["model_view"] = view
        return at.run()

    return open_view


@pytest.fixture(scope="module")
def labelled_zip() -> bytes:
    xrays = {f"{xray.label}/{number}.png": png(xray.grey) for number, xray in enumerate(draw_xrays(30, 1))}
    return zipped(xrays | {"normal/notes.txt": b"no picture"})


def calibrated(at):
    drawn = simulate(np.linspace(0, 1, 500), plan(500, 0.1, 5.0), np.random.default_rng(0))
    at.session_state["active_calibration"] = drawn
    return at


def test_the_card_shows_what_the_bundled_scores_say(model_screen):
    at = model_screen("Model card")
    records = read_scores(ROOT / "assets" / "coronahack_softmax.csv")
    expected = report(records.probabilities, records.labels)
    assert metrics(at)["Accuracy"] == [f"{100 * expected.accuracy:.1f}%"]
    table = at.dataframe[0].value.set_index("class")
    assert float(table.loc["Viral pneumonia", "in its set"].rstrip("%")) < 90, "coverage is an average"
    assert "children aged 1–5 from one hospital" in texts(at)
    assert metrics(at)["Calibration error"] == [f"{expected.calibration_error:.3f}"]
    assert len(at.get("plotly_chart")) == 2


def test_other_weights_put_aside_what_belonged_to_the_ones_before_and_back(model_screen):
    at, held = calibrated(model_screen("Weights")), ("classify_calibration", "xrays_listed", "reading_xrays")
    for name in held:
        at.session_state[name] = "of the weights before"
    assert button(at, "Back to").disabled
    weights = ("mine_*2*.safetensors", bytes_of(load_model()), "application/octet-stream")
    at.file_uploader[0].set_value(weights).run()
    button(at, "Use these").click().run()
    assert "now classifies with mine_*2*.safetensors" in texts(at)
    assert "no longer active" in texts(at)
    assert at.session_state["active_calibration"] is None
    assert not any(name in at.session_state for name in held)
    button(at, "Back to").click().run()
    assert "now classifies with the bundled ResNet-18" in texts(at)
    assert "no longer active" not in texts(at)


def test_with_privacy_the_classes_are_those_named_or_the_weights(model_screen, labelled_zip, ledger):
    at = model_screen("Fine-tune")
    assert "tune_epsilon" not in [each.key for each in at.number_input]
    at.toggle(key="tune_private").set_value(True).run()
    assert (at.number_input(key="tune_epsilon").value, at.select_slider(key="tune_delta").value) == (3.0, 1e-5)
    assert "are not private" in texts(at)
    assert "ε is for one X-ray" in texts(at)
    at.text_input(key="tune_classes").set_value("cat, dog").run()
    at.file_uploader[0].set_value([("mine.zip", labelled_zip, "application/zip")]).run()
    field(at.number_input, "budget_tune").set_value(1.0).run()
    assert "ε = 3 is more than the whole budget of 1 for mine" in texts(at)
    field(at.number_input, "budget_tune").set_value(5.0).run()
    button(at, "Fine-tune …").click().run()
    assert "Spend ε = 3 and δ = 1e-05 of the budget of mine?" in texts(at)
    button(at, "Spend ε").click().run()
    at = finish(at, "tuning_job")
    assert "No X-ray has one of the labels cat, dog" in texts(at)
    assert ledger.releases() == []
    base, payment = small_model(classes=("sun", "moon")), TrainingPayment(ledger, named("ward"), 3.0, 1e-5)
    with pytest.raises(InputError, match="No X-ray has one of the labels sun, moon"):
        fine_tuning(base, io.BytesIO(labelled_zip), None, PRIVATE, payment)(JobProgress())


@pytest.mark.training
def test_what_has_no_room_is_refused_before_anything_is_learnt(labelled_zip, ledger):
    account, base = ledger.open_account("ward", 5), small_model()
    first = TrainingPayment(ledger, account, 3.0, 1e-3, request="a click")
    fine_tuning(base, io.BytesIO(labelled_zip), None, PRIVATE, first)(JobProgress())
    for payment, error in (
        (TrainingPayment(ledger, account, 3.0, 1e-3), BudgetError),
        (TrainingPayment(ledger, account, 1.0, 1e-3, request="a click"), LedgerError),
        (None, LedgerError),
    ):
        report = JobProgress()
        with pytest.raises(error):
            fine_tuning(base, io.BytesIO(labelled_zip), None, PRIVATE, payment)(report)
        assert report.said == []
    assert len(ledger.releases()) == 1


@pytest.mark.training
def test_cancelled_before_the_charge_costs_nothing_and_after_it_what_was_charged(labelled_zip, ledger):
    class Impatient(TrainingPayment):
        def charge(self, patients):
            super().charge(patients)
            report.stop.set()

    account, report = ledger.open_account("ward", 5), JobProgress()
    report.stop.set()
    early = TrainingPayment(ledger, account, 3.0, 1e-3)
    with pytest.raises(Cancelled):
        fine_tuning(small_model(), io.BytesIO(labelled_zip), None, PRIVATE, early)(report)
    assert (ledger.releases(), early.is_wasted) == ([], False)
    report, late = JobProgress(), Impatient(ledger, account, 3.0, 1e-3)
    with pytest.raises(Cancelled):
        fine_tuning(small_model(), io.BytesIO(labelled_zip), None, PRIVATE, late)(report)
    assert [one.status for one in ledger.releases()] == ["charged, not released"]
    assert late.is_wasted


@pytest.mark.training
def test_fine_tuning_is_refused_cancelled_or_used(model_screen, labelled_zip):
    def begin(name: str, content: bytes) -> None:
        at.file_uploader[0].set_value([(name, content, "application/zip")]).run()
        button(at, "Fine-tune").click().run()

    at = calibrated(model_screen("Fine-tune"))
    assert button(at, "Fine-tune").disabled
    at.number_input(key="tune_epochs").set_value(2)
    at.select_slider(key="tune_batch").set_value(8)
    begin("notes.zip", b"no zip at all")
    assert finish(at, "tuning_job").error
    begin("mine.zip", labelled_zip)
    at.session_state["tuning_job"].cancel()
    assert "Cancelled" in texts(finish(at, "tuning_job"))
    assert "Accuracy" not in metrics(at)
    begin("mine.zip", labelled_zip)
    finish(at, "tuning_job")
    assert "30 X-rays, classes Bacterial pneumonia, Normal, Viral pneumonia" in texts(at)
    assert "Privacy spent" not in metrics(at)
    assert "normal/notes.txt" in at.dataframe[0].value["file"].tolist()
    button(at, "Use this model").click().run()
    assert "fine-tuned in this session" in texts(at)
    assert at.session_state["active_calibration"] is None
