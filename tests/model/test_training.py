from dataclasses import replace

import pytest
import torch
from PIL import Image

from ppsets_core.errors import FileError, InputError
from ppsets_core.model.recipe import Recipe
from ppsets_core.model.training import train_model
from ppsets_core.model.training_set import TrainingSet, read_training_set
from ppsets_core.xrays import read_folder
from tests.model.chests import CLASSES, png_folder, small_model, training_set

pytestmark = pytest.mark.training

RECIPE = Recipe(epochs=2, batch_size=8, held_out=0.2, seed=3)


@pytest.fixture(scope="module")
def data():
    return training_set(8)


def same(one, other) -> bool:
    states = one.model.network.state_dict(), other.model.network.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def break_off(data, folder):
    """A run ended after its first epoch."""

    def watch(epoch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(data, RECIPE, base=small_model(), resume=folder, watch=watch)


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


def test_training_is_watched_and_repeats_with_its_seed(data):
    heard = []
    first = train_model(data, RECIPE, base=small_model(), watch=heard.append)
    assert [(item.epoch, item.epochs) for item in heard] == [(1, 2), (2, 2)]
    assert all(item.loss > 0 and 0 <= item.accuracy <= 1 for item in heard)
    assert first.model.classes == CLASSES
    assert same(first, train_model(data, RECIPE, base=small_model()))
    other = train_model(data, replace(RECIPE, seed=4, epochs=1), base=small_model())
    assert not same(first, other)


def test_a_resumed_run_ends_where_an_unbroken_one_does(data, tmp_path):
    unbroken = train_model(data, RECIPE, base=small_model())
    break_off(data, tmp_path)
    heard = []
    resumed = train_model(data, RECIPE, base=small_model(), resume=tmp_path, watch=heard.append)
    assert [item.epoch for item in heard] == [2]
    assert same(resumed, unbroken)
    assert resumed.model.temperature == unbroken.model.temperature


def test_the_state_of_another_run_is_refused(data, tmp_path):
    break_off(data, tmp_path)
    with pytest.raises(FileError, match="other settings"):
        train_model(data, replace(RECIPE, learning_rate=1e-3), base=small_model(), resume=tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(FileError, match="cannot be read as the state"):
        train_model(data, RECIPE, base=small_model(), resume=tmp_path)


def test_it_learns(data):
    recipe = replace(RECIPE, epochs=8, learning_rate=5e-4)
    losses = []
    train_model(data, recipe, base=small_model(), watch=lambda epoch: losses.append(epoch.loss))
    assert losses[-1] < 0.8 * losses[0]


def test_a_base_for_other_classes_gives_its_filters(data):
    base = small_model(classes=("cat", "dog"))
    assert train_model(data, replace(RECIPE, epochs=1), base=base).model.classes == CLASSES


def test_too_few_xrays_and_impossible_settings_are_refused(data):
    with pytest.raises(InputError, match="fewer than one batch"):
        train_model(data, replace(RECIPE, batch_size=64), base=small_model())
    for wrong in ({"epochs": 0}, {"batch_size": 1}, {"learning_rate": float("nan")}):
        with pytest.raises(InputError):
            replace(RECIPE, **wrong)
