"""Records from arrays: read alike from every library, refused where they would break a promise."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import ppsets_core as pp
from ppsets_core.data import Records
from ppsets_core.scores import Aps, Own, Raps, Residual

RNG = np.random.default_rng(0)
CLASSES = ("bacterial", "normal", "viral")
ROWS = RNG.dirichlet([1, 1, 6], 600)
LABELS = (ROWS.cumsum(axis=1) > RNG.random((600, 1))).argmax(axis=1)
NAMES = np.array(CLASSES)[LABELS]
FRAME = pd.DataFrame(ROWS, columns=list(CLASSES))
SCORES = 1 - ROWS[np.arange(600), LABELS]

PROBABILITIES = {
    "lists": ROWS.tolist(),
    "numpy": ROWS,
    "torch, with grad": torch.tensor(ROWS, requires_grad=True),
    "torch, float32": torch.tensor(ROWS).float(),
    "pandas": FRAME,
    "pandas, another order": FRAME[["viral", "bacterial", "normal"]],
    "pandas, more columns": FRAME.assign(age=7.0),
    "pandas, nullable": FRAME.convert_dtypes(),
    "polars": pl.from_pandas(FRAME),
}
TRUTH = {
    "numbers": LABELS,
    "list of numbers": LABELS.tolist(),
    "torch": torch.tensor(LABELS),
    "names": NAMES,
    "list of names": NAMES.tolist(),
    "in capitals": [name.upper() for name in NAMES],
    "categorical": pd.Categorical(NAMES, categories=["viral", "normal", "bacterial"]),
    "series": pd.Series(NAMES, dtype="category"),
    "polars": pl.Series(NAMES.tolist(), dtype=pl.Categorical),
    "whole floats": LABELS.astype(float),
}


@pytest.mark.parametrize("labels", TRUTH.values(), ids=TRUTH)
@pytest.mark.parametrize("probabilities", PROBABILITIES.values(), ids=PROBABILITIES)
def test_every_library_gives_the_same_records(probabilities, labels):
    found = pp.records(probabilities, labels, classes=CLASSES)
    assert (found.classes, found.unit, found.score.name) == (CLASSES, "record", "lac")
    assert (found.labels == LABELS).all()
    assert np.allclose(found.scores, SCORES, atol=1e-7)


def test_a_data_frame_names_the_classes_itself():
    found = pp.records(FRAME, NAMES)
    assert (found.classes, found.labels.tolist()) == (CLASSES, LABELS.tolist())
    assert pp.records(ROWS, LABELS).classes == ("0", "1", "2")


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        ([True, False], None, [1, 0]),
        ([True, False], ["True", "False"], [0, 1]),
        (pd.Series([True, False]), ["healthy", "ill"], [1, 0]),
        (torch.tensor([True, False]), ["healthy", "ill"], [1, 0]),
        ([2, 1], [1, 2], [1, 0]),
        (["2", "1"], [1, 2], [1, 0]),
        ([1.0, 0.0], [0.0, 1.0], [1, 0]),
    ],
)
def test_labels_are_truth_values_or_numbers_that_name_classes(labels, classes, numbers):
    assert pp.records([[0.25, 0.75], [0.5, 0.5]], labels, classes=classes).labels.tolist() == numbers


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_half_precision_is_read_and_remembered(kind):
    found = pp.records(torch.tensor(ROWS).to(kind), LABELS)
    assert found.half_precision
    assert np.abs(found.scores - SCORES).max() < 2**-8
    assert pp.calibrate(found, 0.1, 5.0).half_precision
    assert pp.records(FRAME.astype(np.float16), NAMES).half_precision
    assert not pp.records(torch.tensor(ROWS).float(), LABELS).half_precision


def test_probabilities_rounded_to_three_digits_are_accepted_however_many_classes_there_are():
    for classes in (2, 3, 14, 100):
        rows = np.random.default_rng(1).dirichlet(np.ones(classes), 500).round(3)
        assert len(pp.records(rows, np.zeros(500, dtype=int))) == 500
        with pytest.raises(pp.InputError, match="do not sum to 1"):
            pp.records(rows * 0.9, np.zeros(500, dtype=int))


def test_patients_are_one_in_any_spelling_and_one_record_of_each_is_kept():
    found = pp.records(
        ROWS, LABELS, patients=[f" P{i // 3:03d}".lower() if i % 2 else f"p{i // 3:03d}" for i in range(600)]
    )
    assert found.patient_count == 200
    kept = pp.one_per_patient(found)
    assert (len(kept), kept.unit) == (200, "patient")


def test_groups_are_columns_by_name():
    sites = np.where(np.arange(600) % 2, "north", "south")
    for groups in ({"site": sites}, pd.DataFrame({"site": sites}), pl.DataFrame({"site": sites})):
        found = pp.records(ROWS, LABELS, groups=groups)
        drawn = pp.calibrate(found, 0.1, 5.0, per="site", groups=["north", "south"])
        assert drawn.group_names == ("north", "south")
        assert pp.prediction_sets(ROWS, drawn, groups=sites).shape == ROWS.shape


def test_labels_beside_scores_make_a_promise_within_each_diagnosis():
    found = pp.records(scores=SCORES, labels=NAMES, classes=CLASSES)
    drawn = pp.calibrate(found, 0.1, 5.0, per="diagnosis")
    assert drawn.names == CLASSES
    text = "\n".join(["score,label", *(f"{s},{n}" for s, n in zip(SCORES, NAMES, strict=True))]).encode()
    read = pp.read_scores(text, "s.csv", classes=CLASSES, score="lac")
    assert (read.labels == LABELS).all()
    assert pp.calibrate(read, 0.1, 5.0, per="diagnosis").names == CLASSES
    with pytest.raises(pp.InputError, match="needs the label of every record, and the names of all classes"):
        pp.calibrate(pp.read_scores(text, "s.csv", score="lac"), 0.1, 5.0, per="diagnosis")


REFUSED = {
    "a column of zeros": (
        {"probabilities": FRAME.assign(icu=0), "labels": NAMES},
        "the column 'icu' is 0 in every record",
    ),
    "nothing": ({}, "either probabilities"),
    "both": ({"probabilities": ROWS, "scores": SCORES}, "either probabilities"),
    "no labels": ({"probabilities": ROWS}, "true class of every record"),
    "no rows": ({"probabilities": np.empty((0, 3)), "labels": []}, "it is empty"),
    "no rows in a frame": ({"probabilities": FRAME[:0], "labels": []}, "it is empty"),
    "no scores": ({"scores": []}, "it is empty"),
    "a score of 7": ({"scores": [0.1, 7.0]}, "row 2: the score is outside"),
    "a missing score": ({"scores": [0.1, None]}, "row 2: the value is missing"),
    "a masked score": ({"scores": np.ma.array([0.1, 0.2], mask=[False, True])}, "row 2: the value is missing"),
    "text for a score": ({"scores": ["0.1"]}, "expected numbers only"),
    "a complex score": ({"scores": [0.1 + 0j]}, "expected numbers only"),
    "scores in rows": ({"scores": [[0.1]]}, "2 dimensions"),
    "scores in ragged rows": ({"scores": [0.1, [0.2]]}, "not all of one length"),
    "an infinite score": ({"scores": [0.1, np.inf]}, "row 2: the value is missing or not a finite number"),
    "a missing share": ({"probabilities": [[0.5, np.nan]], "labels": [0]}, "row 1, column '2': the value is missing"),
    "a share too large": ({"probabilities": [[1.2, -0.2]], "labels": [0]}, "row 1, column '1': the probability is"),
    "one class": ({"probabilities": [[1.0]], "labels": [0]}, "two or more classes"),
    "a label between": ({"probabilities": [[0.5, 0.5]], "labels": [0.5]}, "none of the classes 0, 1"),
    "a label too few": ({"probabilities": ROWS, "labels": LABELS[1:]}, "one label for each of the 600"),
    "an unknown label": ({"probabilities": FRAME, "labels": ["measles", *NAMES[1:]]}, "row 1: the label is missing"),
    "a missing label": ({"probabilities": FRAME, "labels": [None, *NAMES[1:]]}, "row 1: the label is missing"),
    "a negative number": ({"probabilities": ROWS, "labels": LABELS - 1}, "no column number from 0 to 2"),
    "a missing column": ({"probabilities": FRAME, "labels": NAMES, "classes": ("normal", "flu")}, "no column for flu"),
    "names too few": ({"probabilities": ROWS, "labels": LABELS, "classes": ("a", "b")}, "2 classes and 3 columns"),
    "a name twice": ({"probabilities": ROWS, "labels": LABELS, "classes": ("a", "b", "a")}, "a name stands twice"),
    "one string of names": ({"probabilities": ROWS, "labels": LABELS, "classes": "abc"}, "a list of names"),
    "patients too few": ({"scores": SCORES, "patients": ["a"]}, "patients: expected one for each of the 600"),
    "groups without a name": ({"scores": SCORES, "groups": ["a"] * 600}, "columns by name"),
    "labels without classes": ({"scores": SCORES, "labels": LABELS}, "need the names of all classes"),
    "logits": ({"probabilities": np.log(ROWS), "labels": LABELS}, "give softmax outputs, not logits"),
    "an unknown score": ({"scores": SCORES, "score": "saps"}, "one of lac, aps, raps, residual, cqr, own"),
    "own score of probabilities": ({"probabilities": ROWS, "labels": LABELS, "score": "own"}, "is not computed from"),
    "a model without a name": ({"scores": SCORES, "model": ""}, "your own name for it"),
}


@pytest.mark.parametrize(("given", "what"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_said_in_a_sentence(given, what):
    with pytest.raises(pp.InputError, match=what):
        pp.records(**given)


UNCHECKED = {
    "a score of 7": {"scores": np.array([*SCORES[1:], 7.0])},
    "an infinite score": {"scores": np.array([*SCORES[1:], np.inf])},
    "labels by name": {"classes": CLASSES, "labels": NAMES},
    "labels out of range": {"classes": CLASSES, "labels": LABELS + 1},
    "labels of no classes": {"labels": LABELS},
    "unit without patients": {"unit": "patient"},
    "unit with two records of a patient": {"unit": "patient", "patients": np.array(["a"] * 600)},
    "another unit": {"unit": "hospital"},
    "novelty of 2": {"novelty": np.full(600, 2.0)},
    "missing novelty": {"novelty": np.full(600, np.nan)},
    "patients too few": {"patients": np.array(["a"])},
    "probabilities of no classes": {"probabilities": ROWS},
    "probabilities outside": {"classes": CLASSES, "probabilities": ROWS * 3},
    "classes that are numbers": {"classes": SCORES},
    "no score of ours": {"score": "lac"},
    "no name of a model": {"model": "x" * 101},
}


@pytest.mark.parametrize("given", UNCHECKED.values(), ids=UNCHECKED)
def test_records_cannot_be_built_unchecked(given):
    with pytest.raises(pp.InputError):
        Records(**{"source": "mine", "scores": SCORES, **given})


def test_labels_that_were_forgotten_are_noticed_before_a_draw():
    bare = Records("mine", SCORES, CLASSES)
    with pytest.raises(pp.InputError, match="needs the label of every record"):
        pp.calibrate(bare, 0.1, 1.0, per="diagnosis")


def test_scores_changed_afterwards_are_noticed_by_the_counting():
    found = pp.records(scores=SCORES)
    found.scores[0] = 7.0
    with pytest.raises(pp.InputError, match="outside"):
        pp.calibrate(found, 0.1, 1.0)


@pytest.mark.parametrize("score", [Aps(), Raps(0.1, 1), Own(), Residual(200.0)])
def test_a_calibration_names_its_score_and_its_parameters(score):
    drawn = pp.calibrate(pp.records(scores=SCORES, score=score), 0.1, 5.0)
    assert pp.Calibration.from_json(drawn.to_json()).score == score
    if isinstance(score, Own | Residual):
        for use in (pp.prediction_sets, pp.ranked_sets, lambda p, c: pp.evaluate(p, LABELS, c)):
            with pytest.raises(pp.InputError, match=rf"score '{score.name}'.* no sets"):
                use(ROWS, drawn)


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_columns_in_another_order_are_found_by_name(score):
    """One diagnosis was covered in 1 of 100 before. The sets have the order of the columns given."""
    drawn = pp.calibrate(pp.records(FRAME, NAMES, score=score), 0.1, 5.0, per="diagnosis")
    other = FRAME[["viral", "normal", "bacterial"]]
    expected = pp.prediction_sets(FRAME, drawn)
    for given in (other, pl.from_pandas(other)):
        assert (pp.prediction_sets(given, drawn)[:, [2, 1, 0]] == expected).all()
    assert (pp.prediction_sets(other.to_numpy(), drawn, classes=list(other))[:, [2, 1, 0]] == expected).all()
    assert pp.evaluate(other, NAMES, drawn).coverage == pp.evaluate(FRAME, LABELS, drawn).coverage
    ranked = [[list(other)[y] for y in one] for one in pp.ranked_sets(other, drawn)]
    assert ranked == [[CLASSES[y] for y in one] for one in pp.ranked_sets(FRAME, drawn)]
    with pytest.raises(pp.InputError, match="Use the calibration of that model"):
        pp.prediction_sets(FRAME.rename(columns={"viral": "flu"}), drawn)
