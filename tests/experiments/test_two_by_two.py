import json

import numpy as np
import pytest

from ppsets_core import FileError
from ppsets_core.data.bundled import read_rows
from ppsets_core.experiments import two_by_two
from ppsets_core.method.rules import RULES
from tests.coronahack import write_stand_ins

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


@pytest.fixture(scope="module")
def found():
    return two_by_two.run(splits=150)


def test_all_four_cover(found):
    for cell in found.cells.values():
        assert cell.outcome.coverage.mean() >= 0.9 - 3 * cell.standard_error


def test_private_training_costs_more_than_private_calibration(found):
    assert found.accuracy["private"] < found.accuracy["plain"]
    assert found.cost_of_training() > found.cost_of_calibration("paper") > found.cost_of_calibration("sharp")
    assert two_by_two.findings(found).sentences[0].startswith("Private training costs more")


def test_four_histograms_for_each_rule(found):
    drawn = two_by_two.figures(found)
    assert list(drawn) == [f"{what}, {rule.label}" for rule in RULES.values() for what in ("Coverage", "Mean set size")]
    figure = drawn["Coverage, paper's rule"]
    assert [trace.name for trace in figure.data][-1] == "asked for"
    assert len(figure.data) == 5
    for trace in figure.data[:4]:
        assert sum(trace.y[:-1]) == pytest.approx(1)


def test_the_bundled_network_spent_no_more_than_it_was_allowed(found):
    assert 7.5 < found.training["private"]["epsilon spent"] <= 8
    assert found.training["private"]["delta"] == 1e-5


@pytest.mark.statistical
def test_training_writes_softmax_that_the_splits_take(tmp_path):
    from ppsets_core.experiments.two_by_two_training import SmallRecipe, train_both

    for split, each in (("train", 20), ("calibration", 3), ("validation", 2)):
        write_stand_ins(tmp_path, split, each, _bright_band)
    recipes = {"plain": SmallRecipe(8, 16, 3e-3), "private": SmallRecipe(2, 30, 3e-3)}
    path = train_both(tmp_path, tmp_path, 0, lambda name: lambda done, total: None, recipes)
    plain = read_rows(path, "model", "plain")
    assert plain.classes == CLASSES
    assert len(plain) == 15
    assert (plain.probabilities.argmax(axis=1) == plain.labels).mean() > 0.6
    facts = json.loads(path.with_suffix(".json").read_text())
    assert facts["trained on"] == 60
    assert facts["private"]["epsilon spent"] <= 8
    assert "epsilon spent" not in facts["plain"]


@pytest.mark.statistical
def test_private_training_adds_its_noise_in_a_step_that_drew_no_xray_too():
    """The accountant counts every step; one left out would show that nobody was drawn."""
    import torch

    from ppsets_core.experiments.two_by_two_training import SmallRecipe, train_small
    from ppsets_core.model.dp_sgd import Privacy
    from ppsets_core.model.training_set import TrainingSet

    greys = torch.zeros(40, 1, 64, 64, dtype=torch.uint8)
    data = TrainingSet(greys, torch.arange(40) % 3, tuple(map(str, range(40))), CLASSES)
    assert 0.99 * 8 <= train_small(data, SmallRecipe(2, 2, 1e-3), Privacy(8.0, 1e-3)).epsilon <= 8


def test_a_folder_without_coronahacks_xrays_is_refused(tmp_path):
    from ppsets_core.experiments.two_by_two_training import train_both

    with pytest.raises(FileError, match="no usable X-ray"):
        train_both(tmp_path, tmp_path, 0, lambda name: lambda done, total: None)


def _bright_band(label, number):
    """Classes told apart by where they are bright."""
    grey = np.random.default_rng(number).integers(0, 80, (140, 140))
    grey[40 * CLASSES.index(label) :][:50] += 120
    return grey
