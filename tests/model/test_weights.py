import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from ppsets_core.errors import FileError
from ppsets_core.model import load_model, save_model
from ppsets_core.model_fingerprint import BUNDLED_WEIGHTS, FINGERPRINT, bundled_facts, bundled_fingerprint
from tests.model.chests import CLASSES, SMALL, small_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_model(small_model(), path)
    return path


def parts(path: Path) -> tuple[dict[str, torch.Tensor], dict]:
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["ppsets"])  # noqa: SIM118


def test_what_is_saved_is_loaded_and_filters_are_float16_on_disk(saved):
    tensors, _ = parts(saved)
    assert {tensor.dtype for tensor in tensors.values() if tensor.dim() > 1} == {torch.float16}
    model = load_model(saved)
    assert (model.classes, model.preprocessing, model.temperature) == (CLASSES, SMALL, 1.0)
    kept = small_model().network.state_dict()
    for name, tensor in model.network.state_dict().items():
        assert tensor.dtype == kept[name].dtype
        assert torch.allclose(tensor, kept[name], rtol=1e-3, atol=1e-6)


def test_the_bundled_model_is_small_and_known_by_the_same_whether_it_is_loaded_or_not():
    assert BUNDLED_WEIGHTS.stat().st_size <= 25_000_000
    model = load_model()
    assert model.classes == CLASSES == tuple(bundled_facts()["classes"])
    assert model.fingerprint == bundled_fingerprint()


def test_a_fingerprint_outlasts_saving_and_no_two_models_share_one(saved, tmp_path):
    fingerprint, path = load_model(saved).fingerprint, tmp_path / "earlier.safetensors"
    assert fingerprint == parts(saved)[1]["fingerprint"]
    assert re.fullmatch(FINGERPRINT, fingerprint)
    assert len({fingerprint, small_model().fingerprint, bundled_fingerprint()}) == 3
    save_model(replace(small_model(), fingerprint=None), path)
    assert load_model(path).fingerprint is None, "weights of an earlier version have none"


def test_missing_foreign_and_too_large_files_are_refused(tmp_path):
    for name, said in (("absent.safetensors", "no weights at"), ("a.PTH", "pickle.*never opens one.*safetensors")):
        with pytest.raises(FileError, match=said):
            load_model(tmp_path / name)
    path = tmp_path / "other.safetensors"
    save_file({"a": torch.zeros(2)}, path)
    with pytest.raises(FileError, match="does not say its classes"):
        load_model(path)
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(FileError, match="larger than any ResNet-18"):
        load_model(path)


WRONG = [{"extra": 1}, {"architecture": "resnet50"}, {"side": 10_000}, {"side": 31}, {"side": 160.0}]
WRONG += [{"classes": names} for names in (["a", "a", "b"], ["a", "", "b"], ["only"])]
WRONG += [{"std": [1, 0, 1]}, {"mean": [0.5, 0.5]}, {"temperature": 0}, {"temperature": float("nan")}]


@pytest.mark.parametrize("change", [None, *WRONG])
def test_metadata_that_would_give_wrong_sets_is_refused(saved, tmp_path, change):
    tensors, facts = parts(saved)
    if change is None:
        del facts["temperature"]
    save_file(tensors, tmp_path / "changed.safetensors", metadata={"ppsets": json.dumps(facts | (change or {}))})
    with pytest.raises(FileError, match="does not say its classes"):
        load_model(tmp_path / "changed.safetensors")


def test_an_unwritable_place_is_said(tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        save_model(small_model(), tmp_path / "absent" / "weights.safetensors")
