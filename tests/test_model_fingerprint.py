"""A model has one fingerprint, whether it is in memory, in a file, or read without torch; and it tells nothing."""

import re
from dataclasses import replace

import pytest
import torch

from ppsets_core.model import load_model, save_model
from ppsets_core.model.train import LastLayerRecipe, fine_tune_last_layer
from ppsets_core.model_fingerprint import FINGERPRINT, bundled_facts, bundled_fingerprint
from tests.model.chests import small_model, training_set


def test_the_bundled_model_is_known_by_the_same_whether_it_is_loaded_or_not():
    model = load_model()
    assert (model.fingerprint, list(model.classes)) == (bundled_fingerprint(), bundled_facts()["classes"])


def test_it_outlasts_saving_and_no_two_models_share_one(tmp_path):
    model, path = small_model(), tmp_path / "weights.safetensors"
    save_model(model, path)
    assert model.fingerprint == load_model(path).fingerprint
    assert re.fullmatch(FINGERPRINT, model.fingerprint)
    assert len({model.fingerprint, small_model().fingerprint, bundled_fingerprint()}) == 3


@pytest.mark.training
def test_equal_weights_from_equal_xrays_have_another_so_that_no_guess_about_them_can_be_tested():
    base, data, recipe = small_model(), training_set(12), LastLayerRecipe(epochs=1, batch_size=16)
    one, other = (fine_tune_last_layer(base, data, recipe).model for _ in range(2))
    assert torch.equal(one.network.fc.weight, other.network.fc.weight)
    assert len({base.fingerprint, one.fingerprint, other.fingerprint}) == 3


def test_weights_of_an_earlier_version_have_none(tmp_path):
    path = tmp_path / "weights.safetensors"
    save_model(replace(small_model(), fingerprint=None), path)
    assert load_model(path).fingerprint is None
