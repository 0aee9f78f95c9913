"""The report of a calibration says what was asked, promised, released and spent, and holds nothing foreign."""

import re

import numpy as np

from ppsets_core import Ledger, calibrate, plan, simulate
from ppsets_core.__main__ import main
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.reports.calibration import calibration_report, payer_of
from ppsets_core.reports.sections import limits_of_the_card
from ppsets_core.wording import class_names, needed
from tests.ledger.spending import records_of, spend
from tests.reports.reading import Read

SCORES = np.linspace(0, 1, 1000) ** 2


def test_what_was_asked_promised_released_and_spent(tmp_path, capsys):
    saved, out, path = (tmp_path / name for name in ("cal.json", "report.html", "ledger.sqlite"))
    ledger = Ledger(path)
    ledger.open_account("ward <3>", 4)
    drawn = spend(ledger, 1.5, SCORES, "ward <3>")
    saved.write_text(drawn.to_json(), encoding="utf-8")
    command = ["report", str(saved), "--out", str(out), "--ledger", str(path)]
    assert main(command) == 0
    assert main(command) == 2
    assert "exists; choose another name" in capsys.readouterr().err
    read = Read(out.read_text(encoding="utf-8"))
    for words in (
        "at least 90% (α = 0.1), for all patients together",
        "ε = 1.5, pure differential privacy",
        f"ŝ = {drawn.threshold:.6g}",
        "Each calibration record is protected by 1.5-differential privacy",
        "not a guarantee for any single patient",
        "Charged to ward <3>",
        "4 for each patient; releases under this name had cost 1.5",
        f"aimed at rank {drawn.rank:,} of 1,000",
        drawn.date,
        "Which model gave the probabilities is not recorded",
        "Not a medical device",
    ):
        assert words in read.words


def test_it_needs_nothing_from_elsewhere():
    document = calibration_report(calibrate(records_of(SCORES, model=bundled_fingerprint()), 0.1, 1.0))
    read = Read(document)
    assert read.addresses == []
    assert not {"script", "link", "iframe", "object", "form", "base"} & set(read.elements)
    assert not re.search(r"url\(|@import", document)


def test_each_diagnosis_has_its_line():
    records = bundled_scores("calibration")
    drawn = simulate(
        records, plan(len(records), 0.1, 1.0, per="diagnosis", classes=records.classes), np.random.default_rng(0)
    )
    read = Read(calibration_report(drawn))
    for name, threshold, cutoff in zip(class_names(drawn.names), drawn.thresholds, drawn.cutoffs, strict=True):
        assert f"{name} {threshold:.6g} {needed(cutoff)}" in read.words
    assert "This calibration is a simulation" in read.words
    assert "protected by" not in read.words


def test_the_bundled_model_is_told_with_its_limits_and_another_as_unknown():
    known = Read(calibration_report(calibrate(records_of(SCORES, model=bundled_fingerprint()), 0.1, 1.0)))
    assert "The ResNet-18 that comes with ppsets" in known.words
    assert len(limits_of_the_card()) > 3
    assert all(limit in known.words for limit in limits_of_the_card())
    other = Read(calibration_report(calibrate(records_of(SCORES, model="0" * 16), 0.1, 1.0)))
    assert "It is not the model that comes with ppsets" in other.words


def test_a_trivial_calibration_says_that_nothing_was_spent():
    read = Read(calibration_report(calibrate(SCORES[:5], 0.1, 0.1)))
    assert "too few records: every set holds every diagnosis" in read.words
    assert "ε spent 0 " in read.words


def test_only_the_account_that_paid_is_named(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert payer_of(calibrate(SCORES, 0.1, 1.0), ledger) is None
    ledger.open_account("ward", 2)
    assert payer_of(spend(ledger, 0.5, SCORES), ledger).name == "ward"
    assert payer_of(calibrate(SCORES, 0.1, 0.5), ledger) is None


def test_a_threshold_of_novelty_is_named_with_its_share():
    drawn = calibrate(bundled_scores(), 0.1, 1.0, novelty_share=0.2)
    read = Read(calibration_report(drawn))
    assert "The threshold and one for novelty" in read.words
    assert f"τ̂ = {drawn.novelty_threshold:.6g}" in read.words
    assert f"of ε, {drawn.novelty.epsilon:g} went to τ̂" in read.words
    assert "τ̂" not in Read(calibration_report(calibrate(SCORES, 0.1, 1.0))).words
