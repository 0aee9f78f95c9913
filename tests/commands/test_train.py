"""`ppsets train`."""

import json
from decimal import Decimal

import pytest
import torch

from ppsets_core import Ledger
from ppsets_core.__main__ import main
from ppsets_core.model import load_model, save_model
from tests.model.chests import CLASSES, png_folder, small_model

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def xrays(tmp_path_factory):
    return png_folder(tmp_path_factory.mktemp("train") / "xrays", 12)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_model(small_model(), path)
    return str(path)


def trained(capsys, *command) -> tuple[dict, str]:
    assert main(["train", *map(str, command), "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_the_last_layer_of_the_bundled_model_by_default(xrays, tmp_path, capsys):
    (xrays / "normal" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    out = tmp_path / "tuned.safetensors"
    result, captured = trained(capsys, xrays, "--out", out, "--epochs", 3, "--batch-size", 8)
    assert result["xrays"] == 36
    assert result["classes"] == list(CLASSES)
    assert "epoch 3/3" in captured
    assert "held out: accuracy" in captured
    assert "left out normal/broken.png" in captured
    layers = load_model(out).network.layer4.state_dict(), load_model().network.layer4.state_dict()
    assert all(torch.equal(layers[0][name], layers[1][name]) for name in layers[0])


def test_the_last_layer_with_differential_privacy(xrays, small, tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    names = [(f"{label}-{seed:03d}.png", label) for label in CLASSES for seed in range(12)]
    rows = [f"{name},{label}" for name, label in names[1:]]
    labels.write_text("\n".join(["file,label", f"{names[0][0]},tuberculosis", *rows]))
    command = ["--labels", labels, "--from", small, "--epochs", 3, "--batch-size", 2]
    command += ["--dp-epsilon", 1, "--dp-delta", 0.001, "--ledger", tmp_path / "ledger.sqlite"]
    assert main(["train", *map(str, [xrays, "--out", tmp_path / "x.safetensors", *command])]) == 2
    assert "say with --budget" in capsys.readouterr().err
    command += ["--budget", 1.5, "--dataset", "ward"]
    result, captured = trained(capsys, xrays, "--out", tmp_path / "private.safetensors", *command)
    assert result["classes"] == list(CLASSES)
    assert result["xrays"] == 35
    assert "its label 'tuberculosis' is none of the classes to learn" in captured
    assert 0.99 <= result["epsilon_spent"] <= 1
    assert result["delta"] == 0.001
    assert "(ε, δ) protects each X-ray" in captured
    assert load_model(result["out"]).temperature == 1
    (charged,) = Ledger(tmp_path / "ledger.sqlite").releases("ward")
    assert (charged.kind, charged.epsilon, charged.delta) == ("training", 1, Decimal("0.001"))
    assert charged.status == "released"
    assert main(["train", *map(str, [xrays, "--out", tmp_path / "y.safetensors", *command])]) == 2
    assert "Not everyone in 'ward', for whom these records count" in capsys.readouterr().err


def test_nothing_is_charged_for_weights_that_cannot_be_written(xrays, small, tmp_path, capsys, monkeypatch):
    (tmp_path / "there").mkdir()
    ledger = tmp_path / "ledger.sqlite"
    command = ["train", xrays, "--from", small, "--epochs", 1, "--batch-size", 2, "--ledger", ledger]
    command += ["--dp-epsilon", 1, "--dp-delta", 0.001, "--budget", 3, "--dataset", "ward"]
    assert main([*map(str, command), "--out", str(tmp_path / "there")]) == 2
    assert "exists; choose another name" in capsys.readouterr().err
    assert not ledger.exists()
    monkeypatch.setattr("ppsets_core.model.weights.save_file", _no_room)
    assert main([*map(str, command), "--out", str(tmp_path / "new.safetensors")]) == 2
    assert [one.status for one in Ledger(ledger).releases()] == ["charged, not released"]


def _no_room(*of):
    raise OSError("No space left on device")


def test_only_the_classes_named_are_learnt(xrays, small, tmp_path, capsys):
    command = ["--from", small, "--epochs", 1, "--batch-size", 8, "--classes", "viral-pneumonia, normal"]
    result, captured = trained(capsys, xrays, "--out", tmp_path / "two.safetensors", *command)
    assert result["xrays"] == 24
    assert load_model(result["out"]).classes == ("viral-pneumonia", "normal")
    assert "its label 'bacterial-pneumonia' is none of the classes to learn" in captured
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\nnormal-000.png,normal\nnormal-001.png,normal\n")
    command = ["train", xrays, "--labels", labels, "--from", small, "--out", tmp_path / "a.safetensors"]
    assert main(list(map(str, command))) == 2
    assert "of at least two classes" in capsys.readouterr().err
