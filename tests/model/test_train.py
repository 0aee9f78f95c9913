from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from ppsets_core.errors import InputError
from ppsets_core.model import load_model, predict, save_model
from ppsets_core.model import train as last_layer
from ppsets_core.model.train import LastLayerRecipe, Privacy, fine_tune_last_layer
from ppsets_core.model.training_set import TrainingSet, read_training_set
from ppsets_core.xrays import read_folder
from tests.model.chests import CLASSES, picture, png_folder, small_model, training_set

pytestmark = pytest.mark.training

RECIPE = LastLayerRecipe(epochs=8, batch_size=16)


@pytest.fixture(scope="module")
def base():
    return load_model()


@pytest.fixture(scope="module")
def data(base):
    return training_set(24, side=base.preprocessing.side)


def test_only_the_last_layer_changes_and_it_learns_the_new_pictures(base, data):
    tuned = fine_tune_last_layer(base, data, replace(RECIPE, epochs=40))
    before, after = base.network.state_dict(), tuned.model.network.state_dict()
    assert {name for name in before if not torch.equal(before[name], after[name])} == {"fc.weight", "fc.bias"}
    fresh = [picture(label, seed) for label in CLASSES for seed in range(100, 104)]
    right = predict(tuned.model, fresh).argmax(axis=1) == np.repeat(np.arange(3), 4)
    assert right.mean() >= 0.8
    assert tuned.epsilon is None


def test_what_is_used_and_what_is_saved_are_one_network(tmp_path):
    save_model(small_model(), tmp_path / "base.safetensors")
    tuned = fine_tune_last_layer(load_model(tmp_path / "base.safetensors"), training_set(12), RECIPE).model
    save_model(tuned, tmp_path / "saved.safetensors")
    pictures = [picture(label, 100) for label in CLASSES]
    assert np.array_equal(predict(tuned, pictures), predict(load_model(tmp_path / "saved.safetensors"), pictures))


def test_it_repeats_with_its_seed_and_takes_other_classes():
    base, data = small_model(classes=("cat", "dog")), training_set(12)
    one, other = (fine_tune_last_layer(base, data, RECIPE) for _ in range(2))
    assert torch.equal(one.model.network.fc.weight, other.model.network.fc.weight)
    assert one.model.classes == CLASSES
    assert base.classes == ("cat", "dog")


def test_it_is_watched_and_can_be_stopped():
    heard = []

    def watch(epoch):
        heard.append(epoch.epoch)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fine_tune_last_layer(small_model(), training_set(12), RECIPE, watch=watch)
    assert heard == [1, 2, 3]


def test_the_networks_look_at_the_x_rays_is_told_and_may_be_stopped():
    told = []
    fine_tune_last_layer(small_model(), training_set(12), RECIPE, progress=told.append)
    assert told[-1] == len(training_set(12))

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fine_tune_last_layer(small_model(), training_set(12), RECIPE, progress=stop)


def private():
    """DP-SGD in 20 steps an epoch, which the accountant weighs quickly."""
    recipe = LastLayerRecipe(epochs=3, batch_size=5)
    return fine_tune_last_layer(small_model(), training_set(37), recipe, privacy=Privacy(0.5, delta=1e-3))


def test_dp_sgd_spends_what_was_asked_and_its_noise_never_repeats():
    one, other = private(), private()
    assert 0.99 * 0.5 <= one.epsilon <= 0.5
    assert one.model.temperature == 1.0
    assert torch.isfinite(one.model.network.fc.weight).all()
    assert not torch.equal(one.model.network.fc.weight, other.model.network.fc.weight)


class Reached(Exception):
    """Raised in DP-SGD's place, with what it was to train on."""


@pytest.fixture
def given_to_dp_sgd(monkeypatch):
    """What private training gives to DP-SGD: its rows (pixels and label), and the number of classes. With `classes` it
    starts from weights for others."""

    def stop(layer, optimiser, loader, *settings):
        pixels, labels = loader.dataset.tensors
        rows = Counter((tuple(row), label) for row, label in zip(pixels.tolist(), labels.tolist(), strict=True))
        raise Reached(rows, layer.out_features)

    monkeypatch.setattr(last_layer, "features", lambda model, data, progress: data.greys.flatten(1).float())
    monkeypatch.setattr(last_layer, "make_private", stop)
    three, two = small_model(), small_model(classes=("cat", "dog"))

    def given(data, classes=None):
        base = two if classes else three
        with pytest.raises(Reached) as reached:
            fine_tune_last_layer(base, data, RECIPE, privacy=Privacy(1.0, delta=1e-4), classes=classes)
        return reached.value.args

    return given


def one_pixel_each(patients):
    """One-pixel X-rays, each of another grey."""
    greys = torch.arange(len(patients)).view(-1, 1, 1, 1)
    return TrainingSet(greys, torch.arange(len(patients)) % 3, tuple(patients), CLASSES)


def test_with_privacy_an_xray_more_or_less_changes_the_training_by_that_xray_alone(given_to_dp_sgd):
    patients = [f"patient {number}" for number in range(500)]
    before, _ = given_to_dp_sgd(one_pixel_each(patients))
    assert 0.85 * 500 <= before.total() <= 0.95 * 500
    sides = set()
    for name in patients[:20] + [f"new patient {number}" for number in range(20)]:
        after, _ = given_to_dp_sgd(one_pixel_each([*patients, name]))
        assert not before - after
        assert (after - before).total() <= 1
        sides.add((after - before).total())
    assert sides == {0, 1}


def test_with_privacy_no_label_adds_a_class(given_to_dp_sgd):
    data = one_pixel_each([f"patient {number}" for number in range(60)])
    assert given_to_dp_sgd(data)[1] == 3
    assert given_to_dp_sgd(data, classes=CLASSES)[1] == 3
    with pytest.raises(InputError, match="one X-ray could add one"):
        fine_tune_last_layer(small_model(classes=CLASSES[:2]), data, RECIPE, privacy=Privacy(1.0, delta=1e-4))


def test_impossible_privacy_is_refused():
    for wrong in ({"epsilon": 0.0}, {"epsilon": float("nan")}, {"delta": 0.0}, {"delta": 1.0}, {"clip": 0.0}):
        with pytest.raises(InputError):
            Privacy(**{"epsilon": 1.0, "delta": 1e-3, **wrong})
    with pytest.raises(InputError, match="one over the number of X-rays"):
        fine_tune_last_layer(small_model(), training_set(12), RECIPE, privacy=Privacy(1.0, delta=0.09))
    with pytest.raises(InputError, match="fewer than one batch"):
        fine_tune_last_layer(small_model(), training_set(3), RECIPE)


@pytest.mark.parametrize("rule", [TrainingSet.rows_by_patient, TrainingSet.rows_by_each_patient])
def test_no_patient_is_on_both_sides(rule):
    greys, labels = torch.zeros(600, 1, 1, 1), torch.zeros(600)
    data = TrainingSet(greys, labels, tuple(f"patient {row // 3}" for row in range(600)), CLASSES)
    rest, held_out = map(data.take, rule(data, 0.2, 1))
    assert len(rest) + len(held_out) == len(data)
    assert 0.15 <= len(held_out) / len(data) < 0.25
    assert not set(rest.patients) & set(held_out.patients)


def test_an_xray_of_an_unnamed_patient_is_known_by_its_picture_wherever_it_lies(tmp_path):
    """Names are relative to what was given, so one file elsewhere may change them all."""
    (one, _), (other, _) = (
        read_training_set(read_folder(folder), 40)
        for folder in (png_folder(tmp_path / "a", 2), png_folder(tmp_path / "b" / "hospital" / "chests", 2).parents[1])
    )
    assert len(set(one.patients)) == 6
    assert one.patients == other.patients
    for path in (tmp_path / "a").rglob("*.png"):
        Image.open(path).save(path.with_suffix(".tif"))
        path.unlink()
    again, _ = read_training_set(read_folder(tmp_path / "a"), 64)
    assert again.patients == one.patients, "other weights and another lossless format are no other patients"
