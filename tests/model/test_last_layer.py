from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from ppsets_core.errors import InputError
from ppsets_core.model import last_layer, load_model, predict, save_model
from ppsets_core.model.dp_sgd import Privacy
from ppsets_core.model.last_layer import LastLayerRecipe, fine_tune_last_layer
from ppsets_core.model.training_set import TrainingSet
from tests.model.chests import CLASSES, picture, small_model, training_set

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
