"""A model has one fingerprint, whether it is in memory, in a file, or read without torch."""

import subprocess
import sys
from dataclasses import replace

from ppsets_core.model_fingerprint import bundled_fingerprint, fingerprint_of
from ppsets_core.network import load_model, save_model
from tests.network.chests import small_model


def test_a_bundled_model_has_the_fingerprint_of_its_file():
    assert load_model().fingerprint == bundled_fingerprint()
    code = "import sys, ppsets_core.model_fingerprint as f; f.bundled_fingerprint(); print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_it_outlasts_saving_and_tells_weights_and_class_names_apart(tmp_path):
    model, path = small_model(), tmp_path / "weights.safetensors"
    save_model(model, path)
    assert model.fingerprint == fingerprint_of(path.read_bytes()) == load_model(path).fingerprint
    renamed = replace(model, classes=tuple(reversed(model.classes)))
    assert len({model.fingerprint, renamed.fingerprint, bundled_fingerprint()}) == 3
