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
