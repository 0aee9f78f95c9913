"""The networks of `two-by-two`: CIFAR-10 in both layouts, trained into score files, with an honest ε."""

import json
import pickle

import numpy as np
import pytest
import torch
from PIL import Image

from ppsets_core import read_scores
from ppsets_core.data.bundled import cifar10_file
from ppsets_core.experiments.two_by_two import TRAINING_FACTS
from ppsets_core.explore.labelled import Labelled
from ppsets_core.model.train import Privacy
from tools import cifar10, train_cifar10
from tools.cifar10 import TEST, TRAINING, Images
from tools.train_cifar10 import Recipe, main, train


def _little_cifar10(folder, as_png):
    """1,200 images in either of the two layouts, a colour for each class."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 250, (10, 1, 3))
    for names, labels_name in ((TRAINING, "train_lables.json"), (TEST, "test_lables.json")):
        labels = rng.integers(10, size=200 * len(names))
        for name, own in zip(names, np.split(labels, len(names)), strict=True):
            pixels = (colours[own] + rng.integers(0, 6, (200, 1024, 3))).astype(np.uint8)
            if as_png:
                Image.fromarray(pixels).save(folder / f"{name}.png")
            else:
                batch = {b"data": pixels.transpose(0, 2, 1).reshape(200, 3072), b"labels": own.tolist()}
                (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
        if as_png:
            (folder / labels_name).write_text(json.dumps(labels.tolist()))
    return folder


@pytest.mark.statistical
def test_training_writes_score_files_and_what_was_spent(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar10, "EACH", 200)
    monkeypatch.setattr(train_cifar10, "HELD_OUT", 40)
    folders = [_little_cifar10(tmp_path / kind, kind == "png") for kind in ("png", "pickles")]
    (pngs, _), (pickled, _) = map(cifar10.read_images, folders)
    assert (pngs.pixels == pickled.pixels).all()
    assert (pngs.labels == pickled.labels).all()
    recipes = {
        "plain": Recipe(4, 0.01, sample_rate=0.05),
        "private": Recipe(1, 0.001, sample_rate=0.05, privacy=Privacy(8.0, 1e-5)),
    }
    train_cifar10.train_both(folders[0], tmp_path, 0, recipes)
    plain = Labelled.of(read_scores(cifar10_file(tmp_path, "plain")))
    assert plain.top_accuracy() > 0.3, "the colour gives the class away"
    facts = json.loads((tmp_path / TRAINING_FACTS).read_text(encoding="utf-8"))
    assert 7.5 < facts["private"]["epsilon spent"] <= 8
    assert facts["trained on"] == 960


@pytest.mark.statistical
def test_private_training_adds_its_noise_in_a_step_that_drew_no_image_too():
    """The accountant counts every step; one left out would show that nothing was drawn."""
    data = Images(torch.zeros(40, 32, 32, 3, dtype=torch.uint8), torch.arange(40) % 10)
    _, found = train(data, Recipe(2, 1e-3, sample_rate=0.02, privacy=Privacy(8.0, 1e-3)))
    assert found["steps"] == 100
    assert 7.9 <= found["epsilon spent"] <= 8


def test_a_folder_without_cifar10_and_a_pickle_that_runs_code_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="holds no CIFAR-10: give the folder with"):
        main([str(tmp_path)])
    for name in ("test_batch", "data_batch_1"):
        (tmp_path / name).write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(SystemExit, match="a batch holds arrays only, not"):
        main([str(tmp_path)])
