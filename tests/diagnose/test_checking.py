"""Which X-rays with a true diagnosis are checked, and for whom each counts."""

import numpy as np

from ppsets_core import calibrate, one_per_patient
from ppsets_core.diagnose import Finding, Findings, answers_of
from ppsets_core.diagnose.checking import not_checked, records_of_answers
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.places import ASSETS
from ppsets_core.xrays.coronahack import is_learnt_from

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")
DRAWN = calibrate(np.linspace(0, 0.7, 500), 0.1, 5.0)


def answers(*named: tuple[str, str | None], label: str | None = "normal"):
    xrays = tuple(
        Finding(name, np.array([0.1, 0.8, 0.1]), "", b"", label=label, patient=patient) for name, patient in named
    )
    return answers_of(Findings(CLASSES, xrays, ()), DRAWN)


def test_a_patient_is_one_in_any_spelling():
    found = answers(("a.png", "P1"), ("b.png", "p1 "), ("c.png", "17"), ("d.png", "017"), ("e.png", ""))
    records = records_of_answers(found, DRAWN, None, "X-rays")
    assert len(one_per_patient(records)) == 3


def test_what_the_bundled_model_learnt_from_is_not_checked_and_that_is_said():
    rows = (ASSETS / "coronahack_split.csv").read_text(encoding="utf-8").splitlines()[1:]
    learnt, new = (
        next(row for row in rows if part in row.split(",")).split(",")[0] for part in ("train", "validation")
    )
    assert is_learnt_from(f"normal/{learnt}.jpeg (2)"), "the second file of that name, as a listing calls it"
    found = answers((learnt, None), (new, None))
    assert len(records_of_answers(found, DRAWN, bundled_fingerprint(), "X-rays")) == 1
    assert not_checked(found, bundled_fingerprint()).startswith("Not checked: 1 ")
    assert len(records_of_answers(found, DRAWN, None, "X-rays")) == 2
    assert not_checked(found, None) == ""
    assert records_of_answers(found[:1], DRAWN, bundled_fingerprint(), "X-rays") is None
    assert not_checked(answers((learnt, None), label=None), bundled_fingerprint()) == ""
