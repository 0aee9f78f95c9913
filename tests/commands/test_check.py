"""`ppsets check`, and `predict` on a table: a model of one's own, from scores to sets to a verdict."""

import json
import re

import pyarrow.parquet as pq
import pytest

from ppsets_core import Calibration, Ledger, evaluate, ranked_sets
from ppsets_core.__main__ import main
from ppsets_core.data import read_scores
from ppsets_core.places import ASSETS
from ppsets_core.reports.calibration import calibration_report
from tests.many_classes import CLASSES, table
from tests.model.chests import png_folder
from tests.reports.reading import Read

PER_DIAGNOSIS = ("--per", "diagnosis")
HOW = [PER_DIAGNOSIS, ("--score", "aps"), ("--score", "raps:penalty=0.1,free_ranks=1")]


@pytest.fixture
def files(tmp_path, monkeypatch, request):
    """A calibration of a 14-class model, drawn on the command line, and new patients."""
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    (tmp_path / "cal.csv").write_text(table(3000, 0))
    (tmp_path / "new.csv").write_text(table(700, 1))
    ledger = ["--ledger", str(tmp_path / "l.sqlite")]
    how = getattr(request, "param", PER_DIAGNOSIS)
    command = ["calibrate", str(tmp_path / "cal.csv"), "--epsilon", "4", "--budget", "6", *ledger, *how]
    assert main([*command, "--out", str(tmp_path / "cal.json")]) == 0
    return tmp_path


@pytest.mark.parametrize("files", HOW, ids=lambda how: how[1], indirect=True)
def test_from_scores_to_sets_to_check_with_a_14_class_model(files, capsys):
    calibration = Calibration.from_json((files / "cal.json").read_text())
    patients = read_scores(files / "new.csv", classes=CLASSES, labels="optional")
    expected = ranked_sets(patients.probabilities, calibration)
    new, cal = str(files / "new.csv"), str(files / "cal.json")
    capsys.readouterr()
    written = ["--out", str(files / "sets.parquet"), "--report", str(files / "report.html")]
    assert main(["predict", new, "--calibration", cal, "--json", *written]) == 0
    document = json.loads(capsys.readouterr().out)
    thresholds = dict(zip(CLASSES, calibration.thresholds, strict=True)) if calibration.per else None
    assert document.get("thresholds") == thresholds
    assert any("patients of one diagnosis" in note for note in document["notes"]) is bool(calibration.per)
    captured, first = document["sets"], document["sets"][0]
    assert [one["set"] for one in captured] == [[CLASSES[i] for i in members] for members in expected]
    assert [one["id"] for one in captured[:2]] == ["n0", "n1"]
    assert pq.read_table(files / "sets.parquet")["set"].to_pylist() == [one["set"] for one in captured]
    assert main(["predict", new, "--calibration", cal]) == 0
    lines = capsys.readouterr().out
    assert "n19" in lines
    assert "and 680 more" in lines
    assert ("if its probability is: " in lines) is bool(calibration.per)
    assert main(["check", new, "--calibration", cal, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    held = evaluate(patients.probabilities, patients.labels, calibration)
    assert found["overall"]["coverage"] == held.coverage
    assert [one["coverage"] for one in found["by_diagnosis"].values()] == held.coverage_by_class.tolist()
    assert (found["private"], found["mean_size"]) == (False, held.mean_size)
    assert found["overall"]["interval"] == list(held.interval)
    assert [one["records"] for one in found["by_size"].values()] == held.size_counts.tolist()
    assert found["sets_of_one"]["records"] == held.size_counts[1]
    assert main(["check", new, "--calibration", cal]) == 0
    lines = capsys.readouterr().out
    assert "Not private: computed from the labels" in lines
    assert "sets with one diagnosis" in lines
    report = Read((files / "report.html").read_text(encoding="utf-8")).words
    shown = ", ".join(f"{name} {first['probabilities'][name]:.3f}" for name in first["set"])
    assert re.search(f"n0 [A-Za-z :;0-9]*{re.escape(shown)}", report)
    for words in ("Did the promise hold here?", "Not private: computed from the labels", lines.splitlines()[0]):
        assert words in report
    assert all(f"{one['covered']:,} of {one['records']:,}" in report for one in found["by_diagnosis"].values())


@pytest.mark.parametrize("by", [None, "diagnosis"])
def test_a_private_check_is_charged_and_may_be_shown(files, by, capsys):
    command = ["check", str(files / "new.csv"), "--calibration", str(files / "cal.json"), "--private", "--epsilon", "2"]
    command += ["--ledger", str(files / "l.sqlite"), "--dataset", "next year", *(["--by", by] if by else [])]
    capsys.readouterr()
    assert main([*command, "--budget", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["private"], found["n"], len(found["covered"])) == (True, 700, 14 if by else 1)
    assert all(low <= high for low, high in found["intervals"])
    assert main(command) == 2
    assert "`ppsets ledger export 2`" in capsys.readouterr().err
    assert main([*command, "--again"]) == 0
    captured = capsys.readouterr().out
    assert "noise counted" in captured
    assert "90% promised within each diagnosis" in captured
    ledger = Ledger(files / "l.sqlite")
    assert str(ledger.account("next year").spent) == "4.0"
    assert main(["ledger", "--ledger", str(files / "l.sqlite")]) == 0
    assert "check  ε = 2  n = 700" in capsys.readouterr().out


def test_a_release_that_came_out_as_1_says_that_every_set_holds_every_diagnosis(tmp_path, capsys):
    rows = ["label,a,b", *["a,0.02,0.98"] * 500]
    (tmp_path / "s.csv").write_text("\n".join(rows))
    files = [str(tmp_path / "s.csv"), "--calibration", str(tmp_path / "c.json")]
    ledger = ["--ledger", str(tmp_path / "l.sqlite"), "--budget", "3"]
    assert main(["calibrate", files[0], "--epsilon", "1", "--m", "10", *ledger, "--out", files[2]]) == 0
    drawn = Calibration.from_json((tmp_path / "c.json").read_text())
    assert (drawn.threshold, drawn.is_trivial, drawn.is_full) == (1.0, False, True)
    assert main(["predict", *files]) == main(["check", *files]) == 0
    assert main(["check", *files, "--private", "--epsilon", "1", *ledger]) == 0
    captured = capsys.readouterr().out
    assert captured.lower().count("every set holds every diagnosis") == 4
    assert "every set holds every diagnosis" in calibration_report(drawn).lower()
    assert "probability ≥ 0" not in captured


def test_labelled_x_rays_are_checked_and_the_numbers_are_those_of_score(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    xrays = png_folder(tmp_path / "xrays", 4)
    cal, scores = tmp_path / "cal.json", tmp_path / "scores.csv"
    part = ["--split", "calibration", "--epsilon", "1", "--budget", "1"]
    assert main(["calibrate", str(ASSETS / "coronahack_softmax.csv"), *part, "--out", str(cal)]) == 0
    assert Calibration.from_json(cal.read_text()).n < 1500
    assert main(["score", str(xrays), "--out", str(scores)]) == 0
    answers = []
    for source in (xrays, scores):
        capsys.readouterr()
        assert main(["check", str(source), "--calibration", str(cal), "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert answers[0]["overall"]["records"] == 12
