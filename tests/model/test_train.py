from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from opacus.accountants import PRVAccountant
from torch.utils.data import DataLoader, TensorDataset

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


def test_it_repeats_with_its_seed_under_another_fingerprint_and_takes_other_classes():
    """Equal weights of equal X-rays have another fingerprint, so that no guess about the X-rays can be tested."""
    base, data = small_model(classes=("cat", "dog")), training_set(12)
    one, other = (fine_tune_last_layer(base, data, RECIPE).model for _ in range(2))
    assert torch.equal(one.network.fc.weight, other.network.fc.weight)
    assert len({base.fingerprint, one.fingerprint, other.fingerprint}) == 3
    assert (one.classes, base.classes) == (CLASSES, ("cat", "dog"))


def test_it_is_watched_and_can_be_stopped():
    seen, heard = [], []

    def watch(epoch):
        heard.append(epoch.epoch)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fine_tune_last_layer(small_model(), training_set(12), RECIPE, progress=seen.append, watch=watch)
    assert heard == [1, 2, 3]
    assert seen[-1] == len(training_set(12))


def private_run(monkeypatch, n, batch_size, epochs, epsilon):
    """Train privately on noise in place of the network's features.

    Return what was charged before the first step, the ε of the steps really made at the rate really drawn, and the
    result."""
    greys, labels = torch.zeros(n, 1, 8, 8, dtype=torch.uint8), torch.arange(n) % 3
    data = TrainingSet(greys, labels, tuple(map(str, range(n))), CLASSES)
    steps, made, charged = [], {}, []

    def spied(*given, make_private=last_layer.make_private):
        training, optimiser, loader, spent = make_private(*given)
        made.update(noise=optimiser.noise_multiplier, rate=loader.batch_sampler.sample_rate)
        monkeypatch.setattr(optimiser, "add_noise", lambda add=optimiser.add_noise: steps.append(1) or add())
        return training, optimiser, loader, spent

    monkeypatch.setattr(last_layer, "features", lambda *_: torch.randn(n, 16))
    monkeypatch.setattr(last_layer, "make_private", spied)
    tuned = fine_tune_last_layer(
        small_model(),
        data,
        LastLayerRecipe(epochs=epochs, batch_size=batch_size, held_out=0.0),
        privacy=Privacy(epsilon, 0.1 / n),
        charge=lambda people: charged.append((len(people), len(steps))),
    )
    monkeypatch.undo()
    accountant = PRVAccountant()
    accountant.history = [(made["noise"], made["rate"], len(steps))]
    return charged, accountant.get_epsilon(0.1 / n), tuned


@pytest.mark.parametrize(
    ("n", "batch_size", "epochs", "epsilon"),
    [(186, 2, 1, 1.0), (198, 2, 1, 4.0), (150, 2, 3, 1.0), (8, 8, 9, 8.0)],
)
def test_the_steps_made_cost_no_more_than_is_charged_for(monkeypatch, n, batch_size, epochs, epsilon):
    charged, true, tuned = private_run(monkeypatch, n, batch_size, epochs, epsilon)
    assert charged == [(n, 0)]
    assert 0.99 * epsilon <= true <= epsilon
    assert tuned.epsilon == pytest.approx(true, rel=1e-4)
    assert tuned.epsilon <= epsilon


def test_for_every_number_of_batches_the_noise_is_for_the_steps_and_the_rate_that_are_drawn(monkeypatch):
    """1 / (1 / 49) is below 49 in floating point: Opacus's own defaults plan or make a step too few."""
    asked, counted = {}, []
    monkeypatch.setattr("opacus.accountants.utils.get_noise_multiplier", lambda **given: asked.update(given) or 50.0)
    monkeypatch.setattr(PRVAccountant, "get_epsilon", lambda self, delta: counted.append(list(self.history)) or 0.0)
    for batches in range(1, 400):
        layer, loader = torch.nn.Linear(1, 2), DataLoader(TensorDataset(torch.zeros(2 * batches, 1)), batch_size=2)
        given = layer, torch.optim.SGD(layer.parameters(), lr=1.0), loader, 7, Privacy(1.0, 1e-4), torch.Generator()
        training, optimiser, loader, spent = last_layer.make_private(*given)
        assert asked["steps"] == 7 * batches == 7 * sum(1 for _ in loader.batch_sampler)
        training(torch.zeros(2, 1)).sum().backward()
        optimiser.step()
        spent()
        assert counted[-1] == [(50.0, asked["sample_rate"], 1)]
        drawn = torch.tensor(loader.batch_sampler.sample_rate, dtype=torch.float32).item()
        assert drawn - 2**-31 <= asked["sample_rate"] < drawn + 2**-24


def test_steps_that_would_cost_more_than_asked_are_refused_before_the_charge(monkeypatch):
    monkeypatch.setattr("opacus.accountants.utils.get_noise_multiplier", lambda **_: 0.8)
    with pytest.raises(InputError, match=r"30 steps would cost more than ε = 0\.5"):
        private_run(monkeypatch, 40, 4, 3, 0.5)


def test_the_noise_of_dp_sgd_never_repeats(monkeypatch):
    (_, _, one), (_, _, other) = (private_run(monkeypatch, 20, 4, 2, 0.5) for _ in range(2))
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


def test_xrays_that_name_nobody_are_held_out_by_their_own_pixels(tmp_path):
    """Names are relative to what was given, so one file elsewhere may change them all."""
    (one, _), (other, _) = (
        read_training_set(read_folder(folder), 40)
        for folder in (png_folder(tmp_path / "a", 20), png_folder(tmp_path / "b" / "c", 20).parents[0])
    )
    assert set(one.patients) == {None}
    assert not one.has_patients
    rest, held_out = one.rows_by_each_patient(0.3, 1)
    assert 0 < len(held_out) < len(rest)
    for mine, theirs in zip((rest, held_out), other.rows_by_each_patient(0.3, 1), strict=True):
        assert torch.equal(mine, theirs)
