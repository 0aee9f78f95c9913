"""Diagnose with a table of a 14-class model: sets, check, private check, refusals; and parts on Calibrate."""

import pytest

from ppsets_core import calibrate, evaluate, read_scores
from tests.many_classes import CLASSES, table
from tests.pages.driving import button, field, labels, metrics, records_read, texts


@pytest.fixture(scope="module")
def calibration():
    return calibrate(read_scores(table(3000, 0).encode(), "cal.csv"), 0.1, 4.0, per="diagnosis")


@pytest.fixture
def diagnose(app, screen, calibration):
    app.session_state["active_calibration"] = calibration
    app.session_state["active_calibration_source"] = "a test"
    return screen("diagnose")


def give(at, text: str, name: str = "new.csv"):
    return at.file_uploader(key="diagnose_table").set_value((name, text.encode(), "text/csv")).run()


def test_a_calibration_of_14_classes_opens_on_tables_and_is_refused_for_x_rays(diagnose):
    assert diagnose.segmented_control(key="diagnose_what").value == "A table of probabilities"
    at = diagnose.segmented_control(key="diagnose_what").set_value("X-rays").run()
    assert "This calibration cannot be used for X-rays with this model" in texts(at)
    assert "for 14 classes" in texts(at)
    assert not at.file_uploader


def test_sets_and_check_are_those_of_the_library(diagnose, calibration):
    at = give(diagnose, table(700, 1))
    assert not at.exception
    patients = read_scores(table(700, 1).encode(), classes=CLASSES, labels="optional")
    held = evaluate(patients.probabilities, patients.labels, calibration)
    found = metrics(at)
    assert found["Rows"] == ["700"]
    assert found["One diagnosis"] == [f"{held.size_counts[1]:,}"]
    assert "Not private: computed from the labels" in texts(at)
    by_diagnosis = at.dataframe[0].value
    assert by_diagnosis["covered"][0] == f"{held.covered:,} of 700"
    assert by_diagnosis["diagnosis"].tolist() == ["all together", *CLASSES]
    field(at.segmented_control, "table_filter").set_value("Missed").run()
    shown = at.dataframe[-1].value
    assert len(shown) == 700 - held.covered
    assert set(shown["covered"]) == {"Missed"}
    field(at.segmented_control, "table_filter").set_value("All").run()
    shown = at.dataframe[-1].value
    assert shown["id"].tolist() == [f"n{i}" for i in range(700)]
    assert sum("All sets" in each.label for each in at.get("download_button")) == 3


def test_a_private_check_is_confirmed_charged_once_and_shown(diagnose, ledger):
    at = give(diagnose, table(700, 1))
    button(at, "Release a private check").click().run()
    assert "Spend ε = 0.5 of the budget of new" in texts(at)
    button(at, "Spend ε = 0.5 and release").click().run()
    assert "this may be shown to anyone" in texts(at)
    (release,) = ledger.releases()
    assert (release.check.n, str(release.epsilon)) == (700, "0.5")
    at.run()
    assert len(ledger.releases()) == 1
    assert "Release a private check …" in labels(at)


def test_without_labels_there_is_no_check_and_another_models_table_is_refused(diagnose):
    at = give(diagnose, table(30, 1, labelled=False))
    assert "Did the promise hold" not in texts(at)
    assert len(at.dataframe[-1].value) == 30
    give(at, "id,a,b\n1,0.5,0.5")
    assert "Use the calibration of the model that gave these probabilities" in texts(at)
    assert "Rows" not in metrics(at)


def test_a_split_column_offers_its_parts_and_leaves_training_out(upload, at):
    parts = ["train", "calibration", "test"] * 300
    upload(content=table(900, 0, extra={"split": parts}).encode())
    assert "300 rows of the training part are left out" in texts(at)
    assert records_read(at)[-1] == "300"
    at.selectbox[0].set_value("All of them").run()
    assert records_read(at)[-1] == "600"
