"""One record a patient, chosen without looking at scores or at other patients."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ppsets_core import one_per_patient, read_scores
from ppsets_core.records import Records


def records(patients: list[str], scores=None) -> Records:
    scores = np.arange(len(patients)) / max(1, len(patients)) if scores is None else np.asarray(scores)
    return Records("test", scores, scores, patients=np.array(patients))


PATIENTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40)


@given(PATIENTS)
def test_each_patient_keeps_exactly_one_of_its_own_records(patients):
    before = records(patients)
    after = one_per_patient(before)
    assert sorted(after.patients) == sorted(set(patients))
    for patient, score in zip(after.patients, after.scores, strict=True):
        assert score in before.scores[before.patients == patient]
    assert (after.uploaded == before.uploaded).all()


@given(PATIENTS, st.integers(0, 5))
def test_the_choice_does_not_depend_on_scores(patients, seed):
    rising = one_per_patient(records(patients, np.linspace(0, 1, len(patients))), seed)
    falling = one_per_patient(records(patients, np.linspace(1, 0, len(patients))), seed)
    assert np.allclose(rising.scores, 1 - falling.scores)


@given(PATIENTS, st.integers(0, 6))
def test_replacing_a_patient_replaces_one_record(patients, copies):
    """Patient a's records, however many, become others: every other patient keeps the very same record."""
    others = [p for p in patients if p != "a"]
    scores = np.linspace(0, 0.5, len(others))
    with_a = one_per_patient(records([*others, "a"], [*scores, 0.9]))
    with_more = one_per_patient(records(["a"] * (copies + 1) + others, [*np.linspace(0.6, 1, copies + 1), *scores]))
    kept = [dict(zip(r.patients, r.scores, strict=True)) for r in (with_a, with_more)]
    assert {p: s for p, s in kept[0].items() if p != "a"} == {p: s for p, s in kept[1].items() if p != "a"}
    assert len(with_a) == len(with_more)


def test_every_record_of_a_patient_has_its_chance():
    patients = [str(i) for i in range(2000) for _ in range(2)]
    kept = one_per_patient(records(patients, np.tile([0.0, 1.0], 2000)))
    assert 0.45 < kept.scores.mean() < 0.55


def test_probabilities_and_labels_follow():
    table = read_scores(b"patient,label,a,b\n1,a,0.9,0.1\n1,b,0.2,0.8\n2,a,0.6,0.4")
    kept = one_per_patient(table)
    assert len(kept) == 2
    for row, label, score in zip(kept.probabilities, kept.labels, kept.scores, strict=True):
        assert score == 1 - row[label]


def test_without_patients_everything_stays():
    table = read_scores(b"score\n0.1\n0.2")
    assert one_per_patient(table) is table
