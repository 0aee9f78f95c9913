"""What the bundled network is taught by comes from teachers that did not learn from the same patient."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ppsets_core.model.network import build_resnet18
from tests.model.chests import SMALL, training_set
from tools import distil, teachers
from tools.training_xrays import patient_folds


def test_no_teacher_is_asked_about_a_patient_it_learnt_from():
    patients = np.array([f"p{number // 3}" for number in range(60)])
    asked_of = []

    def answer(learnt: np.ndarray, asked: np.ndarray) -> np.ndarray:
        assert not set(patients[learnt]) & set(patients[asked])
        asked_of.extend(np.flatnonzero(asked))
        return np.tile(np.flatnonzero(asked)[:, None], 2)

    told = teachers.by_fold(patient_folds(patients, 4, 0), answer, 2)
    assert sorted(asked_of) == list(range(60))
    assert (told == np.arange(60)[:, None]).all()


def test_logistic_regression_finds_what_features_tell_and_no_more():
    data = training_set(40)
    noise = np.random.default_rng(0).standard_normal((len(data), 300)).astype(np.float32)
    telling = noise + np.tile(np.eye(3, dtype=np.float32)[data.labels.numpy()], 100)
    right = [
        (teachers.logistic(features, data).argmax(1) == data.labels.numpy()).mean() for features in (telling, noise)
    ]
    assert right[0] > 0.95
    assert right[1] < 0.6


def test_soft_labels_are_distributions_in_which_every_teacher_counts():
    sure, other = np.log([[0.8, 0.2]]), np.log([[0.2, 0.8]])
    for read in ([sure, sure], [sure, other], [other, sure]):
        soft, swayed = teachers.soft_labels(read, sure), teachers.soft_labels(read, other)
        assert np.allclose(soft.sum(axis=1), 1)
        assert soft[0, 1] < swayed[0, 1] < teachers.soft_labels([other, other], other)[0, 1]


def test_components_keep_what_differs_most():
    rng = np.random.default_rng(0)
    strong = rng.standard_normal((300, 1)) * np.ones(40)
    found = teachers.components([strong + 0.1 * rng.standard_normal((300, 40)), rng.standard_normal((300, 200))])
    assert found.shape == (300, teachers.COMPONENTS)
    assert abs(np.corrcoef(found[:, 0], strong[:, 0])[0, 1]) > 0.99
    assert found[:, 0].std() > found[:, -1].std()


def test_weights_make_a_part_as_hard_as_all():
    rng = np.random.default_rng(0)
    labels = torch.from_numpy(rng.integers(0, 2, 4000))
    chance = torch.from_numpy(rng.uniform(size=4000))
    soft = torch.where(torch.nn.functional.one_hot(labels, 2).bool(), chance[:, None], 1 - chance[:, None])
    easy = torch.from_numpy(np.flatnonzero(rng.uniform(size=4000) < chance.numpy() ** 2))
    weights = distil.as_hard_as_all(labels, soft, easy)
    assert chance[easy].mean() > 0.7
    assert abs(weights @ chance[easy] / weights.sum() - chance.mean()) < 0.03
    assert weights.sum() == pytest.approx(4000)


@pytest.mark.training
def test_a_network_learns_what_its_teachers_say(capsys, monkeypatch):
    """The labels are all shuffled; the teachers know."""
    for name, value in {"WARM_UP": 5, "LABELS": 0.0, "RATE": 2e-3, "AVERAGE": 0.9, "BATCH": 16, "COARSE": 32}.items():
        monkeypatch.setattr(distil, name, value)
    data = training_set(64, side=SMALL.side)
    soft = torch.nn.functional.one_hot(data.labels, 3).float()
    shuffled = replace(data, labels=data.labels[torch.randperm(len(data), generator=torch.Generator().manual_seed(0))])
    torch.manual_seed(0)
    model = distil.distil(shuffled, soft, torch.zeros(len(data), 4), build_resnet18(3), view=SMALL, epochs=8)
    assert "epoch 8/8" in capsys.readouterr().out
    with torch.inference_mode():
        said = model.network(SMALL.normalise(data.greys.float() / 255)).argmax(1)
    assert (said == data.labels).float().mean() > 0.8
