"""`ppsets calibrate`: read, charge, draw, write."""

import errno
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import Calibration, Ledger
from ppsets_core.__main__ import main
from tests.data.data_sets import CLASSES


@pytest.fixture
def scores(tmp_path, monkeypatch):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    path = tmp_path / "ward.csv"
    values = np.random.default_rng(0).random(1200)
    path.write_text("patient,score\n" + "\n".join(f"{i // 2},{value!r}" for i, value in enumerate(values.tolist())))
    return path


def run(scores, *options, epsilon="1"):
    return main(["calibrate", str(scores), "--score", "lac", "--epsilon", epsilon, "--method", "sharp", *options])


def ledger(scores):
    return Ledger(scores.parent / "home" / "ledger.sqlite")


def test_a_release_is_charged_written_and_explained(scores, capsys):
    out = scores.parent / "calibration.json"
    assert run(scores, "--budget", "3", "--out", str(out)) == 0
    calibration = Calibration.from_json(out.read_text())
    assert calibration.n == 600
    assert ledger(scores).releases("ward")[0].calibration == calibration
    captured = capsys.readouterr()
    assert f"ŝ = {calibration.threshold:.6g}" in captured.out
    assert "not a guarantee for any single patient" in captured.out
    assert "1,200 records of 600 patients; one of each is used" in captured.err
    assert f"have cost 1. Ledger: {scores.parent / 'home' / 'ledger.sqlite'}" in captured.err
    assert (calibration.unit, calibration.model) == ("patient", None)
    assert run(scores, "--json", "--all-records", "--dataset", "all", "--budget", "9") == 0
    captured = capsys.readouterr()
    calibration = Calibration.from_json(captured.out)
    assert (calibration.n, calibration.unit) == (1200, "record")
    assert "a patient with several loses several ε" in captured.err


def test_a_known_data_set_keeps_its_budget(scores, capsys):
    assert run(scores, "--budget", "1.5") == 0
    assert run(scores, "--budget", "5", epsilon="0.5") == 2
    assert "is 1.5 already" in capsys.readouterr().err
    assert run(scores, epsilon="0.6") == 2
    captured = capsys.readouterr().err
    assert "Not everyone in these records has room for ε = 0.6" in captured
    assert "ppsets ledger raise" in captured
    assert run(scores, epsilon="0.5") == 0
    (account,) = ledger(scores).accounts()
    assert (account.name, account.left) == ("ward", 0)
    drawn = [release.calibration for release in ledger(scores).releases()]
    assert [(one.unit, one.dataset, one.n) for one in drawn] == [("patient", "ward", 600)] * 2
    assert main(["ledger", "raise", "ward", "2.5", "--yes"]) == 0
    capsys.readouterr()
    assert run(scores) == 2
    captured = capsys.readouterr().err
    assert "Release no. 1 of 'ward'" in captured
    assert "--again" in captured
    assert ledger(scores).account("ward").spent == Decimal("1.5")
    assert run(scores, "--again") == 0, "a budget that is used up is no dead end"


def test_the_same_records_under_another_name_have_lost_what_they_lost(scores, capsys):
    assert run(scores, "--budget", "3") == 0
    renamed = scores.with_name("renamed.csv")
    header, *rows = scores.read_text().splitlines()
    renamed.write_text("\n".join([header, *reversed(rows)]))
    assert run(renamed, "--dataset", "fresh", "--budget", "1.5") == 2
    assert "Not everyone in these records has room" in capsys.readouterr().err
    assert run(renamed, "--dataset", "fresh", "--reason", "second look", epsilon="0.5") == 0
    assert [(d.name, d.spent) for d in ledger(scores).accounts()] == [("ward", 1), ("fresh", Decimal("0.5"))]
    assert ledger(scores).releases()[-1].reason == "second look"


def test_a_paid_release_is_not_lost_when_its_file_cannot_be_written_after_the_draw(scores, capsys, monkeypatch):
    def full(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = scores.parent / "c.json"
    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_text", full)
        assert run(scores, "--budget", "3", "--out", str(out.with_name("trivial.json")), epsilon="0.001") == 2
        assert "Nothing was charged" in capsys.readouterr().err
        assert run(scores, "--budget", "3", "--out", str(out)) == 2
    captured = capsys.readouterr()
    (release,) = ledger(scores).releases()
    assert Calibration.from_json(captured.out) == release.calibration
    for words in ("No space left", "charged to 'ward'", f"ledger export {release.id} --out"):
        assert words in captured.err
    again = scores.parent / "again.json"
    assert main(["ledger", "export", str(release.id), "--out", str(again)]) == 0
    assert Calibration.from_json(again.read_text()) == release.calibration
    assert ledger(scores).account("ward").spent == 1


def test_help_says_that_the_name_is_kept_and_must_name_no_patient(capsys):
    with pytest.raises(SystemExit):
        main(["calibrate", "--help"])
    assert "must name no patient" in " ".join(capsys.readouterr().out.split())


def test_a_trivial_plan_spends_nothing_and_says_what_would_be_enough(scores, capsys):
    assert run(scores, "--budget", "3", "--json", epsilon="0.001") == 0
    document = json.loads(capsys.readouterr().out)
    assert [target["threshold"] for target in document["targets"]] == [1]
    assert run(scores, "--budget", "3", epsilon="0.001") == 0
    captured = capsys.readouterr()
    assert "you need" in captured.out
    assert "Budget of 'ward': 3, of which releases under this name have cost 0" in captured.err
    assert not ledger(scores).accounts()


def test_a_novelty_threshold_is_released_out_of_the_same_epsilon_where_it_is_asked_for(scores, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{i},{s!r},{f!r}" for i, (s, f) in enumerate(rng.random((900, 2)).tolist())]
    scores.write_text("\n".join(["patient,score,novelty", *rows]))
    assert run(scores, "--budget", "3", "--novelty-share", "0.2") == 0
    assert "This takes ε = 0.2 of 1" in capsys.readouterr().out
    (release,) = ledger(scores).releases("ward")
    assert release.epsilon == 1
    assert release.calibration.novelty_threshold is not None
    assert run(scores, "--novelty-share", "0.5", "--novelty-alpha", "0.1", "--json") == 0
    beside = Calibration.from_json(capsys.readouterr().out).novelty
    assert (beside.alpha, beside.epsilon) == (0.1, 0.5)
    assert run(scores, "--novelty-share", "0", "--json") == 0
    assert Calibration.from_json(capsys.readouterr().out).novelty is None


def test_each_diagnosis_or_group_gets_a_threshold_and_all_together_are_charged_once(scores, capsys):
    """Normal X-rays are easy, viral ones hard; a record in three comes from each site."""
    rng, rows = np.random.default_rng(0), ["site,label," + ",".join(CLASSES)]
    for number in range(900):
        label = number // 3 % 3
        other = rng.uniform(0, (0.5, 0.1, 0.9)[label])
        shares = [1 - other if place == label else other / 2 for place in range(3)]
        rows.append(f"{('north', 'south', 'east')[number % 3]},{CLASSES[label]}," + ",".join(map(repr, shares)))
    scores.write_text("\n".join(rows))
    assert run(scores, "--budget", "12", "--per", "diagnosis", "--json", epsilon="8") == 0
    drawn = Calibration.from_json(capsys.readouterr().out)
    assert (drawn.per, drawn.classes, drawn.names, drawn.n) == ("diagnosis", CLASSES, CLASSES, 900)
    bacterial, normal, viral = drawn.thresholds
    assert normal < bacterial < viral
    assert ledger(scores).account("ward").spent == 8
    assert main(["ledger"]) == 0
    assert f"normal: {normal:.6g}" in capsys.readouterr().out
    assert run(scores, "--per", "site", "--groups", "north, south", "--json", epsilon="2") == 0
    drawn = Calibration.from_json(capsys.readouterr().out)
    assert (drawn.per, drawn.groups, drawn.names, len(drawn.thresholds)) == ("site", 2, ("north", "south"), 2)
    beside = ["label,score", *(f"{CLASSES[number % 3]},{number / 900}" for number in range(900))]
    scores.write_text("\n".join(beside))
    given = ["--dataset", "beside", "--budget", "9", "--per", "diagnosis", "--classes", ",".join(CLASSES)]
    assert run(scores, *given, "--score", "own") == 0
    assert "Within each diagnosis, the true score is at most ŝ with probability" in capsys.readouterr().out
    assert ledger(scores).releases("beside")[0].calibration.names == CLASSES
