"""The sets of X-rays and tables: readings, order, counts, check, review."""

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from ppsets_core import InputError, Records, calibrate, evaluate, plan, simulate
from ppsets_core.data import read_scores
from ppsets_core.diagnose import review
from ppsets_core.diagnose.exports import columns_of
from ppsets_core.diagnose.novelty import UNKNOWN
from ppsets_core.diagnose.review import KeptMarks, Mark, Marks
from ppsets_core.diagnose.set_table import ORDERS, SetCounts, sets_of
from ppsets_core.diagnose.xrays import examine, thumbnail_of
from ppsets_core.model import load_model, predict
from ppsets_core.model.folder_records import is_learnt_from
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.places import ASSETS
from ppsets_core.xrays import Picture, read_folder, read_picture
from tests.diagnose.made import cut_at, xray_sets
from tests.drawn_xrays import draw_xrays
from tests.many_classes import CLASSES, table
from tests.xrays.samples import png

SURE, TORN, LOST, OPEN = (0.9, 0.05, 0.05), (0.45, 0.5, 0.05), (0.3, 0.35, 0.35), (0.34, 0.33, 0.33)
MANY = (0.5, 0.4, *[0.1 / 6] * 6)


def read(text: str, **options) -> Records:
    return read_scores(text.encode(), "new.csv", classes=CLASSES, labels="optional", **options)


@pytest.fixture(scope="module")
def calibration():
    return calibrate(read_scores(table(3000, 0).encode(), "cal.csv"), 0.1, 5.0, per="diagnosis")


@pytest.mark.parametrize(
    ("row", "threshold", "reading", "members", "words"),
    [
        (SURE, 0.6, "one", ("a",), "One diagnosis: a."),
        (TORN, 0.6, "several", ("b", "a"), "2 diagnoses remain: b or a. Not likely enough: c."),
        (LOST, 0.6, "none", (), "No diagnosis is likely enough. The model is at a loss"),
        (OPEN, 1.0, "several", ("a", "b", "c"), "Every diagnosis that the model knows remains."),
        (MANY, 0.7, "several", ("a", "b"), "2 diagnoses remain: a or b. Not likely"),
    ],
)
def test_plain_readings(row, threshold, reading, members, words):
    found = xray_sets([row], cut_at(threshold), classes=tuple("abcdefgh"[: len(row)]))[0]
    assert (found.reading, found.members) == (reading, members)
    assert found.words.startswith(words)
    assert ("6 others" in found.words) is (len(row) == 8)
    assert list(found.probabilities.values()) == sorted(row, reverse=True)


def test_flagged_pictures_are_in_no_other_count():
    sets = xray_sets([SURE, TORN, SURE], cut_at(0.6), doubts=["", "", "A colour picture."])
    assert sets.counts.readings == {"one": 1, "several": 1, "none": 0, "flagged": 1}
    assert (sets.rows("flagged"), sets.rows("one")) == ([2], [0])
    assert len(sets.counts + sets.counts + SetCounts()) == 6


def test_orders():
    names, labels = ["c.png", "b.png", "a.png"], ["a", None, "b"]
    sets = xray_sets([SURE, TORN, LOST], cut_at(0.6), names=names, labels=labels)
    assert {order: sets.rows(None, order) for order in ORDERS} == {
        "misses first": [2, 0, 1],
        "as given": [0, 1, 2],
        "most diagnoses first": [1, 0, 2],
        "fewest diagnoses first": [2, 0, 1],
        "least sure first": [2, 1, 0],
        "surest first": [0, 1, 2],
        "by file name": [2, 1, 0],
    }


def test_a_calibration_of_other_diagnoses_or_in_another_order_is_refused():
    records = Records("s", np.linspace(0, 1, 500), ("a", "b", "c"), model="ab" * 8)
    drawn = simulate(records, plan(500, 0.1, 1.0), np.random.default_rng(0))
    assert xray_sets([SURE], drawn, model="ab" * 8)[0].members == ("a",)
    for classes in (("a", "b"), ("b", "a", "c")):
        with pytest.raises(InputError, match=r"The calibration is for 3 classes \(a, b, c\)"):
            xray_sets([np.full(len(classes), 1 / len(classes))], drawn, classes=classes)


def test_rows_of_a_reading_are_counted_and_the_missed_ones_found(calibration):
    sets = sets_of(read(table(500, 1)), calibration)
    assert len(sets.counts) == 500
    assert len(sets.rows("one")) == sets.counts.one == sum(len(one) == 1 for one in sets.ranked)
    held = evaluate(sets.probabilities, sets.labels, calibration)
    assert len(sets.rows("missed")) == 500 - held.covered
    assert all(sets[row].label not in sets[row].members for row in sets.rows("missed"))
    assert sets_of(read(table(20, 1, labelled=False)), calibration).check is None


def test_training_rows_are_not_checked_and_that_is_said(calibration):
    sets = sets_of(read(table(20, 1, extra={"split": ["train", "test"] * 10})), calibration)
    assert sets.check.overall.records == 10
    assert sets.not_checked == "Not checked: 10 of the training part."


def test_each_group_gets_its_own_threshold_and_an_unknown_one_everything():
    text = table(2000, 0, extra={"site": ["north", "south"] * 1000})
    chosen = plan(2000, 0.1, 5.0, per="site", groups=["north", "south"])
    drawn = simulate(read_scores(text.encode(), "cal.csv", group="site"), chosen, np.random.default_rng(0))
    patients = read(table(3, 5, extra={"site": ["north", "south", "east"]}), group="site")
    found = sets_of(patients, drawn)
    for row, threshold in enumerate([*drawn.thresholds, 1.0]):
        assert found.members[row].tolist() == (1 - patients.probabilities[row] <= threshold).tolist()
        assert list(found[row].cutoffs.values()) == pytest.approx([1 - threshold] * len(found.classes), abs=2e-6)
    assert len(found.ranked[2]) == 14
    bare = dataclasses.replace(patients, groups={})
    south = sets_of(bare, drawn, group="south").members
    assert (south == (1 - patients.probabilities <= drawn.thresholds[1])).all()
    with pytest.raises(InputError, match="say which site"):
        sets_of(bare, drawn)


def test_without_novelty_it_is_said_that_it_cannot_be_known(calibration):
    sets = sets_of(read(table(20, 1)), calibration)
    assert (sets.alarm.of, sets.alarm.is_on, sets.alarm.words) == (0, False, UNKNOWN)
    assert sets.unfamiliar is None
    assert "unfamiliar" not in columns_of(sets)


@pytest.mark.parametrize("patients", [["P1", None], ["P1", ""]])
def test_patients_count_where_every_checked_x_ray_has_the_column(patients):
    for labels, known in ((["a", None], True), (["a", "b"], None not in patients)):
        records = xray_sets([SURE, TORN], cut_at(0.6), labels=labels, patients=patients).records.labelled()
        assert records.has_patients is known


def test_what_the_bundled_model_learnt_from_is_not_checked_and_that_is_said():
    rows = (ASSETS / "coronahack_split.csv").read_text(encoding="utf-8").splitlines()[1:]
    names = [next(row for row in rows if part in row.split(",")).split(",")[0] for part in ("train", "validation")]
    assert is_learnt_from(f"normal/{names[0]}.jpeg (2)"), "the second file of that name, as a listing calls it"
    for model, checked in ((bundled_fingerprint(), 1), (None, 2)):
        found = xray_sets([SURE] * 2, cut_at(0.6), names=names, labels=["a"] * 2, model=model)
        assert found.check.overall.records == checked
        assert found.not_checked.startswith("Not checked: 1 ") is (checked == 1)
    alone = xray_sets([SURE], cut_at(0.6), names=names[:1], labels=["a"], model=bundled_fingerprint())
    assert alone.check is None
    assert xray_sets([SURE], cut_at(0.6), names=names[:1], model=bundled_fingerprint()).not_checked == ""


def test_a_mark_stands_for_its_set_only_and_is_exported():
    sets, marks = xray_sets([SURE, TORN, LOST], cut_at(0.6)), Marks()
    assert marks.of(sets[0]) == Mark()
    marks.put(sets[0], Mark("another", "b", "left base"))
    marks.put(sets[1], Mark("agree", "b", "=1+1"))
    assert marks.of(xray_sets([SURE, TORN, LOST], cut_at(1.0))[0]).verdict == "", "another set"
    columns = columns_of(sets, marks=marks)
    assert columns["review"] == ["Another diagnosis", "Agree with the set", ""]
    assert columns["reviewer's diagnosis"] == ["b", "", ""]
    assert columns["reviewer's note"] == ["left base", "=1+1", ""]
    assert "review" not in columns_of(sets)
    words = [mark.words for mark in (Mark(), Mark("another", "b"), Mark("agree", "b"), Mark(note="blurred"))]
    assert words == ["", "Another diagnosis: b", "Agree with the set", "Note"]


def test_marks_are_of_a_picture_in_any_batch_and_kept_for_each_person_for_a_while(monkeypatch):
    monkeypatch.setattr(review, "MOST_MARKS", 2)
    now = [0.0]
    kept = KeptMarks(lambda: now[0])
    sets, later = xray_sets([SURE, TORN, LOST], cut_at(0.6)), xray_sets([SURE, TORN, LOST], cut_at(0.6))
    for row in sets[0], sets[1], sets[2]:
        kept.of("vera").put(row, Mark("seen"))
    assert [kept.of("vera").of(later[row]).verdict for row in range(3)] == ["", "seen", "seen"]
    kept.of("vera").put(later[1], Mark())
    assert kept.of("vera").of(sets[1]) == kept.of("carl").of(sets[2]) == Mark()
    now[0] = review.KEPT_SECONDS
    assert kept.of("vera").of(later[2]).verdict == "seen"
    now[0] = 3 * review.KEPT_SECONDS
    kept.of("carl")
    assert kept.of("vera").of(later[2]) == Mark()


@pytest.mark.parametrize(
    ("shape", "size"), [((900, 1200), (427, 320)), ((100, 80), (80, 100)), ((10, 40_000), (960, 1))]
)
def test_thumbnails_are_small_whatever_the_picture(shape, size):
    grey = np.linspace(0, 1, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    small = thumbnail_of(Picture("x", grey, 0.0))
    assert Image.open(io.BytesIO(small)).size == size
    assert abs(read_picture(small, "x").grey.mean() - 0.5) < 0.02


def test_every_picture_is_classified_and_the_odd_one_flagged(tmp_path):
    for number, xray in enumerate(draw_xrays(2, 0)):
        (tmp_path / f"{number}.png").write_bytes(png(xray.pixels))
    (tmp_path / "photo.png").write_bytes(png(np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)))
    (tmp_path / "0-torn.png").write_bytes((tmp_path / "0.png").read_bytes()[:500])
    model, told = load_model(), []
    found = examine(model, read_folder(tmp_path, labels=False), progress=lambda *step: told.append(step))
    assert found.records.identifiers["file"].tolist() == ["0.png", "1.png", "photo.png"]
    assert [bool(doubt) for doubt in found.doubts] == [False, False, True]
    assert [refused.name for refused in found.refused] == ["0-torn.png"]
    assert told == [(0, 4), (2, 4), (2, 4), (3, 4), (4, 4), (4, 4)], "the torn file is passed before the first picture"
    assert ((found.records.novelty >= 0) & (found.records.novelty <= 1)).all()
    assert found.records.model == model.fingerprint
    direct = predict(model, [read_picture(tmp_path / "1.png")])
    assert found.records.probabilities[1] == pytest.approx(direct[0], abs=1e-6)
