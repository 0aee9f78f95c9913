"""Records as values, and one record per patient, chosen without looking at scores or at other patients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsets_core import one_per_patient, read_scores
from ppsets_core.data import Records


def records(patients: list[str], scores=None) -> Records:
    scores = np.arange(len(patients)) / max(1, len(patients)) if scores is None else np.asarray(scores)
    return Records("test", scores, patients=np.array(patients))


PATIENTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40)


@given(PATIENTS)
def test_each_patient_keeps_exactly_one_of_its_own_records(patients):
    before = records(patients)
    after = one_per_patient(before)
    assert sorted(after.patients) == sorted(set(patients))
    for patient, score in zip(after.patients, after.scores, strict=True):
        assert score in before.scores[before.patients == patient]


@given(PATIENTS, st.integers(0, 5))
def test_the_choice_does_not_depend_on_scores(patients, seed):
    rising = one_per_patient(records(patients, np.linspace(0, 1, len(patients))), seed)
    falling = one_per_patient(records(patients, np.linspace(1, 0, len(patients))), seed)
    assert np.allclose(rising.scores, 1 - falling.scores)


def test_every_record_of_a_patient_has_its_chance():
    patients = [str(i) for i in range(2000) for _ in range(2)]
    kept = one_per_patient(records(patients, np.tile([0.0, 1.0], 2000)))
    assert 0.45 < kept.scores.mean() < 0.55


@pytest.mark.parametrize("patients", [["a", "b"], ["a", "a"], ["", "a"], ["", ""], None])
def test_the_unit_is_the_choice_where_there_is_a_column_of_patients_whoever_is_in_it(patients):
    scores = np.array([0.5, 0.25])
    read = Records("s", scores, patients=patients and np.array(patients))
    assert read.unit == "record"
    assert one_per_patient(read).unit == ("record" if patients is None else "patient")


def test_a_record_without_a_name_is_a_patient_of_its_own():
    table = read_scores(b"patient,score\na,0.1\n,0.2\na,0.3\n,0.4\nb,0.5\n,0.2\n")
    assert table.patient_count == 5
    kept = one_per_patient(table)
    assert kept.patients.tolist().count("") == 3
    assert [score for score, patient in zip(kept.scores, kept.patients, strict=True) if not patient] == [0.2, 0.4, 0.2]
    assert len(kept) == 5
