"""Calibration records from a labelled folder's probabilities: labels, patients, what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppsets_core import FileError
from ppsets_core.model import FolderPrediction
from ppsets_core.model.folder_records import patients_note, records_of

MODEL = SimpleNamespace(classes=("bacterial-pneumonia", "normal", "viral-pneumonia"), fingerprint="ab" * 8)


def predicted(labels, patients) -> FolderPrediction:
    return FolderPrediction(("a", "b", "c"), labels, patients, np.full((3, 3), 1 / 3), ())


def test_labels_the_model_knows_become_records():
    labels = ("NORMAL", "fracture", None)
    records, refused = records_of("X-rays", MODEL, predicted(labels, ("p1", "", "")))
    assert list(records.labels) == [1]
    assert list(records.scores) == pytest.approx([2 / 3])
    assert list(records.patients) == ["p1"]
    assert (records.classes, records.model, records.source) == (MODEL.classes, MODEL.fingerprint, "X-rays")
    assert [(one.name, one.reason) for one in refused] == [
        ("b", "The model does not know the label 'fracture'."),
        ("c", "It has no label."),
    ]


def test_patients_are_unknown_without_a_column_and_an_xray_that_names_none_counts_as_one():
    labels = ("normal",) * 3
    assert records_of("X", MODEL, predicted(labels, (None,) * 3))[0].patients is None
    records, _ = records_of("X", MODEL, predicted(labels, ("p", "p", "")))
    assert (list(records.patients), records.patient_count) == (["p", "p", ""], 2)
    assert "for 2 of 3 X-rays only" in patients_note(("p", "p", ""))
    assert list(records_of("X", MODEL, predicted(labels, ("p", "p", "q")))[0].patients) == ["p", "p", "q"]
    assert patients_note(("p", "p", "q")) == patients_note((None,) * 3) == ""


def test_no_known_label_says_which_are_known():
    with pytest.raises(FileError, match="bacterial-pneumonia, normal, viral-pneumonia"):
        records_of("X", MODEL, predicted(("x", "y", None), (None,) * 3))
