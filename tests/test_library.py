"""The library as someone uses it who has read the README and nothing else: no step of the way is a trap."""

import numpy as np
import pytest

import ppsets_core as pp

MODEL = "0123456789abcdef"


@pytest.fixture
def score_file(tmp_path):
    """Two X-rays of each of 600 patients, as `score` writes them: probabilities, labels, patients and the model."""
    rng = np.random.default_rng(0)
    lines = ["patient,label,normal,viral,model"]
    for number in range(1200):
        share = rng.random()
        label = "normal" if rng.random() < share else "viral"
        lines.append(f"{number // 2},{label},{share:.6f},{1 - share:.6f},{MODEL}")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def ledger(tmp_path):
    return pp.Ledger(tmp_path / "ledger.sqlite")


def test_two_choices_among_one_files_records_cost_the_same_patients(score_file, ledger):
    for seed, name in ((1, "ward"), (2, "elsewhere")):
        records = pp.one_per_patient(pp.read_scores(score_file), seed)
        account = ledger.account_for(records, name, 2)
        calibration = ledger.release(records, pp.plan(len(records), 0.1, 1.0), account)
        assert (calibration.unit, calibration.dataset, calibration.n) == ("patient", name, 600)
    with pytest.raises(pp.BudgetError):
        ledger.release(records, pp.plan(len(records), 0.1, 0.5), account)
    first, second = (pp.one_per_patient(pp.read_scores(score_file), seed) for seed in (1, 2))
    assert (first.scores != second.scores).any(), "the seeds must choose different records"


def test_the_model_and_its_classes_go_from_the_score_file_into_the_calibration(score_file, ledger):
    records = pp.read_scores(score_file)
    chosen = pp.plan(len(records), 0.1, 1.0)
    for calibration in (
        pp.calibrate(records, 0.1, 1.0),
        ledger.release(records, chosen, ledger.account_for(records, "ward", 5)),
        ledger.releases()[0].calibration,
    ):
        assert (calibration.model, calibration.classes) == (MODEL, ("normal", "viral"))
        assert calibration.is_for(MODEL)
        assert calibration.is_for("f" * 16) is False
    assert pp.simulate(records, chosen, np.random.default_rng(0)).model == MODEL


def test_the_plan_that_was_shown_is_the_one_that_is_carried_out(score_file, ledger, monkeypatch):
    records = pp.read_scores(score_file)
    shown = pp.plan(len(records), 0.1, 1.0, m=77)

    def planned_again(*_, **__):
        raise AssertionError("planned a second time")

    for module in ("method.plan", "method.calibration_json", "data.counts"):
        monkeypatch.setattr(f"ppsets_core.{module}.plan", planned_again)
    calibration = ledger.release(records, shown, ledger.account_for(records, "ward", 5))
    assert calibration.plan == shown


def test_a_release_takes_no_generator_and_a_simulation_charges_nobody(score_file, ledger):
    records = pp.read_scores(score_file)
    chosen, rng = pp.plan(len(records), 0.1, 1.0), np.random.default_rng(0)
    account = ledger.account_for(records, "ward", 5)
    with pytest.raises(TypeError, match="rng"):
        ledger.release(records, chosen, account, rng=rng)
    simulation = pp.simulate(records, chosen, rng)
    assert not isinstance(simulation, pp.Calibration)
    with pytest.raises(pp.InputError, match="simulation"):
        pp.Calibration.from_json(simulation.to_json())
    assert ledger.accounts() == ()


def test_sets_and_their_evaluation_take_the_calibration_itself(score_file):
    records = pp.read_scores(score_file)
    calibration = pp.calibrate(records, 0.1, 5.0)
    sets = pp.prediction_sets(records.probabilities, calibration, classes=records.classes)
    assert (sets == pp.prediction_sets(records.probabilities, calibration.threshold)).all()
    assert pp.evaluate(records.probabilities, records.labels, calibration).coverage > 0.85


def test_every_name_that_is_offered_is_there_the_networks_too():
    for name in [*pp.__all__, "XrayModel", "load_model", "predict", "predict_folder"]:
        assert getattr(pp, name) is not None
        assert name in dir(pp)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pp.nothing
